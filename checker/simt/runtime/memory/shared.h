// SPDX-License-Identifier: MIT
//
// Shared memory. Static arrays are thread-local variables of the kernel's module, dynamic shared memory is one array of
// the runtime; both hold the block that is running, and are saved while another resident block runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checker/simt/runtime/memory/modules.h"

namespace simt {

inline constexpr std::size_t kStaticSharedLimit = 48 * 1024;
inline constexpr std::size_t kDynamicSharedLimit = 227 * 1024;
inline constexpr std::size_t kDynamicSharedGuard = 4096;  // after the largest: no kernel may touch it

// The state of a byte. From `outside` on nobody may use it. It is `copied_unwritten` if an asynchronous copy has
// brought it from where nobody had written, and `on_its_way` while such a copy has not landed.
enum class Mark : std::uint8_t { written, unwritten, copied_unwritten, outside, on_its_way };

// What a block's shared memory holds while the block does not run.
struct SharedImage {
    std::vector<char> static_bytes, dynamic_bytes;
    std::vector<Mark> static_marks, dynamic_marks;
};

class SharedMemory {
  public:
    // Prepares one launch: the kernel uses the module's static arrays, and a block has so much dynamic memory.
    void configure(const Module* module, std::size_t dynamic_bytes);

    void begin_block();   // nothing is written yet
    void expose() const;  // to the hooks
    static void end_launch();
    void save(SharedImage& image) const;
    void load(const SharedImage& image);

    // The marks of [address, address + bytes), or null if that is not shared memory. If only the last bytes of a span
    // lie beyond the shared memory, they have the mark `outside`.
    Mark* marks(std::uintptr_t address, std::size_t bytes);
    // The position of a byte that has a mark among all bytes of the block, of which there are size().
    std::size_t index_of(std::uintptr_t address) const;
    std::size_t size() const { return dynamic_bytes_ + static_marks_.size(); }
    // Whether it is one of the compiler's own flags: each thread notes there that it has constructed a variable.
    bool is_flag(std::uintptr_t address) const;
    std::uintptr_t static_begin() const { return static_begin_; }
    // Which static array a wild address was meant for: one that lies some kilobytes beyond them, or where an unsigned
    // index that overflowed leads. "512 bytes before tile (4096 bytes)"; empty: none.
    std::string place_of_wild(std::uintptr_t address) const;
    // What is known of the variable at the address; null: nothing.
    const Extents* extents_at(std::uintptr_t address) const;
    // Where the address lies in a variable that is at a multiple of 16 by luck: neither its type nor its declaration asks
    // for it. Empty: it does not, or was told before.
    std::string place_by_luck(std::uintptr_t address);
    // "tile[2][12] of tile[32][33]", or "tile[2][12]" without its shape; "byte 8 of the 64 bytes of dynamic shared
    // memory".
    std::string place_of(std::uintptr_t address, bool with_shape = true) const;

  private:
    const Module* module_ = nullptr;
    std::size_t dynamic_bytes_ = 0;
    const Symbol* symbol_at(std::uintptr_t address) const;  // null: none

    std::uintptr_t static_begin_ = 0, static_end_ = 0;
    std::vector<std::uint8_t> lucky_;  // HotShared::lucky
    std::vector<Mark> static_template_, static_marks_, dynamic_marks_;
};

}  // namespace simt
