/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/type.h"

#include "cel/cel.h"

const il_cel_type il_cel_type_dyn = {.kind = IL_CEL_DYN};
const il_cel_type il_cel_type_null = {.kind = IL_CEL_NULL};
const il_cel_type il_cel_type_bool = {.kind = IL_CEL_BOOL};
const il_cel_type il_cel_type_int = {.kind = IL_CEL_INT};
const il_cel_type il_cel_type_uint = {.kind = IL_CEL_UINT};
const il_cel_type il_cel_type_double = {.kind = IL_CEL_DOUBLE};
const il_cel_type il_cel_type_string = {.kind = IL_CEL_STRING};
const il_cel_type il_cel_type_bytes = {.kind = IL_CEL_BYTES};
const il_cel_type il_cel_type_timestamp = {.kind = IL_CEL_TIMESTAMP};
const il_cel_type il_cel_type_duration = {.kind = IL_CEL_DURATION};
const il_cel_type il_cel_type_ip = {.kind = IL_CEL_IP};
const il_cel_type il_cel_type_cidr = {.kind = IL_CEL_CIDR};
const il_cel_type il_cel_type_list = {.kind = IL_CEL_LIST};
const il_cel_type il_cel_type_map = {.kind = IL_CEL_MAP};
const il_cel_type il_cel_type_json = {.kind = IL_CEL_MAP, .key = &il_cel_type_string};

static const il_cel_type type_optional = {.kind = IL_CEL_OPTIONAL};
static const il_cel_type type_type = {.kind = IL_CEL_TYPE};

/* Levels of a type: literals nest as deep as an expression, and a host's types come on top. A type in a circle ends here. */
#define TYPE_DEPTH 640u

static const il_cel_type *type_or_dyn(const il_cel_type *t) { return t != NULL ? t : &il_cel_type_dyn; }

void il_cel_types_init(il_cel_types *types, il_arena *arena) {
    *types = (il_cel_types){.arena = arena, .steps = IL_CEL_TYPE_STEPS};
}

il_status il_cel_types_failed(const il_cel_types *types) {
    return types->no_memory ? IL_E_MEMORY : types->too_large ? IL_E_LIMIT : IL_OK;
}

static bool type_step(il_cel_types *types) {
    if (types->steps == 0) {
        types->too_large = true;
        return false;
    }
    types->steps--;
    return true;
}

/* --- making ------------------------------------------------------------------------------------------------------------ */

static const il_cel_type *type_new(il_cel_types *types, il_cel_type t) {
    il_cel_type *copy = IL_NEW(types->arena, il_cel_type);
    if (copy == NULL) {
        types->no_memory = true;
        return &il_cel_type_dyn;
    }
    *copy = t;
    return copy;
}

const il_cel_type *il_cel_type_list_of(il_cel_types *types, const il_cel_type *element) {
    return type_new(types, (il_cel_type){.kind = IL_CEL_LIST, .element = element});
}

const il_cel_type *il_cel_type_map_of(il_cel_types *types, const il_cel_type *key, const il_cel_type *value) {
    return type_new(types, (il_cel_type){.kind = IL_CEL_MAP, .key = key, .element = value});
}

const il_cel_type *il_cel_type_optional_of(il_cel_types *types, const il_cel_type *element) {
    return type_new(types, (il_cel_type){.kind = IL_CEL_OPTIONAL, .element = element});
}

