// SPDX-License-Identifier: Apache-2.0
// One instance of the core (src/exports.h), and the calls into it. An instance that trapped is thrown away, and the call is a fault; a new one is made for the next call. All that counts is in
// the store, so nothing is lost with an instance but the texts of what was read.
import { InterlockError, failure } from './errors.js';
import { MemoryStore } from './store.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const RANDOM = 4096, SPACE = 36, KEY = 52, BYTES = 52 + 160; // iljs_state
const TRIES = 10000;

const SHORT = 24; // below it a loop is quicker than what the runtime has

// What a call answered, read in its order, where it lies in the instance's memory.
class Reader {
  constructor(view, bytes) {
    this.view = view;
    this.bytes = bytes;
    this.at = this.end = 0;
  }
  from(at, n) {
    this.at = at;
    this.end = at + n;
    return this;
  }
  get more() { return this.at < this.end; }
  #next(n) {
    const at = this.at;
    if (n > this.end - at) throw new RangeError('the answer is cut off');
    this.at = at + n;
    return at;
  }
  u32() { return this.view.getUint32(this.#next(4), true); }
  u64() {
    const at = this.#next(8);
    return this.view.getUint32(at, true) + 0x1_0000_0000 * this.view.getUint32(at + 4, true);
  }
  /** Until the next call. */
  lent() {
    const n = this.u32(), at = this.#next(n);
    return this.bytes.subarray(at, at + n);
  }
  some(n) {
    const at = this.#next(n);
    return this.bytes.slice(at, at + n);
  }
  part() { return this.some(this.u32()); }
  text() {
    const n = this.u32(), at = this.#next(n);
    if (n > SHORT) return decoder.decode(this.bytes.subarray(at, at + n));
    let out = '';
    for (let i = at; i < at + n; i++) {
      const byte = this.bytes[i];
      if (byte > 127) return decoder.decode(this.bytes.subarray(at, at + n));
      out += String.fromCharCode(byte);
    }
    return out;
  }
}

export class Instance {
  #x;
  #state;
  #view;
  #bytes;
  #reader;

  constructor(module) {
    this.#x = new WebAssembly.Instance(module, {}).exports;
    this.#state = this.#x.iljs_state_at();
    this.#look();
    this.#refill();
  }

  #look() {
    if (this.#view?.buffer !== this.#x.memory.buffer) {
      this.#view = new DataView(this.#x.memory.buffer);
      this.#bytes = new Uint8Array(this.#x.memory.buffer);
      this.#reader = new Reader(this.#view, this.#bytes);
    }
  }

  #word(at) { return this.#view.getUint32(this.#state + at, true); }

  #refill() {
    crypto.getRandomValues(this.#bytes.subarray(this.#state + BYTES, this.#state + BYTES + RANDOM));
    this.#x.iljs_refill();
  }

  // Writes a request; parts are texts, bytes, or undefined for nothing.
  #write(parts) {
    let room = 0;
    for (const part of parts) room += 4 + (part === undefined ? 0 : typeof part === 'string' ? 3 * part.length : part.length);
    const start = this.#x.iljs_in(room) >>> 0;
    if (start === 0) throw new InterlockError('out of memory');
    this.#look();
    let at = start;
    for (const part of parts) {
      let n = 0;
      if (typeof part === 'string') n = this.#text(part, at + 4, start + room);
      else if (part !== undefined) {
        this.#bytes.set(part, at + 4);
        n = part.length;
      }
      this.#view.setUint32(at, n, true);
      at += 4 + n;
    }
    return at - start;
  }

  // Writes a text and says how many bytes it took.
  #text(text, at, end) {
    const n = text.length;
    if (n > SHORT) return encoder.encodeInto(text, this.#bytes.subarray(at, end)).written;
    for (let i = 0; i < n; i++) {
      const unit = text.charCodeAt(i);
      if (unit > 127) return encoder.encodeInto(text, this.#bytes.subarray(at, end)).written;
      this.#bytes[at + i] = unit;
    }
    return n;
  }

  // Calls an export with a request; what it returned, and what it said.
  call(name, parts, ...more) {
    const n = this.#write(parts);
    for (let i = 0; i < more.length; i++) if (more[i] === Instance.N) more[i] = n;
    const returned = this.#x[name](...more);
    this.#look();
    return returned;
  }
  static N = Symbol('the length of the request');

  /** Of the last call, until the next one. */
  get answer() { return this.#reader.from(this.#word(0), this.#word(8)); }

  /** What the last call failed with. */
  failure() {
    const r = this.answer;
    if (!r.more) return failure({ status: 2, line: 0, column: 0, message: 'out of memory' });
    const status = r.u32(), line = r.u32(), column = r.u32();
    r.u32();
    return failure({ status, line, column, message: r.text() });
  }

  /** `[space, key]` of the object that the last call lacked. */
  get wanted() {
    if (this.#word(24) === 0) return undefined;
    const space = this.#state + SPACE, key = this.#state + KEY;
    return [decoder.decode(this.#bytes.subarray(space, space + this.#word(28))), decoder.decode(this.#bytes.subarray(key, key + this.#word(32)))];
  }

  /** The commits of the last call, for the store: lists of changes. `lent`: their states are, until the next call. */
  commits(lent) {
    const out = [];
    const r = this.#reader.from(this.#word(4), this.#word(12));
    for (let left = this.#word(16); left > 0; left--) {
      const changes = [];
      for (let n = r.u32(); n > 0; n--) {
        const space = r.text(), key = r.text(), expect = r.u64(), moves = r.u32() !== 0, state = lent ? r.lent() : r.part(), rows = [];
        for (let rows_left = r.u32(); rows_left > 0; rows_left--) rows.push({ kind: r.text(), ticket: r.u64(), body: r.text() });
        changes.push({ space, key, expect, state: moves ? state : undefined, rows });
      }
      out.push(changes);
    }
    return out;
  }

  clear() { this.#x.iljs_clear(); }
  forget() { this.#x.iljs_forget(); }
  free(monitor) { this.#x.iljs_monitor_free(monitor); }

  object(space, key, found) {
    if (this.call('iljs_object', [space, key, found?.state], Instance.N, found?.version ?? 0) !== 0) throw this.failure();
  }

  keepRandom() {
    if (this.#word(20) < RANDOM / 2) this.#refill();
  }
}

const isLater = (v) => v !== null && typeof v === 'object' && typeof v.then === 'function';

/** The core, on a store. Calls go one after the other; those on a store that answers at once are done when they return. */
export class Engine {
  #module;
  #store;
  #lends;
  #clock;
  #instance;
  #policies = new Map(); // of the present instance: plan to monitor
  #machines = new Map();
  #busy = false;
  #queue = [];
  /** How many instances were thrown away. */
  traps = 0;

  constructor(module, store, clock) {
    this.#module = module;
    this.#store = store;
    this.#lends = store.commit === MemoryStore.prototype.commit; // it copies at once
    this.#clock = clock;
  }

  #there() {
    if (this.#instance === undefined) {
      this.#policies.clear();
      this.#machines.clear();
      this.#instance = new Instance(this.#module);
    }
    return this.#instance;
  }

  // Whatever an instance throws that is none of our errors has left it in a state that nobody knows.
  #guarded(work) {
    try {
      return work(this.#there());
    } catch (error) {
      if (error instanceof InterlockError) throw error;
      this.#instance = undefined;
      this.traps++;
      const fault = new InterlockError('the core failed, and a new one is made');
      fault.status = 'IL_E_INTERNAL';
      fault.cause = error;
      throw fault;
    }
  }

  /** The name of the machine that a document asks for. */
  machineName(document) {
    return this.#guarded((core) => {
      if (core.call('iljs_machine_name', [document], Instance.N) !== 0) throw core.failure();
      return core.answer.text();
    });
  }

  /** Compiles `{document, machine: {table, certificate}, presets: Map, enforce, deadline}`; what it says of itself. Again after a trap. */
  policy(plan) {
    return this.#guarded((core) => this.#compiled(core, plan).said);
  }

  #compiled(core, plan) {
    const there = this.#policies.get(plan);
    if (there !== undefined) return there;
    let machine = this.#machines.get(plan.machine);
    if (machine === undefined) {
      machine = core.call('iljs_machine', [plan.machine.table, plan.machine.certificate], Instance.N);
      if (machine === 0) throw core.failure();
      this.#machines.set(plan.machine, machine);
    }
    for (;;) {
      const monitor = core.call('iljs_monitor', [plan.document], Instance.N, machine, plan.enforce ? 1 : 0, plan.deadline);
      if (monitor !== 0) {
        const answer = core.answer;
        const said = { fingerprint: answer.some(32), monitors: answer.u32() !== 0 };
        const made = { monitor, said };
        this.#policies.set(plan, made);
        return made;
      }
      const wanted = core.wanted;
      const preset = wanted?.[0] === 'preset' ? plan.presets.get(wanted[1]) : undefined;
      if (wanted?.[0] !== 'preset') throw core.failure();
      if (preset === undefined) throw failure({ status: 5, line: 0, column: 0, message: `there is no preset \`${wanted[1]}\`; there is: ${[...plan.presets.keys()].join(', ')}` });
      if (core.call('iljs_preset', [wanted[1], JSON.stringify(preset)], Instance.N) !== 0) throw core.failure();
    }
  }

  /** One function of the core on `session`: `parts` behind the session's id, `more` behind the clock; `read` makes the answer. A promise only where the store answers with one. */
  op(plan, name, session, parts, more, read) {
    return this.#inTurn(() => this.#op(plan, name, session, parts, more, read));
  }

  #inTurn(work) {
    return this.#busy ? new Promise((resolve, reject) => this.#queue.push({ work, resolve, reject })) : this.#enter(work);
  }

  #enter(work) {
    this.#busy = true;
    let out;
    try {
      out = drive(work());
    } catch (error) {
      this.#leave();
      throw error;
    }
    if (isLater(out)) return out.finally(() => this.#leave());
    this.#leave();
    return out;
  }

  #leave() {
    this.#busy = false;
    const next = this.#queue.shift();
    if (next === undefined) return;
    try {
      Promise.resolve(this.#enter(next.work)).then(next.resolve, next.reject);
    } catch (error) {
      next.reject(error);
    }
  }

  *#op(plan, name, session, parts, more, read) {
    const objects = new Map([[`session\0${session}`, ['session', session, yield this.#store.load('session', session)]]]);
    for (let tries = 0; tries < TRIES; tries++) {
      const now = this.#clock();
      const step = this.#guarded((core) => this.#attempt(core, plan, name, session, parts, more, read, objects, now));
      if (step.wanted !== undefined) {
        for (const [space, key] of around(step.wanted)) {
          const id = `${space}\0${key}`;
          if (!objects.has(id)) objects.set(id, [space, key, yield this.#store.load(space, key)]);
        }
        continue;
      }
      let lost = false;
      for (const changes of step.commits) {
        if ((yield this.#store.commit(changes, now)) !== true) {
          lost = true;
          break;
        }
      }
      if (!lost) {
        if (step.error !== undefined) throw step.error;
        return step.value;
      }
      this.#guarded((core) => core.forget());
      for (const [id, [space, key]] of objects) objects.set(id, [space, key, yield this.#store.load(space, key)]);
    }
    throw failure({ status: 12, line: 0, column: 0, message: 'the store kept being changed by others' });
  }

  #attempt(core, plan, name, session, parts, more, read, objects, now) {
    const { monitor } = this.#compiled(core, plan);
    core.clear();
    for (const [space, key, found] of objects.values()) core.object(space, key, found);
    const status = core.call(name, [session, ...parts], monitor, Instance.N, now, ...more);
    const wanted = core.wanted;
    if (wanted !== undefined) return { wanted };
    const out = status === 0 ? { value: read?.(core.answer), commits: core.commits(this.#lends) } : { error: core.failure(), commits: core.commits(this.#lends) };
    core.keepRandom();
    return out;
  }
}

// Episodes are asked for one after the other; those that follow are fetched with the first.
function around([space, key]) {
  if (space !== 'memory') return [[space, key]];
  const [, stem, number] = /^(.*?)(\d+)$/.exec(key) ?? [undefined, key, undefined];
  return number === undefined ? [[space, key]] : Array.from({ length: 32 }, (_, i) => [space, `${stem}${Number(number) + i}`]);
}

// Runs a generator that yields what a store answers, at once as long as it answers at once.
function drive(steps) {
  const go = (how, value) => {
    for (;;) {
      const { done, value: next } = how === 'throw' ? steps.throw(value) : steps.next(value);
      if (done) return next;
      if (isLater(next)) return next.then((v) => go('next', v), (e) => go('throw', e));
      how = 'next';
      value = next;
    }
  };
  return go('next', undefined);
}
