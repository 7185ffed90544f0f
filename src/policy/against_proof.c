/* SPDX-License-Identifier: Apache-2.0 */
/* The proof that two policies decide all calls of a class alike: first what is the same by its text, then what is left by the diagrams of conditions.
 *
 * A condition is a function of the call and the session only as far as what it asks means the same under both policies. Where it does not (`ours` of a kind of
 * which other names are listed), nothing is proven. */
#include "cel/logic.h"
#include "policy/against_part.h"

#define PROOF_RULES 400u /* of both lists, behind what they have in common */
#define PROOF_ABSENT 0u
#define PROOF_FAULT 3u
#define PROOF_REST 4u  /* what the rules behind give, which both have */
#define PROOF_OTHER 5u /* a call of another name */
static const uint32_t proof_sinks = (uint32_t)(IL_EGRESS | IL_COMMIT);

typedef struct proof {
    il_against *a;
    const il_against_tool *t;
    bool vouch, effects, own, statement; /* what of the class means the same */
    const char *why;                     /* the first thing that stood against it */
    il_str facts;
    il_str results; /* what is not alike in what is read of its results; empty: nothing */
} proof;

static void proof_why(proof *p, const char *why) { p->why = p->why != NULL ? p->why : why; }

/* ---- what a condition asks --------------------------------------------------------------------------------- */

static bool proof_ours(const proof *p, const il_cel_node *n) {
    const il_cel_node *word = n->kids;
    il_kind kind;
    if (word != NULL && word->op == IL_CEL_OP_LIT && word->lit.kind == IL_CEL_STRING &&
        il_kind_find(il_cel_str(word->lit), &kind)) {
        return p->a->names[kind];
    }
    bool all = true;
    for (uint32_t k = 0; k < IL_AGAINST_KINDS; k++) {
        all = all && p->a->names[k];
    }
    return all;
}

static bool proof_tables(const proof *p) {
    const il_server *x = il_policy_server(p->a->p[0], p->t->server), *y = il_policy_server(p->a->p[1], p->t->server);
    bool same = true;
    for (uint32_t c = 0; c < IL_TABLES_CLASSES; c++) {
        const bool said_x = x != NULL && x->tables[c].said, said_y = y != NULL && y->tables[c].said;
        same = same && said_x == said_y && (!said_x || x->tables[c].n == y->tables[c].n);
        for (uint32_t i = 0; same && said_x && i < x->tables[c].n; i++) {
            same = il_str_eq(x->tables[c].patterns[i], y->tables[c].patterns[i]);
        }
    }
    return same;
}

static bool proof_call(const proof *p, const il_cel_node *n) {
    const il_str f = n->function->name;
    if (il_str_eq(f, IL_STR("ours"))) {
        return proof_ours(p, n);
    }
    if (il_str_eq(f, IL_STR("public"))) {
        return p->a->names[IL_KIND_REPO];
    }
    if (il_str_eq(f, IL_STR("vouched"))) {
        return p->vouch && p->effects;
    }
    if (il_str_eq(f, IL_STR("carries"))) {
        return p->effects;
    }
    if (il_str_starts(f, IL_STR("sql."))) {
        return p->statement && proof_tables(p);
    }
    return !il_str_starts(f, IL_STR("shell.")) || (p->statement && p->a->names[IL_KIND_PATH]);
}

static bool proof_var(const proof *p, const il_cel_node *n) {
    const bool read = p->a->sources && p->effects; /* `run.trifecta` has what the call adds */
    return n->slot == IL_CONDITION_AGENT   ? p->a->agents
           : n->slot == IL_CONDITION_RUN   ? read
           : n->slot == IL_CONDITION_PROV  ? read && p->vouch
           : n->slot == IL_CONDITION_STATE ? p->a->machine_digest
           : n->slot < IL_CONDITION_NAMES  ? true
           : p->a->p[0]->interbolt.on      ? read /* its labels and legs stand behind the fixed names, */
                                           : p->own;   /* or names of the entry's own */
}

