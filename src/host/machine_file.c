/* SPDX-License-Identifier: Apache-2.0 */
#include "host/machine_file.h"

#include "base/error.h"
#include "base/str.h"

bool il_machine_file_is(il_str name) {
    return il_str_find(name, IL_STR("/"), 0) != SIZE_MAX || il_str_find(name, IL_STR("."), 0) != SIZE_MAX;
}

il_status il_machine_file_path(il_arena *arena, const char *policy, il_str name, const char **out, il_error *err) {
    const il_str path = il_str_of(policy);
    size_t folder = il_str_starts(name, IL_STR("/")) ? 0 : path.n;
    while (folder > 0 && path.p[folder - 1] != '/') {
        folder--;
    }
    char *p = il_arena_bytes(arena, folder + name.n + 1);
    if (!p) {
        return il_arena_fail(arena, err);
    }
    memcpy(p, path.p, folder);
    memcpy(p + folder, name.p, name.n);
    p[folder + name.n] = '\0';
    *out = p;
    return IL_OK;
}
