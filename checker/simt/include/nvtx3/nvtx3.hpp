// SPDX-License-Identifier: MIT
//
// Ranges and marks for a profiler as classes, which nothing reads here: they take what NVIDIA's take.
#pragma once
#pragma GCC system_header

#include <cstdint>
#include <string>

#include "nvToolsExt.h"

namespace nvtx3 {
inline namespace v1 {

struct domain {
    struct global {};
    template <class D = global>
    static const domain& get() {
        static const domain one;
        return one;
    }
};

struct rgb {
    constexpr rgb(std::uint8_t, std::uint8_t, std::uint8_t) {}
};
struct argb {
    constexpr argb(std::uint8_t, std::uint8_t, std::uint8_t, std::uint8_t) {}
};
struct color {
    using value_type = std::uint32_t;
    constexpr explicit color(value_type) {}
    constexpr color(argb) {}
    constexpr color(rgb) {}
};
struct category {
    using id_type = std::uint32_t;
    constexpr explicit category(id_type) {}
};
template <class D = domain::global>
struct named_category_in : category {
    named_category_in(id_type id, const char*) : category(id) {}
    named_category_in(id_type id, const wchar_t*) : category(id) {}
    template <class C>
    static const named_category_in& get() {
        static const named_category_in one(C::id, C::name);
        return one;
    }
};
using named_category = named_category_in<>;
struct payload {
    template <class T>
    constexpr explicit payload(T) {}
};
template <class D = domain::global>
struct registered_string_in {
    explicit registered_string_in(const char*) {}
    explicit registered_string_in(const wchar_t*) {}
    explicit registered_string_in(const std::string&) {}
    template <class M>
    static const registered_string_in& get() {
        static const registered_string_in one(M::message);
        return one;
    }
};
using registered_string = registered_string_in<>;
struct message {
    constexpr message(const char*) {}
    constexpr message(const wchar_t*) {}
    message(const std::string&) {}
    template <class D>
    message(const registered_string_in<D>&) {}
};

// Of a range or mark: a message, a color, a category and a payload, in any order.
struct event_attributes {
    template <class... Attributes>
    constexpr explicit event_attributes(const Attributes&...) {}
};

template <class D = domain::global>
class scoped_range_in {
  public:
    template <class... Attributes>
    explicit scoped_range_in(const Attributes&...) {
        nvtxRangePushA("");
    }
    ~scoped_range_in() { nvtxRangePop(); }
    scoped_range_in(const scoped_range_in&) = delete;
    scoped_range_in& operator=(const scoped_range_in&) = delete;
};
using scoped_range = scoped_range_in<>;

class range_handle {
  public:
    using value_type = nvtxRangeId_t;
    constexpr explicit range_handle(value_type id = 0) : id_(id) {}
    constexpr explicit operator bool() const { return id_ != 0; }
    constexpr value_type get_value() const { return id_; }
    friend constexpr bool operator==(range_handle a, range_handle b) { return a.id_ == b.id_; }
    friend constexpr bool operator!=(range_handle a, range_handle b) { return a.id_ != b.id_; }

  private:
    value_type id_;
};
template <class D = domain::global, class... Attributes>
range_handle start_range_in(const Attributes&...) {
    return range_handle(nvtxRangeStartA(""));
}
template <class... Attributes>
range_handle start_range(const Attributes&...) {
    return start_range_in<>();
}
template <class D = domain::global>
void end_range_in(range_handle) {}
inline void end_range(range_handle) {}

template <class D = domain::global>
class unique_range_in {
  public:
    template <class... Attributes>
    explicit unique_range_in(const Attributes&...) {}
    ~unique_range_in() {}
    unique_range_in(unique_range_in&&) noexcept {}
    unique_range_in& operator=(unique_range_in&&) noexcept { return *this; }
};
using unique_range = unique_range_in<>;

template <class D = domain::global, class... Attributes>
void mark_in(const Attributes&...) {}
template <class... Attributes>
void mark(const Attributes&...) {}

}  // namespace v1
}  // namespace nvtx3

#define NVTX3_FUNC_RANGE_IN(D) [[maybe_unused]] const ::nvtx3::scoped_range_in<D> nvtx3_range__(__func__)
#define NVTX3_FUNC_RANGE() NVTX3_FUNC_RANGE_IN(::nvtx3::domain::global)
#define NVTX3_FUNC_RANGE_IF_IN(D, condition) NVTX3_FUNC_RANGE_IN(D)
#define NVTX3_FUNC_RANGE_IF(condition) NVTX3_FUNC_RANGE()
