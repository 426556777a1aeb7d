// SPDX-License-Identifier: MIT
#include "checker/worker/device_side.h"
#include "checker/worker/worker.h"

namespace checker {

DeviceSide& device_side() {
    static const std::unique_ptr<DeviceSide> host = host_side();
    return *host;
}

}  // namespace checker
