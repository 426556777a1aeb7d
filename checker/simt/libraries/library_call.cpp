// SPDX-License-Identifier: MIT
#include "checker/simt/libraries/library_call.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "checker/simt/runtime/findings.h"
#include "checker/simt/runtime/hot.h"
#include "checker/simt/runtime/memory.h"
#include "checker/simt/runtime/modules.h"
#include "checker/simt/runtime/registered.h"
#include "checker/simt/runtime/state.h"
#include "checker/simt/runtime/streams.h"

namespace simt {
namespace {

LibraryCounts& counts() {
    static LibraryCounts all;
    return all;
}

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

// Calls visit(address, bytes) for each stretch of bytes that the matrix has.
template <class Visit>
void for_each_stretch(const CallMatrix& x, Visit visit) {
    for (long batch = 0; batch < distinct(x); batch++) {
        const std::uintptr_t begin = begin_of(x, batch);
        if (has_no_gaps(x)) {
            visit(begin, bytes_of_each(x));
            continue;
        }
        for (long column = 0; column < x.columns; column++) {
            visit(begin + unsigned_(column * x.ld) * x.element_bytes, unsigned_(x.rows) * x.element_bytes);
        }
    }
}

}  // namespace

const LibraryCounts& library_counts() {
    return counts();
}

void RunningCall::fail(cudaError_t error) {
    fine_ = false;
    error_ = error;
}

// Whether the device has the memory; says what is wrong otherwise.
bool RunningCall::is_there(const CallMatrix& x, const char* verb) {
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
                    return fmt::format("{}: {}, which was freed at {}", what(), text_of(*allocation),
                                       text_of(source_of(allocation->freed_at)));
                });
            } else {
                report(Kind::out_of_bounds, "global", call_.site, [&] {
                    if (allocation == nullptr) {
                        return what() + ", far from every buffer of the device";
                    }
                    const std::uintptr_t wrong = begin < allocation->begin ? begin : end - x.element_bytes;
                    return fmt::format("{}: its {} element is {}", what(), wrong == begin ? "first" : "last",
                                       place_in(*allocation, wrong));
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

void RunningCall::touches(const CallMatrix& x, Use use) {
    if (x.rows == 0 || x.columns == 0 || x.batch == 0 || !hot.checking) {
        return;
    }
    const bool write = simt::writes(use);
    const char* const verb = write ? "writes" : "reads";
    if (!is_there(x, verb)) {
        return;
    }
    const std::size_t alignment = std::max(x.alignment, x.element_bytes);
    if (const auto address = reinterpret_cast<std::uintptr_t>(x.data); address % alignment != 0) {
        report(Kind::misaligned, "global", call_.site, [&] {
            return fmt::format("{} {} {}: its address is a multiple of {} only, and must be one of {}", call_.name,
                               verb, x.text, address & -address, alignment);
        });
        fail(cudaErrorMisalignedAddress);
        return;
    }
    Streams& streams = Streams::instance();
    for_each_stretch(x, [&](std::uintptr_t begin, std::size_t bytes) {
        streams.touch(use, {begin, begin + bytes, call_.site});
    });
    (write ? counts().bytes_written : counts().bytes_read) += bytes_of_each(x) * unsigned_(distinct(x));
    if (write) {
        written_.push_back(x);
    } else {
        judge_written(x);
    }
}

void RunningCall::takes(double flop) {
    counts().flop += flop;
}

RunningCall::~RunningCall() {
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
}

bool issue(const LibraryCall& call, std::function<void(RunningCall&)> body) {
    Streams& streams = Streams::instance();
    if (streams.running() || !streams.exists(call.stream)) {
        report(Kind::bad_launch, "", call.site, [&] {
            return fmt::format("{}: {}", call.name,
                               streams.running() ? "a host function of a stream may not call it"
                                                 : "its stream does not exist, or was destroyed");
        });
        return false;
    }
    streams.issue(call.stream, {.name = call.name,
                                .run =
                                    [call, body = std::move(body)] {
                                        const OpenMemory open;
                                        counts().calls++;
                                        RunningCall running(call);
                                        body(running);
                                    },
                                .known_late = true});
    return true;
}

void tell_refusal(const char* function, const std::string& why) {
    static const bool wanted = [] {
        const char* set = std::getenv("SIMT_VERBOSE");
        return set != nullptr && *set != '\0' && std::strcmp(set, "0") != 0;
    }();
    if (wanted) {
        fmt::print(stderr, "simt: {}: {}\n", function, why);
    }
}

}  // namespace simt
