// SPDX-License-Identifier: Apache-2.0
// The rules of the wire on the client's face: what is not exactly one well-formed message is refused
// with the right code and never reaches the server, and the next message works.
import assert from 'node:assert/strict';
import { test } from '../lib/harness.mjs';
import { sleep, textOf } from '../lib/peer.mjs';
import { GATED, startGateway } from '../lib/gateway.mjs';

const PARSE = -32700;
const INVALID = -32600;
const SYNTAX = [PARSE, INVALID]; // text that cannot be taken for a message; both codes are in use for it
const call = (id, args, rest = '') => `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"echo","arguments":${args}}${rest}}`;
const bytes = (...parts) => Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));
const nested = (depth) => '['.repeat(depth) + ']'.repeat(depth);

// [what, line, codes, the id of the answer (undefined: any)]
const REFUSED = [
  ['a duplicate method', '{"jsonrpc":"2.0","id":"x","method":"ping","method":"tools/list"}', SYNTAX],
  ['a duplicate tool name', '{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"echo","name":"read","arguments":{}}}', SYNTAX],
  ['a duplicate key in the arguments', call('"x"', '{"a":1,"a":2}'), SYNTAX],
  ['a duplicate key deep in the arguments', call('"x"', '{"a":[{"b":{"c":1,"d":2,"c":3}}]}'), SYNTAX],
  ['a duplicate key spelt with an escape', call('"x"', '{"message":1,"m\\u0065ssage":2}'), SYNTAX],
  ['invalid UTF-8', bytes('{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"echo","arguments":{"a":"', [0xff, 0xc0, 0x80], '"}}}'), SYNTAX],
  ['an overlong encoding', bytes('{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"echo","arguments":{"a":"', [0xc1, 0xa1], '"}}}'), SYNTAX],
  ['a surrogate in UTF-8', bytes('{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"echo","arguments":{"a":"', [0xed, 0xa0, 0x80], '"}}}'), SYNTAX],
  ['a lone high surrogate', call('"x"', '{"a":"\\ud800"}'), SYNTAX],
  ['a lone low surrogate', call('"x"', '{"a":"\\udc00\\ud800"}'), SYNTAX],
  ['a lone surrogate in a key', call('"x"', '{"\\udfff":1}'), SYNTAX],
  ['a byte order mark', bytes([0xef, 0xbb, 0xbf], call('"x"', '{}')), SYNTAX],
  ['a control character in a string', bytes('{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"echo","arguments":{"a":"', [1], '"}}}'), SYNTAX],
  ['a NUL after the message', bytes(call('"x"', '{}'), [0]), SYNTAX],
  ['a bare CR in the message', call('"x"', '{\r}').replace('"params"', '\r"params"'), null],
  ['NaN', call('"x"', '{"a":NaN}'), SYNTAX],
  ['a leading zero', call('"x"', '{"a":012}'), SYNTAX],
  ['a trailing comma', call('"x"', '{"a":1,}'), SYNTAX],
  ['a comment', call('"x"', '{/* */}'), SYNTAX],
  ['single quotes', "{'jsonrpc':'2.0','id':'x','method':'ping'}", SYNTAX],
  ['a truncated message', '{"jsonrpc":"2.0","id":"x","method":"ping"', SYNTAX],
  ['two messages on one line', '{"jsonrpc":"2.0","id":"x","method":"ping"}{"jsonrpc":"2.0","id":"y","method":"ping"}', SYNTAX],
  ['nesting 100 deep', call('"x"', `{"a":${nested(100)}}`), SYNTAX],
  ['nesting 20000 deep', call('"x"', `{"a":${nested(20000)}}`), SYNTAX],
  ['a string', '"ping"', [INVALID]],
  ['a number', '7', [INVALID]],
  ['null', 'null', [INVALID]],
  ['a batch', `[${call('"x"', '{}')}]`, [INVALID]],
  ['an empty batch', '[]', [INVALID]],
  ['the id 8.0', call('8.0', '{}'), [INVALID]],
  ['the id 8e0', call('8e0', '{}'), [INVALID]],
  ['the id null', call('null', '{}'), [INVALID]],
  ['the id true', call('true', '{}'), [INVALID]],
  ['an object as id', call('{}', '{}'), [INVALID]],
  ['the id 2^53+1', call('9007199254740993', '{}'), [INVALID]],
  ['jsonrpc 1.0', '{"jsonrpc":"1.0","id":"x","method":"ping"}', [INVALID], 'x'],
  ['no jsonrpc', '{"id":"x","method":"ping"}', [INVALID], 'x'],
  ['an unknown member', call('"x"', '{}', ',"extra":1'), [INVALID], 'x'],
  ['a request that is a response too', call('"x"', '{}', ',"result":{}'), [INVALID], 'x'],
  ['a method that is no string', '{"jsonrpc":"2.0","id":"x","method":7}', [INVALID], 'x'],
  ['params that are a list', '{"jsonrpc":"2.0","id":"x","method":"tools/call","params":["echo"]}', [INVALID, -32602], 'x'],
  ['an unknown method', '{"jsonrpc":"2.0","id":"x","method":"tools/destroy"}', [-32601], 'x'],
  ['a method of tasks', '{"jsonrpc":"2.0","id":"x","method":"tasks/list"}', [-32601], 'x'],
  ['a server-side method', '{"jsonrpc":"2.0","id":"x","method":"sampling/createMessage","params":{}}', [-32601], 'x'],
  ['a call without a name', '{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"arguments":{}}}', [-32602], 'x'],
  ['a call whose name is no string', '{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":["echo"]}}', [-32602], 'x'],
  ['a call whose arguments are a list', call('"x"', '[]'), [-32602], 'x'],
  ['a call that asks for a task', '{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"echo","arguments":{},"task":{}}}', [-32602, -32601, INVALID], 'x'],
];

