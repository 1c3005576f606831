# Under a parent project's -ffast-math, -Ofast and their parts: libattn's own flags take each of them back, with gcc
# and clang, stand behind them in every command that compiles a file of ours, and a library built so is right.
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
include(${ROOT}/core/cmake/ieee.cmake)

set(files ${CMAKE_CURRENT_LIST_DIR}/fast_math)
set(fast -ffast-math -Ofast -ffinite-math-only -funsafe-math-optimizations -freciprocal-math -fno-signed-zeros
         "-fassociative-math -fno-signed-zeros -fno-trapping-math" "-Ofast -ffinite-math-only -funsafe-math-optimizations")
cmake_host_system_information(RESULT processor QUERY OS_PLATFORM)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

# compile(<result> <compiler> <flags>): whether the probe compiles.
function(compile result compiler flags)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  execute_process(COMMAND ${compiler} -std=c11 -Wall -Wextra -Werror -I${ROOT}/core ${flags} ${files}/probe.c -lm
                          -o ${WORK}/probe
                  RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  set(${result} ${status} PARENT_SCOPE)
  set(output "${text}" PARENT_SCOPE)
endfunction()

# A probe for each flag, and what sources say that are compiled without our flags: gcc refuses each flag that it has a
# macro for, clang's pragma takes all of them back.
foreach(pair IN ITEMS GNU=gcc Clang=clang)
  string(REPLACE "=" ";" pair ${pair})
  list(GET pair 0 id)
  list(GET pair 1 name)
  find_program(${id}_COMPILER ${name})
  if(NOT ${id}_COMPILER)
    message(STATUS "no ${name}: its flags are not tested")
    continue()
  endif()
  execute_process(COMMAND ${${id}_COMPILER} --version OUTPUT_VARIABLE version)
  if(id STREQUAL GNU AND version MATCHES "clang") # as macOS has it
    continue()
  endif()
  attn_ieee_flags(ieee ${id})
  set(all ${fast})
  if(id STREQUAL GNU AND processor MATCHES "^(x86_64|AMD64)$")
    list(APPEND ieee -msse2 -mfpmath=sse) # as core/cmake/compile.cmake has it
    list(APPEND all "-mfpmath=387 -Ofast -ffast-math")
  endif()
  list(JOIN ieee " " ieee)
  foreach(flags IN LISTS all)
    foreach(level IN ITEMS "" -O3)
      compile(status ${${id}_COMPILER} "-O2 ${flags} ${level} ${ieee}")
      if(NOT status EQUAL 0)
        message(FATAL_ERROR "${name} ${flags} ${level} ${ieee}\n${output}")
      endif()
      run(${WORK}/probe)
    endforeach()
    compile(status ${${id}_COMPILER} "${flags} -O2 -ffp-contract=off")
    if(status EQUAL 0)
      if(id STREQUAL GNU AND NOT flags MATCHES "Ofast$") # -O2 behind it takes it back
        message(FATAL_ERROR "${name} ${flags} alone is not refused")
      endif()
      run(${WORK}/probe)
    elseif(NOT output MATCHES "libattn needs NaN")
      message(FATAL_ERROR "${name} ${flags} alone:\n${output}")
    endif()
  endforeach()
endforeach()

# Everything, configured and not built: the flags are in each command, behind the parent's.
file(CONFIGURE OUTPUT ${WORK}/parent/CMakeLists.txt CONTENT
"cmake_minimum_required(VERSION 3.22)
project(parent LANGUAGES C)
add_compile_options(-ffast-math -ffinite-math-only)
add_subdirectory(@ROOT@ attn)
add_executable(attend @files@/attend.c)
target_compile_definitions(attend PRIVATE EXPECT_DENORMALS=$<BOOL:${BUILD_SHARED_LIBS}>)
target_link_libraries(attend PRIVATE attn::attn attn::oracle)
if(BUILD_SHARED_LIBS) # whether denormals are zero is then up to the library
  target_link_options(attend PRIVATE -fno-fast-math -fno-unsafe-math-optimizations -O2)
endif()
" @ONLY)
if(C_COMPILER_ID STREQUAL GNU AND processor MATCHES "^(x86_64|AMD64)$")
  set(old_fpu "\ -mfpmath=387")
endif()
set(options -G ${GENERATOR} -DCMAKE_C_COMPILER=${C_COMPILER} -DATTN_SIMDE_INCLUDE=${SIMDE}
    -DCMAKE_C_FLAGS=-Ofast\ -funsafe-math-optimizations${old_fpu} -DATTN_WERROR=ON)
run(${CMAKE_COMMAND} -S ${WORK}/parent -B ${WORK}/all ${options} -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
    -DATTN_BUILD_TOOLS=ON)
attn_ieee_flags(ieee ${C_COMPILER_ID})
list(JOIN ieee " " ieee)
file(READ ${WORK}/all/compile_commands.json commands)
string(REGEX MATCHALL "\"command\": \"[^\n]*" commands "${commands}")
list(LENGTH commands count)
if(count LESS 50)
  message(FATAL_ERROR "${count} commands in ${WORK}/all/compile_commands.json")
endif()
foreach(command IN LISTS commands)
  if(command MATCHES "attend\\.c")
    continue()
  endif()
  string(FIND "${command}" "${ieee}" ours REVERSE)
  string(REGEX MATCH ".*(-ffast-math|-Ofast|-ffinite-math-only|-funsafe-math-optimizations)" before "${command}")
  string(LENGTH "${before}" theirs)
  if(ours LESS theirs)
    message(FATAL_ERROR "libattn's flags do not stand last:\n${command}")
  endif()
endforeach()

# A shared library of softmax, on each tier that there is: the small build, which has the same tiles and exponentials and
# is built in a fifth of the time.
run(${CMAKE_COMMAND} -S ${WORK}/parent -B ${WORK}/build ${options} -DATTN_PLUGINS=softmax -DATTN_SMALL=ON
    -DBUILD_SHARED_LIBS=ON)
run(${CMAKE_COMMAND} --build ${WORK}/build --target attend)
string(REPLACE , ";" TIERS ${TIERS})
foreach(tier IN LISTS TIERS)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env ATTN_CPU=${tier} ${WORK}/build/attend
                  RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT status MATCHES "^(0|77)$")
    message(FATAL_ERROR "tier ${tier} ended with ${status}: ${text}")
  endif()
endforeach()
