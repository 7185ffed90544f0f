/* SPDX-License-Identifier: Apache-2.0 */
#include "vector.h"

#include "base/double.h"
#include "base/ip.h"
#include "cel/value.h"

enum { VECTOR_VARS = 16, VECTOR_FUNCTIONS = 4, VECTOR_DEPTH = 32, VECTOR_ARENA = 64 << 20 };

/* --- types --- */

static const il_cel_type *vector_type(il_arena *arena, il_str text, unsigned depth);

/* `A, B` of `name(A, B)`: at most four. */
static size_t vector_arguments(il_arena *arena, il_str text, unsigned depth, const il_cel_type *out[4]) {
    size_t n = 0, from = 0;
    int nested = 0;
    for (size_t i = 0; i <= text.n && n < 4; i++) {
        char c = i < text.n ? text.p[i] : ',';
        nested += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (c == ',' && nested == 0) {
            while (from < i && text.p[from] == ' ') {
                from++;
            }
            out[n++] = vector_type(arena, il_str_part(text, from, i), depth);
            from = i + 1;
        }
    }
    return n;
}

static const il_cel_type *vector_plain(il_str text) {
    const struct {
        const char *name;
        const il_cel_type *type;
    } types[] = {
        {"dyn", &il_cel_type_dyn},           {"null_type", &il_cel_type_null}, {"bool", &il_cel_type_bool},
        {"int", &il_cel_type_int},           {"uint", &il_cel_type_uint},      {"double", &il_cel_type_double},
        {"string", &il_cel_type_string},     {"bytes", &il_cel_type_bytes},    {"timestamp", &il_cel_type_timestamp},
        {"duration", &il_cel_type_duration},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (il_str_eq(text, il_str_of(types[i].name))) {
            return types[i].type;
        }
    }
    return NULL;
}

static const il_cel_type *vector_type(il_arena *arena, il_str text, unsigned depth) {
    const il_cel_type *plain = vector_plain(text);
    if (plain != NULL || depth == 0) {
        return plain;
    }
    il_cel_type *t = IL_NEW(arena, il_cel_type);
    size_t open = il_str_find(text, IL_STR("("), 0);
    if (t == NULL) {
        return NULL;
    }
    if (open == SIZE_MAX) { /* T: a type parameter */
        *t = (il_cel_type){.kind = IL_CEL_PARAM, .name = text};
        return t;
    }
    const il_cel_type *of[4] = {NULL};
    il_str name = il_str_part(text, 0, open);
    size_t n = vector_arguments(arena, il_str_part(text, open + 1, text.n - 1), depth - 1, of);
    if (il_str_eq(name, IL_STR("wrapper"))) {
        return &il_cel_type_dyn; /* a value or null */
    }
    if (il_str_eq(name, IL_STR("list")) || il_str_eq(name, IL_STR("optional_type"))) {
        *t = (il_cel_type){.kind = il_str_eq(name, IL_STR("list")) ? IL_CEL_LIST : IL_CEL_OPTIONAL, .element = of[0]};
        return t;
    }
    if (il_str_eq(name, IL_STR("map"))) {
        *t = (il_cel_type){.kind = IL_CEL_MAP, .key = of[0], .element = of[1]};
        return t;
    }
    il_cel_field *fields = IL_NEW_ARRAY(arena, il_cel_field, n);
    if (fields == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        fields[i].type = of[i];
    }
    *t = (il_cel_type){.kind = IL_CEL_OPAQUE, .name = name, .fields = fields, .nfields = n};
    return t;
}

/* --- values --- */

static bool vector_unhex(il_arena *arena, il_str hex, il_str *out) {
    char *p = il_arena_get(arena, hex.n / 2 + 1);
    if (p == NULL || hex.n % 2 != 0) {
        return false;
    }
    for (size_t i = 0; i < hex.n; i++) {
        char c = hex.p[i];
        unsigned v = c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10u : (unsigned)(c - '0');
        if (v > 15) {
            return false;
        }
        p[i / 2] = (char)((unsigned)(unsigned char)p[i / 2] << 4 | v);
    }
    *out = (il_str){p, hex.n / 2};
    return true;
}

