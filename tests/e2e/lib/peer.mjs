// SPDX-License-Identifier: Apache-2.0
// A raw JSON-RPC peer over the stdio of a child: it sends any bytes and keeps every line it gets.
import { spawn } from 'node:child_process';

export const WAIT_MS = Number(process.env.E2E_WAIT_MS ?? 120_000);

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Polls until `probe` gives something true, which is returned. */
export async function until(probe, what, ms = WAIT_MS) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await probe();
    if (value) return value;
    if (Date.now() > end) throw new Error(`waited ${ms} ms in vain for ${what}`);
    await sleep(10);
  }
}

export class Peer {
  /** Starts `command`; `t` is the test, at whose end the child is stopped. */
  constructor(t, command, args, { env = {}, stdout = 'pipe' } = {}) {
    this.received = []; // {raw, message}; message is undefined when raw is not JSON
    this.stderr = '';
    this.nextId = 1;
    this.child = spawn(command, args, { stdio: ['pipe', stdout, 'pipe'], env: { ...process.env, ...env } });
    this.exited = new Promise((resolve) => {
      this.child.on('error', (error) => resolve({ code: null, error }));
      this.child.on('close', (code, signal) => resolve({ code, signal }));
    });
    this.exited.then((how) => { this.ended = how; });
    this.child.stdin.on('error', () => {});
    this.child.stderr.on('data', (chunk) => { this.stderr += chunk; });
    let rest = Buffer.alloc(0);
    this.child.stdout?.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
        this.#take(rest.subarray(0, end));
        rest = rest.subarray(end + 1);
      }
    });
    this.exited.then(() => { if (rest.length > 0) this.#take(rest); });
    t.defer(() => this.stop());
  }

  #take(bytes) {
    const raw = bytes.toString('latin1');
    let message;
    try {
      message = JSON.parse(bytes.toString('utf8'));
    } catch {
      message = undefined;
    }
    this.received.push({ raw, message });
  }

  /** Sends one line: an object as JSON, a string or a Buffer as it is. */
  send(line) {
    const bytes = typeof line === 'string' || Buffer.isBuffer(line) ? line : JSON.stringify(line);
    this.child.stdin.write(Buffer.concat([Buffer.from(bytes), Buffer.from('\n')]));
  }

  notify(method, params) {
    this.send({ jsonrpc: '2.0', method, ...(params && { params }) });
  }

  /** The first message from position `from` on that `matches`; fails early when the child has ended. */
  async find(matches, what, from = 0, ms = WAIT_MS) {
    const look = () => this.received.slice(from).find(({ message }) => message !== undefined && matches(message));
    return until(() => {
      const found = look();
      if (!found && this.ended) throw new Error(`the peer ended (${JSON.stringify(this.ended)}) before ${what}\n${this.stderr}`);
      return found;
    }, `${what}; it got ${JSON.stringify(this.received.slice(-3).map(({ raw }) => raw.slice(0, 300)))}\n${this.stderr}`, ms);
  }

  async answer(id, from = 0, ms = WAIT_MS) {
    const isAnswer = (message) => message.id === id && !('method' in message);
    return (await this.find(isAnswer, `the answer to ${JSON.stringify(id)}`, from, ms)).message;
  }

  request(method, params, id = this.nextId++) {
    const from = this.received.length;
    this.send({ jsonrpc: '2.0', id, method, ...(params && { params }) });
    const answer = this.answer(id, from);
    answer.catch(() => {}); // a test may fail before it comes to await this one
    return answer;
  }

  call(name, args = {}, id) {
    return this.request('tools/call', { name, arguments: args }, id);
  }

  async initialize(protocolVersion = '2025-11-25', capabilities = {}) {
    const answer = await this.request('initialize', { protocolVersion, capabilities, clientInfo: { name: 'raw', version: '1' } });
    this.notify('notifications/initialized');
    return answer;
  }

  /** Closes stdin, waits for the end, and gives {code, signal}. */
  async stop(ms = WAIT_MS) {
    this.child.stdin.end();
    const kill = setTimeout(() => this.child.kill('SIGKILL'), ms);
    const how = await this.exited;
    clearTimeout(kill);
    return how;
  }
}

export const textOf = (answer) => answer.result?.content?.map((part) => part.text ?? '').join('\n');
