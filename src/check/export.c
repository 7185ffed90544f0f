/* SPDX-License-Identifier: Apache-2.0 */
/* One export: words are numbered, then the form's own file writes. */
#include "check/export_part.h"

#define EXPORT_BYTES_MAX ((size_t)256 << 20)

il_status il_export_write(il_arena *arena, const il_model *m, il_export_form form, uint32_t steps, il_str *out, il_error *err) {
    il_buf b;
    il_buf_init(&b, arena, EXPORT_BYTES_MAX);
    il_export x = {.arena = arena, .m = m, .out = &b, .err = err};
    IL_TRY(il_export_words(&x));
    switch (form) {
    case IL_EXPORT_PROMELA:
        IL_TRY(il_export_promela(&x));
        break;
    case IL_EXPORT_SMT2:
        IL_TRY(il_export_smt2(&x, steps));
        break;
    case IL_EXPORT_C:
        IL_TRY(il_export_c(&x));
        break;
    }
    return il_buf_done(&b, out, err);
}
