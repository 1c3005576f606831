# See CMakeLists.txt beside this file.
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

# To another prefix than was configured, and from there to another place.
file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first --config ${CONFIG})
file(RENAME ${WORK}/first ${WORK}/prefix)
use_package(${WORK}/prefix)
file(GLOB_RECURSE pc ${WORK}/prefix/attn.pc)
get_filename_component(folder ${pc} DIRECTORY)
use_pkg_config(${folder})

file(GLOB_RECURSE licence ${WORK}/prefix/LICENSE)
if(NOT licence)
  message(FATAL_ERROR "the licence is not installed")
endif()
