#include "rt/rtctl/torch/store_actor.h"

#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "rt/actors/method_table.h"
#include "rt/actors/store_host.h"

namespace rt::train {
namespace {

c10d::TCPStoreOptions server_options() {
  c10d::TCPStoreOptions options;
  options.port = 0;  // the kernel's choice
  options.isServer = true;
  options.waitWorkers = false;
  return options;
}

struct StoreHost {
  c10d::TCPStore store{"127.0.0.1", server_options()};
};

}  // namespace

void register_store_actor() {
  detail::register_class(detail::kStoreClass,
                         {.construct = [](Decoder&) -> detail::AnyObject { return std::make_shared<StoreHost>(); }});
  detail::register_method(detail::kStorePort, {.invoke = [](void* host, Decoder&, Encoder& to) {
                            const std::string port = std::to_string(static_cast<StoreHost*>(host)->store.getPort());
                            to.raw(port.data(), port.size());
                          }});
}

}  // namespace rt::train
