# cmake -DSOURCE=... -P rooms.cmake
# The rooms of the house, and whose headers the sources in each may include: the room's own and those
# named here, or that header alone. Only includes that name a room count ("room/header.h"); a longer folder's line wins.
cmake_minimum_required(VERSION 3.22)

# folder: prefixes of the headers
set(rooms
    "core/attention: ieee attention attn gemm simd"
    "core/algebra: ieee algebra"
    "core/include: attn"
    "core/examples: attn"
    "core/ieee: ieee"
    "core/gemm: gemm attn simd"
    "core/json: ieee json number attn"
    "core/npy: ieee npy attn json"
    "core/number: ieee number"
    "core/oracle: ieee attn"
    "core/simd: ieee simd attn"
    "core/src: ieee attn json number simd attention/task.h"
    "core/stream: ieee stream attn"
    "core/text: ieee text attn"
    "plugins/linear: ieee attn gemm simd stream attention/task.h"
    "plugins/sketch: ieee algebra attn gemm number simd softmax stream attention/task.h" # softmax with other keys
    "plugins/softmax: ieee attention attn stream"
    "plugins/sparse: ieee attention attn gemm simd stream"
    "plugins/template: attn"
    "plugins/template/simd: attn simd"
    "bench/algebra: algebra"
    "bench/sketching: sketching algebra attn measure simd sketch"
    "bench/measure: measure attention attn gemm simd"
    "bench/labs: labs algebra sketching attn json measure number"
    "bench/labs/language: labs attn number"
    "bench/labs/nn: labs attn gemm simd"
    "bench/labs/reasoning: labs attn measure number simd"
    "bench/cli: cli algebra sketching attn measure npy number text"
    "bench/cli/lab: cli attn json labs measure number"
    "bench/mpi: attn"
    "bench/peers: attn measure simd"
    "wasm/native: attn text"
    "mpi: ieee attn"
    "wasm/labs/src: attn labs"
    "wasm/src: attn json npy number text")

set(prefixes "")
set(folders "")
foreach(room IN LISTS rooms)
  string(REGEX MATCH "^([^:]+): (.*)$" room "${room}")
  set(folder ${CMAKE_MATCH_1})
  string(REPLACE " " ";" may_${folder} "${CMAKE_MATCH_2}")
  list(APPEND folders ${folder})
  list(APPEND prefixes ${may_${folder}})
  get_filename_component(name ${folder} NAME)
  list(APPEND prefixes ${name})
endforeach()

# The sources outside all rooms would be held to nothing.
file(GLOB_RECURSE files RELATIVE ${SOURCE} ${SOURCE}/core/*.[ch] ${SOURCE}/plugins/*.[ch]
     ${SOURCE}/bench/*.[ch] ${SOURCE}/mpi/*.[ch] ${SOURCE}/wasm/*.[ch])
list(FILTER files EXCLUDE REGEX "/(node_modules|dist|build|test)/")
foreach(file IN LISTS files)
  set(in "")
  foreach(folder IN LISTS folders)
    if(file MATCHES "^${folder}/" AND folder STRGREATER "${in}")
      set(in ${folder})
    endif()
  endforeach()
  if(NOT in)
    list(APPEND found "${file}: in no room")
    continue()
  endif()
  file(STRINGS ${SOURCE}/${file} lines REGEX "^ *# *include *<mpi\\.h>")
  if(lines AND NOT file MATCHES "^(mpi|bench/cli/mpi|bench/mpi)/")
    list(APPEND found "${file}: ${lines}: MPI is for mpi/ and those who call it")
  endif()
  file(STRINGS ${SOURCE}/${file} lines REGEX "^ *# *include *[<\"]([a-z_]+|\\.\\.)/")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "[<\"]([a-z_]+|\\.\\.)/[^>\"]*" header "${line}")
    set(prefix ${CMAKE_MATCH_1})
    string(SUBSTRING "${header}" 1 -1 header)
    if(prefix STREQUAL ".." OR (prefix IN_LIST prefixes AND NOT prefix IN_LIST may_${in} AND NOT header IN_LIST may_${in}))
      list(APPEND found "${file}: ${line}")
    endif()
  endforeach()
endforeach()
if(found)
  list(JOIN found "\n" lines)
  message(FATAL_ERROR "includes across rooms (tests/rooms.cmake has who may include whom):\n${lines}")
endif()
