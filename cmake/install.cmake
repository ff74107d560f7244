# find_package(paceline) for projects that use the library.
include(CMakePackageConfigHelpers)
get_property(layers GLOBAL PROPERTY PACELINE_LAYERS)
install(TARGETS ${layers} EXPORT paceline ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/paceline DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT paceline NAMESPACE paceline:: FILE paceline-targets.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/paceline)
configure_package_config_file(cmake/paceline-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/paceline-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/paceline)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/paceline-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/paceline-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/paceline-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/paceline)
