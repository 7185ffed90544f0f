// SPDX-License-Identifier: Apache-2.0
// Assertions for tests of a policy or of labels: what would happen to this call, in this session, now.

class AssertionError extends Error {
  name = 'AssertionError';
  code = 'ERR_ASSERTION';
  constructor(message, actual, expected) {
    super(message);
    Object.assign(this, { actual, expected, generatedMessage: false });
  }
}

const said = (d) => d.run ? 'it would run' : `${d.action} by ${d.layer}: ${d.reason}${d.witnesses.length > 0 ? ` (${d.witnesses.map((w) => `${w.effect} from ${w.tool}`).join(', ')})` : ''}`;

async function asked(session, tool, args, options) {
  const d = await session.decide(tool, args, options);
  if (d.run) await session.settle(d, { error: 'a test asked' });
  return d;
}

export async function play(session, steps) {
  const out = [];
  for (const { tool, args, ...outcome } of steps) {
    const d = await session.decide(tool, args);
    if (d.run) await session.settle(d, outcome);
    out.push(d);
  }
  return out;
}

export async function assertAllows(session, tool, args, options) {
  const d = await asked(session, tool, args, options);
  if (!d.run) throw new AssertionError(`\`${tool}\` should be allowed: ${said(d)}`, d.action, 'allow');
  return d;
}

export async function assertDenies(session, tool, args, reason, options) {
  const d = await asked(session, tool, args, options);
  if (d.run || (reason !== undefined && d.reason !== reason)) throw new AssertionError(`\`${tool}\` should be stopped${reason === undefined ? '' : ` (${reason})`}: ${said(d)}`, d.reason, reason);
  return d;
}

export async function assertAsks(session, tool, args, options) {
  const d = await asked(session, tool, args, options);
  if (d.action !== 'require_approval') throw new AssertionError(`\`${tool}\` should ask a human: ${said(d)}`, d.action, 'require_approval');
  return d;
}

export async function assertEffects(session, tool, args, effects) {
  const d = await asked(session, tool, args);
  const [got, want] = [d.effects, effects].map((list) => [...list].sort().join(', ') || 'none');
  if (got !== want) throw new AssertionError(`\`${tool}\` has ${got}, and should have ${want}`, d.effects, effects);
  return d;
}
