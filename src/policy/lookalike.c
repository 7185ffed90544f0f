/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/lookalike.h"

#include "policy/compiled.h"
#include "policy/kind_part.h"

/* Case folding, and what confusables.txt of UTS #39 has within these characters: 0 is O, 1 and I are l, m is rn (the long form is the
 * skeleton, as there, so that no order of replacing matters). Ours on top: w is vv, and the separators are one. After folding, i joins l. */
static il_str il_lookalike_of(char c) {
    switch (c) {
    case '0':
        return IL_STR("o");
    case '1':
    case 'i':
        return IL_STR("l");
    case 'm':
        return IL_STR("rn");
    case 'w':
        return IL_STR("vv");
    case '-':
    case '.':
        return IL_STR("_");
    default:
        return (il_str){0};
    }
}

size_t il_lookalike_skeleton(il_str name, char out[IL_LOOKALIKE_BYTES]) {
    size_t n = 0;
    if (name.n > IL_LOOKALIKE_NAME_MAX) {
        return 0;
    }
    for (size_t i = 0; i < name.n; i++) {
        const char c = il_ascii_lower(name.p[i]);
        const il_str as = il_lookalike_of(c);
        if (as.n == 0) {
            out[n++] = c;
        } else {
            memcpy(out + n, as.p, as.n);
            n += as.n;
        }
    }
    return n;
}

/* The tool of that server which a form without a star names; empty for another server's, or a pattern. */
static il_str il_lookalike_tool(il_str form, il_str server) {
    const bool named = form.n > server.n + 1 && form.p[server.n] == '.' && il_str_starts(form, server) && il_glob_name_ok(form);
    return named ? il_str_part(form, server.n + 1, form.n) : (il_str){0};
}

il_naming il_policy_naming(const il_policy *p, il_str server, il_str tool, il_str *other) {
    char skeleton[IL_LOOKALIKE_BYTES], each[IL_LOOKALIKE_BYTES];
    const size_t n = il_lookalike_skeleton(tool, skeleton);
    il_naming naming = IL_NAMING_NONE;
    for (uint32_t i = 0; i < p->ntools; i++) {
        for (uint32_t g = 0; g < p->tools[i].nglobs; g++) {
            const il_glob *glob = &p->tools[i].globs[g];
            for (uint32_t f = 0; f < glob->nforms; f++) {
                const il_str name = il_lookalike_tool(glob->forms[f], server);
                if (name.n > 0 && il_str_eq(name, tool)) {
                    return IL_NAMING_EXACT;
                }
                if (naming == IL_NAMING_NONE && name.n > 0 && n > 0 && il_lookalike_skeleton(name, each) == n &&
                    memcmp(each, skeleton, n) == 0) {
                    naming = IL_NAMING_LOOKALIKE;
                    if (other != NULL) {
                        *other = name;
                    }
                }
            }
        }
    }
    return naming;
}
