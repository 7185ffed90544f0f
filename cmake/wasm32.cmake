# SPDX-License-Identifier: Apache-2.0
# Toolchain: clang for freestanding wasm32. No libc, no sysroot: what the core needs it brings itself.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang)
set(CMAKE_C_COMPILER_TARGET wasm32-unknown-unknown)
set(CMAKE_C_COMPILER_WORKS TRUE)
