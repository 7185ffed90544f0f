/* SPDX-License-Identifier: Apache-2.0 */
/* Envelopes, for the files that pack and open them (interlock/provenance.h says what they are, docs/formats.md how they are written). */
#pragma once
#include "provenance/origin.h"
#include "json/node.h"

enum { IL_ENVELOPE_VERSION = 1 };
#define IL_ENVELOPE_MEMORY ((size_t)1 << 30) /* of a request; the limits end it much earlier */

/* `limits` with its defaults; IL_E_ARGUMENT. */
IL_NODISCARD il_status il_envelope_limits_fill(const il_envelope_limits *limits, il_envelope_limits *out, il_error *err);

/* A payload whose parts can be found by their paths: each node, an array's or object's children side by side, members in the order of their keys. */
typedef struct il_part {
    const il_json *v;
    uint32_t first; /* child */
    bool labelled;
} il_part;
typedef struct il_parts {
    il_part *list;
    uint32_t n;
    char *name; /* room for one name of a path, of so many bytes: */
    size_t longest;
} il_parts;
/* `payload`: JSON whose members are sorted, as our canonical text is; its tree goes into the arena. Linear in the text. */
IL_NODISCARD il_status il_parts_read(il_parts *parts, il_str payload, const il_envelope_limits *limits, il_arena *arena,
                                     il_error *err);
/* The part at a path, marked as labelled; IL_E_INVALID when there is none or it was marked before. As long as the path, times the logarithm of the widest object. */
IL_NODISCARD il_status il_parts_label(il_parts *parts, il_str path, il_error *err);

/* The names of an envelope's members, sorted. */
typedef enum il_envelope_member {
    IL_ENVELOPE_AUDIENCE = 0,
    IL_ENVELOPE_EXPIRES,
    IL_ENVELOPE_IS,
    IL_ENVELOPE_ISSUED,
    IL_ENVELOPE_KEY,
    IL_ENVELOPE_LABELS,
    IL_ENVELOPE_MAC,
    IL_ENVELOPE_NONCE,
    IL_ENVELOPE_ORIGINS,
    IL_ENVELOPE_PAYLOAD,
    IL_ENVELOPE_RUN,
    IL_ENVELOPE_MEMBERS
} il_envelope_member;
extern const il_str il_envelope_members[IL_ENVELOPE_MEMBERS];

/* Words for what a run holds, by bit; a bit without one is not carried. */
#define IL_ENVELOPE_EFFECTS 4u
extern const il_str il_envelope_effects[IL_ENVELOPE_EFFECTS];
