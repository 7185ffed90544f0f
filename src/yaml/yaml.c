/* SPDX-License-Identifier: Apache-2.0 */
/* libyaml's events to nodes. libyaml reads YAML 1.1; the places where that differs from 1.2 are closed by scalar.c (what a plain scalar
 * means), layout.c (what stands between scalars) and the refusals here (tags, anchors, directives, odd keys). */
#include "yaml/yaml.h"

#include <yaml.h>

#include "yaml/layout.h"
#include "yaml/scalar.h"
#include "json/member.h"

/* An open mapping or sequence. */
typedef struct yaml_level {
    il_json *node;
    bool flow;
    int indent;      /* column of a block mapping or sequence; of the one around it when flow */
    il_json *member; /* in a mapping, a key that waits for its value */
    size_t key_end;  /* where that key's text ends */
} yaml_level;

typedef struct yaml_reader {
    il_arena *arena;
    il_error *err;
    il_str text;
    bool cut; /* the text ended within a line of nothing but spaces */
    il_yaml_place place;
    size_t gap; /* end of the last token that was looked at */
    uint32_t nodes, depth;
    il_json_limits limits;
    il_json *root;
    yaml_level path[IL_JSON_DEPTH_MAX];
} yaml_reader;

static uint32_t yaml_line(const yaml_event_t *e) { return (uint32_t)e->start_mark.line + 1; }

static uint32_t yaml_col(const yaml_event_t *e) { return (uint32_t)e->start_mark.column + 1; }

static il_yaml_around yaml_around(const yaml_reader *r) {
    if (r->depth == 0) {
        return (il_yaml_around){.flow = false, .indent = -1};
    }
    const yaml_level *top = &r->path[r->depth - 1];
    return (il_yaml_around){.flow = top->flow, .inner = top->flow && r->depth > 1 && top[-1].flow, .indent = top->indent};
}

static il_status yaml_out_of_memory(yaml_reader *r, const yaml_event_t *e) {
    if (r->err != NULL) {
        r->err->line = yaml_line(e);
        r->err->col = yaml_col(e);
        r->err->offset = il_yaml_seek(&r->place, r->text, e->start_mark.index);
    }
    (void)il_arena_fail(r->arena, r->err);
    return r->arena->capped ? IL_E_LIMIT : IL_E_MEMORY;
}

/* A limit is reported where it was passed. */
static il_status yaml_limit(yaml_reader *r, const yaml_event_t *e, const char *what, uint32_t limit) {
    const size_t at = il_yaml_seek(&r->place, r->text, e->start_mark.index);
    return il_error_at(r->err, IL_E_LIMIT, yaml_line(e), yaml_col(e), at, "more than %u %s", limit, what);
}

/* A tag, an anchor or an alias, wherever a node begins. */
static il_status yaml_properties(yaml_reader *r, size_t at, bool tag, bool anchor) {
    const char c = at < r->text.n ? r->text.p[at] : '\0';
    if (!tag && !anchor && c != '!' && c != '&') {
        return IL_OK;
    }
    const il_str word = il_yaml_word(r->text, at);
    if (tag || c == '!') {
        return il_yaml_refuse(r->text, at, r->err, "`%.*s` is a tag; quote this", IL_STR_ARG(word));
    }
    return il_yaml_refuse(r->text, at, r->err, "`%.*s` is an anchor; quote this", IL_STR_ARG(word));
}

/* Looks at the text up to a token that begins at `from` and ends at `to`. */
static il_status yaml_token(yaml_reader *r, size_t from, size_t to) {
    if (from > r->gap) {
        IL_TRY(il_yaml_gap(r->text, r->gap, from, yaml_around(r), r->err));
    }
    if (to > r->gap) {
        r->gap = to;
    }
    return IL_OK;
}

static il_status yaml_node(yaml_reader *r, const yaml_event_t *e, size_t at, il_json **out) {
    if (r->nodes == r->limits.nodes) {
        return yaml_limit(r, e, "values", r->limits.nodes);
    }
    r->nodes++;
    yaml_level *top = r->depth == 0 ? NULL : &r->path[r->depth - 1];
    il_json *v = top != NULL && top->member != NULL ? top->member : IL_NEW(r->arena, il_json);
    if (v == NULL) {
        return yaml_out_of_memory(r, e);
    }
    v->line = yaml_line(e);
    v->col = yaml_col(e);
    v->offset = (uint32_t)at;
    if (top == NULL) {
        r->root = v;
    } else if (top->member != NULL) {
        top->member = NULL;
    } else {
        (void)il_json_push(top->node, v);
    }
    *out = v;
    return IL_OK;
}

