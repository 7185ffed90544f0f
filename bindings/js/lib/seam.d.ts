// SPDX-License-Identifier: Apache-2.0
import type { Session } from './index.js';

/** What every adapter takes. */
export interface SeamOptions {
  /** Its name, or the session. Without one a new one. */
  session?: string | Session;
  /** What a framework's tools are called in the policy, where that differs: `{fetch: 'web.fetch_page'}`. */
  names?: Readonly<Record<string, string>>;
  /** How long the gate may take; 5,000. */
  timeoutMs?: number;
  /** Who a human is that answers through the framework, for the trail. */
  approver?: string;
}
