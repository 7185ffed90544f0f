/* SPDX-License-Identifier: Apache-2.0 */
/* What a tool call does, in five words: the classes that policies, machines and sessions speak of. */
#pragma once
#include "interlock/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Effect classes, as bits. secret implies sensitive. */
typedef enum il_effect {
    IL_UNTRUSTED = 1 << 0, /* brings content that an attacker may have written */
    IL_SENSITIVE = 1 << 1, /* reads private data */
    IL_SECRET = 1 << 2,    /* reads a credential */
    IL_EGRESS = 1 << 3,    /* data leaves the trust domain */
    IL_COMMIT = 1 << 4     /* an irreversible or authority-bearing change */
} il_effect;
#define IL_EFFECTS 5u
#define IL_TAINTS ((uint32_t)(IL_UNTRUSTED | IL_SENSITIVE | IL_SECRET))

#ifdef __cplusplus
}
#endif
