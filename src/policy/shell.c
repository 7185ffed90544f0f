/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/shell.h"

#include "base/buf.h"
#include "policy/kind_part.h"
#include "policy/paths.h"
#include "policy/shell_lex.h"

typedef enum il_shell_does {
    IL_DOES_NOTHING,     /* prints, or looks at names: its words are no files that are read */
    IL_DOES_READ,        /* each operand is read */
    IL_DOES_SEARCH,      /* the first operand is a pattern, the others are read */
    IL_DOES_WRITE,       /* each operand is written */
    IL_DOES_NAME,        /* a name is made, with nothing in it */
    IL_DOES_COPY,        /* each operand is read and the last is written: it may be a folder that gets the others' names */
    IL_DOES_REMOVE,      /* cannot be taken back */
    IL_DOES_GO,          /* changes what relative names mean */
    IL_DOES_FETCH,       /* reaches another machine */
    IL_DOES_ASK_NAMES,   /* the same, of a name server or by echo */
    IL_DOES_PRINT_LINES, /* sed -n '3,9p' */
    IL_DOES_GIT
} il_shell_does;

/* Letters of short options and whole long options that change nothing of the above; any other option is not understood. */
typedef struct il_shell_program {
    const char *name;
    il_shell_does does;
    const char *letters; /* may stand together: -la; a digit as well */
    const char *longs;   /* separated by spaces; one with `=` takes anything behind it */
    const char *valued;  /* letters that take the next word, which is no file */
} il_shell_program;

static const il_shell_program il_shell_programs[] = {
    {"echo", IL_DOES_NOTHING, "neE", "", ""},
    {"printf", IL_DOES_NOTHING, "", "", ""},
    {"pwd", IL_DOES_NOTHING, "LP", "", ""},
    {"true", IL_DOES_NOTHING, "", "", ""},
    {"false", IL_DOES_NOTHING, "", "", ""},
    {"date", IL_DOES_NOTHING, "uIR", "--utc --iso-8601= --rfc-3339=", ""},
    {"whoami", IL_DOES_NOTHING, "", "", ""},
    {"id", IL_DOES_NOTHING, "ugnG", "", ""},
    {"uname", IL_DOES_NOTHING, "asnrvmpio", "", ""},
    {"basename", IL_DOES_NOTHING, "", "", ""},
    {"dirname", IL_DOES_NOTHING, "", "", ""},
    {"seq", IL_DOES_NOTHING, "w", "", ""},
    {"sleep", IL_DOES_NOTHING, "", "", ""},
    {"which", IL_DOES_NOTHING, "a", "", ""},
    {"ls", IL_DOES_NOTHING, "alhtrRSdFi1AkcuX", "--color= --all --almost-all --human-readable --recursive", ""},
    {"tree", IL_DOES_NOTHING, "adfhpsu", "--dirsfirst", "LIP"},
    {"du", IL_DOES_NOTHING, "shacxk", "--max-depth=", "d"},
    {"df", IL_DOES_NOTHING, "hTik", "", ""},
    {"stat", IL_DOES_NOTHING, "Lt", "--format= --printf=", "c"},
    {"find", IL_DOES_NOTHING, "",
     "-name= -iname= -type= -maxdepth= -mindepth= -path= -size= -mtime= -newer= -not -o -a -print -empty", ""},
    {"cat", IL_DOES_READ, "nbsAEvTet", "--number", ""},
    {"head", IL_DOES_READ, "qvz", "--lines= --bytes=", "nc"},
    {"tail", IL_DOES_READ, "qvzfFr", "--lines= --bytes= --follow", "nc"},
    {"wc", IL_DOES_READ, "lwcmL", "--lines --words --bytes", ""},
    {"nl", IL_DOES_READ, "", "", "bw"},
    {"tac", IL_DOES_READ, "", "", ""},
    {"rev", IL_DOES_READ, "", "", ""},
    {"cut", IL_DOES_READ, "s", "--fields= --delimiter= --characters=", "dfcb"},
    {"sort", IL_DOES_READ, "nrufbhVcsRdM", "--numeric-sort --reverse --unique", "kt"},
    {"paste", IL_DOES_READ, "s", "", "d"},
    {"comm", IL_DOES_READ, "123", "", ""},
    {"cmp", IL_DOES_READ, "bls", "", "n"},
    {"diff", IL_DOES_READ, "uwbBiqraNyc", "--unified --brief --color=", "U"},
    {"md5sum", IL_DOES_READ, "bt", "", ""},
    {"sha1sum", IL_DOES_READ, "bt", "", ""},
    {"sha256sum", IL_DOES_READ, "bt", "", ""},
    {"sha512sum", IL_DOES_READ, "bt", "", ""},
    {"strings", IL_DOES_READ, "a", "", "n"},
    {"od", IL_DOES_READ, "cxbv", "", "AtNj"},
    {"grep", IL_DOES_SEARCH, "ivnclwxoqshHEFPrRLaz",
     "--include= --exclude= --exclude-dir= --color= --ignore-case --line-number --recursive", "mABC"},
    {"rg", IL_DOES_SEARCH, "ivnclwxoqsFPUSN", "--ignore-case --line-number --files-with-matches --count --color= --fixed-strings",
     "mABCgt"},
    {"mkdir", IL_DOES_NAME, "pv", "--parents", ""},
    {"touch", IL_DOES_NAME, "acm", "", ""},
    {"tee", IL_DOES_WRITE, "a", "--append", ""},
    {"cp", IL_DOES_COPY, "rRpavfnuL", "--recursive", ""},
    {"mv", IL_DOES_COPY, "vfnu", "", ""},
    {"rm", IL_DOES_REMOVE, "rRfdvI", "--recursive --force", ""},
    {"rmdir", IL_DOES_REMOVE, "pv", "", ""},
    {"cd", IL_DOES_GO, "", "", ""},
    {"curl", IL_DOES_FETCH, "sSLfiIvgN", "--silent --show-error --location --fail --head --include --compressed", "mH"},
    {"ping", IL_DOES_ASK_NAMES, "nq46", "", "cWi"},
    {"dig", IL_DOES_ASK_NAMES, "", "", ""},
    {"host", IL_DOES_ASK_NAMES, "", "", "t"},
    {"nslookup", IL_DOES_ASK_NAMES, "", "", ""},
    {"sed", IL_DOES_PRINT_LINES, "n", "", ""},
    {"git", IL_DOES_GIT, "", "", ""},
};