const il_cel_type *il_cel_type_of_type(il_cel_types *types, il_cel_value type) {
    static const il_cel_type of[IL_CEL_CIDR + 1] = {
        [IL_CEL_NULL] = {.kind = IL_CEL_TYPE, .element = &il_cel_type_null},
        [IL_CEL_BOOL] = {.kind = IL_CEL_TYPE, .element = &il_cel_type_bool},
        [IL_CEL_INT] = {.kind = IL_CEL_TYPE, .element = &il_cel_type_int},
        [IL_CEL_UINT] = {.kind = IL_CEL_TYPE, .element = &il_cel_type_uint},
        [IL_CEL_DOUBLE] = {.kind = IL_CEL_TYPE, .element = &il_cel_type_double},
        [IL_CEL_STRING] = {.kind = IL_CEL_TYPE, .element = &il_cel_type_string},
        [IL_CEL_BYTES] = {.kind = IL_CEL_TYPE, .element = &il_cel_type_bytes},
        [IL_CEL_LIST] = {.kind = IL_CEL_TYPE, .element = &il_cel_type_list},
        [IL_CEL_MAP] = {.kind = IL_CEL_TYPE, .element = &il_cel_type_map},
        [IL_CEL_TIMESTAMP] = {.kind = IL_CEL_TYPE, .element = &il_cel_type_timestamp},
        [IL_CEL_DURATION] = {.kind = IL_CEL_TYPE, .element = &il_cel_type_duration},
        [IL_CEL_TYPE] = {.kind = IL_CEL_TYPE, .element = &type_type},
        [IL_CEL_OPTIONAL] = {.kind = IL_CEL_TYPE, .element = &type_optional},
        [IL_CEL_IP] = {.kind = IL_CEL_TYPE, .element = &il_cel_type_ip},
        [IL_CEL_CIDR] = {.kind = IL_CEL_TYPE, .element = &il_cel_type_cidr},
    };
    if (type.n <= IL_CEL_CIDR && of[type.n].element != NULL) {
        return &of[type.n];
    }
    return type.u.type != NULL ? type_new(types, (il_cel_type){.kind = IL_CEL_TYPE, .element = type.u.type}) : &type_type;
}

const il_cel_type *il_cel_type_of_kind(il_cel_kind kind) {
    switch (kind) {
    case IL_CEL_NULL:
        return &il_cel_type_null;
    case IL_CEL_BOOL:
        return &il_cel_type_bool;
    case IL_CEL_INT:
        return &il_cel_type_int;
    case IL_CEL_UINT:
        return &il_cel_type_uint;
    case IL_CEL_DOUBLE:
        return &il_cel_type_double;
    case IL_CEL_STRING:
        return &il_cel_type_string;
    case IL_CEL_BYTES:
        return &il_cel_type_bytes;
    case IL_CEL_LIST:
        return &il_cel_type_list;
    case IL_CEL_MAP:
        return &il_cel_type_map;
    case IL_CEL_TIMESTAMP:
        return &il_cel_type_timestamp;
    case IL_CEL_DURATION:
        return &il_cel_type_duration;
    case IL_CEL_TYPE:
        return &type_type;
    case IL_CEL_OPTIONAL:
        return &type_optional;
    case IL_CEL_IP:
        return &il_cel_type_ip;
    case IL_CEL_CIDR:
        return &il_cel_type_cidr;
    case IL_CEL_ERROR:
    case IL_CEL_RECORD:
    case IL_CEL_OPAQUE:
    case IL_CEL_PARAM:
        break;
    }
    return &il_cel_type_dyn;
}

/* --- variables --------------------------------------------------------------------------------------------------------- */

/* A variable has no name, which a parameter of a signature has; its number stands in `most`. */
bool il_cel_type_is_variable(const il_cel_type *t) { return t->kind == IL_CEL_PARAM && t->name.n == 0; }

const il_cel_type *il_cel_type_unknown(il_cel_types *types) {
    if (types->nbound == types->room) {
        const uint32_t room = types->room != 0 ? types->room * 2 : 16;
        const il_cel_type **bound = IL_NEW_ARRAY(types->arena, const il_cel_type *, room);
        if (bound == NULL) {
            types->no_memory = true;
            return &il_cel_type_dyn;
        }
        for (uint32_t i = 0; i < types->nbound; i++) {
            bound[i] = types->bound[i];
        }
        types->bound = bound;
        types->room = room;
    }
    types->bound[types->nbound] = NULL;
    return type_new(types, (il_cel_type){.kind = IL_CEL_PARAM, .most = types->nbound++});
}

