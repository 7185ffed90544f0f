// SPDX-License-Identifier: Apache-2.0
// A test runner small enough to read: tests run one after the other, each with a folder of its own
// and a list of things to undo.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const TEST_TIMEOUT_MS = 600_000; // a hang; a busy machine takes its time
const tests = [];

class Skipped extends Error {}

/** Ends the running test as skipped. */
export function skip(reason) {
  throw new Skipped(reason);
}

/** Registers a test; `body` gets {dir, defer, note}. A body that returns has passed. */
export function test(name, body) {
  tests.push({ name, body });
}

async function runOne({ name, body }) {
  const dir = await mkdtemp(join(tmpdir(), 'interlock-e2e-'));
  const undo = [];
  const notes = [];
  const context = { dir, defer: (fn) => undo.push(fn), note: (text) => notes.push(text) };
  let timer;
  const deadline = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end within ${TEST_TIMEOUT_MS / 1000} s`)), TEST_TIMEOUT_MS);
  });
  let outcome = 'passed';
  try {
    await Promise.race([body(context), deadline]);
  } catch (error) {
    outcome = error instanceof Skipped ? 'skipped' : 'failed';
    notes.push(outcome === 'skipped' ? error.message : (error.stack ?? String(error)));
  } finally {
    clearTimeout(timer);
    for (const fn of undo.reverse()) await Promise.resolve(fn()).catch(() => {});
    await rm(dir, { recursive: true, force: true }).catch(() => {});
  }
  const mark = { passed: 'ok     ', failed: 'FAILED ', skipped: 'skipped' }[outcome];
  const text = outcome === 'failed' ? `\n${notes.join('\n').replace(/^/gm, '          ')}` : notes.length ? ` (${notes.join('; ')})` : '';
  console.log(`${mark} ${name}${text}`);
  return outcome;
}

/** Runs the tests whose name contains `filter`; returns the counts. */
export async function runAll(filter = '') {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const each of tests) {
    if (each.name.includes(filter)) counts[await runOne(each)] += 1;
  }
  console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  return counts;
}
