/* SPDX-License-Identifier: Apache-2.0 */
/* The network extension. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/ip.h"
#include "helper_cel_fn.h"

/* Addresses for the rows: il_ip and il_cidr behind il_cel_value. */
static const il_ip v4 = {4, {192, 168, 0, 1}}, other = {4, {192, 168, 1, 1}}, v6 = {6, {0x20, 0x01, 0x0d, 0xb8, [15] = 1}},
                   loopback = {4, {127, 0, 0, 1}}, nothing = {4, {0}}, nothing6 = {6, {0}}, loopback6 = {6, {[15] = 1}},
                   broadcast = {4, {255, 255, 255, 255}}, all_hosts = {4, {224, 0, 0, 1}}, group = {4, {224, 0, 1, 1}},
                   metadata = {4, {169, 254, 169, 254}}, link6 = {6, {0xfe, 0x80, [15] = 1}},
                   multi6 = {6, {0xff, 0x02, [15] = 1}}, net4 = {4, {192, 168, 0, 0}}, net6 = {6, {0x20, 0x01, 0x0d, 0xb8}};
static const il_cidr of4 = {{4, {192, 168, 0, 0}}, 24}, of4_host = {{4, {192, 168, 0, 1}}, 24},
                     of4_half = {{4, {192, 168, 0, 0}}, 25}, of4_twice = {{4, {192, 168, 0, 0}}, 23},
                     of4_one = {{4, {192, 168, 0, 1}}, 32}, of6 = {{6, {0x20, 0x01, 0x0d, 0xb8}}, 32},
                     of6_half = {{6, {0x20, 0x01, 0x0d, 0xb8}}, 33}, all4 = {{4, {0}}, 0};
#define ADDRESS(x)                                                       \
    {                                                                    \
        .kind = IL_CEL_IP, .u = {.p = (const char *)(const void *)&(x) } \
    }
#define RANGE(x)                                                           \
    {                                                                      \
        .kind = IL_CEL_CIDR, .u = {.p = (const char *)(const void *)&(x) } \
    }

static void network_ip(void **state) {
    (void)state;
    const fn_row rows[] = {
        {"ip", {TEXT("192.168.0.1")}, ADDRESS(v4)},
        {"ip", {TEXT("2001:DB8::1")}, ADDRESS(v6)},
        {"ip", {TEXT("::ffff:c0a8:1")}, ADDRESS(v4)},
        {"ip", {ADDRESS(v4)}, ADDRESS(v4)},
        {"ip", {TEXT("192.168.0.1.0")}, BAD_VALUE},
        {"ip", {TEXT("192.168.0.01")}, BAD_VALUE},
        {"ip", {TEXT("2001:db8:::68")}, BAD_VALUE},
        {"ip", {TEXT("fe80::1%en0")}, BAD_VALUE},
        {"ip", {TEXT("::ffff:192.168.0.1")}, BAD_VALUE},
        {"ip", {TEXT("192.168.0.1\0")}, BAD_VALUE},
        {"ip", {TEXT("")}, BAD_VALUE},
        {"ip", {INT(1)}, NO_OVERLOAD},
        {"ip", {RANGE(of4)}, NO_OVERLOAD},
        {"isIP", {TEXT("192.168.0.1")}, BOOL(true)},
        {"isIP", {TEXT("192.168.0.1.0")}, BOOL(false)},
        {"isIP", {TEXT("")}, BOOL(false)},
        {"isIP", {RANGE(of4)}, NO_OVERLOAD},
        {"isIP", {ADDRESS(v4)}, NO_OVERLOAD},
        {"ip.isCanonical", {TEXT("127.0.0.1")}, BOOL(true)},
        {"ip.isCanonical", {TEXT("2001:db8::68")}, BOOL(true)},
        {"ip.isCanonical", {TEXT("2001:DB8::68")}, BOOL(false)},
        {"ip.isCanonical", {TEXT("127.0.0.1.0")}, BAD_VALUE},
        {"ip.isCanonical", {INT(1)}, NO_OVERLOAD},
        {".family", {ADDRESS(v4)}, INT(4)},
        {".family", {ADDRESS(v6)}, INT(6)},
        {".family", {TEXT("127.0.0.1")}, NO_OVERLOAD},
        {".isUnspecified", {ADDRESS(nothing)}, BOOL(true)},
        {".isUnspecified", {ADDRESS(nothing6)}, BOOL(true)},
        {".isUnspecified", {ADDRESS(loopback)}, BOOL(false)},
        {".isLoopback", {ADDRESS(loopback)}, BOOL(true)},
        {".isLoopback", {ADDRESS(loopback6)}, BOOL(true)},
        {".isLoopback", {ADDRESS(v4)}, BOOL(false)},
        {".isGlobalUnicast", {ADDRESS(v4)}, BOOL(true)},
        {".isGlobalUnicast", {ADDRESS(broadcast)}, BOOL(false)},
        {".isGlobalUnicast", {ADDRESS(multi6)}, BOOL(false)},
        {".isLinkLocalMulticast", {ADDRESS(all_hosts)}, BOOL(true)},
        {".isLinkLocalMulticast", {ADDRESS(group)}, BOOL(false)},
        {".isLinkLocalMulticast", {ADDRESS(multi6)}, BOOL(true)},
        {".isLinkLocalUnicast", {ADDRESS(metadata)}, BOOL(true)},
        {".isLinkLocalUnicast", {ADDRESS(link6)}, BOOL(true)},
        {".isLinkLocalUnicast", {ADDRESS(v4)}, BOOL(false)},
        {".isLoopback", {RANGE(of4)}, NO_OVERLOAD},
        {"string", {ADDRESS(v4)}, TEXT("192.168.0.1")},
        {"string", {ADDRESS(v6)}, TEXT("2001:db8::1")},
        {"type", {ADDRESS(v4)}, TYPE(IL_CEL_IP)},
    };
    FN_ROWS(rows);
}