test('wire: each malformed message is refused, is not forwarded, and the next one works', async (t) => {
  const peer = startGateway(t);
  await peer.initialize();
  const wrong = [];
  for (const [what, line, codes, id] of REFUSED) {
    const from = peer.received.length;
    const seen = peer.seenCalls().length;
    peer.send(line);
    // The next well-formed request is the fence: by its answer the refusal must have come.
    const next = await peer.call('echo', { after: what }, `after ${what}`);
    const answers = peer.received.slice(from).map(({ message }) => message).filter((message) => message?.id !== next.id);
    if (JSON.parse(textOf(next) ?? '{}').after !== what) wrong.push(`${what}: the next call gave ${JSON.stringify(next)}`);
    if (codes) {
      const [answer, ...more] = answers;
      if (!answer) wrong.push(`${what}: no answer`);
      else if (!codes.includes(answer.error?.code)) wrong.push(`${what}: ${JSON.stringify(answer).slice(0, 300)}`);
      else if (id !== undefined && answer.id !== id) wrong.push(`${what}: answered under the id ${JSON.stringify(answer.id)}`);
      if (more.length > 0) wrong.push(`${what}: ${answers.length} answers`);
      if (peer.seenCalls().length !== seen + 1) wrong.push(`${what}: it reached the server`);
    }
  }
  assert.deepEqual(wrong, []);
  t.note(`${REFUSED.length} messages`);
});

test('wire: an over-long message is refused and the next one works', async (t) => {
  const peer = startGateway(t);
  await peer.initialize();
  const from = peer.received.length;
  peer.send(call('"long"', `{"a":"${'x'.repeat(32 * 1024 * 1024)}"}`));
  assert.equal(textOf(await peer.call('echo', { a: 1 })), '{"a":1}');
  const refusal = peer.received.slice(from).find(({ message }) => message?.error);
  assert.ok(SYNTAX.includes(refusal?.message.error.code), JSON.stringify(refusal));
  assert.equal(peer.seenCalls().length, 1);
});

test('wire: CRLF, white space, split and joined writes are accepted', async (t) => {
  const peer = startGateway(t);
  await peer.initialize();
  peer.send(`${call('"crlf"', '{"a":1}')}\r`);
  assert.equal(textOf(await peer.answer('crlf')), '{"a":1}');
  peer.send(' \t{ "jsonrpc" : "2.0" , "id" : "space", "method":"tools/call", "params": {"name":"echo", "arguments": {"a":\t[ 1 , 2 ]} } } ');
  assert.equal(textOf(await peer.answer('space')), '{"a":[1,2]}');
  const line = Buffer.from(`${call('"split"', '{"a":"é"}')}\n`);
  for (const byte of line) {
    peer.child.stdin.write(Buffer.from([byte]));
    if (byte > 0x7f) await sleep(20); // inside a character
  }
  assert.equal(textOf(await peer.answer('split')), '{"a":"é"}');
  peer.child.stdin.write(`${call('"j1"', '{"a":1}')}\n${call('"j2"', '{"a":2}')}\n`);
  assert.equal(textOf(await peer.answer('j1')), '{"a":1}');
  assert.equal(textOf(await peer.answer('j2')), '{"a":2}');
});

