# Kernels are written once, against core/simd/, and compiled once per tier. Also a part of the installed package, which
# says by ATTN_SIMD_FOLDER where the folder simd is.
if(NOT DEFINED ATTN_SIMD_FOLDER)
  set(ATTN_SIMD_FOLDER ${PROJECT_SOURCE_DIR}/core)
endif()

# What the compiler makes code for, which flags like -m32 or a toolchain decide, not this machine.
include(CheckSymbolExists)
check_symbol_exists(__x86_64__ "" ATTN_TARGETS_X86_64)
check_symbol_exists(__aarch64__ "" ATTN_TARGETS_AARCH64)
if(ATTN_WASM AND ATTN_WASM_RELAXED)
  set(groups WASMRELAXED)
elseif(ATTN_WASM AND ATTN_WASM_SIMD)
  set(groups WASM128)
elseif(ATTN_TARGETS_X86_64)
  set(groups SCALAR X86_64)
  set(dot_groups X86_64_DOTS)
  set(bf16_groups X86_64_BF16 X86_64_TILES)
elseif(ATTN_TARGETS_AARCH64)
  set(groups SCALAR AARCH64)
  set(dot_groups AARCH64_DOTS)
  set(bf16_groups AARCH64_BF16)
else()
  set(groups SCALAR)
endif()

