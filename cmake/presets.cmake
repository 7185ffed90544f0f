# SPDX-License-Identifier: Apache-2.0
# The shipped presets are embedded as they are: presets/NAME@VERSION.yaml -> build/presets/presets.c, a list by name.
file(GLOB IL_PRESET_FILES CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/presets/*.yaml")
list(SORT IL_PRESET_FILES)
set(IL_PRESETS_C "${CMAKE_BINARY_DIR}/presets/presets.c")
add_custom_command(
  OUTPUT "${IL_PRESETS_C}"
  COMMAND ${CMAKE_COMMAND} "-DOUT=${IL_PRESETS_C}" "-DFILES=${IL_PRESET_FILES}" -P "${CMAKE_SOURCE_DIR}/cmake/embed_presets.cmake"
  DEPENDS ${IL_PRESET_FILES} "${CMAKE_SOURCE_DIR}/cmake/embed_presets.cmake"
  COMMENT "Embedding presets"
  VERBATIM)
add_library(il_presets OBJECT "${IL_PRESETS_C}")
il_target_flags(il_presets)
set(IL_PRESET_OBJECTS $<TARGET_OBJECTS:il_presets>)
