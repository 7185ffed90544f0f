/* SPDX-License-Identifier: Apache-2.0 */
/* interlock-seal MACHINE.yaml OUT.table OUT.cert OUT.c: proves a machine and writes its sealed table and certificate, as bytes and, with
 * the document itself, as C arrays that the library links in. A machine that is not fully mediated is not sealed. Runs while Interlock is built. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "check/harden.h"
#include "yaml/yaml.h"

#define SEAL_INPUT_MAX ((size_t)4 << 20)
#define SEAL_ARENA_MAX ((size_t)2 << 30)

static void *seal_alloc(void *ctx, size_t n) {
    (void)ctx;
    return malloc(n ? n : 1);
}

static void seal_free(void *ctx, void *p) {
    (void)ctx;
    free(p);
}

static il_status seal_read(il_arena *arena, const char *path, il_str *out, il_error *err) {
    FILE *f = fopen(path, "rb");
    char *text = il_arena_bytes(arena, SEAL_INPUT_MAX + 1);
    if (!f || !text) {
        if (f) {
            (void)fclose(f);
        }
        return f ? il_arena_fail(arena, err) : il_error_set(err, IL_E_IO, "cannot read: %s", strerror(errno));
    }
    size_t n = fread(text, 1, SEAL_INPUT_MAX + 1, f);
    bool bad = ferror(f) != 0;
    (void)fclose(f);
    if (bad) {
        return il_error_set(err, IL_E_IO, "cannot read: %s", strerror(errno));
    }
    if (n > SEAL_INPUT_MAX) {
        return il_error_set(err, IL_E_LIMIT, "larger than %zu bytes", SEAL_INPUT_MAX);
    }
    *out = (il_str){text, n};
    return IL_OK;
}

static bool seal_write(const char *path, il_str bytes) {
    FILE *f = fopen(path, "wb");
    if (!f) {
        return false;
    }
    bool good = fwrite(bytes.p, 1, bytes.n, f) == bytes.n;
    return fclose(f) == 0 && good;
}

static void seal_array(il_buf *b, il_str name, const char *what, il_str bytes) {
    static const char digits[] = "0123456789abcdef";
    il_buf_puts(b, "const uint8_t il_shipped_");
    il_buf_put(b, name);
    il_buf_puts(b, what);
    il_buf_puts(b, "[] = {");
    for (size_t i = 0; i < bytes.n; i++) {
        unsigned char c = (unsigned char)bytes.p[i];
        il_buf_puts(b, i % 24 == 0 ? "\n    0x" : " 0x");
        il_buf_putc(b, digits[c >> 4]);
        il_buf_putc(b, digits[c & 15]);
        il_buf_putc(b, ',');
    }
    il_buf_puts(b, "\n};\nconst size_t il_shipped_");
    il_buf_put(b, name);
    il_buf_puts(b, what);
    il_buf_puts(b, "_bytes = sizeof il_shipped_");
    il_buf_put(b, name);
    il_buf_puts(b, what);
    il_buf_puts(b, ";\n");
}

static il_status seal_source(il_arena *arena, const il_harden *h, il_str document, il_str *out, il_error *err) {
    il_str name = {0};
    IL_TRY(il_arena_copy(arena, h->subject.m->name, &name, err));
    char *word = il_arena_bytes(arena, name.n);
    if (!word) {
        return il_arena_fail(arena, err);
    }
    for (size_t i = 0; i < name.n; i++) {
        word[i] = name.p[i] == '-' ? '_' : name.p[i];
    }
    name.p = word;
    il_buf b;
    il_buf_init(&b, arena, SEAL_ARENA_MAX);
    il_buf_puts(&b,
                "/* SPDX-License-Identifier: Apache-2.0 */\n/* Written by interlock-seal. */\n#include \"host/shipped.h\"\n\n");
    seal_array(&b, name, "_table", h->table);
    seal_array(&b, name, "_certificate", h->certificate);
    seal_array(&b, name, "_source", document);
    return il_buf_done(&b, out, err);
}

static int seal_fail(const char *path, const il_error *err) {
    if (err->line) {
        (void)fprintf(stderr, "%s:%u:%u: error: %s\n", path, (unsigned)err->line, (unsigned)err->col, err->msg);
    } else {
        (void)fprintf(stderr, "%s: error: %s\n", path, err->msg);
    }
    return err->code == IL_E_MEMORY || err->code == IL_E_INTERNAL ? 5 : 3;
}

static int seal_outputs(il_arena *arena, char **argv, const il_harden *h, il_str document) {
    il_error err = {0};
    il_str source = {0};
    if (seal_source(arena, h, document, &source, &err) != IL_OK) {
        return seal_fail(argv[4], &err);
    }
    const il_str bytes[3] = {h->table, h->certificate, source};
    for (int i = 0; i < 3; i++) {
        if (!seal_write(argv[2 + i], bytes[i])) {
            (void)fprintf(stderr, "%s: error: cannot write: %s\n", argv[2 + i], strerror(errno));
            for (int k = 0; k <= i; k++) {
                (void)remove(argv[2 + k]); /* nothing half-written is left for the build to link */
            }
            return 5;
        }
    }
    return 0;
}

static int seal_run(il_arena *arena, const il_alloc *alloc, char **argv) {
    il_error err = {0};
    il_str text = {0};
    il_json *doc = NULL;
    il_model *model = NULL;
    il_harden h = {0};
    if (seal_read(arena, argv[1], &text, &err) != IL_OK || il_yaml_parse(arena, text, NULL, &doc, &err) != IL_OK ||
        il_model_load(arena, doc, &model, &err) != IL_OK) {
        return seal_fail(argv[1], &err);
    }
    int code = 0;
    if (il_harden_prove(&h, alloc, arena, model, &err) != IL_OK) {
        code = seal_fail(argv[1], &err);
    } else if (!h.fully_mediated) {
        il_str report = {0};
        (void)fprintf(stderr, "%s: error: not fully mediated; not sealed\n", argv[1]);
        if (il_harden_text(&h, arena, &report, NULL) == IL_OK) {
            (void)fwrite(report.p, 1, report.n, stderr);
        }
        code = h.exit ? h.exit : 2;
    } else {
        code = seal_outputs(arena, argv, &h, text);
    }
    il_harden_free(&h);
    return code;
}

int main(int argc, char **argv) {
    const il_alloc alloc = {seal_alloc, seal_free, NULL};
    il_arena arena;
    if (argc != 5) {
        (void)fputs("usage: interlock-seal MACHINE.yaml OUT.table OUT.cert OUT.c\n", stderr);
        return 3;
    }
    il_arena_init(&arena, &alloc, SEAL_ARENA_MAX);
    int code = seal_run(&arena, &alloc, argv);
    il_arena_free(&arena);
    return code;
}
