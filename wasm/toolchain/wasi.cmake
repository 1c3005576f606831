# WebAssembly with clang 19 and Debian's wasi-libc; programs run under node's WASI.
#
# From the environment (see env.sh), each with a default for hand use:
#   ATTN_WASI_CC   the compiler                 clang-19
#   ATTN_NODE      node that runs the programs  node
# CMake reads this file again for every probe, so nothing here may depend on the cache.

set(CMAKE_SYSTEM_NAME WASI)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")

set(CMAKE_C_COMPILER "$ENV{ATTN_WASI_CC}")
if(CMAKE_C_COMPILER STREQUAL "")
    set(CMAKE_C_COMPILER clang-19)
endif()
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)

# The compiler's own archiver: the host's may not understand WebAssembly objects.
foreach(attn_tool ar ranlib)
    string(TOUPPER "CMAKE_${attn_tool}" attn_variable)
    execute_process(
        COMMAND "${CMAKE_C_COMPILER}" -print-prog-name=llvm-${attn_tool}
        OUTPUT_VARIABLE ${attn_variable}
        OUTPUT_STRIP_TRAILING_WHITESPACE)
endforeach()

# -O0 last, on the link only: with any other level clang runs a wasm-opt it finds on PATH over the
# result, and an old one fails on relaxed SIMD. The objects keep the level they were compiled with.
set(CMAKE_C_LINK_EXECUTABLE
    "<CMAKE_C_COMPILER> <FLAGS> <CMAKE_C_LINK_FLAGS> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES> -O0")

# Headers and libraries of the host must not be found for this target.
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_FIND_ROOT_PATH "${CMAKE_CURRENT_LIST_DIR}")

set(attn_node "$ENV{ATTN_NODE}")
if(attn_node STREQUAL "")
    set(attn_node node)
endif()
find_program(attn_node_program NAMES ${attn_node} REQUIRED NO_CACHE NO_CMAKE_FIND_ROOT_PATH)
set(CMAKE_CROSSCOMPILING_EMULATOR "${attn_node_program};${CMAKE_CURRENT_LIST_DIR}/run-wasi.mjs")
