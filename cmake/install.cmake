# What projects outside need: find_package(Paceline COMPONENTS ...) for CMake, paceline-codes.pc and so on for
# everybody else. Both are made of what each layer links. Everything in them is relative, so that the installed
# folder can be moved.
include(CMakePackageConfigHelpers)
set(PACELINE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/paceline)
set(PACELINE_PC_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
get_property(layers GLOBAL PROPERTY PACELINE_LAYERS)  # what one layer needs stands before it

# pkg-config: where a library is linked by a name that its own .pc file has, that file is required.
set(pc_of_fmt::fmt fmt)
set(pc_of_ZLIB::ZLIB zlib)
set(package_of_fmt::fmt fmt)
set(package_of_ZLIB::ZLIB ZLIB)
set(package_of_Threads::Threads Threads)
set(package_of_MPI::MPI_CXX MPI)
set(package_of_torch Torch)
file(RELATIVE_PATH PC_PREFIX /prefix/${PACELINE_PC_DIR} /prefix)
string(REGEX REPLACE "/$" "" PC_PREFIX ${PC_PREFIX})

set(PACELINE_COMPONENTS "")
set(PACELINE_COMPONENT_TABLE "")
foreach(layer IN LISTS layers)
  string(REPLACE "paceline_" "" name ${layer})
  list(APPEND PACELINE_COMPONENTS ${name})
  set(needs "")
  set(packages "")
  set(PC_REQUIRES "")
  set(PC_LIBS "-L\${libdir} -l${layer}")
  get_target_property(linked ${layer} LINK_LIBRARIES)
  foreach(library IN LISTS linked)
    if(library MATCHES "^paceline::(.*)")
      list(APPEND needs ${needs_of_${CMAKE_MATCH_1}} ${CMAKE_MATCH_1})
      list(APPEND PC_REQUIRES paceline-${CMAKE_MATCH_1})
    elseif(BUILD_SHARED_LIBS OR library MATCHES "^\\$<BUILD_INTERFACE")
      continue()  # a shared library brings what it needs itself
    else()
      list(APPEND packages ${package_of_${library}})
      if(DEFINED pc_of_${library})
        list(APPEND PC_REQUIRES ${pc_of_${library}})
      elseif(library STREQUAL Threads::Threads)
        string(APPEND PC_LIBS " -pthread")
      elseif(library STREQUAL MPI::MPI_CXX)
        list(JOIN MPI_CXX_LIBRARIES " " libraries)
        string(APPEND PC_LIBS " ${libraries}")
      elseif(library MATCHES "/lib([^/]*)\\.(so|a)$")
        string(APPEND PC_LIBS " -l${CMAKE_MATCH_1}")
      elseif(NOT library MATCHES "::")
        string(APPEND PC_LIBS " -l${library}")
      endif()
    endif()
  endforeach()
  foreach(needed IN LISTS needs)
    list(APPEND packages ${packages_of_${needed}})
  endforeach()
  list(REMOVE_DUPLICATES needs)
  list(REMOVE_DUPLICATES packages)
  set(needs_of_${name} ${needs})
  set(packages_of_${name} ${packages})
  string(APPEND PACELINE_COMPONENT_TABLE
         "set(_paceline_needs_${name} \"${needs}\")\nset(_paceline_packages_${name} \"${packages}\")\n")

  install(TARGETS ${layer} EXPORT paceline-${name}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libraries NAMELINK_COMPONENT development
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  install(EXPORT paceline-${name} NAMESPACE paceline:: FILE paceline-${name}-targets.cmake
          DESTINATION ${PACELINE_CMAKE_DIR} COMPONENT development)
  if(NOT name STREQUAL train_torch)  # LibTorch has no .pc file
    list(JOIN PC_REQUIRES ", " PC_REQUIRES)
    configure_file(cmake/paceline.pc.in ${CMAKE_CURRENT_BINARY_DIR}/pkgconfig/paceline-${name}.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pkgconfig/paceline-${name}.pc
            DESTINATION ${PACELINE_PC_DIR} COMPONENT development)
  endif()
endforeach()

configure_package_config_file(cmake/paceline-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/paceline-config.cmake
                              INSTALL_DESTINATION ${PACELINE_CMAKE_DIR})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/paceline-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/paceline-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/paceline-config-version.cmake
        DESTINATION ${PACELINE_CMAKE_DIR} COMPONENT development)
install(DIRECTORY include/paceline DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
