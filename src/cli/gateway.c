/* SPDX-License-Identifier: Apache-2.0 */
/* gateway: policy, then ledger, then session, then the server, then service. Nothing is started before all before it is sound. */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "cli/ledger.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/view.h"
#include "interlock/host.h"
#include "mcp/filter.h"
#include "mcp/gateway.h"
#include "policy/agent.h"
#include "policy/compiled.h"

#define GATEWAY_LIMIT_S ((uint64_t)600) /* a call with progress */
#define GATEWAY_GRACE_MS 60000u         /* the durable deadline lies behind our own, so that it only acts when we are dead */
#define GATEWAY_SESSION_RANDOM 16
#define GATEWAY_RESTARTS 5
#define GATEWAY_RESTARTS_MAX ((uint64_t)100)
#define GATEWAY_BUSY_MS 1000
#define GATEWAY_JOINS 100000
#define GATEWAY_KEEP_ROWS 1000 /* of a ledger in memory, which nobody else can read */

typedef struct gateway_run {
    const char *policy_path, *ledger_flag, *session_flag, *name_flag, *principal_flag;
    bool join; /* the principal's session */
    char *const *command;
    uint64_t timeout_s, start_s, restarts;
    il_durability durability;
    uint32_t recovered; /* calls that a dead gateway of this session had left open */
    bool enforce;       /* the environment tightens a policy in monitor mode */
    il_log log;
    char path[IL_LEDGER_PATH_BYTES];
    char session[IL_SESSION_ID_BYTES], name[IL_TOOL_BYTES], principal[IL_SESSION_ID_BYTES];
    il_bundle *bundle;
    il_ledger *ledger;
    il_ledger_batch batch;
    il_monitor *monitor;
    il_host_recalls *recalls;
} gateway_run;

static const char *gateway_env(const char *flag, const char *variable) {
    const char *value = flag ? flag : getenv(variable);
    return value && *value ? value : NULL;
}

/* The server's name: --name, else the command's file name without its last ending (`/opt/files.js` is `files`). */
static il_status gateway_name(gateway_run *run, il_error *err) {
    il_str name = il_str_of(run->name_flag ? run->name_flag : run->command[0]);
    if (!run->name_flag) {
        size_t from = name.n, to = name.n;
        while (from > 0 && name.p[from - 1] != '/') {
            from--;
        }
        for (size_t i = from + 1; i < name.n; i++) {
            to = name.p[i] == '.' ? i : to;
        }
        name = il_str_part(name, from, to);
    }
    if (!il_server_name_ok(name)) {
        return il_error_set(err, IL_E_INVALID, "`%.*s` is no server name: 1 to 64 of A-Z a-z 0-9 _ -; give one with --name",
                            IL_STR_ARG(name));
    }
    memcpy(run->name, name.p, name.n);
    run->name[name.n] = '\0';
    return IL_OK;
}

/* Whose calls these are: whoever starts the gateway says it, as he says which policy and session; nothing that a client sends does. */
static il_status gateway_principal(gateway_run *run, il_error *err) {
    if (!run->principal_flag) {
        (void)il_format(run->principal, sizeof run->principal, "uid:%llu", (unsigned long long)getuid());
        return IL_OK;
    }
    const il_str name = il_str_of(run->principal_flag);
    if (name.n >= sizeof run->principal) {
        return il_error_set(err, IL_E_INVALID, "the principal is longer than %zu bytes", sizeof run->principal - 1);
    }
    memcpy(run->principal, name.p, name.n + 1);
    return IL_OK;
}

static il_status gateway_session(gateway_run *run, il_error *err) {
    if (run->join) {
        return run->session_flag
                   ? il_error_set(err, IL_E_INVALID, "`--join` and a session's id are two sessions; give one of them")
                   : IL_OK;
    }
    if (run->session_flag) {
        const il_str id = il_str_of(run->session_flag);
        if (id.n >= sizeof run->session) {
            return il_error_set(err, IL_E_INVALID, "the session id is longer than %zu bytes", sizeof run->session - 1);
        }
        memcpy(run->session, id.p, id.n + 1);
        return IL_OK;
    }
    const il_host host = il_host_system();
    uint8_t random[GATEWAY_SESSION_RANDOM];
    if (!host.random(host.ctx, random, sizeof random)) {
        return il_error_set(err, IL_E_IO, "no randomness for a session id; give one with --session");
    }
    size_t n = il_format(run->session, sizeof run->session, "gw-");
    for (size_t i = 0; i < sizeof random; i++) {
        n += il_format(run->session + n, sizeof run->session - n, "%s%llx", random[i] < 16 ? "0" : "",
                       (unsigned long long)random[i]);
    }
    return IL_OK;
}

