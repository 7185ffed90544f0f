# SPDX-License-Identifier: Apache-2.0
if(IL_CORE_OBJECTS)
  install(TARGETS interlock-core interlock-static interlock-shared
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(DIRECTORY include/interlock DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
  # The pkg-config file finds its prefix from where it lies, so a staged or moved copy works too.
  file(RELATIVE_PATH IL_PC_TO_PREFIX "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p")
  file(RELATIVE_PATH IL_PC_TO_LIBDIR "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p/${CMAKE_INSTALL_LIBDIR}")
  configure_file(cmake/interlock.pc.in interlock.pc @ONLY)
  install(FILES "${CMAKE_BINARY_DIR}/interlock.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()
if(EXISTS "${CMAKE_SOURCE_DIR}/docs/interlock.1")
  install(FILES docs/interlock.1 DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
endif()
