// SPDX-License-Identifier: MIT
//
// The counts as text and as JSON, under the names that Nsight Compute's metrics have (Nsight Compute, "Metrics Guide").
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <utility>

#include "checker/json_writer.h"
#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/counting/traffic.h"

namespace simt {
namespace {

void add_global(std::vector<Metric>& metrics, const char* op, const GlobalTraffic& traffic) {
    const auto name = [&](const char* before, const char* after = "") {
        return fmt::format("{}_mem_global_op_{}{}.sum", before, op, after);
    };
    metrics.push_back({name("l1tex__t_requests_pipe_lsu"), traffic.requests});
    metrics.push_back({name("l1tex__t_sectors_pipe_lsu"), traffic.sectors});
    metrics.push_back({name("l1tex__t_bytes_pipe_lsu"), traffic.bytes_moved()});
    metrics.push_back({name("sm__sass_data_bytes"), traffic.bytes_asked});
    metrics.push_back({fmt::format("sectors if side by side, {}", op), traffic.ideal_sectors});
    metrics.push_back({fmt::format("l1 lines of global requests, {}", op), traffic.lines});
    metrics.push_back({fmt::format("l1 wavefronts of global requests, {}", op), traffic.wavefronts});
    metrics.push_back({fmt::format("threads in requests, {}", op), traffic.threads});
    metrics.push_back({fmt::format("distinct bytes of global requests, {}", op), traffic.bytes_distinct});
    metrics.push_back({fmt::format("unique bytes, {}", op), traffic.bytes_unique});
}

void add_shared(std::vector<Metric>& metrics, const char* op, const SharedTraffic& traffic) {
    metrics.push_back({fmt::format("smsp__inst_executed_op_shared_{}.sum", op), traffic.requests});
    metrics.push_back({fmt::format("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum", op), traffic.wavefronts});
    metrics.push_back(
        {fmt::format("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum", op), traffic.excess_wavefronts()});
    metrics.push_back({fmt::format("sm__sass_data_bytes_mem_shared_op_{}.sum", op), traffic.bytes_asked});
    metrics.push_back({fmt::format("threads in shared requests, {}", op), traffic.threads});
    metrics.push_back({fmt::format("distinct bytes of shared requests, {}", op), traffic.bytes_distinct});
    metrics.push_back({fmt::format("wavefronts if 8 bytes wide, {}", op), traffic.wavefronts_of_8});
    metrics.push_back({fmt::format("wavefronts if 16 bytes wide, {}", op), traffic.wavefronts_of_16});
}

// A bank conflict is a wavefront beyond one for each matrix.
void add_matrices(std::vector<Metric>& metrics, const SharedTraffic& traffic) {
    metrics.push_back({"smsp__inst_executed_op_ldsm.sum", traffic.requests});
    metrics.push_back({"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum", traffic.wavefronts});
    metrics.push_back(
        {"smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldsm.sum", traffic.excess_wavefronts()});
    metrics.push_back({"smsp__sass_data_bytes_mem_shared_op_ldsm.sum", traffic.bytes_asked});
}

void add_tensor(std::vector<Metric>& metrics, const TensorTraffic& traffic) {
    metrics.push_back({"sm__inst_executed_pipe_tensor_op_hmma.sum", traffic.instructions});
    // Operations: a multiply-add is two.
    metrics.push_back({"sm__ops_path_tensor_src_tf32_dst_fp32.sum", 2 * traffic.tf32});
    metrics.push_back({"sm__ops_path_tensor_src_bf16_dst_fp32.sum", 2 * traffic.bf16});
    metrics.push_back({"sm__ops_path_tensor_src_fp16_dst_fp32.sum", 2 * traffic.f16});
    metrics.push_back({"sm__ops_path_tensor_src_fp16_dst_fp16.sum", 2 * traffic.f16_to_f16});
    metrics.push_back({"elements that mma truncates to tf32", traffic.truncated});
}

std::vector<Metric> without_zeros(std::vector<Metric> metrics) {
    std::erase_if(metrics, [](const Metric& metric) { return metric.value == 0; });
    return metrics;
}

void write_values(checker::JsonWriter& json, const std::vector<Metric>& metrics) {
    for (const Metric& metric : metrics) { json.integer(metric.name, static_cast<std::int64_t>(metric.value)); }
    json.end_object();
}

void write_metrics(checker::JsonWriter& json, const Traffic& traffic) {
    json.begin_object("metrics");
    write_values(json, metrics_of(traffic));
}

// Of a line with several: what is merged into wider ones is one of them by itself.
void write_shared_loads(checker::JsonWriter& json, const std::vector<SharedLoad>& loads) {
    if (loads.size() < 2) {
        return;
    }
    json.begin_array("shared_loads");
    for (const SharedLoad& load : loads) {
        std::vector<Metric> metrics;
        add_shared(metrics, "ld", load.traffic);
        json.begin_element();
        write_values(json, without_zeros(std::move(metrics)));
    }
    json.end_array();
}

void write_extent(checker::JsonWriter& json, const char* name, dim3 extent) {
    json.begin_array(name);
    for (const unsigned side : {extent.x, extent.y, extent.z}) { json.integer("", side); }
    json.end_array();
}

std::string ratio(std::uint64_t a, std::uint64_t b) {
    return b == 0 ? "" : fmt::format("{:.1f}", static_cast<double>(a) / static_cast<double>(b));
}

std::string if_any(std::uint64_t count) {
    return count == 0 ? "" : std::to_string(count);
}

std::string lines_as_text(const LaunchTraffic& kernel) {
    const bool any_special = kernel.total.special_functions != 0;
    std::string text = fmt::format("  {:<24}{:>10}{:>13}{:>7}{:>7}{:>12}{:>8}{}\n", "line", "requests", "sectors/req",
                                   "ideal", "share", "wavefronts", "excess", any_special ? "   special" : "");
    for (const LineTraffic& line : kernel.lines) {
        const Traffic& t = line.traffic;
        const std::string share = t.global_sectors() == 0
                                      ? ""
                                      : fmt::format("{:.0f}%", 100.0 * static_cast<double>(t.bytes_moved()) /
                                                                   static_cast<double>(kernel.total.bytes_moved()));
        text += fmt::format(
            "  {:<24}{:>10}{:>13}{:>7}{:>7}{:>12}{:>8}{}\n", text_of(line.line),
            if_any(t.global_requests() + t.shared_requests()), ratio(t.global_sectors(), t.global_requests()),
            ratio(t.ideal_sectors(), t.global_requests()), share, if_any(t.wavefronts()), if_any(t.excess_wavefronts()),
            any_special ? fmt::format("{:>10}", if_any(t.special_functions)) : "");
    }
    return text;
}

}  // namespace

std::vector<Metric> every_metric_of(const Traffic& traffic) {
    std::vector<Metric> metrics;
    add_global(metrics, "ld", traffic.loads);
    add_global(metrics, "st", traffic.stores);
    add_global(metrics, "atom", traffic.atomics);
    metrics.push_back({"memory_l2_theoretical_sectors_global", traffic.global_sectors()});
    metrics.push_back({"memory_l2_theoretical_sectors_global_ideal", traffic.ideal_sectors()});
    add_shared(metrics, "ld", traffic.shared_loads);
    add_shared(metrics, "st", traffic.shared_stores);
    add_shared(metrics, "atom", traffic.shared_atomics);
    add_matrices(metrics, traffic.matrix_loads);
    add_tensor(metrics, traffic.tensor);
    metrics.push_back({"bytes of shared loads during copies", traffic.shared_loads.bytes_overlapped});
    metrics.push_back({"derived__memory_l1_wavefronts_shared_excessive", traffic.excess_wavefronts()});
    metrics.push_back({"shuffles", traffic.shuffles});
    metrics.push_back({"lsu instructions", traffic.lsu_instructions()});
    metrics.push_back({"l1 quarter-cycles, 32 lanes", traffic.quarter_cycles_32});
    metrics.push_back({"l1 quarter-cycles, 16 lanes", traffic.quarter_cycles_16});
    metrics.push_back({"passes of atomics", traffic.atomic_passes});
    metrics.push_back({"sass__inst_executed_per_opcode BAR", traffic.barriers});
    metrics.push_back({"accesses that a warp's lanes passed unequally often", traffic.uneven});
    metrics.push_back({"special functions", traffic.special_functions});
    metrics.push_back({"special functions of doubles", traffic.special_in_double});
    metrics.push_back({"special functions, requests", traffic.special_requests});
    metrics.push_back({"fused multiply-adds", traffic.arithmetic.fused});
    metrics.push_back({"fused multiply-adds, requests", traffic.arithmetic.fused_requests});
    metrics.push_back({"other floating-point operations", traffic.arithmetic.other});
    metrics.push_back({"other floating-point operations, requests", traffic.arithmetic.other_requests});
    metrics.push_back({"floating-point operations of doubles", traffic.arithmetic.in_double});
    metrics.push_back({"floating-point operations of doubles, requests", traffic.arithmetic.in_double_requests});
    metrics.push_back({"calls of libraries", traffic.library_calls});
    metrics.push_back({"bytes that libraries read", traffic.library_bytes_read});
    metrics.push_back({"bytes that libraries write", traffic.library_bytes_written});
    metrics.push_back({"bytes that libraries move in small pieces", traffic.library_bytes_narrow});
    metrics.push_back({"floating-point operations of libraries", traffic.library_flop});
    metrics.push_back({"floating-point operations of libraries, tf32", traffic.library_flop_tf32});
    metrics.push_back({"floating-point operations of libraries, 16 bits", traffic.library_flop_16});
    return metrics;
}

std::vector<Metric> metrics_of(const Traffic& traffic) {
    return without_zeros(every_metric_of(traffic));
}

std::string traffic_as_text(const std::vector<LaunchTraffic>& kernels) {
    std::string text;
    for (const LaunchTraffic& kernel : kernels) {
        if (kernel.launches == 0) {
            text += fmt::format("simt: traffic of {}, a function of a library", kernel.kernel);
        } else {
            text += fmt::format("simt: traffic of {}<<<({}, {}, {}), ({}, {}, {})>>>", kernel.kernel, kernel.grid.x,
                                kernel.grid.y, kernel.grid.z, kernel.block.x, kernel.block.y, kernel.block.z);
            text += kernel.launches == 1 ? "" : fmt::format(", {} launches", kernel.launches);
        }
        text += kernel.blocks_run == kernel.blocks
                    ? ""
                    : fmt::format("; only {} of {} blocks were run and counted", kernel.blocks_run, kernel.blocks);
        text += '\n';
        for (const Metric& metric : metrics_of(kernel.total)) {
            text += fmt::format("  {:<62}{:>14}\n", metric.name, metric.value);
        }
        text += kernel.launches == 0 ? "" : lines_as_text(kernel);
        if (kernel.unique_is_least) {
            text += "  unique bytes are at least these: more memory was touched than is kept\n";
        }
    }
    return text + "simt: counts of what warps ask for; L1 and L2 are not simulated (checker/simt/COUNTERS.md)\n";
}

void write_traffic(checker::JsonWriter& json, const LaunchTraffic& launch) {
    json.text("kernel", launch.kernel);
    write_extent(json, "grid", launch.grid);
    write_extent(json, "block", launch.block);
    json.text("file", launch.line.file);
    json.integer("line", launch.line.line);
    json.integer("launches", static_cast<std::int64_t>(launch.launches));
    json.integer("blocks", static_cast<std::int64_t>(launch.blocks));
    json.integer("blocks_counted", static_cast<std::int64_t>(launch.blocks_run));
    json.integer("shared_bytes", static_cast<std::int64_t>(launch.shared_bytes));
    json.begin_array("distinct");
    for (const DistinctSectors& runs : launch.distinct) {
        json.begin_element();
        json.integer("blocks", static_cast<std::int64_t>(runs.blocks));
        json.integer("runs", static_cast<std::int64_t>(runs.runs));
        json.integer("load_sectors", static_cast<std::int64_t>(runs.load_sectors));
        json.integer("store_sectors", static_cast<std::int64_t>(runs.store_sectors));
        json.end_object();
    }
    json.end_array();
    json.boolean("unique_bytes_are_at_least", launch.unique_is_least);
    json.boolean("arithmetic_counted", launch.arithmetic_counted);
    write_metrics(json, launch.total);
    json.begin_array("lines");
    for (const LineTraffic& line : launch.lines) {
        json.begin_element();
        json.text("file", line.line.file);
        json.integer("line", line.line.line);
        json.begin_array("buffers");
        for (const std::string& name : line.buffers) { json.text("", name); }
        json.end_array();
        write_metrics(json, line.traffic);
        write_shared_loads(json, line.shared_loads);
        json.end_object();
    }
    json.end_array();
}

std::string traffic_as_json(const std::vector<LaunchTraffic>& launches, const std::vector<LaunchTraffic>& kernels) {
    checker::JsonWriter json;
    const auto write_all = [&json](const std::vector<LaunchTraffic>& all) {
        for (const LaunchTraffic& one : all) {
            json.begin_element();
            write_traffic(json, one);
            json.end_object();
        }
    };
    json.begin_array("kernels");
    write_all(kernels);
    json.end_array();
    json.begin_array("launches");
    write_all(launches);
    json.end_array();
    return json.finish();
}

void print_traffic_once() {
    const char* asked = std::getenv("SIMT_TRAFFIC");
    const std::string_view wanted = asked == nullptr ? "" : asked;
    static bool printed = false;
    if (wanted.empty() || std::exchange(printed, true)) {
        return;
    }
    std::fflush(stdout);
    if (!hot.checking) {
        fmt::print(stderr, "simt: SIMT_TRAFFIC={}: nothing is counted with SIMT_CHECK=off; leave that out\n", wanted);
    }
    if (traffic_of_kernels().empty()) {
        return;
    }
    if (!wanted.ends_with(".json")) {
        fmt::print(stderr, "{}", traffic_as_text(traffic_of_kernels()));
        return;
    }
    std::ofstream out{std::string(wanted), std::ios::binary};
    out << traffic_as_json(traffic_of_launches(), traffic_of_kernels()) << '\n';
    out.close();
    if (!out) {
        fmt::print(stderr, "simt: SIMT_TRAFFIC={}: it cannot be written\n", wanted);
    }
}

}  // namespace simt
