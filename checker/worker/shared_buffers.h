// SPDX-License-Identifier: MIT
//
// The memory in which an op runs. The parent lays the buffers out in one shared memory file and fills them; the worker
// maps each on its own pages between inaccessible ones, inputs read-only. Every byte that is no input is poisoned
// first, so that the parent sees afterwards what was written, and where nothing should have been.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "checker/cases/buffer_spec.h"

namespace checker {

// There is not enough memory for a case or a timed shape. what() says how much is wanted.
struct NoRoom : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Each call runs twice: buffers end where an inaccessible page begins, then begin where one ends; two poisons.
// Buffers are aligned to 64 bytes in both, so up to 63 bytes beyond the end are watched by their poison alone.
enum class Schedule : std::uint32_t { end_aligned, start_aligned };
std::uint32_t poison(Schedule schedule);

// Where a buffer lies in the shared file: whole pages, of which the data are a part.
struct Placement {
    std::size_t file_offset = 0;
    std::size_t mapped_bytes = 0;
    std::size_t data_offset = 0;  // from file_offset
    std::size_t bytes = 0;
};
Placement place(std::size_t bytes, Schedule schedule, std::size_t file_offset);
std::vector<Placement> place(std::span<const BufferSpec> specs, Schedule schedule);  // one after the other
std::size_t shared_bytes(std::span<const Placement> placements);

// A memory file that is mapped whole. The parent makes it; the worker inherits the descriptor.
class SharedMemory {
  public:
    SharedMemory();                 // empty
    explicit SharedMemory(int fd);  // maps what another process made; takes the descriptor over
    SharedMemory(SharedMemory&& other) noexcept;
    SharedMemory& operator=(SharedMemory&& other) noexcept;
    ~SharedMemory();

    void grow(std::size_t bytes);  // to at least so many; views taken before are void
    int fd() const { return fd_; }
    std::span<std::byte> bytes() const { return {data_, size_}; }
    std::span<std::byte> region(const Placement& placement) const;  // with the slack around the data
    std::span<std::byte> data(const Placement& placement) const;

  private:
    void map(std::size_t bytes);
    int fd_ = -1;
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

void fill_with_poison(std::span<std::byte> region, Schedule schedule);

// The first byte around the data that is no longer poison, relative to the data: negative before its start, from
// `bytes` on after its end.
struct Scribble {
    bool found = false;
    long offset = 0;
};
Scribble find_scribble(std::span<const std::byte> region, const Placement& placement, Schedule schedule);

// The worker's side: each buffer's pages between inaccessible ones.
class GuardedMapping {
  public:
    // fd < 0: private memory (scratch).
    GuardedMapping(int fd, const Placement& placement, bool read_only);
    GuardedMapping(GuardedMapping&& other) noexcept;
    GuardedMapping& operator=(GuardedMapping&&) = delete;
    ~GuardedMapping();

    std::byte* data() const { return data_; }
    std::span<std::byte> reserved() const { return {reserved_, reserved_bytes_}; }  // guards included
    std::span<std::byte> region() const { return {region_, region_bytes_}; }

  private:
    std::byte* reserved_ = nullptr;
    std::size_t reserved_bytes_ = 0;
    std::byte* region_ = nullptr;
    std::size_t region_bytes_ = 0;
    std::byte* data_ = nullptr;
};

}  // namespace checker
