// SPDX-License-Identifier: Apache-2.0
// End-to-end tests: official MCP clients and servers, and raw ones, around a real `interlock gateway`.
//
//   node tests/e2e/run.mjs [--interlock PATH] [--only TEXT] [--comparison-only]
//
// Exits 0 if nothing failed, 1 if something did, 3 if the tests could not be run.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runAll } from './lib/harness.mjs';
import { hasInterlock, interlockPath, packagePath, useInterlock } from './lib/gateway.mjs';

const valueOf = (flag) => {
  const at = process.argv.indexOf(flag);
  return at > 0 ? process.argv[at + 1] : undefined;
};

function giveUp(message) {
  console.error(message);
  process.exit(3);
}

if (valueOf('--interlock')) useInterlock(valueOf('--interlock'));
// Without a gateway only the comparison can be tried, on direct runs and on proxies that alter them.
const filter = process.argv.includes('--comparison-only') ? 'comparison: ' : valueOf('--only');
if (!existsSync(packagePath('server-everything'))) giveUp(`packages are missing; run \`npm ci\` in ${fileURLToPath(new URL('.', import.meta.url))}`);
if (filter !== 'comparison: ' && !hasInterlock()) giveUp(`no interlock at ${interlockPath()}; run \`make\`, or name it with --interlock`);

for (const suite of ['wire', 'gate', 'upstream', 'session', 'transparency', 'demo']) await import(`./suites/${suite}.mjs`);
const { passed, failed } = await runAll(filter);
process.exit(failed > 0 ? 1 : passed > 0 ? 0 : 3);
