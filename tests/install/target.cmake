# Kernels are those of the target: with -m32 on an x86-64 machine there are none for vectors. Compiled and
# run where the compiler has that target's C library.
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${WORK})
file(WRITE ${WORK}/empty.c "typedef int empty_t;\n")
execute_process(COMMAND ${C_COMPILER} -m32 -c ${WORK}/empty.c -o ${WORK}/empty.o
                RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
if(NOT status EQUAL 0)
  message(STATUS "SKIPPED: the compiler has no -m32")
  return()
endif()

# Without the C library there is nothing to link with, and no header of it to find.
run(${CMAKE_COMMAND} -S ${ROOT} -B ${WORK}/build -G ${GENERATOR} -DCMAKE_C_COMPILER=${C_COMPILER}
    -DCMAKE_C_FLAGS=-m32 -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY -DCMAKE_HAVE_PTHREAD_H=1
    -DCMAKE_HAVE_LIBC_PTHREAD=1 -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DATTN_BUILD_TOOLS=OFF
    -DATTN_BUILD_TESTS=OFF -DATTN_PLUGINS=softmax -DATTN_SIMDE_INCLUDE=${SIMDE})
file(READ ${WORK}/build/compile_commands.json commands)
if(NOT commands MATCHES "ATTN_TIER=scalar" OR commands MATCHES "-mavx|-msse4")
  message(FATAL_ERROR "kernels for another target than -m32: ${WORK}/build/compile_commands.json")
endif()

file(WRITE ${WORK}/library.c "#include <errno.h>\n#include <pthread.h>\n#include <stdio.h>\nint main(void) { return puts(\"linked\") < 0; }\n")
execute_process(COMMAND ${C_COMPILER} -m32 ${WORK}/library.c -o ${WORK}/library
                RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
if(NOT status EQUAL 0)
  message(STATUS "SKIPPED: no C library for -m32 (Debian: gcc-multilib), so that nothing was built")
  return()
endif()
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${CMAKE_COMMAND} --install ${WORK}/build --prefix ${WORK}/prefix)
file(GLOB_RECURSE library ${WORK}/prefix/libattn.a)
run(${C_COMPILER} -m32 -std=c11 -I${WORK}/prefix/include ${SOURCE}/consumer.c ${library}
    -o ${WORK}/consumer -lm -lpthread -ldl)
run(${WORK}/consumer)
message(STATUS "${output}")
