// SPDX-License-Identifier: MIT
//
// Which bytes an operation of a stream has touched, and how. This is compared for two operations that nothing orders.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace simt {

// Strong: atomic of the device's scope, or volatile.
enum class Use : std::uint8_t { read, write, strong_read, strong_write };
inline constexpr Use kUses[] = {Use::read, Use::write, Use::strong_read, Use::strong_write};
inline constexpr bool writes(Use use) {
    return use == Use::write || use == Use::strong_write;
}
inline constexpr bool strong(Use use) {
    return use == Use::strong_read || use == Use::strong_write;
}
// Whether two uses of the same bytes are a race, if nothing orders them.
inline constexpr bool conflict(Use a, Use b) {
    return (writes(a) || writes(b)) && !(strong(a) && strong(b));
}

struct Span {
    std::uintptr_t begin, end;
    const void* site;         // return address of the access, or of the call that issued a copy
    std::uint64_t block = 0;  // the block that touched the first byte, if a kernel did it
    std::uint32_t thread = 0;
};

class Footprint {
  public:
    static constexpr std::size_t kMostSpans = std::size_t{1} << 18;  // further ones are not looked at

    // To be called in the order of addresses for each use: bytes that begin where the last ones ended lengthen their
    // span.
    void add(Use use, const Span& span);
    void settle();  // sorts what was added in another order
    bool empty() const;
    std::size_t spans() const;
    std::uintptr_t begin() const { return begin_; }
    std::uintptr_t end() const { return end_; }
    const std::vector<Span>& of(Use use) const { return spans_[static_cast<std::size_t>(use)]; }

    // The span of this use that holds some of [begin, end), or null.
    const Span* find(Use use, std::uintptr_t begin, std::uintptr_t end) const;
    // Calls `found` for the first span of each use that shares bytes with `other` and conflicts with its use.
    void for_each_conflict(Use other_use, const Span& other, const std::function<void(Use, const Span&)>& found) const;

  private:
    std::array<std::vector<Span>, 4> spans_;
    std::uintptr_t begin_ = UINTPTR_MAX, end_ = 0;
};

// Calls `found` for each pair of spans that have bytes in common and conflict.
using Overlap = std::function<void(Use, const Span&, Use, const Span&)>;
void for_each_conflict(const Footprint& a, const Footprint& b, const Overlap& found);

}  // namespace simt
