/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/model.h"

#include "host/machine_file.h"
#include "host/shipped.h"
#include "policy/compiled.h"
#include "yaml/yaml.h"

static il_status model_of_policy(il_arena *arena, il_named_machine *m, il_error *err) {
    il_str name = {0}, source = {0};
    IL_TRY(il_policy_machine_name(m->policy, &name, err));
    if (il_machine_file_is(name)) {
        IL_TRY(il_machine_file_path(arena, m->path, name, &m->path, err));
        return il_file_document(arena, m->path, IL_FILE_TRUSTED, &m->document, err);
    }
    if (!il_shipped_source(name, &source)) {
        char names[128];
        (void)il_shipped_names(names, sizeof names);
        return IL_JSON_FAIL(il_json_get(m->policy, IL_STR("machine")), err, IL_E_INVALID,
                            "no machine `%.*s` is shipped; there is: %s", IL_STR_ARG(name), names);
    }
    m->shipped = name;
    return il_yaml_parse(arena, source, NULL, &m->document, err);
}

static il_status model_document(il_arena *arena, il_named_machine *m, il_file_trust trust, il_error *err) {
    const il_str name = il_str_of(m->path);
    il_str source = {0};
    if (!il_machine_file_is(name) && il_shipped_source(name, &source)) { /* as in a policy, a bare word is no file */
        m->shipped = name;
        return il_yaml_parse(arena, source, NULL, &m->document, err);
    }
    const il_status status = il_file_document(arena, m->path, trust, &m->document, err);
    if (status == IL_E_NOT_FOUND && !il_machine_file_is(name)) {
        char names[128];
        (void)il_shipped_names(names, sizeof names);
        return il_error_set(err, IL_E_NOT_FOUND, "there is no such file; shipped are the machines %s", names);
    }
    return status;
}

il_status il_named_machine_load(il_arena *arena, il_named_machine *m, il_file_trust trust, il_error *err) {
    IL_TRY(model_document(arena, m, trust, err));
    if (il_json_get(m->document, IL_STR("interlock")) || il_interbolt_is(m->document)) {
        m->policy = m->document;
        IL_TRY(model_of_policy(arena, m, err));
    }
    return il_model_load(arena, m->document, &m->model, err);
}

il_status il_cli_model(il_arena *arena, const char **path, il_model **out, il_error *err) {
    il_named_machine m = {.path = *path};
    const il_status status = il_named_machine_load(arena, &m, IL_FILE_DATA, err);
    *path = m.path;
    *out = m.model;
    return status;
}
