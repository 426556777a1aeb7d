// SPDX-License-Identifier: MIT
//
// The runtime's functions for memory, except for copies and memsets (copy_api.cpp).
#include <fmt/core.h>

#include <string>
#include <utility>
#include <vector>

#include "checker/simt/include/simt/api.h"
#include "checker/simt/runtime/faults.h"
#include "checker/simt/runtime/findings.h"
#include "checker/simt/runtime/memory.h"
#include "checker/simt/runtime/modules.h"
#include "checker/simt/runtime/registered.h"
#include "checker/simt/runtime/scheduler.h"
#include "checker/simt/runtime/side.h"
#include "checker/simt/runtime/state.h"
#include "checker/simt/runtime/streams.h"

namespace simt {
namespace {

constexpr std::size_t kPitch = 512;

cudaError_t allocate(void** pointer, std::size_t bytes, Residence residence, const void* site) {
    if (pointer == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    watch_host_faults();
    *pointer = nullptr;
    if (const cudaError_t error = result(cudaSuccess); error != cudaSuccess || bytes == 0) {
        return error;
    }
    *pointer = Memory::instance().allocate(bytes, residence, site);
    return result(*pointer == nullptr ? cudaErrorMemoryAllocation : cudaSuccess);
}

// Whether the pointer may be freed in this way; if not, there is a finding.
bool may_free(void* pointer, bool pinned, const void* site) {
    Allocation* allocation = Memory::instance().begins_at(pointer);
    if (allocation == nullptr) {
        report(Kind::invalid_free, "", site, [&] {
            const Allocation* inside = Memory::instance().find(reinterpret_cast<std::uintptr_t>(pointer));
            return inside == nullptr ? std::string("the pointer is none that the device gave out")
                                     : "the pointer is not the beginning of a buffer: " +
                                           place_in(*inside, reinterpret_cast<std::uintptr_t>(pointer));
        });
        return false;
    }
    if (allocation->freed_at != nullptr) {
        report(Kind::double_free, "", site, [&] {
            return fmt::format("{} was freed before, at {}", text_of(*allocation),
                               text_of(source_of(allocation->freed_at)));
        });
        return false;
    }
    if ((allocation->residence == Residence::pinned) != pinned) {
        report(Kind::invalid_free, "", site, [&] {
            return fmt::format("{} is freed with {}", text_of(*allocation),
                               pinned ? "cudaFreeHost; cudaMalloc's memory takes cudaFree"
                                      : "cudaFree; pinned memory takes cudaFreeHost");
        });
        return false;
    }
    return true;
}

// First waits for all work of the device, as cudaFree and cudaFreeHost do in practice.
cudaError_t free(void* pointer, bool pinned, const void* site) {
    if (pointer == nullptr) {
        return result(cudaSuccess);
    }
    Streams::instance().wait_for_all();
    if (!may_free(pointer, pinned, site)) {
        return result(cudaErrorInvalidValue);
    }
    Memory::instance().free(*Memory::instance().begins_at(pointer), site);
    return result(cudaSuccess);
}

cudaError_t free_in_stream(void* pointer, cudaStream_t stream, const void* site) {
    if (pointer == nullptr) {
        return result(cudaSuccess);
    }
    if (!Streams::instance().exists(stream) || !may_free(pointer, false, site)) {
        return result(cudaErrorInvalidValue);
    }
    Operation operation{.name = "cudaFreeAsync", .run = [=] {
                            if (may_free(pointer, false, site)) {
                                Memory::instance().free(*Memory::instance().begins_at(pointer), site);
                            }
                        }};
    const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
    operation.touched.add(Use::write, {begin, begin + Memory::instance().begins_at(pointer)->bytes, site});
    Streams::instance().issue(stream, std::move(operation));
    return result(cudaSuccess);
}

cudaError_t allocate_in_stream(void** pointer, std::size_t bytes, cudaStream_t stream, const void* site) {
    if (!Streams::instance().exists(stream)) {
        return result(cudaErrorInvalidResourceHandle);
    }
    const cudaError_t error = allocate(pointer, bytes, Residence::device, site);
    if (error == cudaSuccess && bytes > 0) {
        const auto begin = reinterpret_cast<std::uintptr_t>(*pointer);
        Operation operation{.name = "cudaMallocAsync"};
        operation.touched.add(Use::write, {begin, begin + bytes, site});
        Streams::instance().issue(stream, std::move(operation));
    }
    return error;
}

cudaError_t managed_result(const void* pointer, std::size_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const Allocation* allocation = Memory::instance().find(address);
    const bool managed = allocation != nullptr && allocation->residence == Residence::managed &&
                         Memory::instance().holds(address, bytes);
    return result(managed ? cudaSuccess : cudaErrorInvalidValue);
}

}  // namespace

Side side_of(const void* pointer) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    Memory& memory = Memory::instance();
    if (memory.contains(address)) {
        return memory.is_device_only(address) ? Side::device : Side::either;
    }
    const Module* module = module_of(pointer);
    return module != nullptr && module->section_of(address) != Section::none ? Side::device : Side::host;
}

}  // namespace simt

