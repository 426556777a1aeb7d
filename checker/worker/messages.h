// SPDX-License-Identifier: MIT
//
// What the worker is asked, and what it answers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

#include "checker/cases/counters.h"
#include "checker/clock/timing.h"
#include "checker/worker/finding.h"
#include "checker/worker/shared_buffers.h"

namespace checker {

inline constexpr int kWorkerSocket = 3;
inline constexpr int kWorkerMemory = 4;
inline constexpr int kCutOffStatus = 113;  // the status of a worker in which one of these was closed

enum class RequestKind : std::uint32_t { start, run, count, time };

constexpr std::uint32_t bit(Baseline baseline) {
    return 1U << static_cast<std::uint32_t>(baseline);
}

struct Request {
    RequestKind kind = RequestKind::run;
    Schedule schedule = Schedule::end_aligned;
    std::uint64_t op = 0;
    std::uint64_t case_index = 0;
    std::uint64_t call = 0;
    bool on_one_thread = false;  // run: Call::run_on_one_thread
    // time
    std::uint64_t timed = 0;      // index of the op's timed call
    std::uint32_t baselines = 0;  // bits 1 << Baseline
    std::uint64_t seed = 0;       // the inputs'; afterwards the call is repeated once with those of seed + 1
    double seconds = 0;           // to be spent at most, once there are `samples` of them
    std::int32_t samples = 6;     // 0: no time is taken, and that call is the first
};

enum class Answer : std::uint32_t {
    done,
    not_defined,  // the implementation has no function of the op's name and signature
    cannot_load,
    exception,
    left_changed,     // the call returned, and something of its arguments is otherwise than it was: `text`
    fault,            // a signal that the processor raised
    guard_violation,  // scratch was overrun
    threads,          // some run on: `threads`
    out_of_memory,    // there is not memory enough for the shape
    no_device,        // the kernels' device is not there, or cannot go on for a reason outside the code
    broken,           // the device has ended the process's work: `findings` say why
};

enum class FaultAccess : std::uint32_t { unknown, read, write };

// A checker::CounterResult but for its target.
struct CountedInReply {
    char counter[32] = {};
    char takes[96] = {};
    double value = 0;
    double needed = 0;
    char most[256] = {};
};
constexpr std::int32_t kWorkspace = std::numeric_limits<std::int32_t>::max();  // a Context's

// Sent as it lies in memory: both ends are the same program. After a fault it is written by the signal handler.
struct Reply {
    Answer answer = Answer::done;

    // fault
    std::int32_t signal = 0;
    FaultAccess access = FaultAccess::unknown;
    bool stack_overflow = false;
    std::uint64_t address = 0;

    // fault and scribble: the buffer it was in or beside, counted through shared_specs and then the scratch; or kWorkspace
    std::int32_t buffer = -1;
    std::int64_t offset = 0;  // bytes from the start of its data
    std::uint64_t buffer_bytes = 0;
    bool earlier_call = false;  // it is where an earlier call of the sequence had it

    std::int32_t threads = 0;  // that the call left running

    // time: of the rivals that were asked for, one that cannot be timed, and `text` says why: bit(Baseline)
    std::uint32_t missing = 0;

    // time: seconds a call, and the subject's time over each rival's that was asked for
    Summary subject{};
    std::array<Ratio, kRivals> ratio{};
    bool last = false;  // the worker ends itself: a new one is to be started for the next request

    double arithmetic_flop = 0;  // one call's of Baseline::arithmetic
    Summary gap{};  // beside Baseline::busy: seconds for each of a call's nodes in which the device did nothing
    std::int32_t discarded = 0;  // rounds in which a clock reading could not be right
    std::int32_t late = 0;       // samples that hold the host's time, where there are many of them

    char text[1024] = {};  // cannot_load, exception, left_changed and out_of_memory: what was said

    std::int32_t capability = 0;  // start: of the card, whose name is `text`

    // count: what a device has counted of Call::needed
    std::array<CountedInReply, 24> counted{};
    std::uint32_t counters = 0;  // as many
    double bytes_asked = 0;      // count: of global memory, by kernels
    double api_calls = 0;        // count: of the runtime and its libraries, by the host

    // The lines of code that add floats atomically, "encoder.cu:31, encoder.cu:40": no fault, but what may explain why two
    // runs differ.
    char float_atomics[256] = {};

    // "31 of 64 threads of block (0, 0, 0) had ended before the others met at scan.cu:14 in scan": no fault, but what may
    // explain a wrong value.
    char early_exits[256] = {};

    // What a device saw go wrong during the call, as to_json(Finding) writes it: a JSON array, or empty for nothing.
    char findings[16384] = {};
};
static_assert(std::is_trivially_copyable_v<Reply> && std::is_trivially_copyable_v<Request>);

// Of an answer that says something.
Reply make_reply(Answer answer, std::string_view text);

// Returns the answer to a call that ended with an exception: left_changed for a LeftChanged, else exception.
Reply reply_of(const std::exception& error);

// As many findings as the reply holds.
void put_findings(Reply& reply, const std::vector<Finding>& findings);

// Throws std::logic_error for more counters than the reply holds.
void put_counted(Reply& reply, const std::vector<CounterResult>& counted);
std::vector<CounterResult> counted_in(const Reply& reply);

}  // namespace checker
