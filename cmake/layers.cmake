# Most of the time to compile a file here goes into the headers of libraries: several files in one translation unit take
# half of it. CMAKE_UNITY_BUILD=OFF keeps them apart, for quick rebuilds and for clang-tidy.
function(paceline_unity target files)
  if(NOT DEFINED CMAKE_UNITY_BUILD)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
  endif()
endfunction()

# GCC collects its garbage at each doubling from 128 MiB on; from 600 MiB on, builds take about a tenth less time.
add_compile_options($<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=600000>)

# One layer, one folder, one target: paceline_layer(core SOURCES ... DEPENDS ...) makes paceline_core, alias
# paceline::core. PRIVATE names what is linked, HEADERS what is only compiled in, so that who embeds an installed layer
# needs the former alone. Warnings sit on a private interface target, so that nothing leaks into a project that embeds us.

add_library(paceline_warnings INTERFACE)
target_compile_options(paceline_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)

function(paceline_layer name)
  cmake_parse_arguments(LAYER "" "" "SOURCES;DEPENDS;PRIVATE;HEADERS" ${ARGN})
  set(target paceline_${name})
  add_library(${target} ${LAYER_SOURCES})  # static, or shared with BUILD_SHARED_LIBS=ON
  add_library(paceline::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    INSTALL_RPATH "\$ORIGIN")
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PUBLIC ${LAYER_DEPENDS}
                        PRIVATE $<BUILD_INTERFACE:paceline_warnings> ${LAYER_PRIVATE})
  foreach(header_only IN LISTS LAYER_HEADERS)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${header_only}>)
  endforeach()
  if(BUILD_SHARED_LIBS)
    # Together in one folder, as when installed: there one finds the next, and the plugin. Outside our own namespace
    # nothing is exported, neither the templates of other libraries nor helpers.
    set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} BUILD_RPATH "\$ORIGIN" DEFINE_SYMBOL "")
    target_link_options(${target} PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exported.map)
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exported.map)
  endif()
  paceline_unity(${target} 16)
  set_property(GLOBAL APPEND PROPERTY PACELINE_LAYERS ${target})
endfunction()

# paceline_test(codes SOURCES ... DEPENDS ...): one test program per layer, a CTest test per TEST.
function(paceline_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;DEPENDS;LABELS" ${ARGN})
  set(target paceline_${name}_test)
  add_executable(${target} ${TEST_SOURCES})
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_options(${target} PRIVATE -Og)  # tests are read by the compiler more often than they run
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${target} PRIVATE PACELINE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE ${TEST_DEPENDS} GTest::gtest GTest::gtest_main paceline_warnings)
  # GoogleTest's header is read once for all tests: 1.5 s less per file.
  get_property(precompiled GLOBAL PROPERTY PACELINE_TEST_HEADERS)
  if(precompiled)
    target_precompile_headers(${target} REUSE_FROM ${precompiled})
  else()
    target_precompile_headers(${target} PRIVATE <gtest/gtest.h> <string> <vector>)
    set_property(GLOBAL PROPERTY PACELINE_TEST_HEADERS ${target})
  endif()
  # Parameterised tests are known by the names that they give themselves.
  gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 NO_PRETTY_VALUES
                       PROPERTIES TIMEOUT 300 LABELS "${name};${TEST_LABELS}")
endfunction()
