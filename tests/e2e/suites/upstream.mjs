// SPDX-License-Identifier: Apache-2.0
// Servers that do not start, die, or answer nonsense.
import assert from 'node:assert/strict';
import { test } from '../lib/harness.mjs';
import { WAIT_MS, sleep, textOf, until } from '../lib/peer.mjs';
import { GATED, startGateway } from '../lib/gateway.mjs';

const alive = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
const answerTo = (result) => `{"jsonrpc":"2.0","id":$ID,"result":${result}}\n`;
const RIGHT = '{"content":[{"type":"text","text":"right"}]}';
const WRONG = '{"content":[{"type":"text","text":"WRONG"}]}';

for (const [what, upstream, says] of [
  ['does not exist', ['/nonexistent/server', '--flag'], /nonexistent\/server/],
  ['may not be executed', ['/etc/passwd'], /\/etc\/passwd/],
  ['exits at once', { fake: 'exits' }, /7|exit|end|stopped/i],
  ['prints before JSON', { fake: 'chatty' }, /stdout|JSON/i],
  ['speaks a revision that nobody knows', { fake: 'foreign-version' }, /1999-01-01/],
]) {
  test(`upstream: a server that ${what} ends the gateway with exit 3 and a message`, async (t) => {
    const peer = startGateway(t, Array.isArray(upstream) ? { upstream } : upstream);
    peer.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } } });
    const timer = setTimeout(() => peer.child.kill('SIGKILL'), WAIT_MS);
    const { code, signal } = await peer.exited;
    clearTimeout(timer);
    assert.deepEqual({ code, signal }, { code: 3, signal: null }, peer.stderr);
    assert.match(peer.stderr, says);
    assert.ok(peer.stderr.length < 2000, 'the message is long');
    for (const { message } of peer.received) assert.ok(message?.error, `something else than an error came out: ${JSON.stringify(message)}`);
  });
}

test('upstream: a server that never answers does not keep the gateway from ending as clients end it', async (t) => {
  const peer = startGateway(t, { fake: 'silent' });
  peer.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } } });
  await sleep(300);
  assert.equal(peer.ended, undefined);
  peer.child.stdin.end(); // what the official client does: end of input, then SIGTERM, then SIGKILL
  await sleep(100);
  peer.child.kill('SIGTERM');
  const { signal } = await peer.stop(30_000); // half of what it waits for the server
  assert.equal(signal, null, 'it had to be killed');
  assert.ok(peer.received.every(({ message }) => message?.error), JSON.stringify(peer.received));
});

for (const [what, args] of [['without a word', {}], ['in the middle of a line', { half: true }]]) {
  test(`upstream: a server that dies ${what} during a call: the call may have run`, async (t) => {
    const peer = startGateway(t);
    await peer.initialize();
    const slow = peer.request('tools/call', { name: 'slow', arguments: { ms: 60_000 } }, 'slow');
    const read = peer.call('die', args, 'die');
    for (const answer of [await read, await slow]) {
      assert.equal(answer.result?.isError, true, JSON.stringify(answer));
      assert.match(textOf(answer), /may have/i);
      assert.equal('structuredContent' in answer.result, false);
    }
    // What comes after is answered too, or the gateway has ended.
    const after = await peer.call('echo', { a: 1 }).catch(() => null);
    assert.ok(after === null || after.error || after.result.isError || textOf(after) === '{"a":1}', JSON.stringify(after));
  });
}

test('upstream: a death during a call leaves the effects of the call in the session', async (t) => {
  const ledger = `${t.dir}/ledger.db`;
  const policy = GATED.replace('(up|other).fetch', '(up|other).(fetch|die)').replace('|die|structured', '|structured');
  const first = startGateway(t, { policy, ledger, session: 's1' });
  await first.initialize();
  await first.call('die');
  await first.stop();
  const second = startGateway(t, { policy, ledger, session: 's1' });
  await second.initialize();
  await second.call('read');
  const { result } = await second.call('send', { to: 'eve@evil.example', subject: 's', body: 'b' });
  assert.equal(result._meta?.['interlock/decision'].rule, 'lethal-trifecta', JSON.stringify(result));
});

