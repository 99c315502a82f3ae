# Warnings, sanitizers and hardening for every target, and the function that makes a library of a room.
add_library(tandem_flags INTERFACE)
target_compile_options(tandem_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wfloat-equal -Wformat=2 -Wundef
  -Wvla -Wcast-qual -Wwrite-strings -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
  -Wnull-dereference -Wswitch-enum -Wimplicit-fallthrough -Werror=implicit-function-declaration
  -ffp-contract=off -fno-common)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  target_compile_options(tandem_flags INTERFACE -Wlogical-op -Wduplicated-cond -Wduplicated-branches
    -Wjump-misses-init -Wcast-align=strict -Wdouble-promotion)
endif()
if(TANDEM_WERROR)
  target_compile_options(tandem_flags INTERFACE -Werror)
endif()
if(TANDEM_SANITIZE)
  target_compile_options(tandem_flags INTERFACE -fsanitize=${TANDEM_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(tandem_flags INTERFACE -fsanitize=${TANDEM_SANITIZE})
else()
  target_compile_options(tandem_flags INTERFACE $<$<CONFIG:RelWithDebInfo>:-D_FORTIFY_SOURCE=2>
    -fstack-protector-strong)
  target_link_options(tandem_flags INTERFACE -Wl,-z,relro,-z,now)
endif()
if(CMAKE_SIZEOF_VOID_P EQUAL 4) # files above 2 GB, and times after 2038
  target_compile_definitions(tandem_flags INTERFACE _FILE_OFFSET_BITS=64 _TIME_BITS=64)
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# A build for use (gcc) is optimized across the files that each message goes through. Optimizing across all files is no
# faster, and linking takes a minute more. Their objects also hold their code ("fat"), so that the hundreds of test
# programs link as usual. The compiler also uses counts of a run: another program, built below this one (TANDEM_COUNTS,
# cmake/counts.cmake), counts while it replays the recorded cases of the tests; code that these never run is optimized
# as usual. The results are the same, to the bit.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" AND NOT TANDEM_SANITIZE)
  option(TANDEM_LTO "The program is optimized across its files and by what they do most" ON)
endif()
set(TANDEM_COUNTS "" CACHE PATH "The build that counts what a run does most: the folder for its counts")
set(TANDEM_LTO_ROOMS base/text base/errors base/numbers logger/message logger/codec logger/storage twin/efsm twin/pair
  twin service/replay)
set(TANDEM_COUNTED_ROOMS ${TANDEM_LTO_ROOMS} identification/fit identification/numeric identification/travel
  twin/report)
if(TANDEM_COUNTS)
  set(TANDEM_LTO OFF)
  add_compile_options(-O0) # the other rooms count nothing
  add_link_options(-fprofile-generate)
  set(TANDEM_COUNT_FLAGS -O3 -fprofile-generate=${TANDEM_COUNTS} -fprofile-prefix-path=${PROJECT_BINARY_DIR})
elseif(TANDEM_LTO)
  set(counting ${PROJECT_BINARY_DIR}/counting)
  set(TANDEM_COUNT_FLAGS -fprofile-use=${counting}/counts -fprofile-prefix-path=${PROJECT_BINARY_DIR}
    -fprofile-partial-training -Wno-missing-profile -Wno-error=coverage-mismatch)
  add_custom_command(OUTPUT ${counting}/build.ninja
    COMMAND ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR} -B ${counting} -G Ninja -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER}
            -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE} -DCMAKE_C_FLAGS=${CMAKE_C_FLAGS}
            -DCMAKE_C_FLAGS_RELWITHDEBINFO=${CMAKE_C_FLAGS_RELWITHDEBINFO}
            -DTANDEM_COUNTS=${counting}/counts > ${counting}.log VERBATIM)
  # Its progress is shown while it is built (USES_TERMINAL), not all at the end.
  add_custom_target(counts COMMAND ${CMAKE_COMMAND} --build ${counting} --target counted
    DEPENDS ${counting}/build.ninja USES_TERMINAL VERBATIM)
  # Only the program is optimized while it is linked. For the tools of the build gcc would warn that this takes long.
  add_link_options($<$<NOT:$<STREQUAL:$<TARGET_PROPERTY:NAME>,tandem>>:-fno-lto>)
endif()

# tandem_room(DIR [LINK lib...] [EXCLUDE stem...] [POSIX])
# The library tandem_<dir> of a folder's sources. Folder names in LINK are rooms; EXCLUDE takes file-name stems.
function(tandem_room dir)
  cmake_parse_arguments(R "POSIX" "" "LINK;EXCLUDE" ${ARGN})
  string(REPLACE / _ name tandem_${dir})
  file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.c)
  foreach(stem ${R_EXCLUDE})
    list(FILTER sources EXCLUDE REGEX "/${stem}.c$")
  endforeach()
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  if(R_POSIX)
    target_compile_definitions(${name} PRIVATE _GNU_SOURCE)
  endif()
  foreach(lib ${R_LINK})
    if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${lib})
      string(REPLACE / _ lib tandem_${lib})
    endif()
    target_link_libraries(${name} PUBLIC ${lib})
  endforeach()
  target_link_libraries(${name} PRIVATE tandem_flags)
  if(TANDEM_LTO AND dir IN_LIST TANDEM_LTO_ROOMS)
    target_compile_options(${name} PRIVATE -flto -ffat-lto-objects)
  endif()
  if(TANDEM_COUNT_FLAGS AND dir IN_LIST TANDEM_COUNTED_ROOMS)
    target_compile_options(${name} PRIVATE ${TANDEM_COUNT_FLAGS})
    if(TANDEM_LTO)
      add_dependencies(${name} counts)
    endif()
  endif()
endfunction()
