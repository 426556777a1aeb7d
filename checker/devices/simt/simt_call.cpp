// SPDX-License-Identifier: MIT
#include "checker/devices/simt/simt_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/streams/capture.h"
#include "checker/worker/call_buffers.h"

namespace checker {
namespace {

constexpr std::size_t kDrawn = std::size_t{1} << 22;   // bytes, a multiple of every element's
constexpr std::size_t kFilled = std::size_t{1} << 26;  // behind them 0

void count_as_written(const DeviceBytes& memory) {
    simt::Memory::instance().mark_written(reinterpret_cast<std::uintptr_t>(memory.data()), memory.size());
}

void fill_like(const FillFunction& fill, DeviceBytes& memory) {
    count_as_written(memory);
    std::vector<std::byte> drawn(std::min(kDrawn, memory.size()));
    fill(drawn, kCaseSeed);
    const simt::OpenMemory open;
    for (std::size_t at = 0; at < std::min(kFilled, memory.size()); at += drawn.size()) {
        std::memcpy(memory.data() + at, drawn.data(), std::min(drawn.size(), memory.size() - at));
    }
}

}  // namespace

DeviceBytes& UncomparedCall::add(const std::string& name, const Dims& dims, Element element) {
    const auto [at, is_new] = memory_.try_emplace(name, allocate_on_device(name, dims, element));
    elements_.insert_or_assign(name, element);
    return at->second;
}

UncomparedCall::UncomparedCall(const Call& call) : call_(call) {
    const auto require_device = [](const BufferSpec& spec) {
        if (spec.on_host) {
            throw std::invalid_argument(fmt::format("{} lies in the host's memory", spec.name));
        }
    };
    for (const Input& input : call.inputs) {
        require_device(input.spec);
        fill_like(input.fill, add(input.spec.name, input.spec.dims, input.spec.element));
    }
    for (const Output& output : call.outputs) {
        require_device(output.spec);
        DeviceBytes& memory = add(output.spec.name, output.spec.dims, output.spec.element);
        if (output.initial) {
            fill_like(output.initial, memory);
        }
    }
}

void UncomparedCall::run(const Library& library) {
    for (const Scratch& scratch : call_.scratch) {
        const std::size_t bytes = scratch_bytes(scratch, library);
        if (const auto known = memory_.find(scratch.name); known != memory_.end() && known->second.size() != bytes) {
            memory_.erase(known);
        }
        if (!memory_.contains(scratch.name)) {
            // Where only some blocks run, others have not written what a later kernel reads.
            count_as_written(add(scratch.name, Dims("bytes/i", {static_cast<long>(bytes)}), Element::byte));
        }
    }
    Buffers slots(&workspaces_, stream_.get());  // with a Context of its own
    for (const auto& [name, element] : elements_) { slots.add(name, element, memory_.at(name).data()); }
    for (const std::string& name : call_.null) { slots.add_null(name); }
    call_.run(library, slots);
    simt::Captures::instance().report_left();
    simt::Captures::instance().abandon_all();
    static_cast<void>(cudaDeviceSynchronize());
    check(cudaGetLastError());
}

}  // namespace checker
