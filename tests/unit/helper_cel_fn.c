/* SPDX-License-Identifier: Apache-2.0 */
#include "helper_cel_fn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/ip.h"
#include "cel/value.h"

enum { PLENTY = 1000000 };

void fn_run_init(fn_run *r, int64_t steps, size_t allocations) {
    test_memory_init(&r->memory, allocations);
    il_arena_init(&r->arena, &r->memory.alloc, (size_t)64 << 20);
    r->run = (il_cel_run){.program = NULL, .scratch = &r->arena, .steps = steps};
}

void fn_run_free(fn_run *r) {
    il_arena_free(&r->arena);
    assert_int_equal(r->memory.live, 0);
}

static const il_cel_builtin *fn_find(const char *name) {
    const bool receiver = name[0] == '.';
    return il_cel_builtin_find(il_str_of(name + receiver), receiver);
}

il_cel_value fn_call(fn_run *r, const char *name, const il_cel_value *args, uint32_t nargs) {
    const il_cel_builtin *b = fn_find(name);
    if (b == NULL) {
        fail_msg("no function %s", name);
    }
    return b->call(&r->run, args, nargs);
}

uint32_t fn_nargs(const fn_row *row) {
    uint32_t n = 0;
    while (n < sizeof row->args / sizeof *row->args && row->args[n].kind != IL_CEL_ERROR) {
        n++;
    }
    return n;
}

bool fn_same(const il_cel_value *a, const il_cel_value *b) {
    if (a->kind != b->kind || a->fault != b->fault) {
        return false;
    }
    switch ((il_cel_kind)a->kind) {
    case IL_CEL_ERROR:
    case IL_CEL_NULL:
        return true;
    case IL_CEL_BOOL:
        return a->u.b == b->u.b;
    case IL_CEL_DOUBLE:
        return (a->u.d != a->u.d && b->u.d != b->u.d) || memcmp(&a->u.d, &b->u.d, sizeof a->u.d) == 0;
    case IL_CEL_STRING:
    case IL_CEL_BYTES:
        return il_str_eq(il_cel_str(*a), il_cel_str(*b));
    case IL_CEL_INT:
    case IL_CEL_UINT:
    case IL_CEL_DURATION:
        return a->u.u == b->u.u;
    case IL_CEL_TIMESTAMP:
        return a->u.i == b->u.i && a->n == b->n;
    case IL_CEL_TYPE:
        return a->n == b->n;
    case IL_CEL_LIST:
    case IL_CEL_MAP:
        if (a->n != b->n) {
            return false;
        }
        for (size_t i = 0; i < (size_t)a->n * (a->kind == IL_CEL_MAP ? 2 : 1); i++) {
            if (!fn_same(&a->u.items[i], &b->u.items[i])) {
                return false;
            }
        }
        return true;
    case IL_CEL_OPTIONAL:
        return (a->u.items == NULL) == (b->u.items == NULL) && (a->u.items == NULL || fn_same(a->u.items, b->u.items));
    case IL_CEL_IP:
        return il_ip_eq((const il_ip *)(const void *)a->u.p, (const il_ip *)(const void *)b->u.p);
    case IL_CEL_CIDR: {
        const il_cidr *x = (const il_cidr *)(const void *)a->u.p, *y = (const il_cidr *)(const void *)b->u.p;
        return il_ip_eq(&x->ip, &y->ip) && x->prefix == y->prefix;
    }
    case IL_CEL_RECORD:
    case IL_CEL_OPAQUE:
    case IL_CEL_PARAM:
        break;
    }
    return false;
}

static const char *fn_shown(fn_run *r, const il_cel_value *v, char *out, size_t cap) {
    il_buf b;
    il_str s;
    il_buf_init(&b, &r->arena, (size_t)1 << 20);
    il_cel_write(v, &b);
    if (v->kind == IL_CEL_ERROR) {
        il_buf_puts(&b, " of fault ");
        il_buf_putu(&b, v->fault);
    }
    if (il_buf_done(&b, &s, NULL) != IL_OK) {
        s = IL_STR("?");
    }
    snprintf(out, cap, "%.*s", IL_STR_ARG(s));
    return out;
}

static uint64_t fn_size_of(const il_cel_value *v) {
    const bool sized = v->kind == IL_CEL_STRING || v->kind == IL_CEL_BYTES || v->kind == IL_CEL_LIST || v->kind == IL_CEL_MAP;
    return sized ? v->n : 1;
}

/* The answer of a call that may lack something is the wanted one or that something lacked. */
static void fn_starved(const fn_row *row, size_t place, const char *what, size_t n, il_cel_value got, const il_cel_value *want) {
    const il_cel_value spent = SPENT;
    if (!fn_same(&got, want) && !fn_same(&got, &spent)) {
        fail_msg("row %zu, %s, %s %zu: another answer, of kind %d and fault %d", place, row->name, what, n, got.kind, got.fault);
    }
}

static void fn_one(const fn_row *row, size_t place) {
    const uint32_t nargs = fn_nargs(row);
    const il_cel_builtin *b = fn_find(row->name);
    if (b == NULL) {
        fail_msg("row %zu: no function %s", place, row->name);
    }
    fn_run r;
    fn_run_init(&r, PLENTY, SIZE_MAX);
    const il_cel_value got = b->call(&r.run, row->args, nargs);
    if (!fn_same(&got, &row->want)) {
        char shown[400], wanted[400];
        fail_msg("row %zu, %s: %s, not %s", place, row->name, fn_shown(&r, &got, shown, sizeof shown),
                 fn_shown(&r, &row->want, wanted, sizeof wanted));
    }
    assert_true(r.run.steps >= 0);
    const uint64_t used = (uint64_t)(PLENTY - r.run.steps);

    uint64_t sizes[5];
    for (uint32_t i = 0; i < nargs; i++) {
        sizes[i] = fn_size_of(&row->args[i]);
    }
    const il_cel_bound bound = b->bound != NULL ? b->bound(sizes, nargs) : (il_cel_bound){1, UINT64_MAX};
    if (used + 1 > bound.cost || (got.kind != IL_CEL_ERROR && fn_size_of(&got) > bound.size)) {
        fail_msg("row %zu, %s: %zu steps and a size of %zu are above the bound of %zu and %zu", place, row->name,
                 (size_t)used + 1, (size_t)fn_size_of(&got), (size_t)bound.cost, (size_t)bound.size);
    }
    for (uint64_t steps = 0; steps<used; steps += used> 200 ? used / 100 : 1) {
        fn_run poor;
        fn_run_init(&poor, (int64_t)steps, SIZE_MAX);
        const il_cel_value v = b->call(&poor.run, row->args, nargs);
        const il_cel_value spent = SPENT;
        if (!fn_same(&v, &spent)) {
            fail_msg("row %zu, %s: %zu steps sufficed, %zu were used", place, row->name, (size_t)steps, (size_t)used);
        }
        fn_run_free(&poor);
    }
    for (size_t left = 0;; left++) {
        fn_run poor;
        fn_run_init(&poor, PLENTY, left);
        fn_starved(row, place, "allocations", left, b->call(&poor.run, row->args, nargs), &row->want);
        const bool failed = poor.memory.failed;
        fn_run_free(&poor);
        if (!failed) {
            break;
        }
    }
    r.run.scratch = NULL;
    r.run.steps = PLENTY;
    fn_starved(row, place, "without memory", 0, b->call(&r.run, row->args, nargs), &row->want);
    fn_run_free(&r);
}

void fn_rows(const fn_row *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        fn_one(&rows[i], i);
    }
}
