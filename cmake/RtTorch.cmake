# LibTorch from the wheel that scripts/setup put into RT_VENV, and NCCL where the toolkit is.
# Targets: rt_torch (CPU LibTorch with c10d and Gloo), rt_torch_nccl (the CUDA side, for librt_nccl.so alone).
# RT_HAVE_TORCH and RT_HAVE_NCCL say what there is.
#
# rt_torch_headers(TARGET [FROM OTHER])   precompiled headers of torch and c10d, made by TARGET or taken from OTHER
# rt_torch_test(NAME SOURCES... LINK...)  rt_test with rt_train's precompiled headers
set(RT_VENV ${PROJECT_SOURCE_DIR}/build/venv CACHE PATH "The Python environment with the torch wheel (scripts/setup makes it)")
set(RT_HAVE_TORCH OFF)
set(RT_HAVE_NCCL OFF)
if(RT_TORCH STREQUAL "OFF")
  return()
endif()

include(RtTorchLibrary)
if(NOT RT_HAVE_TORCH)
  if(RT_TORCH STREQUAL "ON")
    message(FATAL_ERROR "LibTorch was not found in ${RT_VENV}. Run scripts/setup, or give -DRT_VENV=FOLDER, or -DRT_TORCH=OFF.")
  endif()
  message(STATUS "LibTorch: not in ${RT_VENV} (scripts/setup installs it); what needs it is left out")
  return()
endif()
message(STATUS "LibTorch: ${torch_root}")

function(rt_torch_headers target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FROM" "")
  if(NOT arg_FROM)
    target_precompile_headers(${target} PRIVATE <torch/torch.h> <torch/csrc/distributed/c10d/reducer.hpp>)
    return()
  endif()
  # A precompiled header fits only equal flags, so an executable compiles as a library's source does.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC)
  target_precompile_headers(${target} REUSE_FROM ${arg_FROM})
endfunction()

function(rt_torch_test name)
  rt_test(${name} ${ARGN})
  if(TARGET ${name})
    rt_torch_headers(${name} FROM rt_train)
  endif()
endfunction()

# NCCL: what is missing for it, or an empty string.
function(rt_nccl_missing out)
  set(missing "")
  find_path(RT_CUDA_INCLUDE cuda_runtime_api.h
    HINTS /usr/local/cuda/include ${RT_SITE_PACKAGES}/nvidia/cu13/include NO_DEFAULT_PATH)
  if(NOT RT_CUDA_INCLUDE)
    set(missing "the CUDA toolkit's headers (looked in /usr/local/cuda/include)")
  elseif(NOT EXISTS ${RT_SITE_PACKAGES}/nvidia/nccl/include/nccl.h)
    set(missing "the wheel nvidia-nccl-cu13 in ${RT_VENV} (its header must be that of the NCCL which runs)")
  elseif(NOT EXISTS ${torch_root}/lib/libtorch_cuda.so)
    set(missing "libtorch_cuda.so (the torch wheel here is a CPU one)")
  endif()
  set(${out} "${missing}" PARENT_SCOPE)
endfunction()

if(NOT RT_NCCL STREQUAL "OFF")
  rt_nccl_missing(nccl_missing)
  if(NOT nccl_missing)
    set(RT_HAVE_NCCL ON)
  elseif(RT_NCCL STREQUAL "ON")
    message(FATAL_ERROR "NCCL can't be built: missing ${nccl_missing}. Run scripts/setup, or give -DRT_NCCL=OFF.")
  else()
    message(STATUS "NCCL: left out, missing ${nccl_missing}")
  endif()
endif()
if(RT_HAVE_NCCL)
  foreach(library c10_cuda torch_cuda)
    add_library(rt_${library} SHARED IMPORTED)
    set_target_properties(rt_${library} PROPERTIES IMPORTED_LOCATION ${torch_root}/lib/lib${library}.so)
  endforeach()
  add_library(rt_nccl_library SHARED IMPORTED)
  set_target_properties(rt_nccl_library PROPERTIES
    IMPORTED_LOCATION ${RT_SITE_PACKAGES}/nvidia/nccl/lib/libnccl.so.2 IMPORTED_SONAME libnccl.so.2)
  add_library(rt_torch_nccl INTERFACE)
  # The wheel's nccl.h before the toolkit's, which is often an older one.
  target_include_directories(rt_torch_nccl SYSTEM BEFORE INTERFACE ${RT_SITE_PACKAGES}/nvidia/nccl/include ${RT_CUDA_INCLUDE})
  target_compile_definitions(rt_torch_nccl INTERFACE USE_C10D_NCCL)
  target_link_options(rt_torch_nccl INTERFACE -Wl,--no-as-needed)
  target_link_libraries(rt_torch_nccl INTERFACE rt_torch_cuda rt_c10_cuda rt_nccl_library rt_torch)
  message(STATUS "NCCL: ${RT_SITE_PACKAGES}/nvidia/nccl")
endif()