static bool yaml_key_expected(const yaml_reader *r) {
    return r->depth > 0 && r->path[r->depth - 1].node->kind == IL_JSON_OBJECT && r->path[r->depth - 1].member == NULL;
}

static il_status yaml_copy(yaml_reader *r, const yaml_event_t *e, il_str *out) {
    const il_str s = {(const char *)e->data.scalar.value, e->data.scalar.length};
    if (il_arena_copy(r->arena, s, out, NULL) != IL_OK) {
        return yaml_out_of_memory(r, e);
    }
    return IL_OK;
}

static il_status yaml_doubtful(yaml_reader *r, size_t at, il_str s, bool key) {
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '{' || s.p[i] == '}') {
            return il_yaml_refuse(r->text, at, r->err, "`%c` in plain text; quote this", s.p[i]);
        }
    }
    static const char *const yes[] = {"y", "yes", "on", "true"}, *const no[] = {"n", "no", "off", "false"};
    const char *means = NULL;
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        means = il_str_eq_nocase(s, il_str_of(yes[i])) ? "true" : il_str_eq_nocase(s, il_str_of(no[i])) ? "false" : means;
    }
    return means && !key
               ? il_yaml_refuse(r->text, at, r->err,
                                "yaml readers disagree on a plain `%.*s`; write `%s`, or quote this if it is text", IL_STR_ARG(s),
                                means)
               : il_yaml_refuse(r->text, at, r->err, "yaml readers disagree on a plain `%.*s`; quote this", IL_STR_ARG(s));
}

static il_status yaml_key(yaml_reader *r, const yaml_event_t *e, size_t at, size_t end) {
    yaml_level *top = &r->path[r->depth - 1];
    const il_str s = {(const char *)e->data.scalar.value, e->data.scalar.length};
    if (e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
        const il_yaml_sense sense = il_yaml_sense_of(s);
        if (sense == IL_YAML_DOUBTFUL) {
            return il_str_eq(s, IL_STR("<<"))
                       ? il_yaml_refuse(r->text, at, r->err, "merge keys are not supported; write the members out")
                       : yaml_doubtful(r, at, s, true);
        }
        if (sense != IL_YAML_STRING) {
            return il_yaml_refuse(r->text, at, r->err, "the key `%.*s` is no string; quote this", IL_STR_ARG(s));
        }
    }
    if (s.n > r->limits.key_bytes) {
        return il_error_at(r->err, IL_E_LIMIT, yaml_line(e), yaml_col(e), at, "a key of more than %u bytes", r->limits.key_bytes);
    }
    il_json *v = IL_NEW(r->arena, il_json);
    if (v == NULL) {
        return yaml_out_of_memory(r, e);
    }
    IL_TRY(yaml_copy(r, e, &v->key));
    v->key_line = yaml_line(e);
    v->key_col = yaml_col(e);
    v->key_offset = (uint32_t)at;
    const il_json *same = il_json_member_add(top->node, v);
    if (same != NULL) {
        return il_yaml_refuse(r->text, at, r->err, "duplicate key `%.*s`, first at line %u column %u", IL_STR_ARG(s),
                              same->key_line, same->key_col);
    }
    top->member = v;
    top->key_end = end;
    return IL_OK;
}

/* An absent value is null; but not one that a comment swallowed, or a word in braces that was meant as a set. */
static il_status yaml_absent(yaml_reader *r, size_t at) {
    if (r->depth == 0) {
        return il_yaml_refuse(r->text, at, r->err, "the document is empty");
    }
    const yaml_level *top = &r->path[r->depth - 1];
    if (top->flow && top->member != NULL && !il_yaml_colon(r->text, top->key_end)) {
        return il_yaml_refuse(r->text, top->member->key_offset, r->err,
                              "`%.*s` in braces has no value; write `%.*s: null`, or quote the whole text",
                              IL_STR_ARG(top->member->key), IL_STR_ARG(top->member->key));
    }
    return il_yaml_missing(r->text, at, yaml_around(r), r->err);
}

