/* SPDX-License-Identifier: Apache-2.0 */
/* The machine as a picture. A person reads some two dozen boxes: with more states than that, those that hold the same of the variables which the
 * regions read are one box. Places are computed from the order of discovery alone, so the same machine gives the same picture. */
#include "check/parts.h"
#include "check/report.h"
#include "check/report_page.h"

enum { DRAWING_BOXES = 24, DRAWING_STATES_MAX = 1 << 16, BOX_W = 150, GAP_X = 70, GAP_Y = 18, LINE = 15 };

typedef struct drawing {
    il_harden *h;
    const il_model *m;
    const il_space *space;
    uint64_t vars; /* by which states are told apart */
    bool exact;    /* by their values, else by whether they are at their first */
    uint64_t keys[DRAWING_BOXES + 1];
    uint32_t nboxes, states[DRAWING_BOXES], first[DRAWING_BOXES]; /* first: the node that was found first */
    uint64_t inside[DRAWING_BOXES];                               /* regions that some state of the box is in */
    uint64_t edges[DRAWING_BOXES][DRAWING_BOXES];                 /* actions */
} drawing;

static uint64_t drawing_key(const drawing *d, uint64_t state, uint64_t inside) {
    uint64_t key = 0;
    for (uint32_t v = 0; v < d->m->nvars; v++) {
        uint32_t value = il_model_get(d->m, state, v);
        if (d->vars >> v & 1) {
            key = il_model_set(d->m, key, v, d->exact || value == 0 ? value : 1);
        }
    }
    return inside ? key ^ UINT64_MAX : key; /* forbidden states are never taken together with others */
}

static uint64_t drawing_inside(const drawing *d, uint64_t state) {
    const il_subject *s = &d->h->subject;
    uint64_t in = 0;
    for (uint64_t left = s->never & ~s->edges; left != 0; left &= left - 1) {
        uint32_t r = (uint32_t)__builtin_ctzll(left);
        in |= il_steps_in_region(s->steps, r, state, 0, 0) ? UINT64_C(1) << r : 0;
    }
    return in;
}

static uint32_t drawing_box(drawing *d, uint64_t key) {
    for (uint32_t i = 0; i < d->nboxes; i++) {
        if (d->keys[i] == key) {
            return i;
        }
    }
    if (d->nboxes <= DRAWING_BOXES) {
        d->keys[d->nboxes++] = key;
    }
    return d->nboxes - 1;
}

/* false when that gives too many boxes. */
static bool drawing_group(drawing *d) {
    d->nboxes = 0;
    for (uint32_t i = 0; i < DRAWING_BOXES; i++) {
        d->states[i] = 0;
        d->inside[i] = 0;
    }
    for (uint32_t i = 0; i < d->space->n; i++) {
        uint64_t state = il_space_key(d->space, i), inside = drawing_inside(d, state);
        uint32_t before = d->nboxes, box = drawing_box(d, drawing_key(d, state, inside));
        if (d->nboxes > DRAWING_BOXES) {
            return false;
        }
        d->first[box] = d->nboxes > before ? i : d->first[box];
        d->states[box]++;
        d->inside[box] |= inside;
    }
    return true;
}

/* Variables that a `never` region of states reads, as far as a change of one shows it. */
static uint64_t drawing_read(const drawing *d) {
    uint64_t read = 0;
    for (uint32_t i = 0; i < d->space->n; i++) {
        uint64_t state = il_space_key(d->space, i), inside = drawing_inside(d, state);
        for (uint32_t v = 0; v < d->m->nvars; v++) {
            for (uint32_t x = 0; !(read >> v & 1) && x < d->m->vars[v].domain.size; x++) {
                read |= drawing_inside(d, il_model_set(d->m, state, v, x)) != inside ? UINT64_C(1) << v : 0;
            }
        }
    }
    return read;
}

