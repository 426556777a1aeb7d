// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/memory/registered.h"

#include <cstdint>
#include <map>

namespace simt {
namespace {

// End by begin. Ranges do not overlap.
std::map<std::uintptr_t, std::uintptr_t>& ranges() {
    static auto& instance = *new std::map<std::uintptr_t, std::uintptr_t>;
    return instance;
}

}  // namespace

bool register_memory(const void* pointer, std::size_t bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
    const auto next = ranges().lower_bound(begin);
    const bool beside_next = next == ranges().end() || begin + bytes <= next->first;
    const bool beside_previous = next == ranges().begin() || std::prev(next)->second <= begin;
    if (beside_next && beside_previous) {
        ranges()[begin] = begin + bytes;
    }
    return beside_next && beside_previous;
}

bool unregister_memory(const void* pointer) {
    return ranges().erase(reinterpret_cast<std::uintptr_t>(pointer)) == 1;
}

bool any_registered() {
    return !ranges().empty();
}

bool is_registered(const void* pointer, std::size_t bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
    const auto next = ranges().upper_bound(begin);
    return next != ranges().begin() && begin + bytes <= std::prev(next)->second;
}

}  // namespace simt
