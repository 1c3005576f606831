# The README's lines for FetchContent and its program in C, in a fresh project: softmax alone, no tools, no tests. In the
# small build, which is built in a fifth of the time.
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(READ ${ROOT}/README.md readme)
string(REGEX MATCH "```cmake\n([^`]*)```" found "${readme}")
set(snippet "${CMAKE_MATCH_1}")
if(NOT snippet MATCHES "FetchContent_MakeAvailable" OR NOT snippet MATCHES "ATTN_PLUGINS softmax")
  message(FATAL_ERROR "README.md has no lines of CMake for FetchContent")
endif()
string(REGEX MATCH "```c\n([^`]*)```" found "${readme}")
set(program "${CMAKE_MATCH_1}")
if(NOT program MATCHES "attn_plan_create")
  message(FATAL_ERROR "README.md has no program in C")
endif()
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK}/parent)
file(CREATE_LINK ${ROOT} ${WORK}/parent/libattn SYMBOLIC)
file(WRITE ${WORK}/parent/CMakeLists.txt
     "cmake_minimum_required(VERSION 3.22)\nproject(parent LANGUAGES C)\n"
     "set(CMAKE_C_STANDARD 11)\n" "${snippet}")
file(WRITE ${WORK}/parent/program.c "${program}")
file(APPEND ${WORK}/parent/CMakeLists.txt "target_link_libraries(program PRIVATE m)\n")
run(${CMAKE_COMMAND} -S ${WORK}/parent -B ${WORK}/build -G ${GENERATOR}
    -DCMAKE_C_COMPILER=${C_COMPILER} -DATTN_SIMDE_INCLUDE=${SIMDE} -DATTN_SMALL=ON)
run(${CMAKE_COMMAND} --build ${WORK}/build --target program)
run(${WORK}/build/program)
message(STATUS "${output}")
file(GLOB_RECURSE others ${WORK}/build/*plugins_linear* ${WORK}/build/*bench* ${WORK}/build/test_*)
if(others)
  message(FATAL_ERROR "a slim build has ${others}")
endif()
