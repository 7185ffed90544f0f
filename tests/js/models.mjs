// SPDX-License-Identifier: Apache-2.0
// A model that says what the script says, whatever it is told, in generate and in stream.
import { MockLanguageModelV4 } from 'ai/test';

const usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } };
let ids = 0;

export const call = (toolName, input = {}, more = {}) => ({ type: 'tool-call', toolCallId: `call-${++ids}`, toolName, input: typeof input === 'string' ? input : JSON.stringify(input), ...more });

/** Each step is a list of parts, or a text. */
export function scripted(steps) {
  let at = 0;
  const prompts = [];
  const next = (options) => {
    prompts.push(options.prompt);
    const step = steps[at++] ?? 'done';
    const content = typeof step === 'string' ? [{ type: 'text', text: step }] : step;
    const calls = content.some((part) => part.type === 'tool-call' && !part.providerExecuted);
    return { content, finishReason: { unified: calls ? 'tool-calls' : 'stop', raw: undefined } };
  };
  const model = new MockLanguageModelV4({
    doGenerate: async (options) => ({ ...next(options), usage, warnings: [] }),
    doStream: async (options) => {
      const { content, finishReason } = next(options);
      const parts = [{ type: 'stream-start', warnings: [] }];
      for (const [i, part] of content.entries()) {
        if (part.type === 'text') parts.push({ type: 'text-start', id: `t${i}` }, { type: 'text-delta', id: `t${i}`, delta: part.text }, { type: 'text-end', id: `t${i}` });
        else parts.push(part);
      }
      parts.push({ type: 'finish', finishReason, usage });
      return { stream: new ReadableStream({ start(to) { for (const part of parts) to.enqueue(part); to.close(); } }) };
    },
  });
  /** What the model was told last, as text. */
  const told = () => JSON.stringify(prompts.at(-1) ?? null);
  return { model, told, prompts, get steps() { return at; } };
}
