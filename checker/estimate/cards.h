// SPDX-License-Identifier: MIT
//
// What is known of each card (reference/cards.toml, where every number has its source). The file is part of the program,
// so that an estimate needs no other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace checker::estimate {

// What a multiprocessor holds at most, and how it hands it out. Bytes.
struct Limits {
    int warps = 0, blocks = 0;
    int shared = 0;           // of all its blocks together
    int shared_unit = 0;      // in which shared memory is handed out
    int shared_reserved = 0;  // what the system takes for each block
};

struct GpuSpec {
    std::string key;   // "H100-SXM", the table's name in cards.toml
    std::string name;  // "H100 SXM"
    std::string sass;  // what nvcc compiles for it, "sm_90a"
    double clock = 0;  // Hz: that of the peaks, the boost clock, unless `at` says otherwise
    int multiprocessors = 0;

    // Of a multiprocessor, in a cycle.
    int schedulers = 0;  // warp instructions
    int fp32_lanes = 0, int_lanes = 0, special_lanes = 0;
    int lsu_lanes = 0;  // of a load or store
    int l1_bytes = 0;   // of L1 and shared memory together

    double fp32 = 0;                      // FLOP/s
    double tf32 = 0, bf16 = 0, fp16 = 0;  // FLOP/s of tensor cores, summed in fp32; 0 where there are none
    double fp16_fp16 = 0;                 // summed in fp16
    double tensor_clock = 0;              // Hz: that of the tensor cores' peaks
    double mma_sync = 1;                  // share of these that a warp's own instructions reach

    double memory = 0;                                       // bytes/s, as NVIDIA says
    double l2 = 0;                                           // bytes/s read, as measured
    double l2_size = 0;                                      // bytes
    double l1_cycles = 0, l2_cycles = 0, memory_cycles = 0;  // latencies
    Limits limits;
    std::vector<std::string> assumed;  // keys whose number nobody has published: a like card's stands there

    // The same at another clock, in Hz: all that is counted in cycles goes with it, memory does not.
    GpuSpec at(double hertz) const;
    // The time in which each multiprocessor has passed so many cycles.
    double seconds(double cycles) const { return cycles / clock; }
};

// Throws std::runtime_error: `from`, the table, and the key that is missing or wrong.
std::vector<GpuSpec> parse_cards(std::string_view toml, const std::string& from);
const std::vector<GpuSpec>& cards();  // all of reference/cards.toml, in its order

// By its key, however it is written ("rtx4090", "4090"), or what it starts with ("H100": the first such card). Throws
// std::runtime_error, which lists the known ones.
const GpuSpec& card_named(std::string_view name);
std::vector<GpuSpec> cards_named(std::string_view names);  // "H100,T4", or "all"

}  // namespace checker::estimate
