# The imported target rt_torch: CPU LibTorch with c10d and Gloo, from the wheel in RT_VENV.
# Sets RT_SITE_PACKAGES and torch_root; RT_HAVE_TORCH says whether it was there. The installed package includes this too.
set(RT_HAVE_TORCH OFF)
file(GLOB RT_SITE_PACKAGES ${RT_VENV}/lib/python3*/site-packages)
set(torch_root ${RT_SITE_PACKAGES}/torch)
if(NOT EXISTS ${torch_root}/lib/libtorch_cpu.so)
  return()
endif()
set(RT_HAVE_TORCH ON)
if(TARGET rt_torch)
  return()
endif()

foreach(library c10 torch_cpu)
  add_library(rt_${library} SHARED IMPORTED GLOBAL)
  set_target_properties(rt_${library} PROPERTIES IMPORTED_LOCATION ${torch_root}/lib/lib${library}.so)
endforeach()
add_library(rt_torch INTERFACE IMPORTED GLOBAL)
target_include_directories(rt_torch SYSTEM INTERFACE ${torch_root}/include ${torch_root}/include/torch/csrc/api/include)
target_compile_definitions(rt_torch INTERFACE USE_DISTRIBUTED USE_C10D_GLOO)
target_link_libraries(rt_torch INTERFACE rt_torch_cpu rt_c10 Threads::Threads)
# libtorch_cpu finds libcudart and libcupti by its own rpath, in the wheels beside it.
target_link_options(rt_torch INTERFACE -Wl,--allow-shlib-undefined)
