/* SPDX-License-Identifier: Apache-2.0 */
/* A policy's own pattern beside a preset: an exact name beats patterns, whoever wrote it, so of a tool that the preset names the pattern says nothing. */
#include "base/buf.h"
#include "policy/lint_part.h"

#define IL_BEATEN_SHOWN 3u
#define IL_BEATEN_BYTES ((size_t)4096)

static bool il_beaten_own(const il_policy *p, il_str name) {
    const il_tool *entry = il_policy_entry(p, name);
    return entry != NULL && entry->preset.n == 0;
}

/* One name of a preset's entry that the pattern matches, and that nothing of the policy's own names. */
static void il_beaten_name(const il_policy *p, const il_glob *pattern, const il_tool *entry, il_str name, il_buf *text,
                           uint32_t *n) {
    if (!il_glob_matches(pattern, name) || il_beaten_own(p, name)) {
        return;
    }
    ++*n;
    if (*n <= IL_BEATEN_SHOWN) {
        il_buf_put(text, *n > 1 ? IL_STR(", `") : IL_STR("`"));
        il_buf_put(text, name);
        il_buf_put(text, IL_STR("` of "));
        il_buf_put(text, entry->preset);
    }
}

static il_status il_beaten_pattern(il_linting *l, const il_tool *tool, const il_glob *pattern, il_error *err) {
    il_buf text;
    il_str names;
    char more[32] = "";
    uint32_t n = 0;
    il_buf_init(&text, l->arena, IL_BEATEN_BYTES);
    for (uint32_t t = 0; t < l->p->ntools; t++) {
        const il_tool *entry = &l->p->tools[t];
        for (uint32_t g = 0; entry->preset.n > 0 && g < entry->nglobs; g++) {
            if (entry->globs[g].exact) {
                il_beaten_name(l->p, pattern, entry, entry->globs[g].text, &text, &n);
            }
        }
    }
    if (n == 0) {
        return IL_OK;
    }
    IL_TRY(il_buf_done(&text, &names, err));
    if (n > IL_BEATEN_SHOWN) {
        (void)il_format(more, sizeof more, " and %u more", (unsigned)(n - IL_BEATEN_SHOWN));
    }
    const il_lint_at at = {pattern->text, tool->line, tool->col};
    return il_lint_say(
        l, "pattern-beaten", &at, err,
        "`%.*s` says nothing of %.*s%s: an exact name beats a pattern; name them in an entry of your own to say otherwise",
        IL_STR_ARG(pattern->text), IL_STR_ARG(names), more);
}

il_status il_policy_lint_presets(const il_policy *p, il_arena *scratch, const il_lint_out *out, il_error *err) {
    il_linting l = {p, scratch, out};
    for (uint32_t t = 0; t < p->ntools; t++) {
        const il_tool *tool = &p->tools[t];
        for (uint32_t g = 0; tool->preset.n == 0 && g < tool->nglobs; g++) {
            if (!tool->globs[g].exact) {
                IL_TRY(il_beaten_pattern(&l, tool, &tool->globs[g], err));
            }
        }
    }
    return IL_OK;
}
