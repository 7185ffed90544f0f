/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "interlock/host.h"

/* What --ledger or the environment says; NULL: neither. */
static const char *ledger_named(const char *flag) {
    const char *named = getenv("INTERLOCK_LEDGER");
    return flag || !named || !named[0] ? flag : named;
}

il_status il_ledger_path(const char *flag, char out[IL_LEDGER_PATH_BYTES], il_error *err) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    size_t n;
    out[0] = '\0';
    flag = ledger_named(flag);
    if (flag) {
        n = il_str_of(flag).n;
        if (n >= IL_LEDGER_PATH_BYTES) {
            return il_error_set(err, IL_E_LIMIT, "the ledger's path is longer than %d bytes", IL_LEDGER_PATH_BYTES - 1);
        }
        memcpy(out, flag, n + 1);
        return IL_OK;
    }
    /* XDG base directories: a relative path there is invalid and ignored. */
    const bool xdg = state && state[0] == '/';
    if (!xdg && (!home || home[0] != '/')) {
        return il_error_set(err, IL_E_INVALID, "neither XDG_STATE_HOME nor HOME says where the ledger is; name it with --ledger");
    }
    const il_str folder = il_str_of(xdg ? state : home),
                 rest = xdg ? IL_STR("/interlock/ledger.db") : IL_STR("/.local/state/interlock/ledger.db");
    if (folder.n + rest.n >= IL_LEDGER_PATH_BYTES) {
        return il_error_set(err, IL_E_LIMIT, "the ledger's path is longer than %d bytes; name another with --ledger",
                            IL_LEDGER_PATH_BYTES - 1);
    }
    memcpy(out, folder.p, folder.n);
    memcpy(out + folder.n, rest.p, rest.n + 1); /* with the literal's NUL */
    return IL_OK;
}

void il_ledger_note_owner(const char *path, const char *what) {
    struct stat st;
    if (stat(path, &st) == 0 && st.st_uid == geteuid()) {
        (void)fprintf(stderr, "note: this user owns the ledger; an agent that runs as the same user could %s\n", what);
    }
}

il_status il_ledger_use(const char *flag, const il_ledger_options *options, char path[IL_LEDGER_PATH_BYTES], il_ledger **out,
                        il_error *err) {
    il_ledger_options used = options ? *options : (il_ledger_options){.size = sizeof used};
    *out = NULL;
    IL_TRY(il_ledger_path(flag, path, err));
    used.make_folders = !ledger_named(flag);
    used.sha256 = il_host_system().sha256;
    return il_ledger_open(il_host_alloc(), path, &used, out, err);
}
