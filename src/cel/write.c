/* SPDX-License-Identifier: Apache-2.0 */
/* A value as the text of an expression that gives it, for people and for tests. Records and host's types have no such text:
 * theirs is in angle brackets, which no expression can be. */
#include "cel/fn.h"

/* Deeper than any JSON text; what is deeper is IL_E_LIMIT in the buffer. */
enum { WRITE_DEPTH = 600 };

static void write_value(const il_cel_value *v, il_buf *out, unsigned depth);

/* Control characters are escaped, also those of C1 and the separators of lines and paragraphs. In bytes, all that is not
 * printable ASCII. */
static void write_quoted(il_str s, bool bytes, il_buf *out) {
    static const char hex[] = "0123456789abcdef", letters[] = "abtnvfr"; /* the letters from 0x07 on */
    il_buf_puts(out, bytes ? "b'" : "'");
    for (size_t i = 0; i < s.n;) {
        const unsigned char *p = (const unsigned char *)s.p + i;
        const size_t n = *p < 0x80 || bytes ? 1 : il_utf8_length(p, s.n - i);
        const uint32_t c = n > 1 ? il_utf8_point(p, n) : *p;
        if (c >= 0x07 && c <= 0x0d) {
            il_buf_putc(out, '\\');
            il_buf_putc(out, letters[c - 0x07]);
        } else if (c == '\'' || c == '\\') {
            il_buf_putc(out, '\\');
            il_buf_putc(out, (char)c);
        } else if (c < 0x20 || c == 0x7f || (bytes && c > 0x7f)) {
            il_buf_put(out, IL_STR("\\x"));
            il_buf_hex(out, p, 1);
        } else if ((c >= 0x80 && c < 0xa0) || c == 0x2028 || c == 0x2029) {
            il_buf_put(out, IL_STR("\\u"));
            for (unsigned shift = 16; shift > 0; shift -= 4) {
                il_buf_putc(out, hex[c >> (shift - 4) & 15]);
            }
        } else {
            il_buf_put(out, (il_str){s.p + i, n == 0 ? 1 : n});
        }
        i += n == 0 ? 1 : n;
    }
    il_buf_putc(out, '\'');
}

/* A point or an exponent makes it a double. NaN and the infinities have no literal. */
static void write_double(double d, il_buf *out) {
    if (!il_double_finite(d)) {
        il_buf_puts(out, il_double_nan(d) ? "double('NaN')" : d > 0 ? "double('Infinity')" : "double('-Infinity')");
        return;
    }
    char text[IL_DOUBLE_TEXT];
    const size_t n = il_double_text(d, IL_DOUBLE_SHORT, text);
    bool whole = true;
    for (size_t i = 0; i < n; i++) {
        whole = whole && text[i] != '.' && text[i] != 'e';
    }
    il_buf_put(out, (il_str){text, n});
    if (whole) {
        il_buf_puts(out, ".0");
    }
}

static void write_call(const char *function, const il_cel_value *v, il_buf *out) {
    char text[IL_CEL_SCALAR_TEXT];
    const size_t n = il_cel_scalar_text(v, IL_DOUBLE_SHORT, text);
    il_buf_puts(out, function);
    il_buf_puts(out, "('");
    il_buf_put(out, (il_str){text, n});
    il_buf_puts(out, "')");
}

static void write_list(const il_cel_value *v, il_buf *out, unsigned depth) {
    il_cel_value item;
    bool first = true;
    il_buf_putc(out, '[');
    for (il_cel_walk w = il_cel_walk_of(v); !out->failed && il_cel_walk_item(&w, &item); first = false) {
        il_buf_puts(out, first ? "" : ", ");
        write_value(&item, out, depth + 1);
    }
    il_buf_putc(out, ']');
}

static void write_map(const il_cel_value *v, il_buf *out, unsigned depth) {
    il_cel_value key, value;
    bool first = true;
    il_buf_putc(out, '{');
    for (il_cel_walk w = il_cel_walk_of(v); !out->failed && il_cel_walk_entry(&w, &key, &value); first = false) {
        il_buf_puts(out, first ? "" : ", ");
        write_value(&key, out, depth + 1);
        il_buf_puts(out, ": ");
        write_value(&value, out, depth + 1);
    }
    il_buf_putc(out, '}');
}

static void write_value(const il_cel_value *v, il_buf *out, unsigned depth) {
    if (depth > WRITE_DEPTH) {
        il_buf_fail(out, IL_E_LIMIT);
        return;
    }
    switch ((il_cel_kind)v->kind) {
    case IL_CEL_NULL:
        il_buf_puts(out, "null");
        return;
    case IL_CEL_BOOL:
        il_buf_puts(out, v->u.b ? "true" : "false");
        return;
    case IL_CEL_INT:
        il_buf_puti(out, v->u.i);
        return;
    case IL_CEL_UINT:
        il_buf_putu(out, v->u.u);
        il_buf_putc(out, 'u');
        return;
    case IL_CEL_DOUBLE:
        write_double(v->u.d, out);
        return;
    case IL_CEL_STRING:
    case IL_CEL_BYTES:
        write_quoted(il_cel_str(*v), v->kind == IL_CEL_BYTES, out);
        return;
    case IL_CEL_LIST:
        write_list(v, out, depth);
        return;
    case IL_CEL_MAP:
        write_map(v, out, depth);
        return;
    case IL_CEL_TIMESTAMP:
        write_call("timestamp", v, out);
        return;
    case IL_CEL_DURATION:
        write_call("duration", v, out);
        return;
    case IL_CEL_IP:
        write_call("ip", v, out);
        return;
    case IL_CEL_CIDR:
        write_call("cidr", v, out);
        return;
    case IL_CEL_TYPE:
        il_buf_put(out, il_cel_type_name(*v));
        return;
    case IL_CEL_OPTIONAL:
        if (v->u.items == NULL) {
            il_buf_puts(out, "optional.none()");
            return;
        }
        il_buf_puts(out, "optional.of(");
        write_value(v->u.items, out, depth + 1);
        il_buf_putc(out, ')');
        return;
    case IL_CEL_RECORD:
        il_buf_puts(out, "<record of ");
        il_buf_putu(out, v->n);
        il_buf_putc(out, '>');
        return;
    case IL_CEL_OPAQUE:
        il_buf_puts(out, "<host's value>");
        return;
    case IL_CEL_ERROR:
    case IL_CEL_PARAM:
        break;
    }
    il_buf_puts(out, "<error>");
}

void il_cel_write(const il_cel_value *v, il_buf *out) { write_value(v, out, 0); }
