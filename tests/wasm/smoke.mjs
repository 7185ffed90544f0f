// SPDX-License-Identifier: Apache-2.0
// The core as WebAssembly: instantiated with no imports at all, it opens the sealed trifecta machine and
// steps it through the public API.  node tests/wasm/smoke.mjs WASM-BUILD BUILD
import { readFileSync } from 'node:fs';
import { argv, env, exit } from 'node:process';

const [wasmBuild, build] = argv.slice(2);
let passed = 0;
let failed = 0;
function check(name, body) {
  try {
    body();
    passed++;
    console.log(`ok: ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAILED: ${name}\n    ${error.message}`);
  }
}
function equal(got, want, what) {
  if (got !== want) throw new Error(`${what}: got ${got}, want ${want}`);
}

function load(name) {
  const module = new WebAssembly.Module(readFileSync(`${wasmBuild}/${name}.wasm`));
  equal(JSON.stringify(WebAssembly.Module.imports(module)), '[]', `imports of ${name}.wasm`);
  return new WebAssembly.Instance(module, {}).exports;
}

check('interlock-core.wasm imports nothing and exports the public API', () => {
  const core = load('interlock-core');
  for (const name of ['memory', 'il_version', 'il_machine_open', 'il_machine_step', 'il_machine_free'])
    if (!(name in core)) throw new Error(`${name} is not exported`);
  for (const name of Object.keys(core))
    if (name !== 'memory' && !name.startsWith('il_') && !name.startsWith('__'))
      throw new Error(`${name} is exported and is not public`);
});

let host;
check('the core with a host imports nothing', () => {
  host = load('smoke');
});

const bytes = () => new Uint8Array(host.memory.buffer);
const view = () => new DataView(host.memory.buffer);
function put(data) {
  const p = host.host_take(data.length);
  if (p === 0) throw new Error('the host heap is full');
  bytes().set(data, p);
  return p;
}
function cString(p) {
  const all = bytes();
  let end = p;
  while (all[end] !== 0) end++;
  return new TextDecoder().decode(all.subarray(p, end));
}
// il_str by value: clang passes a pointer to a copy; p and n are 32 bits each here.
function str(text) {
  const data = new TextEncoder().encode(text);
  const p = put(data);
  const at = host.host_take(8);
  view().setUint32(at, p, true);
  view().setUint32(at + 4, data.length, true);
  return at;
}
// A function that returns il_str takes the place for it first.
function text(call, ...args) {
  const at = host.host_take(8);
  call(at, ...args);
  const p = view().getUint32(at, true);
  return new TextDecoder().decode(bytes().subarray(p, p + view().getUint32(at + 4, true)));
}
function open(table, certificate) {
  return host.host_open(put(table), table.length, put(certificate), certificate.length);
}
function step(machine, state, symbol) {
  const at = host.host_take(16);
  host.il_machine_step(at, machine, state, symbol);
  return { next: view().getBigUint64(at, true), verdict: view().getUint8(at + 8), reason: view().getUint8(at + 9) };
}
function symbol(machine, action, payload) {
  const entries = Object.entries(payload);
  const at = host.host_take(16 * Math.max(entries.length, 1));
  entries.forEach(([field, value], i) => {
    for (const [offset, part] of [[0, str(field)], [8, str(String(value))]])
      bytes().copyWithin(at + 16 * i + offset, part, part + 8);
  });
  return host.il_machine_action_symbol(machine, str(action), at, entries.length) >>> 0;
}
const NO_SYMBOL = 0xffffffff;
const ACCEPT = 1;

const table = readFileSync(`${build}/machines/trifecta.table`);
const certificate = readFileSync(`${build}/machines/trifecta.cert`);
let machine = 0;

check('the sealed trifecta opens', () => {
  machine = open(table, certificate);
  if (machine === 0) throw new Error(`status ${host.host_code()}: ${cString(host.host_message())}`);
  equal(host.il_machine_states(machine), 330, 'states');
  equal(host.il_machine_symbols(machine), 63, 'symbols');
  equal(text(host.il_machine_name, machine), 'trifecta', 'name');
});

const admit = (fields) =>
  symbol(machine, 'admit', { untrusted: false, sensitive: false, egress: 'none', approved: false, ...fields });

check('untrusted, then sensitive, then egress: the third is rejected and moves nothing', () => {
  let state = host.il_machine_initial(machine);
  for (const fields of [{ untrusted: true }, { sensitive: true }]) {
    const s = step(machine, state, admit(fields));
    equal(s.verdict, ACCEPT, `verdict of ${JSON.stringify(fields)}`);
    state = s.next;
  }
  const s = step(machine, state, admit({ egress: 'once' }));
  equal(s.verdict, 0, 'verdict of the egress');
  equal(s.next, state, 'state after the rejection');
  equal(text(host.il_machine_reason, machine, s.reason), 'lethal-trifecta', 'reason');
});

