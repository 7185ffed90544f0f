// SPDX-License-Identifier: Apache-2.0
// Rows of a suite: each is a name and a function that throws when it is not so.
let passed = 0, failed = 0, skipped = 0;

export async function check(name, body) {
  let timer;
  try {
    const limit = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error('it takes more than 20 s')), 20_000); });
    await Promise.race([body(), limit]);
    passed++;
  } catch (error) {
    failed++;
    console.log(`FAILED: ${name}\n    ${String(error?.stack ?? error).split('\n').slice(0, 12).join('\n    ')}`);
  } finally {
    clearTimeout(timer);
  }
}

export function skip(name, why) {
  skipped++;
  console.log(`skipped: ${name}: ${why}`);
}

export function done() {
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  process.exit(failed > 0 ? 1 : 0);
}
