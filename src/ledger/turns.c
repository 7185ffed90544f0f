/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/turns.h"

bool il_turns_init(il_turns *t) {
    for (size_t i = 0; i < IL_TURNS; i++) {
        if (pthread_mutex_init(&t->locks[i], NULL) != 0) {
            while (i > 0) {
                pthread_mutex_destroy(&t->locks[--i]);
            }
            return false;
        }
    }
    return true;
}

void il_turns_free(il_turns *t) {
    for (size_t i = 0; i < IL_TURNS; i++) {
        pthread_mutex_destroy(&t->locks[i]);
    }
}

/* FNV-1a: nothing depends on it but how often two objects share a lock. */
static pthread_mutex_t *turns_of(il_turns *t, il_str space, il_str key) {
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < space.n + key.n; i++) {
        h = (h ^ (uint8_t)(i < space.n ? space.p[i] : key.p[i - space.n])) * 16777619u;
    }
    return &t->locks[(h ^ h >> 16) % IL_TURNS];
}

void il_turns_take(il_turns *t, il_str space, il_str key) { pthread_mutex_lock(turns_of(t, space, key)); }
void il_turns_end(il_turns *t, il_str space, il_str key) { pthread_mutex_unlock(turns_of(t, space, key)); }
