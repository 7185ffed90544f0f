// SPDX-License-Identifier: Apache-2.0

/** What a tool call does. `secret` implies `sensitive`. */
export type Effect = 'untrusted' | 'sensitive' | 'secret' | 'egress' | 'commit';

/** An entry of a policy's `tools`, beside the tool: `tool({…, interlock: {effects: ['egress'], to: {email: 'to'}}})`. The other keys are those of docs/policy.md. */
export interface Label {
  effects?: Effect | readonly Effect[];
  to?: unknown;
  object?: unknown;
  reads?: readonly string[];
  sink?: 'once' | 'standing';
  audience?: 'addressed' | 'public';
  [key: string]: unknown;
}

/** A tool with its label, where the tool's own type has no room for one: `labelled(tool({…}), {effects: ['untrusted']})`. A copy; an object of a class is labelled itself. */
export function labelled<T extends object>(tool: T, label: Label): T & { interlock: Label };

export interface Witness {
  readonly effect: Effect;
  /** Of the call that brought it first. */
  readonly ticket: number;
  readonly tool: string;
}

/** What was decided of a call. Run the tool only when `run` is true. */
export interface Decision {
  readonly action: 'allow' | 'block' | 'require_approval';
  /** Which layer decided; null on an allow. */
  readonly layer: 'fault' | 'labeller' | 'machine' | 'rule' | null;
  readonly run: boolean;
  /** Monitor mode: recorded, and not held against the call. */
  readonly unenforced: boolean;
  /** Another agent's work: its answer comes by `settle(decision, {result, child})`. */
  readonly child: boolean;
  /** Those that count, after vouching. */
  readonly effects: readonly Effect[];
  /** To settle; not 0 whenever `run`. */
  readonly ticket: number;
  /** Id of the rule or fault; empty on an allow. */
  readonly reason: string;
  /** Which of the policy's rules matched, from 1, also one that allows; 0: none. */
  readonly rule: number;
  /** Id of the pending request, or of the one that this allow used up; else empty. */
  readonly approval: string;
  /** For the model: names the rule and the source calls, never their content. */
  readonly message: string;
  /** SHA-256 of the sorted canonical arguments, as hex. */
  readonly digest: string;
  readonly witnesses: readonly Witness[];
}

export interface Approval {
  readonly id: string;
  readonly tool: string;
  readonly granted: boolean;
  /** Milliseconds since 1970. */
  readonly expires: number;
  readonly effects: readonly Effect[];
  readonly reason: string;
}

export interface Row {
  seq: number;
  /** Milliseconds since 1970. */
  time: number;
  session: string;
  kind: string;
  ticket: number;
  body: Record<string, unknown>;
}

export interface Stopped {
  time: number;
  tool: string;
  action: 'block' | 'require_approval';
  layer: string;
  reason: string;
  effects: Effect[];
  /** Why nothing vouched. */
  why: string;
  from: Witness[];
}

export interface StoreChange {
  space: string;
  key: string;
  /** The version that was loaded; 0: the object must not exist. */
  expect: number;
  /** Absent: the object stays as it is. */
  state: Uint8Array | undefined;
  rows: { kind: string; ticket: number; body: string }[];
}
export interface StoreObject {
  /** From 1. */
  version: number;
  state: Uint8Array;
}
/** Where sessions and the audit trail live. All of a commit is stored, durably, before it answers true; where an object is not at the version that was expected it answers false, and nothing is stored. */
export interface Store {
  load(space: string, key: string): StoreObject | undefined | PromiseLike<StoreObject | undefined>;
  commit(changes: StoreChange[], nowMs: number): boolean | PromiseLike<boolean>;
  rows?(session?: string): (Omit<Row, 'body'> & { body: string })[] | PromiseLike<(Omit<Row, 'body'> & { body: string })[]>;
}
/** The store that dies with the process. */
export class MemoryStore implements Store {
  constructor(options?: { keepRows?: number });
  load(space: string, key: string): StoreObject | undefined;
  commit(changes: StoreChange[], nowMs: number): boolean;
  rows(session?: string): (Omit<Row, 'body'> & { body: string })[];
}

export interface GateOptions {
  /** A path, a text of several lines, or the document. None: labels stand beside the tools, on the shipped machine `standard`. */
  policy?: string | URL | Record<string, unknown>;
  ledger?: Store;
  /** A sealed machine of your own, where the policy names none that is shipped. */
  machine?: { table: Uint8Array; certificate: Uint8Array };
  /** For labels beside the tools: what a human may release (docs/policy.md, `approvals`). With a `resolver` egress and commit. */
  approvals?: Record<string, unknown>;
  /** Asked by `call` for what a human may release. Anything but true is a no. */
  resolver?: (request: { tool: string; args: Record<string, unknown>; decision: Decision }) => unknown;
  /** Who the resolver is, for the trail. */
  approver?: string;
  /** Even if the policy says monitor. */
  enforce?: boolean;
  /** Milliseconds after which a call that is not settled counts as its worst; 10 minutes. */
  deadline?: number;
  /** Milliseconds that the store may take; 5,000. */
  timeout?: number;
  /** The core, where it cannot be read from beside this file: a compiled module, or its bytes. */
  core?: WebAssembly.Module | BufferSource;
  /** Milliseconds since 1970. */
  clock?: () => number;
}

/** A policy at work on a store, for any number of sessions. */
export class Gate {
  private constructor();
  readonly policy: { fingerprint: string; mode: 'enforce' | 'monitor'; document: Record<string, unknown> };
  /** Whether it was given a policy; else its policy is what stands beside the tools. */
  readonly policed: boolean;
  /** Takes the labels that stand beside tools, for sessions that begin from now on. */
  label(tools: Readonly<Record<string, unknown>> | undefined): this;
  /** The session of that name: begun when it is first used, or gone on with where the store has it. Without a name a new one. */
  session(id?: string | Session, options?: { principal?: string }): Session;
}

