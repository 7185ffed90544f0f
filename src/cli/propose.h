/* SPDX-License-Identifier: Apache-2.0 */
/* A guess at the policy entry of a tool, from its name, its arguments and its hints: a starting point for a person, never a label by itself.
 * Hints of a server can add effects here and not remove any. */
#pragma once
#include "json/node.h"

/* Effects that the tool (an element of a tools/list answer) looks like; never none. */
uint32_t il_propose_effects(const il_json *tool);
/* Writes the entry in YAML, `- { match: "server.tool", effects: [...], ... }`, for pasting into `tools`; behind it, as a comment, what only its author can say. */
void il_propose_entry(il_buf *out, il_str server, const il_json *tool);
