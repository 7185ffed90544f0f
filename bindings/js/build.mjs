// SPDX-License-Identifier: Apache-2.0
// Writes the package as it is published: this folder's code, the core as WebAssembly, the machines that the native build sealed, the presets as JSON.
//
//   node bindings/js/build.mjs BUILD WASM-BUILD TO        (`make js` does it; npm's `yaml` must be found from TO)
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
const [build, wasm, to] = process.argv.slice(2);
if (to === undefined) {
  console.error('usage: build.mjs BUILD WASM-BUILD TO');
  process.exit(3);
}
rmSync(to, { recursive: true, force: true });
mkdirSync(join(to, 'assets'), { recursive: true });
for (const name of ['lib', 'package.json', 'README.md']) cpSync(join(here, name), join(to, name), { recursive: true });
cpSync(join(root, 'LICENSE'), join(to, 'LICENSE'));
const own = (file) => import(pathToFileURL(resolve(to, file)).href);
const { MACHINES, packed } = await own('lib/assets.js');
const { yamlAsJson } = await own('lib/yaml.js');

const write = (name, bytes) => writeFileSync(join(to, 'assets', name), bytes);
write('core.wasm', readFileSync(join(wasm, 'interlock-gate.wasm')));
for (const name of MACHINES) {
  const [table, certificate] = ['table', 'cert'].map((what) => readFileSync(join(build, `machines/${name}.${what}`)));
  write(`${name}.machine`, gzipSync(packed(table, certificate), { level: 9 }));
}
const presets = {};
for (const file of readdirSync(join(root, 'presets')).filter((f) => f.endsWith('.yaml')).sort()) presets[file.slice(0, -5)] = JSON.parse((await yamlAsJson(readFileSync(join(root, 'presets', file), 'utf8'))).text);
write('presets.json', JSON.stringify(presets));