typedef struct il_shell_list {
    il_str *words;
    size_t n;
} il_shell_list;

typedef struct il_shell_walk {
    il_shell_lexer lexer;
    il_shell *out;
    il_shell_list reads, writes, words; /* words: of the command at hand */
    il_arena *arena;
    bool went;       /* a `cd` was there: */
    il_str place;    /* to where; names behind it are meant from there, or, if it failed, from here */
    const char *why; /* not understood */
} il_shell_walk;

static void il_shell_stop(il_shell_walk *w, const char *why) {
    if (w->why == NULL) {
        w->why = why;
    }
}

static void il_shell_add(il_shell_walk *w, il_shell_list *list, il_str word) {
    if (list->n == IL_SHELL_WORDS_MAX) {
        il_shell_stop(w, "more words than are looked at");
        return;
    }
    list->words[list->n++] = word;
}

/* /dev/tcp/host/port reaches a machine in some shells, other devices do more than files. */
static bool il_shell_device(il_shell_walk *w, il_str path) {
    if (il_str_eq(path, IL_STR("/dev/null"))) {
        return true;
    }
    if (il_str_starts(path, IL_STR("/dev/")) || il_str_find(path, IL_STR("/proc/"), 0) != SIZE_MAX ||
        il_str_starts(path, IL_STR("//"))) {
        il_shell_stop(w, "a device");
    }
    return false;
}

static bool il_shell_rooted(il_str path) { return path.n > 0 && (path.p[0] == '/' || path.p[0] == '~'); }

static void il_shell_file(il_shell_walk *w, il_shell_list *list, il_str path) {
    if (!il_shell_device(w, path)) {
        il_shell_add(w, list, path);
        w->out->runs = w->out->runs || (list == &w->writes && il_path_runs_later(path));
    }
}

/* The file, and what it is behind a `cd`. */
static void il_shell_files(il_shell_walk *w, il_shell_list *list, il_str path) {
    il_shell_file(w, list, path);
    if (!w->went || il_shell_rooted(path) || w->why != NULL) {
        return;
    }
    char *joined = il_arena_bytes(w->arena, w->place.n + path.n + 1);
    if (joined == NULL) {
        il_shell_stop(w, "out of memory");
        return;
    }
    memcpy(joined, w->place.p, w->place.n);
    joined[w->place.n] = '/';
    memcpy(joined + w->place.n + 1, path.p, path.n);
    il_shell_file(w, list, (il_str){joined, w->place.n + path.n + 1});
}

static void il_shell_reads(il_shell_walk *w, il_str path) { il_shell_files(w, &w->reads, path); }
static void il_shell_writes(il_shell_walk *w, il_str path) { il_shell_files(w, &w->writes, path); }

