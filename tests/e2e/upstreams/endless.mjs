// SPDX-License-Identifier: Apache-2.0
// Every page of its list names the same next page.
import { TOOLS, serve } from './base.mjs';
serve({ methods: { 'tools/list': () => ({ tools: TOOLS.slice(0, 1), nextCursor: 'again' }) } });