const il_cel_type *il_cel_type_seen(const il_cel_types *types, const il_cel_type *t) {
    t = type_or_dyn(t);
    while (il_cel_type_is_variable(t) && t->most < types->nbound && types->bound[t->most] != NULL) {
        t = types->bound[t->most]; /* ends: il_cel_type_unify binds no variable to what it occurs in */
    }
    return t;
}

/* The last variable of a chain of variables bound to each other. */
static const il_cel_type *type_last(const il_cel_types *types, const il_cel_type *t) {
    while (t->most < types->nbound && types->bound[t->most] != NULL && il_cel_type_is_variable(types->bound[t->most])) {
        t = types->bound[t->most];
    }
    return t;
}

static bool type_bind(il_cel_types *types, const il_cel_type *variable, const il_cel_type *to) {
    if (variable->most >= types->nbound) {
        return false;
    }
    if (types->ntrail == types->trail_room) {
        const uint32_t room = types->trail_room != 0 ? types->trail_room * 2 : 16;
        il_cel_rebound *trail = IL_NEW_ARRAY(types->arena, il_cel_rebound, room);
        if (trail == NULL) {
            types->no_memory = true;
            return false;
        }
        for (uint32_t i = 0; i < types->ntrail; i++) {
            trail[i] = types->trail[i];
        }
        types->trail = trail;
        types->trail_room = room;
    }
    types->trail[types->ntrail++] = (il_cel_rebound){variable->most, types->bound[variable->most]};
    types->bound[variable->most] = to;
    return true;
}

uint32_t il_cel_types_mark(const il_cel_types *types) { return types->ntrail; }

void il_cel_types_undo(il_cel_types *types, uint32_t mark) {
    while (types->ntrail > mark) {
        const il_cel_rebound *r = &types->trail[--types->ntrail];
        types->bound[r->variable] = r->was;
    }
}

/* --- going together ---------------------------------------------------------------------------------------------------- */

bool il_cel_type_nullable(il_cel_kind kind) {
    return kind == IL_CEL_OPTIONAL || kind == IL_CEL_TIMESTAMP || kind == IL_CEL_DURATION || kind == IL_CEL_IP ||
           kind == IL_CEL_CIDR || kind == IL_CEL_RECORD || kind == IL_CEL_OPAQUE;
}

/* Whether the variable `v`, last of its chain, is part of `t`. True too when that cannot be told: then nothing is bound. */
static bool type_occurs(il_cel_types *types, const il_cel_type *v, const il_cel_type *t, unsigned depth) {
    if (depth == 0 || !type_step(types)) {
        return true;
    }
    t = type_or_dyn(t);
    if (il_cel_type_is_variable(t)) {
        t = type_last(types, t);
        if (t->most == v->most) {
            return true;
        }
        t = il_cel_type_seen(types, t);
        if (il_cel_type_is_variable(t)) {
            return false;
        }
    }
    switch (t->kind) {
    case IL_CEL_LIST:
    case IL_CEL_OPTIONAL:
    case IL_CEL_TYPE:
        return type_occurs(types, v, t->element, depth - 1);
    case IL_CEL_MAP:
        return type_occurs(types, v, t->key, depth - 1) || type_occurs(types, v, t->element, depth - 1);
    case IL_CEL_OPAQUE:
        for (size_t i = 0; i < t->nfields; i++) {
            if (type_occurs(types, v, t->fields[i].type, depth - 1)) {
                return true;
            }
        }
        return false;
    case IL_CEL_ERROR:
    case IL_CEL_NULL:
    case IL_CEL_BOOL:
    case IL_CEL_INT:
    case IL_CEL_UINT:
    case IL_CEL_DOUBLE:
    case IL_CEL_STRING:
    case IL_CEL_BYTES:
    case IL_CEL_TIMESTAMP:
    case IL_CEL_DURATION:
    case IL_CEL_IP:
    case IL_CEL_CIDR:
    case IL_CEL_RECORD:
    case IL_CEL_PARAM:
        break;
    }
    return false;
}

static const il_cel_type *type_general(il_cel_types *types, const il_cel_type *a, const il_cel_type *b, unsigned depth);
static bool type_together(il_cel_types *types, const il_cel_type *a, const il_cel_type *b, unsigned depth);

