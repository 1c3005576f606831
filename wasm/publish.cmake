# emcc leaves the last pass, over the order of the stack, to a later tool, which it does not run for a module alone.
set(attn_wasm_opt)
if(EMSCRIPTEN)
  execute_process(COMMAND ${EMSCRIPTEN_ROOT_PATH}/em-config BINARYEN_ROOT OUTPUT_VARIABLE binaryen
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(attn_wasm_opt
      ${binaryen}/bin/wasm-opt --optimize-level=2 --shrink-level=2 --optimize-stack-ir --quiet --mvp-features
      --enable-bulk-memory --enable-multivalue --enable-mutable-globals --enable-reference-types
      --enable-relaxed-simd --enable-sign-ext --enable-simd --enable-threads)
endif()

# attn_publish(<target> <module> <name> <package>): the module as dist/libattn.<name>.wasm of the package in that folder, and
# beside it the linker's map, by which notice.mjs tells what else is in it. Renamed into place, so that nobody reads half a file.
function(attn_publish target module name package)
  set(dist ${package}/dist)
  set(published ${dist}/libattn.${name})
  set(map ${CMAKE_CURRENT_BINARY_DIR}/libattn.${name}.map)
  set(write ${CMAKE_COMMAND} -E copy ${module} ${published}.wasm.new)
  if(attn_wasm_opt)
    set(write ${attn_wasm_opt} ${module} -o ${published}.wasm.new)
  endif()
  target_link_options(${target} PRIVATE -Wl,-Map=${map})
  add_custom_command(
    OUTPUT ${published}.wasm ${published}.map
    COMMAND ${CMAKE_COMMAND} -E make_directory ${dist}
    COMMAND ${CMAKE_COMMAND} -E copy ${map} ${published}.map.new
    COMMAND ${CMAKE_COMMAND} -E rename ${published}.map.new ${published}.map
    COMMAND ${write}
    COMMAND ${CMAKE_COMMAND} -E rename ${published}.wasm.new ${published}.wasm
    DEPENDS ${target}
    VERBATIM)
  add_custom_target(${target}_published ALL DEPENDS ${published}.wasm)
endfunction()
