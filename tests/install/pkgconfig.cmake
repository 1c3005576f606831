# What attn.pc says in other configurations, without building them: folders that are absolute, and a
# shared library, which knows itself what it needs.
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

find_program(pkg_config pkg-config)
if(NOT pkg_config)
  message(STATUS "SKIPPED: no pkg-config")
  return()
endif()

# expect(<wanted> <pkg-config's options>...)
function(expect wanted)
  run(${pkg_config} --dont-define-prefix ${ARGN} ${WORK}/build/attn.pc)
  string(STRIP "${output}" found)
  if(NOT found STREQUAL wanted)
    message(FATAL_ERROR "pkg-config ${ARGN}: ${found}\nnot: ${wanted}")
  endif()
endfunction()

# configure(<options>...): attn.pc as `cmake --install --prefix /elsewhere` would write it.
function(configure)
  file(REMOVE_RECURSE ${WORK}/build)
  run(${CMAKE_COMMAND} -S ${ROOT} -B ${WORK}/build -G ${GENERATOR}
      -DCMAKE_C_COMPILER=${C_COMPILER} -DATTN_BUILD_TOOLS=OFF -DATTN_BUILD_TESTS=OFF
      -DATTN_SIMDE_INCLUDE=${SIMDE} ${ARGN})
  run(${CMAKE_COMMAND} -DCMAKE_INSTALL_PREFIX=/elsewhere -P ${WORK}/build/pkgconfig.cmake)
endfunction()

set(needs "-lpthread -lm")
if(CMAKE_HOST_SYSTEM_NAME STREQUAL "Linux")
  string(APPEND needs " -ldl")
endif()

configure(-DCMAKE_INSTALL_LIBDIR=/apart/lib -DCMAKE_INSTALL_INCLUDEDIR=/other/headers)
expect("-I/other/headers" --cflags)
expect("-L/apart/lib -lattn ${needs}" --libs)

configure(-DCMAKE_INSTALL_LIBDIR=/apart/lib -DCMAKE_INSTALL_INCLUDEDIR=headers -DBUILD_SHARED_LIBS=ON)
expect("-I/elsewhere/headers" --cflags)
expect("-L/apart/lib -lattn" --libs)
expect("-L/apart/lib -lattn ${needs}" --libs --static)

configure(-DCMAKE_INSTALL_LIBDIR=lib/machine -DCMAKE_INSTALL_INCLUDEDIR=/other/headers)
expect("-I/other/headers" --cflags)
expect("-L${WORK}/build/../../../lib/machine -lattn ${needs}" --libs)