/* Depth: IL_CEL_DEPTH. */
static bool proof_means(const proof *p, const il_cel_node *n) {
    bool same = n->op != IL_CEL_OP_VAR || proof_var(p, n);
    same = same && (n->op != IL_CEL_OP_CALL || n->function == NULL || proof_call(p, n));
    for (const il_cel_node *k = n->kids; k != NULL && same; k = k->next) {
        same = proof_means(p, k);
    }
    return same;
}

/* ---- entries ------------------------------------------------------------------------------------------------- */

static bool proof_path(const il_arg_path *x, const il_arg_path *y) {
    return (x == NULL) == (y == NULL) && (x == NULL || il_arg_path_eq(x, y));
}

static il_str proof_word(const proof *p, int side, il_kind kind) { return il_kinds_word(&p->a->p[side]->kinds, kind); }

static bool proof_argument(const proof *p, const il_argument *x, const il_argument *y) {
    const bool kinds = x->role == IL_ROLE_TO || x->role == IL_ROLE_OBJECT || x->role == IL_ROLE_STORE;
    return x->role == y->role && il_arg_path_eq(&x->path, &y->path) &&
           (!kinds || il_str_eq(proof_word(p, 0, x->kind), proof_word(p, 1, y->kind)));
}

static bool proof_built(const proof *p, const il_built *x, const il_built *y) {
    return x->role == y->role && il_str_eq(x->form.text, y->form.text) && il_str_eq(x->remembered, y->remembered) &&
           il_str_eq(x->fixed, y->fixed) && il_str_eq(proof_word(p, 0, x->kind), proof_word(p, 1, y->kind));
}

/* The same declarations, in whatever order. */
static bool proof_arguments(const proof *p, const il_tool *x, const il_tool *y) {
    bool same = x->narguments == y->narguments && x->nbuilt == y->nbuilt && x->to_user == y->to_user;
    for (uint32_t i = 0; i < x->narguments && same; i++) {
        bool there = false;
        for (uint32_t k = 0; k < y->narguments && !there; k++) {
            there = proof_argument(p, &x->arguments[i], &y->arguments[k]);
        }
        same = there;
    }
    for (uint32_t i = 0; i < x->nbuilt && same; i++) {
        bool there = false;
        for (uint32_t k = 0; k < y->nbuilt && !there; k++) {
            there = proof_built(p, &x->built[i], &y->built[k]);
        }
        same = there;
    }
    return same;
}

/* `$` and no path are the whole. */
static bool proof_steps(const il_field_path *x, const il_field_path *y) {
    return x->n == y->n && (x->n == 0 || il_str_eq(x->text, y->text));
}

static bool proof_field(const proof *p, const il_field *u, const il_field *v) {
    return u->standing == v->standing && u->has_via == v->has_via && proof_steps(&u->path, &v->path) &&
           proof_steps(&u->via, &v->via) && il_str_eq(proof_word(p, 0, u->kind), proof_word(p, 1, v->kind));
}

static bool proof_remember(const il_remember *u, const il_remember *v) {
    return il_str_eq(u->name, v->name) && u->line == v->line && il_str_eq(u->prefix, v->prefix) &&
           proof_steps(&u->path, &v->path);
}

static il_status proof_says(proof *p, const char *what, il_str of, il_error *err) {
    il_buf b;
    il_buf_init(&b, &p->a->scratch, 4096);
    il_buf_puts(&b, what);
    il_buf_put(&b, of);
    il_buf_puts(&b, of.n > 0 ? "`" : "");
    return il_buf_done(&b, &p->results, err);
}

/* The first field (sorted by path) that only one of them says so. */
static il_status proof_fields(proof *p, const il_result_form *f, const il_result_form *g, il_error *err) {
    uint32_t i = 0;
    while (i < f->nfields && i < g->nfields && proof_field(p, &f->fields[i], &g->fields[i])) {
        i++;
    }
    if (i == f->nfields && i == g->nfields) {
        return IL_OK;
    }
    const il_str x = i < f->nfields ? f->fields[i].path.text : (il_str){0},
                 y = i < g->nfields ? g->fields[i].path.text : (il_str){0};
    const il_str first = x.n == 0 || (y.n > 0 && il_str_cmp(y, x) < 0) ? y : x;
    return proof_says(p, "what its results vouch for is said otherwise: the field `", first, err);
}

