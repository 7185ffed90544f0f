/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes: refused completely, or read into a tree whose JSON text reads, as JSON and as YAML, as the same tree. What the JSON reader
 * accepts as an array or object, the YAML reader accepts with the same value, unless a lone carriage return stands in it. */
#include "tree.h"
#include "yaml/layout.h"
#include "yaml/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const il_alloc alloc = fuzz_alloc();
    const il_str text = {(const char *)data, size};
    il_arena arena;
    il_error err = {0};
    il_json *v = NULL;
    il_json *json = NULL;
    il_arena_init(&arena, &alloc, (size_t)64 << 20);
    const il_status s = il_yaml_parse(&arena, text, NULL, &v, &err);
    if (s != IL_OK) {
        fuzz_refused(s, v, &err, size);
    } else {
        il_json *as_json = NULL;
        il_json *as_yaml = NULL;
        const il_str written = fuzz_text(&arena, v, IL_JSON_AS_READ);
        fuzz_canonical(written);
        FUZZ_CHECK(il_json_parse(&arena, written, NULL, &as_json, &err) == IL_OK);
        FUZZ_CHECK(il_str_eq(fuzz_text(&arena, as_json, IL_JSON_AS_READ), written));
        if (v->kind == IL_JSON_ARRAY || v->kind == IL_JSON_OBJECT) {
            FUZZ_CHECK(il_yaml_parse(&arena, written, NULL, &as_yaml, &err) == IL_OK);
            FUZZ_CHECK(il_str_eq(fuzz_text(&arena, as_yaml, IL_JSON_AS_READ), written));
        }
    }
    if (il_json_parse(&arena, text, NULL, &json, NULL) == IL_OK &&
        (json->kind == IL_JSON_ARRAY || json->kind == IL_JSON_OBJECT) && !il_yaml_lone_return(text)) {
        FUZZ_CHECK(s == IL_OK);
        FUZZ_CHECK(il_str_eq(fuzz_text(&arena, json, IL_JSON_AS_READ), fuzz_text(&arena, v, IL_JSON_AS_READ)));
    }
    il_arena_free(&arena);
    return 0;
}
