/* SPDX-License-Identifier: Apache-2.0 */
/* What the expressions of fuzz_cel.c may name: a variable of every type, functions of a host, lets, a zone. */
#pragma once
#include "base/ip.h"
#include "base/utf8.h"
#include "cel/cel.h"
#include "fuzz.h"

#define FUZZ_NAME(z) \
    { (z), sizeof(z) - 1 }

static const il_str fuzz_words[] = {FUZZ_NAME("none"), FUZZ_NAME("fresh"), FUZZ_NAME("held")};
static const il_cel_type fuzz_word = {.kind = IL_CEL_STRING, .domain = fuzz_words, .ndomain = 3},
                         fuzz_ints = {.kind = IL_CEL_LIST, .element = &il_cel_type_int, .most = 4},
                         fuzz_names = {.kind = IL_CEL_LIST, .element = &il_cel_type_string, .most = 4},
                         fuzz_counts = {.kind = IL_CEL_MAP, .key = &il_cel_type_string, .element = &il_cel_type_int, .most = 4},
                         fuzz_by_int = {.kind = IL_CEL_MAP, .key = &il_cel_type_int, .element = &fuzz_names, .most = 4},
                         fuzz_maybe = {.kind = IL_CEL_OPTIONAL, .element = &il_cel_type_string},
                         fuzz_a_type = {.kind = IL_CEL_TYPE};
static const il_cel_field fuzz_state_fields[] = {{FUZZ_NAME("untrusted"), &fuzz_word},
                                                 {FUZZ_NAME("flight"), &il_cel_type_bool},
                                                 {FUZZ_NAME("asked"), &il_cel_type_int},
                                                 {FUZZ_NAME("maybe"), &fuzz_maybe}};
static const il_cel_type fuzz_state = {
    .kind = IL_CEL_RECORD, .fields = fuzz_state_fields, .nfields = 4, .name = FUZZ_NAME("state")};
static const il_cel_type fuzz_states = {.kind = IL_CEL_LIST, .element = &fuzz_state, .most = 4};
static const il_cel_type fuzz_tool = {.kind = IL_CEL_STRING, .most = 2000};
static const il_cel_field fuzz_call_fields[] = {
    {FUZZ_NAME("tool"), &fuzz_tool}, {FUZZ_NAME("args"), &il_cel_type_json}, {FUZZ_NAME("body-part"), NULL}};
/* A map whose keys are known: a view of a document. */
static const il_cel_type fuzz_call = {
    .kind = IL_CEL_MAP, .key = &fuzz_tool, .fields = fuzz_call_fields, .nfields = 3, .name = FUZZ_NAME("call")};
static const il_cel_type fuzz_param = {.kind = IL_CEL_PARAM, .name = FUZZ_NAME("T")};
static const il_cel_field fuzz_box_of[] = {{FUZZ_NAME(""), &fuzz_param}}, fuzz_box_int[] = {{FUZZ_NAME(""), &il_cel_type_int}};
static const il_cel_type fuzz_box = {.kind = IL_CEL_OPAQUE, .fields = fuzz_box_int, .nfields = 1, .name = FUZZ_NAME("box")},
                         fuzz_any_box = {.kind = IL_CEL_OPAQUE, .fields = fuzz_box_of, .nfields = 1, .name = FUZZ_NAME("box")},
                         fuzz_params = {.kind = IL_CEL_LIST, .element = &fuzz_param};

/* As small as the values below allow, so that a bound of the cost that is too low is seen. */
enum { FUZZ_TEXT = 16, FUZZ_ITEMS = 4, FUZZ_DOC = 2000 };