/* One of the two is a variable. One that has met a type keeps the more general of the two. */
static bool type_meets(il_cel_types *types, const il_cel_type *variable, const il_cel_type *t, unsigned depth) {
    variable = type_last(types, variable);
    if (il_cel_type_is_variable(t)) {
        t = type_last(types, t);
        if (t->most == variable->most) {
            return true;
        }
    }
    const il_cel_type *known = il_cel_type_seen(types, variable);
    if (known == variable) {
        return !type_occurs(types, variable, t, depth) && type_bind(types, variable, t);
    }
    if (known == t) {
        return true;
    }
    if (!type_together(types, t, known, depth)) {
        return false;
    }
    const il_cel_type *general = type_general(types, known, t, depth);
    return general == known || type_occurs(types, variable, general, depth) || type_bind(types, variable, general);
}

static bool type_arguments_together(il_cel_types *types, const il_cel_type *a, const il_cel_type *b, unsigned depth) {
    if (!il_str_eq(a->name, b->name) || a->nfields != b->nfields) {
        return false;
    }
    for (size_t i = 0; i < a->nfields; i++) {
        if (!type_together(types, a->fields[i].type, b->fields[i].type, depth - 1)) {
            return false;
        }
    }
    return true;
}

static bool type_together(il_cel_types *types, const il_cel_type *a, const il_cel_type *b, unsigned depth) {
    if (depth == 0 || !type_step(types)) {
        return false;
    }
    a = type_or_dyn(a);
    b = type_or_dyn(b);
    if (a == b) {
        return true;
    }
    if (il_cel_type_is_variable(b)) {
        return type_meets(types, b, a, depth - 1);
    }
    if (il_cel_type_is_variable(a)) {
        return type_meets(types, a, b, depth - 1);
    }
    if (a->kind == IL_CEL_DYN || b->kind == IL_CEL_DYN) {
        return true;
    }
    if (a->kind != b->kind) {
        return (a->kind == IL_CEL_NULL && il_cel_type_nullable(b->kind)) ||
               (b->kind == IL_CEL_NULL && il_cel_type_nullable(a->kind));
    }
    switch (a->kind) {
    case IL_CEL_LIST:
    case IL_CEL_OPTIONAL:
        return type_together(types, a->element, b->element, depth - 1);
    case IL_CEL_MAP:
        return type_together(types, a->key, b->key, depth - 1) && type_together(types, a->element, b->element, depth - 1);
    case IL_CEL_OPAQUE:
        return type_arguments_together(types, a, b, depth);
    case IL_CEL_RECORD:
        return a->name.n > 0 && il_str_eq(a->name, b->name) && a->nfields == b->nfields;
    case IL_CEL_PARAM:
        return il_str_eq(a->name, b->name);
    case IL_CEL_ERROR:
    case IL_CEL_NULL:
    case IL_CEL_BOOL:
    case IL_CEL_INT:
    case IL_CEL_UINT:
    case IL_CEL_DOUBLE:
    case IL_CEL_STRING:
    case IL_CEL_BYTES:
    case IL_CEL_TIMESTAMP:
    case IL_CEL_DURATION:
    case IL_CEL_TYPE: /* comparing types is what they are for */
    case IL_CEL_IP:
    case IL_CEL_CIDR:
        return true;
    }
    return false;
}

bool il_cel_type_unify(il_cel_types *types, const il_cel_type *a, const il_cel_type *b) {
    const uint32_t mark = il_cel_types_mark(types);
    if (type_together(types, a, b, TYPE_DEPTH)) {
        return true;
    }
    il_cel_types_undo(types, mark);
    return false;
}

/* --- the more general of two ------------------------------------------------------------------------------------------- */

static const il_cel_type *type_general_string(const il_cel_type *a, const il_cel_type *b) {
    if (a->ndomain != b->ndomain || a->domain == NULL || b->domain == NULL) {
        return &il_cel_type_string;
    }
    for (size_t i = 0; i < a->ndomain; i++) {
        if (!il_str_eq(a->domain[i], b->domain[i])) {
            return &il_cel_type_string;
        }
    }
    return a;
}

