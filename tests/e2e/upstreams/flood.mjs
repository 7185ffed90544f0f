// SPDX-License-Identifier: Apache-2.0
// Answers a call with a line of 64 MiB.
import { serve, text } from './base.mjs';
serve({ calls: { echo: () => text('x'.repeat(64 * 1024 * 1024)) } });