# ATTN_TIERS, the names of this build's tiers, ATTN_DOT_TIERS, those and the ones of integer dot products,
# ATTN_BF16_TIERS, the ones of bf16 products alone, ATTN_TILE_TIERS, those of them that have tiles, and for each ATTN_<name>_BITS, _ROWS, _COLUMNS and _FLAGS: out of the
# list in core/simd/tiers.h.
set(table ${ATTN_SIMD_FOLDER}/simd/tiers.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
file(READ ${table} text)
set(entry "X\\(([a-z0-9]+), [A-Z0-9]+, ([0-9]+), ([0-9]+), ([0-9]+), \"([^\"]*)\"")
string(REGEX MATCHALL "define ATTN_TIERS_[A-Z0-9_]+|${entry}" lines "${text}")
set(ATTN_TIERS "")
set(ATTN_DOT_TIERS "")
set(ATTN_BF16_TIERS "")
set(ATTN_TILE_TIERS "")
foreach(line IN LISTS lines)
  if(line MATCHES "^define ATTN_TIERS_(.+)")
    set(group ${CMAKE_MATCH_1})
  elseif(group IN_LIST groups OR group IN_LIST dot_groups OR group IN_LIST bf16_groups)
    string(REGEX MATCH "${entry}" line "${line}")
    set(tier ${CMAKE_MATCH_1})
    if(group IN_LIST groups)
      list(APPEND ATTN_TIERS ${tier})
    endif()
    if(group IN_LIST bf16_groups)
      list(APPEND ATTN_BF16_TIERS ${tier})
      if(group STREQUAL X86_64_TILES)
        list(APPEND ATTN_TILE_TIERS ${tier})
      endif()
    else()
      list(APPEND ATTN_DOT_TIERS ${tier})
    endif()
    set(ATTN_${tier}_BITS ${CMAKE_MATCH_2})
    set(ATTN_${tier}_ROWS ${CMAKE_MATCH_3})
    set(ATTN_${tier}_COLUMNS ${CMAKE_MATCH_4})
    separate_arguments(ATTN_${tier}_FLAGS UNIX_COMMAND "${CMAKE_MATCH_5}")
    if(ATTN_TARGETS_X86_64) # not what a parent's -march=native adds: each tier runs on all machines that have it
      list(PREPEND ATTN_${tier}_FLAGS -march=x86-64)
    endif()
    if(ATTN_WASM) # more costs 2 kB of download and gains nothing
      list(APPEND ATTN_${tier}_FLAGS -fno-unroll-loops)
    endif()
  endif()
endforeach()
if(NOT ATTN_TIERS)
  message(FATAL_ERROR "no tiers for ${groups} in ${table}")
endif()

if(ATTN_EMULATE_AVX512 AND NOT CMAKE_C_COMPILER_ID STREQUAL GNU)
  message(FATAL_ERROR "ATTN_EMULATE_AVX512 needs gcc: SIMDe's types are not those that clang has for AVX-512")
elseif(ATTN_EMULATE_AVX512 AND NOT EXISTS ${ATTN_SIMDE_INCLUDE}/simde/x86/avx512.h)
  message(FATAL_ERROR "ATTN_EMULATE_AVX512 needs SIMDe: -DATTN_SIMDE_INCLUDE=FOLDER, the one with simde/x86/avx512.h")
endif()

# attn_add_kernels(<target> <file.c> [DOTS] [BF16] [TILES] [SMALL]): add the file to the target, once for each tier;
# DOTS: also for those that add integer dot products; BF16: for those of bf16 products alone; TILES: for those that have
# tiles alone; SMALL: in a module small rather than fast.
function(attn_add_kernels target file)
  cmake_parse_arguments(KERNELS "DOTS;BF16;TILES;SMALL" "" "" ${ARGN})
  set(tiers ${ATTN_TIERS})
  if(KERNELS_DOTS)
    set(tiers ${ATTN_DOT_TIERS})
  elseif(KERNELS_BF16)
    set(tiers ${ATTN_BF16_TIERS})
  elseif(KERNELS_TILES)
    set(tiers ${ATTN_TILE_TIERS})
  endif()
  get_filename_component(source ${file} ABSOLUTE)
  get_filename_component(name ${file} NAME_WE)
  foreach(tier IN LISTS tiers)
    get_filename_component(folder ${source} DIRECTORY)
    get_filename_component(folder ${folder} NAME)
    set(object ${target}_${folder}_${name}_${tier})
    add_library(${object} OBJECT ${source})
    if(TARGET attn_options)
      target_link_libraries(${object} PRIVATE attn_options)
    else() # with an installed copy
      target_compile_options(${object} PRIVATE ${ATTN_IEEE_FLAGS})
      target_compile_definitions(${object} PRIVATE ATTN_SMALL=0)
      if(ATTN_SIMDE_INCLUDE)
        target_include_directories(${object} SYSTEM PRIVATE ${ATTN_SIMDE_INCLUDE})
      endif()
    endif()
    target_link_libraries(${object} PRIVATE attn::headers)
    target_include_directories(${object} PRIVATE ${ATTN_SIMD_FOLDER})
    target_compile_definitions(${object} PRIVATE ATTN_TIER=${tier} ATTN_SIMD_BITS=${ATTN_${tier}_BITS}
                                                 ATTN_TILE_ROWS=${ATTN_${tier}_ROWS}
                                                 ATTN_TILE_COLUMNS=${ATTN_${tier}_COLUMNS})
    # -O3: sums in arrays must become registers, also in builds that are otherwise for debugging; but not
    # around the checks of sanitizers, which take minutes to optimise.
    if(ATTN_EMULATE_AVX512 AND ATTN_${tier}_BITS EQUAL 512)
      target_compile_definitions(${object} PRIVATE ATTN_EMULATED_AVX512)
      if(ATTN_${tier}_FLAGS MATCHES vnni)
        target_compile_definitions(${object} PRIVATE ATTN_EMULATED_VNNI)
      endif()
      if(ATTN_${tier}_FLAGS MATCHES avx512bf16)
        target_compile_definitions(${object} PRIVATE ATTN_EMULATED_BF16)
      endif()
      if(ATTN_${tier}_FLAGS MATCHES amx)
        target_compile_definitions(${object} PRIVATE ATTN_EMULATED_AMX)
      endif()
      target_compile_options(${object} PRIVATE ${ATTN_avx2_FLAGS} -Wno-psabi)
    else()
      target_compile_options(${object} PRIVATE ${ATTN_${tier}_FLAGS})
    endif()
    if(ATTN_${tier}_BITS EQUAL 0 AND CMAKE_C_COMPILER_ID STREQUAL GNU)
      # What gcc 12 makes of loops over single floats loads two of a row behind the last that they read.
      target_compile_options(${object} PRIVATE -fno-tree-loop-vectorize)
    endif()
    if(ATTN_SANITIZE AND tier STREQUAL sse4)
      # Compiled to be linked: its tests do not run under sanitizers (CMakePresets.json).
      set_target_properties(${object} PROPERTIES ATTN_UNCHECKED ON)
    elseif(NOT ATTN_SANITIZE)
      # What is emulated is slow at any level, and takes minutes to optimise.
      # In modules what is SMALL is as fast with -Os: its products are elsewhere, or loops that -O3 unrolls for nothing.
      # -O3 is worth its download to the tiles of core/attention alone (a tenth of their time), and to those
      # of sparse, which the linker then takes for the same.
      if(ATTN_SMALL AND ATTN_WASM)
        set(level -Oz)
      elseif(ATTN_EMULATE_AVX512)
        set(level -O1)
      elseif(ATTN_WASM AND KERNELS_SMALL)
        set(level -Os)
      elseif(ATTN_WASM AND NOT folder MATCHES "^(attention|sparse)$")
        set(level -O2)
      else()
        set(level -O3)
      endif()
      target_compile_options(${object} PRIVATE ${level})
    else()
      # Kernels are inlined: what the sanitizer would say of each of a hundred thousand places takes longer to
      # load than most programs take to run. They trap; ASAN_OPTIONS=handle_sigill=1 says where.
      target_compile_options(${object} PRIVATE -fsanitize-undefined-trap-on-error)
      if(CMAKE_C_COMPILER_ID MATCHES Clang) # it optimises around checks for ten times as long as it compiles
        target_compile_options(${object} PRIVATE -O0)
      endif()
    endif()
    if(ATTN_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL GNU)
      # Before 12.4 the frames that it takes from a heap, to find what is used after a return, are not
      # aligned as vectors of 64 bytes need it (gcc.gnu.org/PR110027).
      target_compile_options(${object} PRIVATE --param=asan-use-after-return=0)
    endif()
    # Loops on whole cache lines: else what stands before a kernel in the library moves its speed by up
    # to 8% (decoding, AVX-512).
    if(NOT ATTN_WASM)
      target_compile_options(${object} PRIVATE -falign-functions=64 -falign-loops=64)
    endif()
    attn_hide_symbols(${object})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${object}>)
  endforeach()
  target_include_directories(${target} PRIVATE $<BUILD_INTERFACE:${ATTN_SIMD_FOLDER}>) # simd/tiers.h: its tables
