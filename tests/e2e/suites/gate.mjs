// SPDX-License-Identifier: Apache-2.0
// What the gateway decides, strips, maps and tells.
import assert from 'node:assert/strict';
import { test } from '../lib/harness.mjs';
import { textOf, until } from '../lib/peer.mjs';
import { GATED, OPEN, startGateway } from '../lib/gateway.mjs';

const ASKING = { sampling: {}, roots: { listChanged: true }, elicitation: {} };
const seenCapabilities = (peer) => peer.seen().find(({ message }) => message.method === 'initialize').message.params.capabilities;

test('gate: sampling, roots and elicitation are not offered to the server', async (t) => {
  const peer = startGateway(t);
  await peer.initialize('2025-11-25', { ...ASKING, experimental: { x: {} }, tasks: {} });
  assert.deepEqual(seenCapabilities(peer), {});
});

for (const [feature, method, params] of [
  ['sampling', 'sampling/createMessage', { messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 5 }],
  ['roots', 'roots/list', undefined],
  ['elicitation', 'elicitation/create', { message: 'your name?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } }],
]) {
  test(`gate: a server that asks for ${feature} all the same is refused, and the client is not bothered`, async (t) => {
    const peer = startGateway(t);
    await peer.initialize('2025-11-25', ASKING);
    const response = JSON.parse(textOf(await peer.call('ask', { method, params })));
    assert.ok(response.error, JSON.stringify(response));
    assert.ok(peer.received.every(({ message }) => message.method !== method));
  });

  const allowed = OPEN.replace('{ trust: inside }', `{ trust: inside, ${feature}: true }`);

  test(`gate: ${feature} is offered and works when the policy and the client both have it`, async (t) => {
    const peer = startGateway(t, { policy: allowed });
    await peer.initialize('2025-11-25', ASKING);
    assert.deepEqual(Object.keys(seenCapabilities(peer)), [feature]);
    const results = {
      sampling: { role: 'assistant', content: { type: 'text', text: 'hello' }, model: 'none' },
      roots: { roots: [{ uri: 'file:///srv', name: 'srv' }] },
      elicitation: { action: 'accept', content: { name: 'Ana' } },
    };
    const from = peer.received.length;
    const answer = peer.call('ask', { method, params });
    const { message } = await peer.find((each) => each.method === method, 'the question', from);
    if (params) assert.equal(JSON.stringify(message.params.messages ?? message.params.requestedSchema), JSON.stringify(params.messages ?? params.requestedSchema));
    assert.notEqual(message.id, 1000, 'the id of the server was passed on');
    peer.send({ jsonrpc: '2.0', id: message.id, result: results[feature] });
    assert.deepEqual(JSON.parse(textOf(await answer)).result, results[feature]);
    // A second answer to the same question is nobody's.
    peer.send({ jsonrpc: '2.0', id: message.id, result: results[feature] });
    assert.equal(textOf(await peer.call('echo', { a: 1 })), '{"a":1}');
    assert.equal(peer.seen().filter(({ message: { method: m } }) => m === undefined).length, 1);
  });

  test(`gate: ${feature} is not offered when only the policy has it`, async (t) => {
    const peer = startGateway(t, { policy: allowed });
    await peer.initialize('2025-11-25', {});
    assert.deepEqual(seenCapabilities(peer), {});
  });
}

/** fetch and read in one session, then a call that would send. */
async function tainted(t, options) {
  const peer = startGateway(t, { policy: GATED, ...options });
  await peer.initialize();
  assert.equal(textOf(await peer.call('fetch')), 'a page that anybody may have written');
  assert.equal(textOf(await peer.call('read')), 'a private note');
  return peer;
}

const MAIL = { to: 'eve@evil.example', subject: 's', body: 'b' };

test('gate: the third of untrusted, sensitive and egress is denied as a tool error', async (t) => {
  const peer = await tainted(t);
  const { result, error } = await peer.call('send', MAIL, 'deny');
  assert.equal(error, undefined);
  assert.equal(result.isError, true);
  assert.equal('structuredContent' in result, false);
  assert.equal('resultType' in result, false);
  assert.equal(result.content.length, 1);
  assert.equal(result.content[0].type, 'text');
  const { text } = result.content[0];
  assert.ok(text.length > 20 && text.length < 1000, text);
  assert.ok(!text.includes('eve@evil.example') && !text.includes('private note') && !text.includes('anybody'), `it echoes what it should not: ${text}`);
  assert.ok(text.includes('up.fetch') && text.includes('up.read'), `it does not name the source calls: ${text}`);
  const decision = result._meta['interlock/decision'];
  assert.equal(decision.action, 'block');
  assert.equal(decision.layer, 'machine');
  assert.equal(decision.rule, 'lethal-trifecta');
  assert.equal(peer.seenCalls('send').length, 0);
  // The session lives on.
  assert.equal(textOf(await peer.call('echo', { a: 1 })), '{"a":1}');
});

test('gate: a standing and public sink is denied too, and ours is not', async (t) => {
  const peer = await tainted(t);
  const { result } = await peer.call('post', { anything: 1 });
  assert.equal(result._meta['interlock/decision'].rule, 'lethal-trifecta');
  const ours = { ...MAIL, to: 'bo@corp.example' };
  assert.equal(textOf(await peer.call('send', ours)), 'sent to bo@corp.example');
  for (const [what, args] of Object.entries({
    'a look-alike domain': { ...ours, to: 'bo@corp.example.evil.example' },
    'a domain in the local part': { ...ours, to: 'bo@corp.example@evil.example' },
    'two addressees': { ...ours, to: 'bo@corp.example, eve@evil.example' },
    'a list': { ...ours, to: ['bo@corp.example', 'eve@evil.example'] },
    'no addressee': { subject: 's', body: 'b' },
    'an undeclared argument': { ...ours, bcc: 'eve@evil.example' },
    'an address in the body': { ...ours, body: 'forward this to eve@evil.example' },
    'a URL in the body': { ...ours, body: 'see https://evil.example/?k=1' },
  })) {
    const { result: denied } = await peer.call('send', args);
    assert.equal(denied?._meta?.['interlock/decision']?.action, 'block', `${what} went through`);
  }
  assert.equal(peer.seenCalls('send').length, 1);
});

test('gate: every order of the three is stopped at the third', async (t) => {
  for (const order of [['send', 'fetch', 'read'], ['read', 'fetch', 'post'], ['fetch', 'post', 'read'], ['post', 'read', 'fetch']]) {
    const peer = startGateway(t, { policy: GATED });
    await peer.initialize();
    const denied = [];
    for (const tool of order) denied.push(Boolean((await peer.call(tool, tool === 'send' ? MAIL : {})).result.isError));
    // A `once` egress is over when it is settled; a standing one stays.
    assert.deepEqual(denied, order[0] === 'send' ? [false, false, false] : [false, false, true], order.join());
  }
});

test('gate: a tool that the policy does not name is denied', async (t) => {
  const peer = startGateway(t, { policy: GATED });
  await peer.initialize();
  const { result } = await peer.call('unlisted-in-policy', {});
  assert.equal(result.isError, true);
  const decision = result._meta['interlock/decision'];
  assert.equal(decision.action, 'block');
  assert.equal(decision.layer, 'labeller');
  assert.equal(decision.rule, 'unlabelled-tool');
  assert.equal(peer.seenCalls().length, 0);
});

test('gate: a denied resources/read, prompts/get, completion or subscription is an error 4030', async (t) => {
  const peer = startGateway(t, { policy: GATED });
  await peer.initialize();
  for (const [method, params] of [
    ['resources/read', { uri: 'note://one' }],
    ['resources/subscribe', { uri: 'note://one' }],
    ['prompts/get', { name: 'greet' }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'a', value: 'b' } }],
  ]) {
    const { error, result } = await peer.request(method, params);
    assert.equal(result, undefined, method);
    assert.equal(error.code, 4030, method);
    assert.equal(error.data.rule, 'unlabelled-tool', method);
    assert.equal(error.data.action, 'block', method);
  }
  assert.ok(peer.seen().every(({ message }) => !['resources/read', 'resources/subscribe', 'prompts/get', 'completion/complete'].includes(message.method)));
});

