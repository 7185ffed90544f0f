// SPDX-License-Identifier: Apache-2.0
export { createGate, createGate as createPolyman, Gate, Session } from './gate.js';
export { ApprovalRequired, Denied, InterlockError, PolicyError, UsageError, Withheld } from './errors.js';
export { labelled } from './labels.js';
export { MemoryStore } from './store.js';
export { wrapVercel } from './vercel.js';
