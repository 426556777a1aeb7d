// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/streams/orders.h"

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/memory/modules.h"
#include "checker/simt/runtime/memory/registered.h"
#include "checker/simt/runtime/races/races.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/streams/sampling.h"
#include "checker/simt/runtime/threads/scheduler.h"

namespace simt {
namespace {

// All that a kernel can change: the buffers with the notes on who has written there, and the module's variables.
class Snapshot {
  public:
    explicit Snapshot(const Module* module) {
        const OpenMemory open;
        const Memory& memory = Memory::instance();
        for (const auto& [begin, buffer] : memory.allocations()) {
            if (buffer.freed_at == nullptr) {
                buffers_.push_back({begin, copy(begin, buffer.bytes),
                                    copy(reinterpret_cast<std::uintptr_t>(memory.marks(begin)), buffer.bytes)});
            }
        }
        for (std::size_t i = 0; module != nullptr && i < module->device_sections.size(); i++) {
            const Module::Range& range = module->device_sections[i];
            if (range.section == Section::device || range.section == Section::managed) {
                variables_.push_back({range.begin, copy(range.begin, range.end - range.begin), {}});
            }
        }
    }

    void restore() const {
        const OpenMemory open;
        for (const Piece& buffer : buffers_) {
            std::memcpy(reinterpret_cast<void*>(buffer.begin), buffer.bytes.data(), buffer.bytes.size());
            Memory::instance().set_marks(buffer.begin, buffer.marks.data(), buffer.marks.size());
        }
        for (const Piece& variables : variables_) {
            std::memcpy(reinterpret_cast<void*>(variables.begin), variables.bytes.data(), variables.bytes.size());
        }
    }

  private:
    struct Piece {
        std::uintptr_t begin;
        std::vector<std::uint8_t> bytes, marks;
    };
    static std::vector<std::uint8_t> copy(std::uintptr_t begin, std::size_t bytes) {
        const auto* first = reinterpret_cast<const std::uint8_t*>(begin);
        return {first, first + bytes};
    }
    std::vector<Piece> buffers_, variables_;
};

std::uint64_t product(dim3 extent) {
    return std::uint64_t{extent.x} * extent.y * extent.z;
}

}  // namespace

Orders& Orders::instance() {
    static auto& orders = *new Orders;  // never destroyed: it prints when the process ends
    return orders;
}

Orders::Orders() {
    if (const char* text = std::getenv("SIMT_ORDERS"); text != nullptr && *text != '\0') {
        char* end = nullptr;
        const unsigned long wanted = std::strtoul(text, &end, 10);
        if (*end != '\0' || wanted == 0 || wanted > 1000) {
            fmt::print(stderr, "simt: SIMT_ORDERS={} is no number from 1 to 1000; {} is used\n", text, orders_);
        } else {
            orders_ = static_cast<unsigned>(wanted);
            asked_ = true;
        }
    }
    if (std::getenv("SIMT_STOP") != nullptr || std::getenv("SIMT_TRACE") != nullptr) {
        orders_ = 1;  // somebody looks at one thread
    }
}

bool Orders::may_run_again(const Launch& launch, const Kernel& kernel) const {
    return orders_ > 1 && hot.checking && Races::instance().will_watch() && !samples_blocks() && !any_registered() &&
           (!kernel.ran || kernel.synchronises) && kernel.launches < kMostLaunches &&
           product(launch.grid) * product(launch.block) <= kMostThreads && Memory::instance().used() <= kMostMemory;
}

cudaError_t Orders::run(const Launch& launch) {
    Scheduler& scheduler = Scheduler::instance();
    Kernel& kernel = kernels_[launch.code];
    if (!may_run_again(launch, kernel)) {
        SampledLaunch* const sampled = launch.cooperative ? nullptr : sample(launch.kernel, launch.grid);
        if (sampled == nullptr) {
            return scheduler.run(launch, 0);
        }
        Scheduler::Sample blocks{.blocks = sampled->blocks, .seconds = seconds_for_sample()};
        const cudaError_t error = scheduler.run(launch, 0, &blocks);
        sampled->cut = blocks.cut;
        return error;
    }
    const Memory& memory = Memory::instance();
    const Snapshot before(launch.module);
    const std::uint64_t asked = hot.counts.bytes();
    const std::size_t found = places_found(), buffers = memory.allocations().size(), used = memory.used();
    const cudaError_t error = scheduler.run(launch, 0);
    kernel.ran = true;
    kernel.synchronises = kernel.synchronises || Races::instance().synchronises();
    if (error != cudaSuccess || !kernel.synchronises || Races::instance().synchronises_with_the_host() ||
        places_found() != found || hot.counts.bytes() - asked > kMostBytesAsked ||
        memory.allocations().size() != buffers || memory.used() != used) {
        return error;
    }
    kernel.launches++;
    launches_++;
    const Snapshot after(launch.module);
    again_ = true;
    for (unsigned order = 1; order < orders_ && places_found() == found; order++) {
        before.restore();
        scheduler.run(launch, order);
    }
    again_ = false;
    after.restore();
    return error;
}

void Orders::print() const {
    if (asked_) {
        std::fflush(stdout);
        fmt::print(stderr, "simt: {} launch{} synchronised by atomics or flags and ran in up to {} order{} each\n",
                   launches_, launches_ == 1 ? "" : "es", orders_, orders_ == 1 ? "" : "s");
    }
}

}  // namespace simt
