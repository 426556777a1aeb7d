// SPDX-License-Identifier: MIT
//
// The process that runs the learner's code. It is this same program, started anew with --worker, holding two
// descriptors: a socket on which requests come and replies go, and the shared memory file. It judges nothing.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "checker/cases/lesson.h"
#include "checker/worker/device_backend.h"
#include "checker/worker/shared_buffers.h"

namespace checker {

// The host, where ops run on nothing else: in buffers between inaccessible pages.
std::unique_ptr<DeviceBackend> host_side();

// Lets faults in and around a mapping name the call's buffer of this number, counted as in Reply, until all are forgotten.
void name_in_faults(const GuardedMapping& mapping, std::size_t bytes, std::size_t buffer, bool earlier_call = false);
void forget_in_faults();

// Serves requests until the socket closes. `reference_dir` holds the solution's objects and those of older lessons lie
// in folders beside it, for timing against them.
void serve(const Lesson& lesson, const std::filesystem::path& impl_dir, const std::filesystem::path& reference_dir);

// Runs the calls of the cases that `wants` in this process, on the device, until the thread has run that SIMT_STOP or
// SIMT_TRACE names: for a debugger, and for a list of the thread's accesses. Gives the exit status.
int run_to_focus(const Lesson& lesson, const std::filesystem::path& impl_dir,
                 const std::function<bool(const Op&, const Case&)>& wants);

}  // namespace checker
