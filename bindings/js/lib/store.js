// SPDX-License-Identifier: Apache-2.0
// Where sessions and the audit trail live. A store answers at once or with promises:
//
//   load(space, key)          {version, state: Uint8Array}, or undefined when there is no such object
//   commit(changes, nowMs)    true: all of it is stored, durably; false: an object was not at the version that was expected, and nothing was stored
//   rows(session)             the rows of its audit trail, oldest first: {seq, time, session, kind, ticket, body}; optional
//
// A change is {space, key, expect, state, rows}: `expect` 0 says that the object must not exist; without `state` the object stays as it is and only rows are added. What throws, or answers
// anything but true, is taken for a failure: the call is blocked.

/** The store that dies with the process. `keepRows`: rows of the trail that are kept in all, the latest; 0: all. */
export class MemoryStore {
  #objects = new Map();
  #rows = [];
  #seq = 0;
  #keep;

  constructor({ keepRows = 100_000 } = {}) {
    this.#keep = keepRows;
  }

  load(space, key) {
    return this.#objects.get(`${space}\0${key}`);
  }

  commit(changes, nowMs) {
    for (const { space, key, expect } of changes) if ((this.load(space, key)?.version ?? 0) !== expect) return false;
    for (const { space, key, expect, state, rows } of changes) {
      if (state !== undefined) this.#objects.set(`${space}\0${key}`, { version: expect + 1, state });
      for (const row of rows) this.#rows.push({ seq: ++this.#seq, time: nowMs, session: key, ...row });
    }
    if (this.#keep > 0 && this.#rows.length > 2 * this.#keep) this.#rows = this.#rows.slice(-this.#keep);
    return true;
  }

  rows(session) {
    return this.#rows.filter((row) => session === undefined || row.session === session);
  }
}
