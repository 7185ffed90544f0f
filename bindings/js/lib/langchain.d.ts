// SPDX-License-Identifier: Apache-2.0
import type { AgentMiddleware } from 'langchain';
import type { Gate, Session } from './index.js';
import type { SeamOptions } from './seam.js';

export interface InterlockOptions extends Omit<SeamOptions, 'session'> {
  /** Its name, the session, or a function from a thread's id to either. */
  session?: string | Session | ((thread: string | undefined) => string | Session);
  /** A call that a human may release is an interrupt; the agent needs a checkpointer. Else the model is told. */
  interrupts?: boolean;
}

/** Middleware that puts a gate in front of each tool call. Last in `middleware`. */
export function interlock(gate: Gate, options?: InterlockOptions): AgentMiddleware;
