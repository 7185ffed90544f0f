/* SPDX-License-Identifier: Apache-2.0 */
#include "host/sha256.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

#include "base/sha256.h"

#define HOST_SHA __attribute__((target("sha,sse4.1,ssse3")))

/* The instructions keep the eight variables in two registers, `abef` and `cdgh`, first letter in the highest lane, and the message
 * schedule in four, four words each (Intel SDM volume 2, SHA256RNDS2, SHA256MSG1, SHA256MSG2). */
typedef struct host_sha {
    __m128i abef, cdgh;
} host_sha;

HOST_SHA static inline void host_sha_rounds(host_sha *s, __m128i words, const uint32_t *k) {
    const __m128i kw = _mm_add_epi32(words, _mm_loadu_si128((const __m128i *)k));
    s->cdgh = _mm_sha256rnds2_epu32(s->cdgh, s->abef, kw);
    s->abef = _mm_sha256rnds2_epu32(s->abef, s->cdgh, _mm_shuffle_epi32(kw, 0x0e));
}

/* The four words after these sixteen. */
HOST_SHA static inline __m128i host_sha_words(__m128i w0, __m128i w1, __m128i w2, __m128i w3) {
    return _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8(w3, w2, 4)), w3);
}

HOST_SHA static inline __m128i host_sha_load(const uint8_t *p) {
    const __m128i big_endian = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)p), big_endian);
}

HOST_SHA static void host_sha_blocks(uint32_t state[8], const uint8_t *p, size_t nblocks) {
    host_sha s = {_mm_set_epi32((int)state[0], (int)state[1], (int)state[4], (int)state[5]),
                  _mm_set_epi32((int)state[2], (int)state[3], (int)state[6], (int)state[7])};
    for (; nblocks > 0; nblocks--, p += 64) {
        const host_sha before = s;
        const uint32_t *k = il_sha256_k;
        __m128i w0 = host_sha_load(p), w1 = host_sha_load(p + 16), w2 = host_sha_load(p + 32), w3 = host_sha_load(p + 48);
        for (int i = 0; i < 3; i++, k += 16) {
            host_sha_rounds(&s, w0, k);
            w0 = host_sha_words(w0, w1, w2, w3);
            host_sha_rounds(&s, w1, k + 4);
            w1 = host_sha_words(w1, w2, w3, w0);
            host_sha_rounds(&s, w2, k + 8);
            w2 = host_sha_words(w2, w3, w0, w1);
            host_sha_rounds(&s, w3, k + 12);
            w3 = host_sha_words(w3, w0, w1, w2);
        }
        host_sha_rounds(&s, w0, k);
        host_sha_rounds(&s, w1, k + 4);
        host_sha_rounds(&s, w2, k + 8);
        host_sha_rounds(&s, w3, k + 12);
        s.abef = _mm_add_epi32(s.abef, before.abef);
        s.cdgh = _mm_add_epi32(s.cdgh, before.cdgh);
    }
    state[0] = (uint32_t)_mm_extract_epi32(s.abef, 3);
    state[1] = (uint32_t)_mm_extract_epi32(s.abef, 2);
    state[2] = (uint32_t)_mm_extract_epi32(s.cdgh, 3);
    state[3] = (uint32_t)_mm_extract_epi32(s.cdgh, 2);
    state[4] = (uint32_t)_mm_extract_epi32(s.abef, 1);
    state[5] = (uint32_t)_mm_extract_epi32(s.abef, 0);
    state[6] = (uint32_t)_mm_extract_epi32(s.cdgh, 1);
    state[7] = (uint32_t)_mm_extract_epi32(s.cdgh, 0);
}

il_sha256_blocks il_host_sha256(void) {
    unsigned a, b, c, d;
    const unsigned sse = bit_SSSE3 | bit_SSE4_1;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & sse) != sse) {
        return NULL;
    }
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA) != 0 ? host_sha_blocks : NULL;
}

#else

il_sha256_blocks il_host_sha256(void) { return NULL; }

#endif
