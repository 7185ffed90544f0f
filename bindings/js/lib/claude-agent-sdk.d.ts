// SPDX-License-Identifier: Apache-2.0
import type { Gate } from './index.js';
import type { SeamOptions } from './seam.js';

export interface GuardOptions extends SeamOptions {
  /** `canUseTool` is also asked about a call that a human may release (`approval` is the request's id). Else the model is told. */
  interrupts?: boolean;
  /** How long such a human may take; 10 minutes. */
  humanTimeoutMs?: number;
  /** What is given as a prompt was typed by a human, who is not the agent. */
  trustPrompt?: boolean;
}

/** The options of `query` with every tool behind the gate. */
export function guard<O extends object>(gate: Gate, options?: O, how?: GuardOptions): O;
