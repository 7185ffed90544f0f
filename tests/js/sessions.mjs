// SPDX-License-Identifier: Apache-2.0
// The session files of tests/scenarios, decided through the package: what `interlock check --json` says of them.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

// As the session format says: a text that is itself JSON is read as JSON.
function bare(result) {
  if (typeof result !== 'string') return result;
  try {
    return JSON.parse(result);
  } catch {
    return result;
  }
}

async function step(session, number, { tool, args, result, error, approved }) {
  let d = await session.decide(tool, args ?? {}, { unjoined: true });
  if (d.action === 'require_approval' && d.approval && approved) {
    await session.approve(d.approval, 'session file');
    d = await session.decide(tool, args ?? {}, { unjoined: true });
  }
  if (d.run) {
    const outcome = error !== undefined && error !== null ? { error: typeof error === 'string' ? error : JSON.stringify(error) } : { result: bare(result ?? undefined) };
    await session.settle(d, outcome).catch(() => {});
  }
  if (d.action === 'require_approval' && d.approval && !d.run) await session.refuse(d.approval, 'session file');
  return { step: number, tool, effects: [...d.effects], action: d.action, layer: d.layer, reason: d.reason || null };
}

export async function play(gate, recordings) {
  const byId = new Map();
  const out = [];
  for (const [i, recording] of recordings.entries()) {
    const id = recording.id ?? i + 1;
    const parent = recording.parent === undefined ? undefined : byId.get(String(recording.parent));
    const principal = recording.agent ?? '';
    let session;
    if (parent !== undefined) {
      session = await parent.child(`line-${i + 1}`, { principal });
      if (recording.prompt) await session.notice(recording.prompt, { source: 'parent', kind: 'task', untrusted: false });
    } else {
      session = gate.session(`line-${i + 1}`, { principal });
      if (recording.prompt) await session.userPrompt(recording.prompt);
    }
    byId.set(String(id), session);
    const decisions = [];
    for (const [at, s] of recording.steps.entries()) decisions.push(await step(session, at + 1, s));
    out.push({ id, decisions });
  }
  return out;
}

export const lines = (file) => readFileSync(file, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));

export const scenarios = (root) => readdirSync(join(root, 'tests/scenarios')).filter((name) => existsSync(join(root, 'tests/scenarios', name, 'expect.ndjson'))).map((name) => ({ name, folder: join(root, 'tests/scenarios', name) }));
