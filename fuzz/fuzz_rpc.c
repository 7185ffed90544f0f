/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a peer through framing, JSON and the envelope. The first two bytes choose how the rest is cut into reads.
 *
 * Asserts: lines do not depend on the cuts; what the gateway would write reads back as the same message with nothing added; a salvaged
 * id is the one that a strict reading finds; a message that is refused has no kind. */
#include "fuzz.h"
#include "net/framer.h"
#include "net/rpc.h"

#define FUZZ_LINE 1024 /* small, so that a line that is too long is soon made */

static il_json *fuzz_again(il_arena *a, const il_rpc *rpc) {
    switch (rpc->kind) {
    case IL_RPC_REQUEST:
        return il_rpc_request(a, 7, rpc->method, rpc->params);
    case IL_RPC_NOTIFICATION:
        return il_rpc_notification(a, rpc->method, rpc->params);
    case IL_RPC_RESULT:
        return il_rpc_result(a, &rpc->id, rpc->result);
    case IL_RPC_ERROR: {
        int64_t code = 0;
        FUZZ_CHECK(il_json_int(il_json_get(rpc->error, IL_STR("code")), &code));
        return il_rpc_error(a, &rpc->id, code, il_json_text(il_json_get(rpc->error, IL_STR("message"))),
                            il_json_get(rpc->error, IL_STR("data")));
    }
    case IL_RPC_BAD:
        break;
    }
    return NULL;
}

static void fuzz_line(const il_alloc *alloc, il_str line) {
    static const il_json_limits limits = {.size = sizeof limits, .bytes = FUZZ_LINE, .depth = 16};
    il_arena a;
    il_json *message = NULL, *second = NULL;
    il_rpc rpc, back, salvage;
    il_str text, again;
    il_rpc_id strict;
    il_arena_init(&a, alloc, 8u << 20);
    il_rpc_salvage(line, &salvage);
    const bool salvaged = salvage.id.present;
    FUZZ_CHECK(salvage.kind == IL_RPC_BAD && (!salvaged || salvage.id.text.n <= IL_RPC_ID_BYTES));
    if (il_json_parse(&a, line, &limits, &message, NULL) == IL_OK) {
        const il_status st = il_rpc_read(message, &rpc, NULL);
        FUZZ_CHECK(!salvaged ||
                   (il_rpc_id_read(il_json_get(message, IL_STR("id")), &strict) && il_rpc_id_eq(&salvage.id, &strict)));
        FUZZ_CHECK(!salvaged || (salvage.asks == (il_json_get(message, IL_STR("method")) != NULL) &&
                                 salvage.answers == (il_json_get(message, IL_STR("result")) != NULL ||
                                                     il_json_get(message, IL_STR("error")) != NULL)));
        FUZZ_CHECK((st == IL_OK) == (rpc.kind != IL_RPC_BAD));
        if (st == IL_OK && il_rpc_line(&a, fuzz_again(&a, &rpc), 1u << 20, &text, NULL) == IL_OK) {
            FUZZ_CHECK(text.p[text.n - 1] == '\n' && memchr(text.p, '\n', text.n - 1) == NULL &&
                       memchr(text.p, '\r', text.n) == NULL);
            const il_str one = {text.p, text.n - 1};
            FUZZ_CHECK(il_json_parse(&a, one, NULL, &second, NULL) == IL_OK);
            FUZZ_CHECK(il_rpc_read(second, &back, NULL) == IL_OK && back.kind == rpc.kind);
            FUZZ_CHECK(il_rpc_line(&a, fuzz_again(&a, &back), 1u << 20, &again, NULL) == IL_OK && il_str_eq(text, again));
            FUZZ_CHECK(rpc.kind != IL_RPC_RESULT || il_rpc_id_eq(&rpc.id, &back.id));
        }
    }
    il_arena_free(&a);
}

/* How long the next read is: mostly short, since most lines are. */
typedef struct fuzz_cuts {
    uint32_t seed; /* 0: as long as a read can be */
} fuzz_cuts;

static size_t fuzz_cut(fuzz_cuts *c, size_t left) {
    size_t n = 60000;
    if (c->seed != 0) {
        c->seed ^= c->seed << 13;
        c->seed ^= c->seed >> 17;
        c->seed ^= c->seed << 5;
        n = 1 + (c->seed >> 8) % (c->seed % 4 == 0 ? 1500 : c->seed % 4 == 1 ? 2 : 60);
    }
    return n < left ? n : left;
}

static uint64_t fuzz_sum(uint64_t sum, il_frame kind, il_str line) {
    sum = (sum ^ (uint64_t)kind) * 1099511628211u;
    for (size_t i = 0; i < line.n; i++) {
        sum = (sum ^ (uint8_t)line.p[i]) * 1099511628211u;
    }
    return (sum ^ line.n) * 1099511628211u;
}

/* Digest of the frames, so that two ways of cutting can be compared. */
static uint64_t fuzz_frames(const il_alloc *alloc, il_str text, fuzz_cuts cuts, bool judge) {
    il_framer f;
    il_str line;
    uint64_t sum = 14695981039346656037u;
    il_framer_init(&f, alloc, FUZZ_LINE);
    for (size_t at = 0; at < text.n;) {
        char *room = NULL;
        size_t cap = 0;
        const size_t n = fuzz_cut(&cuts, text.n - at);
        FUZZ_CHECK(il_framer_room(&f, &room, &cap, NULL) == IL_OK && cap >= n);
        memcpy(room, text.p + at, n);
        il_framer_fed(&f, n);
        at += n;
        for (il_frame kind; (kind = il_framer_next(&f, &line)) != IL_FRAME_NONE;) {
            FUZZ_CHECK(line.n <= FUZZ_LINE && (line.n == 0 || memchr(line.p, '\n', line.n) == NULL));
            sum = fuzz_sum(sum, kind, line);
            if (judge && kind == IL_FRAME_LINE) {
                fuzz_line(alloc, line);
            }
        }
    }
    if (il_framer_rest(&f, &line)) {
        FUZZ_CHECK(line.n <= FUZZ_LINE && memchr(line.p, '\n', line.n) == NULL);
        sum = fuzz_sum(sum, IL_FRAME_NONE, line);
    }
    il_framer_free(&f);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const il_alloc alloc = fuzz_alloc();
    fuzz_input in = {data, size};
    const uint32_t low = fuzz_u8(&in), high = fuzz_u8(&in);
    const fuzz_cuts whole = {0}, cuts = {.seed = 1 + low + 256 * high};
    const il_str text = fuzz_bytes(&in, size);
    FUZZ_CHECK(fuzz_frames(&alloc, text, cuts, true) == fuzz_frames(&alloc, text, whole, false));
    return 0;
}
