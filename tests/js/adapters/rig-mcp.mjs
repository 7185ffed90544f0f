// SPDX-License-Identifier: Apache-2.0
// Both lines of the SDK: 1.x, and 2.x in its older and its newer form of the protocol.
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport as Memory1 } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server as Server1 } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Client as Client2, InMemoryTransport as Memory2 } from '@modelcontextprotocol/client';
import { Server as Server2 } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { guard } from 'interlock-gate/mcp';

const ANY = { type: 'object', additionalProperties: true };
const info = { name: 'x', version: '1' };

/** A server with these tools, on its own end of a pair; the client's end. `more(server)` adds handlers. */
export async function served(line, tools, capabilities = {}, more = () => {}) {
  const handler = async ({ params }, context) => {
    const run = tools[params.name];
    if (run === undefined) throw new Error('no such tool');
    try {
      const out = await run(params.arguments ?? {}, context, params);
      return out !== null && typeof out === 'object' && out.answer !== undefined ? out.answer : { content: [{ type: 'text', text: String(out) }] };
    } catch (error) {
      return { content: [{ type: 'text', text: error.message }], isError: true };
    }
  };
  const list = async () => ({ tools: Object.keys(tools).map((name) => ({ name, inputSchema: ANY })) });
  const [near, far] = (line === 'v1' ? Memory1 : Memory2).createLinkedPair();
  const made = () => {
    const about = { capabilities: { tools: {}, ...capabilities } };
    const server = line === 'v1' ? new Server1(info, about) : new Server2(info, about);
    server.setRequestHandler(line === 'v1' ? CallToolRequestSchema : 'tools/call', handler);
    server.setRequestHandler(line === 'v1' ? ListToolsRequestSchema : 'tools/list', list);
    more(server);
    return server;
  };
  if (line === '2026-07-28') {
    serveStdio(made, { transport: far });
    return { near };
  }
  const server = made();
  await server.connect(far);
  return { near, server };
}

export const clientOf = (line, capabilities = {}) => (line === 'v1' ? new Client1(info, { capabilities }) : new Client2(info, { capabilities, ...(line === '2026-07-28' && { versionNegotiation: { mode: 'auto' } }) }));
export const text = (result) => result.content.map((block) => block.text).join('\n');

const POLICY_NAMES = (tools, names = {}) => Object.fromEntries(Object.keys(tools).map((name) => [name, names[name] ?? name]));

export async function play({ gate, session, tools, turns, form, names, options, seen = () => {}, hold = () => {} }) {
  const { near } = await served(form, tools);
  const client = guard(gate, clientOf(form), { session, server: 'srv', inside: true, names: POLICY_NAMES(tools, names), ...options });
  await client.connect(near);
  const told = {};
  for (const turn of turns) {
    await seen();
    await Promise.all(turn.map(async ({ tool, args, id }) => {
      const given = JSON.parse(JSON.stringify(args)); // a key `__proto__` stays one
      if (args.value === Infinity) given.value = Infinity;
      hold(given);
      told[id] = text(await client.callTool({ name: tool, arguments: given }));
    }));
  }
  await seen();
  return told;
}

export const rig = { name: 'MCP', forms: ['v1', 'v2', '2026-07-28'], interrupts: false, labels: false, anyResult: false, play };
