// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/requests/traffic_counts.h"

namespace simt {

GlobalTraffic& GlobalTraffic::operator+=(const GlobalTraffic& other) {
    requests += other.requests;
    threads += other.threads;
    sectors += other.sectors;
    ideal_sectors += other.ideal_sectors;
    lines += other.lines;
    wavefronts += other.wavefronts;
    bytes_asked += other.bytes_asked;
    bytes_distinct += other.bytes_distinct;
    bytes_unique += other.bytes_unique;
    return *this;
}

SharedTraffic& SharedTraffic::operator+=(const SharedTraffic& other) {
    requests += other.requests;
    threads += other.threads;
    bytes_asked += other.bytes_asked;
    bytes_distinct += other.bytes_distinct;
    bytes_overlapped += other.bytes_overlapped;
    wavefronts += other.wavefronts;
    ideal_wavefronts += other.ideal_wavefronts;
    wavefronts_of_8 += other.wavefronts_of_8;
    wavefronts_of_16 += other.wavefronts_of_16;
    return *this;
}

ArithmeticTraffic& ArithmeticTraffic::operator+=(const ArithmeticTraffic& more) {
    fused += more.fused;
    fused_requests += more.fused_requests;
    other += more.other;
    other_requests += more.other_requests;
    in_double += more.in_double;
    in_double_requests += more.in_double_requests;
    return *this;
}

TensorTraffic& TensorTraffic::operator+=(const TensorTraffic& other) {
    instructions += other.instructions;
    tf32 += other.tf32;
    bf16 += other.bf16;
    f16 += other.f16;
    f16_to_f16 += other.f16_to_f16;
    truncated += other.truncated;
    return *this;
}

Traffic& Traffic::operator+=(const Traffic& other) {
    loads += other.loads;
    stores += other.stores;
    atomics += other.atomics;
    shared_loads += other.shared_loads;
    shared_stores += other.shared_stores;
    shared_atomics += other.shared_atomics;
    matrix_loads += other.matrix_loads;
    tensor += other.tensor;
    shuffles += other.shuffles;
    quarter_cycles_32 += other.quarter_cycles_32;
    quarter_cycles_16 += other.quarter_cycles_16;
    atomic_passes += other.atomic_passes;
    barriers += other.barriers;
    uneven += other.uneven;
    special_requests += other.special_requests;
    special_functions += other.special_functions;
    special_in_double += other.special_in_double;
    arithmetic += other.arithmetic;
    library_calls += other.library_calls;
    library_bytes_read += other.library_bytes_read;
    library_bytes_written += other.library_bytes_written;
    library_bytes_narrow += other.library_bytes_narrow;
    library_flop += other.library_flop;
    library_flop_tf32 += other.library_flop_tf32;
    library_flop_16 += other.library_flop_16;
    return *this;
}

std::uint64_t Traffic::excess_wavefronts() const {
    return shared_loads.excess_wavefronts() + shared_stores.excess_wavefronts() + shared_atomics.excess_wavefronts() +
           matrix_loads.excess_wavefronts();
}

}  // namespace simt
