/* SPDX-License-Identifier: Apache-2.0 */
#include "check/page.h"

/* Colours have enough contrast on both grounds; print is black on white. No script, no font, nothing that is loaded. */
static const char page_style[] =
    ":root{color-scheme:light "
    "dark;--ink:#1b1f24;--soft:#57606a;--line:#d0d7de;--ground:#fff;--band:#f6f8fa;--good:#116329;--bad:#a40e26;"
    "--open:#7d4e00;--edge:#57606a}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9ea7b3;--line:#3d444d;--ground:#0d1117;--band:#161b22;--good:#"
    "56d364;"
    "--bad:#ff7b72;--open:#e3b341;--edge:#9ea7b3}}"
    "body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground);max-width:75rem;margin:0 "
    "auto;padding:1rem}"
    "h1,h2,h3{line-height:1.2}table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}"
    "th,td{border:1px solid var(--line);padding:.25rem .6rem;text-align:left;vertical-align:top}th{background:var(--band)}"
    "code{font:.9em ui-monospace,monospace;background:var(--band);padding:.05em .3em;border-radius:3px;overflow-wrap:anywhere}"
    ".good{color:var(--good);font-weight:700}.bad{color:var(--bad);font-weight:700}.open{color:var(--open);font-weight:700}"
    "figure{margin:1rem 0;overflow-x:auto}figcaption{color:var(--soft)}svg text{fill:var(--ink);font:12px system-ui,sans-serif}"
    "svg .node{fill:var(--band);stroke:var(--edge)}svg .start{stroke-width:3}svg .inside{stroke:var(--bad);stroke-width:3;"
    "stroke-dasharray:6 3}svg .edge{fill:none;stroke:var(--edge);stroke-width:1.2;opacity:.75}svg .tip{fill:var(--edge)}"
    "@media print{:root{--ink:#000;--ground:#fff;--band:#fff;--soft:#000;--good:#000;--bad:#000;--open:#000;--edge:#000}"
    "body{max-width:none}table,figure{break-inside:avoid}}";

void il_page_escape(il_buf *b, il_str text) {
    for (size_t i = 0; i < text.n; i++) {
        switch (text.p[i]) {
        case '&':
            il_buf_puts(b, "&amp;");
            break;
        case '<':
            il_buf_puts(b, "&lt;");
            break;
        case '>':
            il_buf_puts(b, "&gt;");
            break;
        case '"':
            il_buf_puts(b, "&quot;");
            break;
        case '\'':
            il_buf_puts(b, "&#39;");
            break;
        default:
            il_buf_putc(b, text.p[i]);
        }
    }
}

static void page_escape_markdown(const il_page *p, il_str text) {
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        bool special = c == '\\' || c == '`' || c == '*' || c == '_' || c == '<' || c == '>' || c == '[' || c == ']' ||
                       c == '|' || c == '#' || c == '&' || c == '~' || c == '!';
        if (special) {
            il_buf_putc(p->b, '\\');
        }
        il_buf_putc(p->b, c == '\n' || c == '\r' ? ' ' : c);
    }
}

void il_page_text(il_page *p, il_str text) {
    if (p->form == IL_PAGE_HTML) {
        il_page_escape(p->b, text);
    } else {
        page_escape_markdown(p, text);
    }
}

void il_page_word(il_page *p, const char *z) { il_page_text(p, il_str_of(z)); }

void il_page_code(il_page *p, il_str text) {
    if (p->form == IL_PAGE_HTML) {
        il_buf_puts(p->b, "<code>");
        il_page_escape(p->b, text);
        il_buf_puts(p->b, "</code>");
        return;
    }
    il_buf_putc(p->b, '`');
    for (size_t i = 0; i < text.n; i++) { /* nothing inside a code span can be escaped but by leaving it out */
        char c = text.p[i];
        if (p->cell && c == '|') {
            il_buf_puts(p->b, "\\|");
        } else {
            il_buf_putc(p->b, c == '`' || c == '\n' || c == '\r' ? ' ' : c);
        }
    }
    il_buf_putc(p->b, '`');
}

void il_page_strong(il_page *p, il_str text) {
    il_buf_puts(p->b, p->form == IL_PAGE_HTML ? "<strong>" : "**");
    il_page_text(p, text);
    il_buf_puts(p->b, p->form == IL_PAGE_HTML ? "</strong>" : "**");
}

void il_page_verdict(il_page *p, il_str word) {
    bool good = il_str_eq(word, IL_STR("PASS")) || il_str_eq(word, IL_STR("FULLY MEDIATED"));
    bool bad = il_str_eq(word, IL_STR("FAIL")) || il_str_eq(word, IL_STR("ERROR")) || il_str_eq(word, IL_STR("NOT MEDIATED")) ||
               il_str_eq(word, IL_STR("NO VERDICT"));
    if (p->form == IL_PAGE_HTML) {
        il_buf_puts(p->b, good  ? "<span class=\"good\">&#10003; "
                          : bad ? "<span class=\"bad\">&#10007; "
                                : "<span class=\"open\">? ");
        il_page_escape(p->b, word);
        il_buf_puts(p->b, "</span>");
    } else {
        il_page_strong(p, word);
    }
}

