// SPDX-License-Identifier: Apache-2.0
// Tells its process id.
import { TOOLS, serve, text } from './base.mjs';
TOOLS.push({ name: 'pid', inputSchema: { type: 'object' } });
serve({ calls: { pid: () => text(String(process.pid)) } });
