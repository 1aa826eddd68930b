# rt::runtime (all of runtime/), and rt as a package: find_package(rt) gives rt::runtime, rt::actors and rt::tune, and
# rt::train where LibTorch was there. Headers are <rt/...>, as in the build tree.
get_property(libraries GLOBAL PROPERTY RT_LIBRARIES)
set(with_torch_folders "^${PROJECT_SOURCE_DIR}/(actors/collective|actors/train|rl|rtctl/torch)$")
add_library(rt_runtime INTERFACE)
add_library(rt::runtime ALIAS rt_runtime)
foreach(library ${libraries})
  get_target_property(folder ${library} SOURCE_DIR)
  string(REGEX REPLACE "^rt_" "" short_name ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${short_name})
  if(folder MATCHES ${with_torch_folders})
    list(APPEND with_torch ${library})
  else()
    list(APPEND without_torch ${library})
  endif()
  if(folder MATCHES "^${PROJECT_SOURCE_DIR}/runtime(/|$)")
    target_link_libraries(rt_runtime INTERFACE ${library})
  endif()
endforeach()
set_target_properties(rt_runtime PROPERTIES EXPORT_NAME runtime)
if(NOT RT_INSTALL)
  return()
endif()

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/rt)

install(TARGETS rt_runtime ${without_torch} EXPORT rtTargets)
install(EXPORT rtTargets NAMESPACE rt:: DESTINATION ${package})
if(with_torch)
  install(TARGETS ${with_torch} EXPORT rtTorchTargets)
  install(EXPORT rtTorchTargets NAMESPACE rt:: DESTINATION ${package})
endif()
if(TARGET rt_nccl)
  install(TARGETS rt_nccl)  # loaded where there is a GPU; rtConfig.cmake tells rt::train's programs where it lies
endif()
foreach(program rtctl rtd rt-torch)
  if(TARGET ${program})
    install(TARGETS ${program})
  endif()
endforeach()

if(TARGET rt-torch)
  set_target_properties(rt-torch PROPERTIES INSTALL_RPATH ${torch_root}/lib)  # the wheel's libraries, wherever its venv is
endif()

install(DIRECTORY runtime actors tune DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rt FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${RT_WIRE_INCLUDE}/rt DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES actors/rt.h actors/testing.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rt OPTIONAL)
install(FILES actors/train/train.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rt OPTIONAL)

install(FILES tune/python/rt.py DESTINATION ${CMAKE_INSTALL_DATADIR}/rt)

configure_package_config_file(cmake/rtConfig.cmake.in ${PROJECT_BINARY_DIR}/rtConfig.cmake INSTALL_DESTINATION ${package}
  PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/rtConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/rtConfig.cmake ${PROJECT_BINARY_DIR}/rtConfigVersion.cmake cmake/RtDependencies.cmake
              cmake/RtTorchLibrary.cmake DESTINATION ${package})
