// SPDX-License-Identifier: Apache-2.0
// Lists tools whose names are not names.
import { serve } from './base.mjs';
const names = ['echo', 'bad name', 'line\nbreak', 'еcho', '', 'x'.repeat(129)]; // the fourth has a Cyrillic letter
serve({ methods: { 'tools/list': () => ({ tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) }) } });
