#pragma once
// The two directions between rt::KeyValue and c10d's Store, so that a process group meets in the head's key-value
// space, and a gang without a head (benchmarks, tests) in one of c10d's own stores.
//
// Internal to actors/collective and to programs that hold a c10d store themselves. Threads: as the wrapped one.

#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <memory>
#include <string>

#include "rt/actors/key_value.h"

namespace c10d {
class Store;
}

namespace rt::train {

// A c10d store whose keys are `prefix` + key in `values`, which must outlive it. A call that fails throws
// c10::DistStoreError. `timeout` bounds each wait that names no time of its own.
c10::intrusive_ptr<c10d::Store> store_over(KeyValue& values, std::string prefix, std::chrono::milliseconds timeout);

// A KeyValue that keeps its keys in `store`.
std::unique_ptr<KeyValue> key_value_over(c10::intrusive_ptr<c10d::Store> store);

}  // namespace rt::train
