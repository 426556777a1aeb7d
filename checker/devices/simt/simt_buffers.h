// SPDX-License-Identifier: MIT
//
// Memory of the CPU device that the checker gives to ops, known to its reports by name and shape.
#pragma once

#include <cstddef>
#include <list>
#include <string>

#include "checker/cases/dims.h"
#include "checker/cases/element.h"
#include "checker/device.h"
#include "checker/resources.h"

namespace checker {

using DeviceBytes = DeviceBuffer<std::byte>;

// Throws OutOfMemory. The memory starts `misalignment` bytes after a multiple of simt::Memory::kAlignment.
DeviceBytes allocate_on_device(const std::string& name, const Dims& dims, Element element,
                               std::size_t misalignment = 0);

// Tells reports the name and the shape of memory of the device.
void name_on_device(const std::byte* memory, const std::string& name, const Dims& dims, Element element);

// The workspaces of a call's Context.
class DeviceWorkspaces final : public Allocator {
  public:
    std::byte* allocate(std::size_t bytes) override;
    void release(std::byte* memory) override;

  private:
    std::list<DeviceBytes> memory_;
};

}  // namespace checker
