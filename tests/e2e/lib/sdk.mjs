// SPDX-License-Identifier: Apache-2.0
// The official client, with a tap on the wire: what the client returns is recorded next to the JSON
// text that the server's answer really was, so that the order of members is seen too.
import { StringDecoder } from 'node:string_decoder';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

export class TappedTransport extends StdioClientTransport {
  constructor(parameters, offer) {
    super({ stderr: 'pipe', ...parameters });
    this.offer = offer;
    this.answers = []; // answers and progress, in the order of arrival
    this.errors = '';
    this.stderr.on('data', (chunk) => { this.errors += chunk; });
  }

  async start() {
    await super.start();
    const decoder = new StringDecoder('utf8');
    let rest = '';
    this._process.stdout.prependListener('data', (chunk) => {
      const lines = (rest + decoder.write(chunk)).split('\n');
      rest = lines.pop();
      for (const message of lines.filter(Boolean).map((line) => JSON.parse(line))) {
        // Of the notifications only progress is compared: it comes before the answer it belongs to.
        if (message.method === 'notifications/progress') {
          const { progressToken: _, ...event } = message.params;
          this.answers.push({ result: event });
        } else if ('id' in message && !('method' in message)) {
          this.answers.push(message);
        }
      }
    });
  }

  /** The SDK always offers its newest revision; `offer` makes it offer another. */
  send(message) {
    const initialize = message.method === 'initialize' && this.offer;
    return super.send(initialize ? { ...message, params: { ...message.params, protocolVersion: this.offer } } : message);
  }
}

/**
 * Connects a client that declares no capability, runs `script` ([[label, client => result], …]) and
 * returns one entry a step: {label, client, wire}, with results as JSON text in member order.
 */
export async function transcript({ command, args }, script, offer) {
  const transport = new TappedTransport({ command, args }, offer);
  const client = new Client({ name: 'transparency', version: '1' });
  const entries = [];
  let revision;
  try {
    await client.connect(transport);
    revision = transport.answers[0].result.protocolVersion;
    for (const [label, step] of script) {
      const from = transport.answers.length;
      let outcome;
      try {
        outcome = { result: await step(client) };
      } catch (error) {
        outcome = { error: { code: error.code, message: error.message } };
      }
      const wire = transport.answers.slice(from).map(({ result, error }) => ({ result, error }));
      entries.push({ label, client: JSON.stringify(outcome), wire: JSON.stringify(wire) });
    }
  } catch (error) {
    throw new Error(`${error.message}\n${transport.errors}`);
  } finally {
    await client.close();
  }
  return { revision, entries };
}
