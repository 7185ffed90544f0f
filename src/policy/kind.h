/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of destinations: how a value is parsed (wholly, or not at all) and what equals what. No substring tests. */
#pragma once
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

typedef enum il_kind {
    IL_KIND_EMAIL,
    IL_KIND_HOST,
    IL_KIND_URL,
    IL_KIND_REPO,
    IL_KIND_CHANNEL,
    IL_KIND_PATH,
    IL_KIND_ACCOUNT,
    IL_KIND_NAME,
    IL_KIND_CUSTOM /* this and above: a policy's own (kinds.h); their values are read as names */
} il_kind;

/* `email`, `host`, ... of a built-in kind; false for an unknown word. */
bool il_kind_find(il_str word, il_kind *out);
il_str il_kind_word(il_kind kind);

/* Parses `text` wholly as one value of the kind and writes its canonical form (lower-case host, no trailing dot, ...).
 * IL_E_INVALID with the reason otherwise. */
IL_NODISCARD il_status il_kind_value(il_kind kind, il_str text, il_arena *arena, il_str *canonical, il_error *err);

/* A listed pattern of that kind (`@x`, `.x`, a prefix of whole segments ending in `*`, else one exact value), checked and made canonical at load. */
typedef struct il_kind_pattern {
    il_kind kind;
    uint8_t shape; /* exact, mail domain, host and its subdomains, prefix of whole segments, any port */
    il_str text;
} il_kind_pattern;
IL_NODISCARD il_status il_kind_pattern_new(il_kind kind, il_str text, il_arena *arena, il_kind_pattern *out, il_error *err);
bool il_kind_matches(const il_kind_pattern *pattern, il_str canonical);
/* Whether the value may be what the pattern lists as public. More generous than equality, because an alias would be taken for a private name:
 * ports, schemes, percent escapes, letter case, doubled and final slashes, parameters of segments and tags of mailboxes make no difference. */
bool il_kind_public(const il_kind_pattern *pattern, il_kind kind, il_str canonical);
/* The host of a canonical url or email, for listing a url by its host. Empty when there is none. */
il_str il_kind_host(il_kind kind, il_str canonical);
