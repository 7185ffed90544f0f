// SPDX-License-Identifier: Apache-2.0
// The least that a process in between costs in Node: bytes go through as they are. `node proxy.mjs SERVER ARGS…`
import { spawn } from 'node:child_process';

const server = spawn(process.argv[2], process.argv.slice(3), { stdio: ['pipe', 'pipe', 'inherit'] });
process.stdin.on('data', (bytes) => server.stdin.write(bytes));
process.stdin.on('end', () => server.stdin.end());
server.stdout.on('data', (bytes) => process.stdout.write(bytes));
server.on('exit', (code) => process.exit(code ?? 1));
