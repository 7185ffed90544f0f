// SPDX-License-Identifier: Apache-2.0
// What comes beside the code: the core, the shipped machines and presets (assets/, written by build.mjs).

const FILES = {
  core: new URL('../assets/core.wasm', import.meta.url),
  presets: new URL('../assets/presets.json', import.meta.url),
  standard: new URL('../assets/standard.machine', import.meta.url),
  trifecta: new URL('../assets/trifecta.machine', import.meta.url),
  'capability-broker': new URL('../assets/capability-broker.machine', import.meta.url),
  'secret-custody': new URL('../assets/secret-custody.machine', import.meta.url),
  'rules-only': new URL('../assets/rules-only.machine', import.meta.url),
};

/** Names of the shipped machines. */
export const MACHINES = Object.freeze(Object.keys(FILES).filter((name) => name !== 'core' && name !== 'presets'));

async function bytesOf(url) {
  if (url.protocol === 'file:') {
    const fs = globalThis.process?.getBuiltinModule?.('node:fs/promises') ?? await import(/* @vite-ignore */ /* webpackIgnore: true */ 'node:fs/promises');
    return new Uint8Array(await fs.readFile(url));
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

let core;
/** The compiled module, once for all gates. `given`: a WebAssembly.Module, or its bytes. */
export function coreModule(given) {
  if (given instanceof WebAssembly.Module) return Promise.resolve(given);
  if (given !== undefined) return WebAssembly.compile(given);
  core ??= bytesOf(FILES.core).then((bytes) => WebAssembly.compile(bytes)).catch((error) => {
    core = undefined;
    throw error;
  });
  return core;
}

let presets;
/** The shipped presets: name@version to document. */
export function shippedPresets() {
  presets ??= bytesOf(FILES.presets).then((bytes) => new Map(Object.entries(JSON.parse(new TextDecoder().decode(bytes)))));
  return presets;
}

const CERTIFICATE = 104, SEAL = 32, ROW = 0x3fffff;

// The cells of a table, column by column and with the next row as a distance, compress to a fifth of what they are as they stand.
function turned(bytes, unpack) {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const n = view.getUint32(12, true), s = view.getUint32(16, true), at = bytes.length - CERTIFICATE - SEAL - 4 * n * s;
  if (!(n > 0 && s > 0 && at > 40)) throw new Error('no machine');
  const out = bytes.slice();
  const to = new DataView(out.buffer);
  for (let row = 0; row < n; row++) {
    for (let symbol = 0; symbol < s; symbol++) {
      const whole = at + 4 * (row * s + symbol), packed = at + 4 * (symbol * n + row);
      const cell = view.getUint32(unpack ? packed : whole, true);
      to.setUint32(unpack ? whole : packed, ((cell & ~ROW) | ((cell + (unpack ? row : -row)) & ROW)) >>> 0, true);
    }
  }
  return out;
}

/** Table and certificate as they are shipped, before they are compressed. */
export function packed(table, certificate) {
  const whole = new Uint8Array(table.length + certificate.length);
  whole.set(table);
  whole.set(certificate, table.length);
  return turned(whole, false);
}

const machines = new Map();
/** `{table, certificate}` of a shipped machine, read once; the core verifies both. Undefined: there is none of that name. */
export async function shippedMachine(name) {
  if (!MACHINES.includes(name)) return undefined;
  if (!machines.has(name)) machines.set(name, unpacked(name).catch((error) => { machines.delete(name); throw error; }));
  return machines.get(name);
}

async function unpacked(name) {
  const stream = new Blob([await bytesOf(FILES[name])]).stream().pipeThrough(new DecompressionStream('gzip'));
  const bytes = turned(new Uint8Array(await new Response(stream).arrayBuffer()), true);
  return { table: bytes.subarray(0, bytes.length - CERTIFICATE), certificate: bytes.subarray(bytes.length - CERTIFICATE) };
}
