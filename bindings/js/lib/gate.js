// SPDX-License-Identifier: Apache-2.0
// The gate: every tool call of a session is decided before it runs, and its result is recorded before anybody sees it.
import { answerOf } from './answer.js';
import { MACHINES, coreModule, shippedMachine, shippedPresets } from './assets.js';
import { Engine } from './core.js';
import { ApprovalRequired, Denied, InterlockError, PolicyError, UsageError, Withheld, said } from './errors.js';
import { documentOf, labelOf } from './labels.js';
import { argumentsOf, errorOf, jsonOf, resultOf } from './plain.js';
import { Lock } from './lock.js';
import { MemoryStore } from './store.js';
import { yamlAsJson } from './yaml.js';

const ACTIONS = ['block', 'require_approval', 'allow'];
const LAYERS = ['fault', 'labeller', 'machine', 'rule', null];
const EFFECTS = ['untrusted', 'sensitive', 'secret', 'egress', 'commit'];
const NOTICES = ['message', 'description', 'task'];
const N = Symbol.for('interlock-gate');

const DIGITS = Array.from({ length: 256 }, (_, b) => b.toString(16).padStart(2, '0'));
function hex(bytes) {
  let out = '';
  for (const b of bytes) out += DIGITS[b];
  return out;
}
const SETS = Array.from({ length: 32 }, (_, bits) => Object.freeze(EFFECTS.filter((_, i) => bits >> i & 1)));
const effectsOf = (bits) => SETS[bits & 31];
const NONE = Object.freeze([]);

// What was decided. The text of the arguments that were judged, and whose they were, are no part of it that anybody could read or make up.
class Decision {
  #session;
  #text;

  constructor(action, layer, run, unenforced, child, effects, ticket, reason, rule, approval, message, digest, witnesses) {
    this.action = action;
    this.layer = layer;
    this.run = run;
    this.unenforced = unenforced;
    this.child = child;
    this.effects = effects;
    this.ticket = ticket;
    this.reason = reason;
    this.rule = rule;
    this.approval = approval;
    this.message = message;
    this.digest = digest;
    this.witnesses = witnesses;
    Object.freeze(this);
  }

  static judged(decision, session, text) {
    decision.#session = session;
    decision.#text = text;
    return decision;
  }

  static textOf(decision, session) {
    return decision !== null && typeof decision === 'object' && #text in decision && decision.#session === session ? decision.#text : undefined;
  }
}

/** A block that the core was not asked for. */
export const fault = (reason, message) => new Decision('block', 'fault', false, false, false, effectsOf(0), 0, reason, 0, '', message, '', NONE);

function decisionOf(r) {
  const action = ACTIONS[r.u32()] ?? 'block', layer = LAYERS[r.u32()] ?? null, flags = r.u32(), effects = effectsOf(r.u32()), ticket = r.u64();
  const rule = r.u32(), n = r.u32(), digest = r.text(), reason = r.text(), approval = r.text(), message = r.text();
  const witnesses = n === 0 ? NONE : Object.freeze(Array.from({ length: n }, () => Object.freeze({ effect: effectsOf(r.u32())[0] ?? '', ticket: r.u64(), tool: r.text() })));
  return new Decision(action, layer, (flags & 1) !== 0, (flags & 2) !== 0, (flags & 4) !== 0, effects, ticket, reason, rule, approval, message, digest, witnesses);
}

const settlementOf = (r) => {
  const flags = r.u32();
  return { release: (flags & 1) !== 0, quarantined: (flags & 2) !== 0, reason: r.text() };
};

function approvalsOf(r) {
  const out = [];
  while (r.more) {
    const granted = r.u32() !== 0, expires = r.u64(), effects = effectsOf(r.u32());
    out.push(Object.freeze({ id: r.text(), tool: r.text(), granted, expires, effects, reason: r.text() }));
  }
  return out;
}

const isStore = (v) => v !== null && typeof v === 'object' && typeof v.load === 'function' && typeof v.commit === 'function';