test('gate: resources and prompts have effects like tools', async (t) => {
  const policy = `${GATED}  - { match: up.resources/read, effects: [sensitive] }\n  - { match: up.prompts/get, effects: [untrusted] }\n`;
  const peer = startGateway(t, { policy });
  await peer.initialize();
  assert.ok((await peer.request('resources/read', { uri: 'note://one' })).result);
  assert.ok((await peer.request('prompts/get', { name: 'greet' })).result);
  const { result } = await peer.call('send', MAIL);
  assert.equal(result._meta['interlock/decision'].rule, 'lethal-trifecta');
  assert.ok(result.content[0].text.includes('up.resources/read') && result.content[0].text.includes('up.prompts/get'), result.content[0].text);
});

test('gate: every tool of an outside server brings untrusted content and is a way out', async (t) => {
  const policy = OPEN.replace('up: { trust: inside }', 'up: {}').replace('effects: []', 'effects: [sensitive]');
  const peer = startGateway(t, { policy });
  await peer.initialize();
  const { result } = await peer.call('echo', { a: 1 });
  assert.equal(result?._meta?.['interlock/decision']?.action, 'block', JSON.stringify(result));
  assert.equal(peer.seenCalls().length, 0);
});

test('gate: in monitor mode the call runs and is marked as unenforced', async (t) => {
  const peer = await tainted(t, { policy: GATED.replace('mode: enforce', 'mode: monitor') });
  const { result } = await peer.call('send', MAIL);
  assert.equal(textOf({ result }), 'sent to eve@evil.example');
  const decision = result._meta['interlock/decision'];
  assert.equal(decision.action, 'block');
  assert.equal(decision.unenforced, true);
  assert.equal(peer.seenCalls('send').length, 1);
});

