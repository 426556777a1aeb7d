// SPDX-License-Identifier: MIT
#include "checker/worker/shared_buffers.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
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
        throw OutOfMemory("it wants " + gib(bytes) + " more of memory");
    }
    fail(what);
}

MappedBytes mapped(std::size_t bytes, int access, int kind, int fd, const char* what) {
    void* data = mmap(nullptr, bytes, access, kind, fd, 0);
    if (data == MAP_FAILED) {
        fail(what, bytes);
    }
    return MappedBytes(static_cast<std::byte*>(data), Unmap{bytes});
}

}  // namespace

std::optional<std::size_t> available_bytes() {
    std::ifstream in("/proc/meminfo");
    std::size_t kib = 0;
    for (std::string name, rest; in >> name >> kib; std::getline(in, rest)) {
        if (name == "MemAvailable:") {
            return kib << 10U;
        }
    }
    return std::nullopt;
}

// As a floating-point number the first is a NaN, a signalling one where there are such, which every operation on it turns
// into another bit pattern, and the second a large number: whatever is computed from them is far off, and differs. As
// integers of 32 and 64 bits both lie far outside every table.
std::uint64_t poison(Schedule schedule, Element element) {
    const auto either = [&](std::uint64_t first, std::uint64_t second) {
        return schedule == Schedule::end_aligned ? first : second;
    };
    constexpr std::uint64_t kOfEachWord = 0x1'0000'0001, kOfEachHalf = 0x1'0001'0001'0001,
                            kOfEachByte = 0x101'0101'0101'0101;
    switch (element) {
        case Element::bf16:
            return kOfEachHalf * either(0xFFA5, 0x6BCD);  // NaN, 5.0e26
        case Element::f16:
            return kOfEachHalf * either(0xFDA5, 0x7BCD);  // NaN, 63,904
        case Element::f8_e4m3:
            return kOfEachByte * either(0xFF, 0x7B);  // NaN, 352
        case Element::f8_e5m2:
            return kOfEachByte * either(0xFD, 0x7A);  // NaN, 49,152
        case Element::i8:
            return kOfEachByte * either(0xA5, 0x6B);  // -91, 107
        default:
            return kOfEachWord * either(0xFFA5A5A5, 0x6BCDEF01);  // NaN, 5.0e26
    }
}

BufferSlot slot_of(std::size_t bytes, Element element, Schedule schedule, std::size_t file_offset,
                   std::size_t misalignment) {
    const std::size_t needed = misalignment + bytes, mapped = std::max(round_up(needed, page_bytes()), page_bytes());
    const std::size_t aligned = schedule == Schedule::start_aligned ? 0 : mapped - round_up(needed, kAlignment);
    return {file_offset, mapped, aligned + misalignment, bytes, element};
}

std::vector<BufferSlot> slots_of(std::span<const BufferSpec> specs, Schedule schedule) {
    std::vector<BufferSlot> slots;
    std::size_t offset = 0;
    for (const BufferSpec& spec : specs) {
        slots.push_back(slot_of(spec.bytes(), spec.element, schedule, offset, spec.misalignment));
        offset += slots.back().mapped_bytes;
    }
    return slots;
}

std::size_t file_bytes(std::span<const BufferSlot> slots) {
    std::size_t end = 0;
    for (const BufferSlot& slot : slots) { end = std::max(end, slot.file_offset + slot.mapped_bytes); }
    return end;
}

MemoryFile::MemoryFile() : fd_(memfd_create("checker", MFD_CLOEXEC)) {
    if (fd() < 0) {
        fail("memfd_create");
    }
}

MemoryFile::MemoryFile(int fd) : fd_(fd) {
    const off_t size = lseek(fd, 0, SEEK_END);
    if (size < 0) {
        fail("the shared memory of the check");
    }
    map(static_cast<std::size_t>(size));
}

void MemoryFile::grow(std::size_t bytes) {
    if (bytes <= data_.get_deleter().bytes) {
        return;
    }
    if (ftruncate(fd(), static_cast<off_t>(bytes)) != 0) {
        fail("ftruncate of the check's shared memory", bytes);
    }
    map(bytes);
}

void MemoryFile::map(std::size_t bytes) {
    data_ = {};
    if (bytes > 0) {
        data_ = mapped(bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd(), "mmap of the check's shared memory");
    }
}

std::span<std::byte> MemoryFile::region(const BufferSlot& slot) const {
    return bytes().subspan(slot.file_offset, slot.mapped_bytes);
}

std::span<std::byte> MemoryFile::data(const BufferSlot& slot) const {
    return region(slot).subspan(slot.data_offset, slot.bytes);
}

void fill_with_poison(std::span<std::byte> region, Element element, Schedule schedule) {
    const std::uint64_t pattern = poison(schedule, element);
    std::size_t at = 0;
    for (; at + sizeof pattern <= region.size(); at += sizeof pattern) {
        std::memcpy(region.data() + at, &pattern, sizeof pattern);
    }
    std::memcpy(region.data() + at, &pattern, region.size() - at);
}

GuardViolation find_guard_violation(std::span<const std::byte> region, const BufferSlot& slot, Schedule schedule) {
    const std::uint64_t pattern = poison(schedule, slot.element);
    const auto is_scribble = [&](std::size_t i) {
        return region[i] != static_cast<std::byte>(pattern >> (8 * (i % sizeof pattern)));
    };
    const std::size_t end = slot.data_offset + slot.bytes;
    // Nearest first: what was overrun by one is named so, even where more was overwritten.
    for (std::size_t i = end; i < region.size(); i++) {
        if (is_scribble(i)) {
            return {true, static_cast<long>(i) - static_cast<long>(slot.data_offset)};
        }
    }
    for (std::size_t i = slot.data_offset; i-- > 0;) {
        if (is_scribble(i)) {
            return {true, static_cast<long>(i) - static_cast<long>(slot.data_offset)};
        }
    }
    return {};
}

GuardedMapping::GuardedMapping(int fd, const BufferSlot& slot, bool read_only) {
    // A stride that is wrong by a factor of two still lands in a guard.
    const std::size_t guard = std::max(kSmallestGuard, round_up(2 * slot.bytes, page_bytes()));
    reserved_ = mapped(2 * guard + slot.mapped_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                       "reserving address space for a buffer");
    region_ = reserved().subspan(guard, slot.mapped_bytes);
    data_ = region_.data() + slot.data_offset;
    const int access = read_only ? PROT_READ : PROT_READ | PROT_WRITE;
    const int kind = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    const off_t offset = fd >= 0 ? static_cast<off_t>(slot.file_offset) : 0;
    if (mmap(region_.data(), region_.size(), access, kind | MAP_FIXED, fd, offset) == MAP_FAILED) {
        fail("mapping a buffer", region_.size());
    }
}

void GuardedMapping::allow(int access) const {
    if (mprotect(region_.data(), region_.size(), access) != 0) {
        fail("protecting a buffer");
    }
}

}  // namespace checker
