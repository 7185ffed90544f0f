// SPDX-License-Identifier: Apache-2.0
// Mastra agents: the rows of conformance.mjs, and what is peculiar to it.
import assert from 'node:assert/strict';
import { UsageError } from 'interlock-gate';
import { guard } from 'interlock-gate/mastra';
import { conform } from './conformance.mjs';
import { check, done } from './harness.mjs';
import { agentOf, home, modelOf, rig, round, toolOf } from './rig-mastra.mjs';
import { FETCH, PAGE, PUBLISH, READ, REMOVE, call, fresh, toolbox, turns } from './toolbox.mjs';

await conform(rig);

const listed = (box, names = Object.keys(box.tools)) => Object.fromEntries(names.map((name) => [name, toolOf(name, box.tools[name])]));
const scripted = (box, script, more = {}) => {
  const { model, told } = modelOf(turns(...script));
  return { told, agent: agentOf(model, more.tools ?? listed(box), more) };
};

for (const form of rig.forms) {
  const row = (name, body) => check(`Mastra, ${form}: ${name}`, body);
  const go = (agent, more = {}) => round(form === 'plain' ? agent.generate('go', { maxSteps: 20, ...more }) : agent.stream('go', { maxSteps: 20, ...more }), form);
  const approve = (agent, options) => round(form === 'plain' ? agent.approveToolCallGenerate({ maxSteps: 20, ...options }) : agent.approveToolCall({ maxSteps: 20, ...options }), form);

  await row('tools that the provider or the client runs are refused', async () => {
    const { gate, session } = await fresh();
    for (const hosted of [{ type: 'provider-defined', id: 'openai.web_search', name: 'web_search', args: {} }, toolOf('ask', undefined, { execute: undefined })]) {
      const box = toolbox(), { agent } = scripted(box, [FETCH], { tools: { ...listed(box), hosted } });
      await assert.rejects(go(home(guard(gate, agent, { session }))), /no gate can stand before it/);
      assert.deepEqual(box.names(), []);
    }
    const box = toolbox(), { agent } = scripted(box, [FETCH]);
    await assert.rejects(go(home(guard(gate, agent, { session })), { clientTools: { ask: { id: 'ask', description: 'x', inputSchema: { type: 'object', properties: {} } } } }), /no gate can stand before it/);
    assert.deepEqual(box.names(), []);
  });

  await row('toolsets, dynamic tools, tools of prepareStep and of a processor', async () => {
    const script = [FETCH, READ, PUBLISH, call('late')];
    const extra = (box) => ({ publish: toolOf('publish', box.tools.publish), late: toolOf('late', box.tools.publish) });
    const ways = {
      toolsets: (box) => [{ tools: listed(box, ['fetch', 'read_secret']) }, { toolsets: { more: extra(box) } }],
      dynamic: (box) => [{ tools: async () => ({ ...listed(box, ['fetch', 'read_secret']), ...extra(box) }) }, {}],
      prepareStep: (box) => [{ tools: listed(box, ['fetch', 'read_secret']) }, { prepareStep: ({ tools }) => ({ tools: { ...tools, ...extra(box) } }) }],
      'prepareStep, by default': (box) => [{ tools: listed(box, ['fetch', 'read_secret']), defaultOptions: { prepareStep: ({ tools }) => ({ tools: { ...tools, ...extra(box) } }) } }, {}],
      processor: (box) => [{ tools: listed(box, ['fetch', 'read_secret']), inputProcessors: [{ id: 'p', processInputStep: ({ tools }) => ({ tools: { ...tools, ...extra(box) } }) }] }, {}],
      'processor, of the run': (box) => [{ tools: listed(box, ['fetch', 'read_secret']) }, { inputProcessors: [{ id: 'p', processInputStep: ({ tools }) => ({ tools: { ...tools, ...extra(box) } }) }] }],
    };
    for (const [name, way] of Object.entries(ways)) {
      const box = toolbox(), { gate, session } = await fresh(), [made, options] = way(box), { agent, told } = scripted(box, script, made);
      await go(home(guard(gate, agent, { session })), options);
      assert.deepEqual(box.names(), ['fetch', 'read_secret'], name);
      assert.match(told.c3 ?? '', /lethal-trifecta/, name);
      assert.match(told.c4 ?? '', /unlabelled-tool/, name);
    }
  });

  await row('sub-agents share the session, and do not wait for who called them', async () => {
    const box = toolbox(), { gate, session } = await fresh({ policy: { ...(await import('./toolbox.mjs')).POLICY, tools: [...(await import('./toolbox.mjs')).POLICY.tools, { match: 'agent-helper', effects: [] }] } });
    const inner = scripted(box, [FETCH, READ], { description: 'helps' });
    const outer = scripted(box, [call('agent-helper', { prompt: 'go' }), PUBLISH], { tools: listed(box, ['publish']), agents: { helper: inner.agent } });
    await go(home(guard(gate, outer.agent, { session })));
    assert.deepEqual(box.names(), ['fetch', 'read_secret']);
    assert.match(outer.told.c2, /lethal-trifecta/);
  });

  await row('a session for each thread', async () => {
    const box = toolbox(), { gate } = await fresh();
    const once = (script, thread) => go(home(guard(gate, scripted(box, script).agent, { session: ({ requestContext }) => requestContext.get('who') })), { requestContext: thread });
    const { RequestContext } = await import('@mastra/core/request-context');
    const who = (name) => { const context = new RequestContext(); context.set('who', name); return context; };
    await once([FETCH, READ], who('a'));
    await once([PUBLISH], who('a'));
    await once([PUBLISH], who('b'));
    assert.deepEqual(box.names(), ['fetch', 'read_secret', 'publish']);
    await assert.rejects(once([FETCH], new RequestContext()), /no session/);
  });

  await row('an approval of another call, or of a gate that did not ask', async () => {
    const box = toolbox(), { gate, session } = await fresh();
    const two = scripted(box, [FETCH, [REMOVE, call('remove', { name: 'b' })]]), agent = home(guard(gate, two.agent, { session, interrupts: true }));
    const { runId, asked } = await go(agent);
    assert.ok(asked.length > 0);
    await approve(agent, { runId, toolCallId: 'c9' }).catch(() => {});
    assert.deepEqual(box.names(), ['fetch']);
    const other = await fresh();
    const strange = scripted(box, [REMOVE]), wrong = home(guard(other.gate, strange.agent, { session: other.session, interrupts: true }));
    await other.session.settle(await other.session.decide('fetch', { url: 'x' }), { result: PAGE });
    const asking = await go(wrong);
    for (const { id } of await other.session.approvals()) await other.session.refuse(id, 'grace');
    await approve(wrong, { runId: asking.runId, toolCallId: 'c1' }).catch(() => {});
    assert.deepEqual(box.names(), ['fetch']);
  });

  await row('Mastra’s own approval besides: its yes is none of the gate’s', async () => {
    const box = toolbox(), { gate, session } = await fresh();
    const tools = { ...listed(box), publish: toolOf('publish', box.tools.publish, { requireApproval: true }) };
    for (const interrupts of [false, true]) {
      box.ran.length = 0;
      const one = scripted(box, [FETCH, READ, PUBLISH], { tools }), agent = home(guard(gate, one.agent, { session, interrupts }));
      const { runId, asked } = await go(agent);
      assert.equal(asked.length, 1);
      await approve(agent, { runId, toolCallId: 'c3' });
      assert.deepEqual(box.names(), ['fetch', 'read_secret']);
      assert.match(one.told.c3, /lethal-trifecta/);
    }
  });

  await row('a fork of a guarded agent', async () => {
    const box = toolbox(), { gate, session } = await fresh(), one = scripted(box, [FETCH, READ, PUBLISH]);
    await go(guard(gate, one.agent, { session }).__fork());
    assert.deepEqual(box.names(), ['fetch', 'read_secret']);
  });

  await row('a run that is called off: what waits does not run', async () => {
    const box = toolbox(), { gate, session } = await fresh(), off = new AbortController();
    box.tools.slow = box.make('slow', () => { off.abort(); return 'slow'; });
    await go(home(guard(gate, scripted(box, [[call('slow'), FETCH]]).agent, { session })), { abortSignal: off.signal }).catch(() => {});
    await new Promise((r) => { setTimeout(r, 30); });
    assert.deepEqual(box.names(), ['slow']);
  });
}

await check('Mastra: networks are refused, an agent is in one session, what is no agent', async () => {
  const box = toolbox(), { gate, session } = await fresh(), { agent } = scripted(box, [FETCH]);
  assert.equal(guard(gate, agent, { session }), agent);
  assert.equal(guard(gate, agent, { session }), agent);
  assert.throws(() => guard(gate, agent, { session: 'other' }), UsageError);
  await assert.rejects(agent.network('go'), /network/);
  for (const wrong of [undefined, null, {}, 'a']) assert.throws(() => guard(gate, wrong, { session }), UsageError);
  for (const wrong of [undefined, null, {}]) assert.throws(() => guard(wrong, scripted(box, []).agent, { session }), UsageError);
});

await check('Mastra: the framework without a gate runs it all', async () => {
  const box = toolbox();
  await round(home(scripted(box, [FETCH, READ, PUBLISH]).agent).generate('go', { maxSteps: 20 }), 'plain');
  assert.deepEqual(box.names(), ['fetch', 'read_secret', 'publish']);
});

done();
