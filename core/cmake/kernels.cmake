# Kernels are written once, against core/simd/, and compiled once per tier. The list of tiers is the
# same as ATTN_TIERS in core/simd/tiers.h: name, width in bits, flags.
# What the compiler makes code for, which flags like -m32 or a toolchain decide, not this machine.
include(CheckSymbolExists)
check_symbol_exists(__x86_64__ "" ATTN_TARGETS_X86_64)
check_symbol_exists(__aarch64__ "" ATTN_TARGETS_AARCH64)
if(ATTN_WASM)
  # Unrolling beyond what the kernels say themselves costs 2 kB of download and gains nothing.
  if(ATTN_WASM_RELAXED)
    set(ATTN_TIER_LIST "wasmrelaxed:128:-msimd128 -mrelaxed-simd -fno-unroll-loops")
  elseif(ATTN_WASM_SIMD)
    set(ATTN_TIER_LIST "wasm128:128:-msimd128 -fno-unroll-loops")
  else()
    set(ATTN_TIER_LIST "scalar:0:-fno-unroll-loops")
  endif()
elseif(ATTN_TARGETS_X86_64)
  set(ATTN_TIER_LIST
      "scalar:0:"
      "sse4:128:-msse4.2"
      "avx2:256:-mavx2 -mfma -mf16c"
      "avx512:512:-mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c -mprefer-vector-width=512")
elseif(ATTN_TARGETS_AARCH64)
  set(ATTN_TIER_LIST "scalar:0:" "neon:128:")
else()
  set(ATTN_TIER_LIST "scalar:0:")
endif()

# attn_add_kernels(<target> <file.c>): add the file to the target, once for each tier.
function(attn_add_kernels target file)
  get_filename_component(source ${file} ABSOLUTE)
  get_filename_component(name ${file} NAME_WE)
  foreach(entry IN LISTS ATTN_TIER_LIST)
    string(REPLACE ":" ";" entry "${entry}")
    list(GET entry 0 tier)
    list(GET entry 1 bits)
    list(GET entry 2 flags)
    separate_arguments(flags)
    get_filename_component(folder ${source} DIRECTORY)
    get_filename_component(folder ${folder} NAME)
    set(object ${target}_${folder}_${name}_${tier})
    add_library(${object} OBJECT ${source})
    target_link_libraries(${object} PRIVATE attn_options attn_headers)
    target_include_directories(${object} PRIVATE ${PROJECT_SOURCE_DIR}/core)
    target_compile_definitions(${object} PRIVATE ATTN_TIER=${tier} ATTN_SIMD_BITS=${bits})
    # -O3: sums in arrays must become registers, also in builds that are otherwise for debugging.
    target_compile_options(${object} PRIVATE ${flags} $<IF:$<BOOL:${ATTN_SMALL}>,-Oz,-O3>)
    attn_hide_symbols(${object})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${object}>)
  endforeach()
endfunction()

# attn_add_plugin(<name> SOURCES <files> [KERNELS <files>]): a plugin built into the library.
function(attn_add_plugin name)
  cmake_parse_arguments(PLUGIN "" "" "SOURCES;KERNELS" ${ARGN})
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
endfunction()

# Only what the public headers mark leaves a shared library; objects must be fit to go into one.
function(attn_hide_symbols target)
  set_target_properties(${target} PROPERTIES C_VISIBILITY_PRESET hidden
                                             POSITION_INDEPENDENT_CODE ON)
endfunction()
