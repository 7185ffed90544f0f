/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interlock/host.h"

#define RECORDING_IDS_BYTES ((size_t)1 << 30)
#define RECORDING_AGENT_MAX ((size_t)IL_SESSION_ID_BYTES - 1)
#define RECORDING_NODES_MAX 4000000u
#define RECORDING_MEMORY_MAX ((size_t)768 << 20)

il_status il_recordings_open(const char *path, il_recordings *out, il_error *err) {
    *out = (il_recordings){0};
    il_arena_init(&out->arena, il_host_alloc(), RECORDING_IDS_BYTES);
    out->owned = !(path[0] == '-' && path[1] == '\0');
    out->from = out->owned ? fopen(path, "re") : stdin;
    if (!out->from) {
        const int why = errno;
        return il_error_set(err,
                            why == ENOENT   ? IL_E_NOT_FOUND
                            : why == ENOMEM ? IL_E_MEMORY
                                            : IL_E_PERMISSION,
                            "cannot open it: %s", strerror(why));
    }
    out->ids = il_json_make(&out->arena, IL_JSON_OBJECT);
    return out->ids ? IL_OK : il_arena_fail(&out->arena, err);
}

void il_recordings_close(il_recordings *r) {
    if (r->owned && r->from) {
        (void)fclose(r->from);
    }
    free(r->buffer);
    il_arena_free(&r->arena);
    *r = (il_recordings){0};
}

static il_status recording_room(il_recordings *r, size_t n, il_error *err) {
    if (n <= r->cap) {
        return IL_OK;
    }
    const size_t cap = r->cap ? r->cap * 2 : 65536;
    char *p = realloc(r->buffer, cap);
    if (!p) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    r->buffer = p;
    r->cap = cap;
    return IL_OK;
}

/* One line without its end; *more is false at the end of the file. */
static il_status recording_line(il_recordings *r, il_str *text, bool *more, il_error *err) {
    size_t n = 0;
    int c;
    r->line++;
    while ((c = getc_unlocked(r->from)) != EOF && c != '\n') {
        if (n == IL_RECORDING_BYTES_MAX) {
            return il_error_at(err, IL_E_LIMIT, r->line, 0, 0, "the line is longer than %zu bytes", IL_RECORDING_BYTES_MAX);
        }
        IL_TRY(recording_room(r, n + 1, err));
        r->buffer[n++] = (char)c;
    }
    if (c == EOF && ferror(r->from)) {
        return il_error_at(err, errno == EISDIR ? IL_E_INVALID : IL_E_IO, 0, 0, 0, "cannot read it: %s", strerror(errno));
    }
    *text = (il_str){r->buffer, n};
    *more = c != EOF || n > 0;
    return IL_OK;
}

static bool recording_blank(il_str s) {
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != ' ' && s.p[i] != '\t' && s.p[i] != '\r') {
            return false;
        }
    }
    return true;
}

/* As a monitor takes it for a session's principal. */
static bool recording_agent_ok(il_str name) {
    bool ok = name.n > 0 && name.n <= RECORDING_AGENT_MAX;
    for (size_t i = 0; i < name.n; i++) {
        ok = ok && name.p[i] > ' ' && name.p[i] < 0x7f;
    }
    return ok;
}

static bool recording_absent(const il_json *v) { return il_json_kind_of(v) == IL_JSON_NULL; }

/* Text that is itself JSON is read as JSON, once: a text in a text stays what its tool wrote, for whoever reads the result as JSON would read it a second time. */
static const il_json *recording_result(il_arena *arena, const il_json *result) {
    const il_json_limits limits = {
        .size = sizeof limits, .bytes = IL_RECORDING_BYTES_MAX, .nodes = RECORDING_NODES_MAX, .memory = RECORDING_MEMORY_MAX};
    il_json *inner;
    if (recording_absent(result)) {
        return NULL;
    }
    if (il_json_kind_of(result) == IL_JSON_STRING && il_json_parse(arena, il_json_text(result), &limits, &inner, NULL) == IL_OK &&
        il_json_kind_of(inner) != IL_JSON_STRING) {
        return inner;
    }
    return result;
}

static il_status recording_error(il_arena *arena, const il_json *error, il_str *out, il_error *err) {
    il_buf text;
    if (recording_absent(error) || il_json_kind_of(error) == IL_JSON_STRING) {
        *out = il_json_text(error);
        return IL_OK;
    }
    il_buf_init(&text, arena, IL_RECORDING_BYTES_MAX);
    il_json_write(&text, error, IL_JSON_AS_READ);
    return il_buf_done(&text, out, err);
}

static il_status recording_step(il_arena *arena, const il_json *from, il_recording_step *out, il_error *err) {
    if (il_json_kind_of(from) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(from, err, IL_E_INVALID, "a step is an object");
    }
    const il_json *tool = il_json_get(from, IL_STR("tool")), *args = il_json_get(from, IL_STR("args")),
                  *approved = il_json_get(from, IL_STR("approved"));
    if (il_json_kind_of(tool) != IL_JSON_STRING || il_json_text(tool).n == 0) {
        return IL_JSON_FAIL(tool ? tool : from, err, IL_E_INVALID, "a step needs `tool`, a name");
    }
    if (!recording_absent(args) && il_json_kind_of(args) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(args, err, IL_E_INVALID, "`args` is an object");
    }
    if (!recording_absent(approved) && il_json_kind_of(approved) != IL_JSON_BOOL) {
        return IL_JSON_FAIL(approved, err, IL_E_INVALID, "`approved` is true or false");
    }
    static const char *const strange[] = {"arguments", "input", "tool_name"};
    *out = (il_recording_step){.tool = il_json_text(tool),
                               .args = recording_absent(args) ? NULL : args,
                               .result = recording_result(arena, il_json_get(from, IL_STR("result"))),
                               .failed = !recording_absent(il_json_get(from, IL_STR("error"))),
                               .approved = il_json_bool(approved)};
    IL_TRY(il_recording_labels(arena, il_json_get(from, IL_STR("labels")), out->args, &out->labels, &out->nlabels, err));
    for (size_t i = 0; i < sizeof strange / sizeof strange[0] && !out->strange; i++) {
        const il_json *member = il_json_get(from, il_str_of(strange[i]));
        out->strange = member ? strange[i] : NULL;
        out->strange_col = member ? member->key_col : 0;
    }
    return recording_error(arena, il_json_get(from, IL_STR("error")), &out->error, err);
}

