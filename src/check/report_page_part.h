/* SPDX-License-Identifier: Apache-2.0 */
/* Between the two files of the report's page: report_page.c, and the lesser sections in report_sections.c. */
#pragma once
#include "check/report_page.h"

static inline const il_json *page_get(const il_json *o, const char *key) { return il_json_get(o, il_str_of(key)); }
static inline il_str page_str(const il_json *o, const char *key) {
    const il_json *v = page_get(o, key);
    return v && (v->kind == IL_JSON_STRING || v->kind == IL_JSON_NUMBER) ? il_json_text(v) : (il_str){0};
}
static inline bool page_there(const il_json *v) { return v && v->kind != IL_JSON_NULL; }

/* Anything: what is flat in one line, lists of flat things in one line, the rest as nested lists. */
void il_page_any(il_page *p, const il_json *v, uint32_t depth);
/* `flight=true, untrusted=held`, in the order of their names. */
void il_page_values(il_page *p, const il_json *o);
/* A column of a table: the member of each row's object, written by `write` or as anything is. */
typedef struct il_page_column {
    const char *key;
    void (*write)(il_page *p, const il_json *o, const il_json *v); /* `v`: the member, which may be absent; NULL: il_page_any() */
} il_page_column;
/* A row: the cells of one object. */
void il_page_cells(il_page *p, const il_json *o, const il_page_column *columns, size_t n);
/* A column of verdicts. */
void il_page_judged(il_page *p, const il_json *o, const il_json *v);

void il_page_lists(il_page *p, const il_json *report);
void il_page_bounds(il_page *p, const il_json *bounds);
void il_page_diagnosis(il_page *p, const il_json *diagnosis);
void il_page_recovery(il_page *p, const il_json *recovery);
void il_page_sticky(il_page *p, const il_json *sticky);
void il_page_survey(il_page *p, const il_json *survey);
void il_page_sessions(il_page *p, const il_json *sessions);
void il_page_mislabel(il_page *p, const il_json *mislabel);
void il_page_confirmers(il_page *p, const il_json *list);
