// SPDX-License-Identifier: Apache-2.0
// The conditions of a file (bench/cel.json) in other engines, and written by hand in JavaScript: parsed once, evaluated often.
//
//     node cel.mjs FILE MS    a round for each line of standard input: `condition engine least median`, nanoseconds an evaluation in batches of MS
//                             milliseconds; `condition engine failed MESSAGE` when there is no answer, or a wrong one, or
//                         when the condition's `proof` does not hold. `.` ends a round.
//
// Each engine gets its values as its documents want them: ints as bigint, maps as Map (@bufbuild/cel) or plain objects.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import * as bufbuild from '@bufbuild/cel';
import * as marcbachmann from '@marcbachmann/cel-js';
import * as celjs from 'cel-js';

const BATCHES = 15;
const [file, ms] = [JSON.parse(readFileSync(process.argv[2], 'utf8')), Number(process.argv[3])];

const shaped = (value, number, map) => {
  const of = (v) => Array.isArray(v) ? v.map(of)
    : typeof v === 'number' ? number(v)
    : v !== null && typeof v === 'object' ? map(Object.entries(v).map(([key, item]) => [key, of(item)]))
    : v;
  return of(value);
};

const byHand = {
  taint: (v) => v.taint.some((t) => t.trust === 'untrusted') && !v.args.to.endsWith('@example.com'),
  tainted: (v) => v.run.tainted,
  legs: (v) => v.run.trifecta.length >= 3,
  size_1k: (v) => v.args.body.length > 1000, // UTF-16 units: another question, and what one writes
  size_25k: (v) => v.args.body.length > 1000,
  size_25k_wide: (v) => v.args.body.length > 1000,
  size_counted: (v) => v.args.body.length > 22000,
  matches: (() => { const re = /^https:\/\/([a-z0-9-]+[.])*example[.]com(\/|$)/; return (v) => re.test(v.args.url); })(),
  in_list: (() => { const ids = new Set(['research', 'billing', 'support', 'deploy', 'mailer']); return (v) => ids.has(v.agent.id); })(),
  endorsed: (v) => v.taint.some((t) => t.trust === 'untrusted' && !t.endorsements.some((k) => k === 'legal')),
  nested: (v) => v.args.items.filter((i) => i.qty > 1 && i.tags.some((t) => t === 'pii')).map((i) => i.name).includes('payroll'),
  six_terms: (v) => v.tool === 'send_email' && v.run.tainted && (v.max_trust === 'trusted' || v.agent.id === 'mailer') && !v.agent.groups.includes('admin')
    && v.sources.length > 1,
};

// compiled: a function of the values; wanted: the shape of those
const engines = {
  '@bufbuild/cel': {
    compiled: ({ expr }) => bufbuild.plan(bufbuild.celEnv(), bufbuild.parse(expr)),
    wanted: (v) => Object.fromEntries(Object.entries(v).map(([name, value]) => [name, shaped(value, BigInt, (entries) => new Map(entries))])),
  },
  '@marcbachmann/cel-js': {
    compiled: ({ expr }) => marcbachmann.parse(expr),
    wanted: (v) => shaped(v, BigInt, Object.fromEntries),
  },
  'cel-js': {
    compiled: ({ expr }) => {
      const parsed = celjs.parse(expr);
      if (!parsed.isSuccess) throw new Error(parsed.errors.join('; '));
      return (v) => celjs.evaluate(parsed.cst, v);
    },
    wanted: (v) => shaped(v, Number, Object.fromEntries),
  },
  'JavaScript': { compiled: ({ name }) => byHand[name], wanted: (v) => shaped(v, Number, Object.fromEntries) },
};

// Two equal sets of values in turn, so that nothing can be taken out of the loop.
const evaluate = (run, pair, answer, n) => {
  let right = 0;
  for (let i = 0; i < n; i++) right += run(pair[i & 1]) === answer ? 1 : 0;
  if (right !== n) throw new Error(`the answer is ${String(run(pair[0]))}`);
};
const timed = (run, pair, answer, n) => {
  const start = process.hrtime.bigint();
  evaluate(run, pair, answer, n);
  return Number(process.hrtime.bigint() - start);
};

const cases = [];
for (const condition of file.conditions) {
  for (const [engine, { compiled, wanted }] of Object.entries(engines)) {
    const one = { name: condition.name, engine, answer: condition.answer };
    cases.push(one);
    try {
      one.pair = [0, 1].map(() => {
        const vars = structuredClone(file.vars);
        vars.taint.length = condition.labels ?? 3;
        if (condition.body) vars.args.body = Buffer.from(condition.body[0].repeat(condition.body[1])).toString(); // one flat string
        return wanted(vars);
      });
      one.run = compiled(condition);
      if (condition.proof && engine !== 'JavaScript' && compiled({ expr: condition.proof })(one.pair[0]) !== true) throw new Error(`${condition.proof} is not true`);
      let n = 16; // until a batch takes long enough, and twice more: the compiler in V8 has seen enough of it
      while (timed(one.run, one.pair, one.answer, n) < ms * 1e6) n *= 2;
      one.n = n;
      for (let i = 0; i < 10; i++) evaluate(one.run, one.pair, one.answer, n);
    } catch (error) {
      one.failed = error.message.split('\n')[0];
    }
  }
}

for await (const _ of createInterface({ input: process.stdin })) {
  for (const one of cases) {
    if (one.failed) {
      console.log(one.name, one.engine, 'failed', one.failed);
      continue;
    }
    const took = [];
    for (let i = 0; i < BATCHES; i++) took.push(timed(one.run, one.pair, one.answer, one.n) / one.n);
    took.sort((a, b) => a - b);
    console.log(one.name, one.engine, took[0].toFixed(3), took[BATCHES >> 1].toFixed(3));
  }
  console.log('.');
}
