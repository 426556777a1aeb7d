// SPDX-License-Identifier: MIT
#include "checker/worker/call_buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

namespace checker {

std::size_t scratch_bytes(const Scratch& scratch, const Library& library, bool any) {
    constexpr std::size_t kMost = std::size_t{1} << 32;
    const std::size_t bytes = scratch.bytes(library);
    if (bytes > kMost && !any) {
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

Before before(const Call& call, std::size_t buffer) {
    if (buffer < call.inputs.size()) {
        return call.inputs[buffer].fill ? Before::values : Before::left;
    }
    if (call.sampled || call.outputs[buffer - call.inputs.size()].spec.role == Role::output) {
        return Before::poison;
    }
    return call.outputs[buffer - call.inputs.size()].initial ? Before::values : Before::left;
}

// Returns true if the last call of the sequence before `call` that has such a tensor has it in the same size.
static bool is_left(const Case& c, std::size_t call, const BufferSpec& spec) {
    for (std::size_t earlier = call; c.sequence && earlier-- > 0;) {
        const std::vector<BufferSpec> specs = shared_specs(c.calls[earlier]);
        const auto same = std::ranges::find(specs, spec.name, &BufferSpec::name);
        if (same != specs.end()) {
            return same->bytes() == spec.bytes();
        }
    }
    return false;
}

std::vector<BufferSlot> slots_of(const Case& c, std::size_t call, Schedule schedule) {
    const std::vector<BufferSpec> own = shared_specs(c.calls.at(call));
    for (std::size_t i = 0; i < own.size(); i++) {
        if (before(c.calls[call], i) == Before::left && (own[i].on_host || !is_left(c, call, own[i]))) {
            throw std::logic_error(fmt::format("{}: no call of {} has left anything in it", own[i].name, c.name));
        }
    }
    if (!c.sequence) {
        return slots_of(own, schedule);
    }
    std::vector<BufferSpec> all;  // one of each name, and those of the host of each call
    std::map<std::tuple<std::string, std::size_t, std::size_t>, std::size_t> at;
    const auto key = [](const BufferSpec& spec, std::size_t of) {
        return std::tuple(spec.name, spec.bytes(), spec.on_host ? of + 1 : 0);
    };
    for (std::size_t each = 0; each < c.calls.size(); each++) {
        for (BufferSpec& spec : shared_specs(c.calls[each])) {
            const auto [known, is_new] = at.try_emplace(key(spec, each), all.size());
            if (is_new) {
                all.push_back(std::move(spec));
            } else if (all[known->second].element != spec.element) {
                throw std::logic_error(
                    fmt::format("{} is not the same tensor in all calls of the sequence {}", spec.name, c.name));
            }
        }
    }
    const std::vector<BufferSlot> slots = slots_of(all, schedule);
    std::vector<BufferSlot> result;
    for (const BufferSpec& spec : own) { result.push_back(slots[at.at(key(spec, call))]); }
    return result;
}

void initialise(MemoryFile& memory, const Call& call, std::span<const BufferSlot> slots, Schedule schedule) {
    memory.grow(file_bytes(slots));
    for (std::size_t i = 0; i < slots.size(); i++) {
        if (before(call, i) == Before::left) {
            continue;
        }
        fill_with_poison(memory.region(slots[i]), slots[i].element, schedule);
        if (before(call, i) == Before::values) {
            const bool input = i < call.inputs.size();
            const FillFunction& fill = input ? call.inputs[i].fill : call.outputs[i - call.inputs.size()].initial;
            fill(memory.data(slots[i]), kCaseSeed);
        }
    }
}

}  // namespace checker
