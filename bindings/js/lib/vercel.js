// SPDX-License-Identifier: Apache-2.0
// The gate for the AI SDK (`ai` 7), in two forms:
//
//   generateText({ model, tools, prompt, ...wrapVercel(gate, { session }) })          every call is admitted by the approval function, in the order of the calls, before any of a step runs; what
//                                                                                     it brings is held from then on, so that calls of one step cannot be played against each other
//   generateText(wrapVercel(gate, { session }).guard({ model, tools, prompt }))       besides, each `execute` runs only with an admission of exactly its input, and its result is recorded
//                                                                                     before the SDK has it; tools that the provider runs are taken out, and what a model brings of itself counts
//
// The approval function never throws and never answers anything but these words: an unknown word, nothing, or an error would run the tool or end the run.
import { Denied, UsageError, Withheld, said } from './errors.js';
import { Gate, Session, fault } from './gate.js';
import { argumentsOf } from './plain.js';

const own = (object, key) => object !== null && typeof object === 'object' && Object.hasOwn(object, key) ? object[key] : undefined;
const denied = (reason) => ({ type: 'denied', reason });
const runs = (d) => d !== null && typeof d === 'object' && d.run === true && (d.action === 'allow' || (d.unenforced === true && (d.action === 'block' || d.action === 'require_approval'))) && d.ticket > 0;

// Ids, the latest; what is forgotten (or too long to be kept) is not known, and what is not known is judged again.
const IDS = 10_000, ID_CHARS = 256;
class Ids extends Set {
  add(id) {
    if (String(id).length > ID_CHARS) return this;
    super.add(id);
    if (this.size > IDS) this.delete(this.values().next().value);
    return this;
  }
}

// What one session has admitted through this adapter, whoever wrapped it. A session that is forgotten knows of no call: what is run or brought is judged again, and open tickets are settled as
// their worst by their deadline.
const OPEN = 1_000; // calls of a session that were admitted and not yet run
const shelves = new WeakMap();
const SHELVES = 10_000;
function shelfOf(gate, id) {
  let all = shelves.get(gate);
  if (all === undefined) shelves.set(gate, all = new Map());
  const shelf = all.get(id) ?? { open: new Map(), seen: new Ids(), refused: new Ids(), typed: undefined };
  all.delete(id);
  all.set(id, shelf);
  for (const [old, { open }] of all) {
    if (all.size <= SHELVES) break;
    if (open.size === 0) all.delete(old);
  }
  if (all.size > 2 * SHELVES) all.delete(all.keys().next().value);
  return shelf;
}

const secrets = new WeakMap();
const secretOf = (gate) => secrets.get(gate) ?? secrets.set(gate, crypto.getRandomValues(new Uint8Array(32))).get(gate);

/**
 * `gate`: of createGate. `session`: its name, or the session. `secret`: what approvals of humans are signed with, the same on every server that may go on with a conversation; without one it is this
 * gate's own. `allowProviderTools`: names of tools that the provider may run. `trustPrompt`: what `guard` is given as a prompt was typed by a human.
 */
export function wrapVercel(gate, { session, timeoutMs = 5000, allowProviderTools = [], secret, trustPrompt = false, approver = 'user' } = {}) {
  if (!(gate instanceof Gate)) throw new UsageError('wrapVercel(gate, {session}): the gate is what `await createGate()` answers');
  const here = session instanceof Session ? session : gate.session(session);
  return new Wrapped(gate, here, { timeoutMs, allowProviderTools: new Set(allowProviderTools), trustPrompt, approver }).face(secret ?? secretOf(gate));
}

class Wrapped {
  #gate;
  #session;
  #how;
  #shelf;

