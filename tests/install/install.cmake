# See CMakeLists.txt beside this file.
cmake_minimum_required(VERSION 3.22)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nended with ${status}:\n${text}")
  endif()
  set(output "${text}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
set(prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} --config ${CONFIG})
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G ${GENERATOR} -DCMAKE_C_COMPILER=${C_COMPILER}
    -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_PREFIX_PATH=${prefix} -DWANTED_VERSION=${VERSION})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer)
message(STATUS "find_package: ${output}")

find_program(pkg_config pkg-config)
file(GLOB_RECURSE pc ${prefix}/attn.pc)
if(pkg_config AND pc)
  get_filename_component(folder ${pc} DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} ${folder})
  set(ENV{LD_LIBRARY_PATH} ${folder}/..) # a shared library is in no folder of the system
  run(${pkg_config} --define-prefix --static --cflags --libs attn)
  separate_arguments(flags UNIX_COMMAND "${output}")
  run(${C_COMPILER} -std=c11 ${SOURCE}/consumer.c -o ${WORK}/by-pkg-config ${flags})
  run(${WORK}/by-pkg-config)
  message(STATUS "pkg-config: ${output}")
endif()
