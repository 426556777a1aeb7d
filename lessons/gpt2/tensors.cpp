// SPDX-License-Identifier: MIT
#include "lessons/gpt2/tensors.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace {

constexpr std::size_t kAlign = 64;  // a cache line

std::string in_words(std::size_t bytes) {
    constexpr double kKiB = 1024.0;
    const auto n = static_cast<double>(bytes);
    if (bytes < 1024 * 1024) {
        return fmt::format("{:.1f} KiB", n / kKiB);
    }
    if (bytes < 1024 * 1024 * 1024) {
        return fmt::format("{:.1f} MiB", n / (kKiB * kKiB));
    }
    return fmt::format("{:.1f} GiB", n / (kKiB * kKiB * kKiB));
}

// The number in a file that holds one, if there is such a file.
std::optional<std::size_t> number_in(const char* path) {
    std::ifstream file(path);
    std::size_t number = 0;
    return file >> number ? std::optional(number) : std::nullopt;
}

// What can be had without swapping, from the machine and from the container. An allocation beyond it would succeed, and
// the program be killed when it uses it.
std::optional<std::size_t> available_memory() {
    std::optional<std::size_t> available;
    std::ifstream file("/proc/meminfo");
    std::string key;
    std::size_t kib = 0;
    while (file >> key >> kib) {
        if (key == "MemAvailable:") {
            available = kib * 1024;
        }
        file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    const auto limit = number_in("/sys/fs/cgroup/memory.max"), used = number_in("/sys/fs/cgroup/memory.current");
    if (available && limit && used) {
        available = std::min(*available, *limit - std::min(*limit, *used));
    }
    return available;
}

// a + b, throwing where it does not fit.
std::size_t checked_sum(std::size_t a, std::size_t b) {
    std::size_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) {
        throw std::runtime_error("the tensors exceed 64-bit addresses");
    }
    return sum;
}

// Bytes of a view, rounded up so that the next one is aligned. Ops index with int, hence the limit.
template <class Element>
std::size_t view_bytes(const std::string& name, const Shape& shape) {
    long elements = 1;
    for (int i = 0; i < shape.rank; i++) {
        const long dim = shape.dims[static_cast<std::size_t>(i)];
        if (dim < 0 || __builtin_mul_overflow(elements, dim, &elements) || elements > std::numeric_limits<int>::max()) {
            throw std::runtime_error(
                fmt::format("{} would have more than 2^31 - 1 elements; use a smaller model or fewer tokens", name));
        }
    }
    return (static_cast<std::size_t>(elements) * element_bytes<Element>() + kAlign - 1) / kAlign * kAlign;
}

bool every(std::string_view) {
    return true;
}
bool is_result(std::string_view name) {
    return name == "logits" || name == "losses";
}

// Binds every view of `tensors` that is `wanted` to one arena, then returns it with `tail_bytes` of room behind the last one.
template <class Tensors>
std::pair<Arena, std::byte*> place(Tensors& tensors, std::string_view what, std::size_t tail_bytes,
                                   bool wanted(std::string_view) = every) {
    std::size_t bytes = tail_bytes;
    tensors.visit([&]<class Element>(const std::string& name, Element*&, const Shape& shape) {
        bytes = checked_sum(bytes, wanted(name) ? view_bytes<Element>(name, shape) : 0);
    });
    if (const auto available = available_memory(); available && bytes > *available) {
        throw std::runtime_error(
            fmt::format("the {} need {} of memory, and {} are available; use a smaller model or fewer tokens", what,
                        in_words(bytes), in_words(*available)));
    }
    Arena arena(bytes);
    std::byte* next = arena.data();
    tensors.visit([&]<class Element>(const std::string& name, Element*& view, const Shape& shape) {
        if (wanted(name)) {
            view = reinterpret_cast<Element*>(next);
            next += view_bytes<Element>(name, shape);
        }
    });
    return {std::move(arena), next};
}

}  // namespace

Arena::Arena(std::size_t bytes) {
    // At least one line, so that an empty arena has an address; a multiple of the alignment, as aligned_alloc wants.
    const std::size_t rounded = bytes == 0 ? kAlign : checked_sum(bytes, kAlign - 1) / kAlign * kAlign;
    data_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlign, rounded)));
    if (!data_) {
        throw std::runtime_error(
            fmt::format("out of memory: {} could not be allocated; use a smaller model or fewer "
                        "tokens",
                        in_words(bytes)));
    }
    std::memset(data_.get(), 0, rounded);
}

void Arena::Free::operator()(std::byte* p) const {
    std::free(p);
}

template <class Element>
ParametersOf<Element>::ParametersOf(const Config& config_) : config(config_), h(static_cast<std::size_t>(config_.L)) {}

template <class Element>
void ParametersOf<Element>::allocate() {
    arena_ = place(*this, "weights", 0).first;
}

template <class Element>
ActivationsOf<Element>::ActivationsOf(const Config& config_, int B_, int T_)
    : config(config_), B(B_), T(T_), h(static_cast<std::size_t>(config_.L)) {
    if (B < 1 || T < 1 || T > config.max_T) {
        throw std::invalid_argument(
            fmt::format("B={} T={}: B must be at least 1 and T in 1 to max_T={}", B, T, config.max_T));
    }
    view_bytes<Element>("the attention scores", Shape(B, config.NH, T, T));  // a scratch, but indexed with int as well
}

template <class Element>
void ActivationsOf<Element>::allocate(std::size_t scratch_bytes) {
    auto [arena, tail] = place(*this, "activations", scratch_bytes);
    arena_ = std::move(arena);
    scratch = tail;
}

template <class Element>
void ActivationsOf<Element>::allocate_results() {
    arena_ = place(*this, "logits", 0, is_result).first;
}

template struct ParametersOf<float>;
template struct ParametersOf<__nv_bfloat16>;
template struct ActivationsOf<float>;
template struct ActivationsOf<__nv_bfloat16>;
