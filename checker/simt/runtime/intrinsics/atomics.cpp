// SPDX-License-Identifier: MIT
//
// CUDA's atomics, and those of C++ (std::atomic), which -fsanitize=thread turns into calls.
#include "checker/simt/include/simt/atomics.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "checker/simt/include/simt/short_float.h"
#include "checker/simt/runtime/access/access.h"
#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/intrinsics/float_atomics.h"
#include "checker/simt/runtime/races/races.h"
#include "checker/simt/runtime/requests/traffic_trace.h"
#include "checker/simt/runtime/threads/scheduler.h"

namespace simt {
namespace {

// How strong an atomic is, and what it orders by itself: CUDA's own atomics order nothing, those of C++ what their
// memory order says. In code without hooks atomics are not judged.
struct Manner {
    Scope scope = Scope::device;
    int order = __ATOMIC_RELAXED;
    bool judged = true;
    bool acquires() const { return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE; }
    bool releases() const { return order >= __ATOMIC_RELEASE; }
};

// To be called before an atomic of a CUDA thread: judges the address, and makes those that wait for a change look
// again later. What the atomic then finds there decides whether it writes.
template <class T, class Writes>
void begin_atomic(const volatile T* address, Access access, Manner manner, const void* site, Writes writes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    Space space = Space::none;
    if (hot.checking && manner.judged) {
        space = judge_access(begin, sizeof(T), access, sizeof(T), site, true);
    }
    if (running_lane() != nullptr) {
        Scheduler::instance().poll(site);
        if (access == Access::read) {
            Scheduler::instance().poll(begin);
        }
    }
    hot.atomic = begin;
    if (space == Space::none) {
        return;
    }
    if (hot.races.on) {
        Races::instance().touch({.address = begin,
                                 .bytes = sizeof(T),
                                 .touch = access == Access::read ? Touch::read : Touch::write,
                                 .strength = manner.scope == Scope::block ? Strength::block : Strength::device,
                                 .site = site,
                                 .shared = space == Space::shared,
                                 .atomic = true,
                                 .also_reads = access == Access::atomic,
                                 .publishes = writes(),
                                 .acquires = manner.acquires(),
                                 .releases = manner.releases()});
    } else if (hot.trace.next != nullptr) {
        note_in_trace(packed(begin, trace_kind(access, space), sizeof(T)), site);
    }
}

template <class T>
void begin_atomic(const volatile T* address, Access access, Manner manner, const void* site) {
    begin_atomic(address, access, manner, site, [] { return true; });
}

// Return addresses of float additions. It never calls malloc, because signals interrupt kernels.
struct FloatAdditions {
    std::array<const void*, 64> sites;
    std::size_t count = 0;
} float_additions;

void note_float_addition(const void* site) {
    auto* const end = float_additions.sites.begin() + float_additions.count;
    if (float_additions.count < float_additions.sites.size() &&
        std::find(float_additions.sites.begin(), end, site) == end) {
        float_additions.sites[float_additions.count++] = site;
    }
}

template <class T>
bool same_bits(T a, T b) {
    return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
T outcome(Atomic operation, T old, T operand) {
    if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>;
        switch (operation) {
            case Atomic::add:
                return static_cast<T>(static_cast<U>(old) + static_cast<U>(operand));
            case Atomic::subtract:
                return static_cast<T>(static_cast<U>(old) - static_cast<U>(operand));
            case Atomic::exchange:
                return operand;
            case Atomic::minimum:
                return old < operand ? old : operand;
            case Atomic::maximum:
                return old > operand ? old : operand;
            case Atomic::increment:
                return old >= operand ? 0 : static_cast<T>(old + 1);
            case Atomic::decrement:
                return old == 0 || old > operand ? operand : static_cast<T>(old - 1);
            case Atomic::bit_and:
                return old & operand;
            case Atomic::bit_or:
                return old | operand;
            case Atomic::bit_xor:
                return old ^ operand;
        }
        return old;
    } else {
        return operation == Atomic::add ? old + operand : operand;
    }
}

template <class T>
void store(T* address, T value) {
    hot.counts.other_changes += same_bits(*address, value) ? 0 : 1;
    *address = value;
}

template <class T, class Change>
[[gnu::always_inline]] inline T change(T* address, Manner manner, const void* site, Change new_value) {
    begin_atomic(address, Access::atomic, manner, site);
    const T old = *address;
    store(address, new_value(old));
    return old;
}

template <class T>
[[gnu::always_inline]] inline T exchange_if(T* address, T expected, T desired, Manner manner, const void* site) {
    Races::instance().about_to_swap(reinterpret_cast<std::uintptr_t>(address));
    begin_atomic(address, Access::atomic, manner, site, [&] { return same_bits(*address, expected); });
    const T old = *address;
    if (same_bits(old, expected)) {
        store(address, desired);
    }
    return old;
}

}  // namespace

template <class T>
T atomic(Atomic operation, T* address, T operand, Scope scope, int order, bool judged) {
    if (std::is_floating_point_v<T> && operation == Atomic::add) {
        note_float_addition(__builtin_return_address(0));
    }
    if (operation == Atomic::exchange) {
        Races::instance().note_synchronisation();
    }
    return change(address, {scope, order, judged}, __builtin_return_address(0),
                  [&](T old) { return outcome(operation, old, operand); });
}

template <class T>
T compare_and_swap(T* address, T expected, T desired, Scope scope, int order, bool judged) {
    return exchange_if(address, expected, desired, {scope, order, judged}, __builtin_return_address(0));
}

template <class T>
Exchanged<T> exchange(T* address, T value, Scope scope, bool judged) {
    const bool fresh = judged && take_unwritten(reinterpret_cast<std::uintptr_t>(address), sizeof(T));
    const T old =
        change(address, {.scope = scope, .judged = judged}, __builtin_return_address(0), [&](T) { return value; });
    return {old, fresh ? address : nullptr};
}

void look_at_last_atomic() {
    if (running_lane() != nullptr) {
        Scheduler::instance().poll(hot.atomic);
    }
}

template <class T>
T used(T old) noexcept {
    look_at_last_atomic();
    return old;
}

template <class T>
T used(T old, const T* unwritten) noexcept {
    look_at_last_atomic();
    if (unwritten != nullptr) {
        report_unwritten(reinterpret_cast<std::uintptr_t>(unwritten), sizeof(T), __builtin_return_address(0));
    }
    return old;
}

template <class T>
T load(const T* address, Scope scope, int order, bool judged) {
    begin_atomic(address, Access::read, {scope, order, judged}, __builtin_return_address(0));
    return *address;
}

template <class T>
void store(T* address, T value, Scope scope, int order, bool judged) {
    begin_atomic(address, Access::write, {scope, order, judged}, __builtin_return_address(0));
    store(address, value);
}

std::vector<SourceLine> float_atomics() {
    std::vector<SourceLine> lines;
    for (std::size_t i = 0; i < float_additions.count; i++) {
        const SourceLine& line = source_of(float_additions.sites[i]);
        if (std::find(lines.begin(), lines.end(), line) == lines.end()) {
            lines.push_back(line);
        }
    }
    return lines;
}

void forget_float_atomics() {
    float_additions.count = 0;
}

template <class Format>
std::uint16_t sum(std::uint16_t a, std::uint16_t b) {
    return Format::round(exact_enough_fma(Format::value(a), 1, Format::value(b)));
}

template <class Format>
std::uint16_t atomic_add(std::uint16_t* address, std::uint16_t addend, bool judged) {
    note_float_addition(__builtin_return_address(0));
    return change(address, {.judged = judged}, __builtin_return_address(0),
                  [&](std::uint16_t old) { return sum<Format>(old, addend); });
}

template <class Format>
std::uint32_t atomic_add_pair(std::uint32_t* address, std::uint32_t addend, bool judged) {
    note_float_addition(__builtin_return_address(0));
    const auto half = [](std::uint32_t pair, int shift) { return static_cast<std::uint16_t>(pair >> shift); };
    return change(address, {.judged = judged}, __builtin_return_address(0), [&](std::uint32_t old) {
        return std::uint32_t{sum<Format>(half(old, 0), half(addend, 0))} |
               std::uint32_t{sum<Format>(half(old, 16), half(addend, 16))} << 16;
    });
}

template std::uint16_t atomic_add<HalfFormat>(std::uint16_t*, std::uint16_t, bool);
template std::uint16_t atomic_add<BfloatFormat>(std::uint16_t*, std::uint16_t, bool);
template std::uint32_t atomic_add_pair<HalfFormat>(std::uint32_t*, std::uint32_t, bool);
template std::uint32_t atomic_add_pair<BfloatFormat>(std::uint32_t*, std::uint32_t, bool);
template int atomic(Atomic, int*, int, Scope, int, bool);
template unsigned atomic(Atomic, unsigned*, unsigned, Scope, int, bool);
template long long atomic(Atomic, long long*, long long, Scope, int, bool);
template unsigned long long atomic(Atomic, unsigned long long*, unsigned long long, Scope, int, bool);
template float atomic(Atomic, float*, float, Scope, int, bool);
template double atomic(Atomic, double*, double, Scope, int, bool);
template Exchanged<int> exchange(int*, int, Scope, bool);
template int used(int, const int*) noexcept;
template unsigned char used(unsigned char) noexcept;
template unsigned short used(unsigned short) noexcept;
template int used(int) noexcept;
template unsigned used(unsigned) noexcept;
template long long used(long long) noexcept;
template unsigned long long used(unsigned long long) noexcept;
template float used(float) noexcept;
template double used(double) noexcept;
template Exchanged<unsigned> exchange(unsigned*, unsigned, Scope, bool);
template unsigned used(unsigned, const unsigned*) noexcept;
template Exchanged<unsigned long long> exchange(unsigned long long*, unsigned long long, Scope, bool);
template unsigned long long used(unsigned long long, const unsigned long long*) noexcept;
template Exchanged<float> exchange(float*, float, Scope, bool);
template float used(float, const float*) noexcept;
template int compare_and_swap(int*, int, int, Scope, int, bool);
template unsigned compare_and_swap(unsigned*, unsigned, unsigned, Scope, int, bool);
template unsigned char compare_and_swap(unsigned char*, unsigned char, unsigned char, Scope, int, bool);
template unsigned long long compare_and_swap(unsigned long long*, unsigned long long, unsigned long long, Scope, int,
                                             bool);
template unsigned short compare_and_swap(unsigned short*, unsigned short, unsigned short, Scope, int, bool);

#define SIMT_LOAD_AND_STORE(T)                           \
    template T load(const T* address, Scope, int, bool); \
    template void store(T* address, T value, Scope, int, bool);
SIMT_LOAD_AND_STORE(unsigned char)
SIMT_LOAD_AND_STORE(unsigned short)
SIMT_LOAD_AND_STORE(unsigned)
SIMT_LOAD_AND_STORE(unsigned long long)
#undef SIMT_LOAD_AND_STORE

}  // namespace simt

