/* SPDX-License-Identifier: Apache-2.0 */
/* IP addresses and ranges as text and bytes. Strict: what other readers take for another address, or for none, is refused. Pure. */
#pragma once
#include "base/str.h"

typedef struct il_ip {
    uint8_t family;    /* 4 or 6 */
    uint8_t bytes[16]; /* in network order; four of family 4, the rest 0 */
} il_ip;
typedef struct il_cidr {
    il_ip ip; /* as written: bits after the prefix may be set */
    uint8_t prefix;
} il_cidr;

/* Four decimal numbers from 0 to 255 without leading zeros. */
bool il_ip4_parse(il_str text, uint8_t octets[4]);
/* RFC 4291 section 2.2, hexadecimal groups only: no dotted end, no zone, no brackets. `::` stands for at least one group. */
bool il_ip6_parse(il_str text, uint16_t groups[8]);

/* Either family, as CEL's network extension reads it: a dotted end is accepted in IPv6, but not in IPv4-mapped addresses
 * (`::ffff:1.2.3.4`); one that is written in hexadecimal is its IPv4 address (family 4). No zone. */
bool il_ip_parse(il_str text, il_ip *out);
/* RFC 5952 (lower case, the first longest run of two or more zero groups as `::`), or dotted. Returns the bytes written, no NUL. */
enum { IL_IP_TEXT = 39 };
size_t il_ip_text(const il_ip *ip, char out[IL_IP_TEXT]);
/* Whether `text` is an address and il_ip_text would write just that. */
bool il_ip_canonical(il_str text);
bool il_ip_eq(const il_ip *a, const il_ip *b);

/* As Go's net/netip tells them. Global unicast is all that is not unspecified, loopback, multicast, link-local unicast or the
 * IPv4 broadcast address: private addresses are. */
bool il_ip_unspecified(const il_ip *ip);
bool il_ip_loopback(const il_ip *ip);
bool il_ip_multicast(const il_ip *ip);
bool il_ip_link_local_multicast(const il_ip *ip);
bool il_ip_link_local_unicast(const il_ip *ip);
bool il_ip_global_unicast(const il_ip *ip);

/* `ADDRESS/BITS`, the bits decimal without leading zeros and at most 32 or 128. IPv4-mapped addresses are refused in any
 * spelling. */
bool il_cidr_parse(il_str text, il_cidr *out);
enum { IL_CIDR_TEXT = IL_IP_TEXT + 4 };
size_t il_cidr_text(const il_cidr *c, char out[IL_CIDR_TEXT]);
/* With all bits after the prefix 0. */
il_cidr il_cidr_masked(const il_cidr *c);
/* False across families. */
bool il_cidr_contains(const il_cidr *c, const il_ip *ip);
bool il_cidr_contains_cidr(const il_cidr *outer, const il_cidr *inner);
