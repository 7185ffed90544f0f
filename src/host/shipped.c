/* SPDX-License-Identifier: Apache-2.0 */
#include "host/shipped.h"

#include "base/error.h"
#include "base/sha256.h"
#include "base/str.h"
#include "interlock/host.h"

typedef struct shipped_row {
    il_str name, table, certificate, source;
} shipped_row;

static il_str shipped_bytes(const uint8_t *p, size_t n) { return (il_str){(const char *)p, n}; }

/* The i-th machine; false past the last. */
static bool shipped_row_at(size_t i, shipped_row *out) {
    size_t at = 0;
#define SHIPPED_ROW(id, name)                                                                                     \
    if (at++ == i) {                                                                                              \
        *out = (shipped_row){IL_STR(name), shipped_bytes(il_shipped_##id##_table, il_shipped_##id##_table_bytes), \
                             shipped_bytes(il_shipped_##id##_certificate, il_shipped_##id##_certificate_bytes),   \
                             shipped_bytes(il_shipped_##id##_source, il_shipped_##id##_source_bytes)};            \
        return true;                                                                                              \
    }
    IL_SHIPPED_MAP(SHIPPED_ROW)
#undef SHIPPED_ROW
    return false;
}

size_t il_shipped_names(char *out, size_t cap) {
    size_t n = 0;
    shipped_row row;
    for (size_t i = 0; shipped_row_at(i, &row); i++) {
        n += il_format(out + n, cap - n, "%s%.*s", i ? ", " : "", IL_STR_ARG(row.name));
    }
    return n;
}

bool il_shipped_source(il_str name, il_str *out) {
    shipped_row row;
    for (size_t i = 0; shipped_row_at(i, &row); i++) {
        if (il_str_eq(row.name, name)) {
            *out = row.source;
            return true;
        }
    }
    return false;
}

il_status il_host_machine(const il_alloc *alloc, il_str name, il_machine **out, il_error *err) {
    shipped_row row;
    char names[128];
    *out = NULL;
    for (size_t i = 0; shipped_row_at(i, &row); i++) {
        if (il_str_eq(row.name, name)) {
            return il_machine_open(alloc, row.table, row.certificate, out, err);
        }
    }
    (void)il_shipped_names(names, sizeof names);
    return il_error_set(err, IL_E_NOT_FOUND,
                        "no machine `%.*s` is shipped; there is: %s (a file is named with its ending, as in `./my.yaml`)",
                        IL_STR_ARG(name), names);
}

il_status il_host_machine_by_digest(const il_alloc *alloc, const uint8_t digest[IL_DIGEST_BYTES], il_machine **out,
                                    il_error *err) {
    shipped_row row;
    *out = NULL;
    for (size_t i = 0; shipped_row_at(i, &row); i++) {
        /* The table ends with its seal, which il_machine_open verifies. */
        if (row.table.n > IL_DIGEST_BYTES && il_digest_eq((const uint8_t *)row.table.p + row.table.n - IL_DIGEST_BYTES, digest)) {
            return il_machine_open(alloc, row.table, row.certificate, out, err);
        }
    }
    return il_error_set(err, IL_E_NOT_FOUND, "no shipped machine has this seal");
}