  constructor(gate, session, how) {
    [this.#gate, this.#session, this.#how] = [gate, session, how];
    this.#shelf = shelfOf(gate, session.id);
  }

  // The options to spread; what is no option of the SDK is not spread.
  face(secret) {
    const options = {
      toolApproval: (asked) => this.approve(asked, undefined),
      toolCallConcurrency: 1,
      experimental_toolApprovalSecret: secret,
      onToolExecutionEnd: (event) => this.executed(event),
      onStepEnd: (step) => this.stepped(step),
    };
    const beside = { guard: (given) => this.guard(given, options), wrapTools: (tools) => this.tools(tools), wrapModel: (model) => this.model(model), session: this.#session };
    return Object.defineProperties(options, Object.fromEntries(Object.entries(beside).map(([key, value]) => [key, { value, enumerable: false }])));
  }

  // ---- admission ----------------------------------------------------------------------------------------

  // A decision in time, whatever the gate does; what it allows too late is given back.
  async #decide(tool, input) {
    const asked = (async () => this.#session.decide(tool, input))();
    let timer, late = false;
    const limit = new Promise((resolve) => {
      timer = setTimeout(() => {
        late = true;
        resolve(fault('late', `interlock: \`${tool}\` did not run: the gate did not answer within ${this.#how.timeoutMs} ms`));
      }, this.#how.timeoutMs);
    });
    asked.then((d) => late && runs(d) && this.#session.settle(d, { error: 'it was too late to run' }).catch(() => {}), () => {});
    try {
      const d = await Promise.race([asked, limit]);
      return d !== null && typeof d === 'object' && typeof d.action === 'string' ? d : fault('internal', `interlock: \`${tool}\` did not run: the gate gave no decision`);
    } catch (error) {
      return fault('internal', `interlock: \`${tool}\` did not run: ${said(error)}`);
    } finally {
      clearTimeout(timer);
    }
  }

  // Admits a call and keeps the ticket for its execution.
  async #admit(id, tool, input) {
    if (this.#shelf.open.has(id)) return fault('same-call', `interlock: \`${tool}\` did not run: there is a call of the same id already`);
    if (this.#shelf.open.size >= OPEN) return fault('too-many-open', `interlock: \`${tool}\` did not run: ${OPEN} calls of this session were admitted and have not run`);
    let read;
    try {
      read = argumentsOf(input);
    } catch (error) {
      return fault('bad-arguments', `interlock: \`${tool}\` did not run: the arguments cannot be read: ${said(error)}`);
    }
    const entry = { tool, text: read.text, decision: undefined, runs: false };
    this.#shelf.open.set(id, entry); // before anything waits: of two calls of one id one is refused
    entry.decision = await this.#decide(tool, read.value);
    if (runs(entry.decision)) this.#shelf.seen.add(id);
    else this.#shelf.open.delete(id);
    return entry.decision;
  }

  // A status of the SDK for one call. Never throws, never undefined.
  async approve({ toolCall, tools, messages, toolsContext, runtimeContext }, theirs) {
    const name = String(toolCall?.toolName), id = String(toolCall?.toolCallId);
    try {
      if (!this.#gate.policed) this.#gate.label(tools);
      await this.history(messages);
      if (toolCall.providerExecuted === true) return this.#provider(toolCall);
      const yes = approvalIn(messages, id);
      const wish = await this.#wish(theirs, { toolCall, tools, messages, toolsContext, runtimeContext });
      if (wish === 'denied') return denied(`\`${name}\` was denied by the application`);
      if (wish === 'user-approval' && yes === undefined) return { type: 'user-approval' };
      // in a resumed run any word but this one runs the tool
      if (yes !== undefined && !(await this.#gate._once(`approval\0${this.#session.id}\0${yes}`))) return denied(`interlock: \`${name}\` did not run: this approval was used before`);
      let d = await this.#admit(id, name, toolCall.input);
      if (!runs(d) && d.action === 'require_approval' && typeof d.approval === 'string' && d.approval !== '') {
        if (yes === undefined) return { type: 'user-approval', reason: d.message };
        await this.#session.approve(d.approval, this.#how.approver);
        d = await this.#admit(id, name, toolCall.input);
      }
      return runs(d) ? { type: 'approved' } : denied(d.message || `interlock: \`${name}\` did not run`);
    } catch (error) {
      return denied(`interlock: \`${name}\` did not run: ${said(error)}`);
    }
  }

  // What the application itself asks for: its approval function or map, or the tool's `needsApproval`. Words that nobody knows deny.
  async #wish(theirs, { toolCall, tools, messages, toolsContext, runtimeContext }) {
    let status;
    const tool = own(tools, toolCall.toolName);
    if (typeof theirs === 'function') status = await theirs({ toolCall, tools, messages, toolsContext, runtimeContext });
    else {
      const entry = own(theirs, toolCall.toolName);
      status = typeof entry === 'function' ? await entry(toolCall.input, { toolCallId: toolCall.toolCallId, messages, toolContext: own(toolsContext, toolCall.toolName), runtimeContext }) : entry;
    }
    if (status === undefined && tool?.needsApproval !== undefined) {
      const needs = typeof tool.needsApproval === 'function' ? await tool.needsApproval(toolCall.input, { toolCallId: toolCall.toolCallId, messages, context: own(toolsContext, toolCall.toolName) }) : tool.needsApproval;
      status = needs ? 'user-approval' : undefined;
    }
    const word = status !== null && typeof status === 'object' ? status.type : status;
    return word === undefined || word === 'not-applicable' || word === 'approved' ? undefined : word === 'user-approval' ? word : 'denied';
  }

  // ---- results --------------------------------------------------------------------------------------------

  /** A tool of the spread form ran: its result is recorded while the SDK waits. Where it may not be seen, the model gets the reason in its place. */
  async executed({ toolCall, toolOutput }) {
    const entry = this.#shelf.open.get(toolCall?.toolCallId);
    if (entry === undefined || entry.runs || entry.decision === undefined) return; // the wrapped `execute` records its own
    this.#shelf.open.delete(toolCall.toolCallId);
    try {
      await this.#session.settle(entry.decision, toolOutput?.type === 'tool-result' ? { result: toolOutput.output } : { error: toolOutput?.error ?? 'it failed' });
    } catch (error) {
      if (toolOutput?.type === 'tool-result') toolOutput.output = said(error);
      else if (toolOutput) toolOutput.error = new Withheld(said(error));
    }
  }

  /** The end of a step: what was admitted and did not run is settled as its worst, and what the provider ran counts. */
  async stepped(step) {
    const content = Array.isArray(step?.content) ? step.content : [];
    const waits = new Set((Array.isArray(step?.toolCalls) ? step.toolCalls : []).map((call) => call.toolCallId));
    const done = new Set(content.filter((part) => part.type === 'tool-result' || part.type === 'tool-error').map((part) => part.toolCallId));
    for (const part of content) await this.#brought(part);
    for (const id of waits) if (!this.#shelf.seen.has(id)) this.#shelf.refused.add(id); // denied, or no call of a tool that is there: only an error can come of it
    for (const [id, entry] of this.#shelf.open) {
      if (!waits.has(id) || entry.decision === undefined || entry.runs) continue;
      if (!done.has(id) && step.finishReason === 'tool-calls') continue; // a tool that the client runs: its result comes with the next messages
      this.#shelf.open.delete(id);
      await this.#session.settle(entry.decision, { error: 'it did not run' }).catch(() => {});
    }
  }

  // What the provider ran is there already. It counts as a call that brought what the policy says; one that the policy does not allow has been seen all the same, and ends the session's trust.
  async #brought(part) {
    if (part?.type === 'source') return this.#seenAnyway(`source:${part.id}`, 'source', { url: part.url ?? null }, part);
    if (part?.type !== 'tool-result' || part.providerExecuted !== true) return undefined;
    return this.#seenAnyway(`provider:${part.toolCallId}`, part.toolName, part.input, part.output ?? part.result);
  }

  async #seenAnyway(id, tool, input, result) {
    if (this.#shelf.seen.has(id)) return undefined;
    this.#shelf.seen.add(id);
    return this.#happened(tool, typeof input === 'string' ? { input } : input ?? {}, result);
  }

  async #happened(tool, input, result) {
    const d = await this.#decide(tool, input);
    if (runs(d)) {
      await this.#session.settle(d, { result }).catch(() => this.#session.quarantine('withheld-result').catch(() => {}));
    } else if (d.layer === 'fault' || d.layer === 'labeller' || d.effects.some((effect) => effect === 'untrusted' || effect === 'sensitive' || effect === 'secret')) {
      await this.#session.quarantine('unjudged-result').catch(() => {});
    }
  }

  #provider(call) {
    if (!this.#how.allowProviderTools.has(call.toolName)) return denied(`interlock: \`${call.toolName}\` is run by the provider, which nobody can stop`);
    return { type: 'approved' }; // it counts when its result is there
  }

  /** Results in the messages that this session has not seen, as a server without memory gets them: they are judged as calls that happened. */
  async history(messages) {
    if (!Array.isArray(messages)) return;
    const calls = new Map();
    for (const { role, content } of messages) {
      if (!Array.isArray(content) || (role !== 'assistant' && role !== 'tool')) continue;
      for (const part of content) {
        if (part?.type === 'tool-call') calls.set(part.toolCallId, part);
        if (part?.type !== 'tool-result') continue;
        const entry = this.#shelf.open.get(part.toolCallId), kind = part.output?.type;
        if (entry !== undefined && entry.decision !== undefined && !entry.runs) {
          this.#shelf.open.delete(part.toolCallId);
          await this.#session.settle(entry.decision, kind?.startsWith('error') ? { error: part.output.value } : { result: part.output?.value ?? part.output });
        } else if (entry === undefined && !this.#known(part.toolCallId, kind)) {
          this.#shelf.seen.add(part.toolCallId);
          await this.#happened(part.toolName, calls.get(part.toolCallId)?.input ?? {}, part.output?.value ?? part.output);
        }
      }
    }
  }

  #known(id, kind) {
    const { seen, refused } = this.#shelf;
    return seen.has(id) || seen.has(`provider:${id}`) || kind === 'execution-denied' || (refused.has(id) && String(kind).startsWith('error'));
  }

  // ---- the form that wraps ------------------------------------------------------------------------------------

  guard(given, options) {
    if (given === null || typeof given !== 'object') throw new UsageError('guard({model, tools, …}) takes the options of generateText, streamText or ToolLoopAgent');
    if (!this.#gate.policed) this.#gate.label(given.tools);
    const both = (mine, theirs) => theirs === undefined ? mine : [mine, ...(Array.isArray(theirs) ? theirs : [theirs])];
    const out = {
      ...given,
      ...options,
      toolApproval: (asked) => this.approve(asked, given.toolApproval),
      onToolExecutionEnd: both(options.onToolExecutionEnd, given.onToolExecutionEnd),
      onStepEnd: both(options.onStepEnd, given.onStepEnd ?? given.onStepFinish),
    };
    delete out.onStepFinish;
    this.#wrapParts(out);
    if (given.prepareStep !== undefined) out.prepareStep = async (about) => this.#first(about?.messages, this.#wrapParts({ ...(await given.prepareStep(about)) }));
    else out.prepareStep = async (about) => this.#first(about?.messages, undefined);
    if (given.prepareCall !== undefined) out.prepareCall = async (about) => {
      const prepared = { ...(await given.prepareCall(about)) };
      const theirs = prepared.toolApproval === out.toolApproval ? given.toolApproval : prepared.toolApproval;
      const { toolCallConcurrency, experimental_toolApprovalSecret } = options;
      return this.#wrapParts({ ...prepared, toolCallConcurrency, experimental_toolApprovalSecret, toolApproval: (asked) => this.approve(asked, theirs), prepareStep: out.prepareStep });
    };
    return out;
  }

  // Before the model is asked: what a human typed vouches, and what the messages bring counts.
  async #first(messages, prepared) {
    if (this.#how.trustPrompt && Array.isArray(messages)) {
      const last = messages.findLast?.((m) => m.role === 'user');
      const text = typeof last?.content === 'string' ? last.content : Array.isArray(last?.content) ? last.content.filter((p) => p.type === 'text').map((p) => p.text).join('\n') : '';
      if (text !== '' && this.#shelf.typed !== text) {
        this.#shelf.typed = text;
        await this.#session.userPrompt(text);
      }
    }
    await this.history(messages);
    return prepared;
  }

  #wrapParts(out) {
    if (out.tools !== undefined) out.tools = this.tools(out.tools);
    if (out.model !== null && typeof out.model === 'object') out.model = this.model(out.model);
    return out;
  }

  /** The tools with their `execute` behind the gate, without those that the provider runs. */
  tools(tools) {
    const out = {};
    for (const [name, tool] of Object.entries(tools ?? {})) {
      if (tool === null || typeof tool !== 'object' || wrapped.has(tool)) {
        out[name] = tool;
      } else if (typeof tool.execute === 'function') {
        const { onInputStart, onInputDelta, onInputAvailable, ...rest } = tool; // they run before anything is decided
        const safe = { ...rest, execute: (input, how) => this.execute(name, tool, input, how) };
        wrapped.add(safe);
        out[name] = safe;
      } else if (!(tool.type === 'provider' || tool.type === 'provider-defined') || this.#how.allowProviderTools.has(name)) {
        out[name] = tool;
      }
    }
    return out;
  }

  /** The last metre: the tool runs with the very input that was admitted, once, and its result is recorded before anybody has it. */
  async execute(name, tool, input, how) {
    const id = how?.toolCallId;
    return this.#session.locked(async () => {
      let entry = this.#shelf.open.get(id);
      if (entry === undefined) { // called by other code than the SDK's loop: decided now
        const d = await this.#admit(id ?? crypto.randomUUID(), name, input);
        if (!runs(d)) {
          this.#shelf.refused.add(id);
          throw new Denied(d);
        }
        entry = [...this.#shelf.open.values()].find((e) => e.decision === d);
      } else if (entry.runs || entry.decision === undefined) {
        throw new Denied(fault('same-call', `interlock: \`${name}\` did not run: there is a call of the same id already`));
      }
      entry.runs = true;
      try {
        return await this.#session.run(entry.decision, this.#same(entry, name, input), (judged) => {
          if (how?.abortSignal?.aborted) throw how.abortSignal.reason ?? new Error('aborted');
          return drained(tool.execute.call(tool, judged, how));
        });
      } finally {
        for (const [key, value] of this.#shelf.open) if (value === entry) this.#shelf.open.delete(key);
      }
    });
  }

  // The input as it was judged. Changed since: the call did not run, which is settled as its worst.
  #same(entry, name, input) {
    let judged;
    try {
      judged = argumentsOf(input);
    } catch {
      judged = undefined;
    }
    if (judged === undefined || judged.text !== entry.text || entry.tool !== name) {
      this.#session.settle(entry.decision, { error: 'its input was changed' }).catch(() => {});
      throw new Denied(fault('changed-input', `interlock: \`${name}\` did not run: its input was changed after it was decided`));
    }
    return judged.value;
  }

  /** The model, whose own results (a provider's search, its sources) count before what it says is acted on. */
  model(model) {
    if (wrapped.has(model) || typeof model.doGenerate !== 'function') return model;
    const inputs = new Map();
    const counted = async (part) => {
      if (part.type === 'tool-call' && part.providerExecuted === true) inputs.set(part.toolCallId, part.input);
      if (part.type === 'source') await this.#brought(part);
      if (part.type === 'tool-result') await this.#seenAnyway(`provider:${part.toolCallId}`, part.toolName, parsed(inputs.get(part.toolCallId)), part.result ?? part.output);
    };
    const refused = (params) => params?.tools === undefined ? params : { ...params, tools: params.tools.filter((t) => t.type === 'function' || this.#how.allowProviderTools.has(t.name)) };
    const safe = {
      specificationVersion: model.specificationVersion,
      get provider() { return model.provider; },
      get modelId() { return model.modelId; },
      get supportedUrls() { return model.supportedUrls; },
      doGenerate: async (params) => {
        const out = await model.doGenerate(refused(params));
        for (const part of out.content ?? []) await counted(part);
        return out;
      },
      doStream: async (params) => {
        const out = await model.doStream(refused(params));
        const stream = out.stream.pipeThrough(new TransformStream({ transform: async (part, to) => { await counted(part); to.enqueue(part); } }));
        return { ...out, stream };
      },
    };
    wrapped.add(safe);
    return safe;
  }
}

// What an async iterable yields on the way would be seen before it is recorded. As the SDK has it, the last one is the result.
async function drained(result) {
  const values = await result;
  if (values === null || typeof values !== 'object' || typeof values[Symbol.asyncIterator] !== 'function') return values;
  let last;
  for await (const value of values) last = value;
  return last;
}

const wrapped = new WeakSet();

function parsed(input) {
  if (typeof input !== 'string') return input;
  try {
    return JSON.parse(input);
  } catch {
    return { input };
  }
}

// The id of a human's yes to this call, in messages that the SDK has verified: in the last one, to a request for this very call.
function approvalIn(messages, toolCallId) {
  const last = Array.isArray(messages) ? messages.at(-1) : undefined;
  if (last?.role !== 'tool' || !Array.isArray(last.content)) return undefined;
  const asked = messages.flatMap((m) => m.role === 'assistant' && Array.isArray(m.content) ? m.content.filter((p) => p.type === 'tool-approval-request' && p.toolCallId === toolCallId) : []);
  return last.content.find((p) => p.type === 'tool-approval-response' && p.approved === true && asked.some((a) => a.approvalId === p.approvalId))?.approvalId;
}
