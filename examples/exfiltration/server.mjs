// SPDX-License-Identifier: Apache-2.0
// The example server: a small web (the files in pages/) and an outbox. It does not touch the real web: a request to
// another host goes into the outbox, where what left can be seen.
//
//   node server.mjs OUTBOX
//
// Every message sent and every such request is one JSON line in OUTBOX. It is an ordinary MCP server on the official SDK
// and knows nothing of Interlock.
import { appendFile, readFile } from 'node:fs/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const outbox = process.argv[2];
if (!outbox) {
  console.error('usage: node server.mjs OUTBOX');
  process.exit(3);
}

const text = (value) => ({ content: [{ type: 'text', text: value }] });
const server = new McpServer({ name: 'example-web', version: '1.0.0' });

server.registerTool(
  'fetch_page',
  { description: 'Fetches a page from the web', inputSchema: { url: z.string().url() } },
  async ({ url }) => {
    const name = /^https:\/\/garden\.example\/([a-z]+)$/.exec(url)?.[1];
    if (!name) {
      await appendFile(outbox, `${JSON.stringify({ url })}\n`);
      return { ...text(`no such page: ${url}`), isError: true };
    }
    return text(await readFile(new URL(`pages/${name}.txt`, import.meta.url), 'utf8'));
  },
);

server.registerTool(
  'send_message',
  {
    description: 'Sends a message to an e-mail address',
    inputSchema: { to: z.string(), subject: z.string(), body: z.string() },
  },
  async (message) => {
    await appendFile(outbox, `${JSON.stringify(message)}\n`);
    return text(`sent to ${message.to}`);
  },
);

await server.connect(new StdioServerTransport());
