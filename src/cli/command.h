/* SPDX-License-Identifier: Apache-2.0 */
/* The commands: each is one file with one il_cmd_NAME, and one row in main.c's table.
 *
 * A command gets its own name as argv[0] and the arguments after it. `--help` was answered before it is called. It prints results to
 * stdout and everything else to stderr, and returns one of the exit codes; main flushes stdout and turns a failed write into 5. */
#pragma once
#include "interlock/base.h"

/* Exit codes; docs/cli.md has the same table. */
typedef enum il_exit {
    IL_EXIT_FINE = 0,
    IL_EXIT_FINDING = 1, /* a finding or a denial */
    IL_EXIT_INCONCLUSIVE = 2,
    IL_EXIT_USAGE = 3, /* usage or bad input */
    IL_EXIT_INSTRUMENT = 4,
    IL_EXIT_INTERNAL = 5 /* memory, disk */
} il_exit;

typedef struct il_command {
    const char *name, *summary;
    const char *help; /* usage, options and an example */
    il_exit (*run)(int argc, char **argv);
} il_command;

il_exit il_cmd_approvals(int argc, char **argv);
il_exit il_cmd_cel(int argc, char **argv);
il_exit il_cmd_check(int argc, char **argv); /* also `replay` */
il_exit il_cmd_diagnose(int argc, char **argv);
il_exit il_cmd_explain(int argc, char **argv);
il_exit il_cmd_gateway(int argc, char **argv);
il_exit il_cmd_guard(int argc, char **argv);
il_exit il_cmd_harden(int argc, char **argv);
il_exit il_cmd_init(int argc, char **argv);
il_exit il_cmd_inspect(int argc, char **argv);
il_exit il_cmd_ledger(int argc, char **argv);
il_exit il_cmd_machine(int argc, char **argv);
il_exit il_cmd_machine_export(int argc, char **argv); /* argv[0]: `export` */
il_exit il_cmd_machine_show(int argc, char **argv);   /* argv[0]: `show` */
il_exit il_cmd_session(int argc, char **argv);
il_exit il_cmd_validate(int argc, char **argv);
