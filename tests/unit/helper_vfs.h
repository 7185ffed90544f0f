/* SPDX-License-Identifier: Apache-2.0 */
/* A disk that fails on demand: SQLite's default file system behind a shim that counts and fails operations. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef enum vfs_operation {
    VFS_WRITE = 1,
    VFS_SYNC = 2,
    VFS_TRUNCATE = 4,
    VFS_SIZE = 8,
    VFS_READ = 16,
    VFS_SHM = 32,
    VFS_LOCK = 64,
    VFS_OPEN = 128,
    VFS_DELETE = 256,
    VFS_ACCESS = 512
} vfs_operation;
typedef enum vfs_failure {
    VFS_ERROR = 0, /* an I/O error */
    VFS_FULL,      /* a write finds no room */
    VFS_GONE,      /* nothing of a write reaches the file, and the process is gone, with VFS_GONE_CODE */
    VFS_TORN,      /* half of it does */
    VFS_LOST       /* says that it worked, and did nothing */
} vfs_failure;
#define VFS_GONE_CODE 9

/* Becomes the file system of every database that is opened from here on. */
void vfs_install(void);
/* The n-th (from 1) of these operations fails, and with `sticky` each after it. */
void vfs_arm(unsigned operations, size_t n, bool sticky, vfs_failure how);
/* Nothing fails any more. Returns how many of the operations there were since it was armed, and whether one of them failed. */
size_t vfs_disarm(bool *failed);