/* All that is below a folder. In a named part of a project nothing that is secret is expected; from its root, from home or from anywhere else everything may be there, which `*` says. */
static void il_shell_tree(il_shell_walk *w, il_str path) {
    const bool part = !il_shell_rooted(path) && path.n > 0 && path.p[0] != '.' && !w->went;
    il_shell_reads(w, path);
    if (!part) {
        il_shell_reads(w, IL_STR("*"));
    }
}

static bool il_shell_letter(const char *letters, char c) {
    for (; *letters != '\0'; letters++) {
        if (*letters == c) {
            return true;
        }
    }
    return false;
}

/* `word` is one of the long options; *value tells that it takes the next word, which find's do. */
static bool il_shell_long(const char *longs, il_str word, bool *value) {
    const il_str list = il_str_of(longs);
    for (size_t at = 0; at < list.n;) {
        size_t end = il_str_find(list, IL_STR(" "), at);
        end = end == SIZE_MAX ? list.n : end;
        const il_str one = il_str_part(list, at, end);
        const bool takes = il_str_ends(one, IL_STR("="));
        const il_str bare = il_str_part(one, 0, one.n - (takes ? 1u : 0u));
        const bool dashes = il_str_starts(one, IL_STR("--"));
        if (il_str_eq(word, bare) || (takes && dashes && il_str_starts(word, one))) {
            *value = takes && !dashes;
            return !takes || !dashes || il_str_starts(word, one);
        }
        at = end + 1;
    }
    return false;
}

/* An option that is known to change nothing; *value: the next word is its value. */
static bool il_shell_option(const il_shell_program *p, il_str word, bool *value) {
    *value = false;
    if (il_shell_long(p->longs, word, value)) {
        return true;
    }
    if (word.n < 2 || word.p[1] == '-') {
        return false;
    }
    for (size_t i = 1; i < word.n; i++) {
        if (il_shell_letter(p->valued, word.p[i])) {
            *value = i + 1 == word.n; /* -n 5, or -n5 */
            return true;
        }
        if (!il_shell_letter(p->letters, word.p[i]) && !il_ascii_digit(word.p[i])) {
            return false;
        }
    }
    return true;
}

/* Takes the options out of the command's words. */
static void il_shell_operands(il_shell_walk *w, const il_shell_program *p, il_shell_list *operands) {
    bool ended = false, value = false;
    for (size_t i = 1; i < w->words.n && w->why == NULL; i++) {
        const il_str word = w->words.words[i];
        if (value) {
            value = false;
        } else if (!ended && il_str_eq(word, IL_STR("--"))) {
            ended = true;
        } else if (!ended && word.n > 1 && word.p[0] == '-') {
            if (!il_shell_option(p, word, &value)) {
                il_shell_stop(w, "an option that is not known to be harmless");
            }
        } else {
            operands->words[operands->n++] = word;
        }
    }
}

static bool il_shell_prints_lines(il_str script) {
    size_t digits = 0;
    if (script.n < 2 || script.p[script.n - 1] != 'p') {
        return false;
    }
    for (size_t i = 0; i + 1 < script.n; i++) {
        digits += il_ascii_digit(script.p[i]) ? 1u : 0u;
        if (!il_ascii_digit(script.p[i]) && script.p[i] != ',' && script.p[i] != '$') {
            return false;
        }
    }
    return digits > 0;
}

/* One of the letters stands among the short options, or the long option is there. */
static bool il_shell_opted(const il_shell_walk *w, const char *letters, const char *word) {
    for (size_t i = 1; i < w->words.n; i++) {
        const il_str o = w->words.words[i];
        for (size_t k = 1; k < o.n && o.p[0] == '-' && o.p[1] != '-'; k++) {
            if (il_shell_letter(letters, o.p[k])) {
                return true;
            }
        }
        if (il_str_eq(o, il_str_of(word))) {
            return true;
        }
    }
    return false;
}

static bool il_shell_has(const il_shell_walk *w, const char *word) {
    for (size_t i = 1; i < w->words.n; i++) {
        if (il_str_eq(w->words.words[i], il_str_of(word))) {
            return true;
        }
    }
    return false;
}

