// SPDX-License-Identifier: Apache-2.0
// LangChain 1.x agents and what LangGraph runs for them:
//
//   const agent = createAgent({ model, tools, middleware: [..., interlock(gate, { session })], checkpointer: new MemorySaver() });
//
// Last in `middleware`: what comes after it could change the arguments that were judged. `session` may also be a function from a thread's id to its session, for an agent that serves several.
// A tool that a node of a graph calls by itself is not seen, and neither are tools that are bound to the model object.
//
// With `interrupts` a call that a human may release is an interrupt with the value of LangChain's own human in the loop, and goes on by `new Command({ resume: { decisions: [{ type: 'approve' }] } })`; any other
// answer is a no. Tools that the provider runs are refused; what a model brings of them all the same counts.
import { ToolMessage } from '@langchain/core/messages';
import { interrupt } from '@langchain/langgraph';
import { createMiddleware } from 'langchain';
import { ApprovalRequired, Denied, UsageError, Withheld } from './errors.js';
import { Seam, ToolFailure, read } from './seam.js';

/** Middleware that puts a gate in front of each tool call. `names`: what tools are called in the policy, where that differs. `interrupts` wants a checkpointer. */
export function interlock(gate, { interrupts = false, session, ...options } = {}) {
  const one = typeof session === 'function' ? undefined : new Seam(gate, { ...options, session });
  if (one === undefined) new Seam(gate, options); // a UsageError now, and not with the first call
  const seamOf = ({ runtime }) => {
    if (one !== undefined) return one;
    const here = session(runtime?.configurable?.thread_id);
    if (here === undefined || here === null) throw new UsageError('there is no session for this thread');
    return new Seam(gate, { ...options, session: here });
  };
  return createMiddleware({
    name: 'interlock',
    wrapToolCall: (request, handler) => gated(seamOf(request), interrupts === true, request, handler),
    wrapModelCall: async (request, handler) => {
      const seam = seamOf(request), tools = request.tools ?? [];
      for (const tool of tools) if (typeof tool?.invoke !== 'function') throw new UsageError(`the tool \`${tool?.name ?? tool?.function?.name ?? tool?.type ?? 'of no name'}\` runs at the model's provider, where no gate stands: give the agent a tool of its own`);
      seam.label(tools);
      const answer = await handler(request);
      for (const [name, args, result] of broughtBy(answer)) await seam.happened(name, args, result);
      return answer;
    },
  });
}

async function gated(seam, interrupts, request, handler) {
  const { toolCall } = request;
  const refused = (text) => new ToolMessage({ content: text, tool_call_id: toolCall.id, name: toolCall.name, status: 'error' });
  const waiting = interrupts ? await seam.waiting() : new Set();
  const once = () => seam.call(toolCall.name, toolCall.args, (args) => handler({ ...request, toolCall: { ...toolCall, args } }), { seen, signal: request.runtime?.signal });
  try {
    try {
      return await once();
    } catch (error) {
      if (!(error instanceof ApprovalRequired) || !interrupts || !seam.asks) throw error;
      // the first time round it throws; then it returns the answer
      const answer = interrupt({
        actionRequests: [{ name: toolCall.name, args: toolCall.args, description: error.message }],
        reviewConfigs: [{ actionName: toolCall.name, allowedDecisions: ['approve', 'reject'] }],
        approval: error.decision.approval,
      });
      if (!waiting.has(error.decision.approval)) throw error; // it is the answer to another request, which is void since: whoever calls again is asked again
      const yes = isYes(answer);
      await seam.answer(error, yes);
      if (!yes) throw error;
      return await once();
    }
  } catch (error) {
    if (error instanceof Denied || error instanceof Withheld) return refused(error.message);
    throw error;
  }
}

const isYes = (answer) => answer === true || (Array.isArray(answer?.decisions) && answer.decisions.length === 1 && answer.decisions[0]?.type === 'approve');

function seen(result) {
  if (!ToolMessage.isInstance(result)) return { ...result };
  const content = read(result.content);
  if (result.status === 'error') throw new ToolFailure(typeof content === 'string' ? content : JSON.stringify(content));
  return content;
}

// What a provider ran is in what the model says: calls of its tools, and their results.
function* broughtBy(answer) {
  const calls = new Map();
  for (const block of [...(Array.isArray(answer?.content) ? answer.content : []), ...(Array.isArray(answer?.additional_kwargs?.tool_outputs) ? answer.additional_kwargs.tool_outputs : [])]) {
    const type = String(block?.type);
    if (type === 'server_tool_use' || type === 'server_tool_call' || type === 'mcp_tool_use') calls.set(block.id, block);
    else if (type === 'server_tool_call_result' || type.endsWith('_tool_result') || /^(web_search|file_search|code_interpreter|mcp|computer|image_generation)_call$/.test(type)) {
      const call = calls.get(block.tool_use_id ?? block.toolCallId);
      yield [call?.name ?? block.name ?? type, call?.input ?? call?.args ?? {}, block];
    }
  }
}
