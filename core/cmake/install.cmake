# An installed copy: headers, libraries, the CMake package (find_package(attn)) and pkg-config.
include(CMakePackageConfigHelpers)
set(ATTN_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/attn)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/core/include/attn TYPE INCLUDE)
install(TARGETS attn attn_headers attn_oracle EXPORT attn-targets)
install(EXPORT attn-targets NAMESPACE attn:: DESTINATION ${ATTN_CMAKE_DIR})
configure_package_config_file(${PROJECT_SOURCE_DIR}/core/cmake/attn-config.cmake.in
                              ${PROJECT_BINARY_DIR}/attn-config.cmake
                              INSTALL_DESTINATION ${ATTN_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/attn-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/attn-config.cmake
              ${PROJECT_BINARY_DIR}/attn-config-version.cmake DESTINATION ${ATTN_CMAKE_DIR})

configure_file(${PROJECT_SOURCE_DIR}/core/cmake/attn.pc.in ${PROJECT_BINARY_DIR}/attn.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/attn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
