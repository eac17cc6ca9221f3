# A port of the tree that it lies in: vcpkg install mortise --overlay-ports=packaging/vcpkg
#
# Not run by vcpkg, which is in no package registry; `./dev test --packages` runs CMake with these options.
set(SOURCE_PATH "${CURRENT_PORT_DIR}/../..")
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DMORTISE_TESTS=OFF -DMORTISE_JAVA=OFF -DMORTISE_LUA=OFF
  -DMORTISE_PYTHON=OFF -DMORTISE_COMMAND=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME Mortise CONFIG_PATH lib/cmake/Mortise)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
