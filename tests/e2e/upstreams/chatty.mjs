// SPDX-License-Identifier: Apache-2.0
// Prints a banner on stdout before it speaks the protocol.
import { serve } from './base.mjs';
console.log('Server listening, version 1.2');
serve();