/* `0x1.8p+1`, `-0x0p+0`, `inf`, `-inf`, `nan`: exact in a double, as the data has it. */
static bool vector_hex_double(il_str s, double *out) {
    if (il_double_parse_word(s, out)) {
        return true;
    }
    bool negative = s.n > 0 && s.p[0] == '-', point = false;
    size_t i = negative ? 3 : 2;
    uint64_t m = 0;
    int64_t exponent = 0, e = 0;
    for (; i < s.n && s.p[i] != 'p'; i++) {
        char c = s.p[i];
        if (c == '.') {
            point = true;
            continue;
        }
        m = m << 4 | (c >= 'a' ? (uint64_t)(c - 'a') + 10u : (uint64_t)(c - '0'));
        exponent -= point ? 4 : 0;
    }
    if (i >= s.n || !il_str_int(il_str_part(s, i + (s.p[i + 1] == '+' ? 2 : 1), s.n), &e)) {
        return false;
    }
    double d = (double)m;
    for (exponent += e; exponent > 0; exponent--) {
        d *= 2;
    }
    for (; exponent < 0; exponent++) {
        d /= 2;
    }
    *out = negative ? -d : d;
    return true;
}

static bool vector_uint(il_str s, uint64_t *out) {
    uint64_t v = 0;
    for (size_t i = 0; i < s.n; i++) {
        v = v * 10 + (uint64_t)(s.p[i] - '0');
    }
    *out = v;
    return s.n > 0;
}

static bool vector_value(il_arena *arena, const il_json *v, unsigned depth, il_cel_value *out);

static bool vector_items(il_arena *arena, const il_json *x, unsigned depth, il_cel_value *out) {
    size_t n = il_json_count(x);
    il_cel_value *items = IL_NEW_ARRAY(arena, il_cel_value, n);
    *out = il_cel_of_items(IL_CEL_LIST, items, (uint32_t)n);
    bool fine = items != NULL;
    for (const il_json *item = il_json_first(x); item != NULL && fine; item = il_json_next(item)) {
        fine = vector_value(arena, item, depth, items++);
    }
    return fine;
}

static bool vector_entries(il_arena *arena, const il_json *x, unsigned depth, il_cel_value *out) {
    size_t n = il_json_count(x), at = 0;
    il_cel_value *entries = IL_NEW_ARRAY(arena, il_cel_value, 2 * n);
    bool fine = entries != NULL;
    for (const il_json *pair = il_json_first(x); pair != NULL && fine; pair = il_json_next(pair)) {
        const il_json *key = il_json_first(pair);
        fine = vector_value(arena, key, depth, &entries[at]) && vector_value(arena, il_json_next(key), depth, &entries[at + 1]);
        at += 2;
    }
    *out = il_cel_of_items(IL_CEL_MAP, entries, (uint32_t)n);
    return fine && il_cel_sort_entries(entries, (uint32_t)n);
}

