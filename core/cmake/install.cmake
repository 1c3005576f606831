# An installed copy: headers, libraries, the CMake package (find_package(attn)) and pkg-config, the licence.
include(CMakePackageConfigHelpers)
set(ATTN_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/attn)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/core/include/attn TYPE INCLUDE)
# What kernels of plugins are written against, in a folder of its own: <prefix>/include/attn-simd.
set(ATTN_SIMD_DIR ${CMAKE_INSTALL_INCLUDEDIR}/attn-simd)
foreach(header IN ITEMS arm bits128 bits256 bits512 convert half math scalar simd tiers)
  install(FILES ${PROJECT_SOURCE_DIR}/core/simd/${header}.h DESTINATION ${ATTN_SIMD_DIR}/simd)
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/core/simd/README.md DESTINATION ${ATTN_SIMD_DIR}/simd)
install(FILES ${PROJECT_SOURCE_DIR}/core/ieee/ieee.h DESTINATION ${ATTN_SIMD_DIR}/ieee)
install(FILES ${PROJECT_SOURCE_DIR}/core/cmake/kernels.cmake ${PROJECT_SOURCE_DIR}/core/cmake/ieee.cmake
        DESTINATION ${ATTN_CMAKE_DIR})
install(TARGETS attn attn_headers attn_oracle EXPORT attn-targets)
install(EXPORT attn-targets NAMESPACE attn:: DESTINATION ${ATTN_CMAKE_DIR})
configure_package_config_file(${PROJECT_SOURCE_DIR}/core/cmake/attn-config.cmake.in
                              ${PROJECT_BINARY_DIR}/attn-config.cmake
                              INSTALL_DESTINATION ${ATTN_CMAKE_DIR} PATH_VARS ATTN_SIMD_DIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/attn-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/attn-config.cmake
              ${PROJECT_BINARY_DIR}/attn-config-version.cmake DESTINATION ${ATTN_CMAKE_DIR})

# attn.pc and attn-oracle.pc find the others from where they lie, so that a copy can be moved. Written when it is
# installed, as only then the prefix is known to which a folder may be relative that it is not in.
set(attn_link "-lpthread -lm")
foreach(library IN LISTS CMAKE_DL_LIBS)
  string(APPEND attn_link " -l${library}")
endforeach()
get_target_property(attn_type attn TYPE)
if(attn_type STREQUAL "STATIC_LIBRARY") # has no list of its own of what it needs
  set(ATTN_PC_LIBS " ${attn_link}")
else()
  set(ATTN_PC_LIBS_PRIVATE " ${attn_link}")
endif()
configure_file(${PROJECT_SOURCE_DIR}/core/cmake/pkgconfig.cmake.in
               ${PROJECT_BINARY_DIR}/pkgconfig.cmake @ONLY)
install(SCRIPT ${PROJECT_BINARY_DIR}/pkgconfig.cmake)
install(FILES ${PROJECT_BINARY_DIR}/attn.pc ${PROJECT_BINARY_DIR}/attn-oracle.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
