/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of a ledger's file before and while it is used. */
#pragma once
#include <sys/stat.h>

#include "base/error.h"

#define IL_LEDGER_APPLICATION_ID 0x494c4b31 /* `ILK1`, in SQLite's header */
#define IL_LEDGER_USER_VERSION 2            /* 1 is read, and upgraded when it is opened for writing */
#define IL_LEDGER_USER_VERSION_OLDEST 1

#define IL_SPACE_LEDGER "ledger" /* of rows about the ledger itself: `upgrade`, `prune` */

/* A regular file that its owner may write and nobody else, of one name when it is to be written; IL_E_PERMISSION or IL_E_IO. `st` gets what stat(2) said; IL_E_NOT_FOUND when absent. */
IL_NODISCARD il_status il_ledger_file_check(const char *path, bool read_only, struct stat *st, il_error *err);
/* Once, before a file is opened: SQLite finds the same file under the path, and can keep its log beside it. The file need not be there. */
IL_NODISCARD il_status il_ledger_file_place(const char *path, il_error *err);

/* Judges the SQLite header (`header` is only read when the file has as many bytes): ours, of a version that we know, and (*shorter) whether
 * the file is shorter than it says. IL_E_DAMAGED, IL_E_VERSION. */
#define IL_LEDGER_HEADER_BYTES 100
IL_NODISCARD il_status il_ledger_file_header(const char *path, const uint8_t header[IL_LEDGER_HEADER_BYTES], uint64_t size,
                                             bool *shorter, il_error *err);

/* Makes the folders above `path`, mode 0700, or (make: false) says which one is not there, IL_E_NOT_FOUND. */
IL_NODISCARD il_status il_ledger_file_folders(const char *path, bool make, il_error *err);