/** Where a value came from: a source, several, or all that is known; null: nobody knows. */
export type Origin = string | readonly string[] | null | { sources: readonly string[]; agents?: readonly string[]; more?: boolean; endorsed?: readonly { kind: string; by: string; digest: string }[] };

export interface CallOptions {
  /** By JSON Pointer: `{'/body': 'web'}`. */
  labels?: Readonly<Record<string, Origin>>;
  /** Nobody will say what another agent's session held, so the call counts as having read whatever there is. */
  unjoined?: boolean;
}

/** The calls of one agent, which hold what they brought. */
export class Session {
  private constructor();
  readonly id: string;
  readonly principal: string;
  readonly gate: Gate;
  readonly parent: Session | undefined;
  begin(): Promise<this>;
  /** Notes what a human typed: values in it vouch from now on. Only for what came over a channel that the agent cannot write. */
  userPrompt(text: string): Promise<void>;
  /** Notes a text that reaches the agent and is no result. */
  notice(text: string, options?: { source?: string; kind?: 'message' | 'description' | 'task'; untrusted?: boolean; agent?: string }): Promise<void>;
  /** A human's word for exactly this value. Its digest. */
  endorse(kind: string, by: string, value: unknown, note?: string): Promise<string>;
  /** A session for another agent, which holds what this one holds and none of its approvals. */
  child(id?: string, options?: { principal?: string }): Promise<Session>;
  /** Decides and records a call. Never throws for a call that is no good: that is a block. */
  decide(tool: string, args?: unknown, options?: CallOptions): Promise<Decision>;
  /** Records what came of a call that ran, before anybody sees it. Throws `Withheld`; returns what may be handed on. */
  settle(decision: Decision, outcome?: { result?: unknown; child?: Session } | { error: unknown; child?: Session }): Promise<unknown>;
  /** Decides, runs `run(args)` on a copy of the arguments that were judged, records, returns. `Denied`, `ApprovalRequired`, `Withheld`, or what `run` throws. */
  call<A extends object, R>(tool: string, args: A, run: (args: A) => R, options?: CallOptions): Promise<Awaited<R>>;
  /** What `call` does once there is a decision, of this session: runs `run(args)` when it may, records, returns. */
  run<A, R>(decision: Decision, args: A, run: (args: A) => R): Promise<Awaited<R>>;
  /** Runs `work` alone among the calls of this session. */
  locked<R>(work: () => R): Promise<Awaited<R>>;
  /** The assistant's answer as it may be shown: each link and image in it is a call of the tool `respond` with that `url`. */
  respond(markdown: string): Promise<{ text: string; shown: string[]; withheld: string[] }>;
  approvals(): Promise<Approval[]>;
  /** A human's yes to one request. Nothing that the agent can call may lead here. */
  approve(approval: string, by: string): Promise<void>;
  refuse(approval: string, by: string): Promise<void>;
  /** Freezes it: no call runs, no result is returned. */
  quarantine(why: string): Promise<void>;
  /** Ends it; its name is not reborn. */
  end(options?: { abandon?: boolean }): Promise<void>;
  /** The rows of its audit trail, oldest first. */
  trail(): Promise<Row[]>;
  /** What was stopped and why, oldest first. */
  why(): Promise<Stopped[]>;
}

export function createGate(options?: GateOptions): Promise<Gate>;
/** The same function. */
export const createPolyman: typeof createGate;

export interface VercelOptions {
  session?: string | Session;
  /** What a human's approvals are signed with, the same on every server that may go on with a conversation. */
  secret?: string | Uint8Array;
  timeoutMs?: number;
  allowProviderTools?: readonly string[];
  /** The last message of the user was typed by a human, who is not the agent (`guard` only). */
  trustPrompt?: boolean;
  /** Who approves, for the trail. */
  approver?: string;
}
/** Options to spread into `generateText`, `streamText` and `ToolLoopAgent`, behind all others. */
export interface VercelSpread {
  toolApproval: (asked: any) => Promise<{ type: 'approved' } | { type: 'denied'; reason: string } | { type: 'user-approval'; reason?: string }>;
  toolCallConcurrency: 1;
  experimental_toolApprovalSecret: string | Uint8Array;
  onToolExecutionEnd: (event: any) => Promise<void>;
  onStepEnd: (step: any) => Promise<void>;
}
export interface VercelGuard {
  /** The options with every `execute` behind the gate, without the provider's tools, and the model's own results counted. */
  guard<O extends object>(options: O): O;
  wrapTools<T extends Record<string, unknown>>(tools: T): T;
  wrapModel<M extends object>(model: M): M;
  readonly session: Session;
}
export function wrapVercel(gate: Gate, options?: VercelOptions): VercelSpread & VercelGuard;

export class InterlockError extends Error {
  /** The constant of the C library; empty where none is behind it. */
  status: string;
}
/** A policy that does not load. `line` and `column` count from 1; 0 when there is no place. */
export class PolicyError extends InterlockError {
  line: number;
  column: number;
}
/** A call of this package that cannot be right. */
export class UsageError extends InterlockError {}
/** The tool did not run. The message is for the model. */
export class Denied extends InterlockError {
  constructor(decision: Decision);
  readonly decision: Decision;
}
/** The tool did not run, and a human may let exactly this call through. */
export class ApprovalRequired extends Denied {}
/** The tool ran, and its result must not be seen. */
export class Withheld extends InterlockError {}
