// SPDX-License-Identifier: Apache-2.0
// Mastra (`@mastra/core` 1.71):
//
//   const agent = guard(gate, new Agent({ id: 'mailer', name: 'mailer', model, instructions, tools }), { session });
//   await agent.generate('…');
//
// The agent itself is guarded, in place: whatever tools it comes to (its own, of toolsets, memory, workspaces, MCP, processors and `prepareStep`), and its sub-agents, which share the session. `session` may also be a
// function of `{threadId, resourceId, runId, requestContext}`, for an agent that serves several. Tools that the provider or the client runs are refused, and so are networks; a workflow as a tool is one call.
//
// With `interrupts` a call that a human may release is a `tool-call-approval`, and goes on by `agent.approveToolCall({ runId, toolCallId })`; Mastra needs a storage for that. It asks before it runs anything, so a
// call is then decided when it asks; it is held as running from there on.
import { ApprovalRequired, Denied, UsageError } from './errors.js';
import { Seam, read } from './seam.js';

const guards = new WeakMap(); // agent: its guard
const gated = new WeakSet(); // tools behind a gate
const hooks = globalThis.process?.getBuiltinModule?.('node:async_hooks')?.AsyncLocalStorage;
const running = hooks === undefined ? undefined : new hooks(); // the seam of the call that is running here
const resuming = hooks === undefined ? undefined : new hooks(); // a human's yes that is on its way to its call

const NEEDS = ['convertTools', 'listResolvedInputProcessors', 'getDefaultOptions'];
const RUNS = ['generate', 'stream', 'streamUntilIdle', 'resumeStream', 'resumeStreamUntilIdle', 'resumeGenerate', 'approveToolCall', 'declineToolCall', 'approveToolCallGenerate', 'declineToolCallGenerate'];
const NETWORKS = ['network', 'resumeNetwork', 'approveNetworkToolCall', 'declineNetworkToolCall'];

/** Puts a gate before all tools of the agent and its sub-agents, and answers the agent. `names`: what tools are called in the policy, where that differs. */
export function guard(gate, agent, { interrupts = false, session, ...options } = {}) {
  return new Guard(gate, session, options, interrupts === true).agent(agent);
}

class Guard {
  #gate;
  #one;
  #seamFor;
  #interrupts;
  #seams = new WeakMap(); // request context: the seam of its run
  #plans = new Map(); // tool, arguments: what was let through and has not run yet
  #asked = new Set(); // requests that Mastra asks a human about

