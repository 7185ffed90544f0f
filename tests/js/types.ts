// SPDX-License-Identifier: Apache-2.0
// What an application writes, under `tsc --strict`.
import { ToolLoopAgent, generateText, stepCountIs, streamText, tool, type LanguageModel } from 'ai';
import { z } from 'zod';
import { Denied, MemoryStore, createGate, createPolyman, labelled, wrapVercel, type Decision, type Effect, type Label, type Store } from 'interlock-gate';
import { assertDenies, play } from 'interlock-gate/testing';

const label: Label = { effects: ['egress'], to: { email: 'to' }, sink: 'once', audience: 'addressed', reads: ['body'] };
const tools = {
  fetch: labelled(tool({ inputSchema: z.object({ url: z.string() }), execute: async ({ url }) => `page of ${url}` }), { effects: ['untrusted'] }),
  send: labelled(tool({ inputSchema: z.object({ to: z.string(), body: z.string() }), execute: async ({ to }) => `sent to ${to}` }), label),
};

export async function agent(model: LanguageModel): Promise<string> {
  const pm = await createPolyman();
  const { text } = await generateText({ model, tools, prompt: 'go', stopWhen: stepCountIs(4), ...wrapVercel(pm, { session: 's' }) });
  const stream = streamText(wrapVercel(pm, { session: 's' }).guard({ model, tools, prompt: 'go' }));
  const looped = new ToolLoopAgent({ model, tools, ...wrapVercel(pm, { session: 's', secret: 'x'.repeat(32) }) });
  return text + (await stream.text) + (await looped.generate({ prompt: 'go' })).text;
}

export async function byHand(store: Store = new MemoryStore()): Promise<number> {
  const gate = await createGate({ policy: { interlock: 1, machine: 'standard', tools: [{ match: 'a', effects: [] }] }, ledger: store, resolver: ({ tool: name, decision }) => name === decision.reason });
  const session = gate.label(undefined).session('a', { principal: 'ana' });
  await session.userPrompt('hello');
  const d: Decision = await session.decide('a', { n: 1 }, { labels: { '/n': 'web', '': null } });
  const effects: readonly Effect[] = d.effects;
  await session.settle(d, { result: 1 });
  const n: number = await session.call('a', { n: 1 }, ({ n: value }) => value + 1).catch((error: unknown) => (error instanceof Denied ? error.decision.ticket : 0));
  // @ts-expect-error: an outcome has a result or an error
  await session.settle(d, { reslt: 1 });
  // @ts-expect-error: there is no such effect
  const wrong: Label = { effects: ['egres'] };
  await assertDenies(session, 'b', {}, 'unlabelled-tool');
  return n + effects.length + (await play(session, [{ tool: 'a', result: wrong }])).length;
}
