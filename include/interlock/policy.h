/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled policy: which effects a tool call has, which destinations are ours, what a human may release.
 *
 * Immutable once made; may be shared by any number of monitors and threads. Tools that no entry matches are denied.
 *
 *     il_policy *policy = NULL;
 *     if (il_policy_new(&alloc, il_json_doc_root(doc), machine, &policy, &err) != IL_OK)
 *         report(err.line, err.col, err.msg);
 */
#pragma once
#include "interlock/effect.h"
#include "interlock/json.h"
#include "interlock/machine.h"
#include "interlock/provenance.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `untrusted`, ... for one bit; empty for anything else. */
IL_API il_str il_effect_name(uint32_t bit);

typedef enum il_mode { IL_MODE_ENFORCE = 0, IL_MODE_MONITOR = 1 } il_mode;

typedef struct il_policy il_policy;

/* The `machine` that a policy document names (borrowed from doc): a shipped name or a path. Checks `interlock: 1` first. */
IL_API IL_NODISCARD il_status il_policy_machine_name(const il_json *doc, il_str *name, il_error *err);

/* Where presets come from: find() gives the document of `name@version`, which must live as long as what it is expanded to. IL_E_NOT_FOUND with a message
 * that says which there are. */
typedef struct il_presets {
    size_t size; /* sizeof(il_presets) */
    void *ctx;
    il_status (*find)(void *ctx, il_str name, const il_json **out, il_error *err);
} il_presets;
/* Writes `servers.X.use`, `hosts` and `presets` out: *out is one flat document, in the arena, that borrows from `doc` and the presets; `doc` itself when there is nothing to
 * expand. Entries keep the position of what they came from. `presets` may be NULL: only the document's own. What il_policy_new compiles has been expanded.
 * IL_E_INVALID with position; IL_E_LIMIT; IL_E_MEMORY. */
IL_API IL_NODISCARD il_status il_policy_expand(il_arena *arena, const il_json *doc, const il_presets *presets, const il_json **out,
                                               il_error *err);

/* Compiles a document (yaml or json, already read; need not outlive the call). `machine` is borrowed until il_policy_free.
 * IL_E_INVALID with position for anything unknown, missing, contradictory or empty, IL_E_SYNTAX for a condition that is no expression; IL_E_VERSION; IL_E_LIMIT;
 * IL_E_MEMORY. */
IL_API IL_NODISCARD il_status il_policy_new(const il_alloc *alloc, const il_json *doc, const il_machine *machine, il_policy **out,
                                            il_error *err);
IL_API void il_policy_free(il_policy *p);

IL_API const il_machine *il_policy_machine(const il_policy *p);
/* SHA-256 of the document's sorted canonical text followed by the machine's digest. */
IL_API void il_policy_fingerprint(const il_policy *p, uint8_t out[IL_DIGEST_BYTES]);
IL_API il_mode il_policy_mode(const il_policy *p);
/* Which sources' labels it trusts (`sources: {handbook: trusted}`): what il_origin_trust asks. Borrows the policy. */
IL_API il_trust_table il_policy_trust(const il_policy *p);
/* Whether the named server may use a client feature (`sampling`, `roots`, `elicitation`); false for an unknown server or feature. */
IL_API bool il_policy_server_may(const il_policy *p, il_str server, il_str feature);
/* Whether a server is inside the trust domain. Undeclared servers are outside. */
IL_API bool il_policy_server_inside(const il_policy *p, il_str server);
/* What becomes of keys that are more than keys in JavaScript (`prototype_keys`), on their way to the server. */
typedef enum il_prototypes {
    IL_PROTOTYPES_POLLUTE = 0, /* not said: `__proto__`, and `constructor` with a `prototype` in it, are refused */
    IL_PROTOTYPES_REFUSE,      /* each of the three is */
    IL_PROTOTYPES_ALLOW
} il_prototypes;
/* Of a server that the policy does not declare: IL_PROTOTYPES_POLLUTE. */
IL_API il_prototypes il_policy_server_prototypes(const il_policy *p, il_str server);

#ifdef __cplusplus
}
#endif
