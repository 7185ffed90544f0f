/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/paths.h"

#include "policy/glob.h"
#include "policy/kind_part.h"

#define IL_PATHS_BYTES_MAX 4096u

const char *const il_paths_secret[] = {
    /* environment and application secrets */
    ".env", ".env.*", "*.env", ".envrc", "secrets.*", "secret.*", "credentials", "credentials.*", "*credentials*.json",
    "*service-account*.json", "*service_account*.json", "client_secret*.json", "appsettings*.json", "local.settings.json",
    ".htpasswd", "wp-config.php", "database.yml", "master.key", "terraform.tfstate", "terraform.tfstate.*", "*.tfvars",
    "vault.yml", ".vault-token", ".vault_pass*", "*.tfstate", ".flaskenv", "secrets/", ".secrets", ".secret", "password.txt",
    "passwords.txt", "passwords.csv", "passwords.md", "api_key", "apikey", "api_key.txt", "api_keys.txt", "apikey.txt",
    "token.json", "tokens.json", "auth.json", "*.token", ".git/config", ".curlrc", ".wgetrc", ".claude.json",
    ".claude/.credentials.json", ".gemini/oauth_creds.json",
    /* keys */
    ".ssh/", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.pem", "*.key", "*.ppk", "*.p12", "*.pfx", "*.jks", "*.keystore",
    "*.kdbx", "*.kdb", "*.asc", "*.gpg", ".gnupg/", "private-keys-v1.d/", "*.ovpn", "wallet.dat", "keyrings/", "login.keychain*",
    /* clients that keep a token */
    ".netrc", "_netrc", ".npmrc", ".yarnrc.yml", ".pypirc", ".pgpass", ".my.cnf", ".git-credentials", ".docker/config.json",
    ".dockercfg", ".kube/", "kubeconfig*", ".aws/", ".azure/", ".config/gcloud/", ".config/gh/", ".config/hub", ".config/rclone/",
    ".boto", ".s3cfg", ".oci/", ".terraformrc", ".terraform.d/credentials*", ".cargo/credentials*", ".gem/credentials",
    ".composer/auth.json", ".m2/settings.xml", ".m2/settings-security.xml", ".gradle/gradle.properties", "NuGet.Config",
    ".config/op/", ".config/fly/", ".config/doctl/", ".config/hcloud/", ".config/glab-cli/", ".config/github-copilot/",
    ".config/filezilla/", ".config/sops/", ".databrickscfg", ".dbt/profiles.yml", ".kaggle/", ".huggingface/",
    ".cache/huggingface/token", ".sentryclirc", ".password-store/", ".authinfo", ".mylogin.cnf", ".msmtprc", ".mbsyncrc",
    ".fetchmailrc", ".offlineimaprc", "*.age", "*.agekey", "*.pkcs12",
    /* browsers and shells */
    "Login Data", "Web Data", "Local State", "Cookies", "cookies.sqlite", "key4.db", "logins.json", "formhistory.sqlite",
    ".*_history", ".lesshst",
    /* the system's */
    "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d/", "/proc/*/environ", "/proc/*/mem",
    "/run/secrets/", "/var/run/secrets/", "/etc/ssl/private/", "/etc/letsencrypt/", "/etc/NetworkManager/system-connections/",
    "/etc/wpa_supplicant*", "/etc/krb5.keytab", "*.keytab", NULL};

