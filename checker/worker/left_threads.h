// SPDX-License-Identifier: MIT
//
// The threads that a call has started and that still run after it has returned.
#pragma once

#include <sys/types.h>

#include <set>

namespace checker {

class ThreadsBefore {
  public:
    // Notes the threads that are there.
    ThreadsBefore();

    // How many others run on. Waits for those that are ending, and gives up on one that takes the processor for
    // another 200 us. Those that sleep are not counted: so a pool's wait for the next call.
    int running_now() const;

  private:
    std::set<pid_t> known_;
};

}  // namespace checker
