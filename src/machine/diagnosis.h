/* SPDX-License-Identifier: Apache-2.0 */
/* The `diagnosis` section of a machine: what a monitor sees of a session at run time, the silent edges that it is to notice, and when it
 * raises an alarm. `interlock diagnose` asks whether that is enough; `interlock guard` watches with it.
 *
 *     diagnosis:
 *       sees: [phase, flight]          # variables in the projection; absent: all but ghosts
 *       verdicts: true                 # whether accept, reject and the reason are seen (default true)
 *       sensors:                       # evidence that a monitor may read beside the projection
 *         fetched: "pre.downloaded"
 *       uses: [fetched]                # sensors that are in place; absent: none
 *       faults:                        # edges that no gate mediates and that nobody announces
 *         broker-bug: {when: "!pre.egress", next: {egress: "true"}}
 *       alarms:
 *         lethal-trifecta: {raise: certain, within: 3, shield: quarantine}   # `raise: possible` with a shield needs a `why`
 *
 * A shield with a payload is a map of one action: `shield: {settle: {last: egress}}`; a field that is left out has its first value.
 * Symbols of a hidden action (`observable: false`) are not seen; nor is a fault edge but for what it changes in the projection and the sensors. */
#pragma once
#include "machine/model.h"

#define IL_SENSORS_MAX 32
#define IL_FAULTS_MAX 32
#define IL_WITHIN_MAX 1000000

typedef struct il_sensor {
    il_str name;
    il_cel_program *reads; /* a bool over pre; an error reads as true: evidence */
    uint32_t line, col;
} il_sensor;

typedef struct il_silent { /* a silent edge */
    il_str name;
    il_cel_program *when; /* over pre; NULL: everywhere; an error is no edge */
    uint32_t nupdates;
    il_update *updates; /* over pre; what leaves its domain, or errs, is no edge */
    uint32_t line, col;
} il_silent;

typedef struct il_alarm {
    uint32_t region; /* of states */
    bool certain;    /* raise when every state that is possible is in the region; else when some is */
    uint32_t within; /* steps after the region was entered by which the alarm must be raised; 0: no limit of its own */
    uint32_t shield; /* symbol of a corrective action that the guard takes; IL_NO_SYMBOL for none */
    il_str why; /* what justifies a shield on a mere possibility, which an attacker may bring about at no cost; empty: nothing */
    uint32_t line, col;
} il_alarm;

typedef struct il_diagnosis {
    uint64_t sees; /* bit v */
    bool verdicts;
    uint32_t nsensors, nsilent, nalarms;
    il_sensor *sensors;
    uint32_t uses; /* bit i: sensor i is in place */
    il_silent *silent;
    il_alarm *alarms; /* at most one for a region */
} il_diagnosis;

/* What a machine without the section has: all is seen but ghosts, verdicts too; no sensors, no silent edges, no alarms. */
il_diagnosis il_diagnosis_default(const il_model *m);
/* What is seen of a state: one number; equal numbers, equal to the eye. `sees` and `uses` may differ from the document's (advice, --see). */
uint64_t il_diagnosis_view(const il_model *m, uint64_t sees, uint32_t uses, uint64_t state);
/* The state after a silent edge; false when it is not enabled there, leaves a domain or changes nothing. */
bool il_silent_step(const il_model *m, const il_silent *silent, uint64_t state, uint64_t *next);