static il_status yaml_plain(yaml_reader *r, const yaml_event_t *e, size_t at, il_json *v) {
    const il_str s = {(const char *)e->data.scalar.value, e->data.scalar.length};
    v->plain = true;
    switch (il_yaml_sense_of(s)) {
    case IL_YAML_NULL:
        v->kind = IL_JSON_NULL;
        return IL_OK;
    case IL_YAML_TRUE:
    case IL_YAML_FALSE:
        v->kind = IL_JSON_BOOL;
        v->truth = s.p[0] == 't';
        return IL_OK;
    case IL_YAML_NUMBER:
        v->kind = IL_JSON_NUMBER;
        return yaml_copy(r, e, &v->text);
    case IL_YAML_STRING:
        v->kind = IL_JSON_STRING;
        return yaml_copy(r, e, &v->text);
    case IL_YAML_DOUBTFUL:
        break;
    }
    return yaml_doubtful(r, at, s, false);
}

/* libyaml takes a value that stands below its key without being indented; YAML 1.2 does not. */
static il_status yaml_indented(yaml_reader *r, const yaml_event_t *e, size_t at) {
    if ((int64_t)e->start_mark.column <= yaml_around(r).indent) {
        return il_yaml_refuse(r->text, at, r->err, "indent this deeper than the key or `-` that it belongs to");
    }
    return IL_OK;
}

/* A text that stands on a line below its key. */
static il_status yaml_remark(const yaml_reader *r, size_t at) {
    const yaml_level *top = r->depth == 0 ? NULL : &r->path[r->depth - 1];
    return top == NULL || top->member == NULL ? IL_OK : il_yaml_remark(r->text, top->key_end, at, top->indent, r->err);
}

static il_status yaml_block(yaml_reader *r, const yaml_event_t *e, size_t at, size_t end) {
    if (r->depth == 0) {
        return il_yaml_refuse(r->text, at, r->err,
                              "a block of text needs a key before it"); /* readers differ on its indentation */
    }
    IL_TRY(il_yaml_header(r->text, at, r->err));
    return il_yaml_tail(r->text, at, end, (il_str){(const char *)e->data.scalar.value, e->data.scalar.length},
                        r->cut && end == r->text.n, r->err);
}

static il_status yaml_scalar(yaml_reader *r, const yaml_event_t *e) {
    const size_t at = il_yaml_seek(&r->place, r->text, e->start_mark.index);
    const size_t end = il_yaml_seek(&r->place, r->text, e->end_mark.index);
    const bool plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    const bool absent = plain && e->data.scalar.length == 0;
    if (!absent) {
        IL_TRY(yaml_token(r, at, end));
        IL_TRY(yaml_properties(r, at, e->data.scalar.tag != NULL, e->data.scalar.anchor != NULL));
    } else if (end > at) {
        /* libyaml drops a lone `!`, and an anchor may stand before nothing. */
        IL_TRY(yaml_properties(r, at, e->data.scalar.tag != NULL, e->data.scalar.anchor != NULL));
    }
    const bool block = e->data.scalar.style == YAML_LITERAL_SCALAR_STYLE || e->data.scalar.style == YAML_FOLDED_SCALAR_STYLE;
    if (!block) {
        IL_TRY(il_yaml_folded(r->text, at, end, yaml_around(r), r->err));
    }
    if (e->data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE) {
        IL_TRY(il_yaml_escapes(r->text, at, end, r->err));
    }
    if (yaml_key_expected(r)) {
        return yaml_key(r, e, at, end);
    }
    if (absent) {
        IL_TRY(yaml_absent(r, at));
    } else if (!yaml_around(r).flow) {
        IL_TRY(yaml_indented(r, e, at));
        IL_TRY(yaml_remark(r, at));
    }
    if (block) {
        IL_TRY(yaml_block(r, e, at, end));
    }
    il_json *v = NULL;
    IL_TRY(yaml_node(r, e, at, &v));
    IL_CHECK(v != NULL, r->err);
    if (plain) {
        return yaml_plain(r, e, at, v);
    }
    v->kind = IL_JSON_STRING;
    return yaml_copy(r, e, &v->text);
}

