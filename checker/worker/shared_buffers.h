// SPDX-License-Identifier: MIT
//
// The memory in which an op runs. The parent lays the buffers out in one file in memory and fills them; the worker maps
// each on its own pages between inaccessible ones, inputs read-only. Every byte that holds no value is poisoned first, so that the parent sees afterwards what was written, and where nothing should have been.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "checker/base/files.h"
#include "checker/cases/buffer_spec.h"

namespace checker {

// There is not enough memory for a case or a timed shape. what() says how much is wanted.
struct OutOfMemory : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Bytes that programs may still take without the system swapping; none where it does not say.
std::optional<std::size_t> available_bytes();

// Each call runs twice: buffers end where an inaccessible page begins, then begin where one ends; two poisons.
// Buffers are aligned to 64 bytes in both, or start `misalignment` bytes later, so up to 63 bytes beyond the end are watched
// by their poison alone.
enum class Schedule : std::uint32_t { end_aligned, start_aligned };

// Eight bytes of a schedule's poison: one element's, repeated.
std::uint64_t poison(Schedule schedule, Element element);

// Where a buffer lies in the memory file: whole pages, of which the data are a part.
struct BufferSlot {
    std::size_t file_offset = 0;
    std::size_t mapped_bytes = 0;
    std::size_t data_offset = 0;  // from file_offset
    std::size_t bytes = 0;
    Element element = Element::byte;  // whose poison surrounds the data
};
BufferSlot slot_of(std::size_t bytes, Element element, Schedule schedule, std::size_t file_offset,
                   std::size_t misalignment = 0);
std::vector<BufferSlot> slots_of(std::span<const BufferSpec> specs, Schedule schedule);  // one after the other
std::size_t file_bytes(std::span<const BufferSlot> slots);

// A file in memory that is mapped whole. The parent makes it; the worker inherits the descriptor.
class MemoryFile {
  public:
    MemoryFile();                 // empty
    explicit MemoryFile(int fd);  // maps what another process made; takes the descriptor over

    void grow(std::size_t bytes);  // to at least so many; views taken before are void
    int fd() const { return fd_.get(); }
    std::span<std::byte> bytes() const { return {data_.get(), data_.get_deleter().bytes}; }
    std::span<std::byte> region(const BufferSlot& slot) const;  // with the slack around the data
    std::span<std::byte> data(const BufferSlot& slot) const;

  private:
    void map(std::size_t bytes);
    FileDescriptor fd_;
    MappedBytes data_;
};

void fill_with_poison(std::span<std::byte> region, Element element, Schedule schedule);

// The first byte around the data that is no longer poison, relative to the data: negative before its start, from
// `bytes` on after its end.
struct GuardViolation {
    bool found = false;
    long offset = 0;
};
GuardViolation find_guard_violation(std::span<const std::byte> region, const BufferSlot& slot, Schedule schedule);

// The worker's side: each buffer's pages between inaccessible ones.
class GuardedMapping {
  public:
    // fd < 0: private memory (scratch).
    GuardedMapping(int fd, const BufferSlot& slot, bool read_only);
    std::byte* data() const { return data_; }
    void allow(int access) const;            // PROT_READ: what follows may only read it
    std::span<std::byte> reserved() const {  // guards included
        return {reserved_.get(), reserved_.get_deleter().bytes};
    }
    std::span<std::byte> region() const { return region_; }

  private:
    MappedBytes reserved_;
    std::span<std::byte> region_;
    std::byte* data_ = nullptr;
};

}  // namespace checker