// ---- std::atomic in code that simtcc compiles, of the host too ------------------------------------------------------

#define SIMT_SITE __builtin_return_address(0)
#define SIMT_BY_THE_HOST(a, order) \
    simt::begin_atomic(a, simt::Access::atomic, simt::Manner{simt::Scope::system, order}, SIMT_SITE)
#define SIMT_FETCH(bits, type, name, expression)                                                       \
    type __tsan_atomic##bits##_fetch_##name(volatile type* a, type v, int order) {                     \
        if (simt::running_lane() == nullptr) {                                                         \
            SIMT_BY_THE_HOST(a, order);                                                                \
            return __atomic_fetch_##name(const_cast<type*>(a), v, __ATOMIC_SEQ_CST);                   \
        }                                                                                              \
        return simt::change(const_cast<type*>(a), simt::Manner{simt::Scope::system, order}, SIMT_SITE, \
                            [&](type old) { return static_cast<type>(expression); });                  \
    }
#define SIMT_COMPARE(bits, type, strength)                                                                             \
    int __tsan_atomic##bits##_compare_exchange_##strength(volatile type* a, type* expected, type desired, int order,   \
                                                          int) {                                                       \
        if (simt::running_lane() == nullptr) {                                                                         \
            SIMT_BY_THE_HOST(a, order);                                                                                \
            return __atomic_compare_exchange_n(const_cast<type*>(a), expected, desired, false, __ATOMIC_SEQ_CST,       \
                                               __ATOMIC_SEQ_CST);                                                      \
        }                                                                                                              \
        const type wanted = *expected;                                                                                 \
        *expected = simt::exchange_if(const_cast<type*>(a), wanted, desired, simt::Manner{simt::Scope::system, order}, \
                                      SIMT_SITE);                                                                      \
        simt::look_at_last_atomic();                                                                                   \
        return *expected == wanted ? 1 : 0;                                                                            \
    }
