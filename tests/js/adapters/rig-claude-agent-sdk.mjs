// SPDX-License-Identifier: Apache-2.0
// The part of the program that the SDK starts, played with the SDK's own in-process server: each call goes through the hooks and `canUseTool` in the order of its documentation, then to the tool. What a failed
// hook does is what the matcher's `onFailure` says. `claude-program.mjs` has the program itself.
import { createSdkMcpServer, tool } from '@anthropic-ai/claude-agent-sdk';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { guard } from 'interlock-gate/claude-agent-sdk';
import { z } from 'zod';

const FREE = Object.fromEntries(['url', 'to', 'body', 'text', 'name', 'n'].map((key) => [key, z.any().optional()]));
FREE.value = z.any().optional();

export const serverOf = (tools) => createSdkMcpServer({ name: 'srv', version: '1', alwaysLoad: true, tools: Object.entries(tools).map(([name, run]) => tool(name, name, FREE, async (args) => ({ content: [{ type: 'text', text: String(await run(args)) }] }))) });

/** The stages of one event, as one answer: a denial wins, then a question. */
async function fire(options, event, input, id) {
  const out = {};
  for (const { matcher, hooks, onFailure } of options.hooks?.[event] ?? []) {
    if (matcher !== undefined && !new RegExp(`^(?:${matcher})$`).test(input.tool_name)) continue;
    for (const hook of hooks) {
      let answer;
      try {
        answer = await hook({ hook_event_name: event, session_id: 's', transcript_path: '', cwd: '/', ...input }, id, { signal: new AbortController().signal });
      } catch (error) {
        if (onFailure === 'block') Object.assign(out, { permissionDecision: 'deny', permissionDecisionReason: String(error), continue: false });
        continue;
      }
      const { hookSpecificOutput: specific = {}, ...rest } = answer ?? {};
      if (rest.continue === false) out.continue = false;
      if (rest.decision === 'block') Object.assign(out, { blocked: rest.reason });
      if (specific.permissionDecision === 'deny' || (out.permissionDecision !== 'deny' && specific.permissionDecision !== undefined)) Object.assign(out, { permissionDecision: specific.permissionDecision, permissionDecisionReason: specific.permissionDecisionReason });
      if (specific.updatedInput !== undefined) out.updatedInput = specific.updatedInput;
      if ('updatedToolOutput' in specific) out.updatedToolOutput = specific.updatedToolOutput;
    }
  }
  return out;
}

/** Calls in the program's way; {id: what the model is told}. */
export async function driver(options) {
  const [near, far] = InMemoryTransport.createLinkedPair();
  await options.mcpServers.srv.instance.connect(far);
  const client = new Client({ name: 'x', version: '1' });
  await client.connect(near);
  const told = {};
  const one = async ({ tool: name, args, id }, more = {}) => {
    const about = { tool_name: more.name ?? `mcp__srv__${name}`, tool_use_id: id };
    const before = await fire(options, 'PreToolUse', { ...about, tool_input: args }, id);
    if (before.permissionDecision === 'deny') { told[id] = before.permissionDecisionReason; return; }
    let input = before.updatedInput ?? args;
    if (before.permissionDecision !== 'allow') {
      const answer = options.canUseTool === undefined ? { behavior: 'deny', message: 'nobody to ask' } : await options.canUseTool(about.tool_name, input, { toolUseID: id, signal: new AbortController().signal });
      if (answer?.behavior !== 'allow') { told[id] = answer?.message ?? 'no'; return; }
      input = answer.updatedInput ?? input;
    }
    if (more.changed) input = more.changed;
    const result = await client.callTool({ name, arguments: input });
    const text = result.content.map((block) => block.text).join('\n');
    if (result.isError) {
      const after = await fire(options, 'PostToolUseFailure', { ...about, tool_input: input, error: text }, id);
      told[id] = after.continue === false ? 'stopped' : text;
      return;
    }
    const after = await fire(options, 'PostToolUse', { ...about, tool_input: input, tool_response: result.content }, id);
    told[id] = after.updatedToolOutput ?? (after.continue === false ? 'stopped' : text);
  };
  return { one, told, fire: (event, input) => fire(options, event, input) };
}

export async function play({ gate, session, tools, turns, form, approve, names = {}, labels, options, seen = () => {} }) {
  const all = Object.fromEntries(Object.keys(tools).map((name) => [`mcp__srv__${name}`, names[name] ?? name]));
  const canUseTool = approve === undefined ? undefined : async (name, input, about) => (about.approval === undefined ? { behavior: 'allow', updatedInput: input } : ((answer) => (answer === true ? { behavior: 'allow' } : answer === false ? { behavior: 'deny', message: 'no' } : answer))(await approve(about)));
  const { one, told } = await driver(guard(gate, { mcpServers: { srv: serverOf(tools) }, ...(canUseTool && { canUseTool }) }, { session, names: all, interrupts: approve !== undefined, ...options }));
  for (const turn of turns) {
    await seen();
    if (form === 'in parallel') await Promise.all(turn.map((call) => one(call)));
    else for (const call of turn) await one(call);
  }
  await seen();
  return told;
}

export const rig = { name: 'Claude Agent SDK, driven', forms: ['one by one', 'in parallel'], interrupts: true, labels: false, anyResult: false, copies: true, serial: false, play };
