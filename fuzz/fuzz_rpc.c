/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a peer through framing, JSON and the envelope. The first byte chooses how the rest is cut into reads.
 *
 * Asserts: lines do not depend on the cuts; what the gateway would write reads back as the same message with nothing added; a salvaged
 * id is one that would have been accepted; a message that is refused has no kind. */
#include <stdlib.h>
#include <string.h>

#include "net/framer.h"
#include "net/rpc.h"

#define FUZZ_LINE 4096
#define FUZZ_CHECK(x) \
    do {              \
        if (!(x)) {   \
            abort();  \
        }             \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *fuzz_get(void *ctx, size_t n) {
    (void)ctx;
    return malloc(n);
}

static void fuzz_give(void *ctx, void *p) {
    (void)ctx;
    free(p);
}

static const il_alloc fuzz_alloc = {fuzz_get, fuzz_give, NULL};

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

static void fuzz_line(il_str line) {
    static const il_json_limits limits = {.size = sizeof limits, .bytes = FUZZ_LINE, .depth = 16};
    il_arena a;
    il_json *message = NULL, *second = NULL;
    il_rpc rpc, back;
    il_str text, again;
    il_rpc_id id;
    bool asks = false;
    il_arena_init(&a, &fuzz_alloc, 8u << 20);
    if (il_rpc_id_salvage(line, &id, &asks)) {
        FUZZ_CHECK(id.present && id.text.n <= IL_RPC_ID_BYTES);
    }
    if (il_json_parse(&a, line, &limits, &message, NULL) == IL_OK) {
        const il_status st = il_rpc_read(message, &rpc, NULL);
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

/* Digests of the lines, so that two ways of cutting can be compared. */
static uint64_t fuzz_frames(const uint8_t *data, size_t size, size_t step, bool judge) {
    il_framer f;
    il_str line;
    uint64_t sum = 14695981039346656037u;
    il_framer_init(&f, &fuzz_alloc, FUZZ_LINE);
    for (size_t at = 0; at < size;) {
        char *room = NULL;
        size_t cap = 0;
        const size_t n = size - at < step ? size - at : step;
        FUZZ_CHECK(il_framer_room(&f, &room, &cap, NULL) == IL_OK && cap >= n);
        memcpy(room, data + at, n);
        il_framer_fed(&f, n);
        at += n;
        for (il_frame kind; (kind = il_framer_next(&f, &line)) != IL_FRAME_NONE;) {
            FUZZ_CHECK(line.n <= FUZZ_LINE && (line.n == 0 || memchr(line.p, '\n', line.n) == NULL));
            sum = (sum ^ (uint64_t)kind) * 1099511628211u;
            for (size_t i = 0; i < line.n; i++) {
                sum = (sum ^ (uint8_t)line.p[i]) * 1099511628211u;
            }
            if (judge && kind == IL_FRAME_LINE) {
                fuzz_line(line);
            }
        }
    }
    il_framer_free(&f);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) {
        return 0;
    }
    const size_t step = (size_t)data[0] + 1;
    /* an endless line is reported as soon as it is too long: end it, so that both ways see its end */
    uint8_t *text = malloc(size);
    FUZZ_CHECK(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\n';
    FUZZ_CHECK(fuzz_frames(text, size, step, true) == fuzz_frames(text, size, 60000, false));
    free(text);
    return 0;
}
