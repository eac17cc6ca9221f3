# The reference of the C functions: pages in Markdown, and manual pages that are installed.
find_package(Python3 3.9 QUIET COMPONENTS Interpreter)
find_program(BASH bash)
mark_as_advanced(BASH)
if(NOT Python3_Interpreter_FOUND OR NOT BASH)
  message(STATUS "The C functions have no manual pages: apt-get install bash python3")
  return()
endif()
set(reference ${CMAKE_CURRENT_BINARY_DIR}/reference)
file(GLOB examples CONFIGURE_DEPENDS capi/examples/*.c)
add_custom_command(
  OUTPUT ${reference}/man7/mortise.7
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${reference}
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/capi/reference ${reference}
  DEPENDS capi/reference capi/generate capi/include/mortise/mortise.h ${examples}
  COMMENT "Writing the reference of the C functions" VERBATIM)
add_custom_target(mortise_reference ALL DEPENDS ${reference}/man7/mortise.7)
install(DIRECTORY ${reference}/man3 ${reference}/man7 DESTINATION ${CMAKE_INSTALL_MANDIR}
        COMPONENT dev)
