# Build script: writes files as arrays of bytes in C, each with a 0 behind its last byte.
#
#     cmake -D OUT=OUT.c -D HEADER=HEADER -P cmake/embed.cmake -- NAME=FILE...
#
# OUT.c includes HEADER and defines `const unsigned char NAME[]` and `const size_t NAME_bytes`.

# Returns the arguments behind "--".
function(embed_arguments result)
  set(arguments)
  set(begun FALSE)
  foreach(i RANGE ${CMAKE_ARGC})
    if(begun AND DEFINED CMAKE_ARGV${i})
      list(APPEND arguments "${CMAKE_ARGV${i}}")
    elseif("${CMAKE_ARGV${i}}" STREQUAL "--")
      set(begun TRUE)
    endif()
  endforeach()
  set(${result} ${arguments} PARENT_SCOPE)
endfunction()

function(embed_bytes out storage name file)
  file(READ "${file}" bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  file(APPEND "${out}" "\n${storage} unsigned char ${name}[] = {${bytes}0};\n")
endfunction()

if(DEFINED OUT)
  file(WRITE "${OUT}.part" "/* Made by cmake/embed.cmake. */\n#include \"${HEADER}\"\n")
  embed_arguments(pairs)
  foreach(pair IN LISTS pairs)
    string(REGEX MATCH "^([^=]*)=(.*)$" pair "${pair}")
    set(name "${CMAKE_MATCH_1}")
    embed_bytes("${OUT}.part" const ${name} "${CMAKE_MATCH_2}")
    file(APPEND "${OUT}.part" "\nconst size_t ${name}_bytes = sizeof ${name} - 1;\n")
  endforeach()
  file(RENAME "${OUT}.part" "${OUT}")
endif()
