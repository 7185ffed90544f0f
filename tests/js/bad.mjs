// SPDX-License-Identifier: Apache-2.0
// Values that are not what they seem, beside ones that are nearly the same and right: the tool does not run, and the model is told why.
import assert from 'node:assert/strict';
import { createGate } from 'interlock-gate';
import { assertAllows, assertAsks, assertDenies, assertEffects, play } from 'interlock-gate/testing';
import { check, done } from './harness.mjs';

const labels = { clean: { interlock: { effects: [] } }, fetch: { interlock: { effects: ['untrusted'] } }, mails: { interlock: { effects: ['sensitive'] } }, secret: { interlock: { effects: ['secret'] } }, send: { interlock: { effects: ['egress'], sink: 'once', audience: 'addressed', to: { email: 'to' }, reads: ['body'] } } };
const fresh = async (options) => (await createGate(options)).label(labels).session();
const deep = (n) => { let v = 1; for (let i = 0; i < n; i++) v = { v }; return v; };
const cyclic = { a: {} };
cyclic.a.b = cyclic;
class Own { a = 1; }
const later = { get a() { return 1; } };
const thrower = { get a() { throw new Error('no'); } };
const pollute = JSON.parse('{"__proto__":{"admin":true}}');
const sparse = [1, , 2];
const OUTCOME = ['failed', 'done'];

const BAD = {
  'a getter': later, 'a getter that throws': thrower, 'a getter deep inside': { x: [{ y: later }] }, 'a getter in a list': { x: Object.defineProperty([1], 0, { get: () => 1, enumerable: true }) },
  'a proxy': new Proxy({ a: 1 }, {}), 'a proxy inside': { x: new Proxy({ a: 1 }, { get: () => 2 }) }, 'a proxy that throws': new Proxy({}, { ownKeys() { throw new Error('no'); } }), 'a revoked proxy': (() => { const p = Proxy.revocable({}, {}); p.revoke(); return p.proxy; })(),
  'a BigInt': { n: 1n }, 'NaN': { n: NaN }, 'infinity': { n: Infinity }, 'a cycle': cyclic, 'a lone surrogate': { s: 'a\ud800' }, 'a lone surrogate in a key': { 'a\udc00': 1 }, 'a function': { f() {} }, 'a symbol': { s: Symbol('x') },
  'a class': { o: new Own() }, 'a promise': { p: Promise.resolve(1) }, 'a Map': { m: new Map([['a', 1]]) }, 'a Set': { m: new Set([1]) }, '__proto__': pollute, '__proto__ inside': { a: [pollute] }, 'constructor.prototype': { constructor: { prototype: { a: 1 } } },
  'too deep': deep(65), 'a list': [1], 'a text': 'x', 'a number': 1, 'a date that is none': { d: new Date(NaN) }, 'a regular expression': { r: /x/ }, 'an error': { e: new Error('x') },
  'toJSON': { toJSON: () => ({}) }, 'too large': { s: 'x'.repeat(70 << 20) },
};
const GOOD = {
  nothing: undefined, 'null': null, 'an empty object': {}, 'an object without a prototype': Object.assign(Object.create(null), { a: 1 }), 'a date': { d: new Date(0) }, 'a URL': { u: new URL('https://a.example/') }, bytes: { b: new Uint8Array([1, 2]) }, 'a Buffer': { b: Buffer.from('ab') },
  'undefined members': { a: undefined, b: 1 }, 'constructor as a word': { constructor: 'x' }, 'a key of that name deep down': { a: { prototype: 1 } }, 'a pair of surrogates': { s: '😀' }, 'sixty-four levels': deep(64), 'a list with a hole': { a: sparse }, 'minus zero': { n: -0 },
};

for (const [name, args] of Object.entries(BAD)) {
  await check(`arguments: ${name}`, async () => {
    const s = await fresh();
    const d = await s.decide('clean', args);
    assert.deepEqual([d.run, d.action, d.layer, d.reason], [false, 'block', 'fault', 'bad-arguments']);
    assert.match(d.message, /^interlock: `clean` did not run: the arguments cannot be read: /);
    let ran = false;
    await assert.rejects(s.call('clean', args, () => { ran = true; }), { name: 'Denied' });
    assert.equal(ran, false);
    assert.equal({}.admin, undefined);
  });
}
for (const [name, args] of Object.entries(GOOD)) {
  await check(`arguments: ${name}, which are fine`, async () => {
    let got;
    await (await fresh()).call('clean', args, (given) => { got = given; });
    assert.deepEqual(got, { ...JSON.parse(JSON.stringify(args ?? {})), ...(args?.d && { d: args.d }), ...(args?.u && { u: args.u }), ...(args?.b && { b: got.b }) });
    if (ArrayBuffer.isView(args?.b)) assert.ok(got.b !== args.b && got.b.buffer !== args.b.buffer && Buffer.compare(Buffer.from(got.b), Buffer.from(args.b)) === 0);
  });
}

await check('arguments that are changed after the decision: the tool has those that were judged', async () => {
  const s = await fresh();
  const args = { to: 'ana@example.org', body: 'x', more: { a: [1] } };
  const running = s.call('clean', args, async (given) => { await new Promise((r) => setTimeout(r, 5)); return given; });
  args.to = 'eve@evil.example';
  args.more.a.push(2);
  assert.deepEqual(await running, { to: 'ana@example.org', body: 'x', more: { a: [1] } });
});

