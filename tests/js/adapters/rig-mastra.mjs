// SPDX-License-Identifier: Apache-2.0
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { MastraLanguageModelV2Mock, simulateReadableStream } from '@mastra/core/test-utils/llm-mock';
import { createTool } from '@mastra/core/tools';
import { guard } from 'interlock-gate/mastra';
import { z } from 'zod';

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

export const toolOf = (name, run, more = {}) => createTool({ id: name, description: name, inputSchema: z.looseObject({}), execute: (input, context) => run(input, context?.abortSignal), ...more });

/** `told`: what the model was told of each call. */
export function modelOf(turns, seen = () => {}) {
  let at = 0;
  const told = {};
  const next = async ({ prompt }) => {
    for (const { role, content } of prompt) if (role === 'tool') for (const part of content) if (part.type === 'tool-result') told[part.toolCallId] = typeof part.output?.value === 'string' ? part.output.value : JSON.stringify(part.output?.value ?? part.output);
    await seen();
    const calls = turns[at++] ?? [];
    return { content: calls.length === 0 ? [{ type: 'text', text: 'done' }] : calls.map(({ tool, args, id }) => ({ type: 'tool-call', toolCallId: id, toolName: tool, input: typeof args === 'string' ? args : JSON.stringify(args) })), finishReason: calls.length === 0 ? 'stop' : 'tool-calls', usage, warnings: [] };
  };
  const model = new MastraLanguageModelV2Mock({
    doGenerate: next,
    doStream: async (options) => {
      const { content, finishReason } = await next(options);
      const parts = [{ type: 'stream-start', warnings: [] }, { type: 'response-metadata', id: 'r', modelId: 'm', timestamp: new Date(0) }];
      for (const part of content) parts.push(...(part.type === 'text' ? [{ type: 'text-start', id: 't' }, { type: 'text-delta', id: 't', delta: part.text }, { type: 'text-end', id: 't' }] : [part]));
      return { stream: simulateReadableStream({ chunks: [...parts, { type: 'finish', finishReason, usage }] }) };
    },
  });
  return { model, told };
}

let ids = 0;
export const agentOf = (model, tools, more = {}) => new Agent({ id: `a${++ids}`, name: `a${ids}`, instructions: 'x', model, tools, ...more });
export const home = (agent) => new Mastra({ agents: { [agent.id]: agent }, storage: new InMemoryStore(), logger: false }).getAgent(agent.id);

/** Runs it; the approvals that it waits for, and the id of the run. */
export async function round(start, form) {
  const out = await start;
  if (form === 'plain') {
    if (out.error) throw out.error;
    return { runId: out.runId, asked: out.finishReason === 'suspended' ? [out.suspendPayload] : [], out };
  }
  const asked = [];
  for await (const chunk of out.fullStream) {
    if (chunk.type === 'tool-call-approval') asked.push(chunk.payload);
    if (chunk.type === 'error') throw chunk.payload?.error ?? new Error('it failed');
  }
  return { runId: out.runId, asked, out };
}

export async function play({ gate, session, tools, turns, form, approve, names, labels = {}, options, seen }) {
  const list = Object.fromEntries(Object.entries(tools).map(([name, run]) => [name, Object.assign(toolOf(name, run), labels[name] && { interlock: labels[name] })]));
  const { model, told } = modelOf(turns, seen);
  const agent = home(guard(gate, agentOf(model, list), { session, names, interrupts: approve !== undefined, ...options }));
  const more = { maxSteps: 20 };
  let { runId, asked } = await round(form === 'plain' ? agent.generate('go', more) : agent.stream('go', more), form);
  while (asked.length > 0) {
    const { toolCallId } = asked[0];
    const yes = (await approve(asked[0])) === true;
    const how = form === 'plain' ? (yes ? 'approveToolCallGenerate' : 'declineToolCallGenerate') : (yes ? 'approveToolCall' : 'declineToolCall');
    ({ runId, asked } = await round(agent[how]({ runId, toolCallId, ...more }), form));
  }
  return told;
}

export const rig = { name: 'Mastra', forms: ['plain', 'stream'], interrupts: true, copies: true, takesText: true, play };