const char *const il_paths_runs_later[] = {
    /* version control and pipelines */
    ".git/", "hooks/*", ".githooks/", ".husky/", ".pre-commit-config.yaml", ".gitattributes", ".gitmodules", ".gitconfig",
    ".config/git/", ".hg/hgrc", ".github/", ".gitlab-ci.yml", ".gitlab/", ".circleci/", ".travis.yml", "azure-pipelines*.yml",
    "bitbucket-pipelines.yml", "Jenkinsfile", ".drone.yml", ".woodpecker*", ".buildkite/", "appveyor.yml", ".forgejo/", ".gitea/",
    "renovate.json*", "dependabot.yml", ".cirrus.yml", ".semaphore/", ".tekton/", "cloudbuild*.y*ml", "codemagic.yaml",
    "lefthook*.y*ml", ".lefthook*.y*ml", ".pre-commit-hooks.yaml", ".lintstagedrc*",
    /* agents and editors */
    ".cursor/", ".cursorrules", ".claude/", ".claude.json", "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", ".gemini/",
    ".codex/", ".windsurf/", ".windsurfrules", ".aider*", ".continue/", ".roo/", ".clinerules", ".clinerules/", ".cline/",
    ".kiro/", ".junie/", ".amazonq/", ".opencode/", "opencode.json*", ".goosehints", ".agents/", ".agent/", ".trae/", ".factory/",
    ".augment/", ".qwen/", "QWEN.md", ".crush/", "crush.json", "WARP.md", ".warp/", ".rules", "CONVENTIONS.md", ".mcp.json",
    "mcp.json", "mcp_settings.json", "claude_desktop_config.json", ".vscode/", "*.code-workspace", ".idea/", ".zed/",
    ".devcontainer/", "devcontainer.json", ".vimrc", ".exrc", ".nvimrc", ".config/nvim/", ".vim/", "Code/User/", "Cursor/User/",
    "VSCodium/User/", ".emacs", ".emacs.d/", ".dir-locals.el", ".editorconfig", "SKILL.md",
    /* builds and package managers */
    "Makefile", "makefile", "GNUmakefile", "*.mk", "CMakeLists.txt", "*.cmake", "meson.build", "configure", "configure.ac",
    "BUILD", "BUILD.bazel", "WORKSPACE", "*.bzl", "justfile", "Taskfile.y*ml", "Rakefile", "Gemfile", "*.gemspec", "*.rake",
    "package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", ".npmrc", ".yarnrc*", ".pnpmfile.cjs", "*.config.js",
    "*.config.cjs", "*.config.mjs", "*.config.ts", "*.config.mts", "*.config.cts", "deno.json*", "bunfig.toml", "binding.gyp",
    ".yarn/", ".mocharc*", "nodemon.json", "turbo.json", "nx.json", "project.json", "wrangler.toml", "wrangler.json*",
    "netlify.toml", "vercel.json", "serverless.y*ml", ".releaserc*", ".babelrc*", ".eslintrc*", ".prettierrc*", "gulpfile.*",
    "Gruntfile.*", "node_modules/", "setup.py", "setup.cfg", "pyproject.toml", "conftest.py", "noxfile.py", "tox.ini",
    "pytest.ini", ".coveragerc", ".pylintrc", "pylintrc", "mypy.ini", ".mypy.ini", "manage.py", "SConstruct", "SConscript",
    "wscript", "Snakefile", ".ipython/", ".jupyter/", "sitecustomize.py", "usercustomize.py", "*.pth", "requirements*.txt",
    "Pipfile*", "poetry.lock", "uv.lock", "pip.conf", "site-packages/", "dist-packages/", ".venv/", "venv/", "Cargo.toml",
    "Cargo.lock", "build.rs", ".cargo/", "rust-toolchain*", "go.mod", "go.sum", "*.gradle", "*.gradle.kts", "gradle.properties",
    "gradlew*", "gradle/", "pom.xml", "mvnw*", ".mvn/", "build.sbt", "composer.json", "mix.exs", "rebar.config", "stack.yaml",
    "*.cabal", "Setup.hs", "Package.swift", "Podfile", "Fastfile", "Dangerfile", "Guardfile", "Brewfile", ".rspec",
    ".rubocop.yml", "phpunit.xml*", "*.csproj", "*.fsproj", "*.vbproj", "*.vcxproj", "*.sln", "NuGet.Config", "*.props",
    "*.targets", "flake.nix", "shell.nix", "default.nix", "Dockerfile*", "*.dockerfile", "docker-compose*.y*ml", "compose*.y*ml",
    "Containerfile", "Vagrantfile", "Procfile", "Tiltfile", "Earthfile", "skaffold.yaml", "helmfile*.y*ml", "Chart.yaml",
    "mise.toml", ".mise.toml", ".tool-versions", ".config/mise/", ".config/direnv/", "*.tf", "playbook*.y*ml",
    /* shells, login and schedule */
    ".bashrc", ".bash_*", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc",
    ".login", ".inputrc", ".config/fish/", ".envrc", ".direnvrc", ".xinitrc", ".xprofile", ".xsession", ".pam_environment",
    ".tmux.conf", ".screenrc", ".pythonrc*", ".curlrc", ".wgetrc", ".irbrc", ".Rprofile", ".gdbinit", ".lldbinit", ".psqlrc",
    ".sqliterc", ".mailcap", ".procmailrc", ".forward", ".muttrc", ".aliases", ".zsh*", ".oh-my-zsh/", ".asdf/", ".nvm/",
    ".pyenv/", ".hammerspoon/", ".wezterm.lua", ".config/i3/", ".config/sway/", ".config/hypr/", ".config/kitty/",
    ".config/environment.d/", ".ssh/", "authorized_keys*", ".config/autostart/", ".config/systemd/", ".local/share/applications/",
    "*.desktop", "*.service", "*.timer", "crontab", "cron.d/", "cron.daily/", "cron.hourly/", "cron.weekly/", "cron.monthly/",
    "/var/spool/cron/", "/etc/", "/private/etc/", "LaunchAgents/", "LaunchDaemons/", "Startup/", "*.plist",
    "Microsoft.PowerShell_profile.ps1", "profile.ps1",
    /* programs */
    "bin/", "sbin/", ".local/bin/", "*.sh", "*.bash", "*.zsh", "*.fish", "*.ps1", "*.bat", "*.cmd", "*.exe", "*.dll", "*.so",
    "*.so.*", "*.dylib", "*.jar", "*.scr", "*.vbs", "*.lnk", "*.reg", "*.msi", "*.app/", NULL};

