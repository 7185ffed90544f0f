/* SPDX-License-Identifier: Apache-2.0 */
/* The negative control of unit-tsan: two threads, one counter and no lock. A run that reports nothing here shows nothing anywhere. */
#include <pthread.h>
#include <stdio.h>

static int race_counter;

static void *race_count(void *arg) {
    (void)arg;
    for (int i = 0; i < 100000; i++) {
        race_counter++;
    }
    return NULL;
}

int main(void) {
    pthread_t other;
    if (pthread_create(&other, NULL, race_count, NULL) != 0) {
        return 5;
    }
    (void)race_count(NULL);
    (void)pthread_join(other, NULL);
    printf("%d\n", race_counter);
    return 0;
}