endfunction()

# attn_add_plugin(<name> SOURCES <files> [KERNELS <files>] [SMALL_KERNELS <files>]): a plugin built into the library.
function(attn_add_plugin name)
  cmake_parse_arguments(PLUGIN "" "" "SOURCES;KERNELS;SMALL_KERNELS" ${ARGN})
  set(target attn_plugin_${name})
  add_library(${target} OBJECT ${PLUGIN_SOURCES})
  target_link_libraries(${target} PRIVATE attn_options attn_headers)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/core
                                               ${PROJECT_SOURCE_DIR}/plugins)
  target_compile_definitions(${target} PRIVATE ATTN_PLUGIN_BUILTIN)
  attn_hide_symbols(${target})
  target_sources(attn PRIVATE $<TARGET_OBJECTS:${target}>)
  foreach(file IN LISTS PLUGIN_KERNELS)
    attn_add_kernels(attn ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  endforeach()
  foreach(file IN LISTS PLUGIN_SMALL_KERNELS)
    attn_add_kernels(attn ${CMAKE_CURRENT_SOURCE_DIR}/${file} SMALL)
  endforeach()
endfunction()

# Only what the public headers mark leaves a shared library; objects must be fit to go into one.
function(attn_hide_symbols target)
  set_target_properties(${target} PROPERTIES C_VISIBILITY_PRESET hidden
                                             POSITION_INDEPENDENT_CODE ON)
endfunction()
