// SPDX-License-Identifier: Apache-2.0
import type { Gate, Session } from './index.js';
import type { SeamOptions } from './seam.js';

export interface GuardOptions extends Omit<SeamOptions, 'session'> {
  /** Its name, the session, or a function of a run to either. */
  session?: string | Session | ((run: { threadId?: string; resourceId?: string; runId?: string; requestContext?: any }) => string | Session | Promise<string | Session>);
  /** A call that a human may release is a `tool-call-approval`; Mastra needs a storage. Else the model is told. */
  interrupts?: boolean;
}

/** Puts a gate before all tools of the agent and its sub-agents, in place, and answers the agent. */
export function guard<A extends object>(gate: Gate, agent: A, options?: GuardOptions): A;
