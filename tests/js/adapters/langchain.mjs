// SPDX-License-Identifier: Apache-2.0
// LangChain agents: the rows of conformance.mjs, and what is peculiar to it.
import assert from 'node:assert/strict';
import { Command, MemorySaver } from '@langchain/langgraph';
import { AIMessage, ToolMessage, createAgent, createMiddleware, fakeModel, humanInTheLoopMiddleware, tool } from 'langchain';
import { UsageError } from 'interlock-gate';
import { interlock } from 'interlock-gate/langchain';
import { conform } from './conformance.mjs';
import { check, done } from './harness.mjs';
import { modelOf, rig, round, told, toolOf } from './rig-langchain.mjs';
import { FETCH, PAGE, PUBLISH, READ, REMOVE, bodies, call, fresh, toolbox, turns } from './toolbox.mjs';

await conform(rig);

const GO = { messages: [{ role: 'user', content: 'go' }] };
const config = (id = 't') => ({ configurable: { thread_id: id }, recursionLimit: 60 });
const listed = (box, names = Object.keys(box.tools)) => names.map((name) => toolOf(name, box.tools[name]));

for (const form of rig.forms) {
  const row = (name, body) => check(`LangChain, ${form}: ${name}`, body);

  await row('tools that the provider runs are refused', async () => {
    const box = toolbox(), { gate, session } = await fresh();
    for (const hosted of [{ type: 'web_search_20250305', name: 'web_search' }, { type: 'function', function: { name: 'x', parameters: {} } }]) {
      const agent = createAgent({ model: modelOf(turns(FETCH)), tools: [...listed(box), hosted], middleware: [interlock(gate, { session })] });
      await assert.rejects(round(agent, GO, form, config()), /runs at the model's provider/);
    }
    assert.deepEqual(box.names(), []);
  });

  await row('what a model brings of its provider’s tools counts before the next call', async () => {
    for (const [name, ran] of [['fetch', ['read_secret']], ['web_search', []]]) {
      const box = toolbox(), { gate, session } = await fresh();
      const calls = (list) => list.map((one) => ({ name: one.tool, args: one.args, id: one.id, type: 'tool_call' }));
      const [read, publish] = turns(READ, PUBLISH);
      const model = fakeModel()
        .respond(() => new AIMessage({ content: [{ type: 'server_tool_use', id: 's1', name, input: { url: 'x' } }, { type: 'web_search_tool_result', tool_use_id: 's1', content: PAGE }], tool_calls: calls(read) }))
        .respond(() => new AIMessage({ content: '', tool_calls: calls(publish) })).respond(() => new AIMessage('done'));
      await round(createAgent({ model, tools: listed(box), middleware: [interlock(gate, { session })] }), GO, form, config());
      assert.deepEqual(box.names(), ran, 'and what nobody labelled ends it');
    }
  });

  await row('tools that other middleware adds are behind the gate', async () => {
    const box = toolbox(), { gate, session } = await fresh();
    const adds = createMiddleware({ name: 'adds', tools: [toolOf('fetch', box.tools.fetch), toolOf('late', box.tools.publish)] });
    const dynamic = createMiddleware({
      name: 'dynamic',
      wrapModelCall: (request, handler) => handler({ ...request, tools: [...request.tools, toolOf('publish', box.tools.publish)] }),
      wrapToolCall: (request, handler) => handler(request.tool === undefined ? { ...request, tool: toolOf('publish', box.tools.publish) } : request),
    });
    const agent = createAgent({ model: modelOf(turns(FETCH, READ, PUBLISH, call('late'))), tools: listed(box, ['read_secret']), middleware: [adds, dynamic, interlock(gate, { session })] });
    const out = told(await round(agent, GO, form, config()));
    assert.deepEqual(box.names(), ['fetch', 'read_secret']);
    assert.match(out.c3, /lethal-trifecta/);
    assert.match(out.c4, /unlabelled-tool/);
  });

  await row('a session for each thread', async () => {
    const box = toolbox(), { gate } = await fresh();
    const agent = createAgent({ model: modelOf(turns(FETCH, READ)), tools: listed(box), middleware: [interlock(gate, { session: (thread) => thread })] });
    await round(agent, GO, form, config('a'));
    const again = (script) => createAgent({ model: modelOf(turns(...script)), tools: listed(box), middleware: [interlock(gate, { session: (thread) => thread })] });
    await round(again([PUBLISH]), GO, form, config('a'));
    await round(again([PUBLISH]), GO, form, config('b'));
    assert.deepEqual(box.names(), ['fetch', 'read_secret', 'publish']);
    await assert.rejects(round(createAgent({ model: modelOf(turns(FETCH)), tools: listed(box), middleware: [interlock(gate, { session: () => undefined })] }), GO, form, config('c')), /no session/);
  });

  await row('a resume that nobody asked for, or of another shape', async () => {
    for (const resume of [{ decisions: [{ type: 'approve' }, { type: 'approve' }] }, { decisions: [{ type: 'edit', editedAction: { name: 'remove', args: { name: 'b' } } }] }, 'approve', { type: 'approve' }]) {
      const box = toolbox(), { gate, session } = await fresh();
      const agent = createAgent({ model: modelOf(turns(FETCH, REMOVE)), tools: listed(box), middleware: [interlock(gate, { session, interrupts: true })], checkpointer: new MemorySaver() });
      await round(agent, GO, form, config());
      await round(agent, new Command({ resume }), form, config());
      assert.deepEqual(box.names(), ['fetch'], JSON.stringify(resume));
    }
    const box = toolbox(), one = await fresh(), other = await fresh(), checkpointer = new MemorySaver();
    const agentOf = ({ gate, session }, script) => createAgent({ model: modelOf(turns(...script)), tools: listed(box), middleware: [interlock(gate, { session, interrupts: true })], checkpointer });
    await round(agentOf(one, [FETCH, REMOVE]), GO, form, config());
    await other.session.settle(await other.session.decide('fetch', { url: 'x' }), { result: PAGE });
    await round(agentOf(other, []), new Command({ resume: { decisions: [{ type: 'approve' }] } }), form, config());
    assert.deepEqual(box.names(), ['fetch'], 'a gate that did not ask');
  });

  await row('a call that was changed between the question and the answer', async () => {
    const box = toolbox(), { gate, session } = await fresh();
    const agent = createAgent({ model: modelOf(turns(FETCH, REMOVE)), tools: listed(box), middleware: [createMiddleware({ name: 'swap', wrapToolCall: (request, handler) => handler(swap ? { ...request, toolCall: { ...request.toolCall, args: { name: 'b' } } } : request) }), interlock(gate, { session, interrupts: true })], checkpointer: new MemorySaver() });
    let swap = false;
    await round(agent, GO, form, config());
    swap = true;
    await round(agent, new Command({ resume: { decisions: [{ type: 'approve' }] } }), form, config());
    assert.deepEqual(box.names(), ['fetch']);
  });

  await row('LangChain’s own human in the loop besides: its yes is none of the gate’s', async () => {
    const box = toolbox(), { gate, session } = await fresh();
    const agent = createAgent({ model: modelOf(turns(FETCH, READ, PUBLISH)), tools: listed(box), middleware: [humanInTheLoopMiddleware({ interruptOn: { publish: true } }), interlock(gate, { session })], checkpointer: new MemorySaver() });
    const state = await round(agent, GO, form, config());
    assert.equal(state.__interrupt__.length, 1);
    const out = told(await round(agent, new Command({ resume: { decisions: [{ type: 'approve' }] } }), form, config()));
    assert.deepEqual(box.names(), ['fetch', 'read_secret']);
    assert.match(out.c3, /lethal-trifecta/);
  });

  await row('a tool that answers with a command', async () => {
    const box = toolbox(), { gate, session } = await fresh();
    const commands = tool(async (args, { toolCallId }) => { box.ran.push(['fetch', 'in']); return new Command({ update: { messages: [new ToolMessage({ content: PAGE, tool_call_id: toolCallId, name: 'fetch' })] } }); }, { name: 'fetch', description: 'x', schema: { type: 'object', properties: {} } });
    const agent = createAgent({ model: modelOf(turns(FETCH, READ, PUBLISH)), tools: [commands, ...listed(box, ['read_secret', 'publish'])], middleware: [interlock(gate, { session })] });
    assert.match(told(await round(agent, GO, form, config())).c1, /welcome!/);
    assert.deepEqual(box.names(), ['fetch', 'read_secret']);
    assert.equal((await bodies(session)).filter((b) => b.kind === 'settle').length, 2);
  });

  await row('a run that is called off: what runs is settled', async () => {
    const box = toolbox(), { gate, session } = await fresh(), off = new AbortController();
    box.tools.slow = box.make('slow', (args, signal) => new Promise((_, reject) => { signal.addEventListener('abort', () => reject(new Error('off'))); setTimeout(() => off.abort(), 5); }));
    const agent = createAgent({ model: modelOf(turns([call('slow'), FETCH])), tools: listed(box), middleware: [interlock(gate, { session })] });
    await round(agent, GO, form, { ...config(), signal: off.signal }).catch(() => {});
    for (let i = 0; i < 100 && (await bodies(session)).at(-1).kind !== 'settle'; i++) await new Promise((r) => { setTimeout(r, 5); });
    assert.deepEqual(box.names(), ['slow']);
    assert.equal((await bodies(session)).at(-1).how, 'failed');
  });
}

await check('LangChain: what is no gate', async () => {
  for (const wrong of [undefined, null, {}, true]) for (const session of ['s', () => 's']) assert.throws(() => interlock(wrong, { session }), UsageError);
});

await check('LangChain: the framework without a gate runs it all', async () => {
  const box = toolbox();
  await round(createAgent({ model: modelOf(turns(FETCH, READ, PUBLISH)), tools: listed(box) }), GO, 'plain', config());
  assert.deepEqual(box.names(), ['fetch', 'read_secret', 'publish']);
});

done();
