// SPDX-License-Identifier: MIT
//
// Which card is the first.
#pragma once

#include <cstdlib>

namespace checker {

// CUDA counts cards as nvidia-smi does, not the fastest first. Before the first call of the driver or the runtime. make
// says so to all that it starts; programs that are started by hand say it themselves.
inline void count_cards_as_nvidia_smi() {
    setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
}

}  // namespace checker
