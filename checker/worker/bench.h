// SPDX-License-Identifier: MIT
//
// Where timed calls run: the memory that they work on, the clock that they are taken by, and the roofs to take in the
// same rounds. The host's is here; a device's comes with its DeviceBackend.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>

#include "checker/clock/roof.h"
#include "checker/clock/timing.h"
#include "checker/worker/shared_buffers.h"

namespace checker {

class Bench {
  public:
    virtual ~Bench() = default;

    // Poisoned memory that lives as long as the bench. Throws OutOfMemory.
    virtual std::byte* allocate(std::size_t bytes) = 0;
    // Lets `draw` write the memory's content. It is there when this returns, as after copy_content: an op may work in any
    // stream.
    virtual void fill(std::byte* to, std::size_t bytes, const std::function<void(std::span<std::byte>)>& draw) = 0;
    // Piece by piece: a device's memory may be larger than what is left of the host's.
    void poison(std::byte* to, std::size_t bytes, Element element, Schedule schedule);
    // Copies from one such memory to another; no clock runs.
    virtual void copy_content(std::byte* to, const std::byte* from, std::size_t bytes) = 0;
    // Waits for what was launched, then copies memory to the host.
    virtual void fetch(std::span<std::byte> to, const std::byte* from) = 0;

    virtual Stopwatch& stopwatch() = 0;
    // Limits for `seconds` of sampling with at least `samples` samples.
    virtual TimingOptions options(double seconds, int samples) const = 0;

    // Samples so far that the device began before the host had queued all of their work: the host's time is in them.
    virtual int late() const { return 0; }

    // How many calls make a sample, each on operands of its own, where caches are cold before each sample and one call
    // takes so many seconds and has tensors of so many bytes.
    virtual std::size_t calls_in_a_sample([[maybe_unused]] double seconds, [[maybe_unused]] std::size_t bytes) const {
        return 1;
    }
    // Memory like allocate's that holds what is there.
    virtual std::byte* allocate_copy(const std::byte* of, std::size_t bytes);

    // Reads half of `bytes` from one buffer and writes half to another, so many times, each on buffers of their own.
    virtual Candidate copy(std::size_t bytes, std::size_t times) = 0;
    // Reads `bytes` `times` times, each from a buffer of its own.
    virtual Candidate read(std::size_t bytes, std::size_t times) = 0;
    virtual FmaCandidate arithmetic() = 0;

    // Throws std::runtime_error, with the reason, where it cannot be known when the device works.
    virtual BusyStopwatch& busy() { throw std::runtime_error("only a GPU says when it works"); }

    // What happens before each sample of each candidate, outside the time taken: caches filled with other data. Empty
    // where calls are timed one after another on warm caches.
    virtual std::function<void()> cold() { return {}; }
};

std::unique_ptr<Bench> host_bench();

// A device's limits for one call at one shape, all candidates together: rounds until each median's 95% interval is within
// 1% of it, at most 1.5 s. A call so long that this is too short for an interval gets twice as long. More `samples` than an
// interval needs are asked for where 1% did not decide: the goal then shrinks with their number. Without `seconds` the
// call ends as soon as there are `samples`. No sample repeats a call: the caches would be warm.
TimingOptions device_options(double seconds, int samples);

// As many calls as last so long together that a clock which moves on once a microsecond, as that of CUDA's events does on
// some cards, tells 2% apart; fewer where `room` has no more tensors of so many bytes.
std::size_t calls_for_a_coarse_clock(double seconds, std::size_t bytes, std::size_t room);

}  // namespace checker
