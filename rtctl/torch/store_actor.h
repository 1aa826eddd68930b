#pragma once
// The actor that hosts the c10d TCPStore of one gang of torchrun-style programs (actors/store_host.h has its names).
// A process of its own in the gang's lease: it lives exactly as long as the gang.

namespace rt::train {

// Before serve_if_worker in rt-torch's main.
void register_store_actor();

}  // namespace rt::train
