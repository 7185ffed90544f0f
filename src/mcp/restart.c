/* SPDX-License-Identifier: Apache-2.0 */
/* A server that ends while its session is open is started again, after a while that doubles. Calls are never repeated: who called is told that
 * the call may have run. What the client was told about the server must still be true of the new one. */
#include "base/error.h"
#include "mcp/wire.h"

#define RESTART_MOST_MS ((uint64_t)30000)
#define RESTART_WELL_MS ((uint64_t)60000) /* who served that long has all its tries again */

typedef struct restart_flag {
    il_str capability, flag; /* flag: empty for the capability itself */
} restart_flag;
static const restart_flag restart_flags[] = {
    {{"tools", 5}, {"", 0}},
    {{"tools", 5}, {"listChanged", 11}},
    {{"resources", 9}, {"", 0}},
    {{"resources", 9}, {"listChanged", 11}},
    {{"resources", 9}, {"subscribe", 9}},
    {{"prompts", 7}, {"", 0}},
    {{"prompts", 7}, {"listChanged", 11}},
    {{"completions", 11}, {"", 0}},
    {{"logging", 7}, {"", 0}},
};
#define RESTART_TOOLS_CHANGED (1u << 1)
#define RESTART_RESOURCES_CHANGED (1u << 3)
#define RESTART_PROMPTS_CHANGED (1u << 6)

unsigned il_wire_told(const il_json *capabilities) {
    unsigned told = 0;
    for (size_t i = 0; i < sizeof restart_flags / sizeof *restart_flags; i++) {
        const il_json *capability = il_json_get(capabilities, restart_flags[i].capability);
        const bool flag = restart_flags[i].flag.n > 0;
        if (flag ? il_json_bool(il_json_get(capability, restart_flags[i].flag)) : capability != NULL) {
            told |= 1u << i;
        }
    }
    return told;
}

void il_wire_gone_text(const il_wire *w, char *out, size_t cap) {
    if (w->life == IL_LIFE_LOST) {
        (void)il_format(out, cap, "the server `%.*s` is not there any more (it %s); this call was not run", IL_STR_ARG(w->c.name),
                        w->gone);
    } else {
        (void)il_format(out, cap, "the server `%.*s` is being restarted (it %s); this call was not run; try again in a while",
                        IL_STR_ARG(w->c.name), w->gone);
    }
}

/* --- down --- */

static void restart_lose(il_wire *w) {
    w->life = IL_LIFE_LOST;
    w->code = w->code == 0 ? 4 : w->code;
    il_log_write(w->c.log, IL_LOG_ERROR, "server `%.*s` %s; its calls are answered with errors from here on",
                 IL_STR_ARG(w->c.name), w->gone);
}

void il_wire_restart_plan(il_wire *w) {
    il_restart *r = &w->restart;
    if (r->since != 0 && il_loop_now_ms() - r->since >= RESTART_WELL_MS) {
        r->tries = 0;
    }
    r->since = 0;
    r->due = false;
    if (r->tries >= w->c.restarts) {
        il_timer_clear(r->timer);
        restart_lose(w);
        return;
    }
    uint64_t wait = w->c.restart_ms;
    for (unsigned i = 0; i < r->tries && wait < RESTART_MOST_MS; i++) {
        wait *= 2;
    }
    wait = wait < RESTART_MOST_MS ? wait : RESTART_MOST_MS;
    r->tries++;
    w->life = IL_LIFE_DOWN;
    il_log_write(w->c.log, IL_LOG_ERROR, "server `%.*s` %s; it is started again in %llu.%llu s (try %u of %u)",
                 IL_STR_ARG(w->c.name), w->gone, (unsigned long long)(wait / 1000), (unsigned long long)(wait % 1000 / 100),
                 r->tries, w->c.restarts);
    il_timer_set(r->timer, wait);
}

/* --- up again --- */

