// SPDX-License-Identifier: Apache-2.0
// The rows of conformance.mjs can fail: adapters that are wrong do not pass those that say so.
import assert from 'node:assert/strict';
import { failing } from './conformance.mjs';
import { check, done } from './harness.mjs';
import { rig as mcp } from './rig-mcp.mjs';
import { rig as agents } from './rig-openai-agents.mjs';
import { Seam } from './node_modules/interlock-gate/lib/seam.js';

const real = Seam.prototype.call;

// Over MCP what was sent is a copy already: here the seam is called as an adapter does that hands on what the framework has.
async function playing({ gate, session, tools, turns, hold = () => {} }) {
  const seam = new Seam(gate, { session }), told = {};
  for (const { tool, args, id } of turns.flat()) {
    const given = structuredClone(args);
    hold(given);
    told[id] = await seam.call(tool, given, (judged) => tools[tool](judged)).catch((error) => error.message);
  }
  return told;
}

async function with_(call, expected, rig = agents) {
  Seam.prototype.call = call;
  const wrong = await failing(rig).finally(() => { Seam.prototype.call = real; });
  for (const part of expected) assert.ok([...wrong].some((name) => name.includes(part)), `passes all the same: ${part}\n    fails: ${[...wrong].join('\n    ')}`);
  return wrong;
}

await check('controls: an adapter that asks nobody', async () => {
  const wrong = await with_(async (tool, args, run) => run(args), ['the trifecta', 'no entry names', 'another name', 'throws, hangs, lies', 'a late allow', 'a store that goes away', 'both must not run', 'one after the other', 'cannot be recorded', 'a tool that throws', 'text of an error', 'made when it is asked for',
    'odd arguments', 'nobody is asked', 'a resolver', 'within an agent', 'who waits', 'by its name']);
  assert.ok(![...wrong].some((name) => name.includes('no gate at all')));
});

await check('controls: an adapter that decides and does not record', async () => {
  await with_(async function decides(tool, args, run) {
    const d = await this.decide(tool, args);
    if (d.run !== true) return d.message;
    return run(structuredClone(args));
  }, ['its result is recorded before', 'cannot be recorded', 'a tool that throws', 'text of an error', 'one after the other']);
});

await check('controls: an adapter that is content with any word of the gate', async () => {
  await with_(async function believes(tool, args, run) {
    const d = await this.session.decide(this.name(tool), args);
    if (d?.action === 'block') return d.message;
    return run(structuredClone(args));
  }, ['throws, hangs, lies', 'a late allow']);
});

await check('controls: an adapter that judges what it does not run', async () => {
  await with_(function later(tool, args, run, more) { return real.call(this, tool, args, () => run(args), more); }, ['change after the decision'], { ...mcp, play: playing });
});

done();