static il_status proof_remembers(proof *p, const il_tool *x, const il_tool *y, il_error *err) {
    for (int side = 0; side < 2; side++) {
        const il_tool *one = side == 0 ? x : y, *other = side == 0 ? y : x;
        for (uint32_t i = 0; i < one->nremember; i++) {
            bool there = false;
            for (uint32_t k = 0; k < other->nremember && !there; k++) {
                there = proof_remember(&one->remember[i], &other->remember[k]);
            }
            if (!there) {
                return proof_says(p, "what its results are remembered by is said otherwise: `", one->remember[i].name, err);
            }
        }
    }
    return IL_OK;
}

/* What results of the tool are read for; p->results says what is not alike. */
static il_status proof_results(proof *p, const il_tool *x, const il_tool *y, il_error *err) {
    const il_result_form *f = x->result, *g = y->result;
    if (!il_str_eq(x->source, y->source)) {
        return proof_says(p, "its results are another source", (il_str){0}, err);
    }
    if ((f == NULL) != (g == NULL)) {
        return proof_says(p, "what its results vouch for is said by one of them only", (il_str){0}, err);
    }
    if (f != NULL && (f->from != g->from || !proof_steps(&f->items, &g->items))) {
        return proof_says(p, "the items of its results are looked for elsewhere", (il_str){0}, err);
    }
    IL_TRY(f != NULL ? proof_fields(p, f, g, err) : IL_OK);
    return p->results.n == 0 ? proof_remembers(p, x, y, err) : IL_OK;
}

/* The entry's `kinds` and the document's, which the digest of an entry has not. */
static bool proof_kinds(const il_against *a, const il_tool *x, const il_tool *y) {
    bool same = x->nkinds == y->nkinds;
    for (uint32_t i = 0; i < x->nkinds && same; i++) {
        same = il_str_eq(x->kinds[i].name, y->kinds[i].name) && il_str_eq(x->kinds[i].form.text, y->kinds[i].form.text) &&
               il_str_eq(il_kinds_word(&a->p[0]->kinds, x->kinds[i].kind), il_kinds_word(&a->p[1]->kinds, y->kinds[i].kind));
    }
    return same;
}

static bool proof_own(const proof *p, const il_tool *x, const il_tool *y) {
    bool same = proof_kinds(p->a, x, y);
    const uint32_t nx = x->when != NULL ? x->when->nremembered : 0, ny = y->when != NULL ? y->when->nremembered : 0;
    same = same && nx == ny;
    for (uint32_t i = 0; i < nx && same; i++) {
        same = il_str_eq(x->when->remembered[i], y->when->remembered[i]);
    }
    return same;
}

/* Whether what a sink call names is looked up alike. */
static bool proof_lists(const proof *p, const il_tool *t) {
    const bool *names = p->a->names;
    bool same = true;
    for (uint32_t i = 0; i < t->narguments && same; i++) {
        const il_argument *arg = &t->arguments[i];
        if (arg->role == IL_ROLE_TO || arg->role == IL_ROLE_OBJECT) {
            same = names[arg->kind < IL_KIND_CUSTOM ? arg->kind : IL_KIND_CUSTOM];
        } else if (arg->role == IL_ROLE_READS || arg->role == IL_ROLE_LINE) {
            same = names[IL_KIND_EMAIL] && names[IL_KIND_URL] && names[IL_KIND_ACCOUNT];
        }
        /* a URL hides URLs only; what else a text names are the kinds above */
    }
    for (uint32_t i = 0; i < t->nbuilt && same; i++) {
        same = t->built[i].role == IL_ROLE_STORE || names[t->built[i].kind < IL_KIND_CUSTOM ? t->built[i].kind : IL_KIND_CUSTOM];
    }
    return same;
}

static bool proof_equal_entries(const il_against *a, const il_against_tool *t) {
    bool same = t->n[0] == t->n[1] && !t->many;
    for (uint32_t i = 0; i < t->n[0] && same; i++) {
        same = memcmp(t->entries[0][i]->meaning, t->entries[1][i]->meaning, IL_DIGEST_BYTES) == 0 &&
               proof_kinds(a, t->entries[0][i], t->entries[1][i]);
    }
    return same;
}

