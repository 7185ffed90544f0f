// SPDX-License-Identifier: Apache-2.0
// What every adapter must pass, whatever the framework. A rig plays a script through the real framework:
//   play({ gate, session, tools, turns, form, approve, names, options, seen }) answers {call id: what the model was told}
// `tools`: name to `async (args, signal)`. `approve(question)`: what a human says to each question; only `true` is a yes. `seen()`: called each time that the model is asked.
import assert from 'node:assert/strict';
import { MemoryStore, createGate } from 'interlock-gate';
import { check } from './harness.mjs';
import { EVIL, FETCH, GOOD, PAGE, POLICY, PUBLISH, READ, REMOVE, SECRET, bodies, call, fresh, pause, remembering, toolbox, turns } from './toolbox.mjs';

const quietly = (promise) => promise.catch(() => ({}));

export function rows(rig) {
  const out = [];
  const row = (name, body, needs = true) => { if (needs) out.push([name, body]); };
  const play = (box, script, more) => rig.play({ tools: box.tools, turns: turns(...script), ...more });

  // ---- honest work, and what is stopped ----

  row('an allowed call runs once, and its result is recorded before the model sees it', async (form) => {
    const box = toolbox(), { gate, session } = await fresh();
    const trails = [];
    const told = await play(box, [FETCH], { gate, session, form, seen: async () => trails.push((await bodies(session)).at(-1)?.kind) });
    assert.deepEqual(box.names(), ['fetch']);
    assert.match(told.c1, /welcome!/);
    assert.equal(trails.at(-1), 'settle');
  });

  row('the trifecta is stopped before it runs, the model reads why, and what the human typed goes on', async (form) => {
    const box = toolbox(), { gate, session } = await fresh();
    const told = await play(box, [FETCH, READ, PUBLISH, GOOD], { gate, session, form });
    assert.deepEqual(box.names(), ['fetch', 'read_secret', 'send']);
    assert.match(told.c3, /lethal-trifecta/);
    assert.doesNotMatch(told.c3, /4471/);
    assert.match(told.c4, /sent to ana@example\.org/);
  });

  row('a tool that no entry names does not run', async (form) => {
    const box = toolbox(), { gate, session } = await fresh({ policy: { ...POLICY, tools: POLICY.tools.slice(1) } });
    const told = await play(box, [FETCH], { gate, session, form });
    assert.deepEqual(box.names(), []);
    assert.match(told.c1, /unlabelled-tool/);
  });

  row('a tool has another name in the policy', async (form) => {
    const box = toolbox(), { gate, session } = await fresh();
    await play(box, [FETCH], { gate, session, form, names: { fetch: 'web.fetch' } });
    assert.deepEqual(box.names(), ['fetch']);
    assert.ok((await bodies(session)).some((b) => b.tool === 'web.fetch'));
  });

  row('labels that stand beside the tools', async (form) => {
    const box = toolbox(), gate = await createGate();
    const labels = { fetch: { effects: ['untrusted'] }, read_secret: { effects: ['secret'] }, send: { effects: ['egress'], to: { email: 'to' }, reads: ['body'] } };
    const told = await play(box, [[FETCH, READ], EVIL, call('note', { value: 'x' })], { gate, session: gate.session('s'), form, labels });
    assert.deepEqual(box.names(), ['fetch', 'read_secret']);
    assert.match(told.c3, /secret-egress/);
    assert.match(told.c4, /unlabelled-tool/);
  }, rig.labels !== false);

  // ---- a gate that is of no use ----

  row('a gate that throws, hangs, lies or is gone: not run', async (form) => {
    const allow = { action: 'allow', layer: null, run: true, ticket: 1 };
    const answers = [() => { throw new Error('gone'); }, () => Promise.reject(new Error('gone')), () => undefined, () => null, () => 'allow', () => true, () => ({}), () => ({ action: 'maybe', run: true, ticket: 1 }), () => ({ action: 'allow' }),
      () => ({ ...allow, run: 'true' }), () => ({ ...allow, ticket: 0 }), () => ({ ...allow, action: 'ALLOW' }), () => [allow], () => new Promise(() => {}), () => pause(60).then(() => allow)];
    for (const answer of answers) {
      const box = toolbox(), { gate, session } = await fresh();
      session.decide = answer;
      await quietly(play(box, [call('note', { value: 'x' })], { gate, session, form, options: { timeoutMs: 30 } }));
      assert.deepEqual(box.names(), [], String(answer));
    }
  });

  row('a late allow is given back', async (form) => {
    const box = toolbox(), { gate, session } = await fresh(), decide = session.decide.bind(session);
    session.decide = async (...asked) => { await pause(60); return decide(...asked); };
    const told = await quietly(play(box, [FETCH], { gate, session, form, options: { timeoutMs: 30 } }));
    await pause(80);
    assert.deepEqual(box.names(), []);
    if (told.c1) assert.match(told.c1, /did not answer within/);
    const last = (await bodies(session)).findLast((b) => b.kind === 'settle');
    assert.equal(last?.how, 'failed');
  });

  row('a store that goes away during the run', async (form) => {
    class Fragile extends MemoryStore {
      gone = false;
      commit(...asked) { if (this.gone) throw new Error('the disk is gone'); return super.commit(...asked); }
    }
    const ledger = new Fragile(), box = toolbox(), { gate, session } = await fresh({ ledger });
    const fetch = box.tools.fetch;
    box.tools.fetch = async (...asked) => { const page = await fetch(...asked); ledger.gone = true; return page; };
    const told = await quietly(play(box, [FETCH, READ], { gate, session, form }));
    assert.deepEqual(box.names(), ['fetch']);
    assert.doesNotMatch(JSON.stringify(told), /welcome/, 'what could not be recorded is not seen');
  });

  row('no gate at all', async (form) => {
    for (const wrong of [undefined, null, true, {}]) {
      const box = toolbox(), { session } = await fresh();
      await assert.rejects(async () => play(box, [FETCH], { gate: wrong, session, form }));
      assert.deepEqual(box.names(), []);
    }
  });

  // ---- several calls of one step ----

  row('two calls of one step, of which both must not run', async (form) => {
    for (const order of [[FETCH, PUBLISH], [PUBLISH, FETCH]]) {
      const box = toolbox(), { gate, session } = await fresh();
      await play(box, [READ, order], { gate, session, form });
      assert.equal(box.names().length, 2, box.names().join());
    }
  });

  row('calls of one step are decided, run and recorded one after the other', async (form) => {
    const box = toolbox(), { gate, session } = await fresh();
    await play(box, [[FETCH, READ, call('fetch', { url: 'https://b.example' })]], { gate, session, form });
    assert.equal(box.ran.length, 6);
    for (let i = 0; i < 6; i += 2) assert.deepEqual([box.ran[i][0], box.ran[i][1], box.ran[i + 1][1]], [box.ran[i + 1][0], 'in', 'out']);
    assert.equal((await bodies(session)).filter((b) => b.kind === 'settle').length, 3);
  }, rig.serial !== false);

  row('the same call id twice', async (form) => {
    const box = toolbox(), { gate, session } = await fresh();
    await quietly(play(box, [{ ...FETCH, id: 'same' }, { ...READ, id: 'same' }, { ...PUBLISH, id: 'same' }], { gate, session, form }));
    assert.ok(!box.names().includes('publish'), box.names().join());
  });

  // ---- results ----

  row('a result that cannot be recorded is withheld', async (form) => {
    const box = toolbox(), { gate, session } = await fresh();
    box.tools.fetch = async () => { await session.quarantine('test'); return PAGE; };
    const told = await quietly(play(box, [FETCH], { gate, session, form }));
    assert.doesNotMatch(JSON.stringify(told), /welcome/);
  });

  row('a tool that throws is recorded, and settled as one that failed', async (form) => {
    const box = toolbox(), { gate, session } = await fresh();
    await quietly(play(box, [call('fail')], { gate, session, form }));
    assert.deepEqual(box.names(), ['fail']);
    assert.equal((await bodies(session)).findLast((b) => b.kind === 'settle')?.how, rig.answersErrors ? 'done' : 'failed');
  });

  row('the text of an error is remembered', async (form) => {
    const box = toolbox(), { gate, session } = await fresh({ policy: remembering('fail') });
    const told = await quietly(play(box, [call('fail')], { gate, session, form }));
    const d = await session.decide('recall', { value: told.c1 ?? PAGE });
    assert.equal(d.run, false, told.c1);
  });

  row('a result that is made when it is asked for is refused, and settled', async (form) => {
    const box = toolbox(), { gate, session } = await fresh();
    const told = await quietly(play(box, [call('later')], { gate, session, form }));
    assert.doesNotMatch(JSON.stringify(told), /welcome/);
    assert.ok((await bodies(session)).some((b) => b.kind === 'settle'));
  }, rig.anyResult !== false);

  // ---- arguments ----

  row('arguments that change after the decision: what was decided is what runs', async (form) => {
    const box = toolbox(), { gate, session } = await fresh(), decide = session.decide.bind(session);
    const held = [];
    session.decide = async (tool, args, how) => { const d = await decide(tool, args, how); for (const one of held) if ('to' in one) one.to = 'eve@evil.example'; return d; };
    const told = await play(box, [FETCH, READ, GOOD], { gate, session, form, hold: (args) => held.push(args) });
    assert.ok(held.length > 0 || rig.copies, 'the test holds what the framework has');
    assert.deepEqual(box.given.at(-1), GOOD.args, JSON.stringify(told));
  });

  row('odd arguments', async (form) => {
    let deep = 'x';
    for (let i = 0; i < 100; i++) deep = { a: deep };
    const odd = ['{"value":"\\ud800"}', '{"value":1e400}', `{"value":${JSON.stringify(deep)}}`, '{"value":"x","__proto__":{"polluted":true}}', '{"value":{"constructor":{"prototype":{"polluted":true}}}}'];
    for (const text of [...odd, ...(rig.readsText ? ['{"value":"a","value":"b"}', '{"value":NaN}', '["value"]', '{', '{"value":{"a":1,"a":2}}', '{"value":"a","v\\u0061lue":"b"}'] : [])]) {
      const box = toolbox(), { gate, session } = await fresh();
      let args = text;
      if (!rig.readsText && !rig.takesText) args = JSON.parse(text);
      const told = await quietly(play(box, [call('note', args)], { gate, session, form }));
      const through = box.given.map((given) => JSON.stringify(given)).filter((given) => /ud800|null|polluted|"a":\{"a":\{"a"|"b"|"a":2/.test(given));
      assert.deepEqual(through, [], text.slice(0, 40));
      assert.doesNotMatch(JSON.stringify(told), /"noted"/, text.slice(0, 40));
      assert.equal({}.polluted, undefined);
    }
    const box = toolbox(), { gate, session } = await fresh();
    await play(box, [call('note', { value: '__proto__' })], { gate, session, form });
    assert.deepEqual(box.names(), ['note']);
  });

  // ---- approvals ----

  row('asked, approved, resumed', async (form) => {
    const box = toolbox(), { gate, session } = await fresh(), asked = [];
    const told = await play(box, [FETCH, REMOVE], { gate, session, form, approve: (question) => { asked.push(question); assert.deepEqual(box.names(), ['fetch'], 'it waits'); return true; } });
    assert.equal(asked.length, 1);
    assert.deepEqual(box.names(), ['fetch', 'remove']);
    assert.match(told.c2, /removed a/);
    assert.deepEqual(await session.approvals(), [], 'it is used up');
  }, rig.interrupts);

  row('asked and refused', async (form) => {
    const box = toolbox(), { gate, session } = await fresh();
    await play(box, [FETCH, REMOVE], { gate, session, form, approve: () => false });
    assert.deepEqual(box.names(), ['fetch']);
  }, rig.interrupts);

  row('an approval is for one call', async (form) => {
    const box = toolbox(), { gate, session } = await fresh(), asked = [];
    await play(box, [FETCH, REMOVE, call('remove', { name: 'b' }), REMOVE], { gate, session, form, approve: (question) => asked.push(question) > 0 });
    assert.equal(asked.length, 3);
    assert.deepEqual(box.names(), ['fetch', 'remove', 'remove', 'remove']);
  }, rig.interrupts);

  row('a taint between the question and the answer: the late yes does not count', async (form) => {
    const box = toolbox(), { gate, session } = await fresh(), asked = [];
    await quietly(play(box, [FETCH, REMOVE], { gate, session, form, approve: async (question) => {
      asked.push(question);
      if (asked.length > 1) return false;
      await session.settle(await session.decide('read_secret', {}), { result: SECRET });
      return true;
    } }));
    assert.ok(asked.length > 0);
    assert.deepEqual(box.names(), ['fetch']);
  }, rig.interrupts);

  row('only yes is a yes', async (form) => {
    for (const answer of [1, 'yes', null, [true], { approved: 'true' }]) {
      const box = toolbox(), { gate, session } = await fresh();
      await quietly(play(box, [FETCH, REMOVE], { gate, session, form, approve: () => answer }));
      assert.deepEqual(box.names(), ['fetch']);
    }
  }, rig.interrupts);

  row('a call that a human may release and nobody is asked: the model reads it', async (form) => {
    const box = toolbox(), { gate, session } = await fresh();
    const told = await play(box, [FETCH, REMOVE], { gate, session, form });
    assert.deepEqual(box.names(), ['fetch']);
    assert.match(told.c2, /a human can release it/);
  });

  row('a resolver is asked on the spot', async (form) => {
    const asked = [], box = toolbox();
    const { gate, session } = await fresh({ resolver: async ({ tool, args }) => { asked.push([tool, args]); return asked.length === 1; } });
    await play(box, [FETCH, REMOVE, call('remove', { name: 'b' })], { gate, session, form, approve: () => assert.fail('the framework asks too') });
    assert.deepEqual(asked, [['remove', { name: 'a' }], ['remove', { name: 'b' }]]);
    assert.deepEqual(box.names(), ['fetch', 'remove']);
  });

  // ---- sessions ----

  row('two sessions share no taint', async (form) => {
    const box = toolbox(), { gate, session } = await fresh();
    await play(box, [FETCH, READ], { gate, session, form });
    await play(box, [PUBLISH], { gate, session: gate.session('other'), form });
    await play(box, [PUBLISH], { gate, session, form });
    assert.deepEqual(box.names(), ['fetch', 'read_secret', 'publish']);
  });

  row('a session by its name', async (form) => {
    const box = toolbox(), { gate } = await fresh();
    await play(box, [FETCH, READ], { gate, session: 's', form });
    await play(box, [PUBLISH], { gate, session: 's', form });
    assert.deepEqual(box.names(), ['fetch', 'read_secret']);
  });

  row('an agent within an agent shares the session, and does not wait for itself', async (form) => {
    const box = toolbox(), { gate, session } = await fresh();
    box.tools.helper = box.make('helper', async () => JSON.stringify(await rig.play({ gate, session, form, tools: box.tools, turns: turns([FETCH, READ]) })));
    await play(box, [call('helper', { n: 1 }), PUBLISH], { gate, session, form });
    assert.deepEqual(box.names(), ['helper', 'fetch', 'read_secret']);
  });

  row('who waits for its turn waits, and the turn is free again', async (form) => {
    const box = toolbox(), { gate, session } = await fresh();
    let go;
    box.hold = new Promise((resolve) => { go = resolve; });
    const first = play(box, [call('slow')], { gate, session, form });
    while (!box.names().includes('slow')) await pause(2);
    const second = play(box, [FETCH], { gate, session, form });
    await pause(50);
    assert.deepEqual(box.names(), ['slow']);
    go();
    await Promise.all([first, second]);
    assert.deepEqual(box.names(), ['slow', 'fetch']);
  }, rig.serial !== false);
  return out;
}

export async function conform(rig) {
  for (const form of rig.forms) for (const [name, body] of rows(rig)) await check(`${rig.name}, ${form}: ${name}`, () => body(form));
}

/** The names of the rows that fail. */
export async function failing(rig) {
  const out = new Set();
  for (const [name, body] of rows(rig)) await body(rig.forms[0]).catch(() => out.add(name));
  return out;
}
