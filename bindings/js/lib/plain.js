// SPDX-License-Identifier: Apache-2.0
// JavaScript values as the JSON that policies speak of. Each property is read once, and what was read is what is judged and handed on: a getter, a proxy or another holder of the
// object changes nothing afterwards.
//
// Arguments must be readable whole: what is not is no argument that could be judged. Results are read as far as they can be.

const DEPTH = 64;
const BYTES = 64 << 20;
const isProxy = globalThis.process?.getBuiltinModule?.('node:util')?.types?.isProxy;

class Unreadable extends Error {}
const refuse = (why) => { throw new Unreadable(why); };

function text(value, budget) {
  if (!value.isWellFormed()) refuse('a text with half a character (a lone surrogate)');
  budget.left -= value.length;
  if (budget.left < 0) refuse('more than 64 MiB');
  return value;
}

function number(value) {
  if (!Number.isFinite(value)) refuse('NaN and infinities have no JSON form');
  return value === 0 ? 0 : value; // -0 is written as 0
}

const binary = (view) => {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  let out = '';
  for (let i = 0; i < bytes.length; i += 0x8000) out += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(out);
};

const copied = Object.getPrototypeOf(Uint8Array.prototype).slice; // a Buffer's own slice() would share its memory

// Assigning `__proto__` would change the object that is made.
const put = (object, key, value) => key === '__proto__' ? Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true }) : (object[key] = value);

// What is handed on, and beside it, in `seen.json` when it differs, what is judged. Both are made of one reading.
function read(value, depth, seen) {
  switch (typeof value) {
    case 'string': return text(value, seen);
    case 'number': return number(value);
    case 'boolean': return value;
    case 'object': break;
    case 'undefined': return seen.open ? null : refuse('a value is undefined');
    case 'bigint': if (seen.open) return String(value); return refuse('a BigInt has no JSON form');
    default: return seen.open ? null : refuse(`a ${typeof value} has no JSON form`);
  }
  if (value === null) return null;
  if (depth === 0) refuse(`more than ${DEPTH} levels`);
  if (seen.path.includes(value)) refuse('a value that contains itself');
  if (!seen.open && isProxy?.(value)) refuse('a proxy answers as it likes');
  seen.path.push(value); // as deep as the levels that are left to read
  const out = Array.isArray(value) ? list(value, depth, seen) : object(value, depth, seen);
  seen.path.pop();
  return out;
}

function list(value, depth, seen) {
  const { length } = value;
  const out = new Array(length);
  if (length > 1e6) refuse('a list of more than a million');
  for (let i = 0; i < length; i++) {
    const at = Object.getOwnPropertyDescriptor(value, i);
    if (at !== undefined && !('value' in at) && !seen.open) refuse(`\`[${i}]\` is made when it is asked for (a getter)`);
    const item = at === undefined ? undefined : 'value' in at ? at.value : value[i];
    out[i] = item === undefined ? null : read(item, depth - 1, seen);
  }
  return out;
}

function object(value, depth, seen) {
  const kind = Object.getPrototypeOf(value);
  if (kind === Object.prototype || kind === null) return plain(value, depth, seen);
  if (value instanceof Date) return special(seen, Number.isNaN(value.getTime()) ? refuse('a date that is none') : value.toISOString(), new Date(value.getTime()));
  if (value instanceof URL) return special(seen, text(value.href, seen), new URL(value.href));
  if (ArrayBuffer.isView(value)) return special(seen, binary(value), value instanceof DataView ? refuse('a DataView has no JSON form') : copied.call(value));
  if (value instanceof ArrayBuffer) return special(seen, binary(new Uint8Array(value)), value.slice(0));
  if (value instanceof Set) return special(seen, list([...value], depth, seen));
  if (value instanceof Map) return special(seen, plain(Object.fromEntries([...value].map(([k, v]) => [typeof k === 'string' ? k : refuse('a key that is no text'), v])), depth, seen));
  if (kind !== null && Object.getPrototypeOf(kind) === null && kind.constructor?.name === 'Object') return plain(value, depth, seen); // of another realm
  if (!seen.open) refuse(`a value of class \`${String(kind?.constructor?.name ?? '?').slice(0, 60)}\` has no JSON form`);
  if (value instanceof Error) return { name: text(String(value.name), seen), message: text(String(value.message), seen), ...plain(value, depth, seen) };
  if (typeof value.next === 'function' || typeof value.then === 'function' || typeof value.getReader === 'function' || value[Symbol.asyncIterator]) refuse('what it holds is made when it is asked for');
  if (typeof value.toJSON === 'function') return read(value.toJSON(), depth - 1, seen);
  return plain(value, depth, seen);
}

