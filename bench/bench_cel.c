/* SPDX-License-Identifier: Apache-2.0 */
/* Speed of the expression language: the conditions and the inputs of a file (bench/cel.json), compiled once, evaluated often.
 *
 *     bench_cel FILE time MS      a line each: name, least and median nanoseconds an evaluation in batches of MS milliseconds
 *     bench_cel FILE facts        `name.compile`: microseconds, the least; `name.allocations`: calls of the allocator in 1000 evaluations
 *     bench_cel FILE run NAME N   evaluates one N times and prints nothing: what an instruction counter runs
 *
 * Labels, the run and the agent are records of the host, the arguments of the call a view of its JSON. Each evaluation's answer is looked at. A
 * condition that does not say `builds` has to do without scratch; one that says so has to need it. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/file.h"
#include "interlock/cel.h"
#include "interlock/host.h"

enum { BENCH_BATCHES = 15, BENCH_COMPILES = 400, BENCH_COUNTED = 1000 };

/* --- what conditions may name ---------------------------------------------------------------------------------------------------- */

static const il_cel_type type_texts = {.kind = IL_CEL_LIST, .element = &il_cel_type_string};
static const il_cel_field label_fields[] = {{{"source", 6}, &il_cel_type_string},
                                            {{"trust", 5}, &il_cel_type_string},
                                            {{"lineage", 7}, &type_texts},
                                            {{"ingested_by", 11}, &type_texts},
                                            {{"endorsements", 12}, &type_texts}};
static const il_cel_field run_fields[] = {{{"tainted", 7}, &il_cel_type_bool},
                                          {{"sources", 7}, &type_texts},
                                          {{"untrusted_sources", 17}, &type_texts},
                                          {{"ingested_by", 11}, &type_texts},
                                          {{"trifecta", 8}, &type_texts}};
static const il_cel_field agent_fields[] = {{{"id", 2}, &il_cel_type_string}, {{"groups", 6}, &type_texts}};
static const il_cel_type type_label = {.kind = IL_CEL_RECORD, .fields = label_fields, .nfields = 5, .name = {"label", 5}};
static const il_cel_type type_labels = {.kind = IL_CEL_LIST, .element = &type_label};
static const il_cel_type type_run = {.kind = IL_CEL_RECORD, .fields = run_fields, .nfields = 5, .name = {"run", 3}};
static const il_cel_type type_agent = {.kind = IL_CEL_RECORD, .fields = agent_fields, .nfields = 2, .name = {"agent", 5}};
enum { BENCH_NVARS = 8, BENCH_TAINT = 2 };
static const il_cel_field bench_vars[BENCH_NVARS] = {{{"tool", 4}, &il_cel_type_string},
                                                     {{"args", 4}, &il_cel_type_json},
                                                     {{"taint", 5}, &type_labels},
                                                     {{"sources", 7}, &type_texts},
                                                     {{"max_trust", 9}, &il_cel_type_string},
                                                     {{"trifecta", 8}, &type_texts},
                                                     {{"run", 3}, &type_run},
                                                     {{"agent", 5}, &type_agent}};
static const il_cel_env bench_env = {.size = sizeof bench_env, .vars = bench_vars, .nvars = BENCH_NVARS};

/* --- one condition --------------------------------------------------------------------------------------------------------------- */

typedef struct bench_counter {
    il_alloc alloc;
    size_t calls;
} bench_counter;

typedef struct bench_case {
    const char *name;
    il_str source;
    bool answer, builds;
    il_cel_program *program;
    il_cel_value vars[BENCH_NVARS];
} bench_case;

static void *bench_get(void *ctx, size_t n) {
    bench_counter *counter = ctx;
    counter->calls++;
    return malloc(n);
}
static void bench_put(void *ctx, void *p) {
    (void)ctx;
    free(p);
}

static void bench_fail(const char *what, const char *why) {
    (void)fprintf(stderr, "bench_cel: %s: %s\n", what, why);
    exit(1);
}

static void *bench_have(void *p) {
    if (p == NULL) {
        bench_fail("memory", "there is none");
    }
    return p;
}

