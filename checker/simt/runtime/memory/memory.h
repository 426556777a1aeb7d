// SPDX-License-Identifier: MIT
//
// The device's global memory: one range of addresses, far from the host's. A page of it costs nothing until somebody
// touches it. It may be used only while a launch or a copy of the runtime has it open; host code that touches it at
// another time faults. After every allocation there is a gap of at least half its size (16 MiB at most). Before an
// allocation with more elements than an int can count there is a gap as wide as the way back of an index that
// overflows. Addresses that were never used go first, so a wrong address can be told from a right one. Once they run out,
// those of the buffers that were freed first are used again, as many as are needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checker/simt/runtime/base/hot.h"

namespace simt {

// `heap`: a kernel has allocated it.
enum class Residence { device, managed, pinned, heap };

inline constexpr bool is_for_the_host(Residence residence) {
    return residence == Residence::managed || residence == Residence::pinned;
}

// What streams allocate from: how much of it is in use, and what the program has set.
struct Pool {
    unsigned long long used = 0, most_used = 0;  // bytes
    unsigned long long release_threshold = 0;
    int follows_events = 1, is_opportunistic = 1, adds_dependencies = 1;
};

// A dimension of a buffer, as reports name it: {"T", "t", 8} is "T=8" in the shape and "t=3" in an index.
struct Axis {
    std::string name, index_name;
    long size;
};

// What a buffer holds, if somebody has said so.
enum class Values { unknown, floats, integers };

// The use that a kernel is meant to make of a named buffer; unknown without name_use.
struct BufferUse {
    bool is_input = false;   // it is only read
    bool is_output = false;  // it is only written
    long columns = -1;       // elements of a row from here on are not to be written; -1: all may be
};

struct Allocation {
    std::uintptr_t begin;
    std::size_t bytes;
    Residence residence;
    const void* allocated_at;         // return address
    const void* freed_at = nullptr;   // null: it is alive
    const void* freed_for = nullptr;  // return address where the destructor was called that freed it; null: none did
    std::string name = {};            // empty without name_buffer
    std::vector<Axis> shape = {};
    std::size_t element_bytes = 1;
    Values values = Values::unknown;
    BufferUse use = {};
    std::shared_ptr<Pool> pool = {};
    std::size_t room_before = 0;  // free bytes before it: an address there is taken to mean this buffer
    std::uintptr_t room_end = 0;  // end of the gap after it
};

class Memory {
  public:
    static constexpr std::size_t kTotal = std::size_t{64} << 30;  // what the imaginary device has
    static constexpr std::size_t kAlignment = 256;
    // A quarter of it is for managed and pinned memory, which the host may touch at any time.
    static constexpr std::size_t kReserved = std::size_t{1} << 42;
    static constexpr std::size_t kHostVisible = kReserved / 4 * 3;

    // The memory of the one device. It is global because the hooks, the API and the fault handler all mean the same
    // memory.
    static Memory& instance();

    // Returns true if allocate() needs neither another free nor addresses that were used before. If it does,
    // records of operations must not name those any more: wait for all streams first.
    bool has_fresh_room(std::size_t bytes, Residence residence) const;

    // Null if there is no room for `bytes` more. A heap allocation makes no freed buffer give up its addresses. Managed
    // and pinned memory counts as written, because the host's writes are not seen.
    void* allocate(std::size_t bytes, Residence residence, const void* site);
    void free(Allocation& allocation, const void* site);
    // Makes the next allocation begin `bytes` after a multiple of kAlignment; fewer than that.
    void misalign_next(std::size_t bytes) { misalignment_ = bytes; }

    // The allocation, alive or freed, that holds the address in its bytes or in the gap after them; null if there is
    // none.
    Allocation* find(std::uintptr_t address);
    Allocation* begins_at(const void* pointer);  // alive or freed
    bool contains(std::uintptr_t address) const { return address - hot_begin_ < kReserved; }
    bool is_device_only(std::uintptr_t address) const { return address - hot_begin_ < kHostVisible; }
    // Whether [address, address + bytes) lies in one living allocation.
    bool holds(std::uintptr_t address, std::size_t bytes);
    // Returns true if some byte of [begin, begin + bytes) is in a living allocation.
    bool is_any_alive(std::uintptr_t begin, std::size_t bytes) const;

    // Where a GPU maps memory, in pages of 2 MB, an access beyond a buffer does not fault. False if there is none; true:
    // the access may go on there, and what it reads is poison.
    bool lend(const Allocation& allocation, std::uintptr_t address, std::size_t bytes);

    void mark_written(std::uintptr_t address, std::size_t bytes);
    // One byte for each byte of the range from this address on, 0 if nobody has written there; null if nothing is
    // noted.
    const std::uint8_t* marks(std::uintptr_t address) const {
        return shadow_ == nullptr ? nullptr : shadow_ + (address - hot_begin_);
    }
    // Code without hooks writes what nobody sees: from then on marks do not tell what has been written.
    void mark_writes_untracked() { sees_writes_ = false; }
    bool knows_what_is_written() const { return shadow_ != nullptr && sees_writes_; }
    void set_marks(std::uintptr_t address, const std::uint8_t* marks, std::size_t bytes);
    void copy_marks(std::uintptr_t to, std::uintptr_t from, std::size_t bytes);  // the same range may overlap

