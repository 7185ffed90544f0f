/* SPDX-License-Identifier: Apache-2.0 */
/* The program: finds the command, answers --help and --version, and sees that what was printed arrived. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/output.h"

static const il_command main_commands[] = {
    {"approvals", "list, approve or deny calls that wait for a human",
     "usage: interlock approvals [list] [--session ID] [--ledger FILE] [--json]\n"
     "       interlock approvals approve ID [--ledger FILE] [--policy POLICY]\n"
     "       interlock approvals deny ID    [--ledger FILE] [--policy POLICY]\n"
     "\n"
     "Shows the requests that wait in all sessions, or answers one. An approval is for one call with exactly\n"
     "those arguments, once, and expires. Whoever may write the ledger may approve: keep it from the agent.\n"
     "\n"
     "  --ledger FILE   or INTERLOCK_LEDGER; default $XDG_STATE_HOME/interlock/ledger.db\n"
     "  --policy POLICY for sessions whose machine is not a shipped one\n"
     "\n"
     "example:\n"
     "  interlock approvals list\n"
     "  interlock approvals approve 7f3a9c21d0b44e6a8c15\n",
     il_cmd_approvals},
    {"cel", "evaluate an expression",
     "usage: interlock cel EXPR [--vars FILE] [--type] [--json]\n"
     "\n"
     "Compiles and evaluates one expression of the language that rules and guards are written in, and prints its\n"
     "value as the language writes it (1u, 1.0, b'x', timestamp('...')). Exit 1 when the evaluation ends in an error, 3\n"
     "when the expression is refused.\n"
     "\n"
     "  --vars FILE  a JSON object: its members are the variables\n"
     "  --type       also the type that the checker found\n"
     "  --json       {\"value\": \"1u\", \"type\": \"uint\"}\n"
     "\n"
     "example:\n"
     "  interlock cel \"'bob@example.com'.endsWith('@example.com')\"\n",
     il_cmd_cel},
    {"check", "decide recorded sessions",
     "usage: interlock check --policy POLICY [--against POLICY] [--json] [--explain] [--blind] [SESSIONS...]\n"
     "\n"
     "Decides every step of the sessions in the given files, or of standard input, as the gateway would, always\n"
     "as in mode `enforce`. A session file is NDJSON, one session a line:\n"
     "  {\"id\": \"a\", \"steps\": [{\"tool\": \"files.read\", \"args\": {}, \"result\": \"text\"}]}\n"
     "Exit 1 when a step is not allowed.\n"
     "\n"
     "  --against POLICY  show the steps that another policy decides otherwise; exit 1 when there are any\n"
     "  --json            one object a session, then one summary line\n"
     "  --explain         with --json: also why nothing was vouched\n"
     "  --blind           what untrusted texts say is not looked up, as if an attacker had paraphrased it\n"
     "\n"
     "example:\n"
     "  interlock check --policy policy.yaml sessions.ndjson\n",
     il_cmd_check},
    {"diagnose", "would a monitor notice a breach",
     "usage: interlock diagnose [options] MACHINE-OR-POLICY\n"
     "       interlock diagnose --ledger FILE [--json] [MACHINE-OR-POLICY...]\n"
     "\n"
     "Asks, from what a monitor sees of a session, whether a run that entered a forbidden region can look the same for\n"
     "ever as one without faults, and else after how many steps it is known. Then grades the projection and its\n"
     "sensors against wormholes: edges into the region that a flaw below the machine could make. What is seen and\n"
     "which faults there are, the section `diagnosis` of the machine says. Exit 1 when something would go unnoticed.\n"
     "\n"
     "  --see NAME      a variable or sensor more; may be repeated\n"
     "  --unsee NAME    one less; may be repeated\n"
     "  --within K      steps after which a breach must be known; default: what the alarms say\n"
     "  --wormholes N   most wormholes to try, default 256; above, they are drawn\n"
     "  --seed S        of the draw, default 0\n"
     "  --max-states N, --max-bytes B  (k, M or G), --max-work N, --max-seconds S\n"
     "                  bounds of each exploration of states or pairs, and of all steps and time; what reaches one is "
     "inconclusive\n"
     "  --progress      say on stderr how far it is\n"
     "  --ledger FILE   steps every row of a ledger once more, through the machine that wrote it (a shipped one, or one\n"
     "                  that is named), and through the first that is named\n"
     "  --json          one object\n"
     "\n"
     "example:\n"
     "  interlock diagnose --see fetched examples/machines/sandbox.yaml\n",
     il_cmd_diagnose},
    {"explain", "what a policy makes of a call",
     "usage: interlock explain POLICY TOOL [--args JSON] [--held EFFECTS] [--agent ID] [--json]\n"
     "\n"
     "Says of a call of TOOL (`server.tool`), in a session that holds these effects: which entry counts, its effects, what\n"
     "the machine says, which rule decides, and what would allow it. Exit 1 when the call is not allowed.\n"
     "\n"
     "  --args JSON     the arguments; without them, what is left of conditions and the worst that may come\n"
     "  --held EFFECTS  untrusted, sensitive, secret, egress, commit, with commas: what was done in the session\n"
     "  --agent ID      who calls, for groups and modes\n"
     "  --json          docs/schemas/explain.schema.json\n"
     "\n"
     "example:\n"
     "  interlock explain policy.yaml mail.send --held untrusted,sensitive\n",
     il_cmd_explain},
    {"gateway", "put an MCP server behind the gate",
     "usage: interlock gateway --policy POLICY [options] -- SERVER [ARGUMENTS...]\n"
     "\n"
     "Starts the MCP server and speaks MCP over stdio on both sides: every call is decided before it reaches the\n"
     "server, and recorded. Put this command where your agent's configuration names the server.\n"
     "\n"
     "  --policy POLICY     or INTERLOCK_POLICY\n"
     "  --name NAME         the server's name in the policy; default: SERVER's file name without its ending\n"
     "  --session ID        begins or resumes that session, or INTERLOCK_SESSION; default: a new one, named on stderr\n"
     "  --join              the principal's own session, until it is ended: the same one in each gateway of his\n"
     "  --principal NAME    whose calls these are, for agents and groups of the policy; default: uid:N of the user\n"
     "  --ledger FILE       or INTERLOCK_LEDGER; default $XDG_STATE_HOME/interlock/ledger.db; :memory: keeps nothing\n"
     "  --durability WORD   normal: decisions survive every crash of a program; full: loss of power too; default normal\n"
     "  --call-timeout S    seconds without an answer or progress, 1 to 600; default 60\n"
     "  --start-timeout S   seconds for the server to answer initialize, 1 to 600; default 60\n"
     "  --restart N         tries in a row to start a server again that ended, 0 to 100; default 5\n"
     "  --log LEVEL         error, warn, info or debug, on stderr; default info\n"
     "  --log-json          log lines as JSON objects\n"
     "\n"
     "INTERLOCK_MODE=enforce enforces a policy that is in monitor mode.\n"
     "\n"
     "example:\n"
     "  interlock gateway --policy policy.yaml --name files -- npx -y @modelcontextprotocol/server-filesystem ~/notes\n",
     il_cmd_gateway},
    {"guard", "watch the sessions of a ledger",
     "usage: interlock guard [LEDGER | --ledger FILE] [--machine MACHINE-OR-POLICY] [--once | --follow] [--session ID]\n"
     "                       [--shield] [--head ROW:HASH] [--max-states N] [--json]\n"
     "\n"
     "Keeps, for each session, the set of states in which it may be by what a monitor may see of it (`diagnosis` in the "
     "machine's\n"
     "file), and raises an alarm when a forbidden region is possible or certain, when rows contradict the machine, and when "
     "sessions\n"
     "together break an invariant of `fleet`. Exit 1 for an alarm, 2 when something could not be watched, 3 when it is no "
     "ledger.\n"
     "\n"
     "  LEDGER             or --ledger FILE, or INTERLOCK_LEDGER; default $XDG_STATE_HOME/interlock/ledger.db\n"
     "  --machine MACHINE  of sessions whose machine is not a shipped one: its file, or the policy that names it\n"
     "  --once             read it to its end (the default)\n"
     "  --follow           wait for it, and go on as long as others write it, until SIGINT or SIGTERM\n"
     "  --session ID       only what concerns this session\n"
     "  --shield           take the alarm's `shield` (quarantine or end) in the live session\n"
     "  --head ROW:HASH    as `ledger verify` printed it: that row must be there, or the end was cut off\n"
     "  --max-states N     of a machine with its faults; one that has more is not estimated, and that is said\n"
     "  --json             one object a line\n"
     "\n"
     "example:\n"
     "  interlock guard --machine policy.yaml --follow --shield\n",
     il_cmd_guard},
    {"harden", "prove a machine",
     "usage: interlock harden MACHINE-OR-POLICY [--json] [--mutants N|all] [--report DIR] [--against OLD] [--allow-bounded]\n"
     "                        [--confirmed FILE]\n"
     "                        [--max-states N] [--max-work N] [--max-seconds S] [--max-bytes B] [--workers N] [--progress]\n"
     "\n"
     "Explores a machine completely and prints each check with its verdict and a shortest witness. The machine is a file,\n"
     "one that a policy names, or a shipped one by its name. Exit 0 when all pass, 1 for a finding, 2 when something is\n"
     "not settled, 3 for a machine that does not load, 4 when a check does not catch what it must.\n"
     "\n"
     "  --json          the report as canonical JSON: the same machine gives the same bytes\n"
     "  --report DIR    write it as JSON, Markdown and a page to look at; times stand in a fourth file\n"
     "  --confirmed FILE  what other tools said of this table, as `make proofs` writes it: quoted in the report\n"
     "  --allow-bounded exit 0 when nothing but bounds stands in the way; the word stays BOUNDED\n"
     "  --mutants N     make so many machines with one mistake and count what the checks notice, or `all`; default 60\n"
     "  --max-states N  explore at most so many states at a time; what that leaves open is never clean\n"
     "  --max-work N    look at so many states and steps in all; default 8589934592 (2^33), some ten minutes\n"
     "  --max-seconds S the same of time\n"
     "  --max-bytes B   the same of memory for what is known of states; 512M, 2G\n"
     "  --workers N     threads; what they find does not depend on how many there are\n"
     "  --progress      say on stderr how far it is, on no terminal too\n"
     "  --against OLD   an older version: what it denies and this one accepts must stand in `widens` (docs/fleet.md).\n"
     "                  Machines only; two policies are compared by `interlock validate NEW --against OLD`\n"
     "\n"
     "example:\n"
     "  interlock harden trifecta\n",
     il_cmd_harden},
    {"init", "write a starter policy",
     "usage: interlock init [FILE]\n"
     "\n"
     "Writes a commented policy to FILE (policy.yaml when absent) and never overwrites one.\n"
     "\n"
     "example:\n"
     "  interlock init && interlock validate policy.yaml\n",
     il_cmd_init},
    {"inspect", "print a ledger as a tree",
     "usage: interlock inspect [FILE] [--json]\n"
     "\n"
     "Prints a ledger by principal, session and call: effects, decision, approval and how the call ended; child sessions\n"
     "below their parents. Needs neither the policy nor the machine. What it is made of may be checked with `ledger verify`.\n"
     "\n"
     "  FILE    default INTERLOCK_LEDGER, else $XDG_STATE_HOME/interlock/ledger.db\n"
     "  --json  docs/schemas/inspect.schema.json\n"
     "\n"
     "example:\n"
     "  interlock inspect ledger.db\n",
     il_cmd_inspect},
    {"ledger", "is the record whole?",
     "usage: interlock ledger verify [--ledger FILE] [--head ROW:HASH] [--json]\n"
     "\n"
     "Checks the chain of all rows, each body against its hash, and each session's rows against each other and\n"
     "against its state. Prints what differs and the head of the chain. Exit 0 when it is whole, 1 for a finding, 3\n"
     "when it is no ledger.\n"
     "\n"
     "  --ledger FILE    or INTERLOCK_LEDGER; default $XDG_STATE_HOME/interlock/ledger.db\n"
     "  --head ROW:HASH  a head that an earlier run printed: its row must still be there\n"
     "\n"
     "example:\n"
     "  interlock ledger verify\n",
     il_cmd_ledger},
    {"machine", "print a machine, or write it for other tools",
     "usage: interlock machine show MACHINE-OR-POLICY [--json | --dot] [--by VAR,VAR]\n"
     "       interlock machine export MACHINE-OR-POLICY --promela | --smt2 [--steps N] | --c | --json | --canonical\n"
     "\n"
     "`show` prints variables, actions with their updates and rejections, naps, regions and, where they are few, the\n"
     "reachable states. The machine is a file, one that a policy names, or a shipped one by its name.\n"
     "\n"
     "  --json       the same as one JSON object\n"
     "  --dot        the reachable states as a picture for Graphviz, forbidden ones in red, mediated ones in yellow\n"
     "  --by VARS    tell states apart by these variables alone, names with commas between; `cap` are all `cap[c]`\n"
     "\n"
     "`export` writes a machine, from its guards, for a tool that shares no code with this one. `make proofs` runs those\n"
     "tools and compares (docs/proofs.md).\n"
     "\n"
     "  --promela    for SPIN: a d_step for each symbol, regions as assertions\n"
     "  --smt2       for Z3: is each region kept by every step of each action?\n"
     "  --steps N    with --smt2: the runs of up to N steps from the initial state, 1 to 64\n"
     "  --c          a step function in C, without tables\n"
     "  --json       the document as JSON, in its own order\n"
     "  --canonical  sorted, without diagnosis, fleet and widens: the text whose SHA-256 stands in the sealed table\n"
     "\n"
     "example:\n"
     "  interlock machine show trifecta --dot --by untrusted,sensitive,flight,open | dot -Tsvg >trifecta.svg\n"
     "  interlock machine export trifecta --promela >trifecta.pml\n",
     il_cmd_machine},
    {"replay", "decide recorded sessions and show what another policy would flip",
     "usage: interlock replay --policy POLICY [--against POLICY] [--json] [--explain] [--blind] [SESSIONS...]\n"
     "\n"
     "The same as `interlock check`; meant for --against, which decides the same sessions under a second policy and\n"
     "prints the steps whose action differs, both ways. Exit 1 when there are any; without --against, when a step\n"
     "is not allowed.\n"
     "\n"
     "example:\n"
     "  interlock replay --policy policy.yaml --against policy-new.yaml sessions.ndjson\n",
     il_cmd_check},
    {"session", "list, show, explain, end or prune sessions, note what a human typed",
     "usage: interlock session [list] [--ledger FILE] [--json]\n"
     "       interlock session show ID [--ledger FILE] [--policy POLICY] [--json | --trail]\n"
     "       interlock session why ID  [--ledger FILE] [--policy POLICY] [--json]\n"
     "       interlock session say ID  [--ledger FILE] [--policy POLICY] (- | --text TEXT)\n"
     "       interlock session end ID  [--ledger FILE] [--policy POLICY] [--abandon]\n"
     "       interlock session prune --older-than AGE [--idle] [--dry-run] [--ledger FILE] [--policy POLICY] [--json]\n"
     "\n"
     "show: every call with its effects and decision, the state, open calls and approvals.\n"
     "why:  which call first brought each effect that counts, and why the last call was denied.\n"
     "say:  notes what a human typed, on standard input (`-`) or as TEXT: what it names can vouch from the next call on.\n"
     "      For hosts and hooks that the agent cannot run. The ledger keeps hashes of it, not the text.\n"
     "      With --policy, the session's, it says when such words vouch for no tool of it.\n"
     "end:  retires the session for good; its id is not used again. What a dead process left\n"
     "      open is settled as its worst first.\n"
     "\n"
     "  --ledger FILE   or INTERLOCK_LEDGER; default $XDG_STATE_HOME/interlock/ledger.db\n"
     "  --policy POLICY for sessions whose machine is not a shipped one\n"
     "  --trail         the session's audit rows with their chain hashes, one JSON object a line\n"
     "  --abandon       end although calls are unsettled: they count as their worst case\n"
     "  --older-than AGE  sessions that were last used so long ago: 30d, 12h, 90m\n"
     "  --idle          end those that have not ended, first\n"
     "  --dry-run       change nothing, say what would be done\n"
     "\n"
     "example:\n"
     "  interlock session why demo\n",
     il_cmd_session},
    {"validate", "check a policy",
     "usage: interlock validate POLICY [--tools SERVER=FILE]... [--json]\n"
     "       interlock validate POLICY --against OTHER [--json]\n"
     "       interlock validate POLICY --expanded\n"
     "       interlock validate --presets [--json]\n"
     "\n"
     "Reads a policy and the machine that it names, and runs the policy's own tests; one that fails is a finding (exit 1).\n"
     "Exit 3 with file, line and column when it is not one.\n"
     "\n"
     "  --against OTHER      which calls one policy allows and the other does not, both ways, with an example each: exit 0 the "
     "same,\n"
     "                       1 a difference, 2 none was found and not all could be decided\n"
     "  --expanded           print the policy with its presets written out, as JSON\n"
     "  --presets            list the presets of this build, with the digests by which `pin` names them\n"
     "  --tools SERVER=FILE  a saved tools/list answer of that server: tools without a label, names and patterns that\n"
     "                       match no listed tool, and conditions on arguments that none has are findings (exit 1)\n"
     "\n"
     "example:\n"
     "  interlock validate policy.yaml --tools files=tools.json\n"
     "  interlock validate new.yaml --against policy.yaml\n",
     il_cmd_validate},
};
#define MAIN_COMMANDS (sizeof main_commands / sizeof main_commands[0])

static void main_help(FILE *to) {
    (void)fprintf(to, "usage: interlock COMMAND [ARGUMENTS...]\n\n"
                      "Stands between an AI agent and its tools and decides every tool call before it runs.\n\n");
    for (size_t i = 0; i < MAIN_COMMANDS; i++) {
        (void)fprintf(to, "  %-10s %s\n", main_commands[i].name, main_commands[i].summary);
    }
    (void)fprintf(to,
                  "\n`interlock COMMAND --help` shows how a command is used, with an example.\n"
                  "exit codes: 0 fine, 1 a finding or a denial, 2 inconclusive, 3 usage or bad input, 4 an instrument failed, 5 "
                  "internal\n");
}

static const il_command *main_find(const char *name) {
    for (size_t i = 0; i < MAIN_COMMANDS; i++) {
        if (strcmp(main_commands[i].name, name) == 0) {
            return &main_commands[i];
        }
    }
    return NULL;
}

static il_exit main_unknown(const char *name) {
    const char *nearest = NULL;
    unsigned best = 4; /* a command is a longer word than an option: three slips still show it */
    for (size_t i = 0; i < MAIN_COMMANDS; i++) {
        const unsigned distance = il_str_distance(il_str_of(main_commands[i].name), il_str_of(name));
        if (distance < best) {
            best = distance;
            nearest = main_commands[i].name;
        }
    }
    (void)fputs("interlock: unknown command `", stderr);
    il_put_text(stderr, il_str_of(name));
    if (nearest) {
        (void)fprintf(stderr, "`; did you mean `%s`?\n", nearest);
    } else {
        (void)fputs("`; `interlock --help` lists them\n", stderr);
    }
    return IL_EXIT_USAGE;
}

