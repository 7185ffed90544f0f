/* SPDX-License-Identifier: Apache-2.0 */
/* What a hosted program needs around the core: malloc, the clock, randomness, policy and machine files, the shipped machines. */
#pragma once
#include "interlock/ledger.h"
#include "interlock/monitor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* malloc/free; a constant that may be copied. */
IL_API const il_alloc *il_host_alloc(void);
/* CLOCK_REALTIME and getrandom(2); this process as owner, and the SHA instructions of x86 where they are. Call it again after fork(2): the owner
 * is the process that called it. */
IL_API il_host il_host_system(void);

/* What sessions know, kept between their calls (il_monitor_config.cache): those used last, up to `bytes` (0: 256 MiB) in all and 256 sessions; of one that is larger
 * than all of them nothing is kept. For one store. Any thread. */
typedef struct il_host_recalls il_host_recalls;
IL_API IL_NODISCARD il_status il_host_recalls_new(const il_alloc *alloc, size_t bytes, il_host_recalls **out, il_error *err);
/* Accepts NULL. No monitor that was made with it may be in use any more. */
IL_API void il_host_recalls_free(il_host_recalls *r);
IL_API const il_recall_cache *il_host_recalls_cache(const il_host_recalls *r);

/* Seconds that an IANA zone (`Europe/Vienna`) is east of UTC at `seconds` since 1970, from /usr/share/zoneinfo (package tzdata); false: no such zone. For
 * il_cel_env.zone. Reads a file each time; any thread. */
IL_API bool il_host_zone(void *ctx, il_str zone, int64_t seconds, int32_t *east);

/* A shipped machine by name, opened and verified; IL_E_NOT_FOUND. Free with il_machine_free. By digest: the shipped one whose table has that seal. */
IL_API IL_NODISCARD il_status il_host_machine(const il_alloc *alloc, il_str name, il_machine **out, il_error *err);
IL_API IL_NODISCARD il_status il_host_machine_by_digest(const il_alloc *alloc, const uint8_t digest[IL_DIGEST_BYTES],
                                                        il_machine **out, il_error *err);

/* A policy file and the machine it names. A machine given as a path (relative to the policy) is compiled and proven first, and refused
 * unless it is fully mediated. IL_E_PERMISSION for a file that others may write, else as il_policy_new; `err` positions are the file's. */
typedef struct il_bundle il_bundle; /* a policy with its machine */
IL_API IL_NODISCARD il_status il_bundle_load(const il_alloc *alloc, const char *path, il_bundle **out, il_error *err);
/* The same of a document that is in memory (borrowed until return). A machine that is a path is relative to the folder of `path`; NULL: to the
 * working folder. */
IL_API IL_NODISCARD il_status il_bundle_new(const il_alloc *alloc, const il_json *doc, const char *path, il_bundle **out,
                                            il_error *err);
IL_API const il_policy *il_bundle_policy(const il_bundle *b);
IL_API void il_bundle_free(il_bundle *b);

#ifdef __cplusplus
}
#endif