static bool il_paths_slash(char c) { return c == '/' || c == '\\'; }

/* The next segment from `at` on, `.` left out; empty at the end. */
static il_str il_paths_segment(il_str path, size_t *at) {
    for (;;) {
        while (*at < path.n && il_paths_slash(path.p[*at])) {
            (*at)++;
        }
        const size_t from = *at;
        while (*at < path.n && !il_paths_slash(path.p[*at])) {
            (*at)++;
        }
        if (*at - from != 1 || path.p[from] != '.') {
            return il_str_part(path, from, *at);
        }
    }
}

/* Letter case does not count: file systems differ. The pattern's segments are segments of the path that begin at `at` and end with it, or with anything below. */
static bool il_paths_here(il_str pattern, il_str path, size_t at) {
    size_t p = 0;
    while (p < pattern.n) {
        const il_str want = il_paths_segment(pattern, &p);
        if (want.n == 0) {
            break; /* the final `/` */
        }
        const il_str have = il_paths_segment(path, &at);
        if (have.n == 0 || !il_stars_match(want, have, true)) {
            return false;
        }
    }
    return pattern.p[pattern.n - 1] == '/' || il_paths_segment(path, &at).n == 0;
}

static bool il_paths_listed(const char *const *list, il_str path) {
    for (; *list != NULL; list++) {
        const il_str pattern = il_str_of(*list);
        const bool rooted = il_paths_slash(pattern.p[0]);
        for (size_t at = 0; at < path.n && (!rooted || (at == 0 && il_paths_slash(path.p[0])));) {
            if (il_paths_here(pattern, path, at)) {
                return true;
            }
            (void)il_paths_segment(path, &at);
        }
    }
    return false;
}

/* A reader of the path may see another one: dot segments, escapes, invisible characters, what Windows drops at a segment's end, streams, the two signs outside
 * ASCII that are a letter of it in another case (K and s). */
static bool il_paths_unclear(il_str path) {
    if (path.n == 0 || path.n > IL_PATHS_BYTES_MAX || !il_text_visible(path)) {
        return true;
    }
    if (il_str_find(path, IL_STR("\xe2\x84\xaa"), 0) != SIZE_MAX || il_str_find(path, IL_STR("\xc5\xbf"), 0) != SIZE_MAX) {
        return true;
    }
    bool any = false;
    for (size_t at = 0; at < path.n;) {
        const il_str s = il_paths_segment(path, &at);
        any = any || s.n > 0;
        if (il_str_eq(s, IL_STR("..")) || (s.n > 1 && (s.p[s.n - 1] == '.' || s.p[s.n - 1] == ' '))) {
            return true;
        }
        for (size_t i = 0; i < s.n; i++) {
            if (s.p[i] == '~' && i > 0 && i + 1 < s.n && il_ascii_digit(s.p[i + 1])) {
                return true; /* GIT~1: Windows' short name of another */
            }
            if (s.p[i] == '%' || s.p[i] == '$' || s.p[i] == '`' || s.p[i] == '*' || s.p[i] == '?' || (s.p[i] == ':' && i > 1)) {
                return true;
            }
        }
    }
    return !any;
}

bool il_path_secret(il_str path) { return il_paths_unclear(path) || il_paths_listed(il_paths_secret, path); }
bool il_path_runs_later(il_str path) { return il_paths_unclear(path) || il_paths_listed(il_paths_runs_later, path); }
