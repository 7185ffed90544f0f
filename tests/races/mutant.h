/* SPDX-License-Identifier: Apache-2.0 */
/* Stores that are wrong on purpose: the judges must catch each. */
#pragma once
#include "interlock/ledger.h"

typedef enum mutant_kind {
    MUTANT_NONE = 0,
    MUTANT_LOST_UPDATE, /* takes whatever version is stored for the expected one */
    MUTANT_UNLOCKED,    /* compares, lets others in, and writes then */
    MUTANT_NOT_WRITTEN, /* now and then says that it committed, and did not */
    MUTANT_EARLY,       /* a result goes out before its settle is committed, and whatever becomes of it */
    MUTANT_COUNT
} mutant_kind;
extern const char *const mutant_names[MUTANT_COUNT];

typedef struct mutant_store {
    mutant_kind kind;
    il_store under;
    _Atomic uint64_t *conflicts; /* of the right store: decisions that are made again */
} mutant_store;
/* The store to give to a monitor; `m` outlives it. */
il_store mutant_store_of(mutant_store *m);
