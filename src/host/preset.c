/* SPDX-License-Identifier: Apache-2.0 */
#include "host/preset.h"

#include "base/error.h"
#include "yaml/yaml.h"
#include "json/node.h"

static const il_preset_source *preset_find(il_str name) {
    for (const il_preset_source *s = il_preset_sources; s->name; s++) {
        if (il_str_eq(il_str_of(s->name), name)) {
            return s;
        }
    }
    return NULL;
}

/* Another version of the same name, else the nearest name. */
static il_status preset_unknown(il_str name, il_error *err) {
    const size_t at = il_str_find(name, IL_STR("@"), 0);
    const il_str stem = il_str_part(name, 0, at == SIZE_MAX ? name.n : at + 1);
    const char *nearest = NULL;
    unsigned best = 4;
    for (const il_preset_source *s = il_preset_sources; s->name; s++) {
        const unsigned slips = il_str_starts(il_str_of(s->name), stem) ? 0 : il_str_distance(il_str_of(s->name), name);
        if (slips < best) {
            best = slips;
            nearest = s->name;
        }
    }
    if (nearest) {
        return il_error_set(err, IL_E_NOT_FOUND, "there is no preset `%.*s`; did you mean `%s`?", IL_STR_ARG(name), nearest);
    }
    return il_error_set(err, IL_E_NOT_FOUND,
                        "there is no preset `%.*s`; `interlock validate --presets` lists those of this build", IL_STR_ARG(name));
}

static il_status preset_read(void *ctx, il_str name, const il_json **out, il_error *err) {
    il_preset_shelf *shelf = ctx;
    *out = il_json_get(shelf->read, name);
    const il_preset_source *source = preset_find(name);
    if (*out) {
        return IL_OK;
    }
    if (!source) {
        return preset_unknown(name, err);
    }
    il_json *doc = NULL;
    const il_status status = il_yaml_parse(shelf->arena, (il_str){source->text, source->n}, NULL, &doc, err);
    if (status != IL_OK) {
        return status;
    }
    if (!shelf->read) {
        shelf->read = il_json_make(shelf->arena, IL_JSON_OBJECT);
    }
    if (!il_json_set(shelf->read, il_str_of(source->name), doc)) {
        return il_arena_fail(shelf->arena, err);
    }
    *out = doc;
    return IL_OK;
}

il_presets il_host_presets(il_preset_shelf *shelf) {
    return (il_presets){.size = sizeof(il_presets), .ctx = shelf, .find = preset_read};
}