/* The document comes last: it and `call` are of the input. */
static const il_cel_field fuzz_vars[] = {
    {FUZZ_NAME("pre"), &fuzz_state},        {FUZZ_NAME("next"), &fuzz_state},         {FUZZ_NAME("b"), &il_cel_type_bool},
    {FUZZ_NAME("i"), &il_cel_type_int},     {FUZZ_NAME("s"), &il_cel_type_string},    {FUZZ_NAME("any"), &il_cel_type_dyn},
    {FUZZ_NAME("ints"), &fuzz_ints},        {FUZZ_NAME("u"), &il_cel_type_uint},      {FUZZ_NAME("d"), &il_cel_type_double},
    {FUZZ_NAME("y"), &il_cel_type_bytes},   {FUZZ_NAME("t"), &il_cel_type_timestamp}, {FUZZ_NAME("p"), &il_cel_type_duration},
    {FUZZ_NAME("names"), &fuzz_names},      {FUZZ_NAME("counts"), &fuzz_counts},      {FUZZ_NAME("byint"), &fuzz_by_int},
    {FUZZ_NAME("some"), &fuzz_maybe},       {FUZZ_NAME("empty"), &fuzz_maybe},        {FUZZ_NAME("a"), &il_cel_type_ip},
    {FUZZ_NAME("c"), &il_cel_type_cidr},    {FUZZ_NAME("nil"), &il_cel_type_null},    {FUZZ_NAME("kind"), &fuzz_a_type},
    {FUZZ_NAME("word"), &fuzz_word},        {FUZZ_NAME("states"), &fuzz_states},      {FUZZ_NAME("box"), &fuzz_box},
    {FUZZ_NAME("unset"), &il_cel_type_int}, {FUZZ_NAME("q.x"), &il_cel_type_int},     {FUZZ_NAME("q.x.y"), &fuzz_names},
    {FUZZ_NAME("call"), &fuzz_call},        {FUZZ_NAME("doc"), &il_cel_type_dyn},
};
enum { FUZZ_VARS = sizeof fuzz_vars / sizeof fuzz_vars[0], FUZZ_LET_LINE = 1000000 };

static const il_cel_let fuzz_lets[] = {
    {FUZZ_NAME("out"), FUZZ_NAME("next.flight || b"), FUZZ_LET_LINE, 3},
    {FUZZ_NAME("twice"), FUZZ_NAME("out && out"), FUZZ_LET_LINE + 1, 5},
    {FUZZ_NAME("items"), FUZZ_NAME("ints.filter(x, x in ints)"), FUZZ_LET_LINE + 2, 1},
    {FUZZ_NAME("loop"), FUZZ_NAME("[loop]"), FUZZ_LET_LINE + 3, 1},
    {FUZZ_NAME("bad"), FUZZ_NAME("i + "), FUZZ_LET_LINE + 4, 1},
};

static il_cel_value fuzz_fn_first(void *ctx, const il_cel_value *args, size_t nargs) {
    (void)ctx;
    FUZZ_CHECK(nargs == 2);
    return args[0].kind == IL_CEL_LIST && !args[0].json && args[0].n > 0 ? args[0].u.items[0] : args[1];
}
static il_cel_value fuzz_fn_unwrap(void *ctx, const il_cel_value *args, size_t nargs) {
    (void)ctx;
    FUZZ_CHECK(nargs == 1 && args[0].kind != IL_CEL_ERROR);
    return args[0].kind == IL_CEL_OPAQUE ? il_cel_of_int(42) : il_cel_of_fault(IL_CEL_BAD_VALUE);
}
static il_cel_value fuzz_fn_half(void *ctx, const il_cel_value *args, size_t nargs) {
    (void)ctx;
    FUZZ_CHECK(nargs == 1);
    return args[0].kind == IL_CEL_INT ? il_cel_of_int(args[0].u.i / 2) : il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}
static const il_cel_type *const fuzz_first_of[] = {&fuzz_params, &fuzz_param}, *const fuzz_unwrap_of[] = {&fuzz_any_box},
                                *const fuzz_half_of[] = {&il_cel_type_int};
static const il_cel_function fuzz_functions[] = {
    {.name = FUZZ_NAME("first"), .params = fuzz_first_of, .nparams = 2, .result = &fuzz_param, .cost = 3, .call = fuzz_fn_first},
    {.name = FUZZ_NAME("net.unwrap"),
     .params = fuzz_unwrap_of,
     .nparams = 1,
     .result = &fuzz_param,
     .cost = 1,
     .call = fuzz_fn_unwrap},
    {.name = FUZZ_NAME("half"),
     .params = fuzz_half_of,
     .nparams = 1,
     .result = &il_cel_type_int,
     .cost = 7,
     .call = fuzz_fn_half,
     .receiver = true},
    {.name = FUZZ_NAME("nowhere"), .params = fuzz_half_of, .nparams = 1, .result = &il_cel_type_int, .cost = 1},
};

static bool fuzz_zone(void *ctx, il_str zone, int64_t seconds, int32_t *east) {
    (void)ctx;
    *east = seconds < 1700000000 ? 3600 : 7200;
    return il_str_eq(zone, IL_STR("Europe/Vienna"));
}

/* Values that borrow from each other; one at a time. */
typedef struct fuzz_values {
    il_cel_value of[FUZZ_VARS];
    il_cel_value pre[4], next[4], ints[4], names[3], counts[6], byint[4], some[1], states[2];
    il_ip ip;
    il_cidr cidr;
} fuzz_values;