  constructor(gate, session, options, interrupts) {
    this.#gate = gate;
    const seam = new Seam(gate, { ...options, session: typeof session === 'function' ? undefined : session });
    this.#one = typeof session === 'function' ? undefined : seam;
    this.#seamFor = async (about) => {
      const here = await session(about);
      if (here === undefined || here === null) throw new UsageError('there is no session for this run');
      return new Seam(gate, { ...options, session: here });
    };
    this.#interrupts = interrupts && seam.asks;
  }

  agent(agent) {
    if (agent === null || typeof agent !== 'object' || NEEDS.some((name) => typeof agent[name] !== 'function')) throw new UsageError('guard(gate, agent): an `Agent` of @mastra/core 1.71 or later');
    const known = guards.get(agent);
    if (known !== undefined) {
      if (known.#gate !== this.#gate || known.#one?.session.id !== this.#one?.session.id) throw new UsageError(`the agent \`${agent.name}\` is guarded in another session`);
      return agent;
    }
    guards.set(agent, this);
    const own = Object.fromEntries([...NEEDS, ...RUNS, '__fork'].map((name) => [name, agent[name]?.bind(agent)]));
    const put = (name, value) => Object.defineProperty(agent, name, { value, enumerable: false, configurable: true, writable: true });
    put('convertTools', async (given = {}) => {
      const seam = await this.#seam(given);
      for (const helper of Object.values(await agent.listAgents?.({ requestContext: given.requestContext }) ?? {})) if (typeof helper?.convertTools === 'function') this.agent(helper);
      await this.#drop();
      const tools = await own.convertTools(given);
      seam.label(Object.entries(await agent.listTools?.({ requestContext: given.requestContext }) ?? {}).map(([name, tool]) => ({ name, ...(Object.hasOwn(Object(tool), 'interlock') && { interlock: tool.interlock }) })));
      return this.#tools(tools, seam, !String(given.methodType).endsWith('Legacy'));
    });
    put('listResolvedInputProcessors', async (...asked) => [...(await own.listResolvedInputProcessors(...asked)), { id: 'interlock', name: 'interlock', processInputStep: async ({ tools, requestContext }) => (tools === undefined ? undefined : { tools: this.#tools(tools, await this.#seam({ requestContext }), true) }) }]);
    put('getDefaultOptions', (...asked) => {
      const options = own.getDefaultOptions(...asked);
      return typeof options?.then === 'function' ? options.then((o) => this.#options(o)) : this.#options(options);
    });
    for (const name of RUNS) if (own[name] !== undefined) put(name, async (...given) => {
      const options = given.map((one) => this.#options(one)), yes = name.startsWith('approve') || (name.startsWith('resume') && given[0]?.approved === true);
      if (!this.#interrupts || !yes || resuming === undefined) return own[name](...options);
      // an answer that comes now can only be to what is asked now
      const waiting = this.#one === undefined ? new Set(this.#asked) : await this.#one.waiting();
      return resuming.run({ waiting, id: given.findLast((one) => typeof one?.toolCallId === 'string')?.toolCallId, used: false }, () => own[name](...options));
    });
    for (const name of NETWORKS) if (agent[name] !== undefined) put(name, async () => { throw new UsageError('an agent that is behind a gate does not run in a network: give it sub-agents'); });
    if (own.__fork !== undefined) put('__fork', () => this.agent(own.__fork()));
    return agent;
  }

  // A run's own `prepareStep` may bring tools.
  #options(options) {
    const given = options !== null && typeof options === 'object' && !Array.isArray(options) ? options.prepareStep : undefined;
    if (typeof given !== 'function') return options;
    return { ...options, prepareStep: async (about) => {
      const step = await given(about);
      return step?.tools === undefined ? step : { ...step, tools: this.#tools(step.tools, await this.#seam(about), true) };
    } };
  }

  async #seam({ requestContext, threadId, resourceId, runId } = {}) {
    const outer = running?.getStore();
    if (outer?.gate === this.#gate) return outer; // a sub-agent
    if (this.#one !== undefined) return this.#one;
    const known = requestContext !== null && typeof requestContext === 'object' ? this.#seams.get(requestContext) : undefined;
    if (known !== undefined && threadId === undefined && resourceId === undefined) return known;
    const seam = await this.#seamFor({ threadId, resourceId, runId, requestContext });
    if (requestContext !== null && typeof requestContext === 'object') this.#seams.set(requestContext, seam);
    return seam;
  }

  #tools(tools, seam, asks) {
    const out = {};
    for (const [name, tool] of Object.entries(tools ?? {})) {
      if (gated.has(tool)) {
        out[name] = tool;
        continue;
      }
      if (tool === null || typeof tool !== 'object' || typeof tool.execute !== 'function' || String(tool.type).startsWith('provider')) throw new UsageError(`the tool \`${name}\` runs at the model's provider or at the client, and no gate can stand before it`);
      out[name] = this.#tool(name, tool, seam, asks && this.#interrupts);
    }
    return out;
  }

  #tool(name, tool, seam, asks) {
    const { execute, needsApprovalFn, requireApproval } = tool;
    const twin = Object.create(Object.getPrototypeOf(tool), Object.getOwnPropertyDescriptors(tool));
    const put = (key, value) => Object.defineProperty(twin, key, { value, enumerable: true, configurable: true, writable: true });
    for (const early of ['onInputStart', 'onInputDelta', 'onInputAvailable']) if (twin[early] !== undefined) put(early, undefined); // they run before anything is decided
    put('execute', (input, context) => this.#execute(name, seam, (judged) => execute.call(tool, judged, context), input, context, asks));
    if (asks) {
      put('needsApprovalFn', async (args, about) => {
        if (typeof needsApprovalFn === 'function' ? await needsApprovalFn(args, about) : requireApproval === true) return true;
        return this.#asks(name, seam, args);
      });
    }
    gated.add(twin);
    return twin;
  }

  // Whether a human must be asked, which Mastra wants to know before it runs anything.
  async #asks(name, seam, args) {
    const key = keyOf(seam, name, args);
    try {
      const plan = await seam.plan(name, args);
      await seam.drop(this.#plans.get(key)?.plan);
      this.#plans.set(key, { seam, plan });
      return false;
    } catch (error) {
      if (error instanceof ApprovalRequired) {
        this.#asked.add(error.decision.approval);
        if (this.#asked.size > 1000) this.#asked.delete(this.#asked.values().next().value);
        return true;
      }
      if (error instanceof Denied) return false; // it says so again where the tool would run
      throw error;
    }
  }

  async #execute(name, seam, inner, input, context, asks) {
    const key = asks ? keyOf(seam, name, input) : '', plan = this.#plans.get(key)?.plan, yes = asks ? resuming?.getStore() : undefined;
    this.#plans.delete(key);
    const run = (args) => (running === undefined ? inner(args) : running.run(seam, () => inner(args)));
    const once = (planned) => seam.call(name, input ?? {}, run, { seen: read, plan: planned, signal: context?.abortSignal });
    try {
      return await once(plan);
    } catch (error) {
      if (!(error instanceof ApprovalRequired) || yes === undefined || yes.used || !yes.waiting.has(error.decision.approval) || (yes.id !== undefined && yes.id !== context?.toolCallId)) throw error;
      yes.used = true;
      await seam.answer(error, true);
      return once();
    }
  }

  // A new turn begins: what was decided for the last one and did not run will not.
  async #drop() {
    const plans = [...this.#plans.values()];
    this.#plans.clear();
    for (const { seam, plan } of plans) await seam.drop(plan);
  }
}

function keyOf(seam, name, args) {
  try {
    return `${seam.session.id}\0${name}\0${JSON.stringify(args)}`;
  } catch {
    return '';
  }
}
