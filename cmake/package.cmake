# Installed files and their places, and the Debian package: cmake --build build/release --target deb
include(GNUInstallDirs)
set(share ${CMAKE_INSTALL_DATADIR}/tandem)
set(doc ${CMAKE_INSTALL_DATADIR}/doc/tandem)

install(TARGETS tandem)
install(FILES config/lab.schema.json packaging/grafana-dashboard.json packaging/alerts.yaml
  packaging/node-red-flow.json DESTINATION ${share})
install(DIRECTORY docs/protocol/ DESTINATION ${share}/protocol FILES_MATCHING PATTERN "*.json")
install(FILES README.md CHANGELOG.md DESTINATION ${doc})
# dygraphs is inside the program: its licence must be shipped.
install(FILES /usr/share/doc/libjs-dygraphs/copyright DESTINATION ${doc} RENAME copyright.dygraphs OPTIONAL)
install(DIRECTORY docs DESTINATION ${doc} PATTERN "docs/protocol/*.json" EXCLUDE PATTERN "docs/examples" EXCLUDE)
install(DIRECTORY config/machines config/mappings config/missions config/experiments examples/data
  DESTINATION ${doc}/examples)
install(DIRECTORY examples/robot DESTINATION ${doc}/examples USE_SOURCE_PERMISSIONS PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY config/examples/ DESTINATION ${doc}/examples)
install(FILES config/mosquitto.conf config/mosquitto_lab.conf DESTINATION ${doc}/examples)
install(DIRECTORY docs/examples/ DESTINATION ${doc}/examples USE_SOURCE_PERMISSIONS)

# Completions for shells are made from the tables of the program.
set(completion ${PROJECT_BINARY_DIR}/completion)
add_custom_command(OUTPUT ${completion}/tandem ${completion}/_tandem ${completion}/tandem.fish DEPENDS tandem
  COMMAND ${CMAKE_COMMAND} -E make_directory ${completion}
  COMMAND tandem completion bash > ${completion}/tandem
  COMMAND tandem completion zsh > ${completion}/_tandem
  COMMAND tandem completion fish > ${completion}/tandem.fish VERBATIM)
add_custom_target(completion ALL
  DEPENDS ${completion}/tandem ${completion}/_tandem ${completion}/tandem.fish)
install(FILES ${completion}/tandem DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${completion}/_tandem DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${completion}/tandem.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# The manual pages are made of the program's own help.
set(manual ${PROJECT_BINARY_DIR}/manual)
add_custom_command(OUTPUT ${manual}.made DEPENDS tandem packaging/manual.sh
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${manual}
  COMMAND sh ${PROJECT_SOURCE_DIR}/packaging/manual.sh $<TARGET_FILE:tandem> ${manual}
  COMMAND gzip -9nr ${manual}
  COMMAND ${CMAKE_COMMAND} -E touch ${manual}.made VERBATIM)
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/changelog.gz DEPENDS packaging/debian/changelog
  COMMAND gzip -9nc ${PROJECT_SOURCE_DIR}/packaging/debian/changelog > ${PROJECT_BINARY_DIR}/changelog.gz VERBATIM)
add_custom_target(manual ALL DEPENDS ${manual}.made ${PROJECT_BINARY_DIR}/changelog.gz)

# The rest only makes sense under /usr, with the package's scripts.
set(only COMPONENT package EXCLUDE_FROM_ALL)
install(DIRECTORY ${manual}/ DESTINATION ${CMAKE_INSTALL_MANDIR} ${only})
# Debian's zsh looks for site-functions only below /usr/local.
install(FILES ${completion}/_tandem DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions ${only})
install(FILES ${PROJECT_BINARY_DIR}/changelog.gz DESTINATION ${doc} ${only})
install(FILES LICENSE DESTINATION ${doc} RENAME copyright ${only})
install(FILES packaging/tandem.service DESTINATION /lib/systemd/system ${only})
install(FILES packaging/lab.yaml DESTINATION /etc/tandem ${only})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tandem)
set(TANDEM_MAINTAINER "The Tandem authors <root@localhost>" CACHE STRING "Whom the package names as its maintainer")
set(CPACK_PACKAGE_CONTACT ${TANDEM_MAINTAINER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "keeps a robot and its digital twin in step")
set(CPACK_PACKAGE_DESCRIPTION "Listens over MQTT to a real robot and its simulated twin, says for every
command which of the two was late, by how much and why, calibrates both with
error bars, and hands the real robot's parameters to the simulator. Recordings
run through the same code offline. HTTP, Prometheus metrics, command line.")
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};tandem;ALL;/" "${PROJECT_BINARY_DIR};tandem;package;/")
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS adduser)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS mosquitto)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "gnuplot-nox, graphviz, prometheus")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(scripts ${PROJECT_SOURCE_DIR}/packaging/debian)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${scripts}/conffiles ${scripts}/postinst ${scripts}/prerm ${scripts}/postrm)
include(CPack)
# All files of a package, without the tests.
add_custom_target(deb DEPENDS tandem manual completion WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
  COMMAND ${CMAKE_CPACK_COMMAND} --config ${PROJECT_BINARY_DIR}/CPackConfig.cmake VERBATIM)
