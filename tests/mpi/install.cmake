# An installed copy with attn::mpi, used by a project that knows nothing of this one, on two ranks. Where a copy has no MPI,
# find_package() says so.
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/../install/run.cmake)

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first --config ${CONFIG})
file(RENAME ${WORK}/first ${WORK}/prefix)
set(configure ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK}/build -G ${GENERATOR}
    -DCMAKE_C_COMPILER=${C_COMPILER} -DMPI_C_COMPILER=${MPI_COMPILER} -DCMAKE_PREFIX_PATH=${WORK}/prefix
    -DWANTED_VERSION=${VERSION} "-DCMAKE_C_FLAGS=-Wall -Wextra")
run(${configure})
run(${CMAKE_COMMAND} --build ${WORK}/build)
if(output MATCHES "warning:")
  message(FATAL_ERROR "installed headers warn:\n${output}")
endif()
run(${MPIEXEC} ${MPIEXEC_FLAG} 2 ${WORK}/build/consumer)
if(NOT output MATCHES "all rows are right")
  message(FATAL_ERROR "${output}")
endif()

file(GLOB_RECURSE targets ${WORK}/prefix/*/attn-mpi-targets.cmake)
file(REMOVE ${targets})
file(REMOVE_RECURSE ${WORK}/build)
execute_process(COMMAND ${configure} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(NOT targets OR status EQUAL 0 OR NOT text MATCHES "attn_FOUND|mpi")
  message(FATAL_ERROR "a copy without MPI has the component mpi:\n${text}")
endif()
