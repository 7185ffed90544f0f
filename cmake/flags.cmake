# SPDX-License-Identifier: Apache-2.0
# Compile and link flags, one list for gcc 12 and clang 14. Warnings are errors everywhere.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "wasm32")
  set(IL_WASM ON)
  # The module is downloaded: it is built to be small. What every engine has had for years makes copies and conversions one instruction.
  add_compile_options(-Oz -flto -mbulk-memory -msign-ext -mnontrapping-fptoint)
else()
  set(IL_WASM OFF)
  include(CheckPIESupported)
  check_pie_supported()
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)

set(IL_WARNINGS
  -Werror -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wswitch-enum
  -Wformat=2 -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla -Wpointer-arith -Wcast-qual
  -Wwrite-strings)
# The core runs where nothing can be looked up or recovered: no implicit float, no big stack frame.
set(IL_CORE_WARNINGS -Wdouble-promotion -Wcast-align -Wnested-externs -Wmissing-declarations -Wbad-function-cast)

set(IL_HARDENING "")
set(IL_INSTRUMENT "")
if(NOT IL_WASM) # in WebAssembly code and return addresses are out of reach, and there is no libc to fortify
  set(IL_HARDENING -fstack-protector-strong -fstack-clash-protection)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
    list(APPEND IL_HARDENING -fcf-protection)
  endif()
  add_link_options(-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,--as-needed)
  if(IL_FUZZ) # clang; as IL_SANITIZE, and counts what an input reaches
    set(IL_INSTRUMENT -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O2)
    add_link_options(-fsanitize=fuzzer-no-link,address,undefined)
  elseif(IL_SANITIZE)
    set(IL_INSTRUMENT -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O1)
    add_link_options(-fsanitize=address,undefined)
  elseif(IL_TSAN)
    set(IL_INSTRUMENT -fsanitize=thread -fno-omit-frame-pointer -O1)
    add_link_options(-fsanitize=thread)
  elseif(IL_COVERAGE) # gcc
    set(IL_INSTRUMENT --coverage -fprofile-update=atomic -O1)
    add_link_options(--coverage)
  else()
    # The sanitizers replace the checks that fortified libc calls would make, and need them off.
    set(IL_INSTRUMENT -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
    list(APPEND IL_CORE_WARNINGS -Wframe-larger-than=32768)
  endif()
endif()

# Everything that the project compiles takes these flags; CORE adds the core's stricter ones and
# leaves POSIX out, the rest sees POSIX and GNU names (do not define _GNU_SOURCE in a file).
function(il_target_flags target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "CORE" "" "")
  target_include_directories(${target} PRIVATE "${CMAKE_SOURCE_DIR}/include" "${CMAKE_SOURCE_DIR}/src")
  target_compile_options(${target} PRIVATE ${IL_WARNINGS} ${IL_HARDENING} ${IL_INSTRUMENT})
  if(arg_CORE)
    target_compile_options(${target} PRIVATE ${IL_CORE_WARNINGS})
  else()
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
  endif()
endfunction()
