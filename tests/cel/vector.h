/* SPDX-License-Identifier: Apache-2.0 */
/* One test of an expression, in the format of the conformance data, run with nothing but the core: natively and as WebAssembly. */
#pragma once
#include "base/buf.h"
#include "interlock/cel.h"

/* `test`: {expr, type_env?, bindings?, container?, fn_env?, disable_check?, check_only?, depth?, env?}; `"env": "interbolt"` declares what a policy's
 * condition may name. Appends one object to `out`:
 *   {"value": {"t": …, "v": …}, "type": …, "printed": …} or {"fault": NAME, "type": …, "line", "col", "message"}
 *   or {"refused": STATUS, "line", "col", "span", "message"}
 * where a double is its 16 hexadecimal digits. IL_E_INVALID: not a test that this can run. */
IL_NODISCARD il_status vector_run(const il_alloc *alloc, const il_json *test, il_buf *out, il_error *err);
