// SPDX-License-Identifier: Apache-2.0
// Tells its process id, and does not end when its input does.
import { TOOLS, serve, text } from './base.mjs';
TOOLS.push({ name: 'pid', inputSchema: { type: 'object' } });
serve({ calls: { pid: () => text(String(process.pid)) } });
process.stdin.removeAllListeners('end');
process.exit = () => {};
setInterval(() => {}, 1000);
