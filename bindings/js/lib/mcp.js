// SPDX-License-Identifier: Apache-2.0
// Clients of the MCP TypeScript SDK, 1.x (`@modelcontextprotocol/sdk`) and 2.x (`@modelcontextprotocol/client`):
//
//   guard(gate, client, { session, server: 'mail' });
//   await client.connect(transport);
//   await client.callTool({ name: 'send', arguments: { to: 'ana@example.org' } });     // judged as mail.send
//
// The gate stands at the transport, so that nothing leaves the client without it. What the client asks is judged as `interlock gateway` judges it: `mail.send`, `mail.resources/read` with `uri`,
// `mail.prompts/get` with `name` and `arguments`; so is each answer to a question of the server's (`mail.elicitation/create`). A call that is stopped is a result with `isError`, whose text is for the
// model; what is no call of a tool is answered with an error. A call that a human may release says its request's id: `session.approve(id, by)`, then call again.
//
// The gateway stands in front of the server for every client, and sees more: this adapter is for a program that talks to its servers by itself.
import { Denied, UsageError, Withheld, said } from './errors.js';
import { Seam, ToolFailure, runs } from './seam.js';

const ALWAYS = new Set(['initialize', 'ping', 'server/discover']); // say nothing of the session's
const LISTS = new Set(['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']);
const INSIDE = new Set([...LISTS, 'logging/setLevel', 'resources/unsubscribe', 'subscriptions/listen']);
const ENDLESS = new Set(['subscriptions/listen']); // its answer is the end
const OUT = { 'notifications/initialized': [], 'notifications/roots/list_changed': [], 'notifications/cancelled': ['requestId'], 'notifications/progress': ['progressToken', 'progress', 'total'] };
const ASKS = new Set(['sampling/createMessage', 'elicitation/create', 'roots/list']);

const guarded = new WeakSet();
const hooks = globalThis.process?.getBuiltinModule?.('node:async_hooks')?.AsyncLocalStorage;
const snapshot = () => hooks?.snapshot?.() ?? ((work) => work());
const isObject = (v) => v !== null && typeof v === 'object' && !Array.isArray(v);

/**
 * Puts a gate before all that goes to this server, and answers the client. `server`: its name in the policy; `inside`: whether the policy calls it `trust: inside`. `names`: what tools are called in the
 * policy, where that is not `SERVER.TOOL`. A transport may be given in place of a client. UsageError when it is guarded already.
 */
export function guard(gate, client, { server, inside = false, names = {}, ...options } = {}) {
  if (typeof server !== 'string' || server === '' || server.includes('.')) throw new UsageError('guard(gate, client, {server}): the name of the server in the policy, without a dot');
  const seam = new Seam(gate, options);
  if (!isObject(client) || (typeof client.connect !== 'function' && typeof client.send !== 'function')) throw new UsageError('guard(gate, client): a `Client` of the MCP SDK, or its transport');
  if (guarded.has(client)) throw new UsageError('it is guarded already: one client of a server is in one session of a gate');
  const post = (transport) => new Post(seam, server, new Map(Object.entries(names)), inside === true, transport);
  if (typeof client.connect !== 'function') {
    post(client);
  } else {
    if (client.transport !== undefined) post(client.transport);
    const { connect } = client;
    Object.defineProperty(client, 'connect', { configurable: true, writable: true, value: (transport, ...more) => {
      if (!guarded.has(transport)) post(transport);
      return connect.call(client, transport, ...more);
    } });
  }
  guarded.add(client);
  return client;
}

// Where a transport's messages leave and arrive.
class Post {
  #seam;
  #server;
  #names;
  #inside;
  #send;
  #inner; // the client's own `onmessage`
  #filters = new WeakMap();
  #open = new Map(); // id of a request that went out: {method, answer, fail, inside}
  #asked = new Map(); // id of a request of the server's: its method
  #states = new Set(); // `requestState` that this server gave

