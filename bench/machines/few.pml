/* SPDX-License-Identifier: Apache-2.0 */
/* few.yaml for SPIN: the same states and successors. Each statement is one step, and `open` in an ended phase is what must not be. */
short sent, seen;
bit open, ended;

active proctype few() {
    do
    :: atomic { !ended && sent < 1023 -> sent++ }
    :: atomic { !ended && seen < 511 -> seen++ }
    :: atomic { !ended -> open = 1 - open }
    :: atomic { !ended && sent >= 1000 && !open -> ended = 1 }
    :: atomic { ended -> assert(!open); break }
    od
}