static void restart_start(il_wire *w) {
    il_error err = {0};
    il_upstream_free(w->up);
    w->up = NULL;
    w->life = IL_LIFE_AGAIN;
    const il_status st = il_wire_server_start(w, &err);
    if (st == IL_E_MEMORY) {
        il_wire_fatal(w, err.msg);
        return;
    }
    if (st != IL_OK) {
        il_log_write(w->c.log, IL_LOG_WARN, "%s", err.msg);
        il_wire_server_gone(w, "cannot be started again");
        return;
    }
    w->restart.uid = w->calls.next++; /* it is no request of the client, and no id is used twice */
    il_timer_set(w->restart.timer, w->c.start_timeout_ms);
    il_json *params = il_wire_start_params(w);
    il_wire_to_server(w, params == NULL ? NULL : il_rpc_request(&w->arena, w->restart.uid, IL_STR("initialize"), params));
}

void il_wire_on_restart_timer(void *ctx) {
    il_wire *w = ctx;
    if (w->phase != IL_PHASE_OPEN) {
        return;
    }
    if (w->life == IL_LIFE_DOWN && w->up != NULL && !w->up_stopped) {
        w->restart.due = true; /* two of them must not run at once */
    } else if (w->life == IL_LIFE_DOWN) {
        restart_start(w);
    } else if (w->life == IL_LIFE_AGAIN && (w->hold & IL_HOLD_CLIENT) != 0) {
        il_timer_set(w->restart.timer, w->c.start_timeout_ms); /* it is we who do not read it */
    } else if (w->life == IL_LIFE_AGAIN) {
        il_wire_server_gone(w, "did not answer initialize in time");
    }
    il_arena_reset(&w->arena);
}

void il_wire_restart_stopped(il_wire *w) {
    if (w->restart.due) {
        w->restart.due = false;
        il_timer_set(w->restart.timer, 0); /* this call may come from inside the one that will be freed */
    }
}

static void restart_serve(il_wire *w) {
    w->life = IL_LIFE_UP;
    w->restart.since = il_loop_now_ms();
    w->restart.uid = 0;
    il_timer_clear(w->restart.timer);
    if (w->told_initialized) {
        w->told_initialized = false;
        il_wire_tell_initialized(w);
    }
    const unsigned told = w->restart.told;
    w->tools_changed = (told & RESTART_TOOLS_CHANGED) != 0;
    w->resources_changed = (told & RESTART_RESOURCES_CHANGED) != 0;
    w->prompts_changed = (told & RESTART_PROMPTS_CHANGED) != 0;
    il_wire_changed(w);
    il_log_write(w->c.log, IL_LOG_WARN, "server `%.*s` runs again (try %u of %u); the client lists and subscribes anew",
                 IL_STR_ARG(w->c.name), w->restart.tries, w->c.restarts);
}

bool il_wire_restart_answer(il_wire *w, const il_rpc *rpc) {
    int64_t uid = 0;
    char text[192];
    if (w->life != IL_LIFE_AGAIN) {
        return false;
    }
    if (rpc->id.string || !il_str_int(rpc->id.text, &uid) || uid != w->restart.uid) {
        return true; /* nothing else was asked */
    }
    if (il_wire_start_fault(rpc, text, sizeof text)) {
        il_log_write(w->c.log, IL_LOG_WARN, "server `%.*s`: %s", IL_STR_ARG(w->c.name), text);
        il_wire_server_gone(w, "cannot be started again");
        return true;
    }
    const il_json *capabilities = il_filter_capabilities(&w->arena, il_json_get(rpc->result, IL_STR("capabilities")));
    const il_str date = il_json_text(il_json_get(rpc->result, IL_STR("protocolVersion")));
    if (capabilities == NULL) {
        il_wire_fatal(w, "out of memory for the server's capabilities");
    } else if (il_revision_of(date) != w->revision || (w->restart.told & ~il_wire_told(capabilities)) != 0) {
        /* The client relies on what it was told, and it cannot be told again. */
        w->restart.tries = w->c.restarts;
        il_wire_server_gone(w, il_revision_of(date) != w->revision ? "came back with another revision"
                                                                   : "came back with fewer capabilities");
    } else {
        restart_serve(w);
    }
    return true;
}
