# Build script: writes the files of the dashboard as a C table, which web/resource/page.h declares.
#
#     cmake -D TABLE=OUT.c -P cmake/page_table.cmake -- FILE...
#
# Each FILE is in the table under the last part of its path. Its compressed form is the file of that name with .gz in
# the folder of OUT.c.
include(${CMAKE_CURRENT_LIST_DIR}/embed.cmake)
set(type_html "text/html; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")
set(type_svg "image/svg+xml")
set(type_md "text/plain; charset=utf-8")
set(NAME_BYTES_MAX 31) # as in web/http/routes.h

get_filename_component(folder "${TABLE}" DIRECTORY)
file(WRITE "${TABLE}.part" "/* Made by cmake/page_table.cmake. */\n#include \"web/resource/page.h\"\n")
set(rows "")
set(count 0)
embed_arguments(files)
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME)
  string(REGEX MATCH "[a-z]*$" ending "${name}")
  string(LENGTH "${name}" length)
  if(NOT DEFINED type_${ending} OR length GREATER NAME_BYTES_MAX)
    message(FATAL_ERROR "${file}: a name of at most ${NAME_BYTES_MAX} characters that ends in .html, .css, .js, .svg "
      "or .md would be right")
  endif()
  set(row "\"${name}\", \"${type_${ending}}\", bytes_${count}, gzip_${count}")
  foreach(kind bytes gzip)
    set(path "${file}")
    if(kind STREQUAL gzip)
      set(path "${folder}/${name}.gz")
    endif()
    embed_bytes("${TABLE}.part" "static const" ${kind}_${count} "${path}")
    file(SHA256 "${path}" hash)
    string(SUBSTRING ${hash} 0 16 hash)
    string(APPEND sizes_${count} ", sizeof ${kind}_${count} - 1")
    string(APPEND etags_${count} ", \"\\\"${hash}\\\"\"")
  endforeach()
  string(APPEND rows "    {${row}${sizes_${count}}${etags_${count}}},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(APPEND "${TABLE}.part" "\nconst struct page_file page_files[] = {\n${rows}};\n\n"
  "const size_t page_file_count = ${count};\n")
file(RENAME "${TABLE}.part" "${TABLE}")
