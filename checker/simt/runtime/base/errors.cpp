// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/base/errors.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "checker/simt/runtime/base/thread_request.h"

namespace simt {

volatile int busy_depth = 0;

namespace {

struct Errors {
    cudaError_t last = cudaSuccess;
    cudaError_t sticky = cudaSuccess;
    bool seen = true;                       // whether somebody has looked at the launch's error
    SourceLine launch;                      // the launch that failed
    std::optional<SourceLine> last_launch;  // by <<<...>>>, if nobody has looked at errors since
};

// CUDA keeps these for the process (and the thread, of which the device serves one).
Errors& errors() {
    static auto& instance = *new Errors;
    return instance;
}

// The number in the environment variable, or `otherwise`; says so in a line if it is not a number.
double number_from(const char* variable, double otherwise) {
    const char* text = std::getenv(variable);
    if (text == nullptr || *text == '\0') {
        return otherwise;
    }
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    if (*end != '\0' || !(value >= 0)) {
        fmt::print(stderr, "simt: {}={} is no number; {} is used\n", variable, text, otherwise);
        return otherwise;
    }
    return value;
}

const char* text_of_error(cudaError_t error, bool name) {
    switch (error) {
#define SIMT_ERROR(id, number, text) \
    case cuda##id:                   \
        return name ? "cuda" #id : text;
        SIMT_ERRORS(SIMT_ERROR)
#undef SIMT_ERROR
    }
    return name ? "cudaErrorUnrecognized" : "unrecognized error code";
}

}  // namespace

static std::uint64_t& seed_now() {
    static auto value = static_cast<std::uint64_t>(number_from("SIMT_SEED", 1));
    return value;
}

std::uint64_t seed() {
    return seed_now();
}

void set_seed(std::uint64_t seed) {
    seed_now() = seed;
}

double time_limit() {
    static const double value =
        stops_in_a_thread() ? std::numeric_limits<double>::infinity() : number_from("SIMT_TIME_LIMIT", 30);
    return value;
}

double patience() {
    return std::min(time_limit() / 2, 8.0);
}

static bool& traffic_wanted() {
    static bool value = [] {
        for (const char* variable : {"SIMT_TRAFFIC", "SIMT_ESTIMATE"}) {
            if (const char* text = std::getenv(variable); text != nullptr && *text != '\0') {
                return true;
            }
        }
        return false;
    }();
    return value;
}

bool wants_traffic() {
    return traffic_wanted();
}

void want_traffic(bool wanted) {
    traffic_wanted() = wanted;
}

std::recursive_mutex& ApiLock::mutex() {
    static auto& instance = *new std::recursive_mutex;  // never destroyed: what is left runs when the process ends
    return instance;
}

namespace {

std::atomic<std::uint64_t> calls_so_far{0}, waits_so_far{0};
std::atomic<std::uint64_t> bytes_read_by_copies{0}, bytes_written_by_copies{0};
thread_local int inside_calls = 0;

}  // namespace

std::uint64_t api_calls() {
    return calls_so_far;
}

void note_wait() {
    waits_so_far++;
}

std::uint64_t waits() {
    return waits_so_far;
}

void note_copy(const CopiedBytes& bytes) {
    bytes_read_by_copies += bytes.read;
    bytes_written_by_copies += bytes.written;
}

CopiedBytes copied_bytes() {
    return {bytes_read_by_copies, bytes_written_by_copies};
}

void note_launch_by_configuration(const SourceLine& launch) {
    calls_so_far += inside_calls == 0 ? 1 : 0;
    errors().last_launch = launch;
}

std::optional<SourceLine> take_unchecked_launch() {
    return std::exchange(errors().last_launch, std::nullopt);
}

cudaError_t result(cudaError_t error) {
    Errors& all = errors();
    if (all.sticky != cudaSuccess) {
        all.seen = true;
        return all.sticky;
    }
    if (error != cudaSuccess) {
        all.last = error;
    }
    return error;
}

void launch_failed(cudaError_t error, bool sticky, const SourceLine& launch) {
    Errors& all = errors();
    all.last = error;
    if (sticky) {
        all.sticky = error;
    }
    all.seen = false;
    all.launch = launch;
}

bool has_sticky_error() {
    return errors().sticky != cudaSuccess;
}

std::optional<UnseenError> unseen_error() {
    const Errors& all = errors();
    return all.seen ? std::nullopt : std::optional(UnseenError{.error = all.last, .launch = all.launch});
}

}  // namespace simt

extern "C" {

// Where a function of the API begins and ends: -finstrument-functions.
void __cyg_profile_func_enter(void*, void*) {
    simt::calls_so_far += simt::inside_calls++ == 0 ? 1 : 0;
}
void __cyg_profile_func_exit(void*, void*) {
    simt::inside_calls--;
}

cudaError_t cudaGetLastError() {
    simt::Errors& all = simt::errors();
    all.seen = true;
    all.last_launch.reset();
    const cudaError_t error = all.sticky != cudaSuccess ? all.sticky : all.last;
    all.last = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError() {
    simt::Errors& all = simt::errors();
    all.seen = true;
    all.last_launch.reset();
    return all.sticky != cudaSuccess ? all.sticky : all.last;
}

const char* cudaGetErrorName(cudaError_t error) {
    return simt::text_of_error(error, true);
}
const char* cudaGetErrorString(cudaError_t error) {
    return simt::text_of_error(error, false);
}

}  // extern "C"
