# How every C file of the project is compiled: the interface target attn_options. Its flags stand behind those of
# CMAKE_C_FLAGS and of a project that libattn is a part of.
include(${CMAKE_CURRENT_LIST_DIR}/ieee.cmake)
attn_ieee_flags(ATTN_IEEE_FLAGS ${CMAKE_C_COMPILER_ID})
# The first FPU of this family rounds to 64 bits where a float or a double is meant, and then again.
include(CheckSymbolExists)
check_symbol_exists(__i386__ "" ATTN_TARGETS_I386)
if(ATTN_TARGETS_I386 OR CMAKE_C_FLAGS MATCHES "-mfpmath")
  list(APPEND ATTN_IEEE_FLAGS -msse2 -mfpmath=sse)
endif()
add_library(attn_options INTERFACE)
target_compile_options(
  attn_options
  INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
            ${ATTN_IEEE_FLAGS} $<$<BOOL:${ATTN_WERROR}>:-Werror>)
target_compile_definitions(attn_options INTERFACE ATTN_SMALL=$<BOOL:${ATTN_SMALL}>
                                                  ATTN_EMULATE_AVX512=$<BOOL:${ATTN_EMULATE_AVX512}>)
# Names of sources, in assertions and in what is built for debugging, begin at the top of the sources: nothing that is
# built tells where. Only what coverage and clang's sanitizers say has the whole names. Also for targets without
# attn_options.
include(CheckCCompilerFlag)
check_c_compiler_flag(-fmacro-prefix-map=a=b ATTN_HAS_PREFIX_MAPS)
if(ATTN_HAS_PREFIX_MAPS)
  set(tops ${PROJECT_BINARY_DIR}=build ${PROJECT_SOURCE_DIR}/=)
  if(ATTN_SIMDE_INCLUDE)
    list(APPEND tops ${ATTN_SIMDE_INCLUDE}/=)
  endif()
  foreach(top IN LISTS tops)
    add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-fdebug-prefix-map=${top};-fmacro-prefix-map=${top}>")
  endforeach()
endif()
if(ATTN_SANITIZE)
  set(checked $<NOT:$<BOOL:$<TARGET_PROPERTY:ATTN_UNCHECKED>>>)
  target_compile_options(attn_options INTERFACE $<${checked}:-fsanitize=address,undefined>
                                                $<${checked}:-fno-sanitize-recover=undefined>)
  target_link_options(attn_options INTERFACE -fsanitize=address,undefined)
  # Programs start thousands of times: relocations of what sanitizers say of each place took half of that, and
  # looking for leaks reads what each sanitizer's library has of memory.
  set(program $<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>)
  target_link_options(attn_options INTERFACE $<${program}:-no-pie>)
  include(CheckCSourceCompiles)
  set(CMAKE_REQUIRED_LINK_OPTIONS -fsanitize=address,undefined -static-libubsan)
  check_c_source_compiles("int main(void) { return 0; }" ATTN_HAS_STATIC_UBSAN)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
  if(ATTN_HAS_STATIC_UBSAN)
    target_link_options(attn_options INTERFACE $<${program}:-static-libubsan>)
  endif()
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^wasm" OR EMSCRIPTEN)
  set(ATTN_WASM ON)
  # A module is downloaded: small where it need not be fast. Kernels bring their own -O3.
  string(REPLACE "-O3" "-Oz" CMAKE_C_FLAGS_RELEASE "${CMAKE_C_FLAGS_RELEASE}")
  if(ATTN_WASM_SIMD)
    # Every engine with SIMD128 has bulk memory; also -mnontrapping-fptoint, but the threads build made
    # with that computes wrong numbers in Node 20.
    target_compile_options(attn_options INTERFACE -msimd128 -mbulk-memory -DSIMDE_FLOAT16_API=1)
  endif()
  if(EMSCRIPTEN)
    target_compile_options(attn_options INTERFACE -flto)
  endif()
  if(ATTN_WASM_RELAXED)
    target_compile_options(attn_options INTERFACE -mrelaxed-simd)
  endif()
  if(ATTN_WASM_THREADS)
    target_compile_options(attn_options INTERFACE -matomics)
  endif()
endif()
if(ATTN_SIMDE_INCLUDE)
  target_include_directories(attn_options SYSTEM INTERFACE ${ATTN_SIMDE_INCLUDE})
endif()
