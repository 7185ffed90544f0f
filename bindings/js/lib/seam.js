// SPDX-License-Identifier: Apache-2.0
// The last metre of one session, for a framework that runs tools by itself: decide, run, record, one call after the other, and nothing runs but what was decided.
import { ApprovalRequired, Denied, UsageError, said } from './errors.js';
import { Gate, Session, fault } from './gate.js';
import { argumentsOf } from './plain.js';

/** Whether a decision lets the call run: only one of the right form, with a ticket. */
export const runs = (d) => d !== null && typeof d === 'object' && !Array.isArray(d) && d.run === true && d.ticket > 0 && (d.action === 'allow' || (d.unenforced === true && (d.action === 'block' || d.action === 'require_approval')));

/** What a `seen` throws for a result that says that the tool failed: the text is recorded as that of an error, and the framework gets its result all the same. */
export class ToolFailure extends Error {}

const stopped = (tool, why, reason = 'internal') => new Denied(fault(reason, `interlock: \`${tool}\` did not run: ${why}`));

export class Seam {
  #names;
  #ms;
  #approver;

  /** `names`: what a framework's tool is called in the policy, where that differs. `timeoutMs`: how long the gate may take. */
  constructor(gate, { session, names = {}, timeoutMs = 5000, approver = 'framework' } = {}) {
    if (!(gate instanceof Gate)) throw new UsageError('the gate is what `await createGate()` answers');
    if (session !== undefined && typeof session !== 'string' && !(session instanceof Session)) throw new UsageError('a session is a name, or what `gate.session(name)` answers');
    this.gate = gate;
    this.session = session instanceof Session ? session : gate.session(session);
    if (this.session.gate !== gate) throw new UsageError('this session is another gate\'s');
    [this.#names, this.#ms, this.#approver] = [new Map(Object.entries(names)), timeoutMs, approver];
  }

  /** Whether a human may be asked through the framework; else the gate's own resolver is asked, on the spot. */
  get asks() { return this.gate._options.resolver === undefined; }

  /** The tool's name in the policy. */
  name(tool) { return this.#names.get(tool) ?? tool; }

  /** Takes the labels that stand beside tools, where the gate has no policy of its own. */
  label(tools) {
    if (this.gate.policed) return;
    for (const tool of tools) if (tool !== null && typeof tool === 'object' && Object.hasOwn(tool, 'interlock')) this.gate.label({ [this.name(tool.name ?? tool.id)]: tool });
  }

  /** The arguments that a model wrote as JSON. Denied where they are no object, or say a name twice. */
  arguments(tool, text) {
    try {
      const value = typeof text !== 'string' ? text : text.trim() === '' ? {} : strict(text);
      if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new UsageError('they are no object');
      return value;
    } catch (error) {
      throw stopped(tool, `the arguments cannot be read: ${said(error)}`, 'bad-arguments');
    }
  }

  #read(tool, args) {
    try {
      return argumentsOf(args);
    } catch (error) {
      throw stopped(tool, `the arguments cannot be read: ${said(error)}`, 'bad-arguments');
    }
  }

  /** A decision in time, whatever the gate does; what it allows too late is given back. */
  async decide(tool, args) {
    const asked = (async () => this.session.decide(this.name(tool), args))();
    let timer, late = false;
    const limit = new Promise((resolve) => {
      timer = setTimeout(() => {
        late = true;
        resolve(stopped(tool, `the gate did not answer within ${this.#ms} ms`, 'late').decision);
      }, this.#ms);
    });
    asked.then((d) => late && runs(d) && this.session.settle(d, { error: 'it was too late to run' }).catch(() => {}), () => {});
    try {
      const d = await Promise.race([asked, limit]);
      return d !== null && typeof d === 'object' && typeof d.action === 'string' ? d : stopped(tool, 'the gate gave no decision').decision;
    } catch (error) {
      return stopped(tool, said(error)).decision;
    } finally {
      clearTimeout(timer);
    }
  }

  // The decision of a call that may run; else thrown. A resolver is asked here.
  async #admitted(tool, read) {
    let d = await this.decide(tool, read.value);
    const { resolver, approver = 'resolver' } = this.gate._options;
    if (!runs(d) && d.action === 'require_approval' && d.approval && resolver !== undefined) {
      const yes = (await resolver({ tool: this.name(tool), args: argumentsOf(read.value).value, decision: d })) === true;
      await (yes ? this.session.approve(d.approval, approver) : this.session.refuse(d.approval, approver));
      if (yes) d = await this.decide(tool, read.value);
    }
    if (runs(d)) return d;
    if (d.action === 'require_approval' && d.approval) throw new ApprovalRequired(d);
    throw d.run === true || !d.message ? stopped(tool, 'the gate gave no decision that lets it') : new Denied(d);
  }

  /**
   * Decides, runs `run(args)` on a copy of the arguments, records what `seen` makes of its result, returns the result. Throws `Denied`, `ApprovalRequired`, `Withheld`, or what `run` throws.
   * With a `plan` of exactly these arguments the decision is that one. `signal`: who waits and is called off does not run.
   */
  async call(tool, args, run, { seen = (result) => result, plan, signal } = {}) {
    let read; // now: whoever holds them may change them while this call waits
    try {
      read = this.#read(tool, args);
    } catch (error) {
      await this.drop(plan);
      throw error;
    }
    if (plan !== undefined && (plan.tool !== tool || plan.text !== read.text)) {
      await this.drop(plan);
      plan = undefined;
    }
    return this.session.locked(async () => {
      if (signal?.aborted) {
        await this.drop(plan);
        throw signal.reason ?? new Error('aborted');
      }
      const decision = plan?.decision ?? await this.#admitted(tool, read);
      let raw, shown;
      try {
        const recorded = await this.session.run(decision, read.value, async (judged) => {
          if (signal?.aborted) throw signal.reason ?? new Error('aborted');
          raw = await run(judged);
          return shown = await seen(raw);
        });
        return shown === raw ? recorded : raw;
      } catch (error) {
        if (error instanceof ToolFailure) return raw;
        throw error;
      }
    });
  }

  // ---- where a framework must know before it runs anything ----------------------------------------------

  /** Decides now what `call` will run, or `drop` will not: it counts as running from here on. Throws as `call` does before it runs anything. */
  async plan(tool, args) {
    const read = this.#read(tool, args);
    return this.session.locked(async () => ({ tool, text: read.text, decision: await this.#admitted(tool, read) }));
  }

  /** A planned call that will not run. Nobody can prove that, so it counts as one that failed. */
  async drop(plan) {
    if (plan !== undefined) await this.session.settle(plan.decision, { error: 'it did not run' }).catch(() => {}); // its deadline does the same
  }

  // ---- what is there already ------------------------------------------------------------------------------

  /** What somebody else ran (a provider's search): it counts as a call that brought what the policy says. One that the policy does not allow has been seen all the same, and ends the session's calls. */
  async happened(tool, args, result) {
    let d;
    try {
      d = await this.decide(tool, this.#read(tool, args).value);
    } catch (error) {
      d = error.decision;
    }
    if (runs(d)) await this.session.settle(d, { result }).catch(() => this.session.quarantine('withheld-result').catch(() => {}));
    else await this.session.quarantine('unjudged-result').catch(() => {});
  }

  // ---- a human's answer that comes back through the framework ---------------------------------------------

  /** The requests for approval that are open. Ask before a call is tried again: an answer that comes now can only be to one of these. */
  async waiting() {
    try {
      return new Set((await this.session.approvals()).map((a) => a.id));
    } catch {
      return new Set(); // the decision will say it
    }
  }

  /** Notes a human's answer to a request. */
  async answer(asked, yes) {
    await (yes === true ? this.session.approve(asked.decision.approval, this.#approver) : this.session.refuse(asked.decision.approval, this.#approver));
  }
}

/** A result as policies speak of it: a text that is itself JSON is read as JSON. */
export function read(result) {
  if (typeof result !== 'string') return result;
  try {
    return strict(result);
  } catch {
    return result;
  }
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/gs;

// JSON in which no object says a name twice: readers differ in which one they take.
function strict(text) {
  const value = JSON.parse(text);
  const open = [];
  let last = '';
  for (const [token] of text.matchAll(TOKEN)) {
    const top = open.at(-1);
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(undefined);
    else if (token === '}' || token === ']') open.pop();
    else if (token[0] === '"' && top !== undefined && (last === '{' || last === ',')) {
      const name = JSON.parse(token);
      if (top.has(name)) throw new UsageError(`\`${name.slice(0, 60)}\` stands twice`);
      top.add(name);
    }
    last = token;
  }
  return value;
}