static void drawing_choose(drawing *d) {
    uint32_t phase = il_model_var(d->m, IL_STR("phase"));
    d->vars = d->m->nvars < 64 ? (UINT64_C(1) << d->m->nvars) - 1 : UINT64_MAX;
    d->exact = true;
    if (drawing_group(d)) {
        return;
    }
    d->exact = false;
    d->vars = drawing_read(d) | (phase != UINT32_MAX ? UINT64_C(1) << phase : 0);
    if (drawing_group(d)) {
        return;
    }
    if (phase != UINT32_MAX) {
        d->vars &= ~(UINT64_C(1) << phase);
    }
    for (uint32_t v = d->m->nvars; !drawing_group(d) && v-- > 0;) {
        d->vars &= ~(UINT64_C(1) << v);
    }
}

static void drawing_edges(drawing *d) {
    const il_subject *s = &d->h->subject;
    for (uint32_t i = 0; i < d->space->n; i++) {
        uint64_t state = il_space_key(d->space, i);
        uint32_t from = drawing_box(d, drawing_key(d, state, drawing_inside(d, state)));
        il_steps_edges row = il_steps_row(s->steps, NULL, state);
        for (uint32_t k = 0; k < row.n; k++) {
            if (!row.edge[k].fault && row.edge[k].next != state) {
                uint64_t next = row.edge[k].next;
                uint32_t to = drawing_box(d, drawing_key(d, next, drawing_inside(d, next)));
                d->edges[from][to] |= UINT64_C(1) << s->m->symbol_action[row.edge[k].symbol];
            }
        }
    }
}

static il_json *drawing_boxes(const drawing *d, il_report *r) {
    il_json *list = il_report_list(r);
    for (uint32_t i = 0; i < d->nboxes; i++) {
        il_json *o = il_report_object(r), *holds = il_report_list(r), *inside = il_report_list(r);
        uint64_t state = il_space_key(d->space, d->first[i]);
        for (uint32_t v = 0; v < d->m->nvars; v++) {
            uint32_t value = il_model_get(d->m, state, v);
            const il_domain *domain = &d->m->vars[v].domain;
            if (!(d->vars >> v & 1) || value == 0) {
                continue;
            }
            il_buf b;
            il_buf_init(&b, r->arena, 8192);
            il_buf_put(&b, d->m->vars[v].name);
            bool plain = domain->kind == IL_DOMAIN_BOOL || il_str_eq(domain->names[0], IL_STR("none"));
            if (d->exact && domain->kind != IL_DOMAIN_BOOL) {
                il_buf_puts(&b, " ");
                il_buf_put(&b, domain->names[value]);
            } else if (!plain) {
                il_buf_puts(&b, " not ");
                il_buf_put(&b, domain->names[0]);
            }
            il_report_push(r, holds, il_report_buf(r, &b));
        }
        for (uint32_t k = 0; k < d->m->nregions; k++) {
            if (d->inside[i] >> k & 1) {
                il_report_push(r, inside, il_report_region(r, k));
            }
        }
        il_report_set(r, o, "box", il_report_number(r, i));
        il_report_set(r, o, "states", il_report_number(r, d->states[i]));
        il_report_set(r, o, "holds", holds);
        il_report_set(r, o, "inside", inside);
        il_report_push(r, list, o);
    }
    return list;
}

