// SPDX-License-Identifier: MIT
//
// The buffers of a call in the memory that the worker and its parent share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "checker/cases/check.h"
#include "checker/worker/shared_buffers.h"

namespace checker {

inline constexpr std::uint64_t kCaseSeed = 0;  // of a case's inputs, where they are drawn

// The buffers of a call that lie in shared memory, in the order in which they lie there: inputs, then outputs, or for a
// sampled call one of SampledElements.
std::vector<BufferSpec> shared_specs(const Call& call);
std::size_t bytes_of(const Call& call);  // of these buffers
std::size_t bytes_of(const Case& c);     // of all its calls

// Puts a call's buffers there: inputs with their values, outputs with the poison.
void lay_out(SharedMemory& memory, const Call& call, std::span<const Placement> placements, Schedule schedule);

// Elements of an output that lies on the device alone: those that sampled blocks wrote, as many as fit, or some of all.
struct SampledElements {
    static constexpr std::size_t kMost = 65'536;
    std::uint64_t count = 0;
    struct {
        std::int64_t element = 0;
        float value = 0;
    } written[kMost];
};

// What an implementation asks for as scratch. Throws where that is more than the check gives.
std::size_t scratch_bytes(const Scratch& scratch, const Library& library);

}  // namespace checker
