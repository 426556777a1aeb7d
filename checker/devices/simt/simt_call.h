// SPDX-License-Identifier: MIT
//
// A call whose outputs nobody compares: its buffers on the CPU device, for as many implementations and runs as are wanted.
#pragma once

#include <map>
#include <string>

#include "checker/cases/lesson.h"
#include "checker/device.h"
#include "checker/devices/simt/simt_buffers.h"

namespace checker {

class UncomparedCall {
  public:
    // Inputs hold values like the call's own, 64 MiB of them and then 0. Throws std::invalid_argument for a call that
    // has tensors in the host's memory, OutOfMemory.
    explicit UncomparedCall(const Call& call);
    // Runs it, and waits until all is done. What it throws, and the device's error, are thrown.
    void run(const Library& library);

  private:
    DeviceBytes& add(const std::string& name, const Dims& dims, Element element);

    const Call& call_;
    std::map<std::string, DeviceBytes> memory_;
    std::map<std::string, Element> elements_;
    DeviceWorkspaces workspaces_;
    const Stream stream_{cudaStreamNonBlocking};
};

}  // namespace checker
