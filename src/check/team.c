/* SPDX-License-Identifier: Apache-2.0 */
#include "check/team.h"

#include <pthread.h>

typedef struct team_member {
    il_team *team;
    uint32_t i;
    pthread_t thread;
} team_member;

struct il_team {
    const il_alloc *alloc;
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    uint64_t round; /* of the job in hand; each member does a round once */
    bool over;
    uint32_t busy, size;
    void (*job)(void *ctx, uint32_t i);
    void *ctx;
    team_member members[]; /* the caller is number 0, and not among them */
};

static void *team_work(void *arg) {
    const team_member *m = arg;
    il_team *t = m->team;
    uint64_t done = 0;
    (void)pthread_mutex_lock(&t->lock);
    while (!t->over) {
        if (t->round == done) {
            (void)pthread_cond_wait(&t->begin, &t->lock);
            continue;
        }
        done = t->round;
        (void)pthread_mutex_unlock(&t->lock);
        t->job(t->ctx, m->i);
        (void)pthread_mutex_lock(&t->lock);
        if (--t->busy == 0) {
            (void)pthread_cond_signal(&t->end);
        }
    }
    (void)pthread_mutex_unlock(&t->lock);
    return NULL;
}

il_team *il_team_new(const il_alloc *alloc, uint32_t others) {
    il_team *t = others == 0 ? NULL : alloc->alloc(alloc->ctx, sizeof *t + others * sizeof t->members[0]);
    if (!t) {
        return NULL;
    }
    *t = (il_team){.alloc = alloc, .size = 1};
    (void)pthread_mutex_init(&t->lock, NULL);
    (void)pthread_cond_init(&t->begin, NULL);
    (void)pthread_cond_init(&t->end, NULL);
    for (uint32_t i = 0; i < others; i++) {
        t->members[i] = (team_member){.team = t, .i = t->size};
        if (pthread_create(&t->members[i].thread, NULL, team_work, &t->members[i]) != 0) {
            break;
        }
        t->size++;
    }
    if (t->size == 1) {
        il_team_free(t);
        return NULL;
    }
    return t;
}

void il_team_run(il_team *t, void (*job)(void *ctx, uint32_t i), void *ctx) {
    (void)pthread_mutex_lock(&t->lock);
    t->job = job;
    t->ctx = ctx;
    t->busy = t->size - 1;
    t->round++;
    (void)pthread_cond_broadcast(&t->begin);
    (void)pthread_mutex_unlock(&t->lock);
    job(ctx, 0);
    (void)pthread_mutex_lock(&t->lock);
    while (t->busy > 0) {
        (void)pthread_cond_wait(&t->end, &t->lock);
    }
    (void)pthread_mutex_unlock(&t->lock);
}

void il_team_free(il_team *t) {
    if (!t) {
        return;
    }
    (void)pthread_mutex_lock(&t->lock);
    t->over = true;
    (void)pthread_cond_broadcast(&t->begin);
    (void)pthread_mutex_unlock(&t->lock);
    for (uint32_t i = 0; i + 1 < t->size; i++) {
        (void)pthread_join(t->members[i].thread, NULL);
    }
    (void)pthread_cond_destroy(&t->begin);
    (void)pthread_cond_destroy(&t->end);
    (void)pthread_mutex_destroy(&t->lock);
    t->alloc->free(t->alloc->ctx, t);
}
