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
    static constexpr std::size_t kBytes = 256 * 1024;  // of addresses; pages are taken when touched
    char* begin = nullptr;                             // the lowest page faults
    char* end() const { return begin + kBytes; }
};

// Stacks that are given back are used again first, while they are still in the cache.
class StackPool {
  public:
    Stack take();  // throws std::system_error where the system gives no memory
    void give_back(Stack stack) { free_.push_back(stack); }

  private:
    std::vector<Stack> free_;
};

}  // namespace simt
