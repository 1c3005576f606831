# attn_publish(<target> <module> <name> <package>): the module as dist/libattn.<name>.wasm of the package in that folder, and
# beside it the linker's map, by which notice.mjs tells what else is in it. Renamed into place, so that nobody reads half a file.
function(attn_publish target module name package)
  set(dist ${package}/dist)
  set(published ${dist}/libattn.${name})
  set(map ${CMAKE_CURRENT_BINARY_DIR}/libattn.${name}.map)
  target_link_options(${target} PRIVATE -Wl,-Map=${map})
  add_custom_command(
    OUTPUT ${published}.wasm ${published}.map
    COMMAND ${CMAKE_COMMAND} -E make_directory ${dist}
    COMMAND ${CMAKE_COMMAND} -E copy ${map} ${published}.map.new
    COMMAND ${CMAKE_COMMAND} -E rename ${published}.map.new ${published}.map
    COMMAND ${CMAKE_COMMAND} -E copy ${module} ${published}.wasm.new
    COMMAND ${CMAKE_COMMAND} -E rename ${published}.wasm.new ${published}.wasm
    DEPENDS ${target}
    VERBATIM)
  add_custom_target(${target}_published ALL DEPENDS ${published}.wasm)
endfunction()
