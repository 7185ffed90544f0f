/* SPDX-License-Identifier: Apache-2.0 */
/* interlock machine: what it can do with a machine, by its first word. */
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"

il_exit il_cmd_machine(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "export") == 0) {
        return il_cmd_machine_export(argc - 1, argv + 1);
    }
    if (argc > 1 && strcmp(argv[1], "show") == 0) {
        return il_cmd_machine_show(argc - 1, argv + 1);
    }
    return il_usage(argv[0], "say `show` or `export`, and a machine");
}
