# attn_ieee_flags(<variable> <id>): the flags by which compiler <id> (CMAKE_C_COMPILER_ID) takes back -ffast-math,
# -Ofast and what these consist of, when they stand last. Each is spelled out: -fno-fast-math leaves alone what was
# asked for by itself. Also for scripts: tests/install/fast_math.cmake.
function(attn_ieee_flags variable id)
  set(flags -fno-fast-math -fno-finite-math-only -fno-unsafe-math-optimizations -fno-associative-math
            -fno-reciprocal-math -fsigned-zeros)
  if(id MATCHES "Clang")
    # -fno-unsafe-math-optimizations turns on traps, which cost time and change no result. Newer versions have
    # another name for the warning that flags were taken back.
    list(APPEND flags -fno-approx-func -fhonor-nans -fhonor-infinities -fdenormal-fp-math=ieee -fno-trapping-math
                      -Wno-unknown-warning-option -Wno-overriding-t-option -Wno-overriding-option)
  elseif(id STREQUAL GNU)
    list(APPEND flags -fno-single-precision-constant)
  endif()
  # A product and a sum are fused where the source says so, and nowhere else.
  list(APPEND flags -ffp-contract=off)
  set(${variable} ${flags} PARENT_SCOPE)
endfunction()

# attn_keep_denormals(<target>): a shared library that is linked with -ffast-math or -Ofast makes all denormals of the
# process that loads it zero.
function(attn_keep_denormals target)
  if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang" AND NOT ATTN_WASM)
    target_link_options(${target} PRIVATE -fno-fast-math -fno-unsafe-math-optimizations -O2)
  endif()
endfunction()
