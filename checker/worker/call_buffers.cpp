// SPDX-License-Identifier: MIT
#include "checker/worker/call_buffers.h"

#include <numeric>
#include <stdexcept>
#include <string>

namespace checker {

std::size_t scratch_bytes(const Scratch& scratch, const Library& library) {
    constexpr std::size_t kMost = std::size_t{1} << 32;  // a size that was computed wrongly tends to be enormous
    const std::size_t bytes = scratch.bytes(library);
    if (bytes > kMost) {
        throw std::runtime_error("asks for " + std::to_string(bytes) + " bytes of " + scratch.name +
                                 "; the check gives at most 4 GiB");
    }
    return bytes;
}

std::vector<BufferSpec> shared_specs(const Call& call) {
    std::vector<BufferSpec> specs;
    for (const Input& input : call.inputs) { specs.push_back(input.spec); }
    for (const Output& output : call.outputs) { specs.push_back(output.spec); }
    if (call.sampled) {
        specs.push_back(
            {"sampled", Role::output, Element::byte, Dims("bytes/i", {static_cast<long>(sizeof(SampledElements))})});
    }
    return specs;
}

std::size_t bytes_of(const Call& call) {
    const std::vector<BufferSpec> specs = shared_specs(call);
    return std::accumulate(specs.begin(), specs.end(), std::size_t{0},
                           [](std::size_t sum, const BufferSpec& spec) { return sum + spec.bytes(); });
}

std::size_t bytes_of(const Case& c) {
    return std::accumulate(c.calls.begin(), c.calls.end(), std::size_t{0},
                           [](std::size_t sum, const Call& call) { return sum + bytes_of(call); });
}

void lay_out(SharedMemory& memory, const Call& call, std::span<const Placement> placements, Schedule schedule) {
    memory.grow(shared_bytes(placements));
    for (std::size_t i = 0; i < placements.size(); i++) {
        fill_with_poison(memory.region(placements[i]), schedule);
        if (i < call.inputs.size()) {
            call.inputs[i].fill(memory.data(placements[i]), kCaseSeed);
        }
    }
}

}  // namespace checker