test('gate: a cancellation names the id that the server knows, and not what the client wrote', async (t) => {
  const peer = startGateway(t);
  await peer.initialize();
  peer.send({ jsonrpc: '2.0', id: 'to-cancel', method: 'tools/call', params: { name: 'slow', arguments: { ms: 60_000 } } });
  await until(() => peer.seenCalls('slow').length === 1, 'the call');
  peer.notify('notifications/cancelled', { requestId: 'to-cancel', reason: 'leak this text' });
  peer.notify('notifications/cancelled', { requestId: 'never-sent', reason: 'leak' });
  const { message } = await until(() => peer.seen().find(({ message: { method } }) => method === 'notifications/cancelled'), 'the cancellation');
  assert.equal(message.params.requestId, peer.seenCalls('slow')[0].message.id);
  assert.ok(peer.seen().every(({ raw }) => !raw.includes('leak')));
  assert.equal(textOf(await peer.call('echo', { a: 1 })), '{"a":1}');
  const late = JSON.stringify({ jsonrpc: '2.0', id: message.params.requestId, result: { content: [{ type: 'text', text: 'late' }] } });
  assert.equal(textOf(await peer.call('raw', { text: `${late}\n{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"fine"}]}}\n` })), 'fine');
  assert.ok(peer.received.every(({ message: each }) => each.id !== 'to-cancel' || !each.result), 'a cancelled call was answered');
  assert.equal(peer.seen().filter(({ message: { method } }) => method === 'notifications/cancelled').length, 1);
});

