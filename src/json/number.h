/* SPDX-License-Identifier: Apache-2.0 */
/* The number grammar of RFC 8259 section 6, without numbers that round to infinity: peers read them as infinity, null or not at all. */
#pragma once
#include "json/node.h"

/* Reads the longest number at p. Returns where it ends, *fault NULL; or where it goes wrong, *fault saying how. */
const uint8_t *il_json_number_scan(const uint8_t *p, const uint8_t *end, const char **fault);
