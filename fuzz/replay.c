/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over the files named, for machines without libFuzzer: each file as it is, and a small one that a person named
 * also with every prefix and some bytes put in the place of each of its own, so that a small corpus still visits the refusals. What a fuzzer found is
 * named by its hash and has been varied enough. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifndef REPLAY_VARIED
#define REPLAY_VARIED 1024 /* bytes of an input that is varied */
#endif

enum { REPLAY_MAX = 16 << 20 };

/* A copy of its exact size, so that AddressSanitizer sees a read past the end. */
static void replay_bytes(const uint8_t *data, size_t n) {
    uint8_t *exact = malloc(n > 0 ? n : 1);
    if (exact == NULL) {
        exit(5);
    }
    memcpy(exact, data, n);
    (void)LLVMFuzzerTestOneInput(exact, n);
    free(exact);
}

static void replay_varied(uint8_t *data, size_t n) {
    static const uint8_t changes[] = {0x00, '\n', '"', '#', ':', '[', '}', '\\', 0x80, 0xff};
    for (size_t i = 0; i < n; i++) {
        replay_bytes(data, i);
        const uint8_t was = data[i];
        for (size_t c = 0; c < sizeof changes; c++) {
            data[i] = changes[c];
            replay_bytes(data, n);
        }
        data[i] = was;
    }
}

/* 40 hexadecimal digits. */
static bool replay_found(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    return strlen(name) == 40 && strspn(name, "0123456789abcdef") == 40;
}

int main(int argc, char **argv) {
    static uint8_t data[REPLAY_MAX];
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (f == NULL) {
            perror(argv[i]);
            return 3;
        }
        const size_t n = fread(data, 1, sizeof data, f);
        if (ferror(f) != 0 || n == sizeof data) {
            fprintf(stderr, "%s: not readable, or too large\n", argv[i]);
            return 3;
        }
        (void)fclose(f);
        replay_bytes(data, n);
        if (n <= REPLAY_VARIED && !replay_found(argv[i])) {
            replay_varied(data, n);
        }
    }
    printf("%d inputs\n", argc - 1);
    return argc > 1 ? 0 : 3; /* an empty corpus proves nothing */
}
