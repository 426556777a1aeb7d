// SPDX-License-Identifier: MIT
//
// The runtime's functions for memory, except for copies and memsets (copy_api.cpp).
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "checker/simt/include/simt/api.h"
#include "checker/simt/runtime/api/lifecycle.h"
#include "checker/simt/runtime/api/side.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/memory/frees.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/memory/modules.h"
#include "checker/simt/runtime/memory/registered.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/report/objects.h"
#include "checker/simt/runtime/streams/capture.h"
#include "checker/simt/runtime/streams/graphs.h"
#include "checker/simt/runtime/streams/streams.h"
#include "checker/simt/runtime/threads/faults.h"
#include "checker/simt/runtime/threads/scheduler.h"

namespace simt {
namespace {

constexpr std::size_t kPitch = 512;

std::string no_room_text(std::string_view function, std::size_t bytes) {
    const std::size_t used = Memory::instance().used();
    const std::string asked = fmt::format("{} has no room for {} bytes: ", function, bytes);
    return bytes > Memory::kTotal - used
               ? asked + fmt::format("{} of the device's {} are in use", used, Memory::kTotal)
               : asked + fmt::format("no free range of addresses is as long, with {} bytes in use", used);
}

cudaError_t allocate(void** pointer, std::size_t bytes, Residence residence, const ApiCall& call) {
    if (pointer == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    const ApiLock turn;
    watch_host_faults();
    *pointer = nullptr;
    if (const cudaError_t error = result(cudaSuccess); error != cudaSuccess || bytes == 0) {
        return error;
    }
    if (const cudaError_t error = Captures::instance().may_be_unsafe(call); error != cudaSuccess) {
        return result(error);
    }
    Memory& memory = Memory::instance();
    if (!memory.has_fresh_room(bytes, residence)) {
        Streams::instance().wait_for_all();  // a queue may hold the cudaFreeAsync() that makes room
    }
    *pointer = memory.allocate(bytes, residence, call.place.return_address);
    if (*pointer == nullptr) {
        note(call.place.return_address, no_room_text(call.name, bytes));
    }
    if (*pointer != nullptr && residence == Residence::pinned) {
        std::memset(*pointer, 0xff, bytes);  // NaN, or -1: what nobody has written is seen where it is used
    }
    return result(*pointer == nullptr ? cudaErrorMemoryAllocation : cudaSuccess);
}

// In a capture memory that a stream allocates or frees is a node of its own.
cudaError_t refuses_memory_node(cudaStream_t stream, const ApiCall& call) {
    const cudaError_t error = Captures::instance().refuses(
        stream, cudaErrorNotSupported,
        "makes a memory node in a stream that is being captured, which the CPU device lacks: allocate before "
        "cudaStreamBeginCapture(), and free when the graph is no longer launched",
        call);
    return error == cudaSuccess ? Captures::instance().may_issue(stream, call) : error;
}

// A pointer that may be freed.
void free(void* pointer, const void* site) {
    Allocation& allocation = *Memory::instance().begins_at(pointer);
    if (allocation.pool != nullptr) {
        allocation.pool->used -= allocation.bytes;
    }
    Memory::instance().free(allocation, site);
}

// First waits for all work of the device, as cudaFree and cudaFreeHost do in practice.
cudaError_t free(void* pointer, FreedBy by, const void* site) {
    if (pointer == nullptr) {
        return result(cudaSuccess);
    }
    const ApiLock turn;
    if (const cudaError_t error = Captures::instance().may_be_unsafe({text_of(by), site}); error != cudaSuccess) {
        return result(error);
    }
    Streams::instance().wait_for_all();
    note_wait();
    if (!may_free(pointer, by, site)) {
        return result(cudaErrorInvalidValue);
    }
    free(pointer, site);
    return result(cudaSuccess);
}

cudaError_t free_in_stream(void* pointer, cudaStream_t stream, const void* site) {
    if (pointer == nullptr) {
        return result(cudaSuccess);
    }
    const ApiLock turn;
    if (!Streams::instance().exists(stream) || !may_free(pointer, FreedBy::cuda_free, site)) {
        return result(cudaErrorInvalidValue);
    }
    if (const cudaError_t error = refuses_memory_node(stream, {"cudaFreeAsync", site}); error != cudaSuccess) {
        return result(error);
    }
    Operation operation{.name = "cudaFreeAsync", .run = [=] {
                            if (may_free(pointer, FreedBy::cuda_free, site)) {
                                free(pointer, site);
                            }
                        }};
    const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
    operation.touched.add(Use::write, {begin, begin + Memory::instance().begins_at(pointer)->bytes, site});
    Streams::instance().issue(stream, std::move(operation));
    return result(cudaSuccess);
}

// By handle. Those that the program has destroyed live on in their allocations.
using Pools = std::map<cudaMemPool_t, std::shared_ptr<Pool>>;
Pools& pools() {
    static auto& instance = *new Pools;
    return instance;
}

cudaMemPool_t add_pool() {
    auto pool = std::make_shared<Pool>();
    const auto handle = reinterpret_cast<cudaMemPool_t>(pool.get());
    pools()[handle] = std::move(pool);
    return handle;
}

cudaMemPool_t default_pool() {
    static cudaMemPool_t const pool = add_pool();
    return pool;
}
cudaMemPool_t& current_pool() {
    static cudaMemPool_t pool = default_pool();
    return pool;
}

bool is_pool(cudaMemPool_t pool) {
    return pool == default_pool() || pools().contains(pool);
}

int* reuse_of(Pool& pool, cudaMemPoolAttr attribute) {
    switch (attribute) {
        case cudaMemPoolReuseFollowEventDependencies:
            return &pool.follows_events;
        case cudaMemPoolReuseAllowOpportunistic:
            return &pool.is_opportunistic;
        case cudaMemPoolReuseAllowInternalDependencies:
            return &pool.adds_dependencies;
        default:
            return nullptr;
    }
}

cudaError_t allocate_in_stream(void** pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream,
                               const ApiCall& call) {
    const ApiLock turn;
    if (!Streams::instance().exists(stream)) {
        return result(cudaErrorInvalidResourceHandle);
    }
    if (!is_pool(pool)) {
        return result(cudaErrorInvalidValue);
    }
    if (const cudaError_t error = refuses_memory_node(stream, call); error != cudaSuccess) {
        return result(error);
    }
    const void* const site = call.place.return_address;
    const cudaError_t error = allocate(pointer, bytes, Residence::device, call);
    if (error == cudaSuccess && bytes > 0) {
        Allocation& allocation = *Memory::instance().begins_at(*pointer);
        allocation.pool = pools()[pool];
        allocation.pool->used += bytes;
        allocation.pool->most_used = std::max(allocation.pool->most_used, allocation.pool->used);
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
    return simt::allocate(pointer, bytes, Residence::device, {"cudaMalloc", __builtin_return_address(0)});
}

cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
    return simt::allocate_in_stream(pointer, bytes, simt::current_pool(), stream,
                                    {"cudaMallocAsync", __builtin_return_address(0)});
}
cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    return simt::allocate_in_stream(pointer, bytes, pool, stream,
                                    {"cudaMallocFromPoolAsync", __builtin_return_address(0)});
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
    if (pool == nullptr || device != 0) {
        return result(pool == nullptr ? cudaErrorInvalidValue : cudaErrorInvalidDevice);
    }
    *pool = simt::default_pool();
    return result(cudaSuccess);
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
    if (pool == nullptr || device != 0) {
        return result(pool == nullptr ? cudaErrorInvalidValue : cudaErrorInvalidDevice);
    }
    *pool = simt::current_pool();
    return result(cudaSuccess);
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
    if (device != 0 || !simt::is_pool(pool)) {
        return result(device != 0 ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    }
    simt::current_pool() = pool;
    return result(cudaSuccess);
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
    if (pool == nullptr || properties == nullptr || properties->allocType != cudaMemAllocationTypePinned ||
        properties->location.type != cudaMemLocationTypeDevice) {
        return result(cudaErrorInvalidValue);
    }
    if (properties->location.id != 0 || properties->handleTypes != cudaMemHandleTypeNone) {
        return result(properties->location.id != 0 ? cudaErrorInvalidDevice : cudaErrorNotSupported);
    }
    *pool = simt::add_pool();
    return result(cudaSuccess);
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    if (!simt::is_pool(pool) || pool == simt::default_pool()) {
        return result(cudaErrorInvalidValue);
    }
    if (simt::current_pool() == pool) {
        simt::current_pool() = simt::default_pool();
    }
    simt::pools().erase(pool);
    return result(cudaSuccess);
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    if (!simt::is_pool(pool) || value == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    simt::Pool& it = *simt::pools()[pool];
    if (int* reuse = simt::reuse_of(it, attribute)) {
        *reuse = *static_cast<const int*>(value);
        return result(cudaSuccess);
    }
    const unsigned long long number = *static_cast<const unsigned long long*>(value);
    if (attribute == cudaMemPoolAttrReleaseThreshold) {
        it.release_threshold = number;
        return result(cudaSuccess);
    }
    // A high-water mark may be set to 0: it begins again.
    if ((attribute != cudaMemPoolAttrUsedMemHigh && attribute != cudaMemPoolAttrReservedMemHigh) || number != 0) {
        return result(cudaErrorInvalidValue);
    }
    it.most_used = it.used;
    return result(cudaSuccess);
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    if (!simt::is_pool(pool) || value == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    simt::Pool& it = *simt::pools()[pool];
    if (const int* reuse = simt::reuse_of(it, attribute)) {
        *static_cast<int*>(value) = *reuse;
        return result(cudaSuccess);
    }
    if (attribute < cudaMemPoolAttrReleaseThreshold || attribute > cudaMemPoolAttrUsedMemHigh) {
        return result(cudaErrorInvalidValue);
    }
    const bool high = attribute == cudaMemPoolAttrUsedMemHigh || attribute == cudaMemPoolAttrReservedMemHigh;
    *static_cast<unsigned long long*>(value) = attribute == cudaMemPoolAttrReleaseThreshold ? it.release_threshold
                                               : high                                       ? it.most_used
                                                                                            : it.used;
    return result(cudaSuccess);
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
    return result(simt::is_pool(pool) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* accesses, std::size_t count) {
    if (!simt::is_pool(pool) || accesses == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    const bool own = std::all_of(accesses, accesses + count, [](const cudaMemAccessDesc& access) {
        return access.location.type == cudaMemLocationTypeDevice && access.location.id == 0 &&
               access.flags == cudaMemAccessFlagsProtReadWrite;
    });
    return result(own ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location) {
    if (flags == nullptr || !simt::is_pool(pool) || location == nullptr || location->id != 0) {
        return result(cudaErrorInvalidValue);
    }
    *flags = cudaMemAccessFlagsProtReadWrite;
    return result(cudaSuccess);
}

cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
    if (pitch == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    *pitch = (width + simt::kPitch - 1) / simt::kPitch * simt::kPitch;
    return simt::allocate(pointer, *pitch * height, Residence::device,
                          {"cudaMallocPitch", __builtin_return_address(0)});
}

cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned int flags) {
    if (bytes == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)) {
        return result(cudaErrorInvalidValue);
    }
    return simt::allocate(pointer, bytes, Residence::managed, {"cudaMallocManaged", __builtin_return_address(0)});
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
    return simt::allocate(pointer, bytes, Residence::pinned, {"cudaMallocHost", __builtin_return_address(0)});
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned int flags) {
    constexpr unsigned kKnown = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if ((flags & ~kKnown) != 0) {
        return result(cudaErrorInvalidValue);
    }
    return simt::allocate(pointer, bytes, Residence::pinned, {"cudaHostAlloc", __builtin_return_address(0)});
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
    if (const cudaError_t error =
            simt::Captures::instance().may_be_unsafe({"cudaHostRegister", __builtin_return_address(0)});
        error != cudaSuccess) {
        return result(error);
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
    return simt::free(pointer, simt::FreedBy::cuda_free, __builtin_return_address(0));
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
    return simt::free_in_stream(pointer, stream, __builtin_return_address(0));
}
cudaError_t cudaFreeHost(void* pointer) {
    return simt::free(pointer, simt::FreedBy::cuda_free_host, __builtin_return_address(0));
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
        *attributes = {!simt::is_for_the_host(residence) ? cudaMemoryTypeDevice
                       : residence == Residence::managed ? cudaMemoryTypeManaged
                                                         : cudaMemoryTypeHost,
                       0, there, simt::is_for_the_host(residence) ? there : nullptr};
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

// "not currently supported in graphs" (CUDA C++ Programming Guide, "Prohibited and Unhandled Operations").
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, std::size_t, unsigned int) {
    const cudaError_t error =
        simt::Captures::instance().refuses(stream, cudaErrorStreamCaptureUnsupported, "makes no node of a graph",
                                           {"cudaStreamAttachMemAsync", __builtin_return_address(0)});
    return error == cudaSuccess ? simt::managed_result(pointer, 1) : result(error);
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
    simt::Captures::instance().abandon_all();
    simt::Graphs::instance().destroy_all(__builtin_return_address(0));
    simt::Streams::instance().wait_for_all();
    simt::destroy_streams_and_events();
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

cudaError_t cudaThreadExit() __attribute__((alias("cudaDeviceReset")));

}  // extern "C"

cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation, unsigned int flags,
                                 cudaStream_t) {
    return flags == 0 ? simt::managed_result(pointer, bytes) : result(cudaErrorInvalidValue);
}

cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise, int) {
    return simt::managed_result(pointer, bytes);
}
