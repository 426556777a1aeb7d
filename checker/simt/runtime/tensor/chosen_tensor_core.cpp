// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/tensor/chosen_tensor_core.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "checker/simt/runtime/base/device.h"

namespace simt {

ChosenTensorCore choose_tensor_core(std::string_view text) {
    std::vector<std::string> names;
    for (const int capability : {70, 75, 80, 86, 89, 90, 100, 120}) {
        names.push_back(fmt::format("sm_{}", capability));
        if (text == names.back()) {
            return {capability, tensor_core(capability)};
        }
    }
    constexpr int kDevice = 10 * kMajor + kMinor;
    if (!text.empty()) {
        fmt::print(stderr, "simt: SIMT_TENSOR_CORES={}: unknown architecture; known ones: {}; sm_{} is used\n", text,
                   fmt::join(names, ", "), kDevice);
    }
    return {kDevice, tensor_core(kDevice)};
}

const ChosenTensorCore& chosen_tensor_core() {
    static const ChosenTensorCore chosen = [] {
        const char* text = std::getenv("SIMT_TENSOR_CORES");
        return choose_tensor_core(text == nullptr ? "" : text);
    }();
    return chosen;
}

}  // namespace simt