    std::size_t used() const { return used_; }
    const std::map<std::uintptr_t, Allocation>& allocations() const { return allocations_; }

    void open();
    void close();
    // Only the pages of these bytes, where nothing is open yet; true: all of the memory is open instead.
    bool open_only(std::uintptr_t begin, std::size_t bytes);
    void close_only(std::uintptr_t begin, std::size_t bytes) { protect_pages(begin, bytes, false); }

  private:
    // Addresses that the host may use at any time, or those of the device alone.
    struct Range {
        std::size_t end;    // offset of the first that was never used
        std::size_t limit;  // offset
        // Offset to size in bytes: addresses that no buffer has any more. No two holes touch.
        std::map<std::size_t, std::size_t> holes = {};
        std::deque<std::uintptr_t> freed = {};  // buffers that still have their addresses, oldest first
    };

    Memory();
    Range& range_of(Residence residence) { return is_for_the_host(residence) ? host_ : device_; }
    const Range& range_of(Residence residence) const { return is_for_the_host(residence) ? host_ : device_; }
    // The offset of that many bytes; nothing if there is no room.
    std::optional<std::size_t> take(Range& range, std::size_t bytes, bool may_give_up);
    static std::optional<std::size_t> take_from_holes(Range& range, std::size_t bytes);
    void give_up_oldest(Range& range);
    void discard(std::uintptr_t begin, std::size_t bytes);
    void protect(bool open);
    void protect_pages(std::uintptr_t begin, std::size_t bytes, bool open);
    void make_usable(std::uintptr_t begin, std::size_t bytes, Residence residence);

    std::uintptr_t hot_begin_ = 0;
    std::uint8_t* shadow_ = nullptr;
    bool sees_writes_ = true;
    Range device_{.end = 0, .limit = kHostVisible};
    Range host_{.end = kHostVisible, .limit = kReserved};
    std::size_t used_ = 0;
    std::size_t misalignment_ = 0;  // bytes, of the next allocation
    int opened_ = 0;
    int key_ =
        -1;  // the processor's protection key of the device's memory; without one, pages are protected one by one
    Allocation* last_found_ = nullptr;
    std::map<std::uintptr_t, Allocation> allocations_;
};

// The device's memory is open while this lives.
class OpenMemory {
  public:
    OpenMemory() { Memory::instance().open(); }
    ~OpenMemory() { Memory::instance().close(); }
    OpenMemory(const OpenMemory&) = delete;
    OpenMemory& operator=(const OpenMemory&) = delete;
};

// While this lives, so much of it as these bytes lie in: a copy opens no more than it moves.
class OpenBytes {
  public:
    OpenBytes(const void* pointer, std::size_t bytes)
        : begin_(reinterpret_cast<std::uintptr_t>(pointer)),
          bytes_(bytes),
          all_(Memory::instance().open_only(begin_, bytes)) {}
    ~OpenBytes() { all_ ? Memory::instance().close() : Memory::instance().close_only(begin_, bytes_); }
    OpenBytes(const OpenBytes&) = delete;
    OpenBytes& operator=(const OpenBytes&) = delete;

  private:
    std::uintptr_t begin_;
    std::size_t bytes_;
    bool all_;
};

bool is_mapped(std::uintptr_t address);  // in this process

// "inp (B=1, T=8, C=64)", or "a buffer of 4096 bytes from main.cu:12".
std::string text_of(const Allocation& allocation);
// Returns where it was freed: " at buf.cu:3 (called at main.cu:12)"; empty if no line is known.
std::string text_of_free(const Allocation& allocation);
// "b=0, t=1, c=6" of a shape with dimensions. In an element past the end the axis before the last goes on counting, so
// that a row too many is recognised as one.
std::string index_text(const std::vector<Axis>& shape, long element);

// Where the address lies, in the buffer's own terms: "inp[b=0, t=8, c=0] is one row past the end of inp (…)".
std::string place_in(const Allocation& allocation, std::uintptr_t address);

// The elements that have been written in every byte, of the buffer that starts at `pointer`. Pages that nobody has touched
// cost next to nothing. None if nothing is noted, or if no buffer starts there.
struct WrittenElements {
    std::size_t all = 0;
    std::vector<std::size_t> some;  // in order, at most as many as were asked for, from everywhere, and the last one
};
WrittenElements written_elements(const void* pointer, std::size_t element_bytes, std::size_t most);

// Names a buffer for reports: its shape and the bytes of an element and what it is. Nothing happens where the pointer is none of ours.
void name_buffer(const void* pointer, const std::string& name, const std::vector<Axis>& shape,
                 std::size_t element_bytes, Values values = Values::unknown);
void name_use(const void* pointer, const BufferUse& use);

}  // namespace simt
