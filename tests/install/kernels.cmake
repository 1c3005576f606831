# A kernel of another project, written against the installed core/simd: compiled for each tier by attn_add_kernels() of
# the package, and right on all that this machine has. Under a parent's -ffast-math, too, which it takes back.
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first --config ${CONFIG})
file(RENAME ${WORK}/first ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/kernels -B ${WORK}/build -G ${GENERATOR}
    -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_PREFIX_PATH=${WORK}/prefix -DATTN_SIMDE_INCLUDE=${SIMDE}
    "-DCMAKE_C_FLAGS=-ffast-math -Wall -Wextra" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON)
run(${CMAKE_COMMAND} --build ${WORK}/build)
if(output MATCHES "warning:")
  message(FATAL_ERROR "installed headers warn:\n${output}")
endif()
run(${WORK}/build/program)
message(STATUS "${output}")
string(REPLACE "," ";" tiers "${TIERS}")
file(READ ${WORK}/build/compile_commands.json commands)
foreach(tier IN LISTS tiers)
  if(NOT commands MATCHES "ATTN_TIER=${tier} ")
    message(FATAL_ERROR "no kernel for ${tier}: ${WORK}/build/compile_commands.json")
  endif()
endforeach()
if(NOT output MATCHES "scalar by scalar|wasm|neon")
  message(FATAL_ERROR "no tier was computed with:\n${output}")
endif()
