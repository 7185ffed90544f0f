/* SPDX-License-Identifier: Apache-2.0 */
/* The certificate: what the checker established of one table, bound to the table's digest and sealed. */
#include "machine/machine_impl.h"

#define IL_CERTIFICATE_MAGIC "ILCERT01"
#define IL_CERTIFICATE_BYTES 104u /* magic 8, format, flags, table 32, states, symbols, edges, depth, zero, seal 32 */

enum { CERT_FROM_INIT = 1, CERT_MEDIATION = 2, CERT_HAVOC = 4, CERT_GATES = 8, CERT_LAUNDERING = 16, CERT_ALL = 31 };

il_status il_certificate_build(il_arena *arena, const il_claims *c, il_str *out, il_error *err) {
    il_buf b;
    uint8_t seal[IL_DIGEST_BYTES];
    il_buf_init(&b, arena, IL_CERTIFICATE_BYTES);
    il_buf_puts(&b, IL_CERTIFICATE_MAGIC);
    il_buf_u32(&b, 1);
    il_buf_u32(&b, (c->from_init ? CERT_FROM_INIT : 0u) | (c->mediation ? CERT_MEDIATION : 0u) | (c->havoc ? CERT_HAVOC : 0u) |
                       (c->gates ? CERT_GATES : 0u) | (c->laundering ? CERT_LAUNDERING : 0u));
    il_buf_put(&b, (il_str){(const char *)c->table, sizeof c->table});
    il_buf_u32(&b, c->states);
    il_buf_u32(&b, c->symbols);
    il_buf_u64(&b, c->edges);
    il_buf_u32(&b, c->depth);
    il_buf_u32(&b, 0);
    il_str body = {0};
    IL_TRY(il_buf_done(&b, &body, err));
    il_sha256_of(body, seal);
    il_buf_put(&b, (il_str){(const char *)seal, sizeof seal});
    return il_buf_done(&b, out, err);
}

static il_status certificate_bad(il_error *err, const char *what) {
    return il_error_set(err, IL_E_SEAL, "the certificate does not verify: %s; harden the machine again", what);
}

il_status il_certificate_read(il_str bytes, il_claims *out, il_error *err) {
    *out = (il_claims){0};
    const uint8_t *p = (const uint8_t *)bytes.p;
    if (bytes.n != IL_CERTIFICATE_BYTES || memcmp(p, IL_CERTIFICATE_MAGIC, 8) != 0) {
        return certificate_bad(err, "not a certificate");
    }
    uint8_t seal[IL_DIGEST_BYTES];
    size_t body = IL_CERTIFICATE_BYTES - IL_DIGEST_BYTES;
    il_sha256_of((il_str){bytes.p, body}, seal);
    if (!il_digest_eq(seal, p + body)) {
        return certificate_bad(err, "its seal does not fit its bytes");
    }
    uint32_t format = il_table_u32(p + 8);
    uint32_t flags = il_table_u32(p + 12);
    if (format != 1) {
        return il_error_set(err, IL_E_VERSION, "certificate format %u is not known; this build reads 1", (unsigned)format);
    }
    if ((flags & ~(uint32_t)CERT_ALL) != 0 || il_table_u32(p + 68) != 0) {
        return certificate_bad(err, "unknown claims");
    }
    memcpy(out->table, p + 16, IL_DIGEST_BYTES);
    out->states = il_table_u32(p + 48);
    out->symbols = il_table_u32(p + 52);
    out->edges = il_table_u64(p + 56);
    out->depth = il_table_u32(p + 64);
    out->from_init = flags & CERT_FROM_INIT;
    out->mediation = flags & CERT_MEDIATION;
    out->havoc = flags & CERT_HAVOC;
    out->gates = flags & CERT_GATES;
    out->laundering = flags & CERT_LAUNDERING;
    return IL_OK;
}
