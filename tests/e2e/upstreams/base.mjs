// SPDX-License-Identifier: Apache-2.0
// A raw MCP server for tests: no SDK, so that it can break every rule. It writes each line that it
// receives to the file named by its first argument.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

export const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
export const text = (value) => ({ content: [{ type: 'text', text: value }] });

const tool = (name, extra = {}) => ({ name, description: `the tool ${name}`, inputSchema: { type: 'object' }, ...extra });
export const TOOLS = [
  tool('echo'), tool('fetch'), tool('read'), tool('send'), tool('post'), tool('raw'), tool('slow'), tool('progress'), tool('ask'), tool('die'),
  tool('unlisted-in-policy'),
  tool('structured', { outputSchema: { type: 'object', properties: { z: { type: 'number' }, a: { type: 'number' } }, required: ['z', 'a'] } }),
];

const pending = new Map(); // our requests to the client: id -> what to do with the response
const cancelled = new Set(); // JSON text of the ids
let nextId = 1000;

export const CALLS = {
  echo: ({ arguments: args }) => text(JSON.stringify(args)),
  fetch: () => text('a page that anybody may have written'),
  read: () => text('a private note'),
  send: ({ arguments: args }) => text(`sent to ${args.to}`),
  post: () => text('posted'),
  structured: () => ({ ...text('{"z":1,"a":2}'), structuredContent: { z: 1, a: 2 } }),
  /** Writes `text` (or the bytes of `base64`) with $ID for the id of this call, and nothing else. */
  raw: ({ arguments: { text: line, base64 } }, id) => {
    if (base64) process.stdout.write(Buffer.from(base64, 'base64'));
    if (line) process.stdout.write(line.replaceAll('$ID', JSON.stringify(id)));
    return undefined;
  },
  /** Answers after `ms`, unless it is cancelled. */
  slow: ({ arguments: { ms } }, id) => {
    setTimeout(() => { if (!cancelled.has(JSON.stringify(id))) send({ id, result: text('slow answer') }); }, ms);
    return undefined;
  },
  progress: (params, id) => {
    const progressToken = params._meta?.progressToken;
    for (let progress = 1; progress <= 3; progress += 1) {
      if (progressToken !== undefined) send({ method: 'notifications/progress', params: { progressToken, progress, total: 3 } });
    }
    send({ method: 'notifications/progress', params: { progressToken: 'nobody-has-this-token', progress: 1, total: 3 } });
    send({ id, result: text(JSON.stringify({ token: progressToken !== undefined })) });
    return undefined;
  },
  /** Sends a request to the client and answers with what came back. */
  ask: ({ arguments: { method, params } }, id) => {
    const own = nextId++;
    pending.set(own, (response) => send({ id, result: text(JSON.stringify(response)) }));
    send({ id: own, method, ...(params && { params }) });
    return undefined;
  },
  die: ({ arguments: { half } }) => {
    if (half) process.stdout.write('{"jsonrpc":"2.0","id":');
    process.exit(half ? 0 : 1);
  },
};

export const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true }, resources: { listChanged: true, subscribe: true }, prompts: { listChanged: true }, logging: {}, completions: {} },
    serverInfo: { name: 'test-upstream', version: '1' },
  }),
  ping: () => ({}),
  'logging/setLevel': () => ({}),
  'tools/list': () => ({ tools: TOOLS }),
  'tools/call': (params, id) => CALLS[params.name](params, id),
  'resources/list': () => ({ resources: [{ uri: 'note://one', name: 'one' }] }),
  'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'note://{name}', name: 'note' }] }),
  'resources/read': ({ uri }) => ({ contents: [{ uri, mimeType: 'text/plain', text: 'the text of a note' }] }),
  'resources/subscribe': () => ({}),
  'resources/unsubscribe': () => ({}),
  'prompts/list': () => ({ prompts: [{ name: 'greet' }] }),
  'prompts/get': ({ name }) => ({ messages: [{ role: 'user', content: { type: 'text', text: name } }] }),
  'completion/complete': () => ({ completion: { values: ['one', 'two'] } }),
};

export function serve({ calls = {}, methods = {} } = {}) {
  Object.assign(CALLS, calls);
  Object.assign(METHODS, methods);
  createInterface({ input: process.stdin }).on('line', (line) => {
    if (process.argv[2]) appendFileSync(process.argv[2], `${line}\n`);
    const message = JSON.parse(line);
    if (message.method === 'notifications/cancelled') cancelled.add(JSON.stringify(message.params.requestId));
    if (message.method === undefined) {
      pending.get(message.id)?.(message);
      return;
    }
    if (message.id === undefined) return;
    const method = METHODS[message.method];
    if (!method) {
      send({ id: message.id, error: { code: -32601, message: 'no such method' } });
      return;
    }
    if (message.method === 'tools/call' && !Object.hasOwn(CALLS, message.params.name)) {
      send({ id: message.id, error: { code: -32602, message: 'Unknown tool' } });
      return;
    }
    const result = method(message.params ?? {}, message.id);
    if (result !== undefined) send({ id: message.id, result });
  }).on('close', () => process.exit(0));
}