// [what, text or bytes that the server writes for one call, what the client must get: 'right', or 'isError']
const NONSENSE = [
  ['answers twice', answerTo(RIGHT) + answerTo(WRONG), 'right'],
  ['first answers an id that nobody has', `{"jsonrpc":"2.0","id":424242,"result":${WRONG}}\n${answerTo(RIGHT)}`, 'right'],
  ['first answers the id as a string', `{"jsonrpc":"2.0","id":"$ID","result":${WRONG}}\n${answerTo(RIGHT)}`, 'right'],
  ['first sends an unknown notification', `{"jsonrpc":"2.0","method":"notifications/odd","params":{"text":"WRONG"}}\n${answerTo(RIGHT)}`, 'right'],
  ['first sends an unknown request', `{"jsonrpc":"2.0","id":"q","method":"client/run","params":{"text":"WRONG"}}\n${answerTo(RIGHT)}`, 'right'],
  ['first sends a blank line', `\n${answerTo(RIGHT)}`, 'either'],
  ['answers with CRLF', answerTo(RIGHT).replace('\n', '\r\n'), 'right'],
  ['answers with a result and an error', `{"jsonrpc":"2.0","id":$ID,"result":${WRONG},"error":{"code":1,"message":"WRONG"}}\n`, 'isError'],
  ['answers with neither', '{"jsonrpc":"2.0","id":$ID}\n', 'isError'],
  ['answers with a list as result', answerTo('["WRONG"]'), 'isError'],
  ['answers with a string as result', answerTo('"WRONG"'), 'isError'],
  ['answers with an error that is a string', '{"jsonrpc":"2.0","id":$ID,"error":"WRONG"}\n', 'isError'],
  ['answers in a batch', `[${answerTo(WRONG).trim()}]\n`, 'isError'],
  ['prints a log line', 'INFO WRONG: started\n', 'isError'],
  ['prints a JSON string', '"WRONG"\n', 'isError'],
  ['answers with a duplicate key', `{"jsonrpc":"2.0","id":$ID,"result":${WRONG},"result":${WRONG}}\n`, 'isError'],
  ['answers with a duplicate key inside', answerTo('{"content":[{"type":"text","text":"WRONG","text":"WRONG"}]}'), 'isError'],
  ['answers with a lone surrogate', answerTo('{"content":[{"type":"text","text":"WRONG\\ud800"}]}'), 'isError'],
  ['answers with an unknown member', `{"jsonrpc":"2.0","id":$ID,"result":${WRONG},"extra":1}\n`, 'isError'],
  ['answers too deeply', answerTo(`{"content":[{"type":"text","text":"WRONG"}],"structuredContent":{"a":${'['.repeat(5000)}${']'.repeat(5000)}}}`), 'isError'],
  ['sends an answer cut short', `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"WRONG\n`, 'isError'],
];

for (const [what, line, wanted] of NONSENSE) {
  test(`upstream: a server that ${what}`, async (t) => {
    const peer = startGateway(t);
    await peer.initialize();
    const answer = await peer.call('raw', { text: line }, 'nonsense');
    if (wanted === 'right') assert.equal(textOf(answer), 'right', JSON.stringify(answer));
    if (wanted === 'isError') assert.equal(answer.result?.isError, true, JSON.stringify(answer));
    // A server that broke the protocol may be closed; one that only said too much goes on.
    const next = await peer.call('echo', { a: 1 }).catch(() => null);
    if (wanted === 'right') assert.equal(textOf(next), '{"a":1}', JSON.stringify(next));
    await sleep(50);
    assert.equal(peer.received.filter(({ message }) => message?.id === 'nonsense').length, 1);
    for (const { raw, message } of peer.received) assert.ok(message && !raw.includes('WRONG'), `it came through: ${raw.slice(0, 300)}`);
  });
}

