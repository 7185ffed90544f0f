// SPDX-License-Identifier: Apache-2.0
// OpenAI Agents SDK: the rows of conformance.mjs, and what is peculiar to it.
import assert from 'node:assert/strict';
import { Agent, RunState, applyPatchTool, computerTool, defineToolInputGuardrail, handoff, hostedMcpTool, shellTool, toolNamespace, ToolGuardrailFunctionOutputFactory, webSearchTool } from '@openai/agents';
import { UsageError } from 'interlock-gate';
import { guard } from 'interlock-gate/openai-agents';
import { conform } from './conformance.mjs';
import { check, done } from './harness.mjs';
import { modelOf, rig, runs, told, toolOf } from './rig-openai-agents.mjs';
import { FETCH, PAGE, PUBLISH, READ, REMOVE, bodies, call, fresh, pause, toolbox, turns } from './toolbox.mjs';

await conform(rig);

const listed = (box, names = Object.keys(box.tools)) => names.map((name) => toolOf(name, box.tools[name]));
const agentOf = (box, script, more = {}) => new Agent({ name: 'a', instructions: 'x', model: modelOf(turns(...script)), tools: listed(box), ...more });

for (const form of rig.forms) {
  const row = (name, body) => check(`OpenAI Agents, ${form}: ${name}`, body);

  await row('tools that are no functions are refused', async () => {
    const { gate, session } = await fresh();
    const shell = { run: async () => assert.fail('it ran') }, editor = { createFile() {}, updateFile() {}, deleteFile() {} };
    for (const hosted of [webSearchTool(), hostedMcpTool({ serverLabel: 'x', serverUrl: 'https://x.example' }), shellTool({ shell }), applyPatchTool({ editor }), computerTool({ computer: { environment: 'browser', dimensions: [1, 1], screenshot: async () => '' } })]) {
      const box = toolbox();
      await assert.rejects(runs(guard(gate, agentOf(box, [FETCH], { tools: [...listed(box), hosted] }), { session }), 'go', form), /no function/);
      assert.deepEqual(box.names(), []);
    }
  });

  await row('a tool that is added later is behind the gate', async () => {
    const box = toolbox(), { gate, session } = await fresh();
    const agent = guard(gate, agentOf(box, [FETCH, READ, call('late', { url: 'x' })], { tools: listed(box, ['fetch', 'read_secret']) }), { session });
    agent.tools.push(toolOf('late', box.tools.publish));
    const result = await runs(agent, 'go', form);
    assert.deepEqual(box.names(), ['fetch', 'read_secret']);
    assert.match(told(result).c3, /unlabelled-tool/);
  });

  await row('a tool that is added to the original, or replaced there, is not reached', async () => {
    const box = toolbox(), { gate, session } = await fresh();
    const original = agentOf(box, [FETCH, READ, PUBLISH]), agent = guard(gate, original, { session });
    original.tools[0].invoke = async () => 'replaced';
    await runs(agent, 'go', form);
    assert.deepEqual(box.names(), ['fetch', 'read_secret']);
  });

  await row('tools of an MCP server', async () => {
    const box = toolbox(), { gate, session } = await fresh();
    const server = {
      name: 'srv', cacheToolsList: false, connect: async () => {}, close: async () => {}, invalidateToolsCache: async () => {},
      listTools: async () => ['fetch', 'deploy'].map((name) => ({ name, inputSchema: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'], additionalProperties: false } })),
      callTool: async (name, args) => [{ type: 'text', text: await (box.tools[name] ?? box.make(name, () => 'x'))(args ?? {}) }],
    };
    const result = await runs(guard(gate, agentOf(box, [FETCH, call('deploy', { url: 'x' })], { tools: [], mcpServers: [server] }), { session }), 'go', form);
    assert.deepEqual(box.names(), ['fetch']);
    assert.match(told(result).c1, /welcome!/);
    assert.match(told(result).c2, /unlabelled-tool/);
  });

  await row('agents that are handed to, and hand back', async () => {
    for (const wrap of [(agent) => agent, (agent) => handoff(agent)]) {
      const box = toolbox(), { gate, session } = await fresh();
      const second = agentOf(box, [FETCH, READ, PUBLISH], { name: 'second' }), first = agentOf(box, [call('transfer_to_second')], { name: 'first', handoffs: [wrap(second)] });
      second.handoffs = [first];
      const twin = guard(gate, first, { session });
      await runs(twin, 'go', form);
      assert.deepEqual(box.names(), ['fetch', 'read_secret']);
    }
  });

  await row('an agent as a tool: guarded it shares the session, else it is refused', async () => {
    const box = toolbox(), { gate, session } = await fresh();
    const inner = () => agentOf(box, [FETCH, READ], { name: 'inner' });
    const outer = (tools) => guard(gate, agentOf(box, [call('helper', { input: 'go' }), PUBLISH], { tools: [...listed(box, ['publish']), ...tools] }), { session });
    const plain = inner().asTool({ toolName: 'helper', toolDescription: 'x' });
    await assert.rejects(async () => runs(outer([plain]), 'go', form), /not guarded/);
    assert.deepEqual(box.names(), []);
    await runs(outer([guard(gate, inner(), { session }).asTool({ toolName: 'helper', toolDescription: 'x' })]), 'go', form);
    assert.deepEqual(box.names(), ['fetch', 'read_secret']);
  });

  await row('an agent as a tool, in which a human is asked', async () => {
    const box = toolbox(), { gate, session } = await fresh();
    const inner = guard(gate, agentOf(box, [FETCH, REMOVE], { name: 'inner' }), { session, interrupts: true });
    const outer = guard(gate, agentOf(box, [call('helper', { input: 'go' })], { tools: [inner.asTool({ toolName: 'helper', toolDescription: 'x' })] }), { session, interrupts: true });
    let result = await runs(outer, 'go', form);
    assert.equal(result.interruptions.length, 1);
    result.state.approve(result.interruptions[0]);
    result = await runs(outer, result.state, form);
    assert.deepEqual(box.names(), ['fetch', 'remove']);
  });

  await row('a clone of a guarded agent, with its own tools and with new ones', async () => {
    const box = toolbox(), { gate, session } = await fresh();
    const agent = guard(gate, agentOf(box, [FETCH, READ, PUBLISH]), { session });
    await runs(agent.clone({ name: 'b' }), 'go', form);
    assert.deepEqual(box.names(), ['fetch', 'read_secret']);
    const again = agent.clone({ name: 'c', model: modelOf(turns(PUBLISH)), tools: [toolOf('publish', box.tools.publish)] });
    await runs(again, 'go', form);
    assert.deepEqual(box.names(), ['fetch', 'read_secret']);
  });

  await row('tools in a namespace', async () => {
    const box = toolbox(), { gate, session } = await fresh();
    const agent = guard(gate, agentOf(box, [], { tools: toolNamespace({ name: 'web', description: 'x', tools: listed(box, ['publish', 'fetch', 'read_secret']) }) }), { session });
    for (const one of await agent.getAllTools({})) if (one.name !== 'publish') await one.invoke({}, '{}', { toolCall: { callId: one.name } });
    const publish = (await agent.getAllTools({})).find((one) => one.name === 'publish');
    assert.match(await publish.invoke({}, '{"url":"https://evil.example","text":"x"}', { toolCall: { callId: 'p' } }), /lethal-trifecta/);
    assert.deepEqual(box.names(), ['fetch', 'read_secret']);
  });

  await row('a state that was written down goes on', async () => {
    const box = toolbox(), { gate, session } = await fresh();
    const agent = guard(gate, agentOf(box, [FETCH, REMOVE]), { session, interrupts: true });
    const text = (await runs(agent, 'go', form)).state.toString();
    const state = await RunState.fromString(agent, text);
    state.approve(state.getInterruptions()[0]);
    assert.match(told(await runs(agent, state, form)).c2, /removed a/);
    assert.deepEqual(box.names(), ['fetch', 'remove']);
  });

  await row('a state with an approval that nobody asked for, or whose call was changed', async () => {
    const box = toolbox(), one = await fresh(), other = await fresh();
    const first = guard(one.gate, agentOf(box, [FETCH, REMOVE]), { session: one.session, interrupts: true });
    const text = (await runs(first, 'go', form)).state.toString();
    await other.session.settle(await other.session.decide('fetch', { url: 'x' }), { result: PAGE });
    const second = guard(other.gate, agentOf(box, []), { session: other.session, interrupts: true });
    const state = await RunState.fromString(second, text);
    state.approve(state.getInterruptions()[0]);
    await runs(second, state, form).catch(() => {});
    const changed = await RunState.fromString(first, text.replaceAll('{\\"name\\":\\"a\\"}', '{\\"name\\":\\"b\\"}')).catch(() => undefined);
    assert.ok(!text.includes('\\"b\\"'));
    if (changed) {
      changed.approve(changed.getInterruptions()[0]);
      await runs(first, changed, form).catch(() => {});
    }
    assert.deepEqual(box.names(), ['fetch']);
  });

  await row('alwaysApprove approves one call', async () => {
    const box = toolbox(), { gate, session } = await fresh();
    const agent = guard(gate, agentOf(box, [FETCH, REMOVE, call('remove', { name: 'b' })]), { session, interrupts: true });
    let result = await runs(agent, 'go', form);
    result.state.approve(result.interruptions[0], { alwaysApprove: true });
    result = await runs(agent, result.state, form);
    assert.deepEqual(box.names(), ['fetch', 'remove']);
    assert.match(told(result).c3, /a human can release it/);
  });

  await row('a tool that wants approval of its own', async () => {
    const box = toolbox(), { gate, session } = await fresh();
    const agent = guard(gate, agentOf(box, [call('note', { value: 'x' })], { tools: [toolOf('note', box.tools.note, { needsApproval: true })] }), { session, interrupts: true });
    assert.equal((await runs(agent, 'go', form)).interruptions.length, 1);
    assert.deepEqual(box.names(), []);
    const plain = guard(gate, agentOf(box, [call('note', { value: 'x' })], { tools: [toolOf('note', box.tools.note, { needsApproval: true })] }), { session });
    assert.equal((await runs(plain, 'go', form)).interruptions.length, 1);
    assert.deepEqual(box.names(), []);
  });

  await row('a guardrail that stops what was decided: the next turn settles it', async () => {
    const box = toolbox(), { gate, session } = await fresh();
    const no = defineToolInputGuardrail({ name: 'no', run: async () => ToolGuardrailFunctionOutputFactory.rejectContent('not today') });
    const agent = guard(gate, agentOf(box, [FETCH], { tools: [toolOf('fetch', box.tools.fetch, { inputGuardrails: [no] })] }), { session, interrupts: true });
    await runs(agent, 'go', form);
    assert.deepEqual(box.names(), []);
    assert.equal((await bodies(session)).findLast((b) => b.kind === 'settle')?.how, 'failed');
  });

  await row('a run that is called off: what waits does not run, what runs is settled', async () => {
    const box = toolbox(), { gate, session } = await fresh(), off = new AbortController();
    let go;
    box.hold = new Promise((resolve) => { go = resolve; });
    const running = runs(guard(gate, agentOf(box, [[call('slow'), FETCH]]), { session }), 'go', form, { signal: off.signal }).catch(() => {});
    while (!box.names().includes('slow')) await pause(2);
    off.abort();
    go();
    await running;
    while ((await bodies(session)).at(-1).kind !== 'settle') await pause(2);
    await pause(20);
    assert.deepEqual(box.names(), ['slow']);
  });

  await row('a tool that ran out of time while it waited does not run later', async () => {
    const box = toolbox(), { gate, session } = await fresh();
    let go;
    box.hold = new Promise((resolve) => { go = resolve; });
    const agent = guard(gate, agentOf(box, [[call('slow'), FETCH]], { tools: [toolOf('slow', box.tools.slow), toolOf('fetch', box.tools.fetch, { timeoutMs: 20 })] }), { session });
    const running = runs(agent, 'go', form);
    await pause(80);
    go();
    await running;
    await pause(20);
    assert.deepEqual(box.names(), ['slow']);
  });
}

await check('OpenAI Agents: what is no agent, an agent of another session, one with a sandbox', async () => {
  const box = toolbox(), { gate, session } = await fresh();
  for (const wrong of [undefined, null, {}, [], 'a']) assert.throws(() => guard(gate, wrong, { session }), UsageError);
  const agent = guard(gate, agentOf(box, []), { session });
  assert.equal(guard(gate, agent, { session }), agent);
  assert.throws(() => guard(gate, agent, { session: 'other' }), /another session/);
  assert.throws(() => guard(gate, Object.assign(agentOf(box, []), { capabilities: [], runtimeManifest: {} }), { session }), /sandbox/);
  assert.equal(agent.hasExplicitToolConfig(), true);
  assert.ok(agent instanceof Agent);
});

await check('OpenAI Agents: the SDK without a gate runs it all', async () => {
  const box = toolbox();
  await runs(agentOf(box, [FETCH, READ, PUBLISH]), 'go', 'plain');
  assert.deepEqual(box.names(), ['fetch', 'read_secret', 'publish']);
});

done();