// A copy that is no JSON stands beside its text: the arguments that hold one are handed on with it in place.
function special(seen, json, copy) {
  seen.special = true;
  if (copy === undefined && !seen.open) refuse('a Map or Set has no JSON form');
  return seen.asJson ? json : copy ?? json;
}

// Own data, whatever its class says of itself. The getters of a result (`open`) may be asked.
function plain(value, depth, seen) {
  const out = {};
  for (const key of Object.keys(value)) {
    const at = Object.getOwnPropertyDescriptor(value, key);
    if (at === undefined) continue;
    const made = at.get !== undefined || at.set !== undefined;
    if (made && !seen.open) refuse(`\`${key}\` is made when it is asked for (a getter)`);
    const item = made ? value[key] : at.value;
    if (item === undefined || (seen.open && typeof item === 'function')) continue;
    text(key, seen);
    if (!seen.open && (key === '__proto__' || (key === 'constructor' && item !== null && typeof item === 'object' && Object.hasOwn(item, 'prototype')))) refuse(`a key \`${key}\` is more than a key in JavaScript`);
    if (seen.open && typeof item === 'symbol') continue;
    put(out, key, read(item, depth - 1, seen));
  }
  return out;
}

/** `{value, text}`: a copy of the arguments that nobody else has, and its JSON text. Throws where they cannot be read whole. */
export function argumentsOf(args) {
  if (args === undefined || args === null) args = {};
  if (typeof args !== 'object' || Array.isArray(args)) refuse('the arguments are no object');
  const seen = { path: [], left: BYTES, open: false, asJson: false, special: false };
  const value = read(args, DEPTH, seen);
  const json = seen.special ? read(value, DEPTH, { path: [], left: BYTES, open: false, asJson: true }) : value;
  if (json === null || typeof json !== 'object' || Array.isArray(json)) refuse('the arguments are no object');
  return { value, text: JSON.stringify(json) };
}

/** `{value, text}` of a result: its JSON text, and the copy to hand on where it is plain data. `text` is undefined where there is none that can be read, which counts as its worst case. */
export function resultOf(result) {
  if (result === undefined) return { value: undefined, text: undefined, empty: true };
  try {
    const seen = { path: [], left: BYTES, open: true, asJson: true, special: false };
    const value = read(result, DEPTH, seen);
    return { value: seen.special ? result : value, text: JSON.stringify(value) };
  } catch {
    return { value: result, text: undefined };
  }
}

/** The JSON text of a value that the host itself made. */
export const jsonOf = (value) => JSON.stringify(read(value, DEPTH, { path: [], left: BYTES, open: false, asJson: true, special: false }));

/** All that an error says: its text, what caused it, the errors in an aggregate. */
export function errorOf(error) {
  const out = [];
  const waiting = [error];
  const seen = new Set();
  while (waiting.length > 0 && seen.size < 64) {
    const e = waiting.shift();
    if (e === undefined || e === null || seen.has(e)) continue;
    seen.add(e);
    try {
      out.push(e instanceof Error ? e.message : typeof e === 'object' ? JSON.stringify(e) ?? '' : String(e));
      if (e instanceof Error) waiting.push(e.cause, ...(Array.isArray(e.errors) ? e.errors : []));
    } catch {
      out.push('an error that cannot be read');
    }
  }
  return out.join('\n').toWellFormed();
}
