// SPDX-License-Identifier: MIT
//
// The device that a check program's worker runs ops on, where it is not the host itself. Which one is decided when the
// program is linked: simt_side.cpp is the CPU device; without one, no_device.cpp says that there is none.
#pragma once

#include <string>

#include "checker/check.h"
#include "checker/worker.h"

namespace checker {

class DeviceSide {
  public:
    virtual ~DeviceSide() = default;

    virtual std::string name() const = 0;  // "CPU device"

    // Once in the worker, before the first call.
    virtual void start() = 0;

    // Runs a call on buffers of the device. Inputs come from the shared memory, outputs go back to it: what the call did
    // not write keeps the poison of the schedule. What the device saw go wrong is in the reply's `findings`.
    virtual Reply run(const Call& call, const Library& library, Schedule schedule) = 0;
};

// Null where ops run on the host.
DeviceSide* device_side();

}  // namespace checker
