// SPDX-License-Identifier: MIT
//
// The process that runs the learner's code. It is this same program, started anew with --worker, holding two
// descriptors: a socket on which requests come and replies go, and the shared memory file. It judges nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "checker/check.h"
#include "checker/counters.h"
#include "checker/report.h"
#include "checker/shared_buffers.h"
#include "checker/timing.h"

namespace checker {

inline constexpr int kWorkerSocket = 3;
inline constexpr int kWorkerMemory = 4;

inline constexpr std::uint64_t kCaseSeed = 0;  // of a case's inputs, where they are drawn

// The buffers of a call that lie in shared memory, in the order in which they lie there: inputs, then outputs, or for a
// sampled call one of SampledElements.
std::vector<BufferSpec> shared_specs(const Call& call);
std::size_t bytes_of(const Call& call);  // of these buffers
std::size_t bytes_of(const Case& c);     // of all its calls

// Puts a call's buffers there: inputs with their values, outputs with the poison.
void lay_out(SharedMemory& memory, const Call& call, std::span<const Placement> placements, Schedule schedule);

// Elements of an output that lies on the device alone: those that sampled blocks wrote, as many as fit, or some of all.
struct SampledElements {
    static constexpr std::size_t kMost = 65'536;
    std::uint64_t count = 0;
    struct {
        std::int64_t element = 0;
        float value = 0;
    } written[kMost];
};

enum class Ask : std::uint32_t { start, run, time };

constexpr std::uint32_t bit(Rival rival) {
    return 1U << static_cast<std::uint32_t>(rival);
}

struct Request {
    Ask ask = Ask::run;
    Schedule schedule = Schedule::end_aligned;
    std::uint64_t op = 0;
    std::uint64_t case_index = 0;
    std::uint64_t call = 0;
    // time
    std::uint64_t timed = 0;   // which of the op's timed calls
    std::uint32_t rivals = 0;  // bits 1 << Rival
    std::uint64_t seed = 0;    // of the inputs; afterwards the call is repeated once with those of seed + 1
    double seconds = 0;        // to be spent at most, once there are `rounds` samples
    std::int32_t rounds = 6;
};

enum class Answer : std::uint32_t {
    done,
    not_defined,  // the implementation has no function of the op's name and signature
    cannot_load,
    exception,
    fault,      // a signal that the processor raised
    scribble,   // scratch was overrun
    no_room,    // there is not memory enough for the shape
    no_device,  // what the kernels run on is not there
};

enum class Access : std::uint32_t { unknown, read, write };

// Sent as it lies in memory: both ends are the same program. After a fault it is written by the signal handler.
struct Reply {
    Answer answer = Answer::done;

    // fault
    std::int32_t signal = 0;
    Access access = Access::unknown;
    bool stack_overflow = false;
    std::uint64_t address = 0;

    // fault and scribble: the buffer it was in or beside, counted through shared_specs and then the scratch
    std::int32_t buffer = -1;
    std::int64_t offset = 0;  // bytes from the start of its data
    std::uint64_t buffer_bytes = 0;

    bool library_missing = false;  // time: it was asked for, and `text` says why it is not timed

    // time: seconds a call, and the subject's time over each rival's that was asked for
    Summary subject{};
    std::array<Ratio, kRivals> ratio{};
    bool last = false;  // the worker ends itself: a new one is to be started for the next request

    double arithmetic_flop = 0;  // of one call of Rival::arithmetic
    std::int32_t discarded = 0;  // rounds in which a clock reading could not be right

    char text[1024] = {};  // cannot_load, exception and no_room: what was said

    // What a device has counted, by Counter; 0 where it does not. Of sectors also as many as would have done.
    std::array<double, kCounters> counters{};
    double ideal_sectors = 0;
    char costliest[kCosts][256] = {};  // by Cost the line that has most of it

    // What a device saw go wrong during the call, as to_json(Finding) writes it: a JSON array, or empty for nothing.
    char findings[16384] = {};
};
static_assert(std::is_trivially_copyable_v<Reply> && std::is_trivially_copyable_v<Request>);

// As many findings as the reply holds.
void put_findings(Reply& reply, const std::vector<Finding>& findings);

// What an implementation asks for as scratch. Throws where that is more than the check gives.
std::size_t scratch_bytes(const Scratch& scratch, const Library& library);

// Serves requests until the socket closes. `reference_dir` holds the solution's objects and those of older lessons lie
// in folders beside it, for timing against them.
void serve(const Lesson& lesson, const std::filesystem::path& impl_dir, const std::filesystem::path& reference_dir);

// Runs the calls of the cases that `wants` in this process, on the device, until the thread has run that SIMT_STOP or
// SIMT_TRACE names: for a debugger, and for a list of the thread's accesses. Gives the exit status.
int run_to_chosen_thread(const Lesson& lesson, const std::filesystem::path& impl_dir,
                         const std::function<bool(const Op&, const Case&)>& wants);

// The newest older lesson's implementation of an op, beside the folder of the solution's; empty if there is none.
std::filesystem::path older_implementation(const std::filesystem::path& reference_dir, const std::string& op);

}  // namespace checker
