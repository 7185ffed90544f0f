/* SPDX-License-Identifier: Apache-2.0 */
/* Calls one tool through several ways at once, so that what disturbs the machine disturbs all of them alike.
 *
 *     echo_client calls ROUNDS BLOCKS FILE    serial calls, one of each way in turn; then as many in runs of 200 of one way, in turn, for
 *                                             the CPU time of a way whose caches the others do not empty; then blocks of 200 calls
 *                                             with 32 in flight, in turn
 *     echo_client ready ROUNDS FILE           from the start of the process to its answer to `initialize`, in turn
 *     echo_client flat CALLS FILE             one way: memory and descriptors after a tenth of the calls and after all
 *
 * FILE names the ways, one a line: NAME, a tab, then the command, its words parted by tabs. Prints `NAME FIGURE VALUE`, a line each; times in
 * microseconds, memory in KiB. CPU is that of the first process of a way, by its own clock. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WAYS = 8, WORDS = 32, LINE = 65536, WARM_UP = 300, BLOCK = 200, IN_FLIGHT = 32 };

typedef struct way {
    char *name, *words[WORDS];
    pid_t pid;
    int to, from;
    char buf[LINE];
    size_t have;
    long next; /* id */
    uint64_t *times;
    size_t ntimes;
} way;

static void client_die(const char *what) {
    (void)fprintf(stderr, "echo_client: %s: %s\n", what, strerror(errno));
    exit(1);
}

static uint64_t client_ns(clockid_t clock) {
    struct timespec t = {0};
    if (clock_gettime(clock, &t) != 0) {
        client_die("clock");
    }
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t client_cpu(const way *w) {
    clockid_t clock;
    if (clock_getcpuclockid(w->pid, &clock) != 0) {
        client_die("its CPU clock");
    }
    return client_ns(clock);
}

static void client_start(way *w) {
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) {
        client_die("pipe");
    }
    w->pid = fork();
    if (w->pid < 0) {
        client_die("fork");
    }
    if (w->pid == 0) {
        (void)dup2(to[0], STDIN_FILENO);
        (void)dup2(from[1], STDOUT_FILENO);
        const int quiet = open("/dev/null", O_WRONLY);
        (void)dup2(quiet, STDERR_FILENO);
        (void)execvp(w->words[0], w->words);
        _exit(127);
    }
    (void)close(to[0]);
    (void)close(from[1]);
    w->to = to[1];
    w->from = from[0];
    w->have = 0;
    w->next = 1;
}

static void client_end(way *w) {
    (void)close(w->to);
    (void)close(w->from);
    (void)kill(w->pid, SIGTERM);
    (void)waitpid(w->pid, NULL, 0);
}

static void client_send(way *w, const char *text, size_t n) {
    for (size_t at = 0; at < n;) {
        const ssize_t put = write(w->to, text + at, n - at);
        if (put <= 0) {
            client_die(w->name);
        }
        at += (size_t)put;
    }
}

/* One line; dies at the end of the stream or after a minute. The line stays in the buffer until client_next drops it. */
static const char *client_line(way *w, size_t *length) {
    for (;;) {
        char *end = memchr(w->buf, '\n', w->have);
        if (end) {
            *length = (size_t)(end - w->buf) + 1;
            return w->buf;
        }
        struct pollfd p = {.fd = w->from, .events = POLLIN};
        if (w->have == LINE || poll(&p, 1, 60000) != 1) {
            client_die(w->name);
        }
        const ssize_t got = read(w->from, w->buf + w->have, LINE - w->have);
        if (got <= 0) {
            client_die(w->name);
        }
        w->have += (size_t)got;
    }
}

static void client_next(way *w, size_t length) {
    memmove(w->buf, w->buf + length, w->have - length);
    w->have -= length;
}

