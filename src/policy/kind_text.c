/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hidden.h"
#include "base/utf8.h"
#include "policy/kind_part.h"

bool il_text_visible(il_str text) {
    const unsigned char *p = (const unsigned char *)text.p;
    for (size_t i = 0; i < text.n;) {
        size_t n = il_utf8_length(p + i, text.n - i);
        if (n == 0) {
            return false;
        }
        uint32_t c = il_utf8_point(p + i, n);
        if (il_point_control(c) || il_point_hidden(c)) {
            return false;
        }
        i += n;
    }
    return true;
}