/* What looks at the repository, and what records in it; options are few, because many of git's start programs. */
static void il_shell_git(il_shell_walk *w) {
    static const il_shell_program looks = {"git", IL_DOES_READ, "spnaqv",
                                           "--short --porcelain --oneline --stat --name-only --name-status --cached --staged "
                                           "--all --graph --no-color --decorate --abbrev-ref --show-toplevel",
                                           "n"};
    static const il_shell_program records = {"git", IL_DOES_READ, "aquA", "--all --quiet", "m"};
    static const char *const looking[] = {"status", "log", "diff", "show", "rev-parse", "ls-files", "blame", "describe", NULL};
    static const char *const recording[] = {"add", "commit", NULL};
    const il_str verb = w->words.n > 1 ? w->words.words[1] : (il_str){0};
    const il_shell_program *p = NULL;
    for (const char *const *v = looking; *v != NULL; v++) {
        p = il_str_eq(verb, il_str_of(*v)) ? &looks : p;
    }
    for (const char *const *v = recording; *v != NULL; v++) {
        p = il_str_eq(verb, il_str_of(*v)) ? &records : p;
    }
    if (p == NULL) {
        il_shell_stop(w, "a command of git that is not known to stay here");
        return;
    }
    il_shell_list operands = {.words = w->words.words + w->words.n};
    il_shell_operands(w, p, &operands);
    for (size_t i = 1; i < operands.n; i++) {
        /* HEAD:path shows the file */
        const size_t colon = il_str_find(operands.words[i], IL_STR(":"), 0);
        il_shell_reads(w, colon == SIZE_MAX ? operands.words[i] : il_str_part(operands.words[i], colon + 1, operands.words[i].n));
    }
    /* what others committed, and what they said of it */
    const bool names = il_shell_has(w, "--stat") || il_shell_has(w, "--name-only") || il_shell_has(w, "--name-status");
    if (il_str_eq(verb, IL_STR("log")) && !il_shell_opted(w, "p", "--patch")) {
        il_shell_reads(w, IL_STR(".git/COMMIT_EDITMSG")); /* messages alone */
    } else if (operands.n <= 1 && (il_str_eq(verb, IL_STR("log")) || il_str_eq(verb, IL_STR("show")) ||
                                   (il_str_eq(verb, IL_STR("diff")) && !names))) {
        il_shell_reads(w, IL_STR("."));
    }
}

static void il_shell_do(il_shell_walk *w, const il_shell_program *p) {
    il_shell_list operands = {.words = w->words.words + w->words.n}; /* as much room again stands behind the words */
    bool tree =
        (p->does == IL_DOES_READ && il_str_eq(w->words.words[0], IL_STR("diff")) && il_shell_opted(w, "r", "--recursive")) ||
        ((p->does == IL_DOES_SEARCH || p->does == IL_DOES_COPY) && !il_str_eq(w->words.words[0], IL_STR("rg")) &&
         il_shell_opted(w, p->does == IL_DOES_COPY ? "rRa" : "rR", "--recursive"));
    size_t from = 0;
    if (p->does == IL_DOES_GIT) {
        il_shell_git(w);
        return;
    }
    il_shell_operands(w, p, &operands);
    if (w->why != NULL) {
        return;
    }
    switch (p->does) {
    case IL_DOES_NOTHING:
    case IL_DOES_GIT:
        return;
    case IL_DOES_PRINT_LINES:
        if (!il_shell_has(w, "-n") || operands.n == 0 || !il_shell_prints_lines(operands.words[0])) {
            il_shell_stop(w, "a script that is not known to be harmless");
            return;
        }
        from = 1;
        break;
    case IL_DOES_SEARCH:
        from = 1;
        tree = tree || il_str_eq(w->words.words[0], IL_STR("rg"));
        if (operands.n <= 1 && tree) {
            il_shell_reads(w, IL_STR(".")); /* without a file they look here */
        }
        break;
    case IL_DOES_COPY:
        /* of a whole folder: nobody knows the names that are written */
        w->out->runs = w->out->runs || (tree && il_str_eq(w->words.words[0], IL_STR("cp")));
        break;
    case IL_DOES_GO:
        if (w->went || operands.n > 1 || (operands.n == 1 && il_str_eq(operands.words[0], IL_STR("-")))) {
            il_shell_stop(w, "a place that is not told");
            return;
        }
        w->went = true;
        w->place = operands.n == 1 ? operands.words[0] : IL_STR("~");
        return;
    case IL_DOES_READ:
    case IL_DOES_WRITE:
    case IL_DOES_NAME:
        break;
    case IL_DOES_REMOVE:
        w->out->runs = true;
        return;
    case IL_DOES_FETCH:
    case IL_DOES_ASK_NAMES:
        w->out->hosts = true;
        for (size_t i = 1; p->does == IL_DOES_FETCH && i < w->words.n; i++) {
            const il_str word = w->words.words[i];
            if (word.n > 0 && (word.p[0] == '@' || (word.p[0] == '-' && il_str_find(word, IL_STR("@"), 0) != SIZE_MAX))) {
                il_shell_stop(w, "a header that is read from a file"); /* -H @file */
            }
        }
        for (size_t i = 0; p->does == IL_DOES_FETCH && i < operands.n; i++) {
            if (!il_str_starts(operands.words[i], IL_STR("https://")) && !il_str_starts(operands.words[i], IL_STR("http://"))) {
                il_shell_stop(
                    w,
                    "an address that is not written out as http or https"); /* file:, dict:, a name that follows the environment */
            }
        }
        return;
    }
    for (size_t i = from; i < operands.n; i++) {
        if (p->does != IL_DOES_WRITE && p->does != IL_DOES_NAME && tree) {
            il_shell_tree(w, operands.words[i]);
        } else if (p->does != IL_DOES_WRITE && p->does != IL_DOES_NAME) {
            il_shell_reads(w, operands.words[i]);
        }
        if (p->does == IL_DOES_WRITE || (p->does == IL_DOES_COPY && i + 1 == operands.n)) {
            il_shell_writes(w, operands.words[i]);
        } else if (p->does == IL_DOES_COPY || p->does == IL_DOES_NAME) {
            w->out->runs = w->out->runs || il_path_runs_later(operands.words[i]);
        }
    }
}

