/* SPDX-License-Identifier: Apache-2.0 */
/* One MCP server behind the monitor, stdio on both faces. */
#pragma once
#include "interlock/monitor.h"
#include "ledger/batch.h"
#include "net/log.h"

typedef struct il_gateway_config { /* everything borrowed until il_gateway_run returns */
    const il_alloc *alloc;
    il_monitor *monitor;    /* with the policy; its session has begun */
    il_ledger_batch *batch; /* the monitor's store; NULL: it has another, and each of its commits is one by itself */
    const il_policy *policy;
    bool unenforced;      /* monitor mode: said in every result */
    il_str session, name; /* name: the server's, as the policy knows it */
    char *const *command; /* the server, NULL-terminated */
    il_log *log;
    int in, out;               /* the client's face */
    uint64_t call_timeout_ms;  /* without progress; 0: 60 s */
    uint64_t call_limit_ms;    /* with progress; 0: 10 minutes */
    uint64_t start_timeout_ms; /* for a server to answer initialize; 0: 60 s */
    unsigned restarts;         /* tries in a row to start a server again that ended; 0: none */
    uint64_t restart_ms;       /* before the first of them; each next one waits twice as long, up to 30 s; 0: 500 */
} il_gateway_config;

/* Serves until the client is gone or a signal comes. The exit code: 0, 3 when the server cannot be started or does not speak MCP
 * (said in the log), 4 when it ended while it was needed, 5 for memory and the like. */
int il_gateway_run(const il_gateway_config *config);