  constructor(seam, server, names, inside, transport) {
    [this.#seam, this.#server, this.#names, this.#inside] = [seam, server, names, inside];
    if (!isObject(transport) || typeof transport.send !== 'function') throw new UsageError('this is no transport of the MCP SDK');
    if (guarded.has(transport)) throw new UsageError('this transport is guarded already');
    guarded.add(transport);
    const { send, close } = transport;
    this.#send = (message, options) => send.call(transport, message, options);
    this.#inner = transport.onmessage;
    const filter = (inner) => {
      if (typeof inner !== 'function') return inner;
      const made = (message, extra) => { this.#arrives(message, extra, inner).catch(() => {}); };
      this.#filters.set(made, inner);
      return made;
    };
    const closing = (inner) => () => { this.#ends(); inner?.(); };
    let current = filter(this.#inner), closed = closing(transport.onclose);
    Object.defineProperties(transport, {
      send: { configurable: true, writable: true, value: (message, options) => this.#leaves(message, options) },
      close: { configurable: true, writable: true, value: async (...more) => { try { return await close.apply(transport, more); } finally { this.#ends(); } } },
      onclose: { configurable: true, enumerable: true, get: () => closed, set: (inner) => { closed = closing(inner); } },
      onmessage: { configurable: true, enumerable: true, get: () => current, set: (inner) => {
        this.#inner = this.#filters.get(inner) ?? inner; // what somebody saved, and puts back
        current = filter(this.#inner);
      } },
    });
  }

  #ends() {
    for (const { fail } of this.#open.values()) fail(new Error('the connection is closed'));
    this.#open.clear();
  }

  #name(tool) { return `${this.#server}.${tool}`; }

  // ---- out ------------------------------------------------------------------------------------------------

  async #leaves(given, options) {
    if (Array.isArray(given)) {
      for (const one of given) await this.#leaves(one, options);
      return;
    }
    const message = structuredClone(given); // now: whoever holds it may change it while it waits
    if (typeof message?.method !== 'string') return this.#answers(message, options);
    if (message.id === undefined) return this.#notifies(message, options);
    if (this.#open.has(message.id)) throw new UsageError('there is a request of the same id already');
    if (ALWAYS.has(message.method) || (this.#inside && INSIDE.has(message.method))) return this.#passes(message, options);
    if (ENDLESS.has(message.method)) {
      const d = await this.#seam.decide(this.#name(message.method), bare(message.params));
      if (!runs(d)) return this.#refuses(message, d.message);
      await this.#seam.session.settle(d, { result: null });
      return this.#passes(message, options);
    }
    return this.#asks(message, options);
  }

  #passes(message, options) {
    this.#open.set(message.id, { method: message.method, judged: false, fail: () => {} });
    return this.#send(message, options);
  }

  // A request is decided, goes out, and its answer is recorded before the client has it.
  #asks(message, options) {
    const isCall = message.method === 'tools/call';
    const tool = isCall ? this.#names.get(message.params?.name) ?? this.#name(message.params?.name) : this.#name(message.method);
    return new Promise((sent, unsent) => {
      const off = new AbortController(), signal = options?.requestSignal;
      if (signal?.aborted) off.abort(signal.reason);
      signal?.addEventListener?.('abort', () => this.#open.get(message.id)?.fail(new Error('it was called off')), { once: true });
      const entry = { method: message.method, judged: true, fail: (error) => off.abort(error), answer: undefined, inside: undefined, extra: undefined };
      this.#open.set(message.id, entry);
      const run = async (judged) => {
        entry.inside = snapshot();
        const answered = new Promise((answer, fail) => { [entry.answer, entry.fail] = [answer, fail]; });
        answered.catch(() => {});
        try {
          await this.#send(isCall ? { ...message, params: { ...message.params, arguments: judged } } : message, options);
        } catch (error) {
          unsent(error);
          throw error;
        }
        sent();
        return answered;
      };
      (async () => {
        await this.#judgeInputs(message.params);
        const args = isCall ? message.params?.arguments ?? {} : bare(message.params);
        return this.#seam.call(tool, args, run, { seen: (answer) => seenOf(answer, isCall), signal: off.signal });
      })().finally(() => this.#open.delete(message.id)).then((answer) => this.#inner?.(answer, entry.extra), (error) => {
        if (!(error instanceof Denied) && !(error instanceof Withheld)) return; // the client knows: it called it off, or its `send` failed
        this.#refuses(message, error.message);
      }).catch(() => {}).then(() => sent());
    });
  }

  // Answers that come with the request, as 2026-07-28 has it, and what the server gave to be given back.
  async #judgeInputs(params) {
    if (!isObject(params)) return;
    for (const answer of Object.values(isObject(params.inputResponses) ? params.inputResponses : {})) {
      const d = await this.#seam.decide(this.#name(isObject(answer) && 'roots' in answer ? 'roots/list' : isObject(answer) && 'role' in answer ? 'sampling/createMessage' : 'elicitation/create'), answer);
      if (!runs(d)) throw new Denied(d);
      await this.#seam.session.settle(d, { result: null });
    }
    if ('requestState' in params && !this.#states.has(params.requestState)) delete params.requestState;
  }

  // What the client sees in place of an answer.
  #refuses({ id, method, params }, text) {
    const modern = isObject(params?._meta) && Object.keys(params._meta).some((key) => key.startsWith('io.modelcontextprotocol/'));
    const result = { content: [{ type: 'text', text }], isError: true, ...(modern && { resultType: 'complete' }) };
    queueMicrotask(() => this.#inner?.(method === 'tools/call' ? { jsonrpc: '2.0', id, result } : { jsonrpc: '2.0', id, error: { code: -32600, message: text } }));
  }

  async #notifies(message, options) {
    if (message.method === 'notifications/cancelled') {
      const entry = this.#open.get(message.params?.requestId);
      entry?.fail(new Error('it was called off'));
      if (entry?.judged && entry.answer === undefined) return undefined; // it never went out
    }
    const keep = Object.hasOwn(OUT, message.method) ? OUT[message.method] : undefined;
    if (keep === undefined) {
      const d = await this.#seam.decide(this.#name(message.method), bare(message.params));
      if (!runs(d)) return undefined;
      await this.#seam.session.settle(d, { result: null });
      return this.#send(message, options);
    }
    const kept = Object.entries(message.params ?? {}).filter(([key]) => keep.includes(key) || key === '_meta');
    return this.#send({ jsonrpc: message.jsonrpc, method: message.method, ...(message.params !== undefined && { params: Object.fromEntries(kept) }) }, options);
  }

  // An answer to a question of the server's leaves as a call does.
  async #answers(message, options) {
    const method = this.#asked.get(message?.id);
    this.#asked.delete(message?.id);
    if (method === undefined) return undefined; // nobody asked
    const refused = (code) => this.#send(method === 'elicitation/create' ? { jsonrpc: '2.0', id: message.id, result: { action: 'decline' } } : { jsonrpc: '2.0', id: message.id, error: { code, message: 'refused' } }, options);
    if (method === 'ping') return this.#send(message, options);
    if (!isObject(message.result)) return refused(Number.isInteger(message.error?.code) ? message.error.code : -1);
    const d = await this.#seam.decide(this.#name(method), bare(message.result));
    if (!runs(d)) return refused(-1);
    await this.#seam.session.settle(d, { result: null });
    return this.#send(message, options);
  }

  // ---- in -------------------------------------------------------------------------------------------------

  async #arrives(message, extra, inner) {
    if (!isObject(message)) return;
    if (typeof message.method === 'string') return message.id === undefined ? this.#told(message, extra, inner) : this.#questioned(message, extra, inner);
    const entry = this.#open.get(message.id);
    if (entry === undefined) return; // nobody waits for it, or it was called off: nobody recorded it
    for (const state of [message.result?.requestState]) if (typeof state === 'string' && state !== '') this.#keeps(state);
    if (entry.answer !== undefined) {
      entry.extra = extra;
      entry.answer(structuredClone(message));
      return;
    }
    if (entry.judged) return; // an answer to what did not go out
    this.#open.delete(message.id);
    const out = structuredClone(message);
    if (!this.#inside && isObject(out.result)) delete out.result.instructions;
    try {
      if (this.#inside && isObject(out.result)) await this.#seam.session.notice(JSON.stringify(out.result), { source: this.#server, kind: 'description', untrusted: false });
    } catch (error) {
      inner({ jsonrpc: '2.0', id: message.id, error: { code: -32603, message: said(error) } }, extra);
      return;
    }
    inner(out, extra);
  }

  #keeps(state) {
    this.#states.add(state);
    if (this.#states.size > 100) this.#states.delete(this.#states.values().next().value);
  }

  // A text of a server outside that is no result of a call is not handed on.
  #told(message, extra, inner) {
    if (!this.#inside && message.method === 'notifications/message') return;
    const out = structuredClone(message);
    if (!this.#inside && message.method === 'notifications/progress') delete out.params?.message;
    inner(out, extra);
  }

  // What a question says reaches the agent. Who answers it (an agent, perhaps) is inside of the call that brought it.
  async #questioned(message, extra, inner) {
    const out = structuredClone(message);
    this.#asked.set(message.id, message.method);
    try {
      if (ASKS.has(message.method)) await this.#seam.session.notice(JSON.stringify(out.params ?? {}), { source: this.#server, kind: 'message', untrusted: !this.#inside });
    } catch {
      await this.#answers({ jsonrpc: '2.0', id: message.id, error: { code: -1, message: '' } });
      return;
    }
    const inside = [...this.#open.values()].findLast((entry) => entry.inside !== undefined)?.inside ?? ((work) => work());
    inside(() => inner(out, extra));
  }
}

// The members of a request that say something.
function bare(params) {
  const { _meta, inputResponses, requestState, task, ...rest } = isObject(params) ? params : {};
  return rest;
}

function seenOf(answer, isCall) {
  if (answer.error !== undefined) throw new ToolFailure(`${answer.error?.message ?? ''}\n${answer.error?.data === undefined ? '' : JSON.stringify(answer.error.data)}`);
  const { _meta, ...result } = isObject(answer.result) ? answer.result : {};
  if (isCall && result.isError === true) throw new ToolFailure((Array.isArray(result.content) ? result.content : []).map((block) => (typeof block?.text === 'string' ? block.text : JSON.stringify(block))).join('\n'));
  return result;
}
