// SPDX-License-Identifier: MIT
//
// The CUDA threads' stacks, and switching between them.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <vector>

namespace simt {

using Context = boost::context::detail::fcontext_t;

struct Stack {
    static constexpr std::size_t kBytes = 256 * 1024;  // of address space; a page takes memory when it is touched
    char* begin = nullptr;                             // the lowest page faults
    char* end() const { return begin + kBytes; }
};

// A stack that was given back is used again before others, while it is still in the cache.
class StackPool {
  public:
    Stack take();  // throws std::system_error if the system gives no memory
    void give_back(Stack stack) { free_.push_back(stack); }

  private:
    std::vector<Stack> free_;
};

}  // namespace simt
