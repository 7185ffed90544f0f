/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

#define KEEPER_AGAIN_MS 20 /* between two rounds of killing: what was killed may have forked before */
#define KEEPER_END_MS 1000

typedef enum keeper_word { KEEPER_STARTED = 1, KEEPER_FAILED, KEEPER_EXITED } keeper_word;
typedef struct keeper_message { /* keeper to gateway; the other way goes one byte, the signal */
    int32_t word, value;        /* the server's pid, errno, or waitpid's status */
} keeper_message;

/* --- the server's process, before it becomes the server --- */

static void keeper_forget_environment(void) {
    extern char **environ;
    for (char **e = environ; e != NULL && *e != NULL;) {
        const char *equals = strchr(*e, '=');
        char name[128];
        if (strncmp(*e, "INTERLOCK_", 10) != 0 || equals == NULL || (size_t)(equals - *e) >= sizeof name) {
            e++;
            continue;
        }
        memcpy(name, *e, (size_t)(equals - *e));
        name[equals - *e] = '\0';
        (void)unsetenv(name);
        e = environ;
    }
}

/* What our parent left open is not the server's. Linux before 5.11 cannot close a range at the exec, so there each is asked. */
static int keeper_close_rest(void) {
    if (close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) == 0) {
        return 0;
    }
    const long most = sysconf(_SC_OPEN_MAX);
    for (int fd = 3; fd < most; fd++) {
        if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 && errno != EBADF) {
            return errno;
        }
    }
    return most < 0 ? ENOSYS : 0;
}

static _Noreturn void keeper_server(char *const *command, pid_t keeper, int in, int out, int noise, int report) {
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* if even the keeper is killed */
    if (getppid() != keeper) {
        _exit(127);
    }
    static const int signals[] = {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGXFSZ};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        (void)signal(signals[i], SIG_DFL);
    }
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    int why = 0;
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(noise, 2) < 0) {
        why = errno;
    } else if ((why = keeper_close_rest()) == 0) {
        keeper_forget_environment();
        (void)execvp(command[0], command);
        why = errno;
    }
    ssize_t ignored = write(report, &why, sizeof why);
    (void)ignored;
    _exit(127);
}

/* --- the keeper --- */

typedef struct keeper_state {
    int fd;       /* the gateway; -1: it is gone */
    int children; /* the kernel's list of our children; -1: it keeps none, and only the group can be named */
    pid_t server;
    bool exited; /* and reaped: its number may be somebody else's */
    int signal;  /* the strongest that was asked for */
} keeper_state;

