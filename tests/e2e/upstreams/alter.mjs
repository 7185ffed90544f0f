// SPDX-License-Identifier: Apache-2.0
// A proxy that is *not* transparent, to prove that the transparency tests notice.
//
//   node alter.mjs nothing|byte|order COMMAND ARGS…
//
// `byte` changes one byte of the first string in each answer, `order` reverses the members of each result.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const [how, command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
process.stdin.pipe(child.stdin);
child.on('exit', (code) => process.exit(code ?? 1));

function alterOneByte(value) {
  for (const key of Object.keys(value)) {
    const old = value[key];
    if (typeof old === 'string' && /[a-z]/.test(old) && !['type', 'mimeType'].includes(key)) {
      value[key] = old.replace(/[a-z]/, (letter) => (letter === 'q' ? 'r' : 'q'));
      return true;
    }
    if (typeof old === 'object' && old !== null && alterOneByte(old)) return true;
  }
  return false;
}

const reversed = (value) =>
  Object.fromEntries(Object.entries(value).map(([key, each]) => [key, isObject(each) ? reversed(each) : Array.isArray(each) ? each.map((one) => (isObject(one) ? reversed(one) : one)) : each]).reverse());
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

let handshake = true;
createInterface({ input: child.stdout, crlfDelay: Infinity }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.result && !handshake) {
    if (how === 'byte') alterOneByte(message.result);
    if (how === 'order') message.result = reversed(message.result);
  }
  if (message.result) handshake = false;
  process.stdout.write(`${JSON.stringify(message)}\n`);
});
