// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/bad_indices.h"
#include "checker/simt/runtime/chosen.h"
#include "checker/simt/runtime/launch_observer.h"
#include "checker/simt/runtime/races.h"
#include "checker/simt/runtime/traffic.h"

namespace simt {

constinit const std::array<const LaunchObserver*, kLaunchObservers> launch_observers = {
    &race_observer, &chosen_observer, &traffic_observer, &bad_index_observer};

}  // namespace simt
