/* SPDX-License-Identifier: Apache-2.0 */
/* The names that a server's listing has given so far, page by page, so that no two tools or prompts can be taken for one another. */
#pragma once
#include "base/sha256.h"

#define IL_ROSTER_MAX 4096 /* names of one listing; more are refused */
#define IL_ROSTER_KEY 16   /* bytes of a SHA-256: names are chosen by the server, and this many cannot be made to collide */

typedef struct il_roster_entry {
    uint8_t key[IL_ROSTER_KEY], name[IL_ROSTER_KEY], page[IL_ROSTER_KEY];
    bool refused; /* until the gateway ends: a listing that is clean for once changes nothing */
} il_roster_entry;

typedef struct il_roster {
    const il_alloc *alloc;
    il_roster_entry *v;
    size_t n, cap;
    bool full; /* names had to be left out: what is not here is refused */
} il_roster;

typedef enum il_rostered {
    IL_ROSTERED_NEW = 0,
    IL_ROSTERED_AGAIN,   /* the same name a second time: the first stays */
    IL_ROSTERED_CLASH,   /* another name with this key: both are refused */
    IL_ROSTERED_REFUSED, /* it was refused before */
    IL_ROSTERED_FULL
} il_rostered;

void il_roster_init(il_roster *r, const il_alloc *alloc);
void il_roster_free(il_roster *r);
/* A page is about to be added, the one of this cursor (`p` NULL: the first, which begins the listing anew). What it gave before is forgotten. */
void il_roster_page(il_roster *r, il_str cursor);
/* `key` is equal for names that look alike. IL_E_MEMORY. */
IL_NODISCARD il_status il_roster_add(il_roster *r, il_str cursor, il_str key, il_str name, il_rostered *how, il_error *err);
/* Refuses what has this key from now on; it was added. */
void il_roster_refuse(il_roster *r, il_str key);
bool il_roster_refuses(const il_roster *r, il_str key);