test('wire: what goes on is the canonical text of what was judged', async (t) => {
  const peer = startGateway(t);
  await peer.initialize();
  const args = '{ "big" : 12345678901234567890, "one":1.0, "exp":1e2, "neg":-0, "\\u0062":"\\u0041\\/\\u2028", "z":null, "a":[true , false] }';
  const answer = await (async () => { peer.send(call('"c"', args)); return peer.answer('c'); })();
  assert.ok(textOf(answer));
  const { raw } = peer.seenCalls('echo')[0];
  assert.match(raw, /"arguments":\{"big":12345678901234567890,"one":1\.0,"exp":1e2,"neg":-0,"b":"A\//);
  assert.ok(raw.includes('"z":null,"a":[true,false]}'), raw);
  assert.ok(!/[ \r]/.test(raw), 'white space was kept');
});

test('wire: numbers and texts of a result survive exactly', async (t) => {
  const peer = startGateway(t);
  await peer.initialize();
  const result = '{"content":[{"type":"text","text":"\\u0041 \\u2028 \\ud83c\\udf45"}],"structuredContent":{"z":12345678901234567890,"one":1.0,"exp":1E2,"tiny":1e-400,"neg":-0,"zero":0.00}}';
  const answer = await peer.call('raw', { text: `{"jsonrpc":"2.0","id":$ID,"result":${result}}\n` }, 'n');
  assert.equal(textOf(answer), 'A \u2028 \u{1F345}');
  const { raw } = await peer.find((message) => message.id === 'n', 'the answer');
  assert.ok(raw.includes('"structuredContent":{"z":12345678901234567890,"one":1.0,"exp":1E2,"tiny":1e-400,"neg":-0,"zero":0.00}'), raw);
});

test('wire: ids come back as they were written, and 1 is not "1"', async (t) => {
  const peer = startGateway(t);
  await peer.initialize();
  const ids = ['1', '"1"', '0', '-7', '9007199254740991', '""', '"\\u00e9\\n"', `"${'k'.repeat(200)}"`];
  for (const id of ids) peer.send(call(id, JSON.stringify({ id })));
  for (const id of ids) {
    const answer = await peer.answer(JSON.parse(id), 1);
    assert.equal(JSON.parse(textOf(answer)).id, id);
  }
  const upstream = peer.seenCalls().map(({ message }) => message.id);
  assert.equal(new Set(upstream).size, ids.length);
  assert.ok(upstream.every(Number.isInteger), JSON.stringify(upstream));
});

test('wire: of two requests in flight with one id the second is refused', async (t) => {
  const peer = startGateway(t);
  await peer.initialize();
  const from = peer.received.length;
  // In one write: the second comes before the first can be answered.
  peer.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"slow","arguments":{"ms":400}}}\n${call('5', '{"second":true}')}`);
  await peer.find((message) => message.id === 5 && message.result, 'the first answer', from);
  const answers = peer.received.slice(from).map(({ message }) => message);
  assert.equal(answers.length, 2, JSON.stringify(answers));
  assert.equal(answers[0].error?.code, INVALID);
  assert.equal(answers[1].result.content[0].text, 'slow answer');
  assert.equal(peer.seenCalls().length, 1);
});

test('wire: requests before initialize, and a second initialize, are refused', async (t) => {
  const peer = startGateway(t);
  for (const method of ['tools/list', 'tools/call', 'resources/read']) {
    const answer = await peer.request(method, { name: 'echo', arguments: {}, uri: 'note://one' });
    assert.ok(answer.error, JSON.stringify(answer));
  }
  assert.ok((await peer.initialize()).result);
  assert.equal(textOf(await peer.call('echo', { a: 1 })), '{"a":1}');
  const again = await peer.request('initialize', { protocolVersion: '2025-11-25', capabilities: { sampling: {} }, clientInfo: { name: 'raw', version: '1' } });
  assert.equal(again.error?.code, INVALID, JSON.stringify(again));
  assert.equal(textOf(await peer.call('echo', { a: 2 })), '{"a":2}');
  const methods = peer.seen().map(({ message }) => message.method);
  assert.equal(methods.filter((method) => method === 'initialize').length, 1);
  assert.equal(peer.seenCalls().length, 2);
});

test('wire: a request between initialize and its notification is not judged before the server is ready', async (t) => {
  const peer = startGateway(t);
  await peer.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } });
  const answer = await peer.call('echo', { a: 1 });
  assert.ok(answer.error || textOf(answer) === '{"a":1}', JSON.stringify(answer));
  peer.notify('notifications/initialized');
  assert.equal(textOf(await peer.call('echo', { a: 2 })), '{"a":2}');
  const methods = peer.seen().map(({ message }) => message.method);
  const ready = methods.indexOf('notifications/initialized');
  assert.ok(ready > 0 && methods.indexOf('tools/call') > ready, methods.join());
});

test('wire: unknown notifications and unasked-for responses are dropped', async (t) => {
  const peer = startGateway(t);
  await peer.initialize();
  const from = peer.received.length;
  peer.notify('notifications/secret', { text: 'leak' });
  peer.notify('tools/call', { name: 'echo', arguments: { as: 'notification' } });
  peer.send('{"jsonrpc":"2.0","id":1,"result":{"leak":1}}');
  peer.send('{"jsonrpc":"2.0","id":99,"error":{"code":1,"message":"leak"}}');
  assert.equal(textOf(await peer.call('echo', { a: 1 })), '{"a":1}');
  const seen = peer.seen();
  assert.ok(seen.every(({ raw }) => !raw.includes('leak') && !raw.includes('notification"')), JSON.stringify(seen));
  const answers = peer.received.slice(from).filter(({ message }) => !message?.result);
  assert.ok(answers.every(({ message }) => message?.error), JSON.stringify(answers));
});

test('wire: a name that only looks like that of a tool is another name', async (t) => {
  const peer = startGateway(t, { policy: GATED });
  await peer.initialize();
  for (const name of ['echo ', ' echo', 'Echo', 'echo\u200b', 'ｅcho']) {
    const { error, result } = await peer.call(name, {});
    const rule = result?._meta?.['interlock/decision']?.rule;
    assert.ok(error?.code === -32602 || rule === 'unlabelled-tool', `${JSON.stringify(name)}: ${JSON.stringify({ error, result })}`);
  }
  assert.equal(peer.seenCalls().length, 0);
});

test('wire: foreign _meta goes no further than the gateway', async (t) => {
  const peer = startGateway(t);
  await peer.initialize();
  await peer.request('tools/call', { name: 'echo', arguments: {}, _meta: { baggage: 'k=leak', traceparent: '00-leak-01', 'x.example/y': 'leak' } });
  await peer.request('tools/list', { _meta: { baggage: 'k=leak' } });
  assert.ok(peer.seen().every(({ raw }) => !raw.includes('leak')), JSON.stringify(peer.seen()));
});

for (const [asked, given] of [['2024-11-05', '2024-11-05'], ['2025-06-18', '2025-06-18'], ['2025-11-25', '2025-11-25'], ['2025-03-26', null], ['2026-07-28', null], ['1999-01-01', null]]) {
  test(`wire: a client that asks for ${asked} is given ${given ?? 'a revision that is spoken'}`, async (t) => {
    const peer = startGateway(t);
    const { result } = await peer.initialize(asked);
    if (given) assert.equal(result.protocolVersion, given);
    else assert.ok(['2024-11-05', '2025-06-18', '2025-11-25'].includes(result.protocolVersion), result.protocolVersion);
    assert.equal((await peer.request('tools/list')).result.tools.length > 5, true);
    assert.equal(textOf(await peer.call('echo', { a: 1 })), '{"a":1}');
    const { result: read } = await peer.request('resources/read', { uri: 'note://one' });
    assert.equal(read.contents[0].text, 'the text of a note');
    assert.equal((await peer.request('prompts/get', { name: 'greet' })).result.messages.length, 1);
    const from = peer.received.length;
    peer.send(`[${call('"b"', '{}')}]`);
    const { message } = await peer.find((each) => each.error, 'the refusal of a batch', from);
    assert.equal(message.error.code, INVALID);
  });
}
