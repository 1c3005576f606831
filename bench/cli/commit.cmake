# Writes OUTPUT, a header with ATTN_COMMIT, the commit of the sources in SOURCES: at each build, as it is another one then.
cmake_minimum_required(VERSION 3.22)
set(ATTN_COMMIT unknown)
find_program(GIT git)
if(GIT AND EXISTS ${SOURCES}/.git)
  execute_process(
    COMMAND ${GIT} describe --always --dirty
    WORKING_DIRECTORY ${SOURCES}
    OUTPUT_VARIABLE DESCRIBED
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(DESCRIBED)
    set(ATTN_COMMIT ${DESCRIBED})
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define ATTN_COMMIT \"@ATTN_COMMIT@\"\n" @ONLY) # where it differs
