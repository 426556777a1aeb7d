// SPDX-License-Identifier: MIT
#include "checker/devices/simt/simt_buffers.h"

#include <fmt/format.h>

#include "checker/base/text.h"
#include "checker/judge/describe.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/worker/call_buffers.h"
#include "checker/worker/device_backend.h"

namespace checker {
namespace {

simt::Values values_of(Element element) {
    return element == Element::f32 ? simt::Values::floats
           : is_integer(element)   ? simt::Values::integers
                                   : simt::Values::unknown;
}

std::vector<simt::Axis> shape_of(const Dims& dims) {
    std::vector<simt::Axis> shape;
    for (std::size_t i = 0; i < dims.rank(); i++) { shape.push_back({dims.name(i), dims.index_name(i), dims.size(i)}); }
    return shape;
}

}  // namespace

void name_on_device(const std::byte* memory, const std::string& name, const Dims& dims, Element element) {
    simt::name_buffer(memory, name, shape_of(dims), bytes_of(element), values_of(element));
}

DeviceBytes allocate_on_device(const std::string& name, const Dims& dims, Element element, std::size_t misalignment) {
    const std::size_t bytes = static_cast<std::size_t>(dims.elements()) * bytes_of(element);
    try {
        simt::Memory::instance().misalign_next(misalignment);
        DeviceBytes memory(bytes);
        name_on_device(memory.data(), name, dims, element);
        return memory;
    } catch (const CudaError& error) {
        if (error.code != cudaErrorMemoryAllocation) {
            throw;
        }
    }
    throw OutOfMemory(fmt::format("it wants {} more of the device's memory", gib(bytes)));
}

std::byte* DeviceWorkspaces::allocate(std::size_t bytes) {
    memory_.push_back(allocate_on_device("workspace", Dims("bytes/i", {static_cast<long>(bytes)}), Element::byte));
    return memory_.back().data();
}

void DeviceWorkspaces::release(std::byte* memory) {
    memory_.remove_if([&](const DeviceBytes& bytes) { return bytes.data() == memory; });
}

}  // namespace checker