static uint32_t proof_effects_of(const il_against_tool *t, int side) {
    uint32_t bits = t->outside[side] ? (uint32_t)(IL_EGRESS | IL_UNTRUSTED) : 0;
    for (uint32_t i = 0; i < t->n[side]; i++) {
        bits |= t->entries[side][i]->effects | (t->entries[side][i]->child ? (uint32_t)(IL_UNTRUSTED | IL_SENSITIVE) : 0);
    }
    return bits;
}

static bool proof_role(const il_tool *t, il_role role) {
    bool found = role == IL_ROLE_TO && t->to_user;
    for (uint32_t i = 0; i < t->narguments && !found; i++) {
        found = t->arguments[i].role == role;
    }
    for (uint32_t i = 0; i < t->nbuilt && !found; i++) {
        found = t->built[i].role == role;
    }
    return found;
}

bool il_against_unvouched(const il_against_tool *t, int side) {
    if (t->outside[side] || t->n[side] != 1) {
        return true; /* several unequal entries vouch nothing either */
    }
    const il_tool *x = t->entries[side][0];
    const bool egress = (x->effects & (uint32_t)IL_EGRESS) != 0, commit = (x->effects & (uint32_t)IL_COMMIT) != 0;
    return (!egress || !proof_role(x, IL_ROLE_TO)) && (!commit || !proof_role(x, IL_ROLE_OBJECT));
}

/* ---- effects --------------------------------------------------------------------------------------------------- */

typedef struct proof_list {
    uint32_t n;
    il_cel_ruled items[2 * IL_AGAINST_ENTRIES + 3];
} proof_list;

static il_status proof_item(proof *p, il_cel_logic *l, const il_effect_when *w, proof_list *list, il_error *err) {
    il_cel_ruled *item = &list->items[list->n++];
    *item = (il_cel_ruled){.id = IL_CEL_ALWAYS, .yes = 1, .err = 1};
    if (w == NULL) {
        return IL_OK;
    }
    if (!proof_means(p, w->condition.program->root)) {
        proof_why(p, "a condition asks what means something else under each policy");
    }
    return il_cel_logic_add(l, w->condition.program, &item->id, err);
}

/* The first that is about more than the name, which is known. */
static il_str proof_fact(const il_cel_verdict *v) {
    for (size_t i = 0; i < v->nfacts; i++) {
        const il_str f = v->facts[i];
        if (il_str_find(f, IL_STR("tool "), 0) == SIZE_MAX && il_str_find(f, IL_STR("server "), 0) == SIZE_MAX) {
            return f;
        }
    }
    return (il_str){0};
}

/* In front of both lists: where the class has one name only, what other names would give does not matter. */
static il_status proof_named(proof *p, il_cel_logic *l, const il_cel_program *like, il_cel_ruled *item, bool *named,
                             il_error *err) {
    il_cel_program *program = NULL;
    il_buf b;
    il_str text;
    *named = false;
    if (!p->t->exact || like == NULL) {
        return IL_OK;
    }
    il_buf_init(&b, &p->a->scratch, 1024);
    il_buf_puts(&b, "tool != ");
    il_json_write_string(&b, p->t->tool);
    il_buf_puts(&b, " || server != ");
    il_json_write_string(&b, p->t->server);
    IL_TRY(il_buf_done(&b, &text, err));
    IL_TRY(il_cel_compile(&p->a->scratch, text, 1, 1, like->env, IL_CEL_BOOL, NULL, &program, err));
    *item = (il_cel_ruled){.yes = PROOF_OTHER, .err = PROOF_OTHER};
    *named = true;
    return il_cel_logic_add(l, program, &item->id, err);
}