static il_status gateway_options(gateway_run *run, int argc, char **argv, il_error *err) {
    const char *level = NULL, *timeout = NULL, *start = NULL, *restarts = NULL, *durability = NULL;
    const il_option options[] = {
        {.name = "policy", .value = &run->policy_path},       {.name = "name", .value = &run->name_flag},
        {.name = "session", .value = &run->session_flag},     {.name = "ledger", .value = &run->ledger_flag},
        {.name = "durability", .value = &durability},         {.name = "log", .value = &level},
        {.name = "log-json", .flag = &run->log.json},         {.name = "call-timeout", .value = &timeout},
        {.name = "start-timeout", .value = &start},           {.name = "restart", .value = &restarts},
        {.name = "principal", .value = &run->principal_flag}, {.name = "join", .flag = &run->join},
    };
    il_arguments arguments;
    IL_TRY(il_options_read(argc, argv, options, sizeof options / sizeof *options, &arguments, err));
    if (arguments.after > 0) {
        return il_error_set(err, IL_E_INVALID, "`%s` stands before `--`; the server's command comes behind it", arguments.v[0]);
    }
    if (!arguments.ended || arguments.n == 0) {
        return il_error_set(err, IL_E_INVALID, "the server's command is missing; it comes behind `--`");
    }
    run->command = arguments.v;
    arguments.v[arguments.n] = NULL;
    run->policy_path = gateway_env(run->policy_path, "INTERLOCK_POLICY");
    run->ledger_flag = gateway_env(run->ledger_flag, "INTERLOCK_LEDGER");
    run->session_flag = gateway_env(run->session_flag, "INTERLOCK_SESSION");
    if (!run->policy_path) {
        return il_error_set(err, IL_E_INVALID, "which policy? name it with --policy");
    }
    if (level && !il_log_level_of(il_str_of(level), &run->log.level)) {
        return il_error_set(err, IL_E_INVALID, "`--log` takes error, warn, info or debug, not `%s`", level);
    }
    if (timeout) {
        IL_TRY(il_options_number("call-timeout", timeout, GATEWAY_LIMIT_S, &run->timeout_s, err));
    }
    if (start) {
        IL_TRY(il_options_number("start-timeout", start, GATEWAY_LIMIT_S, &run->start_s, err));
    }
    if (durability && strcmp(durability, "normal") != 0 && strcmp(durability, "full") != 0) {
        return il_error_set(err, IL_E_INVALID, "`--durability` takes normal or full, not `%s`", durability);
    }
    run->durability = durability && strcmp(durability, "full") == 0 ? IL_DURABLE_FULL : IL_DURABLE_NORMAL;
    run->restarts = GATEWAY_RESTARTS;
    if (restarts && strcmp(restarts, "0") == 0) {
        run->restarts = 0;
    } else if (restarts) {
        IL_TRY(il_options_number("restart", restarts, GATEWAY_RESTARTS_MAX, &run->restarts, err));
    }
    const char *mode = gateway_env(NULL, "INTERLOCK_MODE");
    if (mode && strcmp(mode, "enforce") != 0) {
        return il_error_set(err, IL_E_INVALID, "INTERLOCK_MODE can only be `enforce`: the environment may tighten, not loosen");
    }
    run->enforce = mode != NULL;
    IL_TRY(gateway_name(run, err));
    IL_TRY(gateway_principal(run, err));
    return gateway_session(run, err);
}

