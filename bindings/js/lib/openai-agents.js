// SPDX-License-Identifier: Apache-2.0
// OpenAI Agents SDK (`@openai/agents` 0.20):
//
//   const agent = guard(gate, new Agent({ name: 'mailer', tools, mcpServers, handoffs }), { session });
//   await run(agent, '…');
//
// A twin of the agent, whose function tools, MCP tools and handoffs go through the gate. Tools that are no functions (hosted tools, hosted MCP, computer, shell, apply_patch) are refused: they run elsewhere,
// or not through a function that a gate could stand before; so is an agent in a sandbox.
//
// With `interrupts` a call that a human may release ends the run with `result.interruptions`, and goes on by `state.approve(item)`. The SDK asks before it runs anything, so a call is then decided when the SDK
// asks; it is held as running from there on. `alwaysApprove` approves nothing here.
import { ApprovalRequired, Denied, UsageError, Withheld } from './errors.js';
import { Seam, read } from './seam.js';

const guards = new WeakMap(); // twin: its guard
const gated = new WeakSet(); // the `invoke` of tools that are behind a gate

/** A twin of the agent, each of whose tool calls is decided right before it runs. `names`: what tools are called in the policy, where that differs. */
export function guard(gate, agent, { interrupts = false, ...options } = {}) {
  if (agent === null || typeof agent !== 'object' || !Array.isArray(agent.tools) || typeof agent.getAllTools !== 'function') throw new UsageError('guard(gate, agent): an `Agent` of @openai/agents');
  return new Guard(new Seam(gate, options), interrupts).agent(agent);
}

class Guard {
  #seam;
  #interrupts;
  #twins = new Map();
  #tools = new WeakMap();
  #plans = new Map();

  constructor(seam, interrupts) {
    this.#seam = seam;
    this.#interrupts = interrupts === true && seam.asks;
  }

