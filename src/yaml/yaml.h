/* SPDX-License-Identifier: Apache-2.0 */
/* YAML 1.2 core schema to JSON nodes, over libyaml's events.
 *
 * Refused with a position: anchors, aliases, tags, merge keys, duplicate keys, more than one document, tabs as indentation,
 * invalid UTF-8, a byte order mark, an empty file, and plain scalars on which YAML readers disagree
 * (`yes`, `on`, `012`, `0o7`, `1:30`, `.inf`, `1_000`, dates, `~` beside nothing): the message says "quote this".
 * `null`/`~`/empty, `true`, `false` and JSON numbers are what they look like; every other plain scalar is a string.
 * JSON text is YAML too and gives the same nodes. */
#pragma once
#include "json/node.h"

/* Limits as for JSON. Nodes and strings live in `arena`; `text` may go. */
IL_NODISCARD il_status il_yaml_parse(il_arena *arena, il_str text, const il_json_limits *limits, il_json **out, il_error *err);
