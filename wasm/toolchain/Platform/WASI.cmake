# CMake 3.25 does not know this system (newer ones do): static libraries and .wasm programs only.
set(WASI 1)
set(CMAKE_EXECUTABLE_SUFFIX .wasm)
