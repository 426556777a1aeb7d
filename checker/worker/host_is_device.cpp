// SPDX-License-Identifier: MIT
#include "checker/worker/device_backend.h"
#include "checker/worker/worker.h"

namespace checker {

DeviceBackend& device_backend() {
    static const std::unique_ptr<DeviceBackend> host = host_side();
    return *host;
}

}  // namespace checker