il_status il_drawing_object(il_harden *h, il_json **out, il_error *err) {
    il_arena *arena = h->subject.arena;
    il_report r = {.arena = arena, .m = h->subject.m};
    il_view v = {.subject = &h->subject};
    il_space space = {0};
    *out = il_report_null(&r);
    if (h->bounded || h->states > DRAWING_STATES_MAX) {
        return *out ? IL_OK : il_arena_fail(arena, err);
    }
    drawing *d = IL_NEW(arena, drawing);
    il_status status = d ? il_view_explore(&v, &space, err) : il_arena_fail(arena, err);
    if (status == IL_OK && !space.bound_hit) {
        *d = (drawing){.h = h, .m = h->subject.m, .space = &space};
        drawing_choose(d);
        drawing_edges(d);
        il_json *o = il_report_object(&r), *edges = il_report_list(&r);
        for (uint32_t i = 0; i < d->nboxes; i++) {
            for (uint32_t k = 0; k < d->nboxes; k++) {
                if (d->edges[i][k] && i != k) {
                    il_json *e = il_report_object(&r);
                    il_report_set(&r, e, "from", il_report_number(&r, i));
                    il_report_set(&r, e, "to", il_report_number(&r, k));
                    il_report_set(&r, e, "actions", il_report_actions(&r, d->edges[i][k]));
                    il_report_push(&r, edges, e);
                }
            }
        }
        il_report_set(&r, o, "states", il_report_number(&r, space.n));
        il_report_set(&r, o, "grouped", il_report_bool(&r, d->nboxes < space.n));
        il_report_set(&r, o, "variables", il_report_vars(&r, d->vars));
        il_report_set(&r, o, "boxes", drawing_boxes(d, &r));
        il_report_set(&r, o, "arrows", edges);
        *out = o;
        status = r.failed ? il_arena_fail(arena, err) : IL_OK;
    }
    il_space_free(&space);
    return status;
}

/* ---- the picture, from the object ---- */

typedef struct picture_box {
    uint32_t x, y, h, column;
} picture_box;

static uint32_t picture_number(const il_json *o, const char *key) {
    int64_t v = 0;
    return il_json_int(il_json_get(o, il_str_of(key)), &v) && v >= 0 && v < 1 << 20 ? (uint32_t)v : 0;
}

/* Columns by how much a box holds; in a column from top to bottom in the order of discovery. */
static uint32_t picture_place(const il_json *boxes, picture_box place[DRAWING_BOXES], uint32_t *width, uint32_t *height) {
    uint32_t n = 0, bottom[DRAWING_BOXES] = {0};
    *width = *height = 0;
    for (const il_json *b = il_json_first(boxes); b && n < DRAWING_BOXES; b = il_json_next(b), n++) {
        uint32_t holds = (uint32_t)il_json_count(il_json_get(b, IL_STR("holds"))), lines = holds + 1;
        uint32_t column = holds < DRAWING_BOXES ? holds : DRAWING_BOXES - 1;
        place[n] =
            (picture_box){.column = column, .x = 10 + column * (BOX_W + GAP_X), .y = 10 + bottom[column], .h = 14 + LINE * lines};
        bottom[column] += place[n].h + GAP_Y;
        *width = place[n].x + BOX_W + 30 > *width ? place[n].x + BOX_W + 30 : *width;
        *height = 10 + bottom[column] > *height ? 10 + bottom[column] : *height;
    }
    return n;
}

static void picture_attribute(il_buf *b, const char *name, uint32_t value) {
    il_buf_putc(b, ' ');
    il_buf_puts(b, name);
    il_buf_puts(b, "=\"");
    il_buf_putu(b, value);
    il_buf_putc(b, '"');
}

static void picture_point(il_buf *b, const char *command, uint32_t x, uint32_t y) {
    il_buf_puts(b, command);
    il_buf_putu(b, x);
    il_buf_putc(b, ' ');
    il_buf_putu(b, y);
}

