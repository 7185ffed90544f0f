// SPDX-License-Identifier: Apache-2.0
// One at a time, in the order in which they came. What is started from inside (an agent that is a tool of another one in the same session) does not wait for who started it, and is in turn one at a
// time. Where there is no AsyncLocalStorage nobody can tell inside from outside, and such an agent is given a session of its own.

const hooks = globalThis.process?.getBuiltinModule?.('node:async_hooks');
const inside = hooks === undefined ? undefined : new hooks.AsyncLocalStorage();

export class Lock {
  #tail = Promise.resolve();
  #waiting = 0;
  #idle;

  constructor(idle) {
    this.#idle = idle;
  }

  async run(work) {
    const held = inside?.getStore();
    const outer = held?.get(this);
    if (outer !== undefined && outer.open) return outer.lock.run(work);
    const before = this.#tail;
    let leave;
    this.#tail = new Promise((resolve) => { leave = resolve; });
    this.#waiting++;
    await before;
    const here = { open: true, lock: new Lock(() => {}) };
    try {
      return await (inside === undefined ? work() : inside.run(new Map([...(held ?? []), [this, here]]), work));
    } finally {
      here.open = false;
      leave();
      if (--this.#waiting === 0) this.#idle();
    }
  }
}
