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

  // The state is copied, into the place of the one before where there is room: nobody keeps what `load` answered.
  commit(changes, nowMs) {
    for (const { space, key, expect } of changes) if ((this.load(space, key)?.version ?? 0) !== expect) return false;
    for (const { space, key, expect, state, rows } of changes) {
      if (state !== undefined) this.#put(`${space}\0${key}`, expect + 1, state);
      for (const { kind, ticket, body } of rows) this.#rows.push({ seq: ++this.#seq, time: nowMs, session: key, kind, ticket, body });
    }
    if (this.#keep > 0 && this.#rows.length > 2 * this.#keep) this.#rows = this.#rows.slice(-this.#keep);
    return true;
  }

  #put(id, version, state) {
    const old = this.#objects.get(id);
    if (old === undefined || old.room.length < state.length) {
      const room = new Uint8Array(Math.ceil(state.length * 1.25));
      room.set(state);
      this.#objects.set(id, { version, state: room.subarray(0, state.length), room });
    } else {
      old.room.set(state);
      old.version = version;
      if (old.state.length !== state.length) old.state = old.room.subarray(0, state.length);
    }
  }

  rows(session) {
    return this.#rows.filter((row) => session === undefined || row.session === session);
  }
}
