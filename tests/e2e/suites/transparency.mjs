// SPDX-License-Identifier: Apache-2.0
// The official client sees through the gateway what it sees without it. The comparison itself is
// tried first on a proxy that alters something.
import assert from 'node:assert/strict';
import { test } from '../lib/harness.mjs';
import { sleep } from '../lib/peer.mjs';
import { compare } from '../lib/compare.mjs';
import { transcript } from '../lib/sdk.mjs';
import { LEFT_OUT, everythingScript, filesystemScript, layFiles } from '../lib/scripts.mjs';
import { gatewayCommand, packagePath, upstreamPath } from '../lib/gateway.mjs';

const NEWEST = '2025-11-25';
const REVISIONS = [NEWEST, '2025-06-18', '2024-11-05'];

const subjects = {
  'server-filesystem': (t) => {
    const folder = `${t.dir}/files`;
    return { args: [packagePath('server-filesystem'), folder], script: filesystemScript(folder), reset: () => layFiles(folder) };
  },
  'server-everything': () => ({ args: [packagePath('server-everything')], script: everythingScript, reset: () => {} }),
};

const run = ({ script, reset }, command, offer) => {
  reset();
  return transcript(command, script, offer);
};

/** Two direct runs, so far apart that every clock shows another second. */
async function direct(subject, offer) {
  const command = { command: process.execPath, args: subject.args };
  const first = await run(subject, command, offer);
  await sleep(1100);
  const second = await run(subject, command, offer);
  await sleep(1100);
  return [first, second];
}

const altered = (subject, how) => ({ command: process.execPath, args: [upstreamPath('alter'), how, process.execPath, ...subject.args] });

for (const [name, make] of Object.entries(subjects)) {
  test(`comparison: ${name} through a proxy that alters nothing is the same`, async (t) => {
    const subject = make(t);
    const runs = await direct(subject, NEWEST);
    const { differences, masked } = compare(...runs, await run(subject, altered(subject, 'nothing'), NEWEST));
    assert.deepEqual(differences, []);
    const wire = masked.filter((path) => path.includes('(wire)'));
    t.note(`${runs[0].entries.length} steps, ${wire.length} values masked`);
    assert.ok(wire.length <= 12, `too much differs between two direct runs: ${wire.join(', ')}`);
  });

  for (const [how, exempt] of [
    // A step is exempt when its result has nothing to alter, or only what is masked.
    ['byte', /^(ping|instructions|resources\/(un)?subscribe|logging\/setLevel|prompts\/get without|resources\/read of nothing|completion of a template)/],
    ['order', /^(ping|instructions|resources\/(un)?subscribe|logging\/setLevel|prompts\/get without|resources\/read of nothing)/],
  ]) {
    test(`comparison: ${name} through a proxy that alters ${how === 'byte' ? 'one byte' : 'the order of members'} is noticed at every step`, async (t) => {
      const subject = make(t);
      const runs = await direct(subject, NEWEST);
      const { differences } = compare(...runs, await run(subject, altered(subject, how), NEWEST));
      const missed = runs[0].entries.map(({ label }) => label).filter((label) => !exempt.test(label) && !differences.some((path) => path.startsWith(`${label} (`)));
      assert.deepEqual(missed, [], 'steps whose change went unnoticed');
    });
  }

  test(`every tool of ${name} that can be called is in the script`, async (t) => {
    const subject = make(t);
    subject.reset();
    const { entries } = await transcript({ command: process.execPath, args: subject.args }, subject.script.slice(0, 1));
    const names = JSON.parse(entries[0].client).result.tools.map((tool) => tool.name);
    const called = new Set(subject.script.map(([label]) => label.split(' ')[1]));
    assert.deepEqual(names.filter((tool) => !called.has(tool) && !(tool in LEFT_OUT)), []);
    assert.ok(names.length > 10);
  });

  for (const revision of REVISIONS) {
    test(`transparency: ${name}, revision ${revision}`, async (t) => {
      const subject = make(t);
      const runs = await direct(subject, revision);
      assert.equal(runs[0].revision, revision);
      const command = gatewayCommand(t, { upstream: [process.execPath, ...subject.args] });
      const { differences, masked } = compare(...runs, await run(subject, command, revision));
      assert.deepEqual(differences, []);
      t.note(`${runs[0].entries.length} steps, ${masked.filter((path) => path.includes('(wire)')).length} values masked`);
    });
  }
}
