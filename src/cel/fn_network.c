/* SPDX-License-Identifier: Apache-2.0 */
/* IP addresses and ranges (cel-spec's network extension). What an address is stands in base/ip.h. */
#include "cel/fn.h"

static const il_ip *network_ip(const il_cel_value *v) { return (const il_ip *)(const void *)v->u.p; }
static const il_cidr *network_cidr(const il_cel_value *v) { return (const il_cidr *)(const void *)v->u.p; }

static il_cel_value network_copied(il_cel_run *r, il_cel_kind kind, const void *from, size_t n) {
    char *p = il_cel_room(r, n); /* octets only: any alignment will do */
    if (p == NULL) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    memcpy(p, from, n);
    il_cel_value v = il_cel_of(kind, 0);
    v.u.p = p;
    return v;
}
_Static_assert(_Alignof(il_ip) == 1 && _Alignof(il_cidr) == 1, "room for text is room for addresses");

/* An address that is given as such or as a text; a fault otherwise. */
static il_cel_fault network_read_ip(il_cel_run *r, const il_cel_value *v, il_ip *ip) {
    if (v->kind == IL_CEL_IP) {
        *ip = *network_ip(v);
        return IL_CEL_NO_FAULT;
    }
    if (v->kind != IL_CEL_STRING) {
        return IL_CEL_NO_OVERLOAD;
    }
    if (!il_cel_charge_text(r, v->n)) {
        return IL_CEL_BUDGET;
    }
    return il_ip_parse(il_cel_str(*v), ip) ? IL_CEL_NO_FAULT : IL_CEL_BAD_VALUE;
}

static il_cel_fault network_read_cidr(il_cel_run *r, const il_cel_value *v, il_cidr *cidr) {
    if (v->kind == IL_CEL_CIDR) {
        *cidr = *network_cidr(v);
        return IL_CEL_NO_FAULT;
    }
    if (v->kind != IL_CEL_STRING) {
        return IL_CEL_NO_OVERLOAD;
    }
    if (!il_cel_charge_text(r, v->n)) {
        return IL_CEL_BUDGET;
    }
    return il_cidr_parse(il_cel_str(*v), cidr) ? IL_CEL_NO_FAULT : IL_CEL_BAD_VALUE;
}

il_cel_value il_cel_fn_ip(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    il_ip ip;
    if (args[0].kind == IL_CEL_IP) {
        return args[0];
    }
    const il_cel_fault fault = network_read_ip(r, &args[0], &ip);
    return fault == IL_CEL_NO_FAULT ? network_copied(r, IL_CEL_IP, &ip, sizeof ip) : il_cel_of_fault(fault);
}

il_cel_value il_cel_fn_cidr(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    il_cidr cidr;
    if (args[0].kind == IL_CEL_CIDR) {
        return args[0];
    }
    const il_cel_fault fault = network_read_cidr(r, &args[0], &cidr);
    return fault == IL_CEL_NO_FAULT ? network_copied(r, IL_CEL_CIDR, &cidr, sizeof cidr) : il_cel_of_fault(fault);
}

il_cel_value il_cel_fn_is_ip(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    il_ip ip;
    const il_cel_fault fault = args[0].kind == IL_CEL_STRING ? network_read_ip(r, &args[0], &ip) : IL_CEL_NO_OVERLOAD;
    return fault == IL_CEL_NO_FAULT || fault == IL_CEL_BAD_VALUE ? il_cel_of_bool(fault == IL_CEL_NO_FAULT)
                                                                 : il_cel_of_fault(fault);
}

il_cel_value il_cel_fn_is_cidr(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    il_cidr cidr;
    const il_cel_fault fault = args[0].kind == IL_CEL_STRING ? network_read_cidr(r, &args[0], &cidr) : IL_CEL_NO_OVERLOAD;
    return fault == IL_CEL_NO_FAULT || fault == IL_CEL_BAD_VALUE ? il_cel_of_bool(fault == IL_CEL_NO_FAULT)
                                                                 : il_cel_of_fault(fault);
}

/* An error for a text that is no address at all. */
il_cel_value il_cel_fn_is_canonical(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    il_ip ip;
    const il_cel_fault fault = args[0].kind == IL_CEL_STRING ? network_read_ip(r, &args[0], &ip) : IL_CEL_NO_OVERLOAD;
    return fault == IL_CEL_NO_FAULT ? il_cel_of_bool(il_ip_canonical(il_cel_str(args[0]))) : il_cel_of_fault(fault);
}

il_cel_value il_cel_fn_family(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    return args[0].kind == IL_CEL_IP ? il_cel_of_int(network_ip(&args[0])->family) : il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}

static il_cel_value network_is(const il_cel_value *v, bool (*what)(const il_ip *ip)) {
    return v->kind == IL_CEL_IP ? il_cel_of_bool(what(network_ip(v))) : il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}

il_cel_value il_cel_fn_is_unspecified(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    return network_is(&args[0], il_ip_unspecified);
}
il_cel_value il_cel_fn_is_loopback(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    return network_is(&args[0], il_ip_loopback);
}
il_cel_value il_cel_fn_is_global_unicast(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    return network_is(&args[0], il_ip_global_unicast);
}
il_cel_value il_cel_fn_is_link_local_multicast(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    return network_is(&args[0], il_ip_link_local_multicast);
}
il_cel_value il_cel_fn_is_link_local_unicast(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    return network_is(&args[0], il_ip_link_local_unicast);
}

il_cel_value il_cel_fn_contains_ip(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    il_ip ip;
    const il_cel_fault fault = args[0].kind == IL_CEL_CIDR ? network_read_ip(r, &args[1], &ip) : IL_CEL_NO_OVERLOAD;
    return fault == IL_CEL_NO_FAULT ? il_cel_of_bool(il_cidr_contains(network_cidr(&args[0]), &ip)) : il_cel_of_fault(fault);
}

il_cel_value il_cel_fn_contains_cidr(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    il_cidr cidr;
    const il_cel_fault fault = args[0].kind == IL_CEL_CIDR ? network_read_cidr(r, &args[1], &cidr) : IL_CEL_NO_OVERLOAD;
    return fault == IL_CEL_NO_FAULT ? il_cel_of_bool(il_cidr_contains_cidr(network_cidr(&args[0]), &cidr))
                                    : il_cel_of_fault(fault);
}

/* The address as it was written: bits after the prefix stay. */
il_cel_value il_cel_fn_cidr_ip(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    if (args[0].kind != IL_CEL_CIDR) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    return network_copied(r, IL_CEL_IP, &network_cidr(&args[0])->ip, sizeof(il_ip));
}

il_cel_value il_cel_fn_masked(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    if (args[0].kind != IL_CEL_CIDR) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    const il_cidr masked = il_cidr_masked(network_cidr(&args[0]));
    return network_copied(r, IL_CEL_CIDR, &masked, sizeof masked);
}

il_cel_value il_cel_fn_prefix_length(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    return args[0].kind == IL_CEL_CIDR ? il_cel_of_int(network_cidr(&args[0])->prefix) : il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}

/* The last argument may be a text that is read; the result takes room. */
il_cel_bound il_cel_bound_address(const uint64_t *sizes, uint32_t n) {
    return (il_cel_bound){3 + (n > 0 ? sizes[n - 1] / 64 : 0), 1};
}
