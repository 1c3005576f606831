# cmake -DPROGRAM=decode -P decode.cmake
# Keys and values of |x| < 1: answers are below 1, so that some dozen roundings of f32 differ by 1e-5 at most.
cmake_minimum_required(VERSION 3.22)
execute_process(COMMAND ${PROGRAM} RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
foreach(line IN ITEMS "^36 tokens in [1-9][0-9]+ bytes\n" "gives the same answer: yes\n"
                      "one run over all tokens: ([0-9]\\.[0-9]e-(0[6-9]|1[0-9])|0\\.0e\\+00)\n$")
  if(NOT status EQUAL 0 OR NOT said MATCHES "${line}")
    message(FATAL_ERROR "${PROGRAM} ended with ${status}, wanted ${line}:\n${said}")
  endif()
endforeach()