/* The entries of one side that may have the effect: a list that gives 1 where the call has it. */
static il_status proof_effect_list(proof *p, il_cel_logic *l, int side, uint32_t bits, bool on_item, bool bare, proof_list *list,
                                   il_error *err) {
    const uint32_t brings = !p->t->outside[side]        ? 0
                            : p->t->lists[side] || bare ? (uint32_t)IL_UNTRUSTED
                                                        : (uint32_t)(IL_UNTRUSTED | IL_EGRESS);
    if ((brings & bits) != 0) {
        IL_TRY(proof_item(p, l, NULL, list, err));
    }
    for (uint32_t i = 0; i < p->t->n[side]; i++) {
        const il_tool *tool = p->t->entries[side][i];
        for (uint32_t bit = 1; bit < (1u << IL_EFFECTS); bit <<= 1) {
            const il_effect_when *when = NULL;
            if ((tool->said & bits & bit) == 0) {
                continue;
            }
            for (uint32_t k = 0; tool->when != NULL && k < tool->when->n; k++) {
                when = tool->when->when[k].bit == bit ? &tool->when->when[k] : when;
            }
            /* until the result is read, an effect that waits for it counts */
            const bool waits = when != NULL && il_condition_on_item(&when->condition);
            IL_TRY(proof_item(p, l, waits && !on_item ? NULL : when, list, err));
        }
    }
    return IL_OK;
}

/* Some condition of the entries: its environment. */
static const il_cel_program *proof_like(const il_against_tool *t) {
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < t->n[side]; i++) {
            if (t->entries[side][i]->when != NULL && t->entries[side][i]->when->n > 0) {
                return t->entries[side][i]->when->when[0].condition.program;
            }
        }
    }
    return NULL;
}

static il_status proof_effects_with(proof *p, il_cel_logic *l, il_error *err) {
    static const uint32_t groups[] = {(uint32_t)IL_UNTRUSTED, (uint32_t)(IL_SENSITIVE | IL_SECRET), (uint32_t)IL_SECRET,
                                      (uint32_t)IL_EGRESS, (uint32_t)IL_COMMIT};
    /* among names of servers that nobody declares are those of methods that may carry nothing */
    const bool declared =
        il_policy_server(p->a->p[0], p->t->server) != NULL || il_policy_server(p->a->p[1], p->t->server) != NULL;
    const size_t modes = p->t->outside[0] && p->t->outside[1] && !declared && !p->t->exact ? 2 : 1,
                 n = 2 * sizeof groups / sizeof groups[0];
    for (size_t at = 0; at < n * modes && p->why == NULL; at++) {
        const size_t g = at % n;
        proof_list lists[2] = {{0}, {0}};
        il_cel_verdict v;
        bool named = false;
        IL_TRY(proof_named(p, l, proof_like(p->t), &lists[0].items[0], &named, err));
        lists[1].items[0] = lists[0].items[0];
        lists[0].n = lists[1].n = named ? 1 : 0;
        for (int side = 0; side < 2; side++) {
            IL_TRY(proof_effect_list(p, l, side, groups[g / 2], g % 2 == 1, at >= n, &lists[side], err));
        }
        if (p->why != NULL) {
            return IL_OK;
        }
        IL_TRY(il_cel_logic_same(l, lists[0].items, lists[0].n, lists[1].items, lists[1].n, PROOF_ABSENT, &v, err));
        if (v.answer != IL_CEL_YES) {
            proof_why(p, v.answer == IL_CEL_NO ? "the effects may differ" : "the conditions of effects are beyond the bounds");
            p->facts = proof_fact(&v);
        }
    }
    return IL_OK;
}

static il_cel_logic_limits proof_limits(bool unset) {
    return (il_cel_logic_limits){
        .size = sizeof(il_cel_logic_limits), .nodes = 32768, .atoms = 512, .steps = 1000000, .unset = unset};
}

static il_status proof_effects(proof *p, il_error *err) {
    const il_cel_logic_limits limits =
        proof_limits(true); /* names that an entry builds or remembers, and items, may be missing */
    il_cel_logic *l = NULL;
    IL_TRY(il_cel_logic_new(&p->a->scratch, &limits, &l, err));
    return proof_effects_with(p, l, err);
}

/* ---- the entries as a whole ------------------------------------------------------------------------------------ */

