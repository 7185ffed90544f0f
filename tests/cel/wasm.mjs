// SPDX-License-Identifier: Apache-2.0
// The tests of stdin, one a line, through the core as WebAssembly.   node tests/cel/wasm.mjs cel-vectors.wasm
import { readFileSync } from 'node:fs';
import { argv, stdin, stdout } from 'node:process';
import { createInterface } from 'node:readline';

const module = new WebAssembly.Module(readFileSync(argv[2]));
if (WebAssembly.Module.imports(module).length !== 0) throw new Error('the core imports something');
const { memory, vector_take: take, vector_answer: answer } = new WebAssembly.Instance(module, {}).exports;
const decoder = new TextDecoder();
for await (const line of createInterface({ input: stdin, crlfDelay: Infinity })) {
  if (line === '') continue;
  const text = new TextEncoder().encode(line);
  const at = take(text.length);
  if (at === 0) throw new Error('no room for a test');
  new Uint8Array(memory.buffer).set(text, at);
  const from = answer(at, text.length);
  const bytes = new Uint8Array(memory.buffer);
  stdout.write(`${decoder.decode(bytes.subarray(from, bytes.indexOf(0, from)))}\n`);
}
