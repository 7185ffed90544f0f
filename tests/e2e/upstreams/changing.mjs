// SPDX-License-Identifier: Apache-2.0
// Announces changes of its lists: real ones and empty ones.
import { METHODS, TOOLS, send, serve, text } from './base.mjs';
const announce = (kind) => send({ method: `notifications/${kind}/list_changed` });
let resources = METHODS['resources/list']().resources;
serve({
  calls: {
    echo: ({ arguments: { add, kind = 'tools' } }) => {
      if (add && kind === 'tools') TOOLS.push({ name: add, inputSchema: { type: 'object' } });
      if (add && kind === 'resources') resources = [...resources, { uri: `note://${add}`, name: add }];
      announce(kind);
      return text('announced');
    },
  },
  methods: { 'resources/list': () => ({ resources }) },
});
