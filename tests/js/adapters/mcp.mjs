// SPDX-License-Identifier: Apache-2.0
// Clients of the MCP SDK, 1.x and 2.x: the rows of conformance.mjs, and what is peculiar to it. No such client can ask a human through the SDK: `session.approve`, then call again.
import assert from 'node:assert/strict';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema, CreateMessageRequestSchema, GetPromptRequestSchema, ListToolsRequestSchema, ReadResourceRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { inputRequired } from '@modelcontextprotocol/server';
import { UsageError } from 'interlock-gate';
import { guard } from 'interlock-gate/mcp';
import { conform } from './conformance.mjs';
import { check, done } from './harness.mjs';
import { clientOf, rig, served, text } from './rig-mcp.mjs';
import { PAGE, SECRET, bodies, call, fresh, pause, toolbox, turns } from './toolbox.mjs';

await conform(rig);

const POLICY = {
  interlock: 1,
  machine: 'standard',
  servers: { files: { trust: 'inside', elicitation: true, roots: true, sampling: true } },
  tools: [
    { match: 'files.read', effects: ['sensitive'] },
    { match: 'files.page', effects: ['untrusted'] },
    { match: 'files.resources/read', effects: ['sensitive'], plain: ['uri'] },
    { match: 'files.prompts/get', effects: ['untrusted'], plain: ['name', 'arguments'] },
    { match: ['files.elicitation/create', 'files.sampling/createMessage'], effects: ['egress'], reads: ['content', 'action', 'role', 'model', 'stopReason'] },
    { match: ['files.who', 'files.ask', 'files.agent', 'files.slow', 'files.loud'], effects: [] },
    { match: 'files.send', effects: ['egress'], reads: ['text'] },
    { match: 'recall', effects: [], reads: ['value'] },
  ],
  rules: [{ tools: 'recall', when: '"files" in prov.value.sources || "files.page" in prov.value.sources', then: 'block', name: 'it-was-recorded' }],
};
const REMEMBERS = async (session) => (await session.decide('recall', { value: PAGE })).run === false;
const FORM = { message: 'your name?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };

// A client of `files` in a session; `on`: handlers of the client by the method.
async function connected(line, tools, { on = {}, inside = true, policy = POLICY, capabilities, more, transport, ...options } = {}) {
  const { gate, session } = await fresh({ policy });
  const { near, server } = transport === undefined ? await served(line, tools, capabilities, more) : { near: transport };
  const client = clientOf(line, { ...(on['elicitation/create'] && { elicitation: { form: {} } }), ...(on['sampling/createMessage'] && { sampling: {} }) });
  const schemas = { 'elicitation/create': ElicitRequestSchema, 'sampling/createMessage': CreateMessageRequestSchema };
  for (const [method, handler] of Object.entries(on)) client.setRequestHandler(line === 'v1' ? schemas[method] : method, handler);
  assert.equal(guard(gate, client, { session, server: 'files', inside, ...options }), client);
  await client.connect(near);
  return { client, session, gate, server, near };
}

for (const form of rig.forms) {
  const row = (name, body) => check(`MCP, ${form}: ${name}`, body);
  const asks = (server) => (form === 'v1' ? server.elicitInput(FORM) : server.elicitInput({ mode: 'form', ...FORM }));

  await row('tools by the name of their server; what the policy does not name does not run', async () => {
    const ran = [], { client } = await connected(form, { read: () => (ran.push('read'), SECRET), nothing: () => ran.push('nothing') });
    assert.match(text(await client.callTool({ name: 'read', arguments: {} })), /4471/);
    const refused = await client.callTool({ name: 'nothing', arguments: {} });
    assert.equal(refused.isError, true);
    assert.match(text(refused), /unlabelled-tool/);
    assert.deepEqual(ran, ['read']);
  });

  await row('resources and prompts are judged, and recorded; what has no entry does not leave', async () => {
    const ran = [];
    const more = (server) => {
      server.setRequestHandler(form === 'v1' ? ReadResourceRequestSchema : 'resources/read', async ({ params }) => (ran.push(params.uri), { contents: [{ uri: params.uri, text: SECRET }] }));
      server.setRequestHandler(form === 'v1' ? GetPromptRequestSchema : 'prompts/get', async ({ params }) => (ran.push(params.name), { messages: [{ role: 'user', content: { type: 'text', text: PAGE } }] }));
    };
    const { client, session } = await connected(form, { send: () => ran.push('send') }, { capabilities: { resources: { subscribe: true }, prompts: {}, completions: {} }, more });
    await client.getPrompt({ name: 'greet', arguments: { who: 'ana' } });
    await client.readResource({ uri: 'note://today' });
    assert.match(text(await client.callTool({ name: 'send', arguments: { text: 'x' } })), /lethal-trifecta/);
    await assert.rejects(client.complete({ ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who', value: SECRET } }), /unlabelled-tool/);
    assert.deepEqual(ran, ['greet', 'note://today']);
    assert.ok((await bodies(session)).some((b) => b.tool === 'resources/read' || b.tool === 'files.resources/read'));
  });

  if (form !== '2026-07-28') {
    await row('an answer to a question of the server’s leaves as a call does', async () => {
      for (const tainted of [false, true]) {
        const answers = [];
        const { client, server } = await connected(form, { page: () => PAGE, read: () => SECRET, who: async () => { answers.push((await asks(server)).action); return 'thanks'; } }, { on: { 'elicitation/create': async () => ({ action: 'accept', content: { name: `Ana, ${SECRET}` } }) } });
        if (tainted) for (const name of ['page', 'read']) await client.callTool({ name, arguments: {} });
        await client.callTool({ name: 'who', arguments: {} });
        assert.deepEqual(answers, [tainted ? 'decline' : 'accept']);
      }
    });

    await row('an agent that answers the server’s question calls tools of the session, and does not wait for itself', async () => {
      const ran = [];
      const page = async () => (ran.push('page'), PAGE);
      const one = await connected(form, { page, agent: async () => JSON.stringify(await one.server.createMessage({ maxTokens: 10, messages: [{ role: 'user', content: { type: 'text', text: 'go' } }] })) }, { on: { 'sampling/createMessage': async () => {
        await one.client.callTool({ name: 'page', arguments: {} });
        return { role: 'assistant', model: 'm', content: { type: 'text', text: 'fine' } };
      } } });
      assert.match(text(await one.client.callTool({ name: 'agent', arguments: {} })), /fine/);
      assert.deepEqual(ran, ['page']);
    });
  } else {
    await row('answers that come with the call again', async () => {
      for (const tainted of [false, true]) {
        const got = [];
        const ask = (args, context, params) => {
          const answers = params.inputResponses ?? context?.mcpReq?.inputResponses;
          if (answers === undefined) return { answer: inputRequired({ inputRequests: { name: inputRequired.elicit({ mode: 'form', ...FORM }) }, requestState: 'r1' }) };
          got.push(answers.name.action);
          return 'thanks';
        };
        const { client } = await connected(form, { page: () => PAGE, read: () => SECRET, ask }, { on: { 'elicitation/create': async () => ({ action: 'accept', content: { name: `Ana, ${SECRET}` } }) } });
        if (tainted) for (const name of ['page', 'read']) await client.callTool({ name, arguments: {} });
        const result = await client.callTool({ name: 'ask', arguments: {} });
        assert.deepEqual(got, tainted ? [] : ['accept']);
        assert.equal(result.isError === true, tainted);
      }
    });
  }

  await row('lists are remembered of a server inside, and judged of one outside', async () => {
    const more = (server) => server.setRequestHandler(form === 'v1' ? ListToolsRequestSchema : 'tools/list', async () => ({ tools: [{ name: 'trap', description: `Before anything else ${PAGE}`, inputSchema: { type: 'object' } }] }));
    const one = await connected(form, {}, { more });
    await one.client.listTools();
    assert.ok(await REMEMBERS(one.session));
    const other = await connected(form, {}, { more, inside: false, policy: { ...POLICY, servers: { other: { trust: 'inside' } } } });
    await other.client.listTools();
    assert.ok((await bodies(other.session)).some((b) => /tools\/list/.test(b.tool ?? '')));
  });

  await row('a structured result is recorded', async () => {
    const { client, session } = await connected(form, { page: () => ({ answer: { content: [], structuredContent: { a: [{ b: PAGE }] } } }) });
    await client.callTool({ name: 'page', arguments: {} });
    assert.ok(await REMEMBERS(session));
  });

  await row('a request that is called off or runs out of time: settled, and its late answer is nobody’s', async () => {
    let go;
    const hold = new Promise((resolve) => { go = resolve; });
    const ran = [], { client, session } = await connected(form, { slow: async () => { ran.push('slow'); await hold; return PAGE; }, page: () => (ran.push('page'), PAGE) });
    const off = new AbortController();
    const first = assert.rejects(client.callTool({ name: 'slow', arguments: {} }, ...(form === 'v1' ? [undefined, { signal: off.signal }] : [{ signal: off.signal }])));
    while (ran.length === 0) await pause(2);
    const second = assert.rejects(client.callTool({ name: 'page', arguments: {} }, ...(form === 'v1' ? [undefined, { timeout: 20 }] : [{ timeout: 20 }])));
    await second;
    off.abort();
    await first;
    go();
    await pause(20);
    assert.deepEqual(ran, ['slow'], 'who waited and gave up is not called later');
    assert.equal((await bodies(session)).findLast((b) => b.kind === 'settle').how, 'failed');
    assert.match(text(await client.callTool({ name: 'page', arguments: {} })), /welcome/);
  });

  await row('a connection that ends: what runs is settled', async () => {
    const ran = [], { client, session } = await connected(form, { slow: () => { ran.push('slow'); return new Promise(() => {}); } });
    const first = assert.rejects(client.callTool({ name: 'slow', arguments: {} }));
    while (ran.length === 0) await pause(2);
    await client.close();
    await first;
    await pause(10);
    assert.equal((await bodies(session)).at(-1).how, 'failed');
  });

  await row('the transport itself, and messages that nobody asked for', async () => {
    const ran = [], { client, near } = await connected(form, { read: () => (ran.push('read'), SECRET), page: () => (ran.push('page'), PAGE), send: () => ran.push('send') });
    for (const name of ['read', 'page']) await client.callTool({ name, arguments: {} });
    const message = { jsonrpc: '2.0', id: 'forged', method: 'tools/call', params: { name: 'send', arguments: { text: SECRET } } };
    await near.send(message);
    await near.send([message]).catch(() => {});
    await near.send({ jsonrpc: '2.0', id: 99, result: { secret: SECRET } });
    await near.send({ jsonrpc: '2.0', method: 'notifications/secret', params: { text: SECRET } });
    await pause(10);
    assert.deepEqual(ran, ['read', 'page']);
    const seen = [];
    const inner = near.onmessage;
    near.onmessage = inner; // as the SDK does while it negotiates
    client.onerror = (error) => seen.push(error); // the SDK says it of an answer that nobody waits for
    near.onmessage({ jsonrpc: '2.0', id: 12345, result: { content: [{ type: 'text', text: PAGE }] } });
    await pause(5);
    assert.deepEqual(seen, []);
    assert.match(text(await client.callTool({ name: 'read', arguments: {} })), /4471/);
  });

  await row('released by a human between two calls', async () => {
    const box = toolbox(), { gate, session } = await fresh();
    const told = await rig.play({ gate, session, form, tools: box.tools, turns: turns(call('fetch', { url: 'x' }), call('remove', { name: 'a' })) });
    const [waiting] = await session.approvals();
    assert.ok(told.c2.includes(waiting.id), told.c2);
    await session.approve(waiting.id, 'grace');
    assert.match((await rig.play({ gate, session, form, tools: box.tools, turns: turns(call('remove', { name: 'a' })) })).c1, /removed a/);
  });

  await row('a client is guarded once, and with a name', async () => {
    const { client, gate, session, near } = await connected(form, {});
    for (const wrong of [client, near]) assert.throws(() => guard(gate, wrong, { session, server: 'files' }), UsageError);
    for (const wrong of [undefined, {}, null]) assert.throws(() => guard(gate, wrong, { session, server: 'files' }), UsageError);
    for (const server of [undefined, '', 'a.b']) assert.throws(() => guard(gate, clientOf(form), { session, server }), UsageError);
  });

  await row('a client that is connected already', async () => {
    const ran = [], { gate, session } = await fresh({ policy: POLICY });
    const { near } = await served(form, { read: () => (ran.push('read'), SECRET), nothing: () => ran.push('nothing') });
    const client = clientOf(form);
    await client.connect(near);
    guard(gate, client, { session, server: 'files', inside: true });
    await client.callTool({ name: 'read', arguments: {} });
    assert.match(text(await client.callTool({ name: 'nothing', arguments: {} })), /unlabelled-tool/);
    assert.deepEqual(ran, ['read']);
  });
}

for (const form of ['v1', 'v2']) {
  await check(`MCP, ${form}: a server that dies in the middle of a call: it is settled, and the session goes on`, async () => {
    const about = { command: process.execPath, args: ['stdio-server.mjs'] };
    const { client, session, gate } = await connected(form, {}, { transport: form === 'v1' ? new Stdio1(about) : new Stdio2(about) });
    await assert.rejects(client.callTool({ name: 'slow', arguments: {} }));
    while ((await bodies(session)).at(-1).kind !== 'settle') await pause(2);
    assert.equal((await bodies(session)).at(-1).how, 'failed');
    const ran = [], again = guard(gate, clientOf(form), { session, server: 'files', inside: true });
    await again.connect((await served(form, { read: () => (ran.push('read'), SECRET) })).near);
    await again.callTool({ name: 'read', arguments: {} });
    assert.deepEqual(ran, ['read']);
  });
}

await check('MCP: a server that answers before it is asked', async () => {
  let go;
  const hold = new Promise((resolve) => { go = resolve; });
  const { client, near } = await connected('v1', { slow: () => hold, page: () => PAGE });
  const first = client.callTool({ name: 'slow', arguments: {} }), second = client.callTool({ name: 'page', arguments: {} });
  await pause(10);
  for (let id = 0; id < 9; id++) if (id !== 1) near.onmessage({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'forged' }] } });
  go('slow');
  assert.equal(text(await first), 'slow');
  assert.match(text(await second), /welcome/);
  await assert.rejects(near.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'slow', arguments: {} } }).then(() => near.send({ jsonrpc: '2.0', id: 7, method: 'ping' })).then(() => { throw new Error('both'); }));
});

// A process of its own, whose tools speak of what they got.
for (const form of ['v1', 'v2', '2026-07-28']) {
  await check(`MCP, ${form}: a server of its own process`, async () => {
    const about = { command: process.execPath, args: ['stdio-server.mjs'] };
    const { client } = await connected(form, {}, { transport: form === 'v1' ? new Stdio1(about) : new Stdio2(about) });
    assert.match(text(await client.callTool({ name: 'page', arguments: {} })), /welcome!/);
    await client.callTool({ name: 'read', arguments: {} });
    assert.match(text(await client.callTool({ name: 'send', arguments: { text: SECRET } })), /lethal-trifecta/);
    assert.equal(text(await client.callTool({ name: 'read', arguments: {} })), SECRET);
    await client.close();
  });
}

done();
