# run(COMMAND...): must succeed; what it said is in `output`.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nended with ${status}:\n${text}")
  endif()
  set(output "${text}" PARENT_SCOPE)
endfunction()

# use_pkg_config(<folder of attn.pc>): builds the consumers as pkg-config says, and runs them.
function(use_pkg_config folder)
  find_program(pkg_config pkg-config)
  if(NOT pkg_config)
    message(STATUS "no pkg-config: attn.pc is not tested")
    return()
  endif()
  set(ENV{PKG_CONFIG_PATH} ${folder})
  set(ENV{LD_LIBRARY_PATH} ${folder}/..) # a shared library is in no folder of the system
  foreach(static IN ITEMS "" --static)
    foreach(pair IN ITEMS attn=consumer attn-oracle=with_oracle)
      string(REPLACE "=" ";" pair ${pair})
      list(GET pair 0 package)
      list(GET pair 1 program)
      run(${pkg_config} --dont-define-prefix ${static} --cflags --libs ${package})
      message(STATUS "pkg-config ${static}: ${output}")
      separate_arguments(flags UNIX_COMMAND "${output}")
      run(${C_COMPILER} -std=c11 ${SOURCE}/${program}.c -o ${WORK}/by-pkg-config ${flags})
      run(${WORK}/by-pkg-config)
    endforeach()
  endforeach()
endfunction()

# use_package(<prefix>): builds the consumer with find_package(attn), and runs it.
function(use_package prefix)
  file(REMOVE_RECURSE ${WORK}/consumer)
  run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/consumer -G ${GENERATOR}
      -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_PREFIX_PATH=${prefix}
      -DWANTED_VERSION=${VERSION})
  run(${CMAKE_COMMAND} --build ${WORK}/consumer)
  run(${WORK}/consumer/consumer)
  message(STATUS "find_package: ${output}")
endfunction()
