// SPDX-License-Identifier: Apache-2.0
// What goes wrong, by type. A denial is no error of the gate: `decide` answers a decision, and `Denied` is what a guarded tool throws.

export class InterlockError extends Error {
  name = 'InterlockError';
  /** The constant of the C library (`IL_E_BUSY`); empty where none is behind it. */
  status = '';
}

/** A policy that does not load. `line` and `column` count from 1; 0 when there is no place. */
export class PolicyError extends InterlockError {
  name = 'PolicyError';
  line = 0;
  column = 0;

  constructor(message, line = 0, column = 0, where = '') {
    super(`${where ? `${where}: ` : ''}${line ? `line ${line}, column ${column}: ` : ''}${message}`);
    this.line = line;
    this.column = column;
  }
}

/** A call of this package that cannot be right. */
export class UsageError extends InterlockError {
  name = 'UsageError';
}

/** The tool did not run. `decision` says why; the message is for the model. */
export class Denied extends InterlockError {
  name = 'Denied';

  constructor(decision) {
    super(decision.message);
    this.decision = decision;
  }
}

/** The tool did not run, and a human may let exactly this call through: `decision.approval` is the request's id. */
export class ApprovalRequired extends Denied {
  name = 'ApprovalRequired';
}

/** The tool ran, and its result must not be seen. */
export class Withheld extends InterlockError {
  name = 'Withheld';
}

const NAMES = ['IL_OK', 'IL_E_ARGUMENT', 'IL_E_MEMORY', 'IL_E_LIMIT', 'IL_E_SYNTAX', 'IL_E_INVALID', 'IL_E_NOT_FOUND', 'IL_E_EXISTS', 'IL_E_CONFLICT', 'IL_E_SEAL', 'IL_E_MISMATCH', 'IL_E_STATE', 'IL_E_BUSY',
  'IL_E_IO', 'IL_E_DAMAGED', 'IL_E_PERMISSION', 'IL_E_VERSION', 'IL_E_INTERNAL'];
const OF_POLICY = new Set(['IL_E_SYNTAX', 'IL_E_INVALID', 'IL_E_VERSION', 'IL_E_SEAL', 'IL_E_PERMISSION', 'IL_E_NOT_FOUND']);
const OF_USAGE = new Set(['IL_E_ARGUMENT', 'IL_E_STATE', 'IL_E_EXISTS', 'IL_E_MISMATCH']);

/** The error for a failure of the core: `{status, line, column, message}`. */
export function failure({ status, line, column, message }) {
  const name = NAMES[status] ?? 'IL_E_INTERNAL';
  const error = OF_POLICY.has(name) ? new PolicyError(message, line, column) : OF_USAGE.has(name) ? new UsageError(message) : new InterlockError(message);
  error.status = name;
  return error;
}

/** The text of an error of somebody else's, who may not even be able to say it. */
export function said(error) {
  try {
    const text = error instanceof Error ? error.message : String(error);
    return typeof text === 'string' ? text.toWellFormed() : 'an error without a text';
  } catch {
    return 'an error that cannot be read';
  }
}
