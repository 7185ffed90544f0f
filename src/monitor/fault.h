/* SPDX-License-Identifier: Apache-2.0 */
/* Every way in which a call is stopped, or its result withheld, by something other than a rule of the machine. docs/faults.md is this table. */
#pragma once
#include "interlock/monitor.h"

/* id, reason, layer, what happens, when, the test that provokes it */
#define IL_FAULT_MAP(X)                                                                                                          \
    X(IL_FAULT_INTERNAL, "internal", "fault", "block", "a broken invariant, or a caller that broke a rule of the interface",     \
      "fault_internal")                                                                                                          \
    X(IL_FAULT_MEMORY, "memory", "fault", "block", "the allocator had no memory", "fault_memory")                                \
    X(IL_FAULT_LIMIT, "limit", "fault", "block", "a size, depth or count limit was reached: a tool's name, the arguments",       \
      "fault_limit")                                                                                                             \
    X(IL_FAULT_CLOCK, "clock", "fault", "block", "the host has no clock", "fault_clock")                                         \
    X(IL_FAULT_NO_RANDOM, "no-random", "fault", "block", "the host has no randomness for an approval's id", "fault_no_random")   \
    X(IL_FAULT_BAD_SESSION, "bad-session", "fault", "block", "the session's id is empty, too long or has other characters",      \
      "fault_bad_session")                                                                                                       \
    X(IL_FAULT_NO_SESSION, "no-session", "fault", "block", "no such session was begun", "fault_no_session")                      \
    X(IL_FAULT_NO_POLICY, "no-policy", "fault", "block", "the monitor was made without a policy", "fault_no_policy")             \
    X(IL_FAULT_POLICY_MISMATCH, "policy-mismatch", "fault", "block", "the session is bound to another policy or machine",        \
      "fault_policy_mismatch")                                                                                                   \
    X(IL_FAULT_BAD_ARGUMENTS, "bad-arguments", "fault", "block",                                                                 \
      "the arguments are not an object, or a label is of none of them", "fault_bad_arguments")                                   \
    X(IL_FAULT_TOO_MANY, "too-many-in-flight", "fault", "block", "32 calls of the session are not settled",                      \
      "fault_too_many_in_flight")                                                                                                \
    X(IL_FAULT_OFF_TABLE, "off-table", "fault", "block, and the session is quarantined",                                         \
      "the session's state is not one of its machine", "fault_off_table")                                                        \
    X(IL_FAULT_LEDGER_ERROR, "ledger-error", "fault", "block", "the ledger could not be read or written", "fault_ledger_error")  \
    X(IL_FAULT_LEDGER_BUSY, "ledger-busy", "fault", "block",                                                                     \
      "the ledger did not answer in time, or others kept moving the session", "fault_ledger_busy")                               \
    X(IL_FAULT_LEDGER_DAMAGED, "ledger-damaged", "fault", "block", "the session's record is damaged or contradicts itself",      \
      "fault_ledger_damaged")                                                                                                    \
    X(IL_FAULT_LEDGER_VERSION, "ledger-version", "fault", "block", "the session's record was written by a newer build",          \
      "fault_ledger_version")                                                                                                    \
    X(IL_FAULT_EPISODE_MISSING, "episode-missing", "fault", "block", "something that the session read is not in the ledger",     \
      "fault_episode_missing")                                                                                                   \
    X(IL_FAULT_EPISODE_DAMAGED, "episode-damaged", "fault", "block",                                                             \
      "what the session read is not in the ledger as it was written", "fault_episode_damaged")                                   \
    X(IL_FAULT_EPISODE_LIMIT, "episode-limit", "fault", "block, or withhold",                                                    \
      "a call or a result with more to remember than is kept", "fault_episode_limit")                                            \
    X(IL_FAULT_UNLABELLED, "unlabelled-tool", "labeller", "block", "no entry of the policy names the tool",                      \
      "fault_unlabelled_tool")                                                                                                   \
    X(IL_FAULT_CONDITION, "condition-error", "fault", "block", "the condition of a rule of the policy gave no true or false",    \
      "fault_condition_error")                                                                                                   \
    X(IL_FAULT_NOT_OPEN, "not-open", "fault", "withhold",                                                                        \
      "a result for a call that is settled (also as overdue, or by recovery), or unknown", "fault_not_open")                     \
    X(IL_FAULT_NOT_JOINED, "not-joined", "fault", "withhold",                                                                    \
      "a result of another agent's work (`child: true`) that came without that agent's session", "fault_not_joined")             \
    X(IL_FAULT_QUARANTINED, "quarantined", "fault", "withhold", "a result for a session that is quarantined",                    \
      "fault_quarantined")                                                                                                       \
    X(IL_FAULT_BREACH, "label-breach", "fault", "withhold, and the session is quarantined", "a settle that the machine refuses", \
      "fault_label_breach")

typedef enum il_fault {
#define IL_FAULT_ENUM(id, reason, layer, action, when, test) id,
    IL_FAULT_MAP(IL_FAULT_ENUM)
#undef IL_FAULT_ENUM
} il_fault;

const char *il_fault_reason(il_fault f);
/* The fault that a status of the store or of our own code stands for. */
il_fault il_fault_of(il_status s);
/* Makes *d a block of layer `fault` with this reason and a message; everything that would allow is cleared. */
void il_fault_block(il_decision *d, il_fault f);
