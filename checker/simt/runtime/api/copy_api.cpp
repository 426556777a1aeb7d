// SPDX-License-Identifier: MIT
//
// The runtime's functions for copies and memsets, of symbols too. Their arguments are judged when they are issued; the
// work itself runs when its stream comes to it.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "checker/simt/include/simt/api.h"
#include "checker/simt/runtime/api/operations.h"
#include "checker/simt/runtime/api/side.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/memory/modules.h"
#include "checker/simt/runtime/memory/registered.h"
#include "checker/simt/runtime/memory/shadows.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/streams/capture.h"
#include "checker/simt/runtime/streams/streams.h"
#include "checker/simt/runtime/streams/work.h"

namespace simt {
namespace {

// One end of a copy: `bytes` bytes from an address. If the address is the device's, they must lie in one buffer.
bool fits(const void* pointer, std::size_t bytes, const char* verb, const void* site) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    Memory& memory = Memory::instance();
    if (!memory.contains(address) || memory.holds(address, bytes)) {
        return true;
    }
    const Allocation* allocation = memory.find(address);
    const bool freed = allocation != nullptr && allocation->freed_at != nullptr;
    report(freed ? Kind::use_after_free : Kind::bad_copy, "", site, [&] {
        if (allocation == nullptr) {
            return fmt::format("{} {} bytes far from every buffer of the device", verb, bytes);
        }
        if (freed) {
            return fmt::format("{} {}, which was freed{}", verb, text_of(*allocation), text_of_free(*allocation));
        }
        const std::uintptr_t wrong =
            address < allocation->begin ? address : std::max(address, allocation->begin + allocation->bytes);
        return fmt::format("{} {} bytes: {}", verb, bytes, place_in(*allocation, wrong));
    });
    return false;
}

// Whether the host may change or free the memory while a copy is on its way: pageable memory is staged.
bool is_pageable(const void* pointer, std::size_t bytes) {
    return side_of(pointer) == Side::host && !is_registered(pointer, bytes);
}

// The name of a call, whether it returns before its work has ended, and its stream.
struct CopyCall {
    const char* name;
    bool asynchronous;
    cudaStream_t stream;
    const void* site;
    const void* symbol = nullptr;  // the end that the call names by a symbol, not by an address
};

void add_rows(Footprint& touched, Use use, const void* pointer, std::size_t pitch, std::size_t width,
              std::size_t height, const void* site) {
    for (std::size_t row = 0; row < height; row++) {
        const auto begin = reinterpret_cast<std::uintptr_t>(pointer) + row * pitch;
        touched.add(use, {begin, begin + width, site});
    }
}

Footprint footprint_of(const CopyWork& c, bool reads, const void* site) {
    Footprint touched;
    add_rows(touched, Use::write, c.to, c.to_pitch, c.width, c.height, site);
    if (reads) {
        add_rows(touched, Use::read, c.from, c.from_pitch, c.width, c.height, site);
    }
    return touched;
}

void run_copy(const CopyWork& c, const void* site) {
    if (!fits(c.to, c.to_bytes(), "the copy writes", site) || !fits(c.from, c.from_bytes(), "the copy reads", site)) {
        return;  // the buffer was freed in the meantime
    }
    if (side_of(c.to) == Side::device && side_of(c.from) == Side::device) {
        note_copy({.read = c.width * c.height, .written = c.width * c.height});
    }
    const OpenBytes open_to(c.to, c.to_bytes()), open_from(c.from, c.from_bytes());
    Memory& memory = Memory::instance();
    for (std::size_t row = 0; row < c.height; row++) {
        auto* to = static_cast<char*>(c.to) + row * c.to_pitch;
        const auto* from = static_cast<const char*>(c.from) + row * c.from_pitch;
        std::memmove(to, from, c.width);
        const auto to_address = reinterpret_cast<std::uintptr_t>(to);
        const auto from_address = reinterpret_cast<std::uintptr_t>(from);
        if (memory.contains(to_address) && memory.contains(from_address)) {
            memory.copy_marks(to_address, from_address, c.width);
        } else if (memory.contains(to_address)) {
            memory.mark_written(to_address, c.width);
        }
        if (!memory.is_device_only(to_address)) {
            give_out_addresses_in(to, c.width);
        }
    }
}

// Reports an end of a copy that is the host's address of a device variable.
bool is_shadow(const void* pointer, const char* end, const void* site) {
    const Symbol* const variable = shadow_at(pointer);
    if (variable != nullptr) {
        report(Kind::bad_copy, "", site, [&] {
            return fmt::format(
                "its {} is the address of the device variable {} as host code has it, which a GPU's memory does not "
                "have: cudaMemcpyToSymbol and cudaMemcpyFromSymbol copy it, cudaGetSymbolAddress gives its address",
                end, variable->name());
        });
    }
    return variable != nullptr;
}

bool has_shadow(const CopyWork& c, const void* symbol, const void* site) {
    return (c.to != symbol && is_shadow(c.to, "target", site)) ||
           (c.from != symbol && is_shadow(c.from, "source", site));
}

// The work of a copy whose arguments are right. Its source is read when it runs.
Operation operation_of(const CopyWork& c, const char* name, const void* site) {
    return {.name = name,
            .run = [=] { run_copy(c, site); },
            .touched = footprint_of(c, !is_pageable(c.from, c.from_bytes()), site),
            .site = site,
            .work = c};
}

// When the call returns, and what it has waited for, is as the runtime's reference says ("API synchronization
// behavior").
void issue_copy(const CopyWork& c, const CopyCall& call) {
    Streams& streams = Streams::instance();
    Operation operation = operation_of(c, call.name, call.site);
    if (Captures::instance().is_capturing(call.stream)) {
        streams.issue(call.stream, std::move(operation));
        return;
    }
    const bool from_pageable = is_pageable(c.from, c.from_bytes());
    const bool to_pageable = is_pageable(c.to, c.to_bytes());
    const bool to_host = side_of(c.to) != Side::device, from_host = side_of(c.from) != Side::device;
    // If there is only one stream, nobody sees whether the copy is late: nothing is staged then.
    const bool staged = from_pageable && !to_host && (call.asynchronous || !streams.alone());
    if (staged) {
        const auto bytes = std::make_shared<std::vector<char>>(c.width * c.height);
        CopyWork late = c;
        late.from = bytes->data();
        late.from_pitch = c.width;
        for (std::size_t row = 0; row < c.height; row++) {
            std::memcpy(bytes->data() + row * c.width, static_cast<const char*>(c.from) + row * c.from_pitch, c.width);
        }
        operation.staged_bytes = bytes->size();
        operation.run = [late, bytes, site = call.site] { run_copy(late, site); };
    }
    if (!call.asynchronous && from_pageable && !to_host) {
        note_wait();
        streams.wait(call.stream);  // for the work before it; the copy itself may be late
    }
    const OperationPointer issued = streams.issue(call.stream, std::move(operation));
    // A copy to pageable memory returns when it has ended, even an asynchronous one: so it is in practice, and the
    // reference allows it.
    const bool between_hosts = to_host && from_host;
    if (between_hosts || to_pageable || (!call.asynchronous && to_host) ||
        (!call.asynchronous && from_host && !from_pageable)) {
        note_wait();
        streams.wait(issued);
    } else if (from_pageable && !staged) {
        streams.run({issued});
    }
}

// Whether a copy may be issued, or become a node. It is not empty.
cudaError_t judge(const CopyWork& c, const void* site) {
    if (c.to == nullptr || c.from == nullptr) {
        return cudaErrorInvalidValue;
    }
    if (c.kind < cudaMemcpyHostToHost || c.kind > cudaMemcpyDefault) {
        return cudaErrorInvalidMemcpyDirection;
    }
    if (c.height > 1 && (c.width > c.to_pitch || c.width > c.from_pitch)) {
        return cudaErrorInvalidPitchValue;
    }
    const auto wrong_side = [&](const void* pointer, bool device, const char* end) {
        const Side side = side_of(pointer);
        if (c.kind == cudaMemcpyDefault || side == Side::either || (side == Side::device) == device) {
            return false;
        }
        report(Kind::bad_copy, "", site, [&] {
            return fmt::format("the copy's direction says that its {} is the {}'s memory; it is the {}'s", end,
                               device ? "device" : "host", device ? "host" : "device");
        });
        return true;
    };
    const bool to_device = c.kind == cudaMemcpyHostToDevice || c.kind == cudaMemcpyDeviceToDevice;
    const bool from_device = c.kind == cudaMemcpyDeviceToHost || c.kind == cudaMemcpyDeviceToDevice;
    if (wrong_side(c.to, to_device, "target") || wrong_side(c.from, from_device, "source") ||
        !fits(c.to, c.to_bytes(), "the copy writes", site) || !fits(c.from, c.from_bytes(), "the copy reads", site)) {
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

// Whether the stream takes what a call issues.
cudaError_t judge(const CopyCall& call) {
    if (!Streams::instance().exists(call.stream)) {
        return cudaErrorInvalidResourceHandle;
    }
    if (Streams::instance().running()) {
        return cudaErrorNotPermitted;
    }
    Captures& captures = Captures::instance();
    return call.asynchronous ? captures.may_issue(call.stream, {call.name, call.site})
                             : captures.may_issue_and_wait({call.name, call.site});
}

cudaError_t copy(const CopyWork& c, const CopyCall& call) {
    const ApiLock turn;
    cudaError_t error = result(cudaSuccess);
    if (error != cudaSuccess || c.width == 0 || c.height == 0) {
        return error;
    }
    error = judge(call);
    if (error == cudaSuccess) {
        error = has_shadow(c, call.symbol, call.site) ? cudaErrorInvalidValue : judge(c, call.site);
    }
    if (error == cudaSuccess) {
        issue_copy(c, call);
    }
    return result(error);
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, const CopyCall& call) {
    return copy({to, bytes, from, bytes, bytes, 1, kind}, call);
}

void run_memset(const MemsetWork& m, const void* site) {
    if (!fits(m.to, m.bytes(), "the memset writes", site)) {
        return;
    }
    if (side_of(m.to) == Side::device) {
        note_copy({.written = m.width * m.height * m.element_bytes});
    }
    const OpenBytes open(m.to, m.bytes());
    for (std::size_t row = 0; row < m.height; row++) {
        auto* begin = static_cast<char*>(m.to) + row * m.pitch;
        if (m.element_bytes == 1) {
            std::memset(begin, static_cast<int>(m.value), m.width);
        } else {
            for (std::size_t i = 0; i < m.width; i++) {
                std::memcpy(begin + i * m.element_bytes, &m.value, m.element_bytes);  // little-endian
            }
        }
        if (const auto address = reinterpret_cast<std::uintptr_t>(begin); Memory::instance().contains(address)) {
            Memory::instance().mark_written(address, m.width * m.element_bytes);
        }
    }
}

// It is not empty.
cudaError_t judge(const MemsetWork& m, const void* site) {
    const bool known = m.element_bytes == 1 || m.element_bytes == 2 || m.element_bytes == 4;
    if (m.to == nullptr || !known || (m.height > 1 && m.width * m.element_bytes > m.pitch) ||
        side_of(m.to) == Side::host || is_shadow(m.to, "target", site) ||
        !fits(m.to, m.bytes(), "the memset writes", site)) {
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

Operation operation_of(const MemsetWork& m, const char* name, const void* site) {
    Operation operation{.name = name, .run = [=] { run_memset(m, site); }, .site = site, .work = m};
    add_rows(operation.touched, Use::write, m.to, m.pitch, m.width * m.element_bytes, m.height, site);
    return operation;
}

cudaError_t set(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
                const CopyCall& call) {
    const ApiLock turn;
    cudaError_t error = result(cudaSuccess);
    if (error != cudaSuccess || width == 0 || height == 0) {
        return error;
    }
    const MemsetWork memset{pointer, pitch, static_cast<unsigned>(value), 1, width, height};
    error = judge(call);
    if (error == cudaSuccess) {
        error = judge(memset, call.site);
    }
    if (error == cudaSuccess) {
        const OperationPointer issued =
            Streams::instance().issue(call.stream, operation_of(memset, call.name, call.site));
        if (!call.asynchronous && side_of(pointer) == Side::either) {
            Streams::instance().wait(issued);
        }
    }
    return result(error);
}

const Symbol* device_variable(const void* symbol) {
    const auto address = reinterpret_cast<std::uintptr_t>(symbol);
    const Module* module = module_of(symbol);
    return module == nullptr || module->section_of(address) == Section::none ? nullptr : module->variable_at(address);
}

// A node of a graph tells its address to the host.
CopyCall of_symbol(CopyCall call, const void* symbol) {
    if (Captures::instance().is_capturing(call.stream)) {
        give_out(symbol);
    }
    call.symbol = symbol;
    return call;
}

bool in_symbol(const void* symbol, std::size_t bytes, std::size_t offset) {
    const Symbol* variable = device_variable(symbol);
    return variable != nullptr && offset <= variable->bytes && bytes <= variable->bytes - offset;
}

cudaError_t copy_to_symbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                           cudaMemcpyKind kind, const CopyCall& call) {
    if (!device_variable(symbol)) {
        return result(cudaErrorInvalidSymbol);
    }
    if (!in_symbol(symbol, bytes, offset) ||
        (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)) {
        return result(kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost ? cudaErrorInvalidMemcpyDirection
                                                                                     : cudaErrorInvalidValue);
    }
    char* const to = static_cast<char*>(const_cast<void*>(symbol)) + offset;
    return copy(to, from, bytes, kind, of_symbol(call, to));
}

cudaError_t copy_from_symbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                             const CopyCall& call) {
    if (!device_variable(symbol)) {
        return result(cudaErrorInvalidSymbol);
    }
    if (!in_symbol(symbol, bytes, offset) ||
        (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)) {
        return result(kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost ? cudaErrorInvalidMemcpyDirection
                                                                                     : cudaErrorInvalidValue);
    }
    const char* const from = static_cast<const char*>(symbol) + offset;
    return copy(to, from, bytes, kind, of_symbol(call, from));
}

}  // namespace

cudaError_t make_copy(const CopyWork& copy, const char* name, const void* site, Operation& made) {
    const ApiLock turn;
    const bool empty = copy.width == 0 || copy.height == 0;
    const cudaError_t error = empty || has_shadow(copy, nullptr, site) ? cudaErrorInvalidValue : judge(copy, site);
    if (error == cudaSuccess) {
        made = operation_of(copy, name, site);
    }
    return result(error);
}

cudaError_t make_memset(const MemsetWork& memset, const char* name, const void* site, Operation& made) {
    const ApiLock turn;
    const bool empty = memset.width == 0 || memset.height == 0;
    const cudaError_t error = empty ? cudaErrorInvalidValue : judge(memset, site);
    if (error == cudaSuccess) {
        made = operation_of(memset, name, site);
    }
    return result(error);
}

}  // namespace simt

using simt::result;

extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    return simt::copy(to, from, bytes, kind, {"cudaMemcpy", false, nullptr, __builtin_return_address(0)});
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    return simt::copy(to, from, bytes, kind, {"cudaMemcpyAsync", true, stream, __builtin_return_address(0)});
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                         std::size_t height, cudaMemcpyKind kind) {
    return simt::copy({to, to_pitch, from, from_pitch, width, height, kind},
                      {"cudaMemcpy2D", false, nullptr, __builtin_return_address(0)});
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    return simt::copy({to, to_pitch, from, from_pitch, width, height, kind},
                      {"cudaMemcpy2DAsync", true, stream, __builtin_return_address(0)});
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes) {
    if (to_device != 0 || from_device != 0) {
        return result(cudaErrorInvalidDevice);
    }
    return simt::copy(to, from, bytes, cudaMemcpyDeviceToDevice,
                      {"cudaMemcpyPeer", false, nullptr, __builtin_return_address(0)});
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                cudaStream_t stream) {
    if (to_device != 0 || from_device != 0) {
        return result(cudaErrorInvalidDevice);
    }
    return simt::copy(to, from, bytes, cudaMemcpyDeviceToDevice,
                      {"cudaMemcpyPeerAsync", true, stream, __builtin_return_address(0)});
}

cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes) {
    return simt::set(pointer, bytes, value, bytes, 1, {"cudaMemset", false, nullptr, __builtin_return_address(0)});
}
cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes, cudaStream_t stream) {
    return simt::set(pointer, bytes, value, bytes, 1, {"cudaMemsetAsync", true, stream, __builtin_return_address(0)});
}
cudaError_t cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height) {
    return simt::set(pointer, pitch, value, width, height,
                     {"cudaMemset2D", false, nullptr, __builtin_return_address(0)});
}
cudaError_t cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
                              cudaStream_t stream) {
    return simt::set(pointer, pitch, value, width, height,
                     {"cudaMemset2DAsync", true, stream, __builtin_return_address(0)});
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                               cudaMemcpyKind kind) {
    return simt::copy_to_symbol(symbol, from, bytes, offset, kind,
                                {"cudaMemcpyToSymbol", false, nullptr, __builtin_return_address(0)});
}

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                 cudaMemcpyKind kind) {
    return simt::copy_from_symbol(to, symbol, bytes, offset, kind,
                                  {"cudaMemcpyFromSymbol", false, nullptr, __builtin_return_address(0)});
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
    return simt::copy_to_symbol(symbol, from, bytes, offset, kind,
                                {"cudaMemcpyToSymbolAsync", true, stream, __builtin_return_address(0)});
}

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
    return simt::copy_from_symbol(to, symbol, bytes, offset, kind,
                                  {"cudaMemcpyFromSymbolAsync", true, stream, __builtin_return_address(0)});
}

cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
    if (pointer == nullptr || !simt::device_variable(symbol)) {
        return result(pointer == nullptr ? cudaErrorInvalidValue : cudaErrorInvalidSymbol);
    }
    *pointer = const_cast<void*>(symbol);
    simt::give_out(symbol);
    return result(cudaSuccess);
}

cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
    const simt::Symbol* variable = simt::device_variable(symbol);
    if (bytes == nullptr || variable == nullptr) {
        return result(bytes == nullptr ? cudaErrorInvalidValue : cudaErrorInvalidSymbol);
    }
    *bytes = variable->bytes;
    return result(cudaSuccess);
}

}  // extern "C"