await check('a property that answers differently each time is read once', async () => {
  let reads = 0;
  const tricky = new Proxy({ to: 'ana@example.org' }, { getOwnPropertyDescriptor: () => ({ value: reads++ === 0 ? 'ana@example.org' : 'eve@evil.example', enumerable: true, configurable: true, writable: true }) });
  const { argumentsOf } = await import(new URL('./node_modules/interlock-gate/lib/plain.js', import.meta.url).href);
  try {
    const { value, text } = argumentsOf(tricky); // where proxies cannot be seen
    assert.deepEqual(JSON.parse(text), value);
  } catch (error) {
    assert.match(error.message, /proxy/);
  }
});

await check('names of tools that are none', async () => {
  const s = await fresh();
  for (const tool of [undefined, null, 1, {}, '', 'x'.repeat(500), '__proto__', 'constructor', 'toString', 'clean\0', 'CLEAN', ' clean', 'a.b.c', '\ud800']) {
    const d = await s.decide(tool, {});
    assert.deepEqual([d.run, d.action], [false, 'block'], String(tool));
  }
  assert.ok((await s.decide('clean', {})).run);
});

await check('names of sessions that are none', async () => {
  const gate = (await createGate()).label(labels);
  for (const id of ['', 'a b', 'x'.repeat(200), 'a/b', 'é', '\0']) assert.equal((await gate.session(id).decide('clean', {})).run, false, id);
  for (const id of [1, null, {}]) assert.throws(() => gate.session(id));
});

await check('results: what cannot be read counts as its worst, what is plain is handed on as it was recorded', async () => {
  const s = await fresh();
  const kinds = { plain: { a: [1, { b: 'x' }] }, date: { d: new Date(0) }, error: new Error('x'), big: { n: 1n }, cyclic, thrower, own: new Own(), map: new Map([['a', 1]]), text: 'x', none: undefined, fn: () => 1, proxy: new Proxy({ a: 1 }, {}), surrogate: '\ud800', stream: new ReadableStream(), deep: deep(80) };
  for (const [name, result] of Object.entries(kinds)) {
    const got = await s.call('clean', { name }, () => result).catch((error) => assert.ok(name === 'stream' && error.name === 'UsageError', `${name}: ${error}`));
    if (name === 'plain') assert.ok(got !== result && JSON.stringify(got) === JSON.stringify(result));
    const settled = (await s.trail()).filter((r) => r.kind === 'settle').at(-1).body;
    const worst = ['cyclic', 'thrower', 'surrogate', 'stream', 'deep'].includes(name);
    assert.equal(settled.outcome ?? settled.how ?? settled.failed ?? JSON.stringify(settled), worst ? OUTCOME[0] : OUTCOME[1], `${name}: ${JSON.stringify(settled)}`);
  }
});

await check('a ticket is settled once; of nobody nothing', async () => {
  const s = await fresh();
  const d = await s.decide('clean', {});
  await s.settle(d, { result: 1 });
  await assert.rejects(s.settle(d, { result: 1 }), { name: 'Withheld' });
  await assert.rejects(s.settle({ ...d, ticket: 99 }, { result: 1 }), { name: 'Withheld' });
  await assert.rejects(s.settle({ ...d, ticket: NaN }, { result: 1 }), { name: 'Withheld' });
});

await check('a tool that never ends does not hold up other sessions', async () => {
  const gate = (await createGate()).label(labels);
  void gate.session('a').call('clean', {}, () => new Promise(() => {}));
  assert.equal(await gate.session('b').call('clean', {}, () => 1), 1);
});

await check('the prototypes of this realm are not asked', async () => {
  const s = await fresh();
  Object.prototype.interlock = { effects: [] };
  Object.prototype.run = true;
  try {
    const gate = await createGate();
    gate.label({ evil: {}, clean: labels.clean });
    assert.equal((await gate.session('x').decide('evil', {})).reason, 'unlabelled-tool');
    assert.equal((await s.decide('nobody', {})).run, false);
  } finally {
    delete Object.prototype.interlock;
    delete Object.prototype.run;
  }
});

await check('assertions', async () => {
  const s = await fresh();
  await play(s, [{ tool: 'fetch', result: 'x' }, { tool: 'mails', result: 'y' }]);
  await assertAllows(s, 'clean', {});
  await assertDenies(s, 'send', { to: 'eve@evil.example', body: '' }, 'lethal-trifecta');
  await assertEffects(s, 'send', { to: 'eve@evil.example', body: '' }, ['egress']);
  await assert.rejects(assertAllows(s, 'send', { to: 'eve@evil.example', body: '' }), { code: 'ERR_ASSERTION', message: /lethal-trifecta \(.*untrusted from fetch/ });
  await assert.rejects(assertDenies(s, 'clean', {}), { code: 'ERR_ASSERTION' });
  await assert.rejects(assertDenies(s, 'send', { to: 'eve@evil.example', body: '' }, 'other'), { code: 'ERR_ASSERTION' });
  await assert.rejects(assertAsks(s, 'clean', {}), { code: 'ERR_ASSERTION' });
  await assertAsks(await (async () => { const t = await fresh({ approvals: { for: ['egress'] } }); await play(t, [{ tool: 'fetch', result: 'x' }, { tool: 'mails', result: 'y' }]); return t; })(), 'send', { to: 'eve@evil.example', body: '' });
});

done();
