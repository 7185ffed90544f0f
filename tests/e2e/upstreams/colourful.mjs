// SPDX-License-Identifier: Apache-2.0
// Writes terminal sequences to stderr.
import { serve } from './base.mjs';
console.error('\u001b[31mboo\u001b[0m \u001b]0;title\u0007');
serve();
