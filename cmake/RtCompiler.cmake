# The language, warnings, and the tools that make a rebuild quick: ccache and mold, each used where it is present.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

add_compile_options(-Wall -Wextra -Wno-missing-field-initializers)

find_program(RT_CCACHE ccache)
if(RT_CCACHE)
  # The base folder makes paths relative, so a clone in another folder finds what this one compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${RT_CCACHE})
  add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
endif()
find_program(RT_MOLD mold)
if(RT_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

set(RT_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=: address,undefined or thread")
if(RT_SANITIZE)
  add_compile_options(-fsanitize=${RT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=${RT_SANITIZE})
endif()
if(RT_CRASH_POINTS)
  add_compile_definitions(RT_CRASH_POINTS)
endif()
