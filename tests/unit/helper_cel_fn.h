/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the functions of the expression language, each as a row of a table. A row is also called with every smaller budget,
 * with every allocation failing and without memory at all, which must give IL_CEL_BUDGET or the same answer, and is held
 * against its static bound. */
#pragma once
#include "cel/builtin.h"
#include "helper_memory.h"

/* Values as initialisers. */
/* clang-format off */
#define BAD(f) {.kind = IL_CEL_ERROR, .fault = (f)}
#define NIL {.kind = IL_CEL_NULL}
#define BOOL(x) {.kind = IL_CEL_BOOL, .u = {.b = (x)}}
#define INT(x) {.kind = IL_CEL_INT, .u = {.i = (x)}}
#define UINT(x) {.kind = IL_CEL_UINT, .u = {.u = (x)}}
#define DOUBLE(x) {.kind = IL_CEL_DOUBLE, .u = {.d = (x)}}
#define TEXT(x) {.kind = IL_CEL_STRING, .n = sizeof(x) - 1, .u = {.p = (x)}}
#define BYTES(x) {.kind = IL_CEL_BYTES, .n = sizeof(x) - 1, .u = {.p = (x)}}
#define STAMP(s, ns) {.kind = IL_CEL_TIMESTAMP, .n = (ns), .u = {.i = (s)}}
#define SPAN(ns) {.kind = IL_CEL_DURATION, .u = {.i = (ns)}}
#define TYPE(k) {.kind = IL_CEL_TYPE, .n = (k)}
#define NONE {.kind = IL_CEL_OPTIONAL}
#define SOME(...) {.kind = IL_CEL_OPTIONAL, .n = 1, .u = {.items = (const il_cel_value[]){__VA_ARGS__}}}
#define EMPTY {.kind = IL_CEL_LIST}
#define COUNT(...) (sizeof((il_cel_value[]){__VA_ARGS__}) / sizeof(il_cel_value))
#define LIST(...) {.kind = IL_CEL_LIST, .n = COUNT(__VA_ARGS__), .u = {.items = (const il_cel_value[]){__VA_ARGS__}}}
/* Keys and values in turn, in the order of il_cel_sort_entries. */
#define MAP(...) {.kind = IL_CEL_MAP, .n = COUNT(__VA_ARGS__) / 2, .u = {.items = (const il_cel_value[]){__VA_ARGS__}}}
/* clang-format on */
#define NO_OVERLOAD BAD(IL_CEL_NO_OVERLOAD)
#define BAD_VALUE BAD(IL_CEL_BAD_VALUE)
#define OVERFLOW BAD(IL_CEL_OVERFLOW)
#define SPENT BAD(IL_CEL_BUDGET)

typedef struct fn_row {
    const char *name; /* with a point before it: called on the first argument */
    il_cel_value args[5];
    il_cel_value want; /* an error: any of its fault */
} fn_row;

/* How many arguments a row has: those before the first that is zero. */
uint32_t fn_nargs(const fn_row *row);
/* Runs the rows; fails the test at the first that is wrong, saying which. */
void fn_rows(const fn_row *rows, size_t n);
#define FN_ROWS(rows) fn_rows((rows), sizeof(rows) / sizeof(rows)[0])

/* One call with a budget and a scratch arena. The result lives until fn_run_free. */
typedef struct fn_run {
    test_memory memory;
    il_arena arena;
    il_cel_run run;
} fn_run;
void fn_run_init(fn_run *r, int64_t steps, size_t allocations); /* SIZE_MAX: none fails */
void fn_run_free(fn_run *r);
il_cel_value fn_call(fn_run *r, const char *name, const il_cel_value *args, uint32_t nargs);

/* The same kind and the same value to the last bit; NaN is NaN, and errors are the same when their faults are. */
bool fn_same(const il_cel_value *a, const il_cel_value *b);
