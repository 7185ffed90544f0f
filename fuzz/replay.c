/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over the files named, for machines without libFuzzer. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (f == NULL) {
            perror(argv[i]);
            return 3;
        }
        size_t cap = (size_t)16 << 20, n = 0;
        uint8_t *data = malloc(cap);
        if (data == NULL || (n = fread(data, 1, cap, f)) == cap) {
            fprintf(stderr, "%s: too large\n", argv[i]);
            return 3;
        }
        fclose(f);
        /* A copy of its exact size, so that AddressSanitizer sees a read past the end. */
        uint8_t *exact = malloc(n > 0 ? n : 1);
        if (exact == NULL) {
            return 5;
        }
        for (size_t k = 0; k < n; k++) {
            exact[k] = data[k];
        }
        free(data);
        LLVMFuzzerTestOneInput(exact, n);
        free(exact);
    }
    printf("%d inputs\n", argc - 1);
    return 0;
}
