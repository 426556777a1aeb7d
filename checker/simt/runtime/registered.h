// SPDX-License-Identifier: MIT
//
// The host's own memory that kernels may use: what cudaHostRegister has registered.
#pragma once

#include <cstddef>

namespace simt {

// False where a part of the range is registered already.
bool register_memory(const void* pointer, std::size_t bytes);
// False where no registered range begins there.
bool unregister_memory(const void* pointer);
// Whether all of the range is registered, as one.
bool is_registered(const void* pointer, std::size_t bytes);

}  // namespace simt
