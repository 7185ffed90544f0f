// SPDX-License-Identifier: Apache-2.0
// What the JavaScript package costs: `name value` a line, microseconds.
//
//     node js.mjs PACKAGE CALLS
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, calls] = [process.argv[2], Number(process.argv[3])];
const { createGate } = await import(pathToFileURL(join(folder, 'lib/index.js')).href);
const median = (list) => list.sort((a, b) => a - b)[list.length >> 1] * 1000;

// A machine that is shipped, with the policy that labels make; the code is there, as in a program that has run before.
const label = { read: { interlock: { effects: ['sensitive'] } } };
(await createGate()).label(label).policy;
const made = [];
for (let i = 0; i < Math.min(21, calls); i++) {
  const from = performance.now();
  (await createGate()).label(label).policy;
  made.push(performance.now() - from);
}

// Five rules, none of which matches, and 1 KB of arguments.
const policy = {
  interlock: 1, machine: 'trifecta', tools: [{ match: 'read', effects: ['sensitive'] }],
  rules: [
    { name: 'tainted', tools: '*', when: 'run.tainted', then: 'block' },
    { name: 'write', tools: '*', when: 'tool.startsWith("write")', then: 'block' },
    { name: 'amount', tools: '*', when: 'has(args.amount) && args.amount > 5000', then: 'require_approval' },
    { name: 'private', tools: '*', when: '"untrusted" in run.trifecta && "egress" in run.trifecta', then: 'block' },
    { name: 'other', tools: '*', when: 'args.to.endsWith("@evil.example")', then: 'block' },
  ],
};
const session = (await createGate({ policy })).session('a');
const decided = [], settled = [];
for (let i = 0; i < calls; i++) {
  const args = { to: 'ana@example.org', amount: i % 5000, body: 'x'.repeat(950) };
  const from = performance.now();
  const d = await session.decide('read', args);
  const then = performance.now();
  if (!d.run) throw new Error(`it was not allowed: ${d.reason}`);
  await session.settle(d, { result: 'fine' });
  decided.push(then - from);
  settled.push(performance.now() - then);
}
console.log(`create ${median(made)}\ndecide ${median(decided)}\nsettle ${median(settled)}`);
