/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a starter policy. The file appears whole or not at all, and one that is there is never touched. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/output.h"

#define INIT_PATH_BYTES 4096

static const char init_policy[] =
    "# An Interlock policy. After a change: interlock validate policy.yaml\n"
    "interlock: 1\n"
    "\n"
    "# The session machine. `standard` is proven: untrusted content, private data and an unvouched way out never meet in one "
    "session;\n"
    "# a secret goes to its own service only; nothing is changed for good, unapproved, once untrusted content was read. "
    "`trifecta` is the first\n"
    "# of these rules alone.\n"
    "machine: standard\n"
    "\n"
    "# enforce: what is denied does not run. monitor: decide and record everything, but let calls through (to try a policy "
    "out).\n"
    "mode: enforce\n"
    "\n"
    "# Names of your own: sending there is not a way out. Patterns: \"@x\" a mail domain, .x a host with its subdomains, \"x/*\" "
    "repositories.\n"
    "# ours:\n"
    "#   email: [\"@corp.example\"]\n"
    "#   host: [.corp.example]\n"
    "#   repo: [\"corp/*\"]\n"
    "\n"
    "# Others that are trusted, for what they accept: untrusted, sensitive, secret.\n"
    "# destinations:\n"
    "#   - { host: [api.github.com], accepts: [untrusted] }\n"
    "\n"
    "# Servers that run on your side. Any other is outside: each of its tools at least brings untrusted content and lets data "
    "out.\n"
    "servers:\n"
    "  files: { trust: inside }\n"
    "  web: { trust: inside }\n"
    "\n"
    "# What each tool does (SERVER.TOOL). A tool that no entry matches is denied. Effects, at their worst:\n"
    "#   untrusted  brings content that a stranger may have written      sensitive  reads private data\n"
    "#   egress     lets data out                                        secret     reads a credential\n"
    "#   commit     changes something for good                           []         none of these\n"
    "tools:\n"
    "  # @modelcontextprotocol/server-filesystem on a private folder\n"
    "  - { match: \"files.(read_file|read_text_file|read_media_file|read_multiple_files)\", effects: [sensitive] }\n"
    "  - { match: \"files.(list_directory|list_directory_with_sizes|directory_tree|search_files|get_file_info)\", effects: "
    "[sensitive] }\n"
    "  - { match: \"files.(write_file|edit_file|create_directory|move_file|list_allowed_directories)\", effects: [] }\n"
    "  # A page from the web is untrusted, and its address can carry data out.\n"
    "  - { match: web.fetch, effects: [untrusted, egress], sink: once, audience: public, to: { url: url } }\n"
    "  # A sink names its destinations (`to`), its free text (`reads`) and ids, flags and sizes (`plain`, never looked at). "
    "`sink: once` sends by "
    "value and\n"
    "  # keeps nothing open; without it the way out stays open for the whole session.\n"
    "  - { match: web.send_message, effects: [egress], sink: once, audience: addressed, to: { email: to }, reads: [subject, "
    "body] }\n"
    "\n"
    "# With this section a human may release a stopped call that sends or changes something, once; without it every denial is "
    "final.\n"
    "# `expires` is how long a request, and an approval of it, lasts. `sink: standing` is never released.\n"
    "approvals: { expires: 10m }\n";

static il_status init_write(int fd, il_error *err) {
    const char *at = init_policy;
    size_t left = sizeof init_policy - 1;
    while (left > 0) {
        const ssize_t put = write(fd, at, left);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return il_error_set(err, IL_E_IO, "cannot write it: %s", strerror(errno));
        }
        at += put;
        left -= (size_t)put;
    }
    /* Others may read it; only its owner may write it, or it would be refused as a policy. */
    const mode_t mask = umask(077);
    (void)umask(mask);
    if (fchmod(fd, 0644 & ~mask) != 0 || fsync(fd) != 0) {
        return il_error_set(err, IL_E_IO, "cannot write it: %s", strerror(errno));
    }
    return IL_OK;
}

static il_status init_place(const char *made, const char *path, il_error *err) {
    if (link(made, path) == 0) {
        return IL_OK;
    }
    if (errno == EEXIST) {
        return il_error_set(err, IL_E_EXISTS, "it is there already and is not overwritten; name another file");
    }
    /* A file system without hard links. */
    if (renameat2(AT_FDCWD, made, AT_FDCWD, path, RENAME_NOREPLACE) == 0) {
        return IL_OK;
    }
    return il_error_set(err, errno == EEXIST ? IL_E_EXISTS : IL_E_IO, "cannot make it: %s", strerror(errno));
}

static il_status init_file(const char *path, il_error *err) {
    char made[INIT_PATH_BYTES];
    struct stat st;
    /* Said before anything is made; what counts is the link below. */
    if (lstat(path, &st) == 0) {
        return il_error_set(err, IL_E_EXISTS, "it is there already and is not overwritten; name another file");
    }
    const int n = snprintf(made, sizeof made, "%s.XXXXXX", path);
    if (n < 0 || (size_t)n >= sizeof made) {
        return il_error_set(err, IL_E_LIMIT, "the path is longer than %d bytes", INIT_PATH_BYTES - 1);
    }
    const int fd = mkostemp(made, O_CLOEXEC);
    if (fd < 0) {
        const int why = errno;
        return il_error_set(err,
                            why == ENOENT || why == ENOTDIR ? IL_E_NOT_FOUND
                            : why == EACCES || why == EROFS ? IL_E_PERMISSION
                                                            : IL_E_IO,
                            "cannot make it: %s", strerror(why));
    }
    il_status status = init_write(fd, err);
    if (close(fd) != 0 && status == IL_OK) {
        status = il_error_set(err, IL_E_IO, "cannot write it: %s", strerror(errno));
    }
    if (status == IL_OK) {
        status = init_place(made, path, err);
    }
    (void)unlink(made);
    return status;
}

il_exit il_cmd_init(int argc, char **argv) {
    il_arguments arguments;
    il_error err = {0};
    if (il_options_read(argc, argv, NULL, 0, &arguments, &err) != IL_OK) {
        return il_fail_usage(argv[0], &err);
    }
    if (arguments.n > 1) {
        return il_usage(argv[0], "one file, not %d", arguments.n);
    }
    const char *path = arguments.n ? arguments.v[0] : "policy.yaml";
    if (strcmp(path, "-") == 0) {
        (void)fputs(init_policy, stdout);
        return IL_EXIT_FINE;
    }
    if (init_file(path, &err) != IL_OK) {
        return il_fail(path, &err);
    }
    (void)fputs("wrote ", stdout);
    il_put_text(stdout, il_str_of(path));
    (void)fputs("; edit it, then run: interlock validate ", stdout);
    il_put_text(stdout, il_str_of(path));
    (void)fputc('\n', stdout);
    return IL_EXIT_FINE;
}