static bool vector_value(il_arena *arena, const il_json *v, unsigned depth, il_cel_value *out) {
    il_str t = il_json_text(il_json_get(v, IL_STR("t"))), text = {NULL, 0};
    const il_json *x = il_json_get(v, IL_STR("v"));
    int64_t i = 0;
    if (depth == 0) {
        return false;
    }
    if (il_str_eq(t, IL_STR("null"))) {
        *out = il_cel_of(IL_CEL_NULL, 0);
    } else if (il_str_eq(t, IL_STR("bool"))) {
        *out = il_cel_of_bool(il_json_bool(x));
    } else if (il_str_eq(t, IL_STR("int"))) {
        *out = il_cel_of(IL_CEL_INT, 0);
        return il_str_int(il_json_text(x), &out->u.i);
    } else if (il_str_eq(t, IL_STR("uint"))) {
        *out = il_cel_of(IL_CEL_UINT, 0);
        return vector_uint(il_json_text(x), &out->u.u);
    } else if (il_str_eq(t, IL_STR("double"))) {
        *out = il_cel_of(IL_CEL_DOUBLE, 0);
        return vector_hex_double(il_json_text(x), &out->u.d);
    } else if (il_str_eq(t, IL_STR("string"))) {
        *out = il_cel_of_str(il_json_text(x));
    } else if (il_str_eq(t, IL_STR("bytes"))) {
        if (!vector_unhex(arena, il_json_text(x), &text)) {
            return false;
        }
        *out = il_cel_of_bytes(text);
    } else if (il_str_eq(t, IL_STR("list"))) {
        return vector_items(arena, x, depth - 1, out);
    } else if (il_str_eq(t, IL_STR("map"))) {
        return vector_entries(arena, x, depth - 1, out);
    } else if (il_str_eq(t, IL_STR("duration"))) {
        *out = il_cel_of(IL_CEL_DURATION, 0);
        if (!il_str_int(il_json_text(il_json_get(v, IL_STR("s"))), &out->u.i) || !il_json_int(il_json_get(v, IL_STR("n")), &i)) {
            return false;
        }
        out->u.i = out->u.i * 1000000000 + i;
    } else if (il_str_eq(t, IL_STR("timestamp"))) {
        *out = il_cel_of(IL_CEL_TIMESTAMP, 0);
        if (!il_str_int(il_json_text(il_json_get(v, IL_STR("s"))), &out->u.i) || !il_json_int(il_json_get(v, IL_STR("n")), &i)) {
            return false;
        }
        out->n = (uint32_t)i;
    } else {
        return false;
    }
    return true;
}

static void vector_put_value(il_buf *out, const il_cel_value *v, unsigned depth);

static void vector_put_collection(il_buf *out, const il_cel_value *v, unsigned depth) {
    il_cel_walk w = il_cel_walk_of(v);
    il_cel_value key, value;
    bool first = true;
    il_buf_putc(out, '[');
    while (v->kind == IL_CEL_LIST ? il_cel_walk_item(&w, &value) : il_cel_walk_entry(&w, &key, &value)) {
        il_buf_puts(out, first ? "" : ",");
        first = false;
        if (v->kind == IL_CEL_MAP) {
            il_buf_putc(out, '[');
            vector_put_value(out, &key, depth);
            il_buf_putc(out, ',');
        }
        vector_put_value(out, &value, depth);
        il_buf_puts(out, v->kind == IL_CEL_MAP ? "]" : "");
    }
    il_buf_putc(out, ']');
}

static void vector_put_value(il_buf *out, const il_cel_value *v, unsigned depth) {
    uint64_t bits = il_double_bits(v->u.d);
    uint8_t big[8];
    if (depth == 0) {
        il_buf_puts(out, "{\"t\":\"too deep\"}");
        return;
    }
    il_buf_puts(out, "{\"t\":\"");
    il_buf_put(out, v->kind == IL_CEL_NULL ? IL_STR("null") : il_cel_kind_name((il_cel_kind)v->kind));
    il_buf_puts(out, "\",\"v\":");
    switch ((il_cel_kind)v->kind) {
    case IL_CEL_BOOL:
        il_buf_puts(out, v->u.b ? "true" : "false");
        break;
    case IL_CEL_INT:
    case IL_CEL_DURATION:
        il_buf_putc(out, '"');
        il_buf_puti(out, v->u.i);
        il_buf_putc(out, '"');
        break;
    case IL_CEL_UINT:
        il_buf_putc(out, '"');
        il_buf_putu(out, v->u.u);
        il_buf_putc(out, '"');
        break;
    case IL_CEL_DOUBLE:
        for (unsigned i = 0; i < 8; i++) {
            big[i] = (uint8_t)(bits >> (56 - 8 * i));
        }
        il_buf_putc(out, '"');
        il_buf_hex(out, big, sizeof big);
        il_buf_putc(out, '"');
        break;
    case IL_CEL_STRING:
        il_json_write_string(out, il_cel_str(*v));
        break;
    case IL_CEL_BYTES:
        il_buf_putc(out, '"');
        il_buf_hex(out, v->u.p, v->n);
        il_buf_putc(out, '"');
        break;
    case IL_CEL_LIST:
    case IL_CEL_MAP:
        vector_put_collection(out, v, depth - 1);
        break;
    case IL_CEL_TYPE:
        il_json_write_string(out, il_cel_type_name(*v));
        break;
    case IL_CEL_OPTIONAL:
        if (v->u.items != NULL) {
            vector_put_value(out, v->u.items, depth - 1);
            break;
        }
        il_buf_puts(out, "null");
        break;
    case IL_CEL_NULL:
    case IL_CEL_TIMESTAMP:
    case IL_CEL_IP:
    case IL_CEL_CIDR:
    case IL_CEL_RECORD:
    case IL_CEL_OPAQUE:
    case IL_CEL_PARAM:
    case IL_CEL_ERROR:
        il_buf_puts(out, "null");
        break;
    }
    il_buf_putc(out, '}');
}

