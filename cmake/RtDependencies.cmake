# Debian 12's packages. scripts/setup names them; a missing one is named here again, with the way to get it.
find_package(Threads REQUIRED)
foreach(dependency
    "Boost 1.81=libboost1.81-dev" "CapnProto=libcapnp-dev" "TBB=libtbb-dev" "spdlog=libspdlog-dev" "fmt=libfmt-dev"
    "CLI11=libcli11-dev" "yaml-cpp=libyaml-cpp-dev" "nlohmann_json=nlohmann-json3-dev" "OpenSSL=libssl-dev"
    "ZLIB=zlib1g-dev")
  string(REGEX MATCH "^([^=]+)=(.+)$" _ "${dependency}")
  set(package ${CMAKE_MATCH_2})
  string(REPLACE " " ";" arguments "${CMAKE_MATCH_1}")
  find_package(${arguments} QUIET)
  list(GET arguments 0 name)
  if(NOT ${name}_FOUND)
    message(FATAL_ERROR "${name} was not found. It is Debian's ${package}: run scripts/setup, or apt-get install ${package}.")
  endif()
endforeach()
if(RT_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