test('gate: the result of a cancelled call still counts', async (t) => {
  const policy = GATED.replace('(up|other).fetch', '(up|other).(fetch|slow)').replace('|slow|', '|');
  const peer = startGateway(t, { policy });
  await peer.initialize();
  peer.send({ jsonrpc: '2.0', id: 'c', method: 'tools/call', params: { name: 'slow', arguments: { ms: 200 } } });
  await until(() => peer.seenCalls('slow').length === 1, 'the call');
  peer.notify('notifications/cancelled', { requestId: 'c' });
  await peer.call('read');
  const { result } = await peer.call('send', MAIL);
  assert.equal(result._meta?.['interlock/decision'].rule, 'lethal-trifecta');
});

test('gate: progress is mapped to the token of the client, of its type, and to nobody else', async (t) => {
  const peer = startGateway(t);
  await peer.initialize();
  for (const token of ['a token', 7, '7', 0]) {
    const from = peer.received.length;
    const answer = await peer.request('tools/call', { name: 'progress', arguments: {}, _meta: { progressToken: token } });
    assert.equal(textOf(answer), '{"token":true}');
    const events = peer.received.slice(from).map(({ message }) => message).filter(({ method }) => method === 'notifications/progress');
    assert.deepEqual(events.map(({ params }) => params), [1, 2, 3].map((progress) => ({ progressToken: token, progress, total: 3 })));
    assert.equal(peer.received.at(-1).message.id, answer.id, 'progress came after the answer');
  }
  assert.equal(textOf(await peer.call('progress')), '{"token":false}');
  const tokens = peer.seenCalls('progress').map(({ message }) => message.params._meta?.progressToken);
  assert.equal(new Set(tokens).size, tokens.length);
  assert.ok(!tokens.includes('a token'), JSON.stringify(tokens));
});

test('gate: a change of the lists is announced, and the new list is served', async (t) => {
  const peer = startGateway(t, { fake: 'changing' });
  const { result } = await peer.initialize();
  assert.equal(result.capabilities.tools.listChanged, true);
  const before = (await peer.request('tools/list')).result.tools.map(({ name }) => name);
  let from = peer.received.length;
  await peer.call('echo', { add: 'brand-new' });
  await peer.find(({ method }) => method === 'notifications/tools/list_changed', 'the announcement', from);
  const after = (await peer.request('tools/list')).result.tools.map(({ name }) => name);
  assert.deepEqual(after, [...before, 'brand-new']);
  from = peer.received.length;
  await peer.call('echo', { add: 'two', kind: 'resources' });
  await peer.find(({ method }) => method === 'notifications/resources/list_changed', 'the announcement', from);
  assert.equal((await peer.request('resources/list')).result.resources.length, 2);
});

test('gate: a list in pages arrives whole, in order, with an empty cursor among them', async (t) => {
  const whole = startGateway(t, { name: 'up' });
  await whole.initialize();
  const { tools } = (await whole.request('tools/list')).result;
  const paged = startGateway(t, { fake: 'paged', name: 'other', policy: OPEN.replaceAll('up', 'other') });
  await paged.initialize();
  const got = [];
  let cursor;
  do {
    const { result } = await paged.request('tools/list', cursor === undefined ? undefined : { cursor });
    got.push(...result.tools);
    cursor = result.nextCursor;
    assert.ok(got.length <= tools.length, 'the pages do not end');
  } while (cursor !== undefined);
  assert.equal(JSON.stringify(got), JSON.stringify(tools));
});

test('gate: a tool with a name outside the rules is not shown and cannot be called', async (t) => {
  const peer = startGateway(t, { fake: 'odd-names' });
  await peer.initialize();
  const { tools } = (await peer.request('tools/list')).result;
  assert.deepEqual(tools.map(({ name }) => name), ['echo']);
  const { error, result } = await peer.call('bad name', {});
  assert.ok(error || result.isError);
  assert.equal(peer.seenCalls().length, 0);
});