static il_status proof_entries(proof *p, il_error *err) {
    const il_against_tool *t = p->t;
    const bool equal = proof_equal_entries(p->a, t);
    const uint32_t effects = proof_effects_of(t, 0) | proof_effects_of(t, 1);
    p->own = p->statement = true;
    p->effects = p->vouch = true; /* conditions of effects are asked before any is counted, and before anything is vouched */
    if (!equal && (t->n[0] != 1 || t->n[1] != 1)) {
        proof_why(p, t->many ? "too many entries" : "several entries count, and not the same");
        return IL_OK;
    }
    const il_tool *x = t->entries[0][0], *y = t->entries[1][0];
    bool lists = true;
    for (uint32_t i = 0; i < t->n[0]; i++) {
        lists = lists && proof_lists(p, t->entries[0][i]);
    }
    if (!equal) {
        p->own = proof_own(p, x, y);
        p->statement = proof_path(x->sql, y->sql) && proof_path(x->shell, y->shell);
        IL_TRY(proof_results(p, x, y, err));
        if (x->child != y->child || !proof_path(x->shell, y->shell)) {
            proof_why(p, "the entries say other things of what the tool is");
        }
    } else {
        for (uint32_t i = 0; i < t->n[0]; i++) { /* what is remembered by name is any entry's */
            p->own = p->own && proof_own(p, t->entries[0][i], t->entries[1][i]);
        }
    }
    IL_TRY(proof_effects(p, err));
    p->effects = p->why == NULL;
    p->vouch = lists && (equal || (proof_arguments(p, x, y) && x->once == y->once && x->addressed == y->addressed));
    if (!equal && !proof_arguments(p, x, y) && (effects & proof_sinks) == 0) { /* places that are written are no sink's alone */
        bool stores = false;
        for (int side = 0; side < 2; side++) {
            const il_tool *e = t->entries[side][0];
            for (uint32_t i = 0; i < e->narguments; i++) {
                stores = stores || e->arguments[i].role == IL_ROLE_STORE;
            }
            for (uint32_t i = 0; i < e->nbuilt; i++) {
                stores = stores || e->built[i].role == IL_ROLE_STORE;
            }
        }
        if (stores) {
            proof_why(p, "other places are written");
        }
    }
    if ((effects & proof_sinks) != 0 && !p->vouch && !(il_against_unvouched(t, 0) && il_against_unvouched(t, 1))) {
        proof_why(p, "what vouches for its destinations may differ");
    }
    if ((effects & (uint32_t)IL_EGRESS) != 0 && !equal && x->once != y->once) {
        proof_why(p, "the way out stays open under one of them");
    }
    return IL_OK;
}

/* ---- rules ----------------------------------------------------------------------------------------------------- */

static il_str proof_text(const il_policy_rule *r) {
    return r->when.program != NULL ? r->when.program->root->src->text : (il_str){0};
}

static bool proof_rule(const proof *p, const il_policy_rule *x, const il_policy_rule *y) {
    return x->then == y->then && (x->when.program == NULL) == (y->when.program == NULL) &&
           il_str_eq(proof_text(x), proof_text(y)) && (x->when.program == NULL || proof_means(p, x->when.program->root));
}

/* What a call gets that no rule decides. */
static uint8_t proof_otherwise(const proof *p, int side) {
    const il_policy_rule *last = p->a->p[side]->rules.otherwise;
    const il_then then = last == NULL ? IL_THEN_ALLOW : last->then;
    return (uint8_t)(then == IL_THEN_APPROVAL && !p->a->bind[side].approves ? IL_THEN_BLOCK : then);
}

