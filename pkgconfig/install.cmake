# What is installed, in the components runtime, dev, go, java, lua, python and command.
# bindings/java, bindings/lua, bindings/python and cli install what they build.
include(CMakePackageConfigHelpers)

install(TARGETS mortise mortise_static EXPORT MortiseTargets
        LIBRARY COMPONENT runtime NAMELINK_COMPONENT dev
        ARCHIVE COMPONENT dev)
install(DIRECTORY capi/include/mortise
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

# pkg-config's files say where things are from where they are themselves, so that the tree can be moved,
# unless the folders were asked for by their full names.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
  set(pc_libdir ${CMAKE_INSTALL_FULL_LIBDIR})
  set(pc_includedir ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
  file(RELATIVE_PATH pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" pc_prefix "\${pcfiledir}/${pc_prefix}")
  set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
set(pc_tls_load "-ldl ")
set(pc_tls_link "-lssl -lcrypto -ldl ")
set(pc_tls ${pc_tls_${MORTISE_TLS}})
foreach(name mortise mortise-static)
  configure_file(pkgconfig/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Mortise)
configure_package_config_file(pkgconfig/MortiseConfig.cmake.in MortiseConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(MortiseConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/MortiseConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/MortiseConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT dev)
install(EXPORT MortiseTargets NAMESPACE Mortise:: DESTINATION ${package_dir} COMPONENT dev)

# As sources, which Go compiles where they are used.
install(DIRECTORY bindings/go/ DESTINATION ${CMAKE_INSTALL_DATADIR}/mortise/go COMPONENT go
        FILES_MATCHING PATTERN "*.go" PATTERN "*.c" PATTERN "go.mod"
        PATTERN "*_test.go" EXCLUDE PATTERN "mortiseotel" EXCLUDE)
install(FILES bindings/go/example_test.go DESTINATION ${CMAKE_INSTALL_DATADIR}/mortise/go
        COMPONENT go)

# The license is part of every component. The pages have the same places as in the sources, so that
# the links between them work.
set(doc_dir ${CMAKE_INSTALL_DOCDIR})
set(languages go java lua)
if(MORTISE_PYTHON)
  list(APPEND languages python)
endif()
foreach(component runtime ${languages})
  install(FILES LICENSE DESTINATION ${doc_dir} COMPONENT ${component})
endforeach()
install(FILES README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md SECURITY.md
        DESTINATION ${doc_dir} COMPONENT dev)
install(DIRECTORY docs DESTINATION ${doc_dir} COMPONENT dev)
foreach(language IN LISTS languages)
  install(FILES bindings/${language}/README.md
          DESTINATION ${doc_dir}/bindings/${language} COMPONENT ${language})
endforeach()
foreach(part boot micrometer opentelemetry spring)
  install(FILES bindings/java/${part}/README.md
          DESTINATION ${doc_dir}/bindings/java/${part} COMPONENT java)
endforeach()
install(FILES bindings/go/mortiseotel/README.md DESTINATION ${doc_dir}/bindings/go/mortiseotel
        COMPONENT go)
install(FILES bindings/lua/nginx.md DESTINATION ${doc_dir}/bindings/lua COMPONENT lua)
install(DIRECTORY bindings/lua/examples DESTINATION ${doc_dir}/bindings/lua COMPONENT lua)