static double bench_now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* As a host would lay it out: lists and records as values of their own. JSON stays JSON. At most `most` items of this list. */
static il_cel_value bench_value(il_arena *arena, const il_cel_type *type, const il_json *v, size_t most) {
    if (type->kind != IL_CEL_LIST && type->kind != IL_CEL_RECORD) {
        return il_cel_of_json(v);
    }
    const bool record = type->kind == IL_CEL_RECORD;
    const size_t n = record ? type->nfields : il_json_count(v) < most ? il_json_count(v) : most;
    il_cel_value *items = bench_have(il_arena_array(arena, n, sizeof *items));
    const il_json *item = il_json_first(v);
    for (size_t i = 0; i < n; i++, item = record ? NULL : il_json_next(item)) {
        items[i] = record ? bench_value(arena, type->fields[i].type, il_json_get(v, type->fields[i].name), SIZE_MAX)
                          : bench_value(arena, type->element, item, SIZE_MAX);
    }
    return il_cel_of_items(type->kind, items, (uint32_t)n);
}

/* [text, times] */
static il_str bench_body(il_arena *arena, const il_json *spec) {
    const il_str text = il_json_text(il_json_first(spec));
    int64_t times = 0;
    (void)il_json_int(il_json_next(il_json_first(spec)), &times);
    char *body = bench_have(il_arena_bytes(arena, text.n * (size_t)times));
    for (int64_t i = 0; i < times; i++) {
        memcpy(body + text.n * (size_t)i, text.p, text.n);
    }
    return (il_str){body, text.n * (size_t)times};
}

static void bench_case_init(bench_case *c, il_arena *arena, const il_json *spec, const il_json *vars) {
    il_error err = {0};
    const il_str name = il_json_text(il_json_get(spec, IL_STR("name")));
    char *copy = bench_have(il_arena_get(arena, name.n + 1));
    memcpy(copy, name.p, name.n);
    *c = (bench_case){.name = copy,
                      .source = il_json_text(il_json_get(spec, IL_STR("expr"))),
                      .answer = il_json_bool(il_json_get(spec, IL_STR("answer"))),
                      .builds = il_json_bool(il_json_get(spec, IL_STR("builds")))};
    int64_t labels = 3;
    (void)il_json_int(il_json_get(spec, IL_STR("labels")), &labels);
    for (size_t i = 0; i < BENCH_NVARS; i++) {
        const il_json *v = il_json_get(vars, bench_vars[i].name);
        if (il_str_eq(bench_vars[i].name, IL_STR("args")) && il_json_get(spec, IL_STR("body")) != NULL) {
            il_json *args = bench_have(il_json_shallow(arena, v));
            il_json *body = bench_have(il_json_string(arena, bench_body(arena, il_json_get(spec, IL_STR("body")))));
            v = il_json_remove(args, IL_STR("body")) && il_json_set(args, IL_STR("body"), body) ? args : NULL;
        }
        c->vars[i] = bench_value(arena, bench_vars[i].type, bench_have((void *)(uintptr_t)v),
                                 i == BENCH_TAINT ? (size_t)labels : SIZE_MAX);
    }
    if (il_cel_compile(arena, c->source, 1, 1, &bench_env, IL_CEL_BOOL, NULL, &c->program, &err) != IL_OK) {
        bench_fail(c->name, err.msg);
    }
}

/* Evaluates n times, and looks at the answers. */
static void bench_evaluate(const bench_case *c, il_arena *scratch, uint64_t n) {
    uint64_t right = 0;
    for (uint64_t i = 0; i < n; i++) {
        const il_cel_value v = il_cel_eval(c->program, c->vars, scratch);
        right += v.kind == IL_CEL_BOOL && v.u.b == c->answer;
        if (scratch != NULL) {
            il_arena_reset(scratch);
        }
    }
    if (right != n) {
        bench_fail(c->name, "another answer than it should have");
    }
}

/* --- what is measured ------------------------------------------------------------------------------------------------------------- */

