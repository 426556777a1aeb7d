// SPDX-License-Identifier: MIT
#include "checker/estimate/counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

namespace checker::estimate {
namespace {

// `use` gets the name of each metric, and the number that it is.
void each_metric(auto& counts, auto&& use) {
    constexpr std::array<const char*, 3> kOps{"ld", "st", "atom"};
    for (std::size_t i = 0; i < kOps.size(); i++) {
        const std::string op = kOps[i];
        auto& global = counts.access[i];
        use("l1tex__t_requests_pipe_lsu_mem_global_op_" + op + ".sum", global.requests);
        use("l1tex__t_sectors_pipe_lsu_mem_global_op_" + op + ".sum", global.sectors);
        use("sm__sass_data_bytes_mem_global_op_" + op + ".sum", global.bytes);
        use("l1 lines of global requests, " + op, global.lines);
        use("l1 wavefronts of global requests, " + op, global.wavefronts);
        use("threads in requests, " + op, global.threads);
        use("unique bytes, " + op, global.unique);
        auto& shared = counts.access[kOps.size() + i];
        use("smsp__inst_executed_op_shared_" + op + ".sum", shared.requests);
        use("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" + op + ".sum", shared.wavefronts);
        use("sm__sass_data_bytes_mem_shared_op_" + op + ".sum", shared.bytes);
        use("threads in shared requests, " + op, shared.threads);
        use("distinct bytes of shared requests, " + op, shared.distinct);
        use("wavefronts if 8 bytes wide, " + op, shared.wavefronts_of_8);
        use("wavefronts if 16 bytes wide, " + op, shared.wavefronts_of_16);
    }
    use("shuffles", counts.shuffles);
    use("l1 quarter-cycles, 32 lanes", counts.quarters_32);
    use("l1 quarter-cycles, 16 lanes", counts.quarters_16);
    use("fused multiply-adds", counts.fma);
    use("fused multiply-adds, requests", counts.fma_requests);
    use("other floating-point operations", counts.other_flop);
    use("other floating-point operations, requests", counts.other_flop_requests);
    use("special functions", counts.special);
    use("special functions, requests", counts.special_requests);
    use("sass__inst_executed_per_opcode BAR", counts.barriers);
    use("calls of libraries", counts.library_calls);
    use("bytes that libraries read", counts.library_read);
    use("bytes that libraries write", counts.library_written);
    use("floating-point operations of libraries", counts.library_flop);
    use("floating-point operations of libraries, tf32", counts.library_tf32);
    use("floating-point operations of libraries, 16 bits", counts.library_16_bits);
    use("sm__inst_executed_pipe_tensor_op_hmma.sum", counts.tensor.instructions);
    use("sm__ops_path_tensor_src_tf32_dst_fp32.sum", counts.tensor.tf32);
    use("sm__ops_path_tensor_src_bf16_dst_fp32.sum", counts.tensor.bf16);
    use("sm__ops_path_tensor_src_fp16_dst_fp32.sum", counts.tensor.fp16);
    use("sm__ops_path_tensor_src_fp16_dst_fp16.sum", counts.tensor.fp16_fp16);
}

// Adds ldmatrix, which SASS has among its loads of shared memory: 32 threads get the bytes of its rows.
void add_matrices(const Json& metrics, Access& loads) {
    const double requests = number_or_0(metrics, "smsp__inst_executed_op_ldsm.sum");
    const double bytes = number_or_0(metrics, "smsp__sass_data_bytes_mem_shared_op_ldsm.sum");
    loads.requests += requests;
    loads.threads += 32 * requests;
    loads.bytes += bytes;
    loads.distinct += bytes;
    loads.wavefronts += number_or_0(metrics, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum");
}

// A metric that is not there is 0.
Counts counts_of(const Json& metrics) {
    Counts counts;
    each_metric(counts, [&](const std::string& name, double& value) { value = number_or_0(metrics, name); });
    add_matrices(metrics, counts.of(Kind::shared_load));
    return counts;
}

Json rounded(double value) {
    return value < 1e15 ? Json(std::llround(value)) : Json(value);
}

Json metrics_of(const Counts& counts) {
    Json metrics = Json::object();
    each_metric(counts, [&](const std::string& name, double value) {
        if (value != 0) {
            metrics[name] = rounded(value);
        }
    });
    return metrics;
}

std::array<int, 3> extent(const Json& launch, std::string_view name) {
    const std::vector<Json>& sides = launch.at(name).elements();
    if (sides.size() != 3) {
        throw std::runtime_error(fmt::format("{} has {} sides, not 3", name, sides.size()));
    }
    return {static_cast<int>(sides[0].integer()), static_cast<int>(sides[1].integer()),
            static_cast<int>(sides[2].integer())};
}

LaunchCounts launch_of(const Json& launch) {
    const Json* arithmetic = launch.find("arithmetic_counted");
    LaunchCounts result{.kernel = launch.at("kernel").text(),
                        .file = text_or_none(launch, "file"),
                        .grid = extent(launch, "grid"),
                        .block = extent(launch, "block"),
                        .launches = number_or_0(launch, "launches"),
                        .blocks = number_or_0(launch, "blocks"),
                        .blocks_counted = number_or_0(launch, "blocks_counted"),
                        .shared_bytes = number_or_0(launch, "shared_bytes"),
                        .arithmetic_counted = arithmetic != nullptr && arithmetic->boolean(),
                        .total = counts_of(launch.at("metrics")),
                        .lines = {},
                        .distinct = {}};
    for (const Json& line : launch.at("lines").elements()) {
        LineCounts& added = result.lines.emplace_back(LineCounts{.file = line.at("file").text(),
                                                                 .line = static_cast<int>(line.at("line").integer()),
                                                                 .counts = counts_of(line.at("metrics"))});
        if (const Json* loads = line.find("shared_loads")) {
            for (const Json& load : loads->elements()) { added.shared_loads.push_back(counts_of(load)); }
        }
    }
    if (const Json* runs = launch.find("distinct")) {
        for (const Json& run : runs->elements()) {
            result.distinct.push_back({.blocks = run.at("blocks").number(),
                                       .runs = run.at("runs").number(),
                                       .load_sectors = run.at("load_sectors").number(),
                                       .store_sectors = run.at("store_sectors").number()});
        }
    }
    return result;
}

}  // namespace

Access& Access::operator+=(const Access& other) {
    requests += other.requests;
    threads += other.threads;
    bytes += other.bytes;
    wavefronts += other.wavefronts;
    wavefronts_of_8 += other.wavefronts_of_8;
    wavefronts_of_16 += other.wavefronts_of_16;
    distinct += other.distinct;
    sectors += other.sectors;
    lines += other.lines;
    unique += other.unique;
    return *this;
}

double Counts::requests() const {
    double sum = shuffles;
    for (const Access& one : access) { sum += one.requests; }
    return sum;
}

void Counts::scale(double factor) {
    each_metric(*this, [&](const std::string&, double& value) { value *= factor; });
}

void LineCounts::scale(double factor) {
    counts.scale(factor);
    for (Counts& load : shared_loads) { load.scale(factor); }
}

LaunchCounts LaunchCounts::of_one_launch() const {
    LaunchCounts one = *this;
    if (launches > 0 && blocks_counted > 0) {
        const double factor = blocks / blocks_counted / launches;
        one.total.scale(factor);
        for (LineCounts& line : one.lines) { line.scale(factor); }
        one.blocks = one.blocks_counted = blocks / launches;
        one.launches = 1;
    }
    return one;
}

std::vector<LaunchCounts> launches_of(const Json& counted) {
    std::vector<LaunchCounts> launches;
    for (const Json& one : counted.at("launches").elements()) { launches.push_back(launch_of(one)); }
    const Json* kernels = counted.find("kernels");
    if (kernels == nullptr) {
        return launches;
    }
    std::map<std::string, double> kept;
    for (const LaunchCounts& launch : launches) { kept[launch.kernel] += launch.launches; }
    for (const Json& one : kernels->elements()) {
        LaunchCounts kernel = launch_of(one);
        if (kernel.is_library() || kernel.launches > kept[kernel.kernel]) {
            std::erase_if(launches, [&](const LaunchCounts& launch) { return launch.kernel == kernel.kernel; });
            launches.push_back(std::move(kernel));
        }
    }
    return launches;
}

std::vector<LaunchCounts> parse_counts(std::string_view json, const std::string& from) {
    try {
        return launches_of(Json::parse(json));
    } catch (const std::exception& error) { throw std::runtime_error(fmt::format("{}: {}", from, error.what())); }
}

void add_least_arithmetic(std::vector<LaunchCounts>& launches, double flop) {
    const auto has_arithmetic = [](const LaunchCounts& one) {
        return one.total.fma + one.total.other_flop + one.total.library_flop + one.total.tensor.flop() > 0;
    };
    if (flop > 0 && launches.size() == 1 && !has_arithmetic(launches.front())) {
        LaunchCounts& only = launches.front();
        only.total.fma = flop / 2 * only.blocks_counted / std::max(only.blocks, 1.0);
        only.total.fma_requests = only.total.fma / 32;
    }
}

Json counts_as_json(const std::vector<LaunchCounts>& launches) {
    Json all = Json::array();
    for (const LaunchCounts& launch : launches) {
        Json lines = Json::array();
        for (const LineCounts& line : launch.lines) {
            Json one{{"file", line.file}, {"line", line.line}, {"metrics", metrics_of(line.counts)}};
            if (!line.shared_loads.empty()) {
                one["shared_loads"] = Json::array();
                for (const Counts& load : line.shared_loads) { one["shared_loads"].push_back(metrics_of(load)); }
            }
            lines.push_back(std::move(one));
        }
        Json runs = Json::array();
        for (const Distinct& run : launch.distinct) {
            runs.push_back({{"blocks", rounded(run.blocks)},
                            {"runs", rounded(run.runs)},
                            {"load_sectors", rounded(run.load_sectors)},
                            {"store_sectors", rounded(run.store_sectors)}});
        }
        Json added{{"kernel", launch.kernel},
                   {"file", launch.file},
                   {"grid", Json::array(launch.grid)},
                   {"block", Json::array(launch.block)},
                   {"launches", rounded(launch.launches)},
                   {"blocks", rounded(launch.blocks)},
                   {"blocks_counted", rounded(launch.blocks_counted)},
                   {"shared_bytes", rounded(launch.shared_bytes)},
                   {"metrics", metrics_of(launch.total)},
                   {"lines", std::move(lines)},
                   {"distinct", std::move(runs)}};
        if (launch.arithmetic_counted) {
            added["arithmetic_counted"] = true;
        }
        all.push_back(std::move(added));
    }
    return {{"launches", std::move(all)}};
}

}  // namespace checker::estimate
