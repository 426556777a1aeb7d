// SPDX-License-Identifier: MIT
//
// Shared memory. The window is where kernels see it: static arrays are thread-local variables of the kernel's module,
// dynamic shared memory is one array of the runtime. Each resident block has a slot, whose bytes hold its shared memory
// while another block runs. A change of blocks copies the window into one slot and another slot into the window: mapping
// a slot's pages over the window took 2.3 us for 4 KB and 4.5 us for 40 KB, copying 0.1 and 1.6 us.
//
// An offset is a 32-bit address as on a GPU, the same for a variable in each block of a launch. Slots are laid out by
// offsets: kReservedSharedPerBlock unused bytes, dynamic memory, a guard, static arrays.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checker/simt/runtime/memory/modules.h"

namespace simt {

inline constexpr std::size_t kResidentBlocks = 16;
inline constexpr std::size_t kStaticSharedLimit = 48 * 1024;
inline constexpr std::size_t kDynamicSharedLimit = 227 * 1024;
inline constexpr std::size_t kDynamicSharedAlignment = 1024;
inline constexpr std::size_t kDynamicSharedGuard = 4096;  // after the largest: no kernel may touch it

// The state of a byte. No thread may use a byte from `outside` on. A byte is `copied_unwritten` if an asynchronous
// copy has brought it from an unwritten one, and `on_its_way` while such a copy has not landed.
enum class Mark : std::uint8_t { written, unwritten, copied_unwritten, outside, on_its_way };

// The state of each byte of a block's shared memory.
struct SharedMarks {
    std::vector<Mark> statics, dynamic;
    std::size_t dynamic_end = 0;  // beyond it all of `dynamic` is `outside`
};

class SharedMemory {
  public:
    // Prepares one launch: the kernel uses the module's static arrays, and a block has `dynamic_bytes` of dynamic memory.
    void configure(const Module* module, std::size_t dynamic_bytes);

    // Returns the number of a free slot, which is the caller's until give_back.
    unsigned take_slot();
    void give_back(unsigned slot) { slots_taken_ &= ~(1U << slot); }
    // Gives the window to a block that begins: none of its bytes is written yet.
    void begin_block(unsigned slot);
    void save(unsigned slot);  // the window into the slot
    void load(unsigned slot);  // the slot into the window
    void expose() const;       // to the hooks
    static void end_launch();

    // Returns the offset of an address in the window; nothing if it lies elsewhere.
    std::optional<std::size_t> offset_of(std::uintptr_t address) const;
    // Returns the address of an offset in the window, or in a slot to which the block has been saved; nothing if no
    // shared memory has that offset.
    std::optional<std::uintptr_t> address_of(std::size_t offset) const;
    std::optional<std::uintptr_t> address_of(std::size_t offset, unsigned slot) const;

    // The marks of [address, address + bytes), or null if that is not shared memory. If only the last bytes of a span
    // lie beyond the shared memory, they have the mark `outside`.
    Mark* marks(std::uintptr_t address, std::size_t bytes);
    // The position of a byte that has a mark among all bytes of the block, of which there are size().
    std::size_t index_of(std::uintptr_t address) const;
    std::size_t size() const { return dynamic_bytes_ + marks_->statics.size(); }
    // Returns true for the compiler's own flags: each thread notes there that it has constructed a variable.
    bool is_flag(std::uintptr_t address) const;
    std::uintptr_t static_begin() const { return static_begin_; }
    // Returns the static array that a wild address was meant for: the address lies some kilobytes beyond them, or where
    // an unsigned index that overflowed leads. "512 bytes before tile (4096 bytes)"; empty: none.
    std::string place_of_wild(std::uintptr_t address) const;
    // Returns the known extents of the variable at the address; null: none.
    const Extents* extents_at(std::uintptr_t address) const;
    // Returns the address's place in a variable that happens to be at a multiple of 16: neither its type nor its
    // declaration asks for that. Empty: it lies in none, or in one that was reported before.
    std::string accidentally_aligned_place(std::uintptr_t address);
    // "tile[2][12] of tile[32][33]", or "tile[2][12]" without its shape; "byte 8 of the 64 bytes of dynamic shared
    // memory".
    std::string place_of(std::uintptr_t address, bool with_shape = true) const;

  private:
    const Module* module_ = nullptr;
    std::size_t dynamic_bytes_ = 0;
    const Symbol* symbol_at(std::uintptr_t address) const;  // null: none

    std::size_t static_bytes() const { return static_end_ - static_begin_; }
    void reserve_slots();
    char* slot_begin(unsigned slot) const { return slots_ + slot * slot_bytes_; }

    std::uintptr_t static_begin_ = 0, static_end_ = 0;
    std::size_t static_offset_ = 0;                   // static_begin_ as an offset
    std::vector<std::uint8_t> accidentally_aligned_;  // HotShared::lucky
    std::vector<Mark> static_template_;
    std::array<SharedMarks, kResidentBlocks> marks_of_slots_;
    SharedMarks* marks_ = &marks_of_slots_[0];  // the window's
    unsigned slots_taken_ = 0;                  // one bit per slot
    // kResidentBlocks slots of whole pages, one after the other; null until two blocks are resident.
    char* slots_ = nullptr;
    std::size_t slot_bytes_ = 0, reserved_bytes_ = 0;
};

}  // namespace simt
