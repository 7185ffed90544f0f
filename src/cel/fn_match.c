/* SPDX-License-Identifier: Apache-2.0 */
/* `matches` with a pattern that only the evaluation knows (il_cel_limits.dynamic_regex). A constant one is compiled with the
 * program and never comes here. */
#include "cel/fn.h"
#include "cel/regex.h"

/* What the static bound takes for a pattern that it does not know: steps to compile it, for the call and for a byte, and as weight of a search
 * (il_regex_weight) no more than this for a byte of at most so many. Classes and counted repeats can make both heavier: what they cost is taken
 * from the budget of the evaluation as it arises. */
enum { MATCH_COMPILE = 64, MATCH_COMPILE_BYTE = 16, MATCH_WEIGHT = 4, MATCH_WEIGHT_BYTE = 16, MATCH_WEIGHT_BYTES = 256 };

il_cel_value il_cel_fn_matches(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    if (args[0].kind != IL_CEL_STRING || args[1].kind != IL_CEL_STRING) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    if (r->scratch == NULL) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    il_regex *re = NULL;
    const il_status status = il_regex_compile_once(r->scratch, il_cel_str(args[1]), &r->steps, &re, NULL);
    if (status != IL_OK) {
        const bool spent = status == IL_E_LIMIT && r->steps <= 0;
        r->steps = spent ? -1 : r->steps;
        return il_cel_of_fault(spent || status == IL_E_MEMORY || r->scratch->capped ? IL_CEL_BUDGET : IL_CEL_BAD_VALUE);
    }
    const int found = il_regex_search(re, il_cel_str(args[0]), &r->steps);
    if (found == IL_REGEX_SPENT) {
        r->steps = -1;
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    return il_cel_of_bool(found == 1);
}

il_cel_bound il_cel_bound_matches(const uint64_t *sizes, uint32_t n) {
    if (n < 2) {
        return (il_cel_bound){1, 1};
    }
    const uint64_t pattern = il_cel_cost_least(sizes[1], MATCH_WEIGHT_BYTES);
    const uint64_t search = il_cel_cost_mul(sizes[0] / 64 + 1, MATCH_WEIGHT + pattern * MATCH_WEIGHT_BYTE);
    return (il_cel_bound){
        il_cel_cost_add(1 + MATCH_COMPILE, il_cel_cost_add(il_cel_cost_mul(sizes[1], MATCH_COMPILE_BYTE), search)), 1};
}
