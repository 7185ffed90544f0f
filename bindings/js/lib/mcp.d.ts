// SPDX-License-Identifier: Apache-2.0
import type { Gate } from './index.js';
import type { SeamOptions } from './seam.js';

export interface GuardOptions extends SeamOptions {
  /** The name of the server in the policy. */
  server: string;
  /** Whether the policy calls it `trust: inside`: then its lists are noted, and not judged. */
  inside?: boolean;
}

/** Puts a gate before all that goes to this server, and answers the same client (or transport). One client of a server is in one session of a gate. */
export function guard<C extends object>(gate: Gate, client: C, options: GuardOptions): C;