/* The answer to a request; whatever else comes is skipped. */
static void client_answer(way *w, long id, const char *must) {
    char want[32];
    (void)snprintf(want, sizeof want, "\"id\":%ld", id);
    for (;;) {
        size_t length;
        const char *line = client_line(w, &length);
        w->buf[length - 1] = '\0';
        const char *at = strstr(line, want);
        const bool ours = at && (at[strlen(want)] == ',' || at[strlen(want)] == '}');
        if (ours && !strstr(line, must)) {
            (void)fprintf(stderr, "echo_client: %s answered %s\n", w->name, line);
            exit(1);
        }
        client_next(w, length);
        if (ours) {
            return;
        }
    }
}

static void client_hello(way *w) {
    static const char hello[] =
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
        "\"capabilities\":{},\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}\n";
    client_send(w, hello, sizeof hello - 1);
    client_answer(w, 0, "\"serverInfo\"");
}

static void client_open(way *w) {
    static const char told[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
    client_hello(w);
    client_send(w, told, sizeof told - 1);
}

static long client_ask(way *w) {
    char text[256];
    const int n =
        snprintf(text, sizeof text,
                 "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{"
                 "\"message\":\"hello gateway\"}}}\n",
                 w->next);
    client_send(w, text, (size_t)n);
    return w->next++;
}

static void client_call(way *w) { client_answer(w, client_ask(w), "Echo: hello gateway"); }

static int client_order(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void client_say(const way *w, const char *figure, double value) { printf("%s %s %.3f\n", w->name, figure, value); }

static void client_times(way *w, const char *figure) {
    char name[64];
    qsort(w->times, w->ntimes, sizeof *w->times, client_order);
    for (int p = 10; p <= 90; p += 40) {
        (void)snprintf(name, sizeof name, "%s_p%d", figure, p);
        client_say(w, name, (double)w->times[w->ntimes * (size_t)p / 100] / 1e3);
    }
    w->ntimes = 0;
}

static double client_memory(const way *w, const char *what) {
    char path[64], line[256];
    double value = -1;
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)w->pid, strcmp(what, "Pss:") == 0 ? "smaps_rollup" : "status");
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, what, strlen(what)) == 0) {
            value = strtod(line + strlen(what), NULL);
        }
    }
    if (f) {
        (void)fclose(f);
    }
    return value;
}

static int client_descriptors(const way *w) {
    char path[64];
    int n = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/fd", (int)w->pid);
    DIR *d = opendir(path);
    while (d && readdir(d)) {
        n++;
    }
    if (d) {
        (void)closedir(d);
    }
    return n - 2;
}

/* 32 in flight: each answer brings the next question. */
static uint64_t client_block(way *w) {
    const uint64_t started = client_ns(CLOCK_MONOTONIC);
    int asked = 0, answered = 0;
    for (; asked < IN_FLIGHT; asked++) {
        (void)client_ask(w);
    }
    while (answered < BLOCK) {
        size_t length;
        const char *line = client_line(w, &length);
        const bool answer = memmem(line, length, "Echo: hello gateway", 19) != NULL;
        if (!answer && memmem(line, length, "\"method\"", 8) == NULL) {
            (void)fprintf(stderr, "echo_client: %s answered %.*s\n", w->name, (int)length, line);
            exit(1);
        }
        client_next(w, length);
        answered += answer;
        if (answer && asked < BLOCK) {
            (void)client_ask(w);
            asked++;
        }
    }
    return client_ns(CLOCK_MONOTONIC) - started;
}

