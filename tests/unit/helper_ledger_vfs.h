/* SPDX-License-Identifier: Apache-2.0 */
/* A file system for SQLite on which one write goes wrong. */
#pragma once
#include <stdbool.h>

typedef enum ledger_vfs_mode {
    LEDGER_VFS_GOOD,
    LEDGER_VFS_DIE, /* the process ends at that write, exit code LEDGER_VFS_DIED */
    LEDGER_VFS_FAIL /* that one write is an I/O error */
} ledger_vfs_mode;
#define LEDGER_VFS_DIED 7

/* For every database that is opened from now on, in this process. */
void ledger_vfs_install(void);
/* `writes` go well first. */
void ledger_vfs_arm(ledger_vfs_mode mode, long writes);
/* The write that was to fail has come. */
bool ledger_vfs_fired(void);
