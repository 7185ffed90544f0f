/* SPDX-License-Identifier: Apache-2.0 */
/* Which process admitted a call, and whether it still runs: pid, start time, boot and namespaces. */
#pragma once
#include "interlock/monitor.h"

/* This process; zeros where the system does not tell. Reads /proc. */
void il_host_owner(uint8_t out[IL_OWNER_BYTES]);
/* As il_host.gone. True only when it is certain: another boot of the kernel, or the same boot and namespaces and no such process. */
bool il_host_gone(void *ctx, const uint8_t owner[IL_OWNER_BYTES]);
