// SPDX-License-Identifier: Apache-2.0
// Claude Agent SDK (`@anthropic-ai/claude-agent-sdk` 0.3):
//
//   for await (const message of query({ prompt, options: guard(gate, { model, mcpServers }, { session }) })) …
//
// The options with hooks that decide each call of a tool right before it runs (the built-in ones, those of MCP servers and of sub-agents) and record its result before the model has it. What a call brings is held from its
// decision on, so that calls of one step cannot be played against each other. In the policy a tool of a server is `SERVER.TOOL` (`mcp__mail__send` is `mail.send`), others have their name (`Bash`, `Read`).
//
// Without a `canUseTool` of yours what the gate lets through needs no further permission; with one, that is asked besides, and can only tighten. With `interrupts` it is also asked about a call that a human may
// release. Settings files and plugins are refused: hooks in them could change what was judged. A failure of a hook blocks (`onFailure`), which the SDK refuses to promise of a program that is too old for it.
import { ApprovalRequired, Denied, UsageError, Withheld, said } from './errors.js';
import { Seam, read } from './seam.js';
import { argumentsOf } from './plain.js';

const EVENTS = ['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'PreSkillShellCommand', 'UserPromptSubmit', 'Stop', 'SubagentStop', 'SessionEnd'];

const FLAGS = new Set(['settings', 'setting-sources', 'plugin-dir', 'plugin-url', 'permission-prompt-tool', 'dangerously-skip-permissions', 'bare']);

/** The options of `query` with every tool behind the gate. `names`: what tools are called in the policy, where that differs. `trustPrompt`: what is given as a prompt was typed by a human. */
export function guard(gate, given = {}, { interrupts = false, trustPrompt = false, humanTimeoutMs = 600_000, names = {}, ...options } = {}) {
  if (given === null || typeof given !== 'object' || Array.isArray(given)) throw new UsageError('guard(gate, options): the options of `query`');
  for (const key of ['settingSources', 'plugins']) if (Array.isArray(given[key]) && given[key].length > 0) throw new UsageError(`\`${key}\` may bring hooks that change what was judged: not behind a gate`);
  const settings = given.settings, flags = Object.keys(given.extraArgs ?? {}).filter((flag) => FLAGS.has(flag));
  if (flags.length > 0 || (settings !== undefined && (settings === null || typeof settings !== 'object' || 'hooks' in settings || 'enabledPlugins' in settings))) throw new UsageError(`\`${flags[0] ?? 'settings'}\` may bring hooks that change what was judged: not behind a gate`);
  if (given.permissionPromptToolName !== undefined) throw new UsageError('`permissionPromptToolName` is no tool that the gate could ask: give a `canUseTool`');
  if (interrupts && typeof given.canUseTool !== 'function') throw new UsageError('`interrupts` asks by `canUseTool`: give one');
  return new Guard(new Seam(gate, options), { theirs: given.canUseTool, interrupts, trustPrompt, humanTimeoutMs, names: new Map(Object.entries(names)) }).options(given);
}

class Guard {
  #seam;
  #how;
  #open = new Map(); // id of a call: its plan
  #yes = new Set(); // ids of calls that a human released

  constructor(seam, how) {
    this.#seam = seam;
    this.#how = how;
  }

  options(given) {
    const { theirs } = this.#how;
    const seconds = (ms) => Math.ceil(ms / 1000);
    const matcher = (event) => ({ hooks: [(input, id, about) => this.#hook(event, input, id, about)], timeout: event === 'PreToolUse' ? seconds(this.#how.humanTimeoutMs) + 60 : 60, onFailure: 'block' });
    const hooks = {};
    for (const [event, matchers] of Object.entries(given.hooks ?? {})) hooks[event] = (matchers ?? []).map((one) => ({ ...one, hooks: one.hooks.map((hook) => async (...asked) => tamed(event, await hook(...asked))) }));
    for (const event of EVENTS) hooks[event] = [...(hooks[event] ?? []), matcher(event)];
    return {
      permissionMode: 'default',
      ...given,
      settingSources: [],
      hooks,
      canUseTool: async (name, input, about) => {
        const id = about?.toolUseID, plan = this.#open.get(id);
        if (plan === undefined || plan.text !== textOf(input)) return { behavior: 'deny', message: `interlock: \`${name}\` did not run: nobody decided it` };
        if (theirs === undefined || this.#yes.has(id)) return { behavior: 'allow', updatedInput: input };
        const answer = await theirs(name, input, about);
        return answer?.behavior === 'allow' ? { behavior: 'allow', updatedInput: input } : answer?.behavior === 'deny' ? answer : { behavior: 'deny', message: `\`${name}\` was not permitted` };
      },
    };
  }

  #name(tool) {
    const known = this.#how.names.get(tool);
    if (known !== undefined) return known;
    const [, server, name] = /^mcp__(.+?)__(.+)$/s.exec(tool) ?? [];
    return server === undefined ? String(tool) : `${server}.${name}`;
  }

  async #hook(event, input, id, about) {
    switch (event) {
      case 'PreToolUse': return this.#before(input, input?.tool_use_id ?? id, about);
      case 'PostToolUse': return this.#after(input, input?.tool_use_id ?? id);
      case 'PostToolUseFailure': return this.#failed(input, input?.tool_use_id ?? id);
      case 'PreSkillShellCommand': return { decision: 'block', reason: 'interlock: a shell command in a skill is no call of a tool' };
      case 'UserPromptSubmit':
        if (this.#how.trustPrompt === true && typeof input?.prompt === 'string') await this.#seam.session.userPrompt(input.prompt);
        return {};
      default: // an end: what was let through and did not run will not
        for (const [one, { agent }] of [...this.#open]) if (event === 'SessionEnd' || agent === input?.agent_id) await this.#dropped(one);
        return {};
    }
  }

  async #dropped(id) {
    const plan = this.#open.get(id);
    this.#open.delete(id);
    this.#yes.delete(id);
    if (plan?.decision !== undefined) await this.#seam.drop(plan);
  }

  // Never throws: the reason would be lost.
  async #before(input, id, about) {
    const denied = (reason) => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: reason } });
    const tool = this.#name(input?.tool_name);
    try {
      if (typeof id !== 'string' || this.#open.has(id)) return denied(`interlock: \`${tool}\` did not run: there is a call of the same id already`);
      const args = argumentsOf(input.tool_input ?? {}).value;
      this.#open.set(id, { tool, text: undefined, agent: input.agent_id }); // before anything waits: of two calls of one id one is refused
      try {
        this.#open.set(id, { ...(await this.#planned(tool, args, input, id, about)), agent: input.agent_id });
      } catch (error) {
        this.#open.delete(id);
        throw error;
      }
      return this.#how.theirs === undefined || this.#yes.has(id) ? { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow', permissionDecisionReason: 'interlock' } } : {};
    } catch (error) {
      return denied(error instanceof Denied ? error.message : `interlock: \`${tool}\` did not run: ${said(error)}`);
    }
  }

  async #planned(tool, args, input, id, about) {
    try {
      return await this.#seam.plan(tool, args);
    } catch (error) {
      if (!(error instanceof ApprovalRequired) || !this.#how.interrupts || !this.#seam.asks) throw error;
      const asked = (async () => this.#how.theirs(input.tool_name, argumentsOf(args).value, { signal: about?.signal, toolUseID: id, agentID: input.agent_id, decisionReason: error.message, approval: error.decision.approval }))();
      let timer;
      const limit = new Promise((_, reject) => { timer = setTimeout(() => reject(error), this.#how.humanTimeoutMs); });
      const answer = await Promise.race([asked, limit]).finally(() => clearTimeout(timer));
      const yes = answer?.behavior === 'allow';
      await this.#seam.answer(error, yes);
      if (!yes) throw error;
      const plan = await this.#seam.plan(tool, args);
      this.#yes.add(id);
      return plan;
    }
  }

  async #after(input, id) {
    const plan = this.#open.get(id), { tool_response: result } = input;
    const withheld = (reason) => ({ continue: false, stopReason: reason, decision: 'block', reason, hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput: reason, updatedMCPToolOutput: reason } });
    this.#open.delete(id);
    this.#yes.delete(id);
    try {
      if (plan?.decision === undefined || plan.text !== textOf(input.tool_input)) { // it ran, and it is not what was decided
        await this.#seam.drop(plan?.decision === undefined ? undefined : plan);
        await this.#seam.session.quarantine('changed-input');
        return withheld('interlock: the result is withheld: what ran is not what was decided');
      }
      await this.#seam.session.settle(plan.decision, { result: bare(result) });
      return {};
    } catch (error) {
      return withheld(error instanceof Withheld ? error.message : `interlock: the result is withheld: ${said(error)}`);
    }
  }

  async #failed(input, id) {
    const plan = this.#open.get(id);
    this.#open.delete(id);
    this.#yes.delete(id);
    if (plan?.decision === undefined) return {};
    try {
      await this.#seam.session.settle(plan.decision, { error: input.error });
      return {};
    } catch (error) {
      return { continue: false, stopReason: said(error) };
    }
  }
}

// A hook of somebody else's may forbid, and not change what was judged or permit.
function tamed(event, out) {
  if (out === null || typeof out !== 'object') return out;
  const { hookSpecificOutput: specific, ...rest } = out;
  if (rest.decision === 'approve') delete rest.decision;
  if (specific === null || typeof specific !== 'object') return rest;
  const kept = { ...specific };
  if (event === 'PreToolUse') {
    delete kept.updatedInput;
    if (kept.permissionDecision === 'allow' || kept.permissionDecision === 'defer') delete kept.permissionDecision;
  }
  if (event === 'PermissionRequest' && kept.decision?.behavior !== 'deny') delete kept.decision;
  return { ...rest, hookSpecificOutput: kept };
}

const textOf = (input) => {
  try {
    return argumentsOf(input ?? {}).text;
  } catch {
    return undefined;
  }
};

// The content of an MCP result is a list of blocks; of one text it is that text.
const bare = (result) => Array.isArray(result) && result.length === 1 && result[0]?.type === 'text' ? read(result[0].text) : read(result);
