/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"

#include "base/mem.h"

/* FIPS 180-4, section 4.2.2. */
const uint32_t il_sha256_k[64] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
                                  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
                                  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
                                  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
                                  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
                                  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
                                  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
                                  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static inline uint32_t sha256_rotr(uint32_t x, unsigned n) { return (x >> n) | (x << (32 - n)); }

static inline uint32_t sha256_load(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

/* One round without moving the eight variables: the caller rotates their names instead. */
static inline void sha256_round(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f, uint32_t g, uint32_t *h,
                                uint32_t kw) {
    const uint32_t t1 = *h + (sha256_rotr(e, 6) ^ sha256_rotr(e, 11) ^ sha256_rotr(e, 25)) + (g ^ (e & (f ^ g))) + kw;
    const uint32_t t2 = (sha256_rotr(a, 2) ^ sha256_rotr(a, 13) ^ sha256_rotr(a, 22)) + ((a & b) | (c & (a | b)));
    *d += t1;
    *h = t1 + t2;
}

/* The schedule's next word, kept in a ring of 16. */
static inline void sha256_word(uint32_t w[16], unsigned i) {
    const uint32_t x = w[(i + 1) & 15], y = w[(i + 14) & 15];
    w[i & 15] += w[(i + 9) & 15] + (sha256_rotr(x, 7) ^ sha256_rotr(x, 18) ^ (x >> 3)) +
                 (sha256_rotr(y, 17) ^ sha256_rotr(y, 19) ^ (y >> 10));
}

static void sha256_portable(uint32_t state[8], const uint8_t *p, size_t blocks) {
    for (; blocks > 0; blocks--, p += 64) {
        uint32_t w[16];
        for (size_t i = 0; i < 16; i++) {
            w[i] = sha256_load(p + 4 * i);
        }
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
        for (unsigned i = 0; i < 64;
             i += 16) { /* the ring's places are constants: a compiler keeps the words where it keeps variables */
            if (i > 0) {
                for (unsigned j = 0; j < 16; j++) {
                    sha256_word(w, j);
                }
            }
            const uint32_t *k = il_sha256_k + i;
            sha256_round(a, b, c, &d, e, f, g, &h, k[0] + w[0]);
            sha256_round(h, a, b, &c, d, e, f, &g, k[1] + w[1]);
            sha256_round(g, h, a, &b, c, d, e, &f, k[2] + w[2]);
            sha256_round(f, g, h, &a, b, c, d, &e, k[3] + w[3]);
            sha256_round(e, f, g, &h, a, b, c, &d, k[4] + w[4]);
            sha256_round(d, e, f, &g, h, a, b, &c, k[5] + w[5]);
            sha256_round(c, d, e, &f, g, h, a, &b, k[6] + w[6]);
            sha256_round(b, c, d, &e, f, g, h, &a, k[7] + w[7]);
            sha256_round(a, b, c, &d, e, f, g, &h, k[8] + w[8]);
            sha256_round(h, a, b, &c, d, e, f, &g, k[9] + w[9]);
            sha256_round(g, h, a, &b, c, d, e, &f, k[10] + w[10]);
            sha256_round(f, g, h, &a, b, c, d, &e, k[11] + w[11]);
            sha256_round(e, f, g, &h, a, b, c, &d, k[12] + w[12]);
            sha256_round(d, e, f, &g, h, a, b, &c, k[13] + w[13]);
            sha256_round(c, d, e, &f, g, h, a, &b, k[14] + w[14]);
            sha256_round(b, c, d, &e, f, g, h, &a, k[15] + w[15]);
        }
        state[0] += a;
        state[1] += b;
        state[2] += c;
        state[3] += d;
        state[4] += e;
        state[5] += f;
        state[6] += g;
        state[7] += h;
    }
}

void il_sha256_init(il_sha256 *s, il_sha256_blocks blocks) {
    static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(s->h, first, sizeof first);
    s->bytes = 0;
    s->blocks = blocks != NULL ? blocks : sha256_portable;
}

void il_sha256_add(il_sha256 *s, const void *p, size_t n) {
    const uint8_t *from = p;
    const size_t have = (size_t)(s->bytes % 64);
    s->bytes += n;
    if (n == 0) {
        return;
    }
    if (have > 0) {
        const size_t take = n < 64 - have ? n : 64 - have;
        memcpy(s->block + have, from, take);
        if (have + take < 64) {
            return;
        }
        s->blocks(s->h, s->block, 1);
        from += take;
        n -= take;
    }
    if (n >= 64) {
        s->blocks(s->h, from, n / 64);
    }
    if (n % 64 > 0) {
        memcpy(s->block, from + (n - n % 64), n % 64);
    }
}

void il_sha256_end(il_sha256 *s, uint8_t out[IL_DIGEST_BYTES]) {
    const uint64_t bits = s->bytes * 8;
    size_t have = (size_t)(s->bytes % 64);
    s->block[have++] = 0x80;
    if (have > 56) {
        memset(s->block + have, 0, 64 - have);
        s->blocks(s->h, s->block, 1);
        have = 0;
    }
    memset(s->block + have, 0, 56 - have);
    for (size_t i = 0; i < 8; i++) {
        s->block[56 + i] = (uint8_t)(bits >> (56 - 8 * i));
    }
    s->blocks(s->h, s->block, 1);
    for (size_t i = 0; i < 8; i++) {
        out[4 * i] = (uint8_t)(s->h[i] >> 24);
        out[4 * i + 1] = (uint8_t)(s->h[i] >> 16);
        out[4 * i + 2] = (uint8_t)(s->h[i] >> 8);
        out[4 * i + 3] = (uint8_t)s->h[i];
    }
}

void il_sha256_of(il_str bytes, uint8_t out[IL_DIGEST_BYTES]) {
    il_sha256 s;
    il_sha256_init(&s, NULL);
    il_sha256_add(&s, bytes.p, bytes.n);
    il_sha256_end(&s, out);
}

void il_digest_hex(const uint8_t digest[IL_DIGEST_BYTES], char out[IL_DIGEST_HEX]) {
    for (size_t i = 0; i < IL_DIGEST_BYTES; i++) {
        out[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        out[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    out[IL_DIGEST_HEX - 1] = '\0';
}

bool il_digest_read(il_str hex, uint8_t out[IL_DIGEST_BYTES]) {
    if (hex.n != IL_DIGEST_HEX - 1) {
        return false;
    }
    for (size_t i = 0; i < hex.n; i++) {
        const char c = hex.p[i];
        const bool digit = c >= '0' && c <= '9';
        if (!digit && (c < 'a' || c > 'f')) {
            return false;
        }
        out[i / 2] = (uint8_t)(out[i / 2] << 4 | (digit ? c - '0' : c - 'a' + 10));
    }
    return true;
}

bool il_digest_eq(const uint8_t a[IL_DIGEST_BYTES], const uint8_t b[IL_DIGEST_BYTES]) {
    unsigned differs = 0;
    for (size_t i = 0; i < IL_DIGEST_BYTES; i++) {
        differs |= (unsigned)(a[i] ^ b[i]);
    }
    return differs == 0;
}
