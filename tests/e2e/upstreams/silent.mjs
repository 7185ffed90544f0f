// SPDX-License-Identifier: Apache-2.0
// Reads and never answers.
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