static const il_cel_type *type_general_opaque(il_cel_types *types, const il_cel_type *a, const il_cel_type *b, unsigned depth) {
    if (a->nfields == 0 || a->nfields != b->nfields) {
        return a;
    }
    il_cel_field *fields = IL_NEW_ARRAY(types->arena, il_cel_field, a->nfields);
    if (fields == NULL) {
        types->no_memory = true;
        return &il_cel_type_dyn;
    }
    for (size_t i = 0; i < a->nfields; i++) {
        fields[i] = (il_cel_field){a->fields[i].name, type_general(types, a->fields[i].type, b->fields[i].type, depth - 1)};
    }
    return type_new(types, (il_cel_type){.kind = IL_CEL_OPAQUE, .fields = fields, .nfields = a->nfields, .name = a->name});
}

static const il_cel_type *type_general(il_cel_types *types, const il_cel_type *a, const il_cel_type *b, unsigned depth) {
    if (depth == 0 || !type_step(types)) {
        return &il_cel_type_dyn;
    }
    a = il_cel_type_seen(types, a);
    b = il_cel_type_seen(types, b);
    if (a == b || il_cel_type_is_variable(a)) {
        return a;
    }
    if (a->kind == IL_CEL_DYN || il_cel_type_is_variable(b)) {
        return il_cel_type_is_variable(b) ? b : a;
    }
    if (a->kind != b->kind) {
        return a->kind == IL_CEL_NULL && il_cel_type_nullable(b->kind)   ? b
               : b->kind == IL_CEL_NULL && il_cel_type_nullable(a->kind) ? a
                                                                         : &il_cel_type_dyn;
    }
    const il_cel_type *key, *element;
    switch (a->kind) {
    case IL_CEL_STRING:
        return type_general_string(a, b);
    case IL_CEL_LIST:
    case IL_CEL_OPTIONAL:
    case IL_CEL_TYPE:
        element = type_general(types, a->element, b->element, depth - 1);
        return element == a->element   ? a
               : element == b->element ? b
                                       : type_new(types, (il_cel_type){.kind = a->kind, .element = element});
    case IL_CEL_MAP:
        key = type_general(types, a->key, b->key, depth - 1);
        element = type_general(types, a->element, b->element, depth - 1);
        if (a->fields == NULL && key == a->key && element == a->element) {
            return a;
        }
        if (b->fields == NULL && key == b->key && element == b->element) {
            return b;
        }
        return il_cel_type_map_of(types, key, element);
    case IL_CEL_OPAQUE:
        return type_general_opaque(types, a, b, depth);
    case IL_CEL_RECORD:
        return a;
    case IL_CEL_ERROR:
    case IL_CEL_NULL:
    case IL_CEL_BOOL:
    case IL_CEL_INT:
    case IL_CEL_UINT:
    case IL_CEL_DOUBLE:
    case IL_CEL_BYTES:
    case IL_CEL_TIMESTAMP:
    case IL_CEL_DURATION:
    case IL_CEL_IP:
    case IL_CEL_CIDR:
    case IL_CEL_PARAM:
        break;
    }
    return il_cel_type_of_kind(a->kind);
}

const il_cel_type *il_cel_type_join(il_cel_types *types, const il_cel_type *a, const il_cel_type *b) {
    return type_general(types, a, b, TYPE_DEPTH);
}

