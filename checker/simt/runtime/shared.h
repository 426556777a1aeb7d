// SPDX-License-Identifier: MIT
//
// Shared memory. Static arrays are thread-local variables of the kernel's module, dynamic shared memory is one array of
// the runtime; both hold the block that is running, and are saved while another resident block runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checker/simt/runtime/modules.h"

namespace simt {

inline constexpr std::size_t kStaticSharedLimit = 48 * 1024;
inline constexpr std::size_t kDynamicSharedLimit = 227 * 1024;
inline constexpr std::size_t kDynamicSharedGuard = 4096;  // behind the largest: no kernel may touch it

// Of a byte. From `outside` on nobody may use it; what an asynchronous copy has brought from where nobody had written is
// `copied_unwritten`, and where one has not landed yet `on_its_way`.
enum class Mark : std::uint8_t { written, unwritten, copied_unwritten, outside, on_its_way };

// What a block's shared memory holds while the block does not run.
struct SharedImage {
    std::vector<char> static_bytes, dynamic_bytes;
    std::vector<Mark> static_marks, dynamic_marks;
};

class SharedMemory {
  public:
    // For one launch: the module whose static arrays the kernel uses, and how much dynamic memory a block has.
    void configure(const Module* module, std::size_t dynamic_bytes);

    void begin_block();  // nothing is written yet
    void save(SharedImage& image) const;
    void load(const SharedImage& image);

    // The marks of [address, address + bytes), null where that is not shared memory. A span that leaves the shared
    // memory on its last bytes has marks `outside` there.
    Mark* marks(std::uintptr_t address, std::size_t bytes);
    // Of a byte that has a mark: its place among all of the block's, of which there are size().
    std::size_t index_of(std::uintptr_t address) const;
    std::size_t size() const { return dynamic_bytes_ + static_marks_.size(); }
    // Whether it is the compiler's own: each thread writes there that a variable with a constructor is made.
    bool is_flag(std::uintptr_t address) const;
    std::uintptr_t static_begin() const { return static_begin_; }
    // "tile[2][12] of tile[32][33]", without its shape "tile[2][12]"; "byte 8 of the 64 bytes of dynamic shared memory".
    std::string place_of(std::uintptr_t address, bool with_shape = true) const;

  private:
    const Module* module_ = nullptr;
    std::size_t dynamic_bytes_ = 0;
    std::uintptr_t static_begin_ = 0, static_end_ = 0;
    std::vector<Mark> static_template_, static_marks_, dynamic_marks_;
};

}  // namespace simt