/* What a list gives at its end stands for what the rules behind it, which both have, give. */
static il_status proof_rules_with(proof *p, il_cel_logic *l, const uint32_t from, const uint32_t to[2], bool *same, il_str *facts,
                                  il_error *err) {
    il_cel_ruled *lists[2], name = {0};
    const il_cel_program *like = NULL;
    bool named;
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = from; i < to[side]; i++) {
            like = p->t->rules[side][i]->when.program != NULL ? p->t->rules[side][i]->when.program : like;
        }
    }
    IL_TRY(proof_named(p, l, like, &name, &named, err));
    const uint32_t first = named ? 1 : 0;
    for (int side = 0; side < 2; side++) {
        lists[side] = IL_NEW_ARRAY(&p->a->scratch, il_cel_ruled, to[side] + 3);
        if (lists[side] == NULL) {
            return il_arena_fail(&p->a->scratch, err);
        }
        lists[side][0] = name;
        for (uint32_t i = from; i < to[side]; i++) {
            const il_policy_rule *r = p->t->rules[side][i];
            const bool ask = r->then == IL_THEN_APPROVAL && p->a->bind[side].approves;
            il_cel_ruled *item = &lists[side][first + i - from];
            *item = (il_cel_ruled){.id = IL_CEL_ALWAYS,
                                   .yes = (uint8_t)(r->then == IL_THEN_APPROVAL && !ask ? IL_THEN_BLOCK : r->then),
                                   .err = p->a->monitors ? PROOF_FAULT : IL_THEN_BLOCK};
            if (r->when.program != NULL) {
                *same = *same && proof_means(p, r->when.program->root);
                IL_TRY(il_cel_logic_add(l, r->when.program, &item->id, err));
            }
        }
    }
    if (!*same) {
        return IL_OK;
    }
    il_cel_verdict v;
    for (int side = 0; side < 2; side++) {
        const bool behind = to[side] < p->t->nrules[side];
        lists[side][first + to[side] - from] =
            (il_cel_ruled){.id = IL_CEL_ALWAYS, .yes = behind ? PROOF_REST : proof_otherwise(p, side)};
    }
    IL_TRY(il_cel_logic_same(l, lists[0], first + to[0] - from + 1, lists[1], first + to[1] - from + 1, (uint8_t)IL_THEN_ALLOW,
                             &v, err));
    *same = v.answer == IL_CEL_YES;
    *facts = proof_fact(&v);
    return IL_OK;
}

/* Rules from `from` on, up to `to` of each side. */
static il_status proof_rules_part(proof *p, uint32_t from, const uint32_t to[2], bool *same, il_error *err) {
    bool unset = false;
    for (int side = 0; side < 2; side++) {
        unset = unset || (p->a->p[side]->rules.asks & IL_CONDITION_ASKS_SOURCES) !=
                             0; /* which have no answer where nothing is remembered */
    }
    const il_cel_logic_limits limits = proof_limits(unset);
    il_cel_logic *l = NULL;
    *same = to[0] + to[1] - 2 * from <= PROOF_RULES;
    if (!*same) {
        proof_why(p, "too many rules to be compared");
        return IL_OK;
    }
    IL_TRY(il_cel_logic_new(&p->a->scratch, &limits, &l, err));
    return proof_rules_with(p, l, from, to, same, &p->facts, err);
}

static il_status proof_rules(proof *p, il_error *err) {
    const il_against_tool *t = p->t;
    const il_rules *x = &p->a->p[0]->rules, *y = &p->a->p[1]->rules;
    const bool ends =
        (x->otherwise == NULL) == (y->otherwise == NULL) && proof_otherwise(p, 0) == proof_otherwise(p, 1) && x->soft == y->soft;
    uint32_t from = 0, to[2] = {t->nrules[0], t->nrules[1]};
    while (from < to[0] && from < to[1] && proof_rule(p, t->rules[0][from], t->rules[1][from])) {
        from++;
    }
    if (from == to[0] && from == to[1] && ends) {
        return IL_OK;
    }
    if (x->soft || y->soft ||
        (!ends && il_label_lists(t->tool))) { /* to list tools is to call none, whatever a call gets that no rule decides */
        proof_why(p, "the rules may decide otherwise");
        return IL_OK;
    }
    while (ends && to[0] > from && to[1] > from && proof_rule(p, t->rules[0][to[0] - 1], t->rules[1][to[1] - 1])) {
        to[0]--;
        to[1]--;
    }
    bool same = false;
    IL_TRY(proof_rules_part(p, from, to, &same, err));
    if (!same && (from > 0 || to[0] < t->nrules[0])) { /* with what stands before and behind it may be */
        IL_TRY(proof_rules_part(p, 0, t->nrules, &same, err));
    }
    if (!same) {
        proof_why(p, "the rules may decide otherwise");
    }
    return IL_OK;
}

