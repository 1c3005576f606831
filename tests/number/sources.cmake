# cmake -DSOURCE=... -P sources.cmake
# No source of the library or of what is built on it hands a number to the C library to be read, or, but
# for the command line's own output, to be written: those functions take the decimal point from the
# program's locale. And the command line never sets one.
cmake_minimum_required(VERSION 3.22)

# %.0f has no decimal point.
set(float "%[-+ #0-9]*(\\.[1-9*][0-9]*)?l?[aefgAEFG]")
set(writing "(printf|attn_fail) ?\\([^;]*${float}[^;]*")
foreach(folder IN ITEMS core plugins bench/cli bench/labs bench/measure wasm/src wasm/native)
  file(GLOB_RECURSE files ${SOURCE}/${folder}/*.c ${SOURCE}/${folder}/*.h)
  list(FILTER files EXCLUDE REGEX "/core/examples/") # programs of a user
  foreach(file IN LISTS files)
    file(READ ${file} text)
    string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" "" text "${text}")
    if(text MATCHES "[^_a-z](strto[dfl]+|ato[fil]+|s?scanf|localeconv|setlocale) *\\([^\n]*")
      if(NOT CMAKE_MATCH_0 MATCHES "strtoll|strtol|atoi|atol")
        list(APPEND found "${file}: ${CMAKE_MATCH_0}")
      endif()
    endif()
    if(text MATCHES "${writing}" AND NOT folder STREQUAL "bench/cli")
      list(APPEND found "${file}: ${CMAKE_MATCH_0}")
    endif()
  endforeach()
endforeach()
if(found)
  list(JOIN found "\n" lines)
  message(FATAL_ERROR "numbers that depend on the locale (see core/number/):\n${lines}")
endif()
