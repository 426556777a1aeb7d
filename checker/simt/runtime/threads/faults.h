// SPDX-License-Identifier: MIT
//
// Signals: an access that the system refuses, and a launch that runs for too long.
#pragma once

namespace simt {

// While one lives, a fault of the running CUDA thread, or a launch that passes time_limit(), becomes a finding and ends
// the launch. With
// or without one, a fault of host code in the device's memory ends the process with its findings.
class FaultWatch {
  public:
    FaultWatch();
    ~FaultWatch();
    FaultWatch(const FaultWatch&) = delete;
    FaultWatch& operator=(const FaultWatch&) = delete;
};

// While one lives, a host function of a stream sleeps; if it does so for longer than patience(), the process ends with a
// finding.
class HostFunctionWatch {
  public:
    explicit HostFunctionWatch(const void* site);
    ~HostFunctionWatch();
    HostFunctionWatch(const HostFunctionWatch&) = delete;
    HostFunctionWatch& operator=(const HostFunctionWatch&) = delete;
};

// Returns the processor time of the launching thread in seconds, as it was at the clock's last tick.
double processor_seconds();
// Returns true if no block of the running launch has ended for time_limit(): it has to stop.
bool is_overdue();
// Reports that, for the CUDA thread of hot.lane, which is at `site`.
void report_overdue(const void* site);

void watch_host_faults();  // from the first use of device memory on

}  // namespace simt
