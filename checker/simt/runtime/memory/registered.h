// SPDX-License-Identifier: MIT
//
// The host's own memory that kernels may use, because cudaHostRegister has registered it.
#pragma once

#include <cstddef>

namespace simt {

// False if a part of the range is registered already.
bool register_memory(const void* pointer, std::size_t bytes);
// False if no registered range begins there.
bool unregister_memory(const void* pointer);
bool any_registered();
// Whether one registration covers all of the range.
bool is_registered(const void* pointer, std::size_t bytes);

}  // namespace simt
