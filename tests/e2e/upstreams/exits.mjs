// SPDX-License-Identifier: Apache-2.0
// Ends at once.
console.error('cannot read my configuration');
process.exit(7);
