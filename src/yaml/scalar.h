/* SPDX-License-Identifier: Apache-2.0 */
/* What a plain (unquoted) scalar means, or that readers do not agree on it. */
#pragma once
#include "json/node.h"

typedef enum il_yaml_sense {
    IL_YAML_DOUBTFUL = 0, /* to be quoted */
    IL_YAML_NULL,
    IL_YAML_TRUE,
    IL_YAML_FALSE,
    IL_YAML_NUMBER,
    IL_YAML_STRING
} il_yaml_sense;

il_yaml_sense il_yaml_sense_of(il_str plain);
