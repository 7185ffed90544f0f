// SPDX-License-Identifier: Apache-2.0
// How the tests start a gateway and what its policies say.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Peer, WAIT_MS } from './peer.mjs';

const here = fileURLToPath(new URL('..', import.meta.url));
const options = { interlock: process.env.INTERLOCK ?? join(here, '../../build/interlock') };

export const useInterlock = (path) => { options.interlock = path; };
export const interlockPath = () => options.interlock;
export const hasInterlock = () => existsSync(options.interlock);

export const upstreamPath = (name) => join(here, 'upstreams', `${name}.mjs`);
export const packagePath = (name) => join(here, 'node_modules/@modelcontextprotocol', name, 'dist/index.js');

const head = (servers) => `interlock: 1
machine: trifecta
mode: enforce
ours: { email: ["@corp.example"] }
servers: ${servers}
tools:
`;

/** Every tool and method of every server is benign. */
export const OPEN = `${head('{ up: { trust: inside } }')}  - { match: "up.*", effects: [] }\n`;

/** One tool for each effect; everything else of the test server is benign. */
export const GATED = `${head('{ up: { trust: inside }, other: { trust: inside } }')}  - { match: "(up|other).fetch", effects: [untrusted] }
  - { match: "(up|other).read", effects: [sensitive] }
  - { match: "(up|other).send", effects: [egress], sink: once, audience: addressed, to: { email: to }, reads: [body], plain: [subject] }
  - { match: "(up|other).post", effects: [egress], sink: standing, audience: public }
  - { match: "(up|other).(echo|raw|slow|progress|ask|die|structured)", effects: [] }
`;

export function writePolicy(dir, text, name = 'policy.yaml') {
  const path = join(dir, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

/** The command line of a gateway in front of `upstream` ([command, ...args]). */
export function gatewayCommand(t, { policy = OPEN, name = 'up', session, ledger = ':memory:', upstream }) {
  const args = ['gateway', '--policy', writePolicy(t.dir, policy, `${name}.yaml`), '--name', name, '--ledger', ledger];
  if (session) args.push('--session', session);
  return { command: options.interlock, args: [...args, '--', ...upstream] };
}

/** A gateway in front of upstreams/NAME.mjs, and what that upstream saw. */
export function startGateway(t, { fake = 'plain', name = 'up', upstream, env, ...rest } = {}) {
  const log = join(t.dir, `${name}.seen`);
  writeFileSync(log, '');
  const { command, args } = gatewayCommand(t, { ...rest, name, upstream: upstream ?? [process.execPath, upstreamPath(fake), log] });
  const peer = new Peer(t, command, args, { env });
  peer.seen = () => readFileSync(log, 'latin1').split('\n').filter(Boolean).map((raw) => ({ raw, message: JSON.parse(Buffer.from(raw, 'latin1').toString('utf8')) }));
  peer.seenCalls = (tool) => peer.seen().filter(({ message }) => message.method === 'tools/call' && (!tool || message.params.name === tool));
  return peer;
}

/** Runs an interlock command to its end. */
export function interlock(...args) {
  return spawnSync(options.interlock, args, { encoding: 'utf8', timeout: WAIT_MS });
}
