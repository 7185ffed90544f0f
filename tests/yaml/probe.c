/* SPDX-License-Identifier: Apache-2.0 */
/* Reads YAML documents by lines, for tests/yaml/run.mjs: of each line of hex, `= JSON` as our loader reads it, or `! LINE:COLUMN MESSAGE`.
 * probe lax: reads every document as the text that it is, which the comparison must notice. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"
#include "yaml/yaml.h"
#include "json/node.h"

static void probe_answer(il_str text, bool lax) {
    il_arena arena;
    il_buf b;
    il_str json = {NULL, 0};
    il_error err = {0};
    il_json *v = NULL;
    il_json whole = {.kind = IL_JSON_STRING, .text = text};
    il_arena_init(&arena, &probe_alloc, (size_t)1 << 30);
    if (!lax && il_yaml_parse(&arena, text, NULL, &v, &err) != IL_OK) {
        (void)printf("! %u:%u %s\n", err.line, err.col, err.msg);
    } else {
        il_buf_init(&b, &arena, (size_t)1 << 29);
        il_json_write(&b, lax ? &whole : v, IL_JSON_AS_READ);
        if (il_buf_done(&b, &json, &err) != IL_OK) {
            probe_stop(err.msg);
        }
        (void)printf("= %.*s\n", IL_STR_ARG(json));
    }
    il_arena_free(&arena);
}

int main(int argc, char **argv) {
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        probe_answer(probe_bytes(line), argc > 1 && strcmp(argv[1], "lax") == 0);
    }
    free(line);
    return 0;
}
