/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/fleet.h"
#include "machine/load.h"

il_status il_load_fleet(il_loader *l, const il_json *section) {
    if (!section) {
        return IL_OK;
    }
    return IL_JSON_FAIL(section, l->err, IL_E_INVALID, "`fleet` is not known yet");
}
