/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/model.h"

#include "host/file.h"
#include "host/machine_file.h"
#include "host/shipped.h"
#include "policy/compiled.h"
#include "yaml/yaml.h"

static il_status model_shipped(il_arena *arena, il_str name, const il_json *at, il_json **out, il_error *err) {
    il_str source = {0};
    if (!il_shipped_source(name, &source)) {
        char names[128];
        (void)il_shipped_names(names, sizeof names);
        return IL_JSON_FAIL(at, err, IL_E_INVALID, "no machine `%.*s` is shipped; there is: %s", IL_STR_ARG(name), names);
    }
    return il_yaml_parse(arena, source, NULL, out, err);
}

static il_status model_of_policy(il_arena *arena, const char **path, const il_json *policy, il_json **out, il_error *err) {
    il_str name = {0};
    IL_TRY(il_policy_machine_name(policy, &name, err));
    if (il_machine_file_is(name)) {
        IL_TRY(il_machine_file_path(arena, *path, name, path, err));
        return il_file_document(arena, *path, IL_FILE_TRUSTED, out, err);
    }
    return model_shipped(arena, name, il_json_get(policy, IL_STR("machine")), out, err);
}

static il_status model_document(il_arena *arena, const char *path, il_json **out, il_error *err) {
    const il_str name = il_str_of(path);
    il_str source = {0};
    if (!il_machine_file_is(name) && il_shipped_source(name, &source)) { /* as in a policy, a bare word is no file */
        return il_yaml_parse(arena, source, NULL, out, err);
    }
    il_status status = il_file_document(arena, path, IL_FILE_DATA, out, err);
    if (status == IL_E_NOT_FOUND && !il_machine_file_is(name)) {
        char names[128];
        (void)il_shipped_names(names, sizeof names);
        return il_error_set(err, IL_E_NOT_FOUND, "there is no such file, and of machines %s is shipped", names);
    }
    return status;
}

il_status il_cli_model(il_arena *arena, const char **path, il_model **out, il_error *err) {
    il_json *doc = NULL;
    IL_TRY(model_document(arena, *path, &doc, err));
    if (il_json_get(doc, IL_STR("interlock"))) {
        IL_TRY(model_of_policy(arena, path, doc, &doc, err));
    }
    return il_model_load(arena, doc, out, err);
}
