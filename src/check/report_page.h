/* SPDX-License-Identifier: Apache-2.0 */
/* The report for people, from the JSON object alone: the same object gives the same bytes. A section that this file does not know is printed
 * too, as it stands. */
#pragma once
#include "check/harden.h"
#include "check/page.h"

IL_NODISCARD il_status il_report_page(const il_json *object, il_page_form form, il_arena *arena, il_str *out, il_error *err);
/* The machine as a graph for the page, its states taken together until a person can read it; null when it is larger than the bounds. */
IL_NODISCARD il_status il_drawing_object(il_harden *h, il_json **out, il_error *err);
/* Draws that object. */
void il_drawing_svg(const il_json *drawing, il_buf *b);