static bool type_same(il_cel_types *types, const il_cel_type *a, const il_cel_type *b, unsigned depth) {
    if (depth == 0 || !type_step(types)) {
        return false;
    }
    a = il_cel_type_seen(types, a);
    b = il_cel_type_seen(types, b);
    if (a == b) {
        return true;
    }
    if (a->kind != b->kind) {
        return false;
    }
    switch (a->kind) {
    case IL_CEL_LIST:
    case IL_CEL_OPTIONAL:
    case IL_CEL_TYPE:
        return type_same(types, a->element, b->element, depth - 1);
    case IL_CEL_MAP:
        return a->fields == b->fields && type_same(types, a->key, b->key, depth - 1) &&
               type_same(types, a->element, b->element, depth - 1);
    case IL_CEL_OPAQUE:
        for (size_t i = 0; i < a->nfields && i < b->nfields; i++) {
            if (!type_same(types, a->fields[i].type, b->fields[i].type, depth - 1)) {
                return false;
            }
        }
        return il_str_eq(a->name, b->name) && a->nfields == b->nfields;
    case IL_CEL_RECORD:
        return a->name.n > 0 && il_str_eq(a->name, b->name) && a->nfields == b->nfields;
    case IL_CEL_PARAM:
        return a->name.n > 0 && il_str_eq(a->name, b->name);
    case IL_CEL_ERROR:
    case IL_CEL_NULL:
    case IL_CEL_BOOL:
    case IL_CEL_INT:
    case IL_CEL_UINT:
    case IL_CEL_DOUBLE:
    case IL_CEL_STRING:
    case IL_CEL_BYTES:
    case IL_CEL_TIMESTAMP:
    case IL_CEL_DURATION:
    case IL_CEL_IP:
    case IL_CEL_CIDR:
        break;
    }
    return true;
}

bool il_cel_type_same(il_cel_types *types, const il_cel_type *a, const il_cel_type *b) {
    return type_same(types, a, b, TYPE_DEPTH);
}

/* --- signatures -------------------------------------------------------------------------------------------------------- */

static const il_cel_type *type_parameter(il_cel_types *types, il_cel_signature *s, il_str name) {
    for (unsigned i = 0; i < s->n; i++) {
        if (il_str_eq(s->names[i], name)) {
            return s->variables[i];
        }
    }
    if (s->n == sizeof s->names / sizeof s->names[0]) {
        return &il_cel_type_dyn; /* more parameters than any function has arguments: what is left is not told apart */
    }
    s->names[s->n] = name;
    s->variables[s->n] = il_cel_type_unknown(types);
    return s->variables[s->n++];
}

static const il_cel_type *type_fresh(il_cel_types *types, il_cel_signature *s, const il_cel_type *t, unsigned depth) {
    if (t == NULL || depth == 0 || !type_step(types)) {
        return &il_cel_type_dyn;
    }
    const il_cel_type *key, *element;
    il_cel_field *fields;
    bool same;
    switch (t->kind) {
    case IL_CEL_PARAM:
        return type_parameter(types, s, t->name);
    case IL_CEL_LIST:
    case IL_CEL_OPTIONAL:
    case IL_CEL_TYPE:
        if (t->element == NULL) {
            return t;
        }
        element = type_fresh(types, s, t->element, depth - 1);
        return element == t->element ? t : type_new(types, (il_cel_type){.kind = t->kind, .element = element, .most = t->most});
    case IL_CEL_MAP:
        if (t->fields != NULL || (t->key == NULL && t->element == NULL)) {
            return t;
        }
        key = type_fresh(types, s, t->key, depth - 1);
        element = type_fresh(types, s, t->element, depth - 1);
        return key == t->key && element == t->element
                   ? t
                   : type_new(types, (il_cel_type){.kind = IL_CEL_MAP, .key = key, .element = element, .most = t->most});
    case IL_CEL_OPAQUE:
        if (t->nfields == 0) {
            return t;
        }
        fields = IL_NEW_ARRAY(types->arena, il_cel_field, t->nfields);
        if (fields == NULL) {
            types->no_memory = true;
            return &il_cel_type_dyn;
        }
        same = true;
        for (size_t i = 0; i < t->nfields; i++) {
            fields[i] = (il_cel_field){t->fields[i].name, type_fresh(types, s, t->fields[i].type, depth - 1)};
            same = same && fields[i].type == t->fields[i].type;
        }
        return same ? t
                    : type_new(types,
                               (il_cel_type){.kind = IL_CEL_OPAQUE, .fields = fields, .nfields = t->nfields, .name = t->name});
    case IL_CEL_ERROR:
    case IL_CEL_NULL:
    case IL_CEL_BOOL:
    case IL_CEL_INT:
    case IL_CEL_UINT:
    case IL_CEL_DOUBLE:
    case IL_CEL_STRING:
    case IL_CEL_BYTES:
    case IL_CEL_TIMESTAMP:
    case IL_CEL_DURATION:
    case IL_CEL_IP:
    case IL_CEL_CIDR:
    case IL_CEL_RECORD:
        break;
    }
    return t;
}