static il_status yaml_open(yaml_reader *r, const yaml_event_t *e, il_json_kind kind) {
    const bool object = kind == IL_JSON_OBJECT;
    const size_t at = il_yaml_seek(&r->place, r->text, e->start_mark.index);
    const size_t end = il_yaml_seek(&r->place, r->text, e->end_mark.index);
    const bool flow = object ? e->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE
                             : e->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
    IL_TRY(yaml_token(r, at, flow ? end : at));
    if (object) {
        IL_TRY(yaml_properties(r, at, e->data.mapping_start.tag != NULL, e->data.mapping_start.anchor != NULL));
    } else {
        IL_TRY(yaml_properties(r, at, e->data.sequence_start.tag != NULL, e->data.sequence_start.anchor != NULL));
    }
    if (yaml_key_expected(r)) {
        return il_yaml_refuse(r->text, at, r->err, "a key must be text");
    }
    if (flow && object && (end == at || r->text.p[at] != '{')) {
        return il_yaml_refuse(r->text, at, r->err, "a `key: value` pair in `[ ]`; put it in braces, or quote this");
    }
    if (r->depth == r->limits.depth) {
        return il_error_at(r->err, IL_E_LIMIT, yaml_line(e), yaml_col(e), at, "nested deeper than %u levels", r->limits.depth);
    }
    const il_yaml_around around = yaml_around(r);
    if (flow && !around.flow) {
        IL_TRY(yaml_indented(r, e, at));
    }
    il_json *v = NULL;
    IL_TRY(yaml_node(r, e, at, &v));
    IL_CHECK(v != NULL, r->err);
    v->kind = (uint8_t)kind;
    v->plain = true;
    r->path[r->depth++] = (yaml_level){.node = v, .flow = flow, .indent = flow ? around.indent : (int)e->start_mark.column};
    return IL_OK;
}

static il_status yaml_close(yaml_reader *r, const yaml_event_t *e) {
    if (r->path[r->depth - 1].flow) {
        IL_TRY(yaml_token(r, il_yaml_seek(&r->place, r->text, e->start_mark.index),
                          il_yaml_seek(&r->place, r->text, e->end_mark.index)));
    }
    r->depth--;
    return IL_OK;
}

static il_status yaml_document(yaml_reader *r, const yaml_event_t *e) {
    const size_t at = il_yaml_seek(&r->place, r->text, e->start_mark.index);
    if (r->root != NULL) {
        return il_yaml_refuse(r->text, at, r->err, "a second document; put it into a file of its own");
    }
    if (e->data.document_start.version_directive != NULL ||
        e->data.document_start.tag_directives.start != e->data.document_start.tag_directives.end) {
        return il_yaml_refuse(r->text, at, r->err, "directives are not supported; remove the `%%` line");
    }
    return IL_OK;
}

static il_status yaml_event(yaml_reader *r, const yaml_event_t *e) {
    switch (e->type) {
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        return IL_OK;
    case YAML_STREAM_END_EVENT:
        if (r->root == NULL) {
            return il_yaml_refuse(r->text, 0, r->err, "the document is empty");
        }
        return yaml_token(r, r->text.n, r->text.n);
    case YAML_DOCUMENT_START_EVENT:
        return yaml_document(r, e);
    case YAML_ALIAS_EVENT: {
        const size_t at = il_yaml_seek(&r->place, r->text, e->start_mark.index);
        const il_str word = il_yaml_word(r->text, at);
        return il_yaml_refuse(r->text, at, r->err, "`%.*s` is an alias; quote this", IL_STR_ARG(word));
    }
    case YAML_SCALAR_EVENT:
        return yaml_scalar(r, e);
    case YAML_SEQUENCE_START_EVENT:
        return yaml_open(r, e, IL_JSON_ARRAY);
    case YAML_MAPPING_START_EVENT:
        return yaml_open(r, e, IL_JSON_OBJECT);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return yaml_close(r, e);
    }
    return il_error_set(r->err, IL_E_INTERNAL, "unknown yaml event");
}

/* In `[ ]` and `{ }` a comment that was meant as a value also hides the closing bracket: better to name it than the end of the file. */
static il_status yaml_hidden(const yaml_reader *r, size_t to) {
    for (size_t i = r->gap; i < to && r->text.p[i] != '"' && r->text.p[i] != '\''; i++) {
        if (r->text.p[i] == '#') {
            return il_yaml_gap(r->text, r->gap, i + 1, yaml_around(r), r->err);
        }
    }
    return IL_OK;
}