/* --- what may be named --- */

typedef struct vector_env {
    il_cel_field vars[VECTOR_VARS];
    il_cel_value values[VECTOR_VARS];
    il_cel_function functions[VECTOR_FUNCTIONS];
    il_cel_env env;
} vector_env;

static bool vector_declare(vector_env *e, il_arena *arena, const il_json *test) {
    for (const il_json *v = il_json_first(il_json_get(test, IL_STR("type_env"))); v != NULL; v = il_json_next(v)) {
        if (e->env.nvars == VECTOR_VARS) {
            return false;
        }
        il_cel_field *f = &e->vars[e->env.nvars++];
        f->name = il_json_text(il_json_get(v, IL_STR("name")));
        f->type = vector_type(arena, il_json_text(il_json_get(v, IL_STR("type"))), VECTOR_DEPTH);
        if (f->type == NULL) {
            return false;
        }
    }
    for (const il_json *v = il_json_first(il_json_get(test, IL_STR("bindings"))); v != NULL; v = il_json_next(v)) {
        il_str name = il_json_text(il_json_get(v, IL_STR("name")));
        size_t at = 0;
        while (at < e->env.nvars && !il_str_eq(e->vars[at].name, name)) {
            at++;
        }
        if (at == VECTOR_VARS) {
            return false;
        }
        if (at == e->env.nvars) {
            e->vars[e->env.nvars++] = (il_cel_field){name, &il_cel_type_dyn};
        }
        if (il_json_bool(il_json_get(v, IL_STR("error")))) {
            e->values[at] = il_cel_of_fault(IL_CEL_MISSING);
        } else if (!vector_value(arena, il_json_get(v, IL_STR("value")), VECTOR_DEPTH, &e->values[at])) {
            return false;
        }
    }
    return true;
}

static bool vector_declare_functions(vector_env *e, il_arena *arena, const il_json *test) {
    for (const il_json *f = il_json_first(il_json_get(test, IL_STR("fn_env"))); f != NULL; f = il_json_next(f)) {
        for (const il_json *o = il_json_first(il_json_get(f, IL_STR("overloads"))); o != NULL; o = il_json_next(o)) {
            const il_json *params = il_json_get(o, IL_STR("params"));
            const il_cel_type **types = IL_NEW_ARRAY(arena, const il_cel_type *, il_json_count(params));
            if (types == NULL || e->env.nfunctions == VECTOR_FUNCTIONS) {
                return false;
            }
            il_cel_function *to = &e->functions[e->env.nfunctions++];
            *to = (il_cel_function){.name = il_json_text(il_json_get(f, IL_STR("name"))),
                                    .receiver = il_json_bool(il_json_get(o, IL_STR("receiver"))),
                                    .params = types,
                                    .result = vector_type(arena, il_json_text(il_json_get(o, IL_STR("result"))), VECTOR_DEPTH)};
            for (const il_json *p = il_json_first(params); p != NULL; p = il_json_next(p)) {
                types[to->nparams++] = vector_type(arena, il_json_text(p), VECTOR_DEPTH);
            }
        }
    }
    return true;
}

