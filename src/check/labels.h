/* SPDX-License-Identifier: Apache-2.0 */
/* The tools of a policy as a machine sees them. A command collects them (cli/harden_policy.h); this module knows no policies. */
#pragma once
#include "machine/model.h"

/* One single error of a label: instead of the symbols that the call deserves (`truth`) it is given `charged`, where the machine knows both. The second
 * pair is the same call with a human's approval. */
typedef struct il_label_error {
    const char *
        effect; /* what the label forgets: `untrusted`, `egress`, `standing` (labelled once), `vouched` (labelled as no egress), ...; static */
    uint32_t charged[2], truth[2]; /* IL_NO_SYMBOL: no such pair */
} il_label_error;

/* A tool, or a pattern of tools. */
typedef struct il_label_tool {
    il_str name;
    uint32_t nsymbols; /* every symbol that a call of it may be given */
    uint32_t *symbols;
    uint32_t nerrors;
    il_label_error *errors;
} il_label_tool;

typedef struct il_labels {
    uint32_t ntools;
    il_label_tool *tools;
} il_labels;