/* What libyaml could not read. Most often it is text that begins with an indicator or holds one. */
static il_status yaml_broken(yaml_reader *r, const yaml_parser_t *parser) {
    if (parser->error == YAML_MEMORY_ERROR) {
        return il_error_at(r->err, IL_E_MEMORY, (uint32_t)parser->mark.line + 1, (uint32_t)parser->mark.column + 1,
                           il_yaml_seek(&r->place, r->text, parser->mark.index), "out of memory");
    }
    const size_t marks[2] = {parser->context != NULL ? parser->context_mark.index : parser->problem_mark.index,
                             parser->problem_mark.index};
    for (size_t i = 0; i < 2; i++) {
        const size_t at = il_yaml_seek(&r->place, r->text, marks[i]);
        const char c = at < r->text.n ? r->text.p[at] : ' ';
        if (c == '*' || c == '&' || c == '!' || c == '%' || c == '@' || c == '`') {
            const il_str word = il_yaml_word(r->text, at);
            return il_yaml_refuse(r->text, at, r->err, "plain text cannot begin with `%c` as `%.*s` does; quote this", c,
                                  IL_STR_ARG(word));
        }
    }
    const char *problem = parser->problem == NULL ? "not yaml" : parser->problem;
    const size_t at = il_yaml_seek(&r->place, r->text, parser->problem_mark.index);
    if (at < r->text.n && r->text.p[at] == '\t') {
        return il_yaml_refuse(r->text, at, r->err, "a tab; indent with spaces");
    }
    if (il_str_starts(il_str_of(problem), IL_STR("mapping values are not allowed"))) {
        return il_yaml_refuse(r->text, at, r->err, "a second `: ` on the line or wrong indentation; quote this if it is text");
    }
    if (yaml_around(r).flow) {
        IL_TRY(yaml_hidden(r, at));
        return il_yaml_refuse(r->text, at, r->err, "%s; quote text that holds one of `, [ ] { } : #`", problem);
    }
    return il_yaml_refuse(r->text, at, r->err, "%s", problem);
}

static il_status yaml_read(yaml_reader *r, yaml_parser_t *parser) {
    bool more = true;
    while (more) {
        yaml_event_t e;
        if (!yaml_parser_parse(parser, &e)) {
            return yaml_broken(r, parser);
        }
        const il_status status = yaml_event(r, &e);
        more = e.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&e);
        IL_TRY(status);
    }
    return IL_OK;
}

static il_status yaml_start(yaml_reader *r, il_json **out) {
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) {
        return il_error_at(r->err, IL_E_MEMORY, 1, 1, 0, "out of memory");
    }
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)r->text.p, r->text.n);
    const il_status status = yaml_read(r, &parser);
    yaml_parser_delete(&parser);
    if (status == IL_OK) {
        *out = r->root;
    }
    return status;
}

/* The text with a line end after its last line: without one, libyaml keeps less of a final block scalar than YAML 1.2 does. */
static il_status yaml_text(yaml_reader *r, il_str text) {
    if (text.n > 0 && text.p[text.n - 1] == '\n') {
        r->text = text;
        return IL_OK;
    }
    char *p = il_arena_bytes(r->arena, text.n + 1);
    if (p == NULL) {
        return il_arena_fail(r->arena, r->err);
    }
    if (text.n > 0) {
        memcpy(p, text.p, text.n);
    }
    p[text.n] = '\n';
    r->text = (il_str){p, text.n + 1};
    size_t line = text.n;
    while (line > 0 && p[line - 1] == ' ') {
        line--;
    }
    r->cut = line < text.n && (line == 0 || p[line - 1] == '\n');
    return IL_OK;
}

static bool yaml_may_be_json(il_str text) {
    size_t i = 0;
    while (i < text.n && (text.p[i] == ' ' || text.p[i] == '\t' || text.p[i] == '\n' || text.p[i] == '\r')) {
        i++;
    }
    return i < text.n && (text.p[i] == '{' || text.p[i] == '[');
}

static il_status yaml_parse(yaml_reader *r, il_str text, il_json **out) {
    /* Text that is JSON goes through the JSON reader: libyaml refuses surrogate pairs in escapes and tabs, which JSON allows. A lone carriage
     * return is refused below. */
    if (yaml_may_be_json(text) && !il_yaml_lone_return(text) && il_json_parse(r->arena, text, &r->limits, out, NULL) == IL_OK) {
        return IL_OK;
    }
    IL_TRY(il_yaml_characters(text, r->err));
    IL_TRY(yaml_text(r, text));
    return yaml_start(r, out);
}

il_status il_yaml_parse(il_arena *arena, il_str text, const il_json_limits *limits, il_json **out, il_error *err) {
    *out = NULL;
    yaml_reader r = {.arena = arena, .err = err};
    IL_TRY(il_json_limits_fill(limits, &r.limits, err));
    if (text.n > r.limits.bytes) {
        return il_error_at(err, IL_E_LIMIT, 1, 1, 0, "the text has %zu bytes, above the limit of %zu", text.n, r.limits.bytes);
    }
    const size_t cap = arena->cap;
    if (r.limits.memory < cap - arena->used) {
        arena->cap = arena->used + r.limits.memory;
    }
    const il_status status = yaml_parse(&r, text, out);
    arena->cap = cap;
    return status;
}
