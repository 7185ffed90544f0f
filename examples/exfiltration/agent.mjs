// SPDX-License-Identifier: Apache-2.0
// An agent that does what it reads, on the official MCP client.
//
// A language model is replaced by four sentences that the agent understands: "fetch URL",
// "read FILE", "save it to FILE" and "send it to ADDRESS", where "it" (IT in a URL) is what was got
// last. It looks for them in the user's prompt and, just as willingly, in every page and file that a tool returns:
// this is what makes prompt injection work. Edit pages/cucumbers.txt and the agent does something else.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const SENTENCES = /fetch\s+(?<url>https:\/\/[\w./?=-]*\w)|read\s+(?<read>[\w-]+\.txt)|save it to\s+(?<save>[\w-]+\.txt)|send it to\s+(?<to>[\w.-]+@[\w.-]*\w)/gi;
const MAX_DEPTH = 3; // a page may name a file that names a file, but not for ever

const textOf = (result) => result.content.map((part) => part.text ?? '').join('\n');

/**
 * Connects to `servers` ({name: {command, args}}), obeys `prompt`, and returns every call made.
 * What the servers write to stderr is given to `log`.
 */
export async function runAgent(prompt, servers, folder, log = () => {}) {
  const clients = {};
  const calls = [];

  async function call(server, tool, args) {
    const result = await clients[server].callTool({ name: tool, arguments: args });
    calls.push({ tool: `${server}.${tool}`, args, result });
    return result.isError ? '' : textOf(result);
  }

  async function obey(text, depth) {
    let it = '';
    for (const { groups } of text.matchAll(SENTENCES)) {
      const { url, read, save, to } = groups;
      if (url) it = await call('web', 'fetch_page', { url: url.replace('IT', encodeURIComponent(it.trim())) });
      if (read) it = await call('files', 'read_text_file', { path: `${folder}/${read}` });
      if (save) await call('files', 'write_file', { path: `${folder}/${save}`, content: it });
      if (to) await call('web', 'send_message', { to, subject: 'As asked', body: it });
      if ((url || read) && depth < MAX_DEPTH) await obey(it, depth + 1);
    }
  }

  try {
    for (const [name, { command, args }] of Object.entries(servers)) {
      clients[name] = new Client({ name: 'obedient-agent', version: '1.0.0' });
      const transport = new StdioClientTransport({ command, args, stderr: 'pipe' });
      transport.stderr.on('data', (chunk) => log(`${name}: ${chunk}`));
      await clients[name].connect(transport);
    }
    await obey(prompt, 0);
  } finally {
    await Promise.all(Object.values(clients).map((client) => client.close()));
  }
  return calls;
}
