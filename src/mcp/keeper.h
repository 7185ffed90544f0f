/* SPDX-License-Identifier: Apache-2.0 */
/* The server's parent: a process of ours that ends all that the server started when the server or the gateway ends, also when the gateway is
 * killed, and also what has left the server's process group. It holds no descriptor but its end of a socket; the gateway's death closes the
 * other end. Threads: one. */
#pragma once
#include <sys/types.h>

#include "interlock/base.h"

typedef struct il_keeper {
    pid_t pid, server; /* 0: there is none */
    int fd;            /* readable when il_keeper_read has news; -1 when the keeper has ended */
} il_keeper;

typedef enum il_keeper_news {
    IL_KEEPER_NOTHING = 0,
    IL_KEEPER_EXITED, /* the server has; what it started may live */
    IL_KEEPER_ENDED   /* nothing is left of it, and the keeper is reaped */
} il_keeper_news;

/* Starts the command (found by PATH) in a process group of its own, with these as its stdin, stdout and stderr, and waits until it runs. They
 * stay the caller's and must lie above 2. IL_E_NOT_FOUND or IL_E_IO with the reason when it cannot be run: nothing is left then. */
IL_NODISCARD il_status il_keeper_start(il_keeper *k, char *const *command, int in, int out, int noise, il_error *err);
/* Does not wait. *status is waitpid's, set by EXITED. */
il_keeper_news il_keeper_read(il_keeper *k, int *status);
/* SIGTERM, once now and once at the server's exit, or SIGKILL, until nothing is left: to the server's group and to what has lost its parent. */
void il_keeper_signal(il_keeper *k, int signal);
/* Kills all that is left, and waits a second for the end of it; what the kernel cannot end by then stays with the keeper. */
void il_keeper_end(il_keeper *k);
/* The descriptor, moved above 2 when it is not: dup2 for a child cannot overwrite it there. -1 stays -1. */
int il_keeper_high(int fd);
