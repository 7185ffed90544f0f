// SPDX-License-Identifier: Apache-2.0
// What the official client does with the two official servers: every tool with valid arguments, and
// everything else that they offer.
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';

const call = (name, args) => [`tools/call ${name}`, (client) => client.callTool({ name, arguments: args })];

/** Makes the folder that server-filesystem serves, always the same. */
export function layFiles(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'sub'), { recursive: true });
  const long = Array.from({ length: 40 }, (_, i) => `line ${i + 1}`).join('\n');
  const files = {
    'a.txt': 'alpha\nbeta\ngamma\n',
    'long.txt': long,
    'unicode.txt': 'Grüße — \u2028 \u{1F345} "quoted" \\ \u007f tab\tend\n',
    'empty.txt': '',
    'pixel.png': Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64'),
    'sub/b.txt': 'in a folder\n',
  };
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), content);
    utimesSync(join(folder, name), 1_700_000_000, 1_700_000_000);
  }
}

/** Calls of server-filesystem, whose only folder is `folder`. */
export function filesystemScript(folder) {
  const at = (name) => join(folder, name);
  return [
    ['tools/list', (client) => client.listTools()],
    call('read_file', { path: at('a.txt') }),
    call('read_text_file', { path: at('unicode.txt') }),
    call('read_text_file', { path: at('long.txt'), head: 3 }),
    call('read_text_file', { path: at('empty.txt') }),
    call('read_text_file', { path: at('absent.txt') }), // an error of the tool
    call('read_media_file', { path: at('pixel.png') }),
    call('read_multiple_files', { paths: [at('a.txt'), at('sub/b.txt'), at('absent.txt')] }),
    call('write_file', { path: at('new.txt'), content: 'written\u0000\u2029 by \u{1F916}\n' }),
    call('read_text_file', { path: at('new.txt') }),
    call('edit_file', { path: at('a.txt'), edits: [{ oldText: 'beta', newText: 'BETA' }], dryRun: true }),
    call('edit_file', { path: at('a.txt'), edits: [{ oldText: 'beta', newText: 'BETA' }] }),
    call('create_directory', { path: at('made/deep') }),
    call('list_directory', { path: folder }),
    call('list_directory_with_sizes', { path: folder, sortBy: 'size' }),
    call('directory_tree', { path: folder }),
    call('move_file', { source: at('new.txt'), destination: at('sub/moved.txt') }),
    call('search_files', { path: folder, pattern: '**/*.txt' }),
    call('get_file_info', { path: at('long.txt') }),
    call('list_allowed_directories', {}),
  ];
}

/** A call that asks for progress; the events are compared on the wire. */
const callWithProgress = (name, args) => [
  `tools/call ${name}`,
  (client) => client.callTool({ name, arguments: args }, CallToolResultSchema, { onprogress: () => {} }),
];

export const everythingScript = [
  ['tools/list', (client) => client.listTools()],
  ['instructions', (client) => client.getInstructions() ?? null],
  call('echo', { message: 'hello \u{1F44B} \u2028 "there"' }),
  call('get-sum', { a: 1.5, b: -3e-7 }),
  call('get-env', {}),
  call('get-tiny-image', {}),
  call('get-annotated-message', { messageType: 'error', includeImage: true }),
  call('get-resource-links', { count: 3 }),
  call('get-resource-reference', { resourceType: 'Text', resourceId: 1 }),
  call('get-resource-reference', { resourceType: 'Blob', resourceId: 2 }),
  call('get-structured-content', { location: 'Chicago' }),
  call('gzip-file-as-resource', { name: 'a.gz', data: 'data:text/plain,some%20text', outputType: 'resource' }),
  call('gzip-file-as-resource', { name: 'b.gz', data: 'data:text/plain,some%20text', outputType: 'resourceLink' }),
  callWithProgress('trigger-long-running-operation', { duration: 0.3, steps: 3 }),
  call('toggle-simulated-logging', {}),
  call('toggle-simulated-logging', {}),
  call('toggle-subscriber-updates', {}),
  call('toggle-subscriber-updates', {}),
  ['prompts/list', (client) => client.listPrompts()],
  ['prompts/get simple-prompt', (client) => client.getPrompt({ name: 'simple-prompt' })],
  ['prompts/get args-prompt', (client) => client.getPrompt({ name: 'args-prompt', arguments: { city: 'Łódź', state: 'x' } })],
  ['prompts/get completable-prompt', (client) => client.getPrompt({ name: 'completable-prompt', arguments: { department: 'Engineering', name: 'Alice' } })],
  ['prompts/get resource-prompt', (client) => client.getPrompt({ name: 'resource-prompt', arguments: { resourceType: 'Text', resourceId: '1' } })],
  ['prompts/get without its argument', (client) => client.getPrompt({ name: 'args-prompt', arguments: {} })],
  ['resources/list', (client) => client.listResources()],
  ['resources/templates/list', (client) => client.listResourceTemplates()],
  ['resources/read text', (client) => client.readResource({ uri: 'demo://resource/dynamic/text/3' })],
  ['resources/read blob', (client) => client.readResource({ uri: 'demo://resource/dynamic/blob/4' })],
  ['resources/read every listed one', async (client) => {
    const { resources } = await client.listResources();
    const contents = [];
    for (const { uri } of resources) contents.push(await client.readResource({ uri }));
    return contents;
  }],
  ['resources/read of nothing', (client) => client.readResource({ uri: 'demo://resource/none' })],
  ['resources/subscribe', (client) => client.subscribeResource({ uri: 'demo://resource/dynamic/text/3' })],
  ['resources/unsubscribe', (client) => client.unsubscribeResource({ uri: 'demo://resource/dynamic/text/3' })],
  ['completion of a prompt', (client) => client.complete({ ref: { type: 'ref/prompt', name: 'completable-prompt' }, argument: { name: 'department', value: 'E' } })],
  ['completion with context', (client) => client.complete({
    ref: { type: 'ref/prompt', name: 'completable-prompt' },
    argument: { name: 'name', value: '' },
    context: { arguments: { department: 'Engineering' } },
  })],
  ['completion of a template', (client) => client.complete({ ref: { type: 'ref/resource', uri: 'demo://resource/dynamic/text/{resourceId}' }, argument: { name: 'resourceId', value: '7' } })],
  ['logging/setLevel', (client) => client.setLoggingLevel('error')],
  ['ping', (client) => client.ping()],
];

// Tools that a client without capabilities is shown but that are left out here, with the reason.
export const LEFT_OUT = { 'simulate-research-query': 'needs tasks' };
