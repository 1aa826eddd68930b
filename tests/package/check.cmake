# cmake -DWAY=installed|subdirectory -DRT_BUILD=FOLDER -DRT_SOURCE=FOLDER -P check.cmake
# installed: installs the build, then builds and runs the user's project with it.
# subdirectory: configures the project with rt's sources in it and compiles the user's source; rt's own sources aren't
# compiled a second time, Ninja only has to know how to make them.
set(work ${RT_BUILD}/package-${WAY})
set(user ${CMAKE_CURRENT_LIST_DIR})
file(REMOVE_RECURSE ${work})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed with ${status}: ${ARGN}\n${output}")
  endif()
endfunction()

if(WAY STREQUAL "installed")
  run(${CMAKE_COMMAND} --install ${RT_BUILD} --prefix ${work}/prefix)
  foreach(program rtctl rtd rt-torch)
    if(EXISTS ${work}/prefix/bin/${program})
      run(${work}/prefix/bin/${program} --help)
    endif()
  endforeach()
  run(${CMAKE_COMMAND} -G Ninja -S ${user} -B ${work}/build -DCMAKE_PREFIX_PATH=${work}/prefix)
  run(${CMAKE_COMMAND} --build ${work}/build)
  run(${CMAKE_COMMAND} -E env RT_RTD=${work}/prefix/bin/rtd ${work}/build/user)
  run(${work}/build/user_test)
else()
  run(${CMAKE_COMMAND} -G Ninja -S ${user} -B ${work}/build -DRT_SOURCE=${RT_SOURCE} -DRT_TORCH=OFF)
  run(${CMAKE_COMMAND} --build ${work}/build --target user_code)
  run(${CMAKE_COMMAND} --build ${work}/build --target user user_test -- -n)
endif()
