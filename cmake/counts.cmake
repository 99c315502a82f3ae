# The program that counts which code its rooms run most, on the recorded cases of the tests (cmake/flags.cmake).
add_executable(count_cases cmake/count_cases.c)
target_link_libraries(count_cases PRIVATE tandem_service_replay tandem_flags)
# Some cases are wrong on purpose: their errors would look like a fault of the build.
file(GLOB cases CONFIGURE_DEPENDS tests/golden/replay/*/lab.yaml)
foreach(lab ${cases})
  string(REPLACE lab.yaml input.jsonl recording ${lab})
  list(APPEND replays COMMAND count_cases --json -c ${lab} ${recording} > ${TANDEM_COUNTS}.json 2> ${TANDEM_COUNTS}.log)
endforeach()
add_custom_command(OUTPUT counts.made DEPENDS count_cases COMMAND ${CMAKE_COMMAND} -E rm -rf ${TANDEM_COUNTS} ${replays}
  COMMAND ${CMAKE_COMMAND} -E touch counts.made VERBATIM)
add_custom_target(counted DEPENDS counts.made)