static bool main_asks_help(int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            return true;
        }
    }
    return false;
}

static il_exit main_run(int argc, char **argv) {
    if (argc < 2) {
        main_help(stderr);
        return IL_EXIT_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        main_help(stdout);
        return IL_EXIT_FINE;
    }
    if (strcmp(word, "--version") == 0) {
        (void)printf("interlock %s\n", il_version());
        return IL_EXIT_FINE;
    }
    const il_command *command = strcmp(word, "help") == 0 && argc > 2 ? main_find(argv[2]) : main_find(word);
    if (strcmp(word, "help") == 0) {
        if (argc > 2 && !command) {
            return main_unknown(argv[2]);
        }
        if (command) {
            (void)fputs(command->help, stdout);
        } else {
            main_help(stdout);
        }
        return IL_EXIT_FINE;
    }
    if (!command) {
        return main_unknown(word);
    }
    if (main_asks_help(argc - 1, argv + 1)) {
        (void)fputs(command->help, stdout);
        return IL_EXIT_FINE;
    }
    return command->run(argc - 1, argv + 1);
}

/* A standard descriptor that is closed would be given to the next file that is opened, and that file be read or written in its place.
 * Opened the wrong way round, it stays as useless as it was. */
static bool main_descriptors(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) {
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv) {
    if (!main_descriptors()) {
        return IL_EXIT_INTERNAL;
    }
    (void)signal(SIGPIPE, SIG_IGN); /* a reader that went away is a failed write, reported below */
    il_exit code = main_run(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        const int why = errno;
        if (why != EPIPE) {
            (void)fprintf(stderr, "interlock: error: cannot write the output: %s\n", strerror(why));
        }
        code = IL_EXIT_INTERNAL;
    }
    return (int)code;
}
