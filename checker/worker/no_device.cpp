// SPDX-License-Identifier: MIT
#include "checker/worker/device_side.h"

namespace checker {

DeviceSide* device_side() {
    return nullptr;
}

}  // namespace checker
