/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of reports. Every file is written whole beside its name and renamed over it, so a reader sees the old report or the new one; nothing is
 * followed through a symbolic link, neither the folder nor a file. */
#pragma once
#include "base/error.h"
#include "base/str.h"

typedef struct il_report_file {
    const char *name;
    il_str text;
} il_report_file;

/* Makes the folder when it is missing (not those above it). All files are written before the first takes its name; mode 0644. IL_E_IO says which file
 * and why. */
IL_NODISCARD il_status il_report_folder_write(const char *folder, const il_report_file *files, size_t n, il_error *err);
