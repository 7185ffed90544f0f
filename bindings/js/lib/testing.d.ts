// SPDX-License-Identifier: Apache-2.0
import type { CallOptions, Decision, Effect, Session } from './index.js';

/** A call, and what came of it where it ran: `{result}` or `{error}`. */
export interface Step {
  tool: string;
  args?: unknown;
  result?: unknown;
  error?: unknown;
}
/** Plays calls in a session, as an agent would make them: what is not allowed does not run. The decision of each. */
export function play(session: Session, steps: readonly Step[]): Promise<Decision[]>;
/** Decides the call and throws an AssertionError unless it would run. Nothing runs; the call is settled as one that failed. */
export function assertAllows(session: Session, tool: string, args?: unknown, options?: CallOptions): Promise<Decision>;
/** Decides the call and throws an AssertionError unless it is stopped, and with this reason where one is given. */
export function assertDenies(session: Session, tool: string, args?: unknown, reason?: string, options?: CallOptions): Promise<Decision>;
/** Throws an AssertionError unless a human is asked. */
export function assertAsks(session: Session, tool: string, args?: unknown, options?: CallOptions): Promise<Decision>;
/** Throws an AssertionError unless the call has exactly these effects, after vouching. */
export function assertEffects(session: Session, tool: string, args: unknown, effects: readonly Effect[]): Promise<Decision>;
