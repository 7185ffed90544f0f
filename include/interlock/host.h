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
/* CLOCK_REALTIME and getrandom(2). */
IL_API il_host il_host_system(void);

/* A shipped machine by name, opened and verified; IL_E_NOT_FOUND. Free with il_machine_free. */
IL_API IL_NODISCARD il_status il_host_machine(const il_alloc *alloc, il_str name, il_machine **out, il_error *err);

/* A policy file and the machine it names. A machine given as a path (relative to the policy) is compiled and proven first, and refused
 * unless it is fully mediated. IL_E_PERMISSION for a file that others may write, else as il_policy_new; `err` positions are the file's. */
typedef struct il_loaded il_loaded;
IL_API IL_NODISCARD il_status il_host_load(const il_alloc *alloc, const char *path, il_loaded **out, il_error *err);
IL_API const il_policy *il_loaded_policy(const il_loaded *l);
IL_API void il_loaded_free(il_loaded *l);

#ifdef __cplusplus
}
#endif
