# Debian 12's packages. scripts/setup names them; a missing one is named here again, with the way to get it.
# The installed package includes this file too, so that find_package(rt) finds what rt links.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)  # a project that has rt as a subdirectory links these through rt
# CapnProtoConfig.cmake looks for libatomic, which g++ brings, in a way that fails in a project without C.
set(FOUND_LIBATOMIC TRUE CACHE INTERNAL "libatomic is there")
find_package(Threads REQUIRED)
foreach(dependency
    "Boost 1.81=libboost1.81-dev" "PkgConfig=pkgconf" "CapnProto=libcapnp-dev" "TBB=libtbb-dev" "spdlog=libspdlog-dev"
    "fmt=libfmt-dev" "CLI11=libcli11-dev" "yaml-cpp=libyaml-cpp-dev" "nlohmann_json=nlohmann-json3-dev"
    "OpenSSL=libssl-dev" "ZLIB=zlib1g-dev")  # pkgconf: CapnProtoConfig.cmake runs it
  string(REGEX MATCH "^([^=]+)=(.+)$" _ "${dependency}")
  set(package ${CMAKE_MATCH_2})
  string(REPLACE " " ";" arguments "${CMAKE_MATCH_1}")
  find_package(${arguments} QUIET)
  list(GET arguments 0 name)
  if(NOT ${name}_FOUND)
    message(FATAL_ERROR "${name} was not found. It is Debian's ${package}: run rt's scripts/setup, or apt-get install ${package}.")
  endif()
endforeach()
unset(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL)
