// SPDX-License-Identifier: Apache-2.0
// Writes assets/: the core as WebAssembly, the machines that the native build sealed, the presets as JSON.
//
//   node bindings/js/build.mjs BUILD WASM-BUILD        (from the root; `make js` does it)
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { MACHINES, packed } from './lib/assets.js';
import { yamlAsJson } from './lib/yaml.js';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
const [build, wasm] = process.argv.slice(2);
if (wasm === undefined) {
  console.error('usage: build.mjs BUILD WASM-BUILD');
  process.exit(3);
}
const assets = join(here, 'assets');
mkdirSync(assets, { recursive: true });
writeFileSync(join(assets, 'core.wasm'), readFileSync(join(wasm, 'interlock-gate.wasm')));
for (const name of MACHINES) {
  const [table, certificate] = ['table', 'cert'].map((what) => readFileSync(join(build, `machines/${name}.${what}`)));
  writeFileSync(join(assets, `${name}.machine`), gzipSync(packed(table, certificate), { level: 9 }));
}
const presets = {};
for (const file of readdirSync(join(root, 'presets')).filter((f) => f.endsWith('.yaml')).sort()) presets[file.slice(0, -5)] = JSON.parse((await yamlAsJson(readFileSync(join(root, 'presets', file), 'utf8'))).text);
writeFileSync(join(assets, 'presets.json'), JSON.stringify(presets));