static int bench_order(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void bench_time(const bench_case *c, il_arena *scratch, double ms) {
    double took[BENCH_BATCHES];
    uint64_t n = 64;
    for (double start = bench_now(), end = start; end - start < ms * 1e6; n *= 2) { /* warm, and how many fit */
        start = bench_now();
        bench_evaluate(c, scratch, n);
        end = bench_now();
    }
    n /= 2;
    for (size_t i = 0; i < BENCH_BATCHES; i++) {
        const double start = bench_now();
        bench_evaluate(c, scratch, n);
        took[i] = (bench_now() - start) / (double)n;
    }
    qsort(took, BENCH_BATCHES, sizeof *took, bench_order);
    (void)printf("%s %.3f %.3f\n", c->name, took[0], took[BENCH_BATCHES / 2]);
}

static void bench_compile(const bench_case *c) {
    double least = 1e30;
    for (int i = 0; i < BENCH_COMPILES; i++) {
        il_cel_program *program = NULL;
        const double start = bench_now();
        il_arena *arena = bench_have(il_arena_new(il_host_alloc(), (size_t)1 << 24));
        const il_status status = il_cel_compile(arena, c->source, 1, 1, &bench_env, IL_CEL_BOOL, NULL, &program, NULL);
        il_arena_delete(arena);
        const double took = bench_now() - start;
        if (status != IL_OK) {
            bench_fail(c->name, "does not compile again");
        }
        least = took < least ? took : least;
    }
    (void)printf("%s.compile %.3f\n", c->name, least / 1e3);
}

/* What an evaluation asks of the allocator behind its scratch. There is no other that it could reach. */
static void bench_allocations(const bench_case *c) {
    bench_counter counter = {{bench_get, bench_put, NULL}, 0};
    counter.alloc.ctx = &counter;
    il_arena *scratch = bench_have(il_arena_new(&counter.alloc, (size_t)1 << 20));
    const size_t before = counter.calls;
    for (int i = 0; i < BENCH_COUNTED; i++) {
        if (il_cel_true(il_cel_eval(c->program, c->vars, scratch)) != c->answer) {
            bench_fail(c->name, "another answer than it should have");
        }
    }
    const size_t calls = counter.calls - before;
    const il_cel_value bare = il_cel_eval(c->program, c->vars, NULL);
    il_arena_delete(scratch);
    if ((calls == 0) == c->builds || (bare.kind == IL_CEL_BOOL) == c->builds) {
        bench_fail(c->name, c->builds ? "builds nothing" : "allocates");
    }
    (void)printf("%s.allocations %zu\n", c->name, calls);
}

int main(int argc, char **argv) {
    static bench_case cases[32];
    size_t n = 0;
    il_error err = {0};
    il_arena arena;
    il_str text;
    il_json *file = NULL;
    const char *what = argc > 2 ? argv[2] : "";
    il_arena_init(&arena, il_host_alloc(), (size_t)1 << 26);
    if (argc < 3 || il_file_read(&arena, argv[1], IL_DOCUMENT_BYTES_MAX, IL_FILE_DATA, &text, &err) != IL_OK ||
        il_json_parse(&arena, text, NULL, &file, &err) != IL_OK) {
        bench_fail(argc > 1 ? argv[1] : "FILE time MS | facts | run NAME N", argc < 3 ? "say what" : err.msg);
    }
    const il_json *spec = il_json_first(il_json_get(file, IL_STR("conditions")));
    for (; spec != NULL && n < sizeof cases / sizeof *cases; spec = il_json_next(spec)) {
        bench_case_init(&cases[n++], &arena, spec, il_json_get(file, IL_STR("vars")));
    }
    il_arena *scratch = bench_have(il_arena_new(il_host_alloc(), (size_t)1 << 20));
    for (size_t i = 0; i < n; i++) {
        const bench_case *c = &cases[i];
        il_arena *room = c->builds ? scratch : NULL;
        if (strcmp(what, "time") == 0 && argc == 4) {
            bench_time(c, room, strtod(argv[3], NULL));
        } else if (strcmp(what, "facts") == 0) {
            bench_compile(c);
            bench_allocations(c);
        } else if (strcmp(what, "run") == 0 && argc == 5) {
            if (strcmp(c->name, argv[3]) == 0) {
                bench_evaluate(c, room, strtoull(argv[4], NULL, 10));
            }
        } else {
            bench_fail(what, "cannot be measured");
        }
    }
    il_arena_delete(scratch);
    il_arena_free(&arena);
    return 0;
}