static void picture_arrow(il_buf *b, const il_json *e, const picture_box *place, uint32_t n) {
    uint32_t i = picture_number(e, "from"), k = picture_number(e, "to");
    if (i >= n || k >= n) {
        return;
    }
    const picture_box *from = &place[i], *to = &place[k];
    bool forward = to->column > from->column;
    /* a third of each side's height for the arrows that come and go on it, so that both directions can be told apart */
    uint32_t y1 = from->y + from->h / 3, y2 = to->y + to->h * 2 / 3;
    il_buf_puts(b, "<g><title>");
    const char *between = "";
    for (const il_json *a = il_json_first(il_json_get(e, IL_STR("actions"))); a; a = il_json_next(a)) {
        il_buf_puts(b, between);
        il_page_escape(b, il_json_text(a));
        between = ", ";
    }
    il_buf_puts(b, "</title><path class=\"edge\" marker-end=\"url(#tip)\" d=\"");
    if (forward) {
        uint32_t x1 = from->x + BOX_W, x2 = to->x, reach = (x2 - x1) / 2;
        picture_point(b, " M", x1, y1);
        picture_point(b, " C", x1 + reach, y1);
        picture_point(b, " ", x2 - reach, y2);
        picture_point(b, " ", x2 - 2, y2);
    } else { /* back, or down the same column: out and in on the right */
        uint32_t x1 = from->x + BOX_W, x2 = to->x + BOX_W;
        picture_point(b, " M", x1, y1);
        picture_point(b, " C", x1 + 25, y1);
        picture_point(b, " ", x2 + 25, y2);
        picture_point(b, " ", x2 + 2, y2);
    }
    il_buf_puts(b, "\"/></g>\n");
}

void il_drawing_svg(const il_json *drawing_object, il_buf *b) {
    const il_json *boxes = il_json_get(drawing_object, IL_STR("boxes"));
    picture_box place[DRAWING_BOXES];
    uint32_t width = 0, height = 0, i = 0;
    uint32_t n = picture_place(boxes, place, &width, &height);
    il_buf_puts(b, "<svg role=\"img\" aria-label=\"The machine as a graph\"");
    picture_attribute(b, "width", width);
    picture_attribute(b, "height", height);
    il_buf_puts(b, " viewBox=\"0 0 ");
    il_buf_putu(b, width);
    il_buf_putc(b, ' ');
    il_buf_putu(b, height);
    il_buf_puts(b, "\">\n<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
                   "orient=\"auto\"><path class=\"tip\" d=\"M0 0L8 4L0 8z\"/></marker></defs>\n");
    for (const il_json *e = il_json_first(il_json_get(drawing_object, IL_STR("arrows"))); e; e = il_json_next(e)) {
        picture_arrow(b, e, place, n);
    }
    for (const il_json *o = il_json_first(boxes); o && i < n; o = il_json_next(o), i++) {
        uint32_t y = place[i].y + 16;
        bool inside = il_json_count(il_json_get(o, IL_STR("inside"))) > 0;
        il_buf_puts(b, "<g><rect rx=\"6\" class=\"node");
        il_buf_puts(b, i == 0 ? " start" : "");
        il_buf_puts(b, inside ? " inside\"" : "\"");
        picture_attribute(b, "x", place[i].x);
        picture_attribute(b, "y", place[i].y);
        picture_attribute(b, "width", BOX_W);
        picture_attribute(b, "height", place[i].h);
        il_buf_puts(b, "/>\n");
        for (const il_json *h = il_json_first(il_json_get(o, IL_STR("holds"))); h; h = il_json_next(h), y += LINE) {
            il_buf_puts(b, "<text");
            picture_attribute(b, "x", place[i].x + 8);
            picture_attribute(b, "y", y);
            il_buf_putc(b, '>');
            il_page_escape(b, il_json_text(h));
            il_buf_puts(b, "</text>\n");
        }
        il_buf_puts(b, "<text");
        picture_attribute(b, "x", place[i].x + 8);
        picture_attribute(b, "y", y);
        il_buf_puts(b, " opacity=\".75\">");
        il_buf_puts(b, i == 0 ? "start, " : "");
        il_buf_put(b, il_json_text(il_json_get(o, IL_STR("states"))));
        il_buf_puts(b, picture_number(o, "states") == 1 ? " state" : " states");
        il_buf_puts(b, inside ? ", forbidden</text></g>\n" : "</text></g>\n");
    }
    il_buf_puts(b, "</svg>\n");
}
