// SPDX-License-Identifier: MIT
//
// The functions that -fsanitize=thread and -fsanitize=bounds call before an access. The names are the compiler's; the
// sanitizers' own runtimes are not linked.
#include <fmt/core.h>

#include <bit>
#include <cstdint>
#include <cstring>

#include "checker/simt/runtime/access/access.h"
#include "checker/simt/runtime/access/bad_indices.h"
#include "checker/simt/runtime/access/focus.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/base/fiber.h"
#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/memory/shared.h"
#include "checker/simt/runtime/races/races.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/requests/traffic_trace.h"
#include "checker/simt/runtime/threads/scheduler.h"

namespace simt {
namespace {

// The alignment that the compiler's aligned hooks promise: it calls the one for 16 bytes if the alignment is 8 or
// more. A type that needs all 16 is copied by an instruction that faults otherwise (faults.cpp), on processors that
// have one.
constexpr std::size_t natural_alignment(std::size_t bytes) {
    return bytes < 8 ? bytes : 8;
}

// Whether all bytes of an access lie in device memory that somebody has written; with an alignment of 1 any address
// will do.
template <std::size_t kBytes, std::size_t kAlignment>
[[gnu::always_inline]] inline bool plainly_right(std::uintptr_t address) {
    const std::uintptr_t offset = address - hot.device_begin;
    if (offset >= hot.device_bytes || address % kAlignment != 0) {
        return false;
    }
    const std::uint8_t* shadow = hot.shadow + offset;
    if constexpr (kBytes == 16) {
        std::uint64_t halves[2];
        std::memcpy(halves, shadow, sizeof halves);
        return (halves[0] & halves[1]) == 0x0101010101010101U;
    } else {
        constexpr std::uint64_t kWritten = 0x0101010101010101U >> (64 - 8 * kBytes);
        std::uint64_t marks = 0;
        std::memcpy(&marks, shadow, kBytes);
        return marks == kWritten;
    }
}

void judge_order(Space space, std::uintptr_t address, std::size_t bytes, Touch touch, Strength strength,
                 const void* site) {
    if (space == Space::none) {
        return;
    }
    if (hot.races.on) {
        Races::instance().touch({.address = address,
                                 .bytes = bytes,
                                 .touch = touch,
                                 .strength = strength,
                                 .site = site,
                                 .shared = space == Space::shared});
    } else if (hot.trace.next != nullptr) {
        note_in_trace(packed(address, trace_kind(touch == Touch::read ? Access::read : Access::write, space), bytes),
                      site);
    }
}

// Arrays that a kernel's functions hand on as pointers: local, and the compiler does not see it.
[[gnu::always_inline]] inline bool is_on_its_own_stack(std::uintptr_t address) {
    return address - hot.stack_begin < Stack::kBytes;
}

// Whether it is an access to shared memory that is right and follows all others: what nearly all accesses there are.
template <std::size_t kBytes, std::size_t kAlignment, bool kWrites>
[[gnu::always_inline]] inline bool plainly_right_in_shared(std::uintptr_t address, const void* site) {
    constexpr Touch kTouch = kWrites ? Touch::write : Touch::read;
    const std::size_t which = address - hot.shared[0].begin < hot.shared[0].bytes ? 0 : 1;
    const HotShared& area = hot.shared[which];
    const std::uintptr_t offset = address - area.begin;
    if (offset >= area.bytes || area.bytes - offset < kBytes || address % kAlignment != 0 || tracing ||
        busy_depth != 0) {
        return false;
    }
    if (kBytes == 16 && area.accidentally_aligned != nullptr && area.accidentally_aligned[offset / 16] != 0) {
        return false;
    }
    std::uint64_t marks[2] = {};
    static_assert(static_cast<int>(Mark::written) == 0);
    std::memcpy(marks, area.marks + offset, kBytes);
    if ((marks[0] | marks[1]) != 0) {
        return false;
    }
    hot.site = site;
    hot.counts.other_accesses++;
    if constexpr (kBytes >= 4 && kAlignment >= 4) {
        if (plainly_ordered_words_in_shared<kBytes, kTouch>(which, address, site)) [[likely]] {
            return true;
        }
    }
    if (hot.races.on) {
        return Races::instance().touch_shared(address, kBytes, kTouch, site);
    }
    if (hot.trace.next != nullptr) {
        note_in_trace(packed(address, trace_kind(kWrites ? Access::write : Access::read, Space::shared), kBytes), site);
    }
    return true;
}

// Returns true if it is a right read of a word that the lane's warp or block reads: most reads of shared memory are.
[[gnu::always_inline]] inline bool is_common_read_in_shared(std::uintptr_t address, const void* site) {
    const std::size_t which = address - hot.shared[0].begin < hot.shared[0].bytes ? 0 : 1;
    const HotShared& area = hot.shared[which];
    const std::uintptr_t offset = address - area.begin;
    std::uint32_t marks = 0;
    if (offset >= area.bytes || area.bytes - offset < sizeof marks || address % sizeof marks != 0 || tracing ||
        busy_depth != 0) {
        return false;
    }
    std::memcpy(&marks, area.marks + offset, sizeof marks);
    if (marks != 0 || !joins_readers_in_shared(which, address)) {
        return false;
    }
    hot.site = site;
    hot.counts.other_accesses++;
    return true;
}

// An access that is not plainly right in global memory: to shared memory, or one to be judged. A function of its own,
// so that the hooks need no stack frame.
template <std::size_t kBytes, std::size_t kAlignment, bool kWrites>
[[gnu::noinline]] void judge_plain(std::uintptr_t address, const void* site) {
    if (!hot.checking) {
        hot.counts.other_accesses++;
        hot.counts.other_changes += kWrites ? 1 : 0;
    } else if (plainly_right_in_shared<kBytes, kAlignment, kWrites>(address, site)) {
        hot.counts.other_changes += kWrites ? 1 : 0;
    } else {
        judge_order(judge_access(address, kBytes, kWrites ? Access::write : Access::read, kAlignment, site), address,
                    kBytes, kWrites ? Touch::write : Touch::read, Strength::plain, site);
    }
}

[[gnu::noinline]] void note_plain(std::uint64_t what, const void* site) {
    note_in_trace(what, site);
}

template <std::size_t kBytes, std::size_t kAlignment = natural_alignment(kBytes)>
[[gnu::always_inline]] inline void read(const void* pointer, const void* site) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const std::uintptr_t offset = address - hot.device_begin;
    if (offset < hot.device_bytes && address % kAlignment == 0 && is_known_reader<kBytes, kAlignment>(offset))
        [[likely]] {
        hot.counts.reads[std::countr_zero(kBytes)]++;
    } else if (plainly_right<kBytes, kAlignment>(address)) {
        hot.counts.reads[std::countr_zero(kBytes)]++;
        if (hot.races.on) {
            look_for_races<kBytes, false>(offset, site);
        } else if (hot.trace.next != nullptr) {
            note_plain(packed(address, TraceKind::load, kBytes), site);
        }
    } else if (kBytes == 4 && kAlignment == 4 && is_common_read_in_shared(address, site)) {
        return;
    } else if (!is_on_its_own_stack(address)) {
        judge_plain<kBytes, kAlignment, false>(address, site);
    }
}

template <std::size_t kBytes, std::size_t kAlignment = natural_alignment(kBytes)>
[[gnu::always_inline]] inline void write(void* pointer, const void* site) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    if (plainly_right<kBytes, kAlignment>(address)) [[likely]] {
        hot.site = site;
        hot.counts.writes[std::countr_zero(kBytes)]++;
        if (hot.races.on) {
            look_for_races<kBytes, true>(address - hot.device_begin, site);
        } else if (hot.trace.next != nullptr) {
            note_plain(packed(address, TraceKind::store, kBytes), site);
        }
    } else if (!is_on_its_own_stack(address)) {
        judge_plain<kBytes, kAlignment, true>(address, site);
    }
}

