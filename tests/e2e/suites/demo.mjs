// SPDX-License-Identifier: Apache-2.0
// The example of the README, twice, and without the gate's help.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { skip, test } from '../lib/harness.mjs';
import { interlockPath } from '../lib/gateway.mjs';
import { WAIT_MS } from '../lib/peer.mjs';

const example = fileURLToPath(new URL('../../../examples/exfiltration/', import.meta.url));
const run = (interlock) => {
  if (!existsSync(join(example, 'node_modules'))) skip('its packages are not installed');
  return spawnSync(process.execPath, [join(example, 'run.mjs'), '--interlock', interlock], { encoding: 'utf8', timeout: 5 * WAIT_MS });
};

for (const time of ['once', 'a second time']) {
  test(`demo: the example runs ${time}`, () => {
    const { status, stdout, stderr } = run(interlockPath());
    assert.equal(status, 0, `${stdout}\n${stderr}`);
    assert.match(stdout, /outbox: empty/);
  });
}

test('demo: with a gate that lets everything pass it fails', (t) => {
  const open = join(t.dir, 'interlock');
  writeFileSync(open, '#!/bin/sh\nif [ "$1" = gateway ]; then while [ "$1" != -- ]; do shift; done; shift; exec "$@"; fi\necho \'{"calls":[]}\'\n', { mode: 0o755 });
  const { status, stdout } = run(open);
  assert.equal(status, 1, stdout);
  assert.match(stdout, /with the gate a message or a request was sent/);
});