const il_cel_type *il_cel_type_fresh(il_cel_types *types, il_cel_signature *s, const il_cel_type *t) {
    return type_fresh(types, s, t, TYPE_DEPTH);
}

bool il_cel_type_may_fit(const il_cel_type *seen_argument, const il_cel_type *parameter) {
    const il_cel_kind a = seen_argument->kind, p = parameter != NULL ? parameter->kind : IL_CEL_DYN;
    return a == p || a == IL_CEL_DYN || p == IL_CEL_DYN || a == IL_CEL_PARAM || p == IL_CEL_PARAM ||
           (a == IL_CEL_NULL && il_cel_type_nullable(p)) || (p == IL_CEL_NULL && il_cel_type_nullable(a));
}

/* --- the end ----------------------------------------------------------------------------------------------------------- */

static const il_cel_type *type_final(il_cel_types *types, const il_cel_type *t, unsigned depth) {
    if (depth == 0 || !type_step(types)) {
        return &il_cel_type_dyn;
    }
    t = il_cel_type_seen(types, t);
    const il_cel_type *key, *element;
    il_cel_field *fields;
    bool same;
    switch (t->kind) {
    case IL_CEL_PARAM:
        return &il_cel_type_dyn;
    case IL_CEL_LIST:
    case IL_CEL_OPTIONAL:
    case IL_CEL_TYPE:
        if (t->element == NULL) {
            return t;
        }
        element = type_final(types, t->element, depth - 1);
        return element == t->element ? t : type_new(types, (il_cel_type){.kind = t->kind, .element = element, .most = t->most});
    case IL_CEL_MAP:
        if (t->fields != NULL || (t->key == NULL && t->element == NULL)) {
            return t;
        }
        key = type_final(types, t->key, depth - 1);
        element = type_final(types, t->element, depth - 1);
        return (key == t->key || t->key == NULL) && (element == t->element || t->element == NULL)
                   ? t
                   : type_new(types, (il_cel_type){.kind = IL_CEL_MAP, .key = key, .element = element, .most = t->most});
    case IL_CEL_OPAQUE:
        same = true;
        for (size_t i = 0; i < t->nfields && same; i++) {
            same = type_final(types, t->fields[i].type, depth - 1) == t->fields[i].type;
        }
        if (same) {
            return t;
        }
        fields = IL_NEW_ARRAY(types->arena, il_cel_field, t->nfields);
        if (fields == NULL) {
            types->no_memory = true;
            return &il_cel_type_dyn;
        }
        for (size_t i = 0; i < t->nfields; i++) {
            fields[i] = (il_cel_field){t->fields[i].name, type_final(types, t->fields[i].type, depth - 1)};
        }
        return type_new(types, (il_cel_type){.kind = IL_CEL_OPAQUE, .fields = fields, .nfields = t->nfields, .name = t->name});
    case IL_CEL_ERROR:
    case IL_CEL_NULL:
    case IL_CEL_BOOL:
    case IL_CEL_INT:
    case IL_CEL_UINT:
    case IL_CEL_DOUBLE:
    case IL_CEL_STRING:
    case IL_CEL_BYTES:
    case IL_CEL_TIMESTAMP:
    case IL_CEL_DURATION:
    case IL_CEL_IP:
    case IL_CEL_CIDR:
    case IL_CEL_RECORD:
        break;
    }
    return t;
}

const il_cel_type *il_cel_type_final(il_cel_types *types, const il_cel_type *t) { return type_final(types, t, TYPE_DEPTH); }

/* --- as text ----------------------------------------------------------------------------------------------------------- */

