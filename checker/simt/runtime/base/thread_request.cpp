// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/base/thread_request.h"

#include <fmt/core.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace simt {
namespace {

constexpr int kBadRequest = 2;

struct Request {
    std::optional<ThreadRequest> thread;
    bool stops = false;
    std::size_t limit = 1000;

    Request() {
        for (const char* variable : {"SIMT_STOP", "SIMT_TRACE"}) {
            const char* value = std::getenv(variable);
            if (value == nullptr || *value == '\0') {
                continue;
            }
            const std::string text(value);
            const std::size_t second = text.rfind(':');
            const std::size_t first = second == std::string::npos || second == 0 ? second : text.rfind(':', second - 1);
            if (first == std::string::npos || first == second) {
                refuse_request(fmt::format("{}={}: it is KERNEL:BLOCK:THREAD, as in scale:2,0:17", variable, text));
            }
            stops = variable == std::string_view("SIMT_STOP");
            thread.emplace(ThreadRequest{text.substr(0, first),
                                         GridIndex(text.substr(first + 1, second - first - 1), "block"),
                                         GridIndex(text.substr(second + 1), "thread")});
            break;
        }
        if (const char* text = std::getenv("SIMT_TRACE_LIMIT"); text != nullptr && *text != '\0') {
            const char* end = text + std::strlen(text);
            const auto [last, error] = std::from_chars(text, end, limit);
            if (error != std::errc() || last != end) {
                refuse_request(fmt::format("a limit of {}: it is a number of lines", text));
            }
        }
    }
};

// Asked at the end of the process, and so never destroyed.
const Request& request() {
    static const auto& instance = *new Request;
    return instance;
}

}  // namespace

GridIndex::GridIndex(const std::string& text, const char* what) : text_(text.empty() ? "0" : text) {
    for (const char* at = text_.data(); at <= text_.data() + text_.size(); at++) {
        unsigned number = 0;
        const auto [end, error] = std::from_chars(at, text_.data() + text_.size(), number);
        if (error != std::errc() || (*end != ',' && *end != '\0') || numbers_.size() == 3) {
            refuse_request(fmt::format("{} {}: it is a number, or x,y or x,y,z", what, text_));
        }
        numbers_.push_back(number);
        at = end;
    }
}

std::optional<uint3> GridIndex::in(dim3 extent) const {
    if (numbers_.size() == 1) {
        const std::uint64_t n = numbers_[0];
        if (n >= std::uint64_t{extent.x} * extent.y * extent.z) {
            return std::nullopt;
        }
        return uint3{static_cast<unsigned>(n % extent.x), static_cast<unsigned>(n / extent.x % extent.y),
                     static_cast<unsigned>(n / extent.x / extent.y)};
    }
    const uint3 index{numbers_[0], numbers_[1], numbers_.size() > 2 ? numbers_[2] : 0};
    return index.x < extent.x && index.y < extent.y && index.z < extent.z ? std::optional(index) : std::nullopt;
}

const std::optional<ThreadRequest>& requested_thread() {
    return request().thread;
}

bool stops_in_a_thread() {
    return request().stops;
}

std::size_t trace_limit() {
    return request().limit;
}

void refuse_request(const std::string& why) {
    std::fflush(stdout);
    fmt::print(stderr, "simt: {}\n", why);
    std::fflush(stderr);
    _exit(kBadRequest);  // without printing findings
}

}  // namespace simt
