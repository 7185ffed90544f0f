/* SPDX-License-Identifier: Apache-2.0 */
/* The machines that are compiled and sealed when Interlock is built (cmake/machines.cmake writes the arrays). */
#pragma once
#include "interlock/base.h"

/* One row a machine: its name as an identifier, and machines/NAME.yaml. A test compares the rows with the folder. The first is the one that
 * `interlock init` proposes. */
#define IL_SHIPPED_MAP(X)                     \
    X(standard, "standard")                   \
    X(trifecta, "trifecta")                   \
    X(capability_broker, "capability-broker") \
    X(secret_custody, "secret-custody")       \
    X(rules_only, "rules-only")

#define IL_SHIPPED_EXTERN(name, text)                                                                                  \
    extern const uint8_t il_shipped_##name##_table[], il_shipped_##name##_certificate[], il_shipped_##name##_source[]; \
    extern const size_t il_shipped_##name##_table_bytes, il_shipped_##name##_certificate_bytes, il_shipped_##name##_source_bytes;
IL_SHIPPED_MAP(IL_SHIPPED_EXTERN)
#undef IL_SHIPPED_EXTERN

/* Writes `standard, trifecta, …` for messages. */
size_t il_shipped_names(char *out, size_t cap);
/* The document that a shipped machine was made from; false when none has that name. */
bool il_shipped_source(il_str name, il_str *out);
