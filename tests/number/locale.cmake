# cmake -DPROGRAM=... -DWORK=... -P locale.cmake
# The program in locales whose decimal point is a comma, and one of two bytes. They are made here, since
# machines that test have seldom any.
cmake_minimum_required(VERSION 3.22)

find_program(localedef localedef)
if(NOT localedef OR NOT EXISTS /usr/share/i18n/locales/de_DE)
  message(STATUS "SKIPPED: no localedef or no definitions of locales (Debian: package locales)")
  return()
endif()
file(MAKE_DIRECTORY ${WORK})
set(ENV{LOCPATH} ${WORK})
foreach(name IN ITEMS de_DE ps_AF)
  set(locale ${name}.UTF-8)
  if(NOT EXISTS ${WORK}/${locale})
    # Status 1: there were warnings.
    execute_process(COMMAND ${localedef} -i ${name} -f UTF-8 ${WORK}/${locale} OUTPUT_QUIET ERROR_QUIET)
  endif()
  execute_process(COMMAND ${PROGRAM} ${locale} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "in ${locale}: ended with ${status}")
  endif()
endforeach()
