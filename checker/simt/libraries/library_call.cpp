// SPDX-License-Identifier: MIT
#include "checker/simt/libraries/library_call.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/memory/modules.h"
#include "checker/simt/runtime/memory/registered.h"
#include "checker/simt/runtime/races/races.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/streams/capture.h"
#include "checker/simt/runtime/streams/sampling.h"
#include "checker/simt/runtime/streams/streams.h"

namespace simt {
namespace {

constexpr int kPoison = 0xff;  // each byte of it: NaN

std::size_t unsigned_(long number) {
    return static_cast<std::size_t>(number);
}

// Whether one column begins where the one before it ended.
bool has_no_gaps(const CallMatrix& x) {
    return x.ld == x.rows || x.columns == 1;
}

std::size_t bytes_of_each(const CallMatrix& x) {
    return unsigned_(x.rows * x.columns) * x.element_bytes;
}

// From the first byte to the last of one of the batch.
std::size_t extent_of(const CallMatrix& x) {
    return unsigned_((x.columns - 1) * x.ld + x.rows) * x.element_bytes;
}

std::uintptr_t begin_of(const CallMatrix& x, long batch) {
    return reinterpret_cast<std::uintptr_t>(x.data) + unsigned_(batch * x.stride) * x.element_bytes;
}

// How many different ones there are.
long distinct(const CallMatrix& x) {
    return x.stride == 0 ? std::min(x.batch, 1L) : x.batch;
}

std::size_t bytes_of_all(const CallMatrix& x) {
    return bytes_of_each(x) * unsigned_(distinct(x));
}

// Calls visit(address, bytes) for each stretch of bytes that one of the batch has.
template <class Visit>
void for_each_stretch_of(const CallMatrix& x, long batch, Visit visit) {
    const std::uintptr_t begin = begin_of(x, batch);
    if (has_no_gaps(x)) {
        visit(begin, bytes_of_each(x));
        return;
    }
    for (long column = 0; column < x.columns; column++) {
        visit(begin + unsigned_(column * x.ld) * x.element_bytes, unsigned_(x.rows) * x.element_bytes);
    }
}

template <class Visit>
void for_each_stretch(const CallMatrix& x, Visit visit) {
    for (long batch = 0; batch < distinct(x); batch++) { for_each_stretch_of(x, batch, visit); }
}

}  // namespace

void RunningCall::fail(cudaError_t error) {
    fine_ = false;
    error_ = error;
}

// Whether the device has the memory; says what is wrong otherwise.
bool RunningCall::check_matrix(const CallMatrix& x, const char* verb) {
    Memory& memory = Memory::instance();
    for (long batch = 0; batch < distinct(x); batch++) {
        const std::uintptr_t begin = begin_of(x, batch), end = begin + extent_of(x);
        const auto what = [&] {
            return fmt::format("{} {} {}{}", call_.name, verb, x.text,
                               distinct(x) > 1 ? fmt::format(", {} of the batch's {}", batch, x.batch) : "");
        };
        if (memory.contains(begin)) {
            if (memory.holds(begin, end - begin)) {
                continue;
            }
            const Allocation* const allocation = memory.find(begin);
            if (allocation != nullptr && allocation->freed_at != nullptr) {
                report(Kind::use_after_free, "global", call_.site, [&] {
                    return fmt::format("{}: {}, which was freed{}", what(), text_of(*allocation),
                                       at_text_of(source_of(allocation->freed_at)));
                });
            } else {
                report(Kind::out_of_bounds, "global", call_.site, [&] {
                    if (allocation == nullptr) {
                        return what() + ", far from every buffer of the device";
                    }
                    const std::uintptr_t wrong = begin < allocation->begin ? begin : end - x.element_bytes;
                    return fmt::format("{}, whose {} element lies outside: {}", what(),
                                       wrong == begin ? "first" : "last", place_in(*allocation, wrong));
                });
            }
            fine_ = false;
            return false;
        }
        const Module* const module = module_of(reinterpret_cast<const void*>(begin));
        if (module != nullptr && module->section_of(begin) != Section::none) {
            const Symbol* const variable = module->variable_at(begin);
            if (variable != nullptr && end <= variable->begin + variable->bytes) {
                continue;
            }
            report(Kind::out_of_bounds, "global", call_.site, [&] {
                return variable == nullptr
                           ? what() + " outside every device variable"
                           : fmt::format("{}: it ends past the end of the device variable {} ({} bytes)", what(),
                                         variable->name(), variable->bytes);
            });
            fine_ = false;
            return false;
        }
        if (is_registered(reinterpret_cast<const void*>(begin), end - begin)) {
            continue;
        }
        if (begin < 4096) {
            report(Kind::null_pointer, "", call_.site, [&] { return what() + " through a null pointer"; });
        } else {
            report(Kind::host_pointer, "", call_.site,
                   [&] { return what() + ", which is in the host's memory: cudaMalloc gives the device's"; });
        }
        fail(cudaErrorIllegalAddress);
        return false;
    }
    return true;
}

// The first element that nobody has written is a finding; what was reported is not reported again.
void RunningCall::judge_written(const CallMatrix& x) {
    Memory& memory = Memory::instance();
    if (!memory.knows_what_is_written()) {
        return;
    }
    for_each_stretch(x, [&](std::uintptr_t begin, std::size_t bytes) {
        if (!memory.contains(begin)) {
            return;
        }
        const std::uint8_t* const marks = memory.marks(begin);
        if (const void* const unwritten = std::memchr(marks, 0, bytes)) {
            const auto at = static_cast<std::size_t>(static_cast<const std::uint8_t*>(unwritten) - marks);
            report(Kind::uninitialised, "global", call_.site, [&] {
                return fmt::format("{} reads {}, and nobody has written {}", call_.name, x.text,
                                   place_in(*memory.find(begin), begin + at / x.element_bytes * x.element_bytes));
            });
            memory.mark_written(begin, bytes);
        }
    });
}

bool RunningCall::is_usable(const CallMatrix& x, const char* verb) {
    if (x.rows == 0 || x.columns == 0 || x.batch == 0 || !hot.checking || !check_matrix(x, verb)) {
        return false;
    }
    const std::size_t alignment = std::max(x.alignment, x.element_bytes);
    const auto address = reinterpret_cast<std::uintptr_t>(x.data);
    if (address % alignment == 0) {
        return true;
    }
    report(Kind::misaligned, "global", call_.site, [&] {
        return fmt::format("{} {} {}: its address is a multiple of {} only, and must be one of {}", call_.name, verb,
                           x.text, address & -address, alignment);
    });
    fail(cudaErrorMisalignedAddress);
    return false;
}

void RunningCall::reads(const CallMatrix& x) {
    if (is_usable(x, "reads")) {
        for_each_stretch(x, [&](std::uintptr_t begin, std::size_t bytes) {
            read_spans_.push_back({begin, begin + bytes, call_.site});
        });
        traffic_.library_bytes_read += bytes_of_all(x);
        judge_written(x);
    }
}

void RunningCall::writes(const CallMatrix& x) {
    if (is_usable(x, "writes")) {
        for (long batch = 0; batch < x.batch; batch++) {
            for_each_stretch_of(x, batch, [&](std::uintptr_t begin, std::size_t bytes) {
                written_spans_.push_back({begin, begin + bytes, call_.site});
            });
        }
        traffic_.library_bytes_written += bytes_of_all(x);
        written_.push_back(x);
    }
}

void RunningCall::updates(const CallMatrix& x) {
    const bool fine = fine_;
    writes(x);
    if (fine && fine_ && hot.checking) {
        traffic_.library_bytes_read += bytes_of_all(x);
        judge_written(x);
    }
}

bool RunningCall::fetches(const CallMatrix& x, void* to) {
    reads(x);
    if (fine_) {
        std::memcpy(to, x.data, bytes_of_all(x));
    }
    return fine_;
}

void RunningCall::narrows(std::uint64_t bytes) {
    traffic_.library_bytes_narrow += bytes;
}

void RunningCall::takes(double flop, Inputs inputs) {
    const auto count = static_cast<std::uint64_t>(flop);
    traffic_.library_flop += count;
    if (inputs != Inputs::as_they_are) {
        (inputs == Inputs::tf32 ? traffic_.library_flop_tf32 : traffic_.library_flop_16) += count;
    }
}

// Of the call's outputs with each other and with its inputs.
void RunningCall::judge_overlaps() {
    const auto by_begin = [](const Span& a, const Span& b) { return a.begin < b.begin; };
    const auto tell = [&](const char* other, std::uintptr_t at) {
        report_race("global", {call_.site, other, call_.name}, {call_.site, "writes", call_.name},
                    Specificity::two_threads, [&] {
                        return RaceText{place_of_global(at) + " is used twice by one call",
                                        "a call writes each element once, in no order, and nothing that it reads", ""};
                    });
    };
    std::sort(written_spans_.begin(), written_spans_.end(), by_begin);
    std::sort(read_spans_.begin(), read_spans_.end(), by_begin);
    for (std::size_t i = 1; i < written_spans_.size(); i++) {
        if (written_spans_[i].begin < written_spans_[i - 1].end) {
            tell("writes", written_spans_[i].begin);
            break;
        }
    }
    auto read = read_spans_.begin();
    std::uintptr_t read_end = 0;  // what begins before a written span reaches up to here
    for (const Span& written : written_spans_) {
        for (; read != read_spans_.end() && read->begin < written.end; ++read) {
            read_end = std::max(read_end, read->end);
        }
        if (read_end > written.begin) {
            tell("reads", std::max(written.begin, std::prev(read)->begin));
            break;
        }
    }
}

RunningCall::~RunningCall() {
    Streams& streams = Streams::instance();
    judge_overlaps();
    for (const Span& span : read_spans_) { streams.touch(Use::read, span); }
    for (const Span& span : written_spans_) { streams.touch(Use::write, span); }
    for (const CallMatrix& x : written_) {
        for_each_stretch(x, [&](std::uintptr_t begin, std::size_t bytes) {
            if (!fine_) {
                std::memset(reinterpret_cast<void*>(begin), kPoison, bytes);
            }
            if (Memory::instance().contains(begin)) {
                Memory::instance().mark_written(begin, bytes);
            }
        });
    }
    if (error_ != cudaSuccess) {
        launch_failed(error_, true, source_of(call_.site));
    }
    traffic_.library_calls = 1;
    note_library_call(call_.name, call_.site, traffic_);
}

bool issue(const LibraryCall& call, std::function<void(RunningCall&)> body) {
    const ApiLock turn;
    Streams& streams = Streams::instance();
    if (has_sticky_error()) {
        return false;
    }
    if (streams.running() || !streams.exists(call.stream)) {
        report(Kind::bad_launch, "", call.site, [&] {
            return fmt::format("{}: {}", call.name,
                               streams.running() ? "a host function of a stream may not call it"
                                                 : streams.reason_for_absence(call.stream));
        });
        return false;
    }
    if (Captures::instance().may_issue(call.stream, {call.name, call.site}) != cudaSuccess) {
        return false;
    }
    streams.issue(call.stream, {.name = call.name,
                                .run =
                                    [call, body = std::move(body)] {
                                        const OpenMemory open;
                                        RunningCall running(call);
                                        body(running);
                                    },
                                .known_late = true,
                                .call = source_of(call.site),
                                .site = call.site,
                                .work = KernelWork{}});
    return true;
}

std::vector<Tile> tiles_of(const char* name, long m, long n, long batch) {
    constexpr long kSize = 64;
    const dim3 grid(static_cast<unsigned>((m + kSize - 1) / kSize), static_cast<unsigned>((n + kSize - 1) / kSize),
                    static_cast<unsigned>(batch));
    const SampledLaunch* const sampled = libraries_compute() ? sample(name, grid) : nullptr;
    const std::vector<std::uint64_t>* const chosen = sampled == nullptr ? nullptr : &sampled->blocks;
    if (chosen == nullptr) {
        return {{.rows = m, .columns = n, .batch = batch}};
    }
    std::vector<Tile> tiles;
    for (const std::uint64_t block : *chosen) {
        const auto number = static_cast<long>(block);
        const long row = number % grid.x * kSize, column = number / grid.x % grid.y * kSize;
        tiles.push_back({.row = row,
                         .rows = std::min(kSize, m - row),
                         .column = column,
                         .columns = std::min(kSize, n - column),
                         .first = number / grid.x / grid.y,
                         .batch = 1});
    }
    return tiles;
}

namespace {

std::string& last_refusal() {
    static std::string text;
    return text;
}

}  // namespace

bool is_verbose() {
    static const bool wanted = [] {
        const char* set = std::getenv("SIMT_VERBOSE");
        return set != nullptr && *set != '\0' && std::strcmp(set, "0") != 0;
    }();
    return wanted;
}

void tell_refusal(const char* function, const std::string& why) {
    const ApiLock turn;
    last_refusal() = fmt::format("{}: {}", function, why);
    if (is_verbose()) {
        fmt::print(stderr, "simt: {}\n", last_refusal());
    }
}

std::string take_refusal() {
    const ApiLock turn;
    return std::exchange(last_refusal(), {});
}

static std::atomic<std::uint64_t> setups_so_far;

void note_setup() {
    setups_so_far++;
}

std::uint64_t library_setups() {
    return setups_so_far;
}

}  // namespace simt
