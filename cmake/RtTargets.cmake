# rt_library(NAME SOURCES... LINK ...)   a static library of one folder; headers are reached as <rt/FOLDER/x.h>
# rt_test(NAME SOURCES... LINK ...)      a GoogleTest executable in test-bin; ctest runs each TEST as one case
# rt_capnp(TARGET SCHEMA...)             compiles Cap'n Proto schemas into TARGET; headers as <rt/runtime/wire/x.capnp.h>
#
# <rt/...> is a folder of links into the source tree, so that a header is included by one name in the build tree,
# in an installed package and in this project's own sources.
set(RT_INCLUDE ${PROJECT_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${RT_INCLUDE}/rt)
foreach(folder runtime actors tune rl rtctl tests)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${RT_INCLUDE}/rt/${folder} SYMBOLIC)
endforeach()
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/actors/rt.h ${RT_INCLUDE}/rt/rt.h SYMBOLIC)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/actors/testing.h ${RT_INCLUDE}/rt/testing.h SYMBOLIC)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/actors/train/train.h ${RT_INCLUDE}/rt/train.h SYMBOLIC)
set(RT_WIRE_INCLUDE ${PROJECT_BINARY_DIR}/wire)

function(rt_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_library(${name} STATIC ${arg_SOURCES})
  string(REPLACE "rt_" "rt::" alias ${name})
  add_library(${alias} ALIAS ${name})
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${RT_INCLUDE}> $<INSTALL_INTERFACE:include>)
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_link_libraries(${name} PUBLIC ${arg_LINK})
  set_property(GLOBAL APPEND PROPERTY RT_LIBRARIES ${name})  # RtInstall installs them
endfunction()

function(rt_test name)
  if(NOT RT_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT;LABEL" "SOURCES;LINK")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test-bin)
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE RT_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data" RT_BUILD_DIR="${PROJECT_BINARY_DIR}")
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABEL}")
endfunction()

function(rt_capnp target)
  foreach(schema ${ARGN})
    set(header ${RT_WIRE_INCLUDE}/rt/runtime/wire/${schema}.h)
    set(source ${RT_WIRE_INCLUDE}/rt/runtime/wire/${schema}.c++)
    add_custom_command(OUTPUT ${header} ${source}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${RT_WIRE_INCLUDE}/rt/runtime/wire
      COMMAND ${CAPNP_EXECUTABLE} compile -I${CAPNP_INCLUDE_DIRECTORY} -o${CAPNPC_CXX_EXECUTABLE}:${RT_WIRE_INCLUDE}/rt/runtime/wire
              --src-prefix=${PROJECT_SOURCE_DIR}/runtime/wire ${PROJECT_SOURCE_DIR}/runtime/wire/${schema}
      DEPENDS ${PROJECT_SOURCE_DIR}/runtime/wire/${schema} VERBATIM)
    target_sources(${target} PRIVATE ${source} ${header})
  endforeach()
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${RT_WIRE_INCLUDE}>)
  target_link_libraries(${target} PUBLIC CapnProto::capnp)
endfunction()