// Volatile accesses are as strong as relaxed atomics of the system's scope (PTX ISA, "Memory Consistency Model"). A
// thread that polls looks again after the others have run, and what it sees then is what counts.
template <std::size_t kBytes, std::size_t kAlignment>
void volatile_access(const volatile void* pointer, Touch touch, const void* site) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    hot.site = site;
    Space space = Space::none;
    if (hot.checking) {
        space =
            judge_access(address, kBytes, touch == Touch::read ? Access::read : Access::write, kAlignment, site, true);
    } else {
        hot.counts.other_changes += touch == Touch::write ? 1 : 0;
    }
    if (touch == Touch::read && running_lane() != nullptr) {
        Scheduler::instance().poll(site);
        Scheduler::instance().poll(address);
    }
    judge_order(space, address, kBytes, touch, Strength::device, site);
}

}  // namespace
}  // namespace simt

#define SIMT_SITE __builtin_return_address(0)
#define SIMT_HOOKS(bytes)                                                                               \
    void __tsan_read##bytes(void* p) {                                                                  \
        simt::read<bytes>(p, SIMT_SITE);                                                                \
    }                                                                                                   \
    void __tsan_write##bytes(void* p) {                                                                 \
        simt::write<bytes>(p, SIMT_SITE);                                                               \
    }                                                                                                   \
    void __tsan_unaligned_read##bytes(void* p) {                                                        \
        simt::read<bytes, 1>(p, SIMT_SITE);                                                             \
    }                                                                                                   \
    void __tsan_unaligned_write##bytes(void* p) {                                                       \
        simt::write<bytes, 1>(p, SIMT_SITE);                                                            \
    }                                                                                                   \
    void __tsan_volatile_read##bytes(void* p) {                                                         \
        simt::volatile_access<bytes, simt::natural_alignment(bytes)>(p, simt::Touch::read, SIMT_SITE);  \
    }                                                                                                   \
    void __tsan_volatile_write##bytes(void* p) {                                                        \
        simt::volatile_access<bytes, simt::natural_alignment(bytes)>(p, simt::Touch::write, SIMT_SITE); \
    }                                                                                                   \
    void __tsan_unaligned_volatile_read##bytes(void* p) {                                               \
        simt::volatile_access<bytes, 1>(p, simt::Touch::read, SIMT_SITE);                               \
    }                                                                                                   \
    void __tsan_unaligned_volatile_write##bytes(void* p) {                                              \
        simt::volatile_access<bytes, 1>(p, simt::Touch::write, SIMT_SITE);                              \
    }