static void network_cidr(void **state) {
    (void)state;
    const fn_row rows[] = {
        {"cidr", {TEXT("192.168.0.0/24")}, RANGE(of4)},
        {"cidr", {TEXT("192.168.0.1/24")}, RANGE(of4_host)},
        {"cidr", {TEXT("2001:DB8::/32")}, RANGE(of6)},
        {"cidr", {TEXT("192.168.0.0/")}, BAD_VALUE},
        {"cidr", {TEXT("192.168.0.0/33")}, BAD_VALUE},
        {"cidr", {TEXT("192.168.0.0/024")}, BAD_VALUE},
        {"cidr", {TEXT("192.168.0.0")}, BAD_VALUE},
        {"cidr", {TEXT("fe80::1%en0/24")}, BAD_VALUE},
        {"cidr", {TEXT("::ffff:192.168.0.1/24")}, BAD_VALUE},
        {"cidr", {INT(1)}, NO_OVERLOAD},
        {"isCIDR", {TEXT("10.0.0.0/8")}, BOOL(true)},
        {"isCIDR", {TEXT("10.0.0.0")}, BOOL(false)},
        {"isCIDR", {RANGE(of4)}, NO_OVERLOAD},
        {".containsIP", {RANGE(of4), ADDRESS(v4)}, BOOL(true)},
        {".containsIP", {RANGE(of4), ADDRESS(other)}, BOOL(false)},
        {".containsIP", {RANGE(of4_host), ADDRESS(v4)}, BOOL(true)},
        {".containsIP", {RANGE(of4), TEXT("192.168.0.1")}, BOOL(true)},
        {".containsIP", {RANGE(of4), TEXT("192.168.1.1")}, BOOL(false)},
        {".containsIP", {RANGE(of4), TEXT("192.168.0.1.0")}, BAD_VALUE},
        {".containsIP", {RANGE(of6), ADDRESS(v6)}, BOOL(true)},
        {".containsIP", {RANGE(of6), ADDRESS(v4)}, BOOL(false)},
        {".containsIP", {RANGE(all4), ADDRESS(v6)}, BOOL(false)},
        {".containsIP", {RANGE(all4), ADDRESS(v4)}, BOOL(true)},
        {".containsIP", {RANGE(of4), INT(1)}, NO_OVERLOAD},
        {".containsIP", {TEXT("192.168.0.0/24"), ADDRESS(v4)}, NO_OVERLOAD},
        {".containsCIDR", {RANGE(of4), RANGE(of4_half)}, BOOL(true)},
        {".containsCIDR", {RANGE(of4), RANGE(of4_one)}, BOOL(true)},
        {".containsCIDR", {RANGE(of4), RANGE(of4_twice)}, BOOL(false)},
        {".containsCIDR", {RANGE(of4), TEXT("192.168.0.0/25")}, BOOL(true)},
        {".containsCIDR", {RANGE(of4), RANGE(of4)}, BOOL(true)},
        {".containsCIDR", {RANGE(of6), RANGE(of6_half)}, BOOL(true)},
        {".containsCIDR", {RANGE(of6_half), RANGE(of6)}, BOOL(false)},
        {".containsCIDR", {RANGE(all4), RANGE(of6)}, BOOL(false)},
        {".containsCIDR", {RANGE(of4), TEXT("192.168.0.0")}, BAD_VALUE},
        {".containsCIDR", {RANGE(of4), ADDRESS(v4)}, NO_OVERLOAD},
        {".ip", {RANGE(of4)}, ADDRESS(net4)},
        {".ip", {RANGE(of4_host)}, ADDRESS(v4)},
        {".ip", {RANGE(of6)}, ADDRESS(net6)},
        {".ip", {ADDRESS(v4)}, NO_OVERLOAD},
        {".masked", {RANGE(of4_host)}, RANGE(of4)},
        {".masked", {RANGE(all4)}, RANGE(all4)},
        {".masked", {ADDRESS(v4)}, NO_OVERLOAD},
        {".prefixLength", {RANGE(of4)}, INT(24)},
        {".prefixLength", {RANGE(all4)}, INT(0)},
        {".prefixLength", {TEXT("10.0.0.0/8")}, NO_OVERLOAD},
        {"string", {RANGE(of4_host)}, TEXT("192.168.0.1/24")},
        {"string", {RANGE(of6)}, TEXT("2001:db8::/32")},
        {"type", {RANGE(of4)}, TYPE(IL_CEL_CIDR)},
    };
    FN_ROWS(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(network_ip), cmocka_unit_test(network_cidr)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
