/* SPDX-License-Identifier: Apache-2.0 */
/* The operators between values that are no errors. Answers may be errors, without a place. */
#pragma once
#include "cel/code.h"

il_cel_value il_cel_binary(il_cel_run *r, il_cel_code_op op, const il_cel_value *a, const il_cel_value *b); /* MUL to NE */
/* `v in of`; `alike`: il_cel_alike of the node. */
il_cel_value il_cel_in(il_cel_run *r, const il_cel_value *v, const il_cel_value *of, unsigned alike);
il_cel_value il_cel_negative(const il_cel_value *v);
/* `of.name`, or the field of a record with that number (name NULL); `of[index]`. Through an optional what is found is an
 * optional again. */
il_cel_value il_cel_member(il_cel_run *r, const il_cel_value *of, const il_cel_value *name, uint32_t field, il_cel_how how);
il_cel_value il_cel_index(il_cel_run *r, const il_cel_value *of, const il_cel_value *index, il_cel_how how);
/* optional.of(v) */
il_cel_value il_cel_some(il_cel_run *r, const il_cel_value *v);
