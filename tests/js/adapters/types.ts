// SPDX-License-Identifier: Apache-2.0
// What an application writes, under `tsc --strict`.
import { query, type Options } from '@anthropic-ai/claude-agent-sdk';
import { Agent as MastraAgent } from '@mastra/core/agent';
import { Client as Client2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { Agent, run } from '@openai/agents';
import { createGate } from 'interlock-gate';
import { guard as guardClaude } from 'interlock-gate/claude-agent-sdk';
import { interlock } from 'interlock-gate/langchain';
import { guard as guardMastra } from 'interlock-gate/mastra';
import { guard as guardClient } from 'interlock-gate/mcp';
import { guard as guardAgent } from 'interlock-gate/openai-agents';
import { createAgent } from 'langchain';

export async function all(): Promise<void> {
  const gate = await createGate();
  const session = gate.session('a');
  const agent: Agent = guardAgent(gate, new Agent({ name: 'a' }), { session, interrupts: true, names: { fetch: 'web.fetch' } });
  await run(agent, 'go');
  createAgent({ model: 'x', tools: [], middleware: [interlock(gate, { session: (thread) => thread ?? 'none', interrupts: true })] });
  await guardMastra(gate, new MastraAgent({ id: 'a', name: 'a', instructions: '', model: 'openai/x' }), { session: ({ threadId }) => threadId ?? 'none' }).generate('go');
  const options: Options = guardClaude(gate, { model: 'x' } as Options, { session: 'a', trustPrompt: true });
  query({ prompt: 'go', options });
  const one: Client1 = guardClient(gate, new Client1({ name: 'a', version: '1' }), { session, server: 'mail' });
  const two: Client2 = guardClient(gate, new Client2({ name: 'a', version: '1' }), { session, server: 'mail', inside: true });
  await Promise.all([one.close(), two.close()]);
  // @ts-expect-error: the server has a name
  guardClient(gate, one, { session });
  // @ts-expect-error: there is no such option
  guardAgent(gate, agent, { sesion: 'a' });
}
