#include "rt/actors/ref.h"

namespace rt::detail {

Large put_bytes(LargeStore* store, const void* bytes, std::size_t size) {
  if (!store)
    throw Exception({Code::Unavailable,
                     "this process has no object store: its node had no memory for one, or 8191 "
                     "processes use it already (the node's log says which)"});
  return store->put(bytes, size).get();
}

}  // namespace rt::detail
