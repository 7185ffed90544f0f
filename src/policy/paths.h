/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of files that mean more than their bytes (docs/policy.md, Conditions: secret_path, runs_later). Two lists, shipped and documented; nothing is looked at but
 * the text of the path: what a symbolic link points to is not known here. */
#pragma once
#include "base/str.h"

/* Whether a file of this name usually holds a credential. A path that cannot be told (empty, with `..`, with characters that a reader may drop) is one. */
bool il_path_secret(il_str path);
/* Whether what is written there is run later, or read by an agent or a build as instructions. What cannot be told is. */
bool il_path_runs_later(il_str path);

/* The patterns, for the page and its test: segments with `*`; one that ends in `/` covers everything below, one that begins with `/` begins at the
 * root. NULL behind the last. */
extern const char *const il_paths_secret[], *const il_paths_runs_later[];