check('untrusted and egress without anything sensitive is accepted', () => {
  const s = step(machine, host.il_machine_initial(machine), admit({ untrusted: true, egress: 'once' }));
  equal(s.verdict, ACCEPT, 'verdict');
});

check('every accepted step stays in the table, every other one stays where it is: 7,065 accepted', () => {
  const states = [];
  for (let i = 0; i < host.il_machine_states(machine); i++) states.push(BigInt.asUintN(64, host.il_machine_state(machine, i)));
  const known = new Set(states);
  const at = host.host_take(16);
  let accepted = 0;
  for (const state of states)
    for (let sym = 0; sym < host.il_machine_symbols(machine); sym++) {
      host.il_machine_step(at, machine, state, sym);
      const next = view().getBigUint64(at, true);
      if (view().getUint8(at + 8) === ACCEPT) {
        accepted++;
        if (!known.has(next)) throw new Error(`state ${state}, symbol ${sym} leads to ${next}, which is not in the table`);
      } else if (next !== state) throw new Error(`state ${state}, symbol ${sym} is rejected and moves to ${next}`);
    }
  equal(accepted, 7065, 'accepted edges');
});

check('an unknown symbol and an unknown state reject', () => {
  const state = host.il_machine_initial(machine);
  equal(symbol(machine, 'admit', { untrusted: true }), NO_SYMBOL, 'a symbol with fields left out');
  equal(step(machine, state, NO_SYMBOL).verdict, 0, 'no symbol');
  equal(step(machine, 0xffffffffffffffffn, 0).verdict, 0, 'a state outside the table');
});

check('a table or certificate with one byte flipped does not open', () => {
  for (const [name, original] of [['table', table], ['certificate', certificate]])
    for (const at of [0, original.length >> 1, original.length - 1]) {
      const flipped = Uint8Array.from(original);
      flipped[at] ^= 1;
      const m = name === 'table' ? open(flipped, certificate) : open(table, flipped);
      equal(m, 0, `${name} with byte ${at} flipped`);
    }
});

// JavaScript's own numbers, dates and strings are the judges: they too are exact.
const area = host.host_take(1 << 16);
function atArea(text) {
  return new TextEncoder().encodeInto(text, bytes().subarray(area, area + (1 << 16))).written;
}
let seed = BigInt(env.IL_TEST_SEED ?? Date.now());
function random64() {
  seed = (seed * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
  return (seed >> 31n ^ seed << 27n) & 0xffffffffffffffffn;
}

check(`numbers are written and read as JavaScript does (IL_TEST_SEED=${seed})`, () => {
  const cell = new DataView(new ArrayBuffer(8));
  let finite = 0;
  for (let i = 0; i < 20000; i++) {
    cell.setBigUint64(0, random64());
    const way = i % 4;
    let x = cell.getFloat64(0);
    if (way === 1) x = Number(random64() >> (random64() & 63n)) / 10 ** Number(random64() % 20n);
    if (way === 2) x = 2 ** (i % 2098 - 1074) * (1 + (i % 3) * Number.EPSILON);
    if (!Number.isFinite(x)) continue;
    finite++;
    const n = host.host_number_text(x, area);
    const own = new TextDecoder().decode(bytes().subarray(area, area + n));
    equal(own, JSON.stringify(x), 'the text');
    equal(Object.is(host.host_number(area, n), Object.is(x, -0) ? 0 : x), true, `${own} read back`);
    const long = x.toExponential(Number(random64() % 21n));
    equal(Object.is(host.host_number(area, atArea(long)), Number(long)), true, `${long} read`);
  }
  if (finite < 15000) throw new Error(`only ${finite} numbers`);
});

check('times are read as JavaScript does, and strictly', () => {
  for (let i = 0; i < 5000; i++) {
    const ms = Number(random64() % 315537897600000n) - 62135596800000;
    const text = new Date(ms).toISOString();
    equal(host.host_time(area, atArea(text)), ms, text);
  }
  for (const text of ['2023-02-29T00:00:00.000Z', '2023-01-01T24:00:00.000Z', '2023-01-01', '+010000-01-01T00:00:00.000Z'])
    equal(Number.isNaN(host.host_time(area, atArea(text))), true, text);
});

check('code points are counted as JavaScript does', () => {
  const all = ['a', '\u00e9', '\u20ac', '\u{1f600}', 'z\0'];
  for (let i = 0; i < 2000; i++) {
    let text = '';
    for (let k = i % 300; k > 0; k--) text += all[Number(random64() % 5n)];
    equal(host.host_points(area, atArea(text)), [...text].length, JSON.stringify(text));
  }
});

console.log(`${passed} passed, ${failed} failed, 0 skipped`);
exit(failed === 0 ? 0 : 1);
