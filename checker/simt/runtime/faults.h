// SPDX-License-Identifier: MIT
//
// Signals: an access that the system refuses, and a thread that runs without end.
#pragma once

namespace simt {

// While one lives, a fault or an endless loop of the running CUDA thread becomes a finding and ends the launch. With
// or without one, a fault of host code in the device's memory ends the process with its findings.
class FaultWatch {
  public:
    FaultWatch();
    ~FaultWatch();
    FaultWatch(const FaultWatch&) = delete;
    FaultWatch& operator=(const FaultWatch&) = delete;
};

// While one lives, a host function of a stream sleeps; if it does so for longer than a thread may run, the process ends
// with a finding.
class HostFunctionWatch {
  public:
    explicit HostFunctionWatch(const void* site);
    ~HostFunctionWatch();
    HostFunctionWatch(const HostFunctionWatch&) = delete;
    HostFunctionWatch& operator=(const HostFunctionWatch&) = delete;
};

void watch_host_faults();  // from the first use of device memory on

}  // namespace simt