static void il_shell_command(il_shell_walk *w) {
    if (w->words.n == 0 || w->why != NULL) {
        w->words.n = 0;
        return;
    }
    const il_str name = w->words.words[0];
    const il_shell_program *known = NULL;
    for (size_t i = 0; i < sizeof il_shell_programs / sizeof il_shell_programs[0]; i++) {
        known = il_str_eq(name, il_str_of(il_shell_programs[i].name)) ? &il_shell_programs[i] : known;
    }
    if (known == NULL) {
        il_shell_stop(w, il_str_find(name, IL_STR("="), 0) != SIZE_MAX ? "a variable is set"
                                                                       : "a program that is not known to be harmless");
    } else {
        il_shell_do(w, known);
    }
    w->words.n = 0;
}

static void il_shell_walk_on(il_shell_walk *w) {
    for (;;) {
        const il_shell_token t = il_shell_next(&w->lexer);
        switch (t.sort) {
        case IL_SHELL_WORD:
            il_shell_add(w, &w->words, t.text);
            break;
        case IL_SHELL_NEXT:
            il_shell_command(w);
            break;
        case IL_SHELL_END:
            il_shell_command(w);
            return;
        case IL_SHELL_FROM:
        case IL_SHELL_INTO: {
            const il_shell_token file = il_shell_next(&w->lexer);
            if (file.sort == IL_SHELL_STRANGE) {
                il_shell_stop(w, file.text.p);
            } else if (file.sort != IL_SHELL_WORD || file.text.n == 0) {
                il_shell_stop(w, "a redirection without a file");
            } else if (t.sort == IL_SHELL_FROM) {
                il_shell_reads(w, file.text);
            } else {
                il_shell_writes(w, file.text);
            }
            break;
        }
        case IL_SHELL_STRANGE:
            il_shell_stop(w, t.text.p);
            break;
        }
        if (w->why != NULL) {
            return;
        }
    }
}

il_status il_shell_read(il_str text, il_arena *arena, il_shell *out, il_error *err) {
    *out = (il_shell){0};
    if (text.n > IL_SHELL_BYTES_MAX) {
        (void)il_format(out->why, sizeof out->why, "longer than %zu bytes", IL_SHELL_BYTES_MAX);
        return IL_OK;
    }
    il_shell_walk *w = IL_NEW(arena, il_shell_walk);
    il_str *words = IL_NEW_ARRAY(arena, il_str, (size_t)4 * IL_SHELL_WORDS_MAX);
    char *room = il_arena_bytes(arena, text.n + 1);
    if (w == NULL || words == NULL || room == NULL) {
        return il_arena_fail(arena, err);
    }
    w->lexer = (il_shell_lexer){.text = text, .room = room};
    w->out = out;
    w->arena = arena;
    w->reads.words = words;
    w->writes.words = words + IL_SHELL_WORDS_MAX;
    w->words.words = words + (size_t)2 * IL_SHELL_WORDS_MAX;
    il_shell_walk_on(w);
    if (w->why != NULL) {
        *out = (il_shell){0};
        (void)il_format(out->why, sizeof out->why, "%s", w->why);
        return IL_OK;
    }
    out->understood = true;
    out->reads = w->reads.words;
    out->nreads = w->reads.n;
    out->writes = w->writes.words;
    out->nwrites = w->writes.n;
    return IL_OK;
}
