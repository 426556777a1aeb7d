// SPDX-License-Identifier: MIT
//
// Provides the architecture whose tensor cores the device imitates.
#pragma once

#include <string_view>

#include "checker/simt/runtime/tensor/tile_product.h"

namespace simt {

struct ChosenTensorCore {
    int compute_capability;  // 90
    const TensorCore* core;  // never null
};

// Returns the architecture named by `text`, "sm_80", or the device's own (device.h) if `text` is empty or names none with
// known tensor cores; then it prints a line that lists those.
ChosenTensorCore choose_tensor_core(std::string_view text);

// Returns the architecture that SIMT_TENSOR_CORES names.
const ChosenTensorCore& chosen_tensor_core();

}  // namespace simt
