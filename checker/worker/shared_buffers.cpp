// SPDX-License-Identifier: MIT
#include "checker/worker/shared_buffers.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "checker/base/text.h"

namespace checker {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kSmallestGuard = std::size_t{1} << 20;

std::size_t page_bytes() {
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t round_up(std::size_t bytes, std::size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

// Of a call that wanted memory: it may have got none because there is none.
[[noreturn]] void fail(const char* what, std::size_t bytes) {
    if (errno == ENOMEM || errno == ENOSPC || errno == EFBIG) {
        throw NoRoom("it wants " + gib(bytes) + " more of memory");
    }
    fail(what);
}

std::byte poison_byte(Schedule schedule, std::size_t offset) {
    return static_cast<std::byte>(poison(schedule) >> (8 * (offset % 4)));
}

}  // namespace

// As float the first is a signalling NaN, which every operation on it turns into another bit pattern, the second 5.0e26:
// whatever is computed from them is far off, and differs. As int both lie far outside every table.
std::uint32_t poison(Schedule schedule) {
    return schedule == Schedule::end_aligned ? 0xFFA5A5A5U : 0x6BCDEF01U;
}

Placement place(std::size_t bytes, Schedule schedule, std::size_t file_offset) {
    const std::size_t mapped = std::max(round_up(bytes, page_bytes()), page_bytes());
    const std::size_t data = schedule == Schedule::start_aligned ? 0 : mapped - round_up(bytes, kAlignment);
    return {file_offset, mapped, data, bytes};
}

std::vector<Placement> place(std::span<const BufferSpec> specs, Schedule schedule) {
    std::vector<Placement> placements;
    std::size_t offset = 0;
    for (const BufferSpec& spec : specs) {
        placements.push_back(place(spec.bytes(), schedule, offset));
        offset += placements.back().mapped_bytes;
    }
    return placements;
}

std::size_t shared_bytes(std::span<const Placement> placements) {
    return placements.empty() ? 0 : placements.back().file_offset + placements.back().mapped_bytes;
}

SharedMemory::SharedMemory() : fd_(memfd_create("checker", MFD_CLOEXEC)) {
    if (fd_ < 0) {
        fail("memfd_create");
    }
}

SharedMemory::SharedMemory(int fd) : fd_(fd) {
    const off_t size = lseek(fd, 0, SEEK_END);
    if (size < 0) {
        fail("the shared memory of the check");
    }
    map(static_cast<std::size_t>(size));
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

SharedMemory::~SharedMemory() {
    if (data_ != nullptr) {
        munmap(data_, size_);
    }
    if (fd_ >= 0) {
        close(fd_);
    }
}

void SharedMemory::grow(std::size_t bytes) {
    if (bytes <= size_) {
        return;
    }
    if (ftruncate(fd_, static_cast<off_t>(bytes)) != 0) {
        fail("ftruncate of the check's shared memory", bytes);
    }
    map(bytes);
}

void SharedMemory::map(std::size_t bytes) {
    if (data_ != nullptr) {
        munmap(data_, size_);
    }
    data_ = nullptr;
    size_ = 0;
    if (bytes == 0) {
        return;
    }
    void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (data == MAP_FAILED) {
        fail("mmap of the check's shared memory", bytes);
    }
    data_ = static_cast<std::byte*>(data);
    size_ = bytes;
}

std::span<std::byte> SharedMemory::region(const Placement& placement) const {
    return bytes().subspan(placement.file_offset, placement.mapped_bytes);
}

std::span<std::byte> SharedMemory::data(const Placement& placement) const {
    return region(placement).subspan(placement.data_offset, placement.bytes);
}

void fill_with_poison(std::span<std::byte> region, Schedule schedule) {
    // Whole pages, so whole words.
    const std::span words(reinterpret_cast<std::uint32_t*>(region.data()), region.size() / sizeof(std::uint32_t));
    std::ranges::fill(words, poison(schedule));
}

Scribble find_scribble(std::span<const std::byte> region, const Placement& placement, Schedule schedule) {
    const std::size_t end = placement.data_offset + placement.bytes;
    // Nearest first: what was overrun by one is named so, even where more was overwritten.
    for (std::size_t i = end; i < region.size(); i++) {
        if (region[i] != poison_byte(schedule, i)) {
            return {true, static_cast<long>(i) - static_cast<long>(placement.data_offset)};
        }
    }
    for (std::size_t i = placement.data_offset; i-- > 0;) {
        if (region[i] != poison_byte(schedule, i)) {
            return {true, static_cast<long>(i) - static_cast<long>(placement.data_offset)};
        }
    }
    return {};
}

GuardedMapping::GuardedMapping(int fd, const Placement& placement, bool read_only)
    : region_bytes_(placement.mapped_bytes) {
    // A stride that is wrong by a factor of two still lands in a guard.
    const std::size_t guard = std::max(kSmallestGuard, round_up(2 * placement.bytes, page_bytes()));
    reserved_bytes_ = 2 * guard + region_bytes_;
    void* reserved = mmap(nullptr, reserved_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) {
        fail("reserving address space for a buffer", reserved_bytes_);
    }
    reserved_ = static_cast<std::byte*>(reserved);
    region_ = reserved_ + guard;
    const int access = read_only ? PROT_READ : PROT_READ | PROT_WRITE;
    const int kind = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    const off_t offset = fd >= 0 ? static_cast<off_t>(placement.file_offset) : 0;
    if (mmap(region_, region_bytes_, access, kind | MAP_FIXED, fd, offset) == MAP_FAILED) {
        const int why = errno;
        munmap(reserved_, reserved_bytes_);
        errno = why;
        fail("mapping a buffer", region_bytes_);
    }
    data_ = region_ + placement.data_offset;
}

GuardedMapping::GuardedMapping(GuardedMapping&& other) noexcept
    : reserved_(std::exchange(other.reserved_, nullptr)),
      reserved_bytes_(other.reserved_bytes_),
      region_(other.region_),
      region_bytes_(other.region_bytes_),
      data_(other.data_) {}

GuardedMapping::~GuardedMapping() {
    if (reserved_ != nullptr) {
        munmap(reserved_, reserved_bytes_);
    }
}

}  // namespace checker
