// SPDX-License-Identifier: Apache-2.0
// The policy of bench/judged.yaml in other engines, as near as their languages come to it, asked through what they offer to hosts.
//
//     node peers.mjs CALL MS    CALL: a file of JSON, the call: {server, tool, args, labels, agent, groups}. A round for each line of standard
//                               input: `engine median`, microseconds a decision, of batches of MS milliseconds; `engine failed MESSAGE` when
//                               it cannot be loaded, or does not decide as it should. `.` ends a round.
//
// An engine is measured only when it allows the call and denies each of five others, one for each rule.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--no-turbo-inline-js-wasm-calls'); // with Cedar's calls inlined, V8 11.3 (Node 20) ends with "unreachable code" when it gives up what it compiled

const BATCHES = 21;
const [base, ms] = [JSON.parse(readFileSync(process.argv[2], 'utf8')), Number(process.argv[3])];

// What Interlock keeps for a session, their host has to keep and to hand over.
const call = { ...base, run: { tainted: false, trifecta: ['sensitive'] } };
const untrusted = base.labels.map((label, i) => i === 19 ? { ...label, trust: 'untrusted' } : label);
const denied = {
  tainted: { ...call, labels: untrusted },
  write: { ...call, tool: 'write_file' },
  finance: { ...call, groups: ['finance'], args: { ...base.args, amount: 5001 } },
  private: { ...call, run: { tainted: false, trifecta: ['untrusted', 'egress'] } },
  other: { ...call, server: 'shell' },
};
// Their languages ask no list for an item with a property: the host resolves the labels before it asks.
const tainted = ({ labels, run }) => run.tainted || labels.some((label) => label.trust === 'untrusted');

// Cedar has whole numbers only: a fraction is its extension type `decimal`.
const cedarValue = (v) => Array.isArray(v) ? v.map(cedarValue)
  : typeof v === 'number' && !Number.isInteger(v) ? { __extn: { fn: 'decimal', arg: v.toFixed(4) } }
  : v !== null && typeof v === 'object' ? Object.fromEntries(Object.entries(v).map(([key, item]) => [key, cedarValue(item)]))
  : v;

const CEDAR = `
  permit (principal, action, resource);
  forbid (principal, action, resource) when { context.tainted };
  forbid (principal, action, resource) when { context.tool like "write*" };
  forbid (principal in Group::"finance", action, resource) when { context.args has amount && context.args.amount > 5000 };
  forbid (principal, action, resource) when { context.trifecta.containsAll(["untrusted", "egress"]) };
  forbid (principal, action, resource) when { context.server != "files" };`;

const cedar = async (whole) => {
  const { default: engine } = await import('@cedar-policy/cedar-wasm/nodejs');
  const parsed = engine.preparsePolicySet('bench', { staticPolicies: CEDAR });
  if (parsed.type !== 'success') throw new Error(JSON.stringify(parsed.errors));
  return {
    prepared: (c) => ({ ...c, args: cedarValue(whole ? c.args : c.args.amount ? { amount: c.args.amount } : {}) }),
    decide: (c) => {
      const answer = engine.statefulIsAuthorized({
        principal: { type: 'Agent', id: c.agent },
        action: { type: 'Action', id: 'call' },
        resource: { type: 'Tool', id: c.tool },
        context: { server: c.server, tool: c.tool, args: c.args, tainted: tainted(c), trifecta: c.run.trifecta, ...(whole ? { labels: c.labels } : {}) },
        preparsedPolicySetId: 'bench',
        entities: [{ uid: { type: 'Agent', id: c.agent }, attrs: {}, parents: c.groups.map((id) => ({ type: 'Group', id })) }],
        validateRequest: false,
      });
      if (answer.type !== 'success' || answer.response.diagnostics.errors.length > 0) throw new Error(JSON.stringify(answer));
      return answer.response.decision === 'allow';
    },
  };
};

const SDK = {
  apiVersion: 'governance.toolkit/v1', name: 'bench', scope: 'global', default_action: 'allow',
  rules: [
    { name: 'tainted', condition: 'tainted', ruleAction: 'deny' },
    { name: 'write', condition: "tool in ['write', 'write_file', 'write_row']", ruleAction: 'deny' }, // it has no prefixes
    { name: 'finance', condition: 'finance and args.amount > 5000', ruleAction: 'require_approval', approvers: ['ana'] },
    { name: 'private', condition: 'untrusted and egress', ruleAction: 'deny' },
    { name: 'other', condition: "server != 'files'", ruleAction: 'deny' },
  ],
};

const sdk = async (audited) => {
  const { PolicyEngine, AuditLogger } = await import('@microsoft/agent-governance-sdk');
  const engine = new PolicyEngine();
  engine.loadPolicy(SDK);
  const audit = new AuditLogger();
  return {
    prepared: (c) => c,
    decide: (c) => {
      const { trifecta } = c.run;
      const context = {
        server: c.server, tool: c.tool, args: c.args, labels: c.labels, tainted: tainted(c),
        finance: c.groups.includes('finance'), untrusted: trifecta.includes('untrusted'), egress: trifecta.includes('egress'),
      };
      const { action, allowed } = engine.evaluatePolicy(c.agent, context);
      if (audited) audit.log({ agentId: c.agent, action: c.tool, decision: allowed ? 'allow' : action });
      return allowed;
    },
  };
};

const engines = { cedar: () => cedar(true), 'cedar.bare': () => cedar(false), sdk: () => sdk(false), 'sdk.audited': () => sdk(true) };

// Two equal calls in turn, so that nothing can be taken out of the loop.
const timed = (decide, pair, n) => {
  let allowed = 0;
  const start = process.hrtime.bigint();
  for (let i = 0; i < n; i++) allowed += decide(pair[i & 1]) ? 1 : 0;
  const took = Number(process.hrtime.bigint() - start);
  if (allowed !== n) throw new Error('the answers change');
  return took;
};

const cases = [];
for (const [name, load] of Object.entries(engines)) {
  const one = { name };
  cases.push(one);
  try {
    const { prepared, decide } = await load();
    for (const [rule, c] of Object.entries(denied)) if (decide(prepared(c))) throw new Error(`it allows what the rule \`${rule}\` denies`);
    if (!decide(prepared(call))) throw new Error('it denies the call');
    one.pair = [prepared(call), prepared(structuredClone(call))];
    one.decide = decide;
    one.n = 16; // until a batch takes long enough, and twice more: the compiler in V8 has seen enough of it
    while (timed(decide, one.pair, one.n) < ms * 1e6) one.n *= 2;
    for (let i = 0; i < 10; i++) timed(decide, one.pair, one.n);
  } catch (error) {
    one.failed = error.message.split('\n')[0];
  }
}

for await (const _ of createInterface({ input: process.stdin })) {
  for (const one of cases) {
    if (one.failed) {
      console.log(one.name, 'failed', one.failed);
      continue;
    }
    const took = [];
    for (let i = 0; i < BATCHES; i++) took.push(timed(one.decide, one.pair, one.n) / one.n / 1e3);
    took.sort((a, b) => a - b);
    console.log(one.name, took[BATCHES >> 1].toFixed(3));
  }
  console.log('.');
}
