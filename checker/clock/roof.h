// SPDX-License-Identifier: MIT
//
// The roof of this machine: how fast it copies and computes at best. `make calibrate` measures it into
// results/roof.json (roof_file.h), and a target is a share of it.
#pragma once

#include <functional>
#include <string>

#include "checker/clock/timing.h"

namespace checker {

// Rates of the CPU; `all` is one thread on each core at the same time.
struct CpuRoof {
    std::string name;     // as the system calls it
    int cores = 0;        // that this process may use
    int lanes = 0;        // floats in one vector register, as the lessons are compiled
    double copy_one = 0;  // bytes a second, read plus written, between buffers that no cache holds
    double copy_all = 0;
    double fma_one = 0;  // fp32 FLOP a second, a fused multiply-add counted as two
    double fma_all = 0;
    double two_processes = 0;  // work of two spinning processes over the work of one alone in the same time
};

std::string cpu_name();
int usable_cores();

// Takes about 8 seconds. Calls `progress` with what comes next, in words.
CpuRoof measure_cpu_roof(const std::function<void(const std::string&)>& progress);

// Raises each rate of `measured` to that of `earlier`, where they are of one processor with as many cores and lanes: what
// was reached once can be reached, and a lower rate was measured beside other work. Returns the rates that are raised by
// more than a tenth, in words ("copy on one core, multiply-adds on all cores"); empty if none.
std::string keep_best(CpuRoof& measured, const CpuRoof& earlier);

// The best of several timings of one thread, in FLOP a second; about `seconds` long.
double measure_fma(double seconds);

// Independent multiply-adds in registers, about a tenth of a millisecond of them, and the FLOP of one run: the roof of
// arithmetic on one core, to be taken in the same run as what it bounds.
struct FmaCandidate {
    Candidate candidate;
    double flop = 0;
};
FmaCandidate fma_candidate();

// Work of two spinning processes over the work of one alone: the median of `rounds` rounds of `seconds` each.
double measure_two_processes(int rounds, double seconds);

// Thread scaling is judged only where two processes do at least this much of twice the work.
constexpr double kCoresAddUp = 1.6;
inline bool cores_scale(const CpuRoof& roof) {
    return roof.cores > 1 && roof.two_processes >= kCoresAddUp;
}

}  // namespace checker
