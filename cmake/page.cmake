# The dashboard is compiled in: every file of web/page/, dygraphs, which draws its charts, and the diagrams of Tandem's
# state machines, drawn by Graphviz from the tables that the daemon runs.
find_file(DYGRAPHS_JS dygraph.min.js PATHS /usr/share/javascript/dygraphs REQUIRED)
find_file(DYGRAPHS_CSS dygraph.min.css PATHS /usr/share/javascript/dygraphs REQUIRED)
find_program(GZIP gzip REQUIRED)
find_program(DOT dot REQUIRED)
file(GLOB page_files CONFIGURE_DEPENDS web/page/*.html web/page/*.css web/page/*.js web/page/*.svg)
# The documents that the help of its panels links to (web/page/help.js).
set(page_documents)
foreach(name forecast glossary http model/arm_pair model/efsm model/following model/identification
    model/online model/pair model/parameters model/teams model/travel_time model/trust protocol/alarm protocol/entry
    protocol/mission)
  list(APPEND page_documents ${PROJECT_SOURCE_DIR}/docs/${name}.md)
endforeach()
set(page_build ${PROJECT_BINARY_DIR}/web/page)
file(MAKE_DIRECTORY ${page_build})
add_executable(machine_diagrams cmake/machine_diagrams.c)
target_link_libraries(machine_diagrams PRIVATE tandem_twin tandem_flags)
# One document of all of them, an <svg> each: a new machine needs no line here.
add_custom_command(OUTPUT ${page_build}/machines.html DEPENDS machine_diagrams
  COMMAND machine_diagrams ${page_build}/machines.dot
  COMMAND ${DOT} -Tsvg ${page_build}/machines.dot > ${page_build}/machines.html VERBATIM)
# The models for fits of recordings; a new model needs no line here either.
add_executable(model_list cmake/model_list.c)
target_link_libraries(model_list PRIVATE tandem_identification_model tandem_flags)
add_custom_command(OUTPUT ${page_build}/models.js DEPENDS model_list COMMAND model_list ${page_build}/models.js
    VERBATIM)
list(APPEND page_files ${page_documents})
list(APPEND page_files ${DYGRAPHS_JS} ${DYGRAPHS_CSS} ${page_build}/machines.html ${page_build}/models.js)
set(page_gzip)
foreach(file ${page_files})
  get_filename_component(name ${file} NAME)
  add_custom_command(OUTPUT ${page_build}/${name}.gz DEPENDS ${file}
    COMMAND ${GZIP} -9nc ${file} > ${page_build}/${name}.gz VERBATIM)
  list(APPEND page_gzip ${page_build}/${name}.gz)
endforeach()
add_custom_command(OUTPUT ${page_build}/page_files.c
  DEPENDS cmake/page_table.cmake cmake/embed.cmake ${page_files} ${page_gzip}
  COMMAND ${CMAKE_COMMAND} -D TABLE=${page_build}/page_files.c -P ${PROJECT_SOURCE_DIR}/cmake/page_table.cmake
          -- ${page_files} VERBATIM)
target_sources(tandem_web_resource PRIVATE ${page_build}/page_files.c)
