// SPDX-License-Identifier: Apache-2.0
// Serves its tools two at a time; the cursor of the second page is the empty string.
import { TOOLS, serve } from './base.mjs';
const cursors = ['', 'b', 'c', 'd', 'e', 'f'];
serve({
  methods: {
    'tools/list': ({ cursor }) => {
      const page = cursor === undefined ? 0 : cursors.indexOf(cursor) + 1;
      const tools = TOOLS.slice(page * 2, page * 2 + 2);
      return (page + 1) * 2 < TOOLS.length ? { tools, nextCursor: cursors[page] } : { tools };
    },
  },
});
