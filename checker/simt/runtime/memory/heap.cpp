// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/memory/heap.h"

#include <algorithm>

#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/memory/frees.h"
#include "checker/simt/runtime/memory/memory.h"

namespace simt {

static std::size_t& heap_used() {
    static std::size_t bytes = 0;
    return bytes;
}

std::size_t& heap_size() {
    static std::size_t bytes = std::size_t{8} << 20;  // CUDA's default
    return bytes;
}

void* allocate_from_heap(std::size_t bytes, const void* site) {
    const InRuntime in_runtime;
    if (bytes == 0 || bytes > heap_size() - std::min(heap_used(), heap_size())) {
        return nullptr;
    }
    void* const memory = Memory::instance().allocate(bytes, Residence::heap, site);
    heap_used() += memory == nullptr ? 0 : bytes;
    return memory;
}

void free_to_heap(void* pointer, const void* site) {
    const InRuntime in_runtime;
    if (pointer != nullptr && may_free(pointer, FreedBy::kernel, site)) {
        Allocation& allocation = *Memory::instance().begins_at(pointer);
        heap_used() -= allocation.bytes;
        Memory::instance().free(allocation, site);
    }
}

}  // namespace simt
