# SPDX-License-Identifier: Apache-2.0
# The shipped machines are compiled and sealed now, by the very code that compiles a user's, so that
# start-up only verifies: machines/NAME.yaml -> build/machines/NAME.{table,cert,c}; NAME.c holds the
# bytes as arrays and is linked into the library and the program.
set(IL_MACHINE_OBJECTS "")
file(GLOB machines CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/machines/*.yaml")
if(EXISTS "${CMAKE_SOURCE_DIR}/src/host/seal_main.c")
  il_objects(seal_objects base json cel machine check yaml)
  add_executable(interlock-seal src/host/seal_main.c ${seal_objects})
  il_target_flags(interlock-seal)
  target_link_libraries(interlock-seal PRIVATE PkgConfig::YAML)

  set(machine_sources "")
  foreach(machine IN LISTS machines)
    cmake_path(GET machine STEM name)
    set(out "${CMAKE_BINARY_DIR}/machines/${name}")
    add_custom_command(
      OUTPUT "${out}.table" "${out}.cert" "${out}.c"
      COMMAND ${CMAKE_COMMAND} -E make_directory "${CMAKE_BINARY_DIR}/machines"
      COMMAND interlock-seal "${machine}" "${out}.table" "${out}.cert" "${out}.c"
      DEPENDS interlock-seal "${machine}"
      COMMENT "Sealing machine ${name}"
      VERBATIM)
    list(APPEND machine_sources "${out}.c")
  endforeach()
  if(machine_sources)
    add_library(il_machines OBJECT ${machine_sources})
    il_target_flags(il_machines)
    set(IL_MACHINE_OBJECTS $<TARGET_OBJECTS:il_machines>)
  endif()
endif()
