// SPDX-License-Identifier: MIT
//
// The counters of the CPU device: their names, how each is read from what the runtime has counted, and what is said of
// it. A new counter is a row of the table in simt_counters.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "checker/cases/counters.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/counting/traffic.h"

namespace checker {

std::vector<Counter> simt_counters();

// Counts what runs while it lives; what the host asks of the device only until host_is_done().
class CountingCall {
  public:
    CountingCall();
    void op_begins();     // what was called so far is the checker's own
    void host_is_done();  // the call has returned; what follows is the checker's own
    // What was taken of each of `needed`.
    std::vector<CounterResult> of(const std::vector<Needed>& needed) const;

  private:
    simt::CountingTraffic traffic_;
    std::map<std::string, double> host_;  // by name: what the host asked for since the beginning
    simt::CopiedBytes copied_before_;
};

}  // namespace checker
