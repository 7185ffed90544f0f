/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of paths that hold credentials, and of those that run later. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "policy/paths.h"

static void path_secrets(void **state) {
    (void)state;
    static const char *const yes[] = {"~/.curlrc",
                                      "src/.git/config",
                                      "~/.claude.json",
                                      "app/secrets/db",
                                      "/home/a/.env",
                                      ".env",
                                      "src/.env.local",
                                      "~/.ssh/id_ed25519",
                                      "~/.SSH/config",
                                      "/etc/shadow",
                                      "a/./.env",
                                      "C:\\Users\\a\\.aws\\credentials",
                                      "keys/server.PEM",
                                      "/proc/self/environ",
                                      "x/../.env",
                                      "x/../notes.md",
                                      "",
                                      "/",
                                      "a\xe2\x80\x8b.md",
                                      "~/.env ",
                                      "~/.env.",
                                      "a/%2eenv",
                                      "/etc/./shadow",
                                      "$HOME/x",
                                      "~/.password-store/mail.txt",
                                      "~/.config/Google/Chrome/Default/Web Data",
                                      "passwords.txt",
                                      "~/SSH~1/id",
                                      "notes.md::$DATA"};
    static const char *const no[] = {
        "notes.md",   "/home/a/src/main.c", "src/environment.c", "/srv/etc/shadow.md", "C:\\work\\a.c", "~/notes/\xc3\x9c-x.md",
        "etc/shadow", "./a/b.txt",          "src/password.py",   "~/a~/b.txt"};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        if (!il_path_secret(il_str_of(yes[i]))) {
            fail_msg("`%s` is no secret", yes[i]);
        }
    }
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        if (il_path_secret(il_str_of(no[i]))) {
            fail_msg("`%s` is a secret", no[i]);
        }
    }
}

static void path_runs(void **state) {
    (void)state;
    static const char *const yes[] = {"~/.curlrc",
                                      "src/.kiro/steering/a.md",
                                      "~/.cursor/mcp.json",
                                      "p/.claude/settings.json",
                                      ".vscode/tasks.json",
                                      ".git/hooks/pre-commit",
                                      ".GIT/hooks/x",
                                      "p/.github/workflows/ci.yml",
                                      "package.json",
                                      "a/Makefile",
                                      "~/.bashrc",
                                      "a/b/../../.bashrc",
                                      "/etc/cron.d/x",
                                      "~/bin/tool",
                                      "run.sh",
                                      ("ma\xe2\x84\xaa"
                                       "efile"),
                                      "AGENTS.md",
                                      "x/.git/./config",
                                      "p/GIT~1/hooks/pre-commit",
                                      "/private/etc/sudoers",
                                      "vite.config.mts",
                                      "p/binding.gyp",
                                      "p/.yarn/releases/yarn.cjs",
                                      "p/.pylintrc",
                                      "p/init.gradle",
                                      "~/.psqlrc",
                                      "~/Library/Application Support/Code/User/tasks.json",
                                      "~/.config/systemd/user/a.service"};
    static const char *const no[] = {"~/notes/topic.md",   "src/a.c", "docs/makefiles.md", "data/etc/readme.txt", "report.pdf",
                                     "~/src/github/x.txt", "a.json"};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        if (!il_path_runs_later(il_str_of(yes[i]))) {
            fail_msg("`%s` does not run later", yes[i]);
        }
    }
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        if (il_path_runs_later(il_str_of(no[i]))) {
            fail_msg("`%s` runs later", no[i]);
        }
    }
}

/* Every pattern covers what it says, with its stars filled. */
static void path_patterns(void **state) {
    (void)state;
    struct {
        const char *const *list;
        bool (*ask)(il_str path);
    } lists[] = {{il_paths_secret, il_path_secret}, {il_paths_runs_later, il_path_runs_later}};
    for (size_t l = 0; l < 2; l++) {
        for (const char *const *p = lists[l].list; *p != NULL; p++) {
            char path[256], *to = path;
            to += (*p)[0] == '/' ? 0 : sprintf(to, "/top/");
            for (const char *c = *p; *c != '\0'; c++) {
                *to++ = *c == '*' ? 'q' : *c;
            }
            (void)sprintf(to, "%s", to[-1] == '/' ? "below/it.txt" : "");
            if (!lists[l].ask(il_str_of(path))) {
                fail_msg("`%s` does not cover `%s`", *p, path);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(path_secrets), cmocka_unit_test(path_runs),
                                       cmocka_unit_test(path_patterns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
