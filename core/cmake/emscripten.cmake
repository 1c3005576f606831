# emcc is a script that takes half a second to find what it calls clang with, for each file anew: here it is asked
# once. It still links. Where it does not say which clang, it compiles as well.
execute_process(
  COMMAND ${CMAKE_C_COMPILER} --cflags
  OUTPUT_VARIABLE attn_emcc_flags
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
execute_process(
  COMMAND ${CMAKE_C_COMPILER} -v -x c -c /dev/null -o ${PROJECT_BINARY_DIR}/nothing.o
  ERROR_VARIABLE attn_emcc_says
  OUTPUT_QUIET)
if(attn_emcc_flags AND attn_emcc_says MATCHES "(^|\n) *\"?([^\n \"]*/clang[^\n \"]*)\"? -target wasm32")
  set(CMAKE_C_COMPILE_OBJECT
      "${CMAKE_MATCH_2} ${attn_emcc_flags} <DEFINES> <INCLUDES> <FLAGS> -o <OBJECT> -c <SOURCE>")
endif()
