/* SPDX-License-Identifier: Apache-2.0 */
/* A server that costs next to nothing: it answers at once, so that what is measured is what stands before it. It reads canonical lines, as the
 * gateway and bench/echo_client.c write them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    static char line[65536], answer[65536 + 256];
    while (fgets(line, sizeof line, stdin)) {
        const char *id = strstr(line, "\"id\":"), *text = strstr(line, "\"message\":\"");
        int n = 0;
        if (!id) {
            continue;
        }
        if (strstr(line, "\"method\":\"initialize\"")) {
            n = snprintf(
                answer, sizeof answer,
                "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"
                "\"serverInfo\":{\"name\":\"echo\",\"version\":\"1\"}}}\n",
                strtol(id + 5, NULL, 10));
        } else {
            const size_t length = text ? strcspn(text + 11, "\"") : 0;
            n = snprintf(
                answer, sizeof answer,
                "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"Echo: %.*s\"}]}}\n",
                strtol(id + 5, NULL, 10), (int)length, text ? text + 11 : "");
        }
        if (n <= 0 || write(STDOUT_FILENO, answer, (size_t)n) != n) {
            return 5;
        }
    }
    return 0;
}