#define SIMT_ATOMICS(bits, type)                                                                                  \
    type __tsan_atomic##bits##_load(const volatile type* a, int order) {                                          \
        simt::begin_atomic(a, simt::Access::read, simt::Manner{simt::Scope::system, order}, SIMT_SITE);           \
        return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                                              \
    }                                                                                                             \
    void __tsan_atomic##bits##_store(volatile type* a, type v, int order) {                                       \
        simt::begin_atomic(a, simt::Access::write, simt::Manner{simt::Scope::system, order}, SIMT_SITE);          \
        __atomic_store_n(a, v, __ATOMIC_SEQ_CST);                                                                 \
    }                                                                                                             \
    type __tsan_atomic##bits##_exchange(volatile type* a, type v, int order) {                                    \
        if (simt::running_lane() == nullptr) {                                                                    \
            SIMT_BY_THE_HOST(a, order);                                                                           \
            return __atomic_exchange_n(a, v, __ATOMIC_SEQ_CST);                                                   \
        }                                                                                                         \
        return simt::used(simt::change(const_cast<type*>(a), simt::Manner{simt::Scope::system, order}, SIMT_SITE, \
                                       [&](type) { return v; }));                                                 \
    }                                                                                                             \
    SIMT_FETCH(bits, type, add, old + v)                                                                          \
    SIMT_FETCH(bits, type, sub, old - v)                                                                          \
    SIMT_FETCH(bits, type, and, old& v)                                                                           \
    SIMT_FETCH(bits, type, or, old | v)                                                                           \
    SIMT_FETCH(bits, type, xor, old ^ v)                                                                          \
    SIMT_FETCH(bits, type, nand, ~(old & v))                                                                      \
    SIMT_COMPARE(bits, type, strong)                                                                              \
    SIMT_COMPARE(bits, type, weak)

extern "C" {
SIMT_ATOMICS(8, std::uint8_t)
SIMT_ATOMICS(16, std::uint16_t)
SIMT_ATOMICS(32, std::uint32_t)
SIMT_ATOMICS(64, std::uint64_t)
void __tsan_atomic_thread_fence(int) {
    if (simt::running_lane() != nullptr) {
        simt::Races::instance().fence(true);
    }
    std::atomic_thread_fence(std::memory_order_seq_cst);
}
void __tsan_atomic_signal_fence(int) {}
}