extern "C" {

SIMT_HOOKS(1)
SIMT_HOOKS(2)
SIMT_HOOKS(4)
SIMT_HOOKS(8)
SIMT_HOOKS(16)

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
// A constructor stores the pointer to its class's table of virtual functions.
void __tsan_vptr_update(void** p, void*) {
    simt::write<sizeof(void*)>(p, SIMT_SITE);
}
void __tsan_vptr_read(void**) {}
// Also called for an access of fewer bytes, if the compiler knows that it is not aligned.
void __tsan_read_range(void* p, std::size_t bytes) {
    simt::judge_span(p, bytes, simt::Access::read, SIMT_SITE,
                     simt::alignment_there(reinterpret_cast<std::uintptr_t>(p), bytes));
}
void __tsan_write_range(void* p, std::size_t bytes) {
    simt::judge_span(p, bytes, simt::Access::write, SIMT_SITE,
                     simt::alignment_there(reinterpret_cast<std::uintptr_t>(p), bytes));
}

// What GCC passes to the bounds hook:
struct SimtSourceLocation {
    const char* file;
    std::uint32_t line;
    std::uint32_t column;
};
struct SimtType {
    std::uint16_t kind;
    std::uint16_t info;  // for an integer: bit 0 says that it is signed, the rest is the logarithm of its bits
    char name[1];
};
struct SimtBoundsData {
    SimtSourceLocation location;
    const SimtType* array;
    const SimtType* index;
};

void __ubsan_handle_out_of_bounds(const SimtBoundsData* data, std::uintptr_t index) {
    if (!simt::hot.checking) {
        return;
    }
    const bool is_signed = (data->index->info & 1U) != 0;
    const unsigned bits = 1U << (data->index->info >> 1U);
    const auto value = is_signed && bits < 64 ? static_cast<std::int64_t>(index << (64 - bits)) >> (64 - bits)
                                              : static_cast<std::int64_t>(index);
    simt::report(simt::Kind::out_of_bounds, "array", SIMT_SITE,
                 [&] { return fmt::format("index {} of an array of type {}", value, data->array->name); });
    if (simt::running_lane() != nullptr && !simt::expect_access(value, data->array->name)) {
        simt::Scheduler::instance().abandon(cudaErrorIllegalAddress);
    }
}

}  // extern "C"
#undef SIMT_HOOKS
