// SPDX-License-Identifier: MIT
#include "checker/worker/host_tensors.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <iterator>

#include "checker/worker/worker.h"

namespace checker {

HostTensors::~HostTensors() {
    forget_in_faults();
}

void HostTensors::initialise(const CallRun& run, const MemoryFile& shared, Buffers& buffers) {
    forget_in_faults();
    std::ranges::move(now_, std::back_inserter(earlier_));
    now_.clear();
    for (const Tensor& tensor : earlier_) {
        tensor.mapping.allow(PROT_NONE);
        name_in_faults(tensor.mapping, tensor.slot.bytes, tensor.number, true);
    }
    const std::vector<BufferSpec> specs = shared_specs(run.call());
    const std::vector<BufferSlot> slots = run.slots();
    for (std::size_t i = 0; i < specs.size(); i++) {
        if (!specs[i].on_host) {
            continue;
        }
        const Tensor& tensor = now_.emplace_back(
            Tensor{.number = i, .spec = specs[i], .slot = slots[i], .mapping = GuardedMapping(-1, slots[i], false)});
        std::ranges::copy(shared.region(slots[i]), tensor.mapping.region().begin());
        if (specs[i].role == Role::input) {
            tensor.mapping.allow(PROT_READ);
        }
        name_in_faults(tensor.mapping, slots[i].bytes, i);
        buffers.add(specs[i].name, specs[i].element, tensor.mapping.data());
    }
}

std::vector<std::span<std::byte>> HostTensors::outputs() const {
    std::vector<std::span<std::byte>> result;
    for (const Tensor& tensor : now_) {
        if (tensor.spec.role != Role::input) {
            result.emplace_back(tensor.mapping.data(), tensor.slot.bytes);
        }
    }
    return result;
}

void HostTensors::fetch(const MemoryFile& shared) const {
    for (const Tensor& tensor : now_) {
        std::ranges::copy(tensor.mapping.region(), shared.region(tensor.slot).begin());
    }
}

std::vector<Finding> HostTensors::written_late(const MemoryFile& shared) const {
    std::vector<Finding> findings;
    for (const Tensor& tensor : now_) {
        if (!std::ranges::equal(tensor.mapping.region(), shared.region(tensor.slot))) {
            findings.push_back({.kind = "stream",
                                .text = fmt::format("{} is written after the call has returned: it lies in the host's "
                                                    "memory, so wait for the stream first (cudaStreamSynchronize)",
                                                    tensor.spec.name),
                                .details = {}});
        }
    }
    return findings;
}

}  // namespace checker