static il_status recording_id(il_recordings *r, il_arena *arena, const il_json *root, il_recording *out, il_error *err) {
    const il_json *id = il_json_get(root, IL_STR("id"));
    il_str kept;
    if (recording_absent(id)) {
        id = il_json_number(arena, out->line);
        if (!id) {
            return il_arena_fail(arena, err);
        }
    } else if (il_json_kind_of(id) != IL_JSON_STRING && il_json_kind_of(id) != IL_JSON_NUMBER) {
        return IL_JSON_FAIL(id, err, IL_E_INVALID, "`id` is a text or a number");
    }
    out->id_node = id;
    out->id = il_json_text(id);
    IL_TRY(il_arena_copy(&r->arena, out->id, &kept, err));
    il_json *line = il_json_number(&r->arena, out->line);
    if (!line) {
        return il_arena_fail(&r->arena, err);
    }
    if (!il_json_set(r->ids, kept, line)) {
        return IL_JSON_FAIL(id->line ? id : root, err, IL_E_INVALID, "the id `%.*s` is on line %.*s already", IL_STR_ARG(kept),
                            IL_STR_ARG(il_json_text(il_json_get(r->ids, kept))));
    }
    return IL_OK;
}

static il_status recording_parent(const il_recordings *r, const il_json *root, il_recording *out, il_error *err) {
    const il_json *parent = il_json_get(root, IL_STR("parent"));
    int64_t line = 0;
    if (recording_absent(parent)) {
        return IL_OK;
    }
    if (il_json_kind_of(parent) != IL_JSON_STRING && il_json_kind_of(parent) != IL_JSON_NUMBER) {
        return IL_JSON_FAIL(parent, err, IL_E_INVALID, "`parent` is the id of an earlier session");
    }
    out->parent = il_json_text(parent);
    if (!il_json_int(il_json_get(r->ids, out->parent), &line) || line >= (int64_t)out->line) {
        return IL_JSON_FAIL(parent, err, IL_E_INVALID, "the parent `%.*s` is not an earlier session of this file",
                            IL_STR_ARG(out->parent));
    }
    out->parent_line = (uint32_t)line;
    return IL_OK;
}

static il_status recording_read(il_recordings *r, il_arena *arena, il_str text, il_recording *out, il_error *err) {
    const il_json_limits limits = {
        .size = sizeof limits, .bytes = IL_RECORDING_BYTES_MAX, .nodes = RECORDING_NODES_MAX, .memory = RECORDING_MEMORY_MAX};
    il_json *root;
    IL_TRY(il_json_parse(arena, text, &limits, &root, err));
    if (il_json_kind_of(root) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(root, err, IL_E_INVALID, "a session is an object");
    }
    const il_json *prompt = il_json_get(root, IL_STR("prompt")), *steps = il_json_get(root, IL_STR("steps")),
                  *agent = il_json_get(root, IL_STR("agent"));
    if (!recording_absent(prompt) && il_json_kind_of(prompt) != IL_JSON_STRING) {
        return IL_JSON_FAIL(prompt, err, IL_E_INVALID, "`prompt` is a text or null");
    }
    if (il_json_kind_of(steps) != IL_JSON_ARRAY) {
        return IL_JSON_FAIL(steps ? steps : root, err, IL_E_INVALID, "a session needs `steps`, a list");
    }
    if (!recording_absent(agent) && (il_json_kind_of(agent) != IL_JSON_STRING || !recording_agent_ok(il_json_text(agent)))) {
        return IL_JSON_FAIL(agent, err, IL_E_INVALID,
                            "`agent` is the name of whose session it is: visible ASCII, at most %zu bytes", RECORDING_AGENT_MAX);
    }
    out->prompt = il_json_text(prompt);
    out->agent = il_json_text(agent);
    IL_TRY(recording_id(r, arena, root, out, err));
    IL_TRY(recording_parent(r, root, out, err));
    out->steps = IL_NEW_ARRAY(arena, il_recording_step, il_json_count(steps));
    if (!out->steps) {
        return il_arena_fail(arena, err);
    }
    for (const il_json *step = il_json_first(steps); step; step = il_json_next(step)) {
        IL_TRY(recording_step(arena, step, &out->steps[out->nsteps], err));
        out->nsteps++;
    }
    return IL_OK;
}

il_status il_recordings_next(il_recordings *r, il_arena *arena, il_recording *out, bool *more, il_error *err) {
    il_str text = {0};
    il_error local = {0};
    il_error *e = err ? err : &local;
    *out = (il_recording){0};
    do {
        IL_TRY(recording_line(r, &text, more, e));
    } while (*more && recording_blank(text));
    if (!*more) {
        return IL_OK;
    }
    out->line = r->line;
    e->line = 0;
    const il_status status = recording_read(r, arena, text, out, e);
    if (status != IL_OK) {
        /* The reader saw one line; its position is in the file. */
        e->line = r->line;
    }
    return status;
}