/* The id of the principal's session number `nth`, from 1. A principal that is no id stands there by its hash. */
static void gateway_join_id(gateway_run *run, unsigned nth) {
    const il_str who = il_str_of(run->principal);
    static const char signs[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-"; /* of a session's id */
    const bool plain = who.n <= 100 && strspn(run->principal, signs) == who.n;
    size_t n = il_format(run->session, sizeof run->session, "join:");
    if (plain) {
        n += il_format(run->session + n, sizeof run->session - n, "%s", run->principal);
    } else {
        uint8_t digest[IL_DIGEST_BYTES];
        char hex[IL_DIGEST_HEX];
        il_sha256_of(who, digest);
        il_digest_hex(digest, hex);
        n += il_format(run->session + n, sizeof run->session - n, "%.*s", 32, hex);
    }
    if (nth > 1) {
        (void)il_format(run->session + n, sizeof run->session - n, ".%u", nth);
    }
}

static bool gateway_ended(const gateway_run *run) {
    il_view v;
    il_error why;
    const bool ended = il_view_open(&v, run->ledger, il_str_of(run->session), NULL, &why) == IL_OK &&
                       il_str_eq(il_view_value(&v, "phase"), IL_STR("ended"));
    il_view_close(&v);
    return ended;
}

/* With --join every gateway of the principal is one session, until a person ends it: then the next one begins. An agent that starts programs gets no clean one by it. */
static il_status gateway_begin(gateway_run *run, il_error *err) {
    const il_begin how = {
        .size = sizeof how, .resume = run->join || run->session_flag != NULL, .principal = il_str_of(run->principal)};
    if (!run->join) {
        return il_monitor_begin(run->monitor, il_str_of(run->session), &how, err);
    }
    for (unsigned nth = 1; nth <= GATEWAY_JOINS; nth++) {
        gateway_join_id(run, nth);
        const il_status status = il_monitor_begin(run->monitor, il_str_of(run->session), &how, err);
        if ((status != IL_E_STATE && status != IL_E_MISMATCH) || !gateway_ended(run)) {
            return status;
        }
    }
    return il_error_set(err, IL_E_LIMIT, "%d sessions of `%s` have ended in this ledger; begin a new one", GATEWAY_JOINS,
                        run->principal);
}

static il_status gateway_monitor(gateway_run *run, il_error *err) {
    run->batch.ledger = run->ledger;
    IL_TRY(il_host_recalls_new(il_host_alloc(), 0, &run->recalls, err));
    const il_monitor_config config = {
        .size = sizeof config,
        .policy = il_bundle_policy(run->bundle),
        .store = il_ledger_batch_store(&run->batch),
        .host = il_host_system(),
        .call_deadline_ms = GATEWAY_LIMIT_S * 1000 + GATEWAY_GRACE_MS,
        .enforce = run->enforce,
        .cache = il_host_recalls_cache(run->recalls),
    };
    IL_TRY(il_monitor_new(il_host_alloc(), &config, &run->monitor, err));
    IL_TRY(gateway_begin(run, err));
    return il_monitor_recover(run->monitor, il_str_of(run->session), &run->recovered, err);
}

/* A name that the policy does not declare is judged as outside, and few entries will match it: nearly always a slip. */
static void gateway_say_server(gateway_run *run) {
    const il_policy *p = il_bundle_policy(run->bundle);
    if (il_policy_server(p, il_str_of(run->name)) != NULL) {
        return;
    }
    char known[256];
    size_t n = 0;
    for (uint32_t i = 0; i < p->nservers; i++) {
        n += il_format(known + n, sizeof known - n, "%s`%.*s`", i ? ", " : "", IL_STR_ARG(p->servers[i].name));
    }
    if (p->interbolt.on) {
        il_log_write(
            &run->log, IL_LOG_WARN,
            "no sink of the policy has the namespace `%s` (there is %s); every call to it gets `sink_action: %s`, see --name",
            run->name, n ? known : "none", il_then_word(p->interbolt.otherwise.then));
        return;
    }
    il_log_write(&run->log, IL_LOG_WARN,
                 "the policy declares no server `%s` (it declares %s); every call to it counts as going outside, see --name",
                 run->name, n ? known : "none");
}

/* Whoever takes a gateway for one that stops the trifecta by itself is to be told. */
static void gateway_say_rules(gateway_run *run) {
    const il_policy *p = il_bundle_policy(run->bundle);
    uint32_t labels = 0;
    for (uint32_t i = 0; i < IL_INTERBOLT_NAMES; i++) {
        labels |= 1u << ((uint32_t)IL_CONDITION_NAMES + i);
    }
    if (il_str_eq(il_machine_name(p->machine), IL_STR(IL_INTERBOLT_MACHINE))) {
        il_log_write(&run->log, IL_LOG_WARN,
                     "the machine `" IL_INTERBOLT_MACHINE "` rejects nothing: what no rule stops runs, whatever was read");
    }
    if (p->interbolt.on && (p->rules.asks & labels) != 0) {
        il_log_write(&run->log, IL_LOG_WARN,
                     "values come here without labels: `taint`, `sources`, `max_trust`, `trifecta` and `require_endorsement` see "
                     "none that is untrusted (ask `run` or `prov`)");
    }
}

/* What a person should know before the agent starts. */
static void gateway_say(gateway_run *run, bool unenforced) {
    struct stat ledger;
    il_log_write(&run->log, IL_LOG_INFO, "session %s%s of %s, server `%s`, ledger %s", run->session,
                 run->session_flag || run->join ? "" : " (new)", run->principal, run->name, run->path);
    if (run->recovered > 0) {
        il_log_write(&run->log, IL_LOG_WARN, "%u call%s that a gateway left open when it died count%s as the worst now",
                     run->recovered, run->recovered == 1 ? "" : "s", run->recovered == 1 ? "s" : "");
    }
    gateway_say_server(run);
    gateway_say_rules(run);
    if (unenforced) {
        il_log_write(&run->log, IL_LOG_WARN, "monitor mode: calls are decided and recorded, but nothing is stopped");
    }
    if (strcmp(run->path, ":memory:") != 0 && stat(run->path, &ledger) == 0 && (ledger.st_uid == geteuid() || geteuid() == 0)) {
        il_log_write(
            &run->log, IL_LOG_WARN,
            "an agent that runs as this user could approve its own calls, and say words in a human's place: it may write the "
            "ledger (run the gateway as another user)");
    }
}

static void gateway_warn(void *ctx, const char *text) {
    gateway_run *run = ctx;
    il_log_write(&run->log, IL_LOG_WARN, "%s", text);
}

static il_exit gateway_serve(gateway_run *run) {
    il_error err = {0};
    const il_status loaded = il_bundle_load(il_host_alloc(), run->policy_path, &run->bundle, &err);
    if (loaded != IL_OK) {
        return il_fail(run->policy_path, &err);
    }
    /* The loop stands still while the ledger is locked by another: better a fault than a minute's silence. */
    const il_ledger_options options = {
        .size = sizeof options,
        .durability = run->durability,
        .busy_ms = GATEWAY_BUSY_MS,
        .keep_rows = GATEWAY_KEEP_ROWS,
        .checkpoint_thread = true,
        .warn = gateway_warn,
        .warn_ctx = run,
    };
    if (il_ledger_use(run->ledger_flag, &options, run->path, &run->ledger, &err) != IL_OK) {
        return il_fail(run->path[0] ? run->path : NULL, &err);
    }
    if (gateway_monitor(run, &err) != IL_OK) {
        return il_fail(NULL, &err);
    }
    const il_policy *policy = il_bundle_policy(run->bundle);
    const il_gateway_config config = {
        .alloc = il_host_alloc(),
        .monitor = run->monitor,
        .batch = &run->batch,
        .policy = policy,
        .unenforced = il_policy_mode_of(policy, il_str_of(run->principal)) == IL_MODE_MONITOR && !run->enforce,
        .session = il_str_of(run->session),
        .name = il_str_of(run->name),
        .command = run->command,
        .log = &run->log,
        .in = STDIN_FILENO,
        .out = STDOUT_FILENO,
        .call_timeout_ms = run->timeout_s * 1000u,
        .call_limit_ms = GATEWAY_LIMIT_S * 1000,
        .start_timeout_ms = run->start_s * 1000u,
        .restarts = (unsigned)run->restarts,
    };
    gateway_say(run, config.unenforced);
    return (il_exit)il_gateway_run(&config);
}

il_exit il_cmd_gateway(int argc, char **argv) {
    gateway_run *run = calloc(1, sizeof *run);
    il_error err = {0};
    /* One large message must not become memory for good, as it does when glibc raises this by itself. */
    (void)mallopt(M_MMAP_THRESHOLD, 1 << 20);
    (void)signal(SIGXFSZ, SIG_IGN); /* a ledger that may not grow is an error to handle */
    if (!run) {
        (void)il_error_set(&err, IL_E_MEMORY, "out of memory");
        return il_fail(NULL, &err);
    }
    run->log = (il_log){.fd = STDERR_FILENO, .level = IL_LOG_INFO};
    il_exit code;
    if (gateway_options(run, argc, argv, &err) != IL_OK) {
        code = il_fail_usage("gateway", &err);
    } else {
        code = gateway_serve(run);
    }
    il_monitor_free(run->monitor);
    il_host_recalls_free(run->recalls);
    il_ledger_close(run->ledger);
    il_bundle_free(run->bundle);
    free(run);
    return code;
}