async function fileOf(path) {
  const fs = globalThis.process?.getBuiltinModule?.('node:fs') ?? await import(/* @vite-ignore */ /* webpackIgnore: true */ 'node:fs').catch(() => undefined);
  if (fs === undefined) throw new UsageError('there are no files here: give the policy as an object, or as text with more than one line');
  try {
    const { mode } = fs.statSync(path);
    if (globalThis.process?.platform !== 'win32' && (mode & 0o022) !== 0) throw new PolicyError('others may write it; `chmod go-w` it', 0, 0, String(path));
    return fs.readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof InterlockError) throw error;
    throw new PolicyError(said(error), 0, 0, String(path));
  }
}

/** `{text, place, where}` of what was given as a policy. */
async function documentIn(policy) {
  if (typeof policy !== 'string' && !(policy instanceof URL)) return { text: jsonOf(policy), where: '' };
  const isText = typeof policy === 'string' && policy.includes('\n');
  const where = isText ? '' : String(policy);
  try {
    return { ...(await yamlAsJson(isText ? policy : await fileOf(policy))), where };
  } catch (error) {
    throw error instanceof PolicyError && error.line > 0 && where ? placed(error, where, error.line, error.column) : error;
  }
}

function placed(error, where, line, column) {
  const text = error.line > 0 ? error.message.slice(error.message.indexOf(': ') + 2) : error.message;
  const out = new PolicyError(text, line, column, where);
  out.status = error.status;
  return out;
}

/**
 * Makes a gate. `policy`: a path, a text of several lines, a document; without one the policy is what stands beside the tools, on the shipped machine `standard`. `ledger`: a store.
 */
export async function createGate(options = {}) {
  const { policy, ledger = new MemoryStore(), machine, ...rest } = options;
  for (const key of Object.keys(rest)) if (!['approvals', 'resolver', 'approver', 'enforce', 'deadline', 'timeout', 'core', 'clock'].includes(key)) throw new UsageError(`createGate knows no \`${key}\``);
  if (!isStore(ledger)) throw new UsageError('`ledger` is a store: {load, commit}');
  if (policy !== undefined && rest.approvals !== undefined) throw new UsageError('`approvals` is for labels beside the tools; a policy says it itself');
  const engine = new Engine(await coreModule(rest.core), ledger, rest.clock ?? Date.now);
  const given = policy === undefined ? undefined : await documentIn(policy);
  let name;
  try {
    name = given === undefined ? 'standard' : engine.machineName(given.text);
  } catch (error) {
    throw where(error, given);
  }
  const sealed = machine ?? await shippedMachine(name);
  if (sealed === undefined) throw new PolicyError(`the machine \`${name}\` is not shipped; there is: ${MACHINES.join(', ')}. One of your own is sealed by the command \`interlock harden\` and given as \`machine: {table, certificate}\``, 0, 0, given?.where);
  const gate = new Gate(N, engine, ledger, sealed, await shippedPresets(), given, rest);
  if (given !== undefined) gate.policy;
  return gate;
}

function where(error, given) {
  if (!(error instanceof PolicyError) || error.line === 0 || given === undefined) return error;
  if (given.place === undefined) return placed(error, '', 0, 0);
  const [line, column] = given.place(error.line, error.column);
  return placed(error, given.where, line, column);
}

/** A policy at work on a store, for any number of sessions. */
export class Gate {
  #engine;
  #store;
  #machine;
  #presets;
  #given;
  #options;
  #labels = new Map();
  #plan;
  #said;
  #locks = new Map();

