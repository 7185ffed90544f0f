// SPDX-License-Identifier: Apache-2.0
import { Agent, Runner, tool } from '@openai/agents';
import { ScriptedModel, assistantMessage, functionCall, modelResponder } from '@openai/agents/testing';
import { guard } from 'interlock-gate/openai-agents';

export const runner = new Runner({ tracingDisabled: true });
export const ANY = { type: 'object', properties: {}, required: [], additionalProperties: true };

/** A tool of the SDK, which takes whatever it is given. */
export const toolOf = (name, run, more = {}) => tool({ name, description: name, parameters: ANY, strict: false, execute: (args, context, details) => run(args, details?.signal), ...more });

export function modelOf(turns, seen = () => {}) {
  const steps = [...turns, []].map((calls) => modelResponder(async () => {
    await seen();
    return calls.length === 0 ? [assistantMessage('done')] : calls.map((one) => functionCall(one.tool, typeof one.args === 'string' ? one.args : JSON.stringify(one.args), { callId: one.id }));
  }));
  return new ScriptedModel(steps);
}

export async function runs(agent, input, form, more = {}) {
  if (form === 'plain') return runner.run(agent, input, { maxTurns: 20, ...more });
  const result = await runner.run(agent, input, { maxTurns: 20, stream: true, ...more });
  for await (const event of result) void event;
  await result.completed;
  return result;
}

export const told = (result) => Object.fromEntries(result.history.filter((item) => item.type === 'function_call_result').map((item) => [item.callId, typeof item.output === 'string' ? item.output : item.output.text ?? JSON.stringify(item.output)]));

export async function play({ gate, session, tools, turns, form, approve, names, labels = {}, options, seen }) {
  const list = Object.entries(tools).map(([name, run]) => ({ ...toolOf(name, run), ...(labels[name] && { interlock: labels[name] }) }));
  const agent = guard(gate, new Agent({ name: 'a', instructions: 'x', model: modelOf(turns, seen), tools: list }), { session, names, interrupts: approve !== undefined, ...options });
  let result = await runs(agent, 'go', form);
  while (result.interruptions.length > 0) {
    for (const item of result.interruptions) {
      if ((await approve(item)) === true) result.state.approve(item);
      else result.state.reject(item);
    }
    result = await runs(agent, result.state, form);
  }
  return told(result);
}

export const rig = { name: 'OpenAI Agents', forms: ['plain', 'stream'], interrupts: true, readsText: true, answersErrors: true, copies: true, play };