static void keeper_send(const keeper_state *s, keeper_word word, int value) {
    const keeper_message m = {.word = (int32_t)word, .value = value};
    if (s->fd >= 0) {
        (void)send(s->fd, &m, sizeof m, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

/* Orphans become our children (we are the subreaper), and a child's number is safe until we reap it. */
static void keeper_kill(const keeper_state *s) {
    if (!s->exited || s->children < 0) {
        (void)kill(-s->server, s->signal);
    }
    char text[4096]; /* of a longer list, the rest is seen when these are gone */
    const ssize_t n = s->children < 0 ? 0 : pread(s->children, text, sizeof text - 1, 0);
    if (n <= 0) {
        return;
    }
    text[n] = '\0';
    char *end = NULL;
    for (char *at = text; *at != '\0'; at = end) {
        const long pid = strtol(at, &end, 10);
        if (end == at || *end != ' ') {
            return;
        }
        while (*end == ' ') {
            end++;
        }
        if (pid > 1 && pid <= INT_MAX) {
            (void)kill((pid_t)pid, s->signal);
        }
    }
}

/* False: there are no children any more. */
static bool keeper_reap(keeper_state *s) {
    for (;;) {
        int status = 0;
        const pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid <= 0) {
            return pid == 0 || errno != ECHILD;
        }
        if (pid == s->server) {
            s->exited = true;
            keeper_send(s, KEEPER_EXITED, status);
        }
        if (s->signal != 0) {
            keeper_kill(s); /* its children are ours now */
        }
    }
}

static void keeper_hear(keeper_state *s) {
    unsigned char byte = 0;
    const ssize_t got = recv(s->fd, &byte, 1, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (got == 1 && byte == SIGTERM && s->signal != SIGKILL) {
        s->signal = SIGTERM;
    } else {
        s->signal = SIGKILL;
    }
    if (got <= 0) { /* the gateway is gone */
        (void)close(s->fd);
        s->fd = -1;
    }
    keeper_kill(s);
}

static void keeper_keep(keeper_state *s) {
    struct signalfd_siginfo info;
    sigset_t child;
    (void)sigemptyset(&child);
    (void)sigaddset(&child, SIGCHLD);
    const int news = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    if (news < 0) {
        s->signal = SIGKILL;
    }
    while (keeper_reap(s)) {
        struct pollfd p[] = {{.fd = news, .events = POLLIN}, {.fd = s->fd, .events = POLLIN}};
        const int n = poll(p, 2, s->signal == SIGKILL ? KEEPER_AGAIN_MS : -1);
        if (n > 0 && p[0].revents != 0) {
            (void)!read(news, &info, sizeof info);
        }
        if (n > 0 && p[1].revents != 0) {
            keeper_hear(s);
        }
        if (s->signal == SIGKILL) {
            keeper_kill(s);
        }
    }
}

static int keeper_list_children(void) {
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Signals are blocked. */
static _Noreturn void keeper_main(int fd, char *const *command, int in, int out, int noise) {
    keeper_state s = {.fd = fd, .children = -1};
    int report[2];
    (void)setpgid(0, 0); /* what a terminal sends to the gateway's group is the gateway's to handle */
    (void)signal(SIGCHLD, SIG_DFL);
    (void)prctl(PR_SET_NAME, "interlock-keep");
    const pid_t self = getpid();
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || pipe2(report, O_CLOEXEC) != 0) {
        keeper_send(&s, KEEPER_FAILED, errno);
        _exit(1);
    }
    report[1] = il_keeper_high(report[1]);
    s.server = fork();
    if (s.server == 0) {
        keeper_server(command, self, in, out, noise, report[1]);
    }
    int why = errno;
    if (s.server > 0) {
        (void)setpgid(s.server, s.server);
        (void)dup2(report[0], 0);
        (void)dup2(fd, 1);
        (void)close_range(2, ~0u, 0); /* the client's ends and the server's would look open as long as we live */
        s.fd = 1;
        ssize_t got;
        do {
            got = read(0, &why, sizeof why);
        } while (got < 0 && errno == EINTR);
        if (got != (ssize_t)sizeof why) {
            (void)close(0);
            s.children = keeper_list_children();
            keeper_send(&s, KEEPER_STARTED, s.server);
            keeper_keep(&s);
            _exit(0);
        }
        (void)waitpid(s.server, NULL, 0);
    }
    keeper_send(&s, KEEPER_FAILED, why);
    _exit(1);
}

/* --- the gateway's side --- */

int il_keeper_high(int fd) {
    if (fd < 0 || fd > 2) {
        return fd;
    }
    const int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    (void)close(fd);
    return moved;
}

static void keeper_reaped(il_keeper *k) {
    (void)close(k->fd);
    k->fd = -1;
    (void)waitpid(k->pid, NULL, 0); /* its socket is closed, so it is dying or dead */
}

il_status il_keeper_start(il_keeper *k, char *const *command, int in, int out, int noise, il_error *err) {
    int ends[2];
    *k = (il_keeper){.fd = -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        return il_error_set(err, IL_E_IO, "cannot make a socket for the server's keeper: %s", strerror(errno));
    }
    ends[0] = il_keeper_high(ends[0]);
    ends[1] = il_keeper_high(ends[1]);
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &before);
    k->pid = fork();
    if (k->pid == 0) {
        keeper_main(ends[1], command, in, out, noise);
    }
    const int failed = errno;
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    (void)close(ends[1]);
    if (k->pid < 0) {
        (void)close(ends[0]);
        k->pid = 0;
        return il_error_set(err, IL_E_IO, "cannot start the server: %s", strerror(failed));
    }
    k->fd = ends[0];
    keeper_message m = {0};
    ssize_t got;
    do {
        got = recv(k->fd, &m, sizeof m, 0);
    } while (got < 0 && errno == EINTR);
    if (got == (ssize_t)sizeof m && m.word == KEEPER_STARTED) {
        k->server = m.value;
        return IL_OK;
    }
    const int why = got == (ssize_t)sizeof m ? m.value : ECHILD;
    keeper_reaped(k);
    return il_error_set(err, why == ENOENT ? IL_E_NOT_FOUND : IL_E_IO, "cannot run `%s`: %s", command[0], strerror(why));
}

il_keeper_news il_keeper_read(il_keeper *k, int *status) {
    keeper_message m;
    if (k->fd < 0) {
        return IL_KEEPER_NOTHING;
    }
    const ssize_t got = recv(k->fd, &m, sizeof m, MSG_DONTWAIT);
    if (got == (ssize_t)sizeof m && m.word == KEEPER_EXITED) {
        *status = m.value;
        k->server = 0;
        return IL_KEEPER_EXITED;
    }
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return IL_KEEPER_NOTHING;
    }
    if (k->server > 0) { /* somebody killed the keeper, and with it the server; its group is what can still be named */
        (void)kill(-k->server, SIGKILL);
        k->server = 0;
    }
    keeper_reaped(k);
    return IL_KEEPER_ENDED;
}

void il_keeper_signal(il_keeper *k, int signal) {
    const unsigned char byte = (unsigned char)signal;
    if (k->fd >= 0) {
        (void)send(k->fd, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

void il_keeper_end(il_keeper *k) {
    il_keeper_signal(k, SIGKILL);
    for (int round = 0; k->fd >= 0 && round < 3; round++) { /* EXITED, ENDED, and one to spare */
        struct pollfd p = {.fd = k->fd, .events = POLLIN};
        int status = 0;
        if (poll(&p, 1, KEEPER_END_MS) == 1) {
            (void)il_keeper_read(k, &status);
        } else {
            (void)close(k->fd);
            k->fd = -1;
        }
    }
}
