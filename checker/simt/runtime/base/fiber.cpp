// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/base/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace simt {

Stack StackPool::take() {
    if (!free_.empty()) {
        const Stack stack = free_.back();
        free_.pop_back();
        return stack;
    }
    void* memory =
        mmap(nullptr, Stack::kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), PROT_NONE) != 0) {
        throw std::system_error(errno, std::generic_category(), "simt: no memory for a CUDA thread's stack");
    }
    return {static_cast<char*>(memory)};
}

}  // namespace simt