static void fuzz_values_init(fuzz_values *v, const il_json *doc) {
    memset(v, 0, sizeof *v);
    v->ints[0] = il_cel_of_int(1);
    v->ints[1] = il_cel_of_int(INT64_MIN);
    v->ints[2] = il_cel_of_int(INT64_MAX);
    v->ints[3] = il_cel_of_int(1);
    v->names[0] = il_cel_of_str(IL_STR("a"));
    v->names[1] = il_cel_of_str(IL_STR(""));
    v->names[2] = il_cel_of_str(IL_STR("\xc3\xa4 a,b;\xf0\x9f\x98\x80"));
    v->some[0] = v->names[2];
    v->counts[0] = v->names[0];
    v->counts[1] = v->ints[1];
    v->counts[2] = il_cel_of_str(IL_STR("bb"));
    v->counts[3] = v->ints[0];
    FUZZ_CHECK(il_cel_sort_entries(v->counts, 2));
    v->byint[0] = il_cel_of_int(-1);
    v->byint[1] = il_cel_of_items(IL_CEL_LIST, v->names, 3);
    v->byint[2] = il_cel_of_int(0);
    v->byint[3] = il_cel_of_items(IL_CEL_LIST, v->names, 0);
    FUZZ_CHECK(il_cel_sort_entries(v->byint, 2));
    v->pre[0] = il_cel_of_str(fuzz_words[1]);
    v->pre[1] = il_cel_of_bool(false);
    v->pre[2] = il_cel_of_int(2);
    v->pre[3] = il_cel_of_items(IL_CEL_OPTIONAL, v->some, 0);
    v->next[0] = il_cel_of_str(fuzz_words[2]); /* the rest is not set yet */
    v->states[0] = il_cel_of_items(IL_CEL_RECORD, v->pre, 4);
    v->states[1] = il_cel_of_items(IL_CEL_RECORD, v->next, 4);
    FUZZ_CHECK(il_ip_parse(IL_STR("2001:db8::1"), &v->ip) && il_cidr_parse(IL_STR("10.1.0.0/16"), &v->cidr));
    il_cel_value time = il_cel_of(IL_CEL_TIMESTAMP, 999999999), span = il_cel_of(IL_CEL_DURATION, 0),
                 ip = il_cel_of(IL_CEL_IP, 0), cidr = il_cel_of(IL_CEL_CIDR, 0), box = il_cel_of(IL_CEL_OPAQUE, 0),
                 none = il_cel_of(IL_CEL_OPTIONAL, 0);
    time.u.i = 1709210096;
    span.u.i = -3723000000001;
    ip.u.p = (const char *)&v->ip;
    cidr.u.p = (const char *)&v->cidr;
    box.u.p = (const char *)&fuzz_box;
    const il_cel_value all[FUZZ_VARS] = {v->states[0],
                                         v->states[1],
                                         il_cel_of_bool(true),
                                         il_cel_of_int(-1),
                                         il_cel_of_str(IL_STR("s")),
                                         {0},
                                         il_cel_of_items(IL_CEL_LIST, v->ints, 4),
                                         il_cel_of_uint(UINT64_MAX),
                                         il_cel_of_double(-0.5),
                                         il_cel_of_bytes(IL_STR("\x00\xff b")),
                                         time,
                                         span,
                                         il_cel_of_items(IL_CEL_LIST, v->names, 3),
                                         il_cel_of_items(IL_CEL_MAP, v->counts, 2),
                                         il_cel_of_items(IL_CEL_MAP, v->byint, 2),
                                         il_cel_of_items(IL_CEL_OPTIONAL, v->some, 0),
                                         none,
                                         ip,
                                         cidr,
                                         il_cel_of(IL_CEL_NULL, 0),
                                         il_cel_of(IL_CEL_TYPE, IL_CEL_INT),
                                         il_cel_of_str(fuzz_words[0]),
                                         il_cel_of_items(IL_CEL_LIST, v->states, 2),
                                         box,
                                         {0},
                                         il_cel_of_int(7),
                                         il_cel_of_items(IL_CEL_LIST, v->names, 1),
                                         il_cel_of_json(doc),
                                         il_cel_of_json(doc)};
    memcpy(v->of, all, sizeof all);
    /* A closed map is what the host declares: an object that has these members, or none at all. */
    const il_json *tool = il_json_get(doc, IL_STR("tool")), *args = il_json_get(doc, IL_STR("args"));
    if (doc == NULL || il_json_kind_of(doc) != IL_JSON_OBJECT || tool == NULL || il_json_kind_of(tool) != IL_JSON_STRING ||
        args == NULL || il_json_kind_of(args) != IL_JSON_OBJECT) {
        v->of[FUZZ_VARS - 2] = (il_cel_value){0};
    }
}
