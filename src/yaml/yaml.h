/* SPDX-License-Identifier: Apache-2.0 */
/* YAML 1.2 core schema to JSON nodes, over libyaml's events. What is accepted, readers of 1.1 and of 1.2 read alike.
 *
 * Refused with a position: anchors, aliases, tags, directives, merge keys, duplicate keys, keys that are no strings, complex keys (`?`), more
 * than one document, a second `...`, an empty document, tabs as indentation, lines of a value that are not indented deeper than what holds them (only the
 * last bracket of a value may stand below its key), a comment further left than the key whose text follows it, invalid
 * UTF-8, a byte order mark, a lone carriage return, characters that are not printable or end lines in 1.1 only (NEL, LS, PS: escape them),
 * an escaped line end in double quotes, a block scalar as the whole document, one that ends in lines of spaces that reach into it, a pair without braces in `[ ]`,
 * a key without a value in `{ }`, `#` without a space around it where a comment would swallow a value, and plain scalars on which YAML readers disagree
 * (`yes`, `on`, `012`, `0o7`, `1:30`, `.inf`, `1_000`, `-`, dates) or that hold a brace: the message says "quote this". npm's `yaml` reads what is left alike (tests/yaml).
 * `null`/`~`/empty, `true`, `false` and JSON numbers are what they look like; every other plain scalar is a string.
 * JSON text is YAML too and gives the same nodes (it is read by the JSON reader). */
#pragma once
#include "json/node.h"

/* Limits as for JSON. Nodes and strings live in `arena`; `text` may go. */
IL_NODISCARD il_status il_yaml_parse(il_arena *arena, il_str text, const il_json_limits *limits, il_json **out, il_error *err);
