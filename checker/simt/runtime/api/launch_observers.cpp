// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/access/bad_indices.h"
#include "checker/simt/runtime/access/focus.h"
#include "checker/simt/runtime/counting/traffic.h"
#include "checker/simt/runtime/races/races.h"
#include "checker/simt/runtime/threads/launch_observer.h"

namespace simt {

constinit const std::array<const LaunchObserver*, kLaunchObservers> launch_observers = {
    &race_observer, &focus_observer, &traffic_observer, &bad_index_observer};

}  // namespace simt
