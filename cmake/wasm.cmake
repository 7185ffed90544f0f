# SPDX-License-Identifier: Apache-2.0
# The core, and nothing else, as WebAssembly (cmake --toolchain cmake/wasm32.cmake):
#   interlock-core.wasm   exports the public functions of the core modules; must import nothing
#   smoke.wasm            the same core with tests/wasm/host.c, which plays the host
#   interlock-gate.wasm   what the JavaScript package ships: of the core what bindings/js/src reaches, and wasi-libc's malloc
foreach(module IN LISTS IL_CORE_MODULES)
  il_module(${module} CORE)
endforeach()
set_source_files_properties(src/base/sha256.c PROPERTIES COMPILE_OPTIONS -O3) # most of what a decision costs
il_objects(IL_CORE_OBJECTS ${IL_CORE_MODULES})

# 128-bit multiplication (checked 64-bit arithmetic) is a call into the compiler's own runtime.
execute_process(COMMAND ${CMAKE_C_COMPILER} -print-resource-dir
  OUTPUT_VARIABLE resource_dir OUTPUT_STRIP_TRAILING_WHITESPACE)
file(GLOB_RECURSE IL_WASM_BUILTINS "${resource_dir}/lib/*/libclang_rt.builtins-wasm32.a")

# clang hands what it links to a wasm-opt that it finds, at any level but -O0, with too few features named: whether one is installed must not decide what is
# built. What the JavaScript package ships is given to it below.
# The stack lies first, so an overflow traps instead of running into data.
set(IL_WASM_LINK -O0 -Wl,--lto-O2 -nostdlib -Wl,--no-entry -Wl,--stack-first -Wl,-z,stack-size=262144 -Wl,--fatal-warnings)

function(il_wasm name)
  add_executable(${name} ${ARGN} ${IL_CORE_OBJECTS})
  il_target_flags(${name} CORE)
  set_target_properties(${name} PROPERTIES SUFFIX .wasm)
  target_link_options(${name} PRIVATE ${IL_WASM_LINK} -Wl,--export-dynamic -Wl,--strip-debug)
  target_link_libraries(${name} PRIVATE ${IL_WASM_BUILTINS})
endfunction()

file(WRITE "${CMAKE_BINARY_DIR}/none.c.in" "/* CMake wants one source of its own. */\nextern int il_wasm_none;\n")
configure_file("${CMAKE_BINARY_DIR}/none.c.in" "${CMAKE_BINARY_DIR}/none.c" COPYONLY)
il_wasm(interlock-core "${CMAKE_BINARY_DIR}/none.c")
il_wasm(smoke tests/wasm/host.c)
il_wasm(cel-vectors tests/cel/vector.c tests/cel/wasm.c)
target_include_directories(cel-vectors PRIVATE tests/cel)

# Only what is named in the sources is exported, so that the linker leaves out what nothing reaches.
file(GLOB gate_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/bindings/js/src/*.c")
find_library(IL_WASI_LIBC NAMES libc.a PATHS /usr/lib/wasm32-wasi NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
if(IL_WASI_LIBC)
  add_executable(interlock-gate ${gate_sources} ${IL_CORE_OBJECTS})
  il_target_flags(interlock-gate CORE)
  set_target_properties(interlock-gate PROPERTIES SUFFIX .wasm)
  target_link_options(interlock-gate PRIVATE ${IL_WASM_LINK} -Wl,--strip-all)
  target_link_libraries(interlock-gate PRIVATE ${IL_WASM_BUILTINS} ${IL_WASI_LIBC})
  find_program(IL_WASM_OPT wasm-opt) # a sixth smaller
  if(IL_WASM_OPT)
    add_custom_command(TARGET interlock-gate POST_BUILD VERBATIM
      COMMAND ${IL_WASM_OPT} -Oz --converge --enable-bulk-memory --enable-sign-ext --enable-nontrapping-float-to-int $<TARGET_FILE:interlock-gate> -o $<TARGET_FILE:interlock-gate>)
  endif()
endif()
