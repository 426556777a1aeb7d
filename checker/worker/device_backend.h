// SPDX-License-Identifier: MIT
//
// The device that a check program's worker runs ops on. The link of the program decides which: simt_backend.cpp is the
// CPU device, gpu_backend.cpp a GPU; without either, host_is_device.cpp makes it the host itself.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "checker/cases/lesson.h"
#include "checker/cases/lesson_toml.h"
#include "checker/worker/bench.h"
#include "checker/worker/call_buffers.h"
#include "checker/worker/messages.h"

namespace checker {

struct Options;

class DeviceBackend {
  public:
    virtual ~DeviceBackend() = default;

    virtual std::string name() const = 0;  // "CPU", "CPU device", "GPU"
    virtual bool is_host() const { return false; }

    // Where timed calls run; null where a device has no times worth taking. Asked for in the worker alone.
    virtual std::unique_ptr<Bench> bench() { return nullptr; }
    virtual bool has_times() const { return false; }

    // The vendor's product of `out` (N, OC), `inp` (N, C) and `weight` (OC, C), floats, in fp32 or TF32, without a bias;
    // none where the device has no times.
    virtual std::optional<Vendor> matmul_library([[maybe_unused]] int N, [[maybe_unused]] int C,
                                                 [[maybe_unused]] int OC,
                                                 [[maybe_unused]] const std::string& precision) {
        return std::nullopt;
    }

    // Why the device can run nothing more in this process; nothing where it can.
    virtual std::optional<Finding> broken() const { return std::nullopt; }

    // What to do where an error is none of the code's under test, but of the machine, its driver or the build; empty where
    // it may be the code's.
    virtual std::string environment_hint([[maybe_unused]] const std::exception& error) const { return ""; }

    // Whether the two schedules run a call's threads in two orders, and what is read unwritten is seen by itself.
    virtual bool runs_two_schedules() const { return false; }

    // Whether it can run some blocks of a launch alone; and whether it takes calls that have Call::sampled, of which it
    // runs some blocks, or all.
    virtual bool samples_blocks() const { return false; }
    virtual bool takes_sampled() const { return samples_blocks(); }

    // Whether it only stands in for a GPU, so that the GPU's side of the checker can be tried without one: timed shapes
    // are then small, and no time means anything.
    virtual bool dry_run() const { return false; }

    // What it is, where a lesson may ask for more. In the worker, once it has started.
    virtual Gpu card() const { return {}; }

    // Once in the worker, before the first call. Throws std::runtime_error where there is no device to run on.
    virtual void start() {}

    // Returns true once the launch of the thread that SIMT_STOP or SIMT_TRACE names is over
    // (checker/simt/runtime/access/focus.h).
    virtual bool focus_launch_is_over() const { return false; }

    // What it counts of a call; nothing where it has no counters.
    virtual std::vector<Counter> counters() const { return {}; }

    // Prints what the kernels of `options.only` ask of memory, by source line; gives the program's exit status.
    virtual int show_traffic([[maybe_unused]] const Lesson& lesson, [[maybe_unused]] const Options& options) {
        throw std::invalid_argument("--traffic: the CPU device counts; this one does not");
    }

    // Prints what cards could do at best with them.
    virtual int show_estimate([[maybe_unused]] const Lesson& lesson, [[maybe_unused]] const Options& options) {
        throw std::invalid_argument("--estimate: the CPU device counts; this one does not");
    }

    // Runs a call on buffers of the device. What they hold before comes from the shared file, outputs go back to it: what
    // the call did not write keeps the poison of the schedule. In a sequence the buffers stay where they are until its
    // last call. What the device saw go wrong is in the reply's `findings`; where the run counts, what the call takes of
    // `needed` in its `counted`.
    virtual Reply run(const CallRun& run) = 0;
    // Frees what a sequence has kept that did not come to its last call.
    virtual void end_case() = 0;
};

DeviceBackend& device_backend();

}  // namespace checker