  agent(agent) {
    if (guards.has(agent)) {
      if (guards.get(agent).#seam.session.id !== this.#seam.session.id || guards.get(agent).#seam.gate !== this.#seam.gate) throw new UsageError(`the agent \`${agent.name}\` is guarded in another session`);
      return agent;
    }
    const known = this.#twins.get(agent);
    if (known !== undefined) return known;
    if ('capabilities' in agent && 'runtimeManifest' in agent) throw new UsageError(`the agent \`${agent.name}\` brings tools of its sandbox, and no gate can stand before them`);
    const own = Object.getPrototypeOf(agent);
    const twin = Object.create(own, Object.getOwnPropertyDescriptors(agent));
    const beside = {
      getMcpTools: async (...asked) => (await own.getMcpTools.apply(twin, asked)).map((tool) => this.tool(tool)),
      getAllTools: async (...asked) => {
        await this.#drop();
        return (await own.getAllTools.apply(twin, asked)).map((tool) => this.tool(tool));
      },
      getEnabledHandoffs: async (...asked) => (await own.getEnabledHandoffs.apply(twin, asked)).map((handoff) => this.#handoff(handoff)),
      hasExplicitToolConfig: () => true, // what a stored prompt brings besides is not offered
      clone: (config) => this.agent(own.clone.call(twin, config)),
      asTool: (given) => {
        const tool = own.asTool.call(twin, given); // nobody else has it yet
        this.#seam.label([tool]);
        return this.#behind(tool, tool);
      },
    };
    for (const [key, value] of Object.entries(beside)) Object.defineProperty(twin, key, { value, enumerable: false, configurable: true, writable: true });
    guards.set(twin, this);
    this.#twins.set(agent, twin); // before the handoffs: they may lead back here
    twin.tools = agent.tools.map((tool) => (tool?.type === 'function' ? this.tool(tool) : tool)); // what is no function is refused when the tools are asked for
    twin.handoffs = (agent.handoffs ?? []).map((handoff) => this.#handoff(handoff));
    return twin;
  }

  tool(tool) {
    if (tool?.type !== 'function' || typeof tool.invoke !== 'function') throw new UsageError(`the tool \`${tool?.name}\` is no function, and no gate can stand before it: give the agent a function tool`);
    if (gated.has(tool.invoke)) return tool;
    if (typeof tool.on === 'function') throw new UsageError(`the agent behind the tool \`${tool.name}\` is not guarded: \`guard(gate, agent).asTool(…)\``);
    let twin = this.#tools.get(tool);
    if (twin === undefined) {
      this.#seam.label([tool]);
      twin = this.#behind(tool, Object.create(Object.getPrototypeOf(tool), Object.getOwnPropertyDescriptors(tool)));
      this.#tools.set(tool, twin);
    }
    return twin;
  }

  // `twin` with the invoke of `tool` behind the gate.
  #behind(tool, twin) {
    const { invoke, needsApproval } = tool;
    const safe = (context, input, details) => this.#invoke(twin.name, (text) => invoke.call(tool, context, text, details), context, input, details);
    gated.add(safe);
    Object.defineProperty(twin, 'invoke', { value: safe, enumerable: true, configurable: true, writable: true });
    if (this.#interrupts) Object.defineProperty(twin, 'needsApproval', { value: (context, args, id) => this.#asks(twin.name, needsApproval, tool, context, args, id), enumerable: true, configurable: true, writable: true });
    return twin;
  }

  #handoff(handoff) {
    if (typeof handoff?.onInvokeHandoff !== 'function') return this.agent(handoff);
    if (guards.has(handoff)) return handoff;
    const twin = handoff.clone({ agent: this.agent(handoff.agent), agentName: handoff.agentName, onInvokeHandoff: async (context, args) => this.agent(await handoff.onInvokeHandoff(context, args)) });
    guards.set(twin, this);
    return twin;
  }

  // Whether a human must be asked, which the SDK wants to know before it runs anything.
  async #asks(name, own, tool, context, args, id) {
    if (typeof own === 'function' ? await own.call(tool, context, args, id) : own === true) return true;
    try {
      const plan = await this.#seam.plan(name, args);
      await this.#seam.drop(this.#plans.get(id));
      this.#plans.set(id, plan);
      return false;
    } catch (error) {
      if (error instanceof ApprovalRequired) return true;
      if (error instanceof Denied) return false; // it says so again where the tool would run
      throw error;
    }
  }

  async #invoke(name, inner, context, input, details) {
    const id = details?.toolCall?.callId, plan = this.#plans.get(id);
    this.#plans.delete(id);
    const waiting = this.#interrupts ? await this.#seam.waiting() : new Set();
    let given;
    const once = (planned) => this.#seam.call(name, given, (args) => inner(JSON.stringify(args)), { seen: read, plan: planned, signal: details?.signal });
    try {
      try {
        given = this.#seam.arguments(name, input);
      } catch (error) {
        await this.#seam.drop(plan); // the SDK had read them otherwise
        throw error;
      }
      try {
        return await once(plan);
      } catch (error) {
        if (!(error instanceof ApprovalRequired) || !this.#interrupts || !waiting.has(error.decision.approval) || !approved(context, name, id, details?.toolCall?.namespace)) throw error;
        await this.#seam.answer(error, true);
        return await once();
      }
    } catch (error) {
      if (error instanceof Denied || error instanceof Withheld) return error.message;
      throw error;
    }
  }

  // A new turn begins: what was decided for the last one and did not run (a guardrail said no) will not.
  async #drop() {
    const plans = [...this.#plans.values()];
    this.#plans.clear();
    for (const plan of plans) await this.#seam.drop(plan);
  }
}

function approved(context, name, callId, namespace) {
  const toolName = typeof namespace === 'string' ? `${namespace}.${name}` : name;
  return typeof callId === 'string' && context?.isToolApproved?.({ toolName, callId }) === true;
}