using simt::Residence;
using simt::result;

extern "C" {

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
    return simt::allocate(pointer, bytes, Residence::device, __builtin_return_address(0));
}

cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
    return simt::allocate_in_stream(pointer, bytes, stream, __builtin_return_address(0));
}

cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
    if (pitch == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    *pitch = (width + simt::kPitch - 1) / simt::kPitch * simt::kPitch;
    return simt::allocate(pointer, *pitch * height, Residence::device, __builtin_return_address(0));
}

cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned int flags) {
    if (bytes == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)) {
        return result(cudaErrorInvalidValue);
    }
    return simt::allocate(pointer, bytes, Residence::managed, __builtin_return_address(0));
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
    return simt::allocate(pointer, bytes, Residence::pinned, __builtin_return_address(0));
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned int flags) {
    constexpr unsigned kKnown = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if ((flags & ~kKnown) != 0) {
        return result(cudaErrorInvalidValue);
    }
    return simt::allocate(pointer, bytes, Residence::pinned, __builtin_return_address(0));
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags) {
    const simt::Allocation* allocation = simt::Memory::instance().begins_at(host);
    const bool pinned = allocation != nullptr && allocation->residence == Residence::pinned;
    if (device == nullptr || flags != 0 || (!pinned && !simt::is_registered(host, 1))) {
        return result(cudaErrorInvalidValue);
    }
    *device = host;
    return result(cudaSuccess);
}

cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned int flags) {
    constexpr unsigned kKnown = cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterReadOnly;
    if (pointer == nullptr || bytes == 0 || (flags & ~kKnown) != 0 || simt::side_of(pointer) == simt::Side::device) {
        return result(cudaErrorInvalidValue);
    }
    if (simt::side_of(pointer) == simt::Side::either || !simt::register_memory(pointer, bytes)) {
        return result(cudaErrorHostMemoryAlreadyRegistered);
    }
    return result(cudaSuccess);
}

cudaError_t cudaHostUnregister(void* pointer) {
    if (pointer == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    return result(simt::unregister_memory(pointer) ? cudaSuccess : cudaErrorHostMemoryNotRegistered);
}

cudaError_t cudaFree(void* pointer) {
    return simt::free(pointer, false, __builtin_return_address(0));
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
    return simt::free_in_stream(pointer, stream, __builtin_return_address(0));
}
cudaError_t cudaFreeHost(void* pointer) {
    return simt::free(pointer, true, __builtin_return_address(0));
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    if (attributes == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, nullptr};
    simt::Memory& memory = simt::Memory::instance();
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    if (memory.contains(address) && memory.holds(address, 1)) {
        const Residence residence = memory.find(address)->residence;
        void* const there = const_cast<void*>(pointer);
        *attributes = {residence == Residence::device    ? cudaMemoryTypeDevice
                       : residence == Residence::managed ? cudaMemoryTypeManaged
                                                         : cudaMemoryTypeHost,
                       0, there, residence == Residence::device ? nullptr : there};
    } else if (simt::is_registered(pointer, 1)) {
        void* const there = const_cast<void*>(pointer);
        *attributes = {cudaMemoryTypeHost, 0, there, there};
    }
    return result(cudaSuccess);
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int, cudaStream_t) {
    return simt::managed_result(pointer, bytes);
}

cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise, cudaMemLocation) {
    return simt::managed_result(pointer, bytes);
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void* pointer, std::size_t, unsigned int) {
    return simt::managed_result(pointer, 1);
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    if (free == nullptr || total == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    *total = simt::Memory::kTotal;
    *free = simt::Memory::kTotal - simt::Memory::instance().used();
    return result(cudaSuccess);
}

cudaError_t cudaDeviceReset() {
    // A sticky error stays: CUDA asks for a new process.
    simt::Streams::instance().wait_for_all();
    std::vector<void*> alive;
    for (const auto& [begin, allocation] : simt::Memory::instance().allocations()) {
        if (allocation.freed_at == nullptr) {
            alive.push_back(reinterpret_cast<void*>(begin));
        }
    }
    for (void* pointer : alive) {
        simt::Memory::instance().free(*simt::Memory::instance().begins_at(pointer), __builtin_return_address(0));
    }
    return result(cudaSuccess);
}

}  // extern "C"

cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation, unsigned int flags,
                                 cudaStream_t) {
    return flags == 0 ? simt::managed_result(pointer, bytes) : result(cudaErrorInvalidValue);
}

cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise, int) {
    return simt::managed_result(pointer, bytes);
}