static void client_calls(way *v, size_t n, size_t rounds, size_t blocks) {
    uint64_t cpu[WAYS] = {0}, turns[WAYS];
    const size_t chunk = rounds == 0 || rounds > BLOCK ? BLOCK : rounds;
    for (size_t i = 0; i < n; i++) {
        client_start(&v[i]);
        client_open(&v[i]);
        for (int k = 0; k < WARM_UP; k++) {
            client_call(&v[i]);
        }
        turns[i] = client_cpu(&v[i]);
    }
    for (size_t r = 0; r < rounds; r++) {
        for (size_t k = 0; k < n; k++) {
            way *w = &v[(r + k) % n]; /* nobody is always first */
            const uint64_t started = client_ns(CLOCK_MONOTONIC);
            client_call(w);
            w->times[w->ntimes++] = client_ns(CLOCK_MONOTONIC) - started;
        }
    }
    for (size_t i = 0; i < n; i++) {
        turns[i] = client_cpu(&v[i]) - turns[i];
    }
    for (size_t r = 0; r < rounds / chunk; r++) {
        for (size_t k = 0; k < n; k++) {
            const size_t i = (r + k) % n;
            const uint64_t before = client_cpu(&v[i]);
            for (size_t c = 0; c < chunk; c++) {
                client_call(&v[i]);
            }
            cpu[i] += client_cpu(&v[i]) - before;
        }
    }
    for (size_t i = 0; i < n; i++) {
        client_times(&v[i], "call");
        client_say(&v[i], "cpu", (double)cpu[i] / 1e3 / (double)(rounds / chunk * chunk));
        client_say(&v[i], "cpu_in_turn", (double)turns[i] / 1e3 / (double)rounds);
        client_say(&v[i], "rss", client_memory(&v[i], "VmRSS:"));
        client_say(&v[i], "pss", client_memory(&v[i], "Pss:"));
    }
    for (size_t b = 0; b < blocks; b++) {
        for (size_t k = 0; k < n; k++) {
            way *w = &v[(b + k) % n];
            w->times[w->ntimes++] = client_block(w);
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (blocks > 0) {
            client_times(&v[i], "block");
        }
        client_end(&v[i]);
    }
}

static void client_ready(way *v, size_t n, size_t rounds) {
    for (size_t r = 0; r < rounds; r++) {
        for (size_t k = 0; k < n; k++) {
            way *w = &v[(r + k) % n];
            const uint64_t started = client_ns(CLOCK_MONOTONIC);
            client_start(w);
            client_hello(w);
            w->times[w->ntimes++] = client_ns(CLOCK_MONOTONIC) - started;
            client_end(w);
        }
    }
    for (size_t i = 0; i < n; i++) {
        client_times(&v[i], "ready");
    }
}

static void client_flat(way *w, size_t calls) {
    client_start(w);
    client_open(w);
    for (size_t i = 1; i <= calls; i++) {
        client_call(w);
        if (i == calls / 10) {
            client_say(w, "rss_tenth", client_memory(w, "VmRSS:"));
            client_say(w, "fds_tenth", client_descriptors(w));
        }
    }
    client_say(w, "rss_all", client_memory(w, "VmRSS:"));
    client_say(w, "fds_all", client_descriptors(w));
    client_end(w);
}

static size_t client_ways(way *v, const char *path, size_t times) {
    static char text[WAYS][4096];
    size_t n = 0;
    FILE *f = fopen(path, "r");
    while (f && n < WAYS && fgets(text[n], sizeof text[n], f)) {
        way *w = &v[n];
        char *at = text[n];
        at[strcspn(at, "\n")] = '\0';
        w->name = at;
        for (size_t k = 0; k < WORDS - 1 && (at = strchr(at, '\t')) != NULL; k++) {
            *at++ = '\0';
            w->words[k] = at;
        }
        w->times = calloc(times + 1, sizeof *w->times);
        if (!w->times || !w->words[0]) {
            client_die("a way without a command");
        }
        n++;
    }
    if (!f || n == 0) {
        client_die(path);
    }
    (void)fclose(f);
    return n;
}

int main(int argc, char **argv) {
    static way v[WAYS];
    (void)signal(SIGPIPE, SIG_IGN);
    const size_t a = argc > 2 ? strtoull(argv[2], NULL, 10) : 0, b = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    if (argc == 5 && strcmp(argv[1], "calls") == 0) {
        client_calls(v, client_ways(v, argv[4], a > b ? a : b), a, b);
    } else if (argc == 4 && strcmp(argv[1], "ready") == 0) {
        client_ready(v, client_ways(v, argv[3], a), a);
    } else if (argc == 4 && strcmp(argv[1], "flat") == 0) {
        if (client_ways(v, argv[3], 1) != 1) {
            client_die("one way at a time");
        }
        client_flat(v, a);
    } else {
        (void)fprintf(stderr, "usage: echo_client calls ROUNDS BLOCKS FILE | ready ROUNDS FILE | flat CALLS FILE\n");
        return 3;
    }
    return 0;
}