typedef struct type_text {
    char *out;
    size_t cap, n;
    const il_cel_types *types; /* may be NULL */
} type_text;

static void type_put(type_text *t, il_str s) {
    for (size_t i = 0; i < s.n && t->n + 1 < t->cap; i++) {
        t->out[t->n++] = s.p[i];
    }
}

static void type_write(type_text *out, const il_cel_type *t, unsigned depth);

static void type_write_of(type_text *out, il_str name, const il_cel_type *a, const il_cel_type *b, bool two, unsigned depth) {
    type_put(out, name);
    type_put(out, IL_STR("("));
    type_write(out, a, depth);
    if (two) {
        type_put(out, IL_STR(", "));
        type_write(out, b, depth);
    }
    type_put(out, IL_STR(")"));
}

static void type_write(type_text *out, const il_cel_type *t, unsigned depth) {
    if (depth == 0 || out->n + 1 >= out->cap) { /* a full text ends the walk, however many parts there are */
        return;
    }
    t = out->types != NULL ? il_cel_type_seen(out->types, t) : type_or_dyn(t);
    depth--;
    switch (t->kind) {
    case IL_CEL_ERROR:
        type_put(out, IL_STR("dyn"));
        return;
    case IL_CEL_NULL:
        type_put(out, IL_STR("null_type"));
        return;
    case IL_CEL_BOOL:
        type_put(out, IL_STR("bool"));
        return;
    case IL_CEL_INT:
        type_put(out, IL_STR("int"));
        return;
    case IL_CEL_UINT:
        type_put(out, IL_STR("uint"));
        return;
    case IL_CEL_DOUBLE:
        type_put(out, IL_STR("double"));
        return;
    case IL_CEL_STRING:
        type_put(out, IL_STR("string"));
        return;
    case IL_CEL_BYTES:
        type_put(out, IL_STR("bytes"));
        return;
    case IL_CEL_TIMESTAMP:
        type_put(out, IL_STR("timestamp"));
        return;
    case IL_CEL_DURATION:
        type_put(out, IL_STR("duration"));
        return;
    case IL_CEL_IP:
        type_put(out, IL_STR("net.IP"));
        return;
    case IL_CEL_CIDR:
        type_put(out, IL_STR("net.CIDR"));
        return;
    case IL_CEL_LIST:
        type_write_of(out, IL_STR("list"), t->element, NULL, false, depth);
        return;
    case IL_CEL_MAP:
        type_write_of(out, IL_STR("map"), t->key, t->element, true, depth);
        return;
    case IL_CEL_OPTIONAL:
        type_write_of(out, IL_STR("optional_type"), t->element, NULL, false, depth);
        return;
    case IL_CEL_TYPE:
        if (t->element == NULL) {
            type_put(out, IL_STR("type"));
        } else {
            type_write_of(out, IL_STR("type"), t->element, NULL, false, depth);
        }
        return;
    case IL_CEL_RECORD:
        type_put(out, t->name.n > 0 ? t->name : IL_STR("record"));
        return;
    case IL_CEL_OPAQUE:
        type_put(out, t->name.n > 0 ? t->name : IL_STR("value"));
        for (size_t i = 0; i < t->nfields && out->n + 1 < out->cap; i++) {
            type_put(out, i == 0 ? IL_STR("(") : IL_STR(", "));
            type_write(out, t->fields[i].type, depth);
        }
        type_put(out, t->nfields > 0 ? IL_STR(")") : IL_STR(""));
        return;
    case IL_CEL_PARAM:
        type_put(out, t->name.n > 0 ? t->name : IL_STR("dyn"));
        return;
    }
}

size_t il_cel_type_write(const il_cel_types *types, const il_cel_type *t, char *out, size_t cap) {
    if (cap == 0) {
        return 0;
    }
    type_text text = {out, cap, 0, types};
    type_write(&text, t, TYPE_DEPTH);
    out[text.n] = 0;
    return text.n;
}

size_t il_cel_type_text(const il_cel_type *type, char *out, size_t cap) { return il_cel_type_write(NULL, type, out, cap); }