void il_page_begin(il_page *p, il_buf *b, il_page_form form, il_str title) {
    *p = (il_page){.b = b, .form = form};
    if (form == IL_PAGE_HTML) {
        il_buf_puts(b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
        il_page_escape(b, title);
        il_buf_puts(b, "</title>\n<style>");
        il_buf_puts(b, page_style);
        il_buf_puts(b, "</style>\n</head>\n<body>\n<main>\n");
    }
    il_page_heading(p, 1, title);
}

void il_page_end(il_page *p) {
    if (p->form == IL_PAGE_HTML) {
        il_buf_puts(p->b, "</main>\n</body>\n</html>\n");
    }
}

void il_page_heading(il_page *p, uint32_t level, il_str text) {
    if (p->form == IL_PAGE_HTML) {
        il_buf_puts(p->b, "<h");
        il_buf_putu(p->b, level);
        il_buf_putc(p->b, '>');
        il_page_escape(p->b, text);
        il_buf_puts(p->b, "</h");
        il_buf_putu(p->b, level);
        il_buf_puts(p->b, ">\n");
        return;
    }
    for (uint32_t i = 0; i < level; i++) {
        il_buf_putc(p->b, '#');
    }
    il_buf_putc(p->b, ' ');
    il_page_text(p, text);
    il_buf_puts(p->b, "\n\n");
}

void il_page_open(il_page *p) { il_buf_puts(p->b, p->form == IL_PAGE_HTML ? "<p>" : ""); }
void il_page_close(il_page *p) { il_buf_puts(p->b, p->form == IL_PAGE_HTML ? "</p>\n" : "\n\n"); }

enum { PAGE_LISTS = sizeof((il_page *)0)->item / sizeof(uint32_t) };

void il_page_list(il_page *p, bool ordered) {
    if (p->form == IL_PAGE_HTML) {
        il_buf_puts(p->b, ordered ? "<ol>\n" : "<ul>\n");
    } else if (p->depth > 0) {
        il_buf_putc(p->b, '\n');
    }
    if (p->depth < PAGE_LISTS) {
        p->item[p->depth] = ordered ? 0 : UINT32_MAX;
    }
    p->depth++;
}

void il_page_item(il_page *p) {
    if (p->form == IL_PAGE_HTML) {
        il_buf_puts(p->b, "<li>");
        return;
    }
    for (uint32_t i = 1; i < p->depth; i++) {
        il_buf_puts(p->b, "   ");
    }
    uint32_t *n = &p->item[p->depth <= PAGE_LISTS ? p->depth - 1 : PAGE_LISTS - 1];
    if (*n == UINT32_MAX) {
        il_buf_puts(p->b, "* ");
    } else {
        il_buf_putu(p->b, ++*n);
        il_buf_puts(p->b, ". ");
    }
}

void il_page_item_end(il_page *p) {
    bool line = !p->b->failed && p->b->n > 0 && p->b->p[p->b->n - 1] == '\n';
    il_buf_puts(p->b, p->form == IL_PAGE_HTML ? "</li>\n" : line ? "" : "\n");
}

void il_page_list_end(il_page *p) {
    bool ordered = p->depth <= PAGE_LISTS && p->item[p->depth - 1] != UINT32_MAX;
    p->depth--;
    if (p->form == IL_PAGE_HTML) {
        il_buf_puts(p->b, ordered ? "</ol>\n" : "</ul>\n");
    } else if (p->depth == 0) {
        il_buf_putc(p->b, '\n');
    }
}

void il_page_table(il_page *p, const char *const *heads, size_t n) {
    if (p->form == IL_PAGE_HTML) {
        il_buf_puts(p->b, "<table>\n<thead><tr>");
        for (size_t i = 0; i < n; i++) {
            il_buf_puts(p->b, "<th scope=\"col\">");
            il_page_escape(p->b, il_str_of(heads[i]));
            il_buf_puts(p->b, "</th>");
        }
        il_buf_puts(p->b, "</tr></thead>\n<tbody>\n");
        return;
    }
    for (size_t i = 0; i < n; i++) {
        il_buf_puts(p->b, "| ");
        il_page_word(p, heads[i]);
        il_buf_putc(p->b, ' ');
    }
    il_buf_puts(p->b, "|\n");
    for (size_t i = 0; i < n; i++) {
        il_buf_puts(p->b, "|---");
    }
    il_buf_puts(p->b, "|\n");
}

void il_page_row(il_page *p) { il_buf_puts(p->b, p->form == IL_PAGE_HTML ? "<tr>" : "|"); }
void il_page_cell(il_page *p) {
    p->cell = true;
    il_buf_puts(p->b, p->form == IL_PAGE_HTML ? "<td>" : " ");
}
void il_page_cell_end(il_page *p) {
    p->cell = false;
    il_buf_puts(p->b, p->form == IL_PAGE_HTML ? "</td>" : " |");
}
void il_page_row_end(il_page *p) { il_buf_puts(p->b, p->form == IL_PAGE_HTML ? "</tr>\n" : "\n"); }
void il_page_table_end(il_page *p) { il_buf_puts(p->b, p->form == IL_PAGE_HTML ? "</tbody>\n</table>\n" : "\n"); }
