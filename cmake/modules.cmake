# SPDX-License-Identifier: Apache-2.0
# One OBJECT library il_<module> for src/<module>/*.c, globbed: a new file needs no list.

# il_module(NAME [CORE] [USES imported-targets…] [EXCLUDE file.c…])
# A module without sources is skipped. EXCLUDE keeps files that hold a main() out.
function(il_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "CORE" "" "USES;EXCLUDE")
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${name}/*.c")
  foreach(file IN LISTS arg_EXCLUDE)
    list(REMOVE_ITEM sources "${CMAKE_SOURCE_DIR}/src/${name}/${file}")
  endforeach()
  if(NOT sources)
    return()
  endif()
  add_library(il_${name} OBJECT ${sources})
  if(arg_CORE)
    il_target_flags(il_${name} CORE)
  else()
    il_target_flags(il_${name})
  endif()
  target_link_libraries(il_${name} PRIVATE ${arg_USES})
endfunction()

# il_objects(OUT module…): the objects of those modules that have sources.
function(il_objects out)
  set(objects "")
  foreach(name IN LISTS ARGN)
    if(TARGET il_${name})
      list(APPEND objects $<TARGET_OBJECTS:il_${name}>)
    endif()
  endforeach()
  set(${out} "${objects}" PARENT_SCOPE)
endfunction()