/* What a condition of a policy may name, for the tests of what is refused when it loads. */
static void vector_declare_policy(vector_env *e) {
    static const il_str trusts[] = {{"trusted", 7}, {"untrusted", 9}};
    static const il_cel_type trust = {.kind = IL_CEL_STRING, .domain = trusts, .ndomain = 2};
    static const il_cel_type strings = {.kind = IL_CEL_LIST, .element = &il_cel_type_string};
    static const il_cel_field label_fields[] = {{{"source", 6}, &il_cel_type_string},
                                                {{"trust", 5}, &trust},
                                                {{"lineage", 7}, &strings},
                                                {{"ingested_by", 11}, &strings},
                                                {{"endorsements", 12}, &strings}};
    static const il_cel_type label = {.kind = IL_CEL_RECORD, .fields = label_fields, .nfields = 5, .name = {"label", 5}};
    static const il_cel_type labels = {.kind = IL_CEL_LIST, .element = &label, .most = 256};
    static const il_cel_field run_fields[] = {{{"tainted", 7}, &il_cel_type_bool},
                                              {{"sources", 7}, &strings},
                                              {{"untrusted_sources", 17}, &strings},
                                              {{"ingested_by", 11}, &strings},
                                              {{"trifecta", 8}, &strings}};
    static const il_cel_type run = {.kind = IL_CEL_RECORD, .fields = run_fields, .nfields = 5, .name = {"run", 3}};
    static const il_cel_field agent_fields[] = {{{"groups", 6}, &strings}, {{"id", 2}, &il_cel_type_string}};
    static const il_cel_type agent = {.kind = IL_CEL_RECORD, .fields = agent_fields, .nfields = 2, .name = {"agent", 5}};
    const il_cel_field vars[] = {
        {{"tool", 4}, &il_cel_type_string}, {{"args", 4}, &il_cel_type_json}, {{"taint", 5}, &labels}, {{"sources", 7}, &strings},
        {{"max_trust", 9}, &trust},         {{"trifecta", 8}, &strings},      {{"run", 3}, &run},      {{"agent", 5}, &agent}};
    for (size_t i = 0; i < sizeof vars / sizeof vars[0]; i++) {
        e->vars[i] = vars[i];
    }
    e->env.nvars = sizeof vars / sizeof vars[0];
}

/* The zones that the data names, as they were at the times that it asks for. */
static bool vector_zone(void *ctx, il_str zone, int64_t seconds, int32_t *east) {
    static const struct {
        const char *name;
        int32_t east;
    } zones[] = {{"Australia/Sydney", 11 * 3600},
                 {"US/Central", -6 * 3600},
                 {"America/St_Johns", -(3 * 3600 + 1800)},
                 {"Asia/Kathmandu", 5 * 3600 + 2700}};
    (void)ctx;
    (void)seconds;
    for (size_t i = 0; i < sizeof zones / sizeof zones[0]; i++) {
        if (il_str_eq(zone, il_str_of(zones[i].name))) {
            *east = zones[i].east;
            return true;
        }
    }
    return false;
}

/* --- the test --- */

static void vector_put_place(il_buf *out, const il_error *e) {
    il_buf_puts(out, ",\"line\":");
    il_buf_putu(out, e->line);
    il_buf_puts(out, ",\"col\":");
    il_buf_putu(out, e->col);
    il_buf_puts(out, ",\"span\":");
    il_buf_putu(out, e->span);
    il_buf_puts(out, ",\"message\":");
    il_json_write_string(out, il_str_of(e->msg));
    il_buf_putc(out, '}');
}

