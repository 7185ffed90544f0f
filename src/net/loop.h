/* SPDX-License-Identifier: Apache-2.0 */
/* The event loop: libevent's core with the method chosen so that a regular file may be stdin.
 *
 * Threads: one loop, one thread. Callbacks run inside il_loop_run and may call everything here. */
#pragma once
#include "interlock/base.h"

struct event_base;
struct event;

typedef struct il_loop il_loop;
typedef struct il_timer il_timer;
typedef struct il_watch il_watch;
typedef void (*il_loop_call)(void *ctx);

/* `any_fd`: use a method that takes files and devices without poll support, which epoll refuses. */
IL_NODISCARD il_status il_loop_new(const il_alloc *alloc, bool any_fd, il_loop **out, il_error *err);
void il_loop_free(il_loop *loop);
/* Runs until il_loop_stop. */
IL_NODISCARD il_status il_loop_run(il_loop *loop, il_error *err);
void il_loop_stop(il_loop *loop);
struct event_base *il_loop_base(il_loop *loop);
/* Milliseconds of a clock that never goes back. */
uint64_t il_loop_now_ms(void);
/* Whether the descriptor needs `any_fd`. */
bool il_loop_odd_fd(int fd);

/* Calls back on a signal until the loop is freed. At most IL_LOOP_SIGNALS of them. */
#define IL_LOOP_SIGNALS 8
IL_NODISCARD il_status il_loop_signal(il_loop *loop, int signal, il_loop_call call, void *ctx, il_error *err);

/* Calls back while the descriptor can be read. Freed before the loop; the descriptor stays the caller's. */
IL_NODISCARD il_status il_watch_new(il_loop *loop, int fd, il_loop_call call, void *ctx, il_watch **out, il_error *err);
void il_watch_free(il_watch *watch);

/* A timer, off until it is set. Setting it again moves it. Freed before the loop. */
IL_NODISCARD il_status il_timer_new(il_loop *loop, il_loop_call call, void *ctx, il_timer **out, il_error *err);
void il_timer_set(il_timer *timer, uint64_t in_ms);
/* Calls back when the callbacks of this turn of the loop are through: all that it found ready. */
void il_timer_turn(il_timer *timer);
void il_timer_clear(il_timer *timer);
bool il_timer_is_set(const il_timer *timer);
void il_timer_free(il_timer *timer);