  constructor(key, engine, store, machine, presets, given, options) {
    if (key !== N) throw new UsageError('a gate is made with `await createGate()`');
    [this.#engine, this.#store, this.#machine, this.#presets, this.#given, this.#options] = [engine, store, machine, presets, given, options];
  }

  /** `{fingerprint, mode, document}` of the policy that sessions begin with now. */
  get policy() {
    const plan = this.#planned();
    return { fingerprint: hex(this.#said.fingerprint), mode: this.#said.monitors ? 'monitor' : 'enforce', document: JSON.parse(plan.document) };
  }

  /** Whether it was given a policy; else its policy is what stands beside the tools. */
  get policed() { return this.#given !== undefined; }

  #planned() {
    if (this.#plan === undefined) {
      if (this.#given === undefined && this.#labels.size === 0) throw new UsageError('no tool is labelled: `tool({…, interlock: {effects: […]}})`, or give the gate a policy');
      const { resolver, approvals = resolver === undefined ? undefined : { for: ['egress', 'commit'] } } = this.#options;
      const document = this.#given?.text ?? documentOf(this.#labels, approvals);
      const plan = { document, machine: this.#machine, presets: this.#presets, enforce: this.#options.enforce === true, deadline: this.#options.deadline ?? 0 };
      try {
        this.#said = this.#engine.policy(plan);
      } catch (error) {
        throw where(error, this.#given ?? {});
      }
      this.#plan = plan;
    }
    return this.#plan;
  }

  /**
   * Takes the labels that stand beside tools (`interlock: {effects, …}`), for sessions that begin from now on. A tool that has none is denied. Nothing where the gate has a policy, but that a
   * label beside one is a mistake.
   */
  label(tools) {
    for (const [name, tool] of Object.entries(tools ?? {})) {
      const entry = labelOf(name, tool);
      if (entry === undefined || this.#labels.get(name) === entry) continue;
      if (this.#given !== undefined) throw new UsageError(`\`${name}\` has a label, and the gate a policy: one of them says what it is`);
      if (this.#labels.has(name)) throw new UsageError(`\`${name}\` is labelled twice, and not alike`);
      this.#engine.policy({ document: documentOf([[name, entry]], this.#options.approvals), machine: this.#machine, presets: this.#presets, enforce: false, deadline: 0 });
      this.#labels.set(name, entry);
      this.#plan = undefined;
    }
    return this;
  }

  /** The session of that name: begun when it is first used, or gone on with where the store has it. Without a name a new one. */
  session(id = crypto.randomUUID(), { principal = '' } = {}) {
    if (id instanceof Session) return id;
    if (typeof id !== 'string' || typeof principal !== 'string') throw new UsageError('a session has a name');
    return new Session(N, this, id, principal, undefined);
  }

  // ---- for sessions ----

  /** @internal */
  _plan() { return this.#planned(); }

  /** @internal */
  _op(plan, name, session, parts, more, read) {
    return this.#engine.op(plan, name, session, parts, more, read);
  }

  /** @internal */
  get _options() { return this.#options; }

  /** @internal */
  get _traps() { return this.#engine.traps; }

  /** @internal */
  _rows(session) {
    if (typeof this.#store.rows !== 'function') throw new UsageError('this store keeps no rows to read');
    return this.#store.rows(session);
  }

  /** @internal True exactly once for a text, whoever shares the store. */
  async _once(text) {
    const key = hex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
    return await this.#store.commit([{ space: 'once', key, expect: 0, state: new Uint8Array(1), rows: [] }], (this.#options.clock ?? Date.now)()) === true;
  }

  /** @internal One lock a session, for as long as somebody holds it. */
  _lock(id) {
    let lock = this.#locks.get(id);
    if (lock === undefined) this.#locks.set(id, lock = new Lock(() => this.#locks.delete(id)));
    return lock;
  }
}

/** The calls of one agent, which hold what they brought. */
export class Session {
  #gate;
  #parent;
  #begun;
  #ready = false;
  #plan;

  constructor(key, gate, id, principal, parent) {
    if (key !== N) throw new UsageError('a session is made with `gate.session(name)`');
    [this.#gate, this.#parent] = [gate, parent];
    this.id = id;
    this.principal = principal;
  }

  get gate() { return this.#gate; }
  get parent() { return this.#parent; }

  async #there() {
    if (this.#parent !== undefined) await this.#parent.begin();
    if (this.#begun === undefined) {
      try {
        this.#plan ??= this.#gate._plan();
        this.#begun = Promise.resolve(this.#gate._op(this.#plan, 'iljs_begin', this.id, [this.#parent?.id, this.principal], [this.#parent === undefined ? 1 : 0], undefined));
        await this.#begun;
        this.#ready = true;
      } catch (error) {
        this.#begun = undefined;
        throw error;
      }
    }
    return this.#begun;
  }

  /** Begins it now, rather than at its first call. */
  async begin() {
    await this.#there();
    return this;
  }

  #op(name, parts, more = [], read) {
    const now = () => this.#gate._op(this.#plan, name, this.id, parts, more, read);
    return this.#ready ? now() : this.#there().then(now);
  }

  /** Notes what a human typed: values in it vouch from now on. Only for what came over a channel that the agent cannot write. */
  async userPrompt(text) {
    await this.#op('iljs_say', [String(text).toWellFormed()]);
  }

  /** Notes a text that reaches the agent and is no result: a `message` of a server, a tool's `description`, a `task` of another agent. */
  async notice(text, { source = '', kind = 'message', untrusted = true, agent = '' } = {}) {
    if (!NOTICES.includes(kind)) throw new UsageError('a notice is a `message`, a `description` or a `task`');
    await this.#op('iljs_notice', [source, String(text).toWellFormed(), agent], [NOTICES.indexOf(kind), untrusted === false ? 0 : 1]);
  }

  /** A human's word for exactly this value, which rules may ask for. Its digest. */
  async endorse(kind, by, value, note = '') {
    return this.#op('iljs_endorse', [kind, by, jsonOf(value), note], [], (r) => hex(r.some(32)));
  }

  /** A session for another agent, which holds what this one holds and none of its approvals. Its answer comes back by `settle(decision, {result, child})`. */
  async child(id = crypto.randomUUID(), { principal = '' } = {}) {
    await this.#there();
    const child = new Session(N, this.#gate, id, principal, this);
    return child.begin();
  }

  /**
   * Decides a call of `tool` (`server.tool`, or a name of the host's own) and records it. Never throws for a call that is no good: that is a block. Run the tool only when `.run` is true, with
   * exactly these arguments, and `settle` afterwards.
   */
  async decide(tool, args = {}, how = {}) {
    return (await this.#judged(tool, args, how)).decision;
  }

  #judged(tool, args, how) {
    const name = typeof tool === 'string' ? tool.toWellFormed() : '';
    try {
      return this.#judgedText(name, argumentsOf(args), how);
    } catch (error) {
      return { decision: fault('bad-arguments', `interlock: \`${name}\` did not run: the arguments cannot be read: ${said(error)}`) };
    }
  }

  async #judgedText(name, read, { labels, unjoined = false } = {}) {
    let decision;
    try {
      decision = await this.#timely(this.#decided(name, read.text, labels, unjoined));
    } catch (error) {
      decision = fault('internal', `interlock: \`${name}\` did not run: ${said(error)}`);
    }
    Decision.judged(decision, this, read.text);
    return { decision, value: read.value, text: read.text };
  }

  // At once where the session is there and the store answers at once.
  #decided(name, text, labels, unjoined) {
    if (this.#ready) return this.#decidedNow(name, text, labels, unjoined);
    return this.#there().catch((error) => {
      if (this.#plan === undefined) throw error; // without a policy nobody can decide; else the core says what such a session is
    }).then(() => this.#decidedNow(name, text, labels, unjoined));
  }

  #decidedNow(name, text, labels, unjoined) {
    const dot = name.indexOf('.');
    const marks = labels === undefined ? undefined : labelsText(labels);
    return this.#gate._op(this.#plan, 'iljs_decide', this.id, [dot < 0 ? '' : name.slice(0, dot), dot < 0 ? name : name.slice(dot + 1), text, marks], [unjoined === true ? 1 : 0], decisionOf);
  }

  // A store that does not answer is one that is gone. What it answers too late is nobody's: the ticket is settled as its worst by its deadline.
  #timely(promise) {
    if (typeof promise?.then !== 'function') return promise;
    const { timeout = 5000 } = this.#gate._options;
    let timer;
    const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new InterlockError(`the gate did not answer within ${timeout} ms`)), timeout); });
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
  }

  /**
   * Records what came of a call that ran, before anybody sees it: `{result}`, or `{error}`. Throws `Withheld` when it may not be returned. Returns what may be: a copy, where the result is
   * plain data.
   */
  async settle(decision, outcome = {}) {
    const failed = 'error' in outcome;
    const { value, text, empty } = failed ? {} : resultOf(outcome.result);
    const done = !failed && (text !== undefined || empty);
    let settled;
    try {
      settled = await this.#timely(this.#op('iljs_settle', [outcome.child?.id, failed ? undefined : empty ? 'null' : text, failed ? errorOf(outcome.error) : undefined, Decision.textOf(decision, this)], [decision.ticket, done ? 1 : 0, 0], settlementOf));
    } catch (error) {
      throw new Withheld(`interlock: the ${failed ? 'failure' : 'result'} is withheld: ${said(error)}`);
    }
    if (!settled.release) throw new Withheld(`interlock: the ${failed ? 'failure' : 'result'} is withheld: ${settled.reason}`);
    return value;
  }

  /** Decides, runs `run(args)` on a copy of the arguments that were judged, records, returns. `Denied`, `ApprovalRequired`, `Withheld`, or what `run` throws. */
  async call(tool, args, run, how = {}) {
    let own = args;
    try {
      own = argumentsOf(args).value; // now: whoever holds them may change them while this call waits
    } catch {
      // which is said when it is decided
    }
    return this.locked(async () => {
      const judged = await this.#judged(tool, own, how);
      let { decision } = judged;
      const { resolver, approver = 'resolver' } = this.#gate._options;
      if (!decision.run && decision.approval !== '' && decision.action === 'require_approval' && resolver !== undefined) {
        const yes = await resolver({ tool, args: argumentsOf(judged.value).value, decision }) === true;
        await this.#op('iljs_answer', [decision.approval, approver], [yes ? 1 : 0]);
        if (yes) ({ decision } = await this.#judged(tool, judged.value, how));
      }
      return this.run(decision, judged.value, run);
    });
  }

  /** What `call` does once there is a decision. */
  async run(decision, args, run) {
    if (decision.run !== true) throw decision.action === 'require_approval' ? new ApprovalRequired(decision) : new Denied(decision);
    let result;
    try {
      result = await run(args);
      if (isLater(result)) throw new UsageError('a result that is made when it is asked for (a stream, a generator): nobody can record it; return what is in it');
    } catch (error) {
      await this.settle(decision, { error });
      throw error;
    }
    return this.settle(decision, { result });
  }

  /** Runs `work` alone among those of this session; what it starts itself may go on inside. */
  locked(work) {
    return this.#gate._lock(this.id).run(work);
  }

  /**
   * The assistant's answer, as it may be shown: every link and image in it is a call of the tool `respond` with that `url`, which the policy labels (labels beside the tools: an egress to that url, `once`).
   * What is not allowed is taken out. `{text, shown, withheld}`.
   */
  async respond(markdown) {
    return answerOf(markdown, async (url, image) => {
      const d = await this.decide('respond', { url, image });
      if (d.run) await this.settle(d, { result: null });
      return d.run;
    });
  }

  /** Calls that wait for a human, or that one has let through. */
  async approvals() {
    return this.#op('iljs_approvals', [], [], approvalsOf);
  }

  /** A human's yes to one request. Nothing that the agent can call may lead here. */
  async approve(approval, by) {
    await this.#op('iljs_answer', [approval, by], [1]);
  }

  /** A human's no. */
  async refuse(approval, by) {
    await this.#op('iljs_answer', [approval, by], [0]);
  }

  /** Freezes it: no call runs, no result is returned. */
  async quarantine(why) {
    await this.#op('iljs_quarantine', [why]);
  }

  /** Ends it; its name is not reborn. `UsageError` while calls are open, unless `abandon`. */
  async end({ abandon = false } = {}) {
    await this.#op('iljs_end', [], [abandon ? 1 : 0]);
  }

  /** The rows of its audit trail, oldest first. */
  async trail() {
    return (await this.#gate._rows(this.id)).map((row) => ({ ...row, body: typeof row.body === 'string' ? JSON.parse(row.body) : row.body }));
  }

  /** What was stopped and why, oldest first. `from`: the calls that brought what stood against it. */
  async why() {
    const stopped = (await this.trail()).filter((row) => row.kind === 'decision' && row.body.action !== 'allow');
    return stopped.map(({ time, body: { tool, action, layer, reason, effects, why, witnesses } }) => ({ time, tool, action, layer, reason, effects, why: why ?? '', from: witnesses ?? [] }));
  }
}

const isLater = (v) => v !== null && typeof v === 'object' && (typeof v[Symbol.asyncIterator] === 'function' || typeof v.next === 'function' || typeof v.getReader === 'function');

function labelsText(labels) {
  return JSON.stringify(Object.entries(labels).map(([path, v]) => ({ path, ...(v === null || v === undefined ? { sources: null } : typeof v === 'string' ? { sources: [v] } : Array.isArray(v) ? { sources: v } : JSON.parse(jsonOf(v))) })));
}
