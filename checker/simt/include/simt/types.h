// SPDX-License-Identifier: MIT
//
// What the runtime is told about the types that kernels use: their padding, which copying an object reads and nobody
// writes, and how many elements a shared array has.
#pragma once
#pragma GCC system_header

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace simt {

// `bytes` bytes of which those that are padding are 0.
void note_padding(const unsigned char* layout, std::size_t bytes);

// Returns true for a class that is known here. A concept would not do: the host's compiler may read this as C++17.
template <class T, class = void>
inline constexpr bool may_have_padding = false;
template <class T>
inline constexpr bool may_have_padding<T, std::void_t<decltype(sizeof(T))>> =
    std::is_class_v<T> && !std::is_empty_v<T> && std::is_trivially_copyable_v<T>;

template <class T>
__attribute__((no_sanitize_thread)) bool note_type() {
    if constexpr (may_have_padding<T>) {
        alignas(T) unsigned char layout[sizeof(T)];
        __builtin_memset(layout, 0xff, sizeof layout);
        __builtin_clear_padding(reinterpret_cast<T*>(layout));
        note_padding(layout, sizeof layout);
    }
    return true;
}

// Notes the type of an object, of the elements of an array, or of what a pointer points to. If it is named anywhere,
// the type is noted when the program starts.
template <class T>
inline const bool noted = note_type<std::remove_cv_t<std::remove_all_extents_t<std::remove_pointer_t<T>>>>();

// The extents of an array, outermost first; 0 after the last one.
struct Extents {
    static constexpr std::size_t kMost = 4;
    std::size_t element_bytes;
    std::size_t counts[kMost];
    std::size_t element_alignment;
    bool aligned;  // the declaration asks for an alignment
    bool is_bytes;
};

template <class T>
constexpr Extents extents_of(bool aligned) {
    return {sizeof(std::remove_all_extents_t<T>),
            {std::extent_v<T, 0>, std::extent_v<T, 1>, std::extent_v<T, 2>, std::extent_v<T, 3>},
            alignof(std::remove_all_extents_t<T>),
            aligned,
            std::is_arithmetic_v<std::remove_all_extents_t<T>> && sizeof(std::remove_all_extents_t<T>) == 1};
}

// Tells the n-th variable of a function from all others, also from that of another instance of its template. It has 31
// bits, so that an assembler statement takes it as a constant on every processor.
constexpr int identity_of(const char* signature, std::uint64_t n) {
    std::uint64_t hash = 0xcbf29ce484222325U ^ n;  // FNV-1a
    for (; *signature != '\0'; signature++) { hash = (hash ^ static_cast<unsigned char>(*signature)) * 0x100000001b3U; }
    return static_cast<int>(hash >> 33);
}

}  // namespace simt
