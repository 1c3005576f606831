# As a part of another project, which installs itself: nothing of ours goes with it.
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${WORK})
file(CONFIGURE OUTPUT ${WORK}/parent/CMakeLists.txt CONTENT
"cmake_minimum_required(VERSION 3.22)
project(parent LANGUAGES C)
set(FETCHCONTENT_SOURCE_DIR_ATTN @ROOT@)
include(FetchContent)
FetchContent_Declare(attn)
FetchContent_MakeAvailable(attn)
add_library(parent STATIC parent.c)
target_link_libraries(parent PRIVATE attn::attn)
install(FILES parent.c DESTINATION share)
" @ONLY)
file(WRITE ${WORK}/parent/parent.c "typedef int parent_t;\n")
run(${CMAKE_COMMAND} -S ${WORK}/parent -B ${WORK}/build -G ${GENERATOR}
    -DCMAKE_C_COMPILER=${C_COMPILER} -DATTN_SIMDE_INCLUDE=${SIMDE})
run(${CMAKE_COMMAND} --install ${WORK}/build --prefix ${WORK}/prefix)
file(GLOB_RECURSE installed RELATIVE ${WORK}/prefix ${WORK}/prefix/*)
if(NOT installed STREQUAL "share/parent.c")
  message(FATAL_ERROR "the parent's installation has ${installed}")
endif()
