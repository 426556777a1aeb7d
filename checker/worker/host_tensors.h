// SPDX-License-Identifier: MIT
//
// The tensors of a device's calls that lie in the host's memory: each between inaccessible pages, inputs
// read-only. In each call of a case they lie elsewhere, as a caller's own may, and where they were before nothing may look.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "checker/worker/call_buffers.h"
#include "checker/worker/finding.h"
#include "checker/worker/shared_buffers.h"

namespace checker {

class HostTensors {
  public:
    HostTensors() = default;
    HostTensors(const HostTensors&) = delete;
    HostTensors& operator=(const HostTensors&) = delete;
    ~HostTensors();

    // Those of a call, with what the shared file has in them, get their places in `buffers`.
    void initialise(const CallRun& run, const MemoryFile& shared, Buffers& buffers);
    // The memory of the call's outputs.
    std::vector<std::span<std::byte>> outputs() const;
    // The call has returned: the shared file gets its outputs as they are now.
    void fetch(const MemoryFile& shared) const;
    // All work is done: outputs that are no longer what was fetched.
    std::vector<Finding> written_late(const MemoryFile& shared) const;

  private:
    struct Tensor {
        std::size_t number;  // counted through shared_specs
        BufferSpec spec;
        BufferSlot slot;
        GuardedMapping mapping;
    };
    std::deque<Tensor> now_, earlier_;
};

}  // namespace checker
