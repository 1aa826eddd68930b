# LibTorch from the wheel that scripts/setup put into RT_VENV, and NCCL where the toolkit is.
# Targets: rt_torch (CPU LibTorch with c10d and Gloo). RT_HAVE_TORCH and RT_HAVE_NCCL say what there is.
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
