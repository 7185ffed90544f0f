/* SPDX-License-Identifier: Apache-2.0 */
#include "interlock/monitor.h"

const char *il_action_name(il_action a) {
    switch (a) {
    case IL_ACTION_BLOCK:
        return "block";
    case IL_ACTION_REQUIRE_APPROVAL:
        return "require_approval";
    case IL_ACTION_ALLOW:
        return "allow";
    }
    return "block";
}

const char *il_layer_name(il_layer l) {
    switch (l) {
    case IL_LAYER_FAULT:
        return "fault";
    case IL_LAYER_LABELLER:
        return "labeller";
    case IL_LAYER_MACHINE:
        return "machine";
    case IL_LAYER_RULE:
        return "rule";
    case IL_LAYER_NONE:
        return NULL;
    }
    return "fault";
}
