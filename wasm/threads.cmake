# The build with threads: its memory is shared and comes from js/, which starts the workers.
#
# Emscripten has no standalone modules of shared memory, so it writes JavaScript too, which nobody
# reads. With exports that are not declared in it, names stay as they are.
target_sources(attn_js PRIVATE src/threads.c)
set_target_properties(attn_js PROPERTIES SUFFIX .js)
set(module ${CMAKE_CURRENT_BINARY_DIR}/libattn.threads.wasm)
target_link_options(
  attn_js
  PRIVATE
  -Oz
  -sWASM_BIGINT
  -sSHARED_MEMORY
  -sIMPORTED_MEMORY
  -sDECLARE_ASM_MODULE_EXPORTS=0)
