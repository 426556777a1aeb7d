// SPDX-License-Identifier: MIT
//
// Which card is the first, and what is said where there is none.
#pragma once

#include <cstdlib>
#include <string>

namespace checker {

// CUDA counts cards as nvidia-smi does, not the fastest first. Before the first call of the driver or the runtime. make
// says so to all that it starts; programs that are started by hand say it themselves.
inline void count_cards_as_nvidia_smi() {
    setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
}

// Why the driver that is here shows no card, and what mends it; `otherwise` where nothing hides one.
inline std::string why_no_card(const std::string& otherwise) {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    return visible != nullptr ? std::string("CUDA_VISIBLE_DEVICES=") + visible + " hides every GPU: unset it"
                              : otherwise;
}

// The command that does on the CPU device what was asked for, as make says it; `otherwise` in a program that is started by
// hand.
inline std::string on_cpu(const std::string& otherwise) {
    const char* command = std::getenv("SOL_ON_CPU");
    return command != nullptr ? command : otherwise;
}

}  // namespace checker
