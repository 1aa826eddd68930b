#include "rt/rtctl/torch/store_command.h"

#include <unistd.h>

#include <iostream>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace rt::train {

Status run_store() {
  try {
    c10d::TCPStoreOptions options;
    options.port = 0;  // the kernel's choice
    options.isServer = true;
    options.waitWorkers = false;
    const c10d::TCPStore store("127.0.0.1", options);
    std::cout << "{\"port\": " << store.getPort() << "}" << std::endl;
    char byte = 0;
    while (::read(STDIN_FILENO, &byte, 1) > 0) continue;
    return Unit{};
  } catch (const std::exception& error) {
    return Error{Code::Unavailable, std::string("cannot host a store on 127.0.0.1: ") + error.what()};
  }
}

}  // namespace rt::train