static const char *vector_fault_name(il_cel_fault fault) {
    static const char *const names[] = {"none",  "no overload", "overflow", "divide", "missing",
                                        "unset", "bad value",   "unknown",  "budget"};
    return (size_t)fault < sizeof names / sizeof names[0] ? names[fault] : "?";
}

static void vector_put_result(const il_cel_program *program, il_arena *arena, const il_cel_value *vars, bool check_only,
                              il_buf *out) {
    il_error why = {0};
    il_cel_value v = il_cel_of(IL_CEL_NULL, 0);
    if (!check_only) {
        v = il_cel_eval(program, vars, arena);
    }
    if (v.kind == IL_CEL_ERROR) {
        il_buf_puts(out, "{\"fault\":\"");
        il_buf_puts(out, vector_fault_name((il_cel_fault)v.fault));
        il_buf_putc(out, '"');
        il_cel_explain(program, v, &why);
    } else {
        il_buf_puts(out, "{\"value\":");
        vector_put_value(out, &v, VECTOR_DEPTH);
    }
    char type[512];
    il_buf_puts(out, ",\"type\":");
    il_json_write_string(out, (il_str){type, il_cel_type_text(il_cel_result_type(program), type, sizeof type)});
    il_buf_puts(out, ",\"printed\":");
    il_buf text;
    il_str printed = {NULL, 0};
    il_buf_init(&text, arena, (size_t)1 << 20);
    il_cel_print(program, &text);
    if (il_buf_done(&text, &printed, NULL) != IL_OK) {
        printed = IL_STR("(failed)");
    }
    il_json_write_string(out, printed);
    vector_put_place(out, &why);
}

il_status vector_run(const il_alloc *alloc, const il_json *test, il_buf *out, il_error *err) {
    il_arena *arena = il_arena_new(alloc, VECTOR_ARENA);
    if (arena == NULL) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    vector_env *e = IL_NEW(arena, vector_env);
    il_cel_program *program = NULL;
    il_error why = {0};
    bool fine = e != NULL;
    if (fine) {
        e->env = (il_cel_env){.size = sizeof e->env,
                              .vars = e->vars,
                              .functions = e->functions,
                              .container = il_json_text(il_json_get(test, IL_STR("container"))),
                              .zone = vector_zone};
        bool policy = il_str_eq(il_json_text(il_json_get(test, IL_STR("env"))), IL_STR("interbolt"));
        if (policy) {
            vector_declare_policy(e);
        }
        fine = vector_declare(e, arena, test) && vector_declare_functions(e, arena, test);
    }
    if (!fine) {
        il_arena_delete(arena);
        return il_error_set(err, IL_E_INVALID, "not a test that can be run here");
    }
    bool boolean = il_json_bool(il_json_get(test, IL_STR("want_bool")));
    int64_t depth = 0;
    (void)il_json_int(il_json_get(test, IL_STR("depth")), &depth);
    const il_cel_limits limits = {.size = sizeof limits,
                                  .depth = depth > 0 && depth < UINT32_MAX ? (uint32_t)depth : 0,
                                  .unchecked = il_json_bool(il_json_get(test, IL_STR("disable_check"))),
                                  .dynamic_regex = il_json_bool(il_json_get(test, IL_STR("dynamic_regex")))};
    il_status s = il_cel_compile(arena, il_json_text(il_json_get(test, IL_STR("expr"))), 1, 1, &e->env,
                                 boolean ? IL_CEL_BOOL : IL_CEL_NULL, &limits, &program, &why);
    if (s != IL_OK) {
        il_buf_puts(out, "{\"refused\":\"");
        il_buf_puts(out, il_status_name(s));
        il_buf_putc(out, '"');
        vector_put_place(out, &why);
    } else {
        vector_put_result(program, arena, e->values, il_json_bool(il_json_get(test, IL_STR("check_only"))), out);
    }
    il_arena_delete(arena);
    return IL_OK;
}