/* Whether the rules of one side block every call, whatever else is so. */
static il_status proof_blocks(proof *p, int side, bool *blocks, il_error *err) {
    const il_against_tool *t = p->t;
    il_cel_ruled all[2] = {{0}, {0}};
    const il_cel_logic_limits limits = proof_limits(true);
    const il_cel_program *like = NULL;
    il_cel_logic *l = NULL;
    il_cel_verdict v = {0};
    bool named;
    *blocks = !t->known[side];
    if (*blocks || t->nrules[side] == 0 || t->nrules[side] > PROOF_RULES || p->a->p[side]->rules.soft) {
        return IL_OK;
    }
    il_cel_ruled *list = IL_NEW_ARRAY(&p->a->scratch, il_cel_ruled, t->nrules[side] + 1);
    if (list == NULL) {
        return il_arena_fail(&p->a->scratch, err);
    }
    for (uint32_t i = 0; i < t->nrules[side]; i++) {
        like = t->rules[side][i]->when.program != NULL ? t->rules[side][i]->when.program : like;
    }
    IL_TRY(il_cel_logic_new(&p->a->scratch, &limits, &l, err));
    IL_TRY(proof_named(p, l, like, &list[0], &named, err));
    const uint32_t first = named ? 1 : 0;
    all[0] = list[0];
    all[first] = (il_cel_ruled){.id = IL_CEL_ALWAYS, .yes = (uint8_t)IL_THEN_BLOCK, .err = (uint8_t)IL_THEN_BLOCK};
    for (uint32_t i = 0; i < t->nrules[side]; i++) {
        const il_policy_rule *r = t->rules[side][i];
        list[first + i] = (il_cel_ruled){.id = IL_CEL_ALWAYS, .yes = (uint8_t)r->then, .err = (uint8_t)IL_THEN_BLOCK};
        if (r->when.program != NULL) {
            IL_TRY(il_cel_logic_add(l, r->when.program, &list[first + i].id, err));
        }
    }
    IL_TRY(il_cel_logic_same(l, list, first + t->nrules[side], all, first + 1, (uint8_t)IL_THEN_ALLOW, &v, err));
    *blocks = v.answer == IL_CEL_YES;
    return IL_OK;
}

il_status il_against_proof(il_against *a, const il_against_tool *t, bool *same, bool *results, il_str *why, il_error *err) {
    proof p = {.a = a, .t = t};
    bool blocks[2] = {false, false};
    *same = *results = false;
    *why = (il_str){0};
    if (!t->known[0] && !t->known[1]) {
        *same = true;
        return IL_OK;
    }
    for (int side = 0; side < 2 && !a->monitors; side++) {
        IL_TRY(proof_blocks(&p, side, &blocks[side], err));
    }
    if (blocks[0] && blocks[1]) {
        *same = true;
        return IL_OK;
    }
    if (!a->language) {
        proof_why(&p, "their conditions are of two languages");
    }
    const bool methods = t->lists[0] || t->lists[1];
    const bool unvouched = il_against_unvouched(t, 0) && il_against_unvouched(t, 1) && !methods;
    if (t->known[0] != t->known[1] || (t->outside[0] != t->outside[1] && !unvouched)) {
        proof_why(&p,
                  t->known[0] != t->known[1] ? "only one of them has an entry" : "its server is outside under one of them only");
    } else {
        IL_TRY(proof_entries(&p, err));
        *results = p.results.n > 0;
        p.vouch = p.vouch || ((proof_effects_of(t, 0) | proof_effects_of(t, 1)) & proof_sinks) == 0; /* nothing is looked at */
        if (p.why == NULL) {
            IL_TRY(proof_rules(&p, err));
        }
    }
    *same = p.why == NULL && !*results;
    il_buf b;
    il_buf_init(&b, &a->scratch, 4096);
    il_buf_put(&b, p.why != NULL ? il_str_of(p.why) : p.results);
    if (p.why != NULL && p.facts.n > 0) {
        il_buf_puts(&b, " where ");
        il_buf_put(&b, p.facts);
    }
    return il_buf_done(&b, why, err);
}
