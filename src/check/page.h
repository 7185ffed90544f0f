/* SPDX-License-Identifier: Apache-2.0 */
/* One way to write a report that people read, in two forms: Markdown, and one HTML file that needs nothing from outside. Text is escaped here and
 * nowhere else. Blocks are opened and closed in pairs; errors stick in the buffer. Not for other modules. */
#pragma once
#include "json/node.h"

typedef enum il_page_form { IL_PAGE_MARKDOWN, IL_PAGE_HTML } il_page_form;

typedef struct il_page {
    il_buf *b;
    il_page_form form;
    uint32_t depth;   /* of lists */
    uint32_t item[8]; /* of ordered lists: the number of the last item; UINT32_MAX in one that has none */
    bool cell;        /* inside a table */
} il_page;

void il_page_begin(il_page *p, il_buf *b, il_page_form form, il_str title);
void il_page_end(il_page *p);
void il_page_heading(il_page *p, uint32_t level, il_str text);
void il_page_text(il_page *p, il_str text);
void il_page_word(il_page *p, const char *z);
void il_page_code(il_page *p, il_str text);
void il_page_strong(il_page *p, il_str text);
/* A verdict, told by more than its colour. */
void il_page_verdict(il_page *p, il_str word);
void il_page_open(il_page *p); /* a paragraph */
void il_page_close(il_page *p);
void il_page_list(il_page *p, bool ordered);
void il_page_item(il_page *p);
void il_page_item_end(il_page *p);
void il_page_list_end(il_page *p);
/* A table of `n` columns; then rows of cells. */
void il_page_table(il_page *p, const char *const *heads, size_t n);
void il_page_row(il_page *p);
void il_page_cell(il_page *p);
void il_page_cell_end(il_page *p);
void il_page_row_end(il_page *p);
void il_page_table_end(il_page *p);
/* Text for HTML, also inside an attribute. */
void il_page_escape(il_buf *b, il_str text);
