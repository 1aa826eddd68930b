#include <dlfcn.h>

#include <cstring>

#include "rt/actors/collective/backend.h"
#include "rt/runtime/base/result.h"

namespace rt::train {

c10::intrusive_ptr<c10d::Backend> make_nccl(const BackendPlan& plan) {
  // Never closed: CUDA doesn't unload.
  void* library = ::dlopen("librt_nccl.so", RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    throw Exception({Code::NotFound, std::string("ranks on GPUs need NCCL, and librt_nccl.so couldn't be loaded: ") +
                                         ::dlerror() + "; build with -DRT_NCCL=ON, which names what is missing"});
  void* symbol = ::dlsym(library, kNcclEntry);
  if (!symbol)
    throw Exception({Code::Refused, std::string("librt_nccl.so is another version's: it lacks ") + kNcclEntry});
  NcclEntry entry;
  std::memcpy(&entry, &symbol, sizeof entry);
  return entry(plan);
}

}  // namespace rt::train
