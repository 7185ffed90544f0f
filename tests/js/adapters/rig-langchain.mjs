// SPDX-License-Identifier: Apache-2.0
import { Command, MemorySaver } from '@langchain/langgraph';
import { AIMessage, ToolMessage, createAgent, createMiddleware, fakeModel, tool } from 'langchain';
import { interlock } from 'interlock-gate/langchain';

const ANY = { type: 'object', properties: {}, additionalProperties: true };

export const toolOf = (name, run) => tool((args, config) => run(args, config?.signal), { name, description: name, schema: ANY });

export function modelOf(turns, seen = () => {}) {
  let at = 0, model = fakeModel();
  const answer = () => {
    seen();
    const calls = turns[at++] ?? [];
    return new AIMessage({ content: calls.length === 0 ? 'done' : '', tool_calls: calls.map(({ tool: name, args, id }) => ({ name, args, id, type: 'tool_call' })) });
  };
  for (let i = 0; i <= turns.length; i++) model = model.respond(answer);
  return model;
}

/** One round of the agent; its state. */
export async function round(agent, input, form, config) {
  if (form === 'plain') return agent.invoke(input, config);
  let last, asked;
  for await (const [mode, chunk] of await agent.stream(input, { ...config, streamMode: ['values', 'updates'] })) {
    if (mode === 'values') last = chunk;
    else if (chunk.__interrupt__ !== undefined) asked = chunk.__interrupt__;
  }
  return { ...last, __interrupt__: asked ?? last?.__interrupt__ };
}

export const told = (state) => Object.fromEntries(state.messages.filter((m) => ToolMessage.isInstance(m)).map((m) => [m.tool_call_id, typeof m.content === 'string' ? m.content : JSON.stringify(m.content)]));

let threads = 0;
export async function play({ gate, session, tools, turns, form, approve, names, labels = {}, options, seen, hold = () => {} }) {
  const list = Object.entries(tools).map(([name, run]) => Object.assign(toolOf(name, run), labels[name] && { interlock: labels[name] }));
  const holder = createMiddleware({ name: 'holder', wrapToolCall: (request, handler) => { hold(request.toolCall.args); return handler(request); } });
  const agent = createAgent({ model: modelOf(turns, seen), tools: list, middleware: [holder, interlock(gate, { session, names, interrupts: approve !== undefined, ...options })], ...(approve && { checkpointer: new MemorySaver() }) });
  const config = { configurable: { thread_id: `t${++threads}` }, recursionLimit: 60 };
  let state = await round(agent, { messages: [{ role: 'user', content: 'go' }] }, form, config);
  while (state.__interrupt__?.length > 0) {
    const resume = {};
    for (const { id, value } of state.__interrupt__) {
      const answer = await approve(value);
      resume[id] = answer === true ? { decisions: [{ type: 'approve' }] } : answer === false ? { decisions: [{ type: 'reject' }] } : answer;
    }
    state = await round(agent, new Command({ resume }), form, config);
  }
  return told(state);
}

export const rig = { name: 'LangChain', forms: ['plain', 'stream'], interrupts: true, play };
