/* SPDX-License-Identifier: Apache-2.0 */
/* A server that writes down each call before it answers: `upstream FILE`. It reads what the gateway writes, one canonical line a message, so
 * looking for a member's text is enough. The tool `h` (hangs) has no answer. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long upstream_number(const char *line, const char *member) {
    const char *at = strstr(line, member);
    return at ? strtol(at + strlen(member), NULL, 10) : -1;
}

int main(int argc, char **argv) {
    static char line[65536], answer[1024];
    const int log = argc == 2 ? open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (log < 0) {
        return 3;
    }
    while (fgets(line, sizeof line, stdin)) {
        const long id = upstream_number(line, "\"id\":");
        int n = 0;
        if (id < 0) {
            continue;
        }
        if (strstr(line, "\"method\":\"initialize\"")) {
            n = snprintf(
                answer, sizeof answer,
                "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},"
                "\"serverInfo\":{\"name\":\"up\",\"version\":\"1\"}}}\n",
                id);
        } else {
            const long call = upstream_number(line, "\"n\":");
            n = snprintf(answer, sizeof answer, "%ld\n", call);
            if (n <= 0 || write(log, answer, (size_t)n) != n) {
                return 5;
            }
            if (strstr(line, "\"name\":\"h\"")) {
                continue;
            }
            n = snprintf(answer, sizeof answer,
                         "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"ran %ld\"}]}}\n",
                         id, call);
        }
        if (n <= 0 || write(STDOUT_FILENO, answer, (size_t)n) != n) {
            return 5;
        }
    }
    return 0;
}
