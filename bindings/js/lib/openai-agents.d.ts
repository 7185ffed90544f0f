// SPDX-License-Identifier: Apache-2.0
import type { Gate } from './index.js';
import type { SeamOptions } from './seam.js';

export interface GuardOptions extends SeamOptions {
  /** A call that a human may release ends the run with `result.interruptions`, and goes on by `state.approve(item)`. Else the model is told. */
  interrupts?: boolean;
}

/** A twin of the agent, each of whose tool calls is decided right before it runs. An agent that is used as a tool is guarded before `asTool`. */
export function guard<A extends object>(gate: Gate, agent: A, options?: GuardOptions): A;