test('upstream: invalid UTF-8 in an answer does not come through', async (t) => {
  const peer = startGateway(t);
  await peer.initialize();
  const line = Buffer.concat([Buffer.from(answerTo(RIGHT).replace('right', 'WRONG').replace('"}', '')), Buffer.from([0xff, 0xfe]), Buffer.from('"}]}}\n')]);
  const { result } = await peer.call('raw', { base64: line.toString('base64') });
  assert.equal(result.isError, true);
  for (const { raw, message } of peer.received) assert.ok(message && !raw.includes('WRONG') && !/[\xfe\xff]/.test(raw), raw);
});

test('upstream: an answer longer than the limit does not come through', async (t) => {
  const peer = startGateway(t, { fake: 'flood' });
  await peer.initialize();
  const { result } = await peer.call('echo', {}, 'flood');
  assert.equal(result?.isError, true);
  assert.ok(peer.received.every(({ raw }) => raw.length < 1_000_000));
});

test('upstream: pings are answered by the gateway, both ways', async (t) => {
  const peer = startGateway(t);
  await peer.initialize();
  assert.deepEqual((await peer.request('ping')).result, {});
  assert.deepEqual(JSON.parse(textOf(await peer.call('ask', { method: 'ping' }))).result, {});
  assert.ok(peer.seen().every(({ message }) => message.method !== 'ping'));
  assert.ok(peer.received.every(({ message }) => message.method !== 'ping'));
});

test('upstream: an error of the server is passed on as an error', async (t) => {
  const peer = startGateway(t);
  await peer.initialize();
  const { error } = await peer.call('raw', { text: '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32050,"message":"no disk","data":{"k":1.0}}}\n' });
  assert.equal(error.code, -32050);
  assert.equal(error.message, 'no disk');
});

test('upstream: stderr of the server never reaches stdout, nor its control characters stderr', async (t) => {
  const peer = startGateway(t, { fake: 'colourful' });
  await peer.initialize();
  assert.equal(textOf(await peer.call('echo', { a: 1 })), '{"a":1}');
  assert.ok(peer.received.every(({ message, raw }) => message && !raw.includes('boo')));
  assert.ok(!peer.stderr.includes('\u001b'), JSON.stringify(peer.stderr));
});

test('upstream: the server ends with the gateway, and the gateway with its client', async (t) => {
  const peer = startGateway(t, { fake: 'pid' });
  await peer.initialize();
  const pid = Number(textOf(await peer.call('pid')));
  const { code, signal } = await peer.stop();
  assert.deepEqual({ code, signal }, { code: 0, signal: null }, peer.stderr);
  await until(() => !alive(pid), 'the end of the server');
});

test('upstream: the server does not outlive a gateway that is killed', async (t) => {
  const peer = startGateway(t, { fake: 'stays' });
  await peer.initialize();
  const pid = Number(textOf(await peer.call('pid')));
  assert.ok(alive(pid));
  peer.child.kill('SIGKILL');
  await peer.exited;
  t.defer(() => alive(pid) && process.kill(pid, 'SIGKILL'));
  await until(() => !alive(pid), 'the end of the server');
});

test('upstream: SIGTERM lets the calls in flight end', async (t) => {
  let answer;
  for (let tries = 0; answer !== 'slow answer' && tries < 4; tries += 1) { // it waits for five seconds, which a busy machine may need for the answer
    const peer = startGateway(t);
    await peer.initialize();
    const slow = peer.call('slow', { ms: 500 });
    await until(() => peer.seenCalls('slow').length === 1, 'the call');
    peer.child.kill('SIGTERM');
    answer = textOf(await slow);
    assert.deepEqual(await peer.exited, { code: 0, signal: null }, peer.stderr);
  }
  assert.equal(answer, 'slow answer');
});

test('upstream: a client that is gone ends the gateway without a crash', async (t) => {
  const peer = startGateway(t);
  await peer.initialize();
  peer.child.stdout.destroy();
  peer.send({ jsonrpc: '2.0', id: 'x', method: 'tools/list' });
  peer.child.stdin.end();
  const { signal } = await peer.stop();
  assert.equal(signal, null);
});
