// SPDX-License-Identifier: MIT
#include "checker/devices/gpu/gpu_roof.h"

#include "checker/json_writer.h"

namespace checker {
namespace {

// The results that are one number each: their key, and the key of their rate; none where the time is the result.
template <class Roof>
auto named_results(Roof& roof) {
    struct Named {
        std::string key, unit;
        decltype(&roof.fma) result;
    };
    return std::vector<Named>{{"shared_read", "bytes_per_s", &roof.shared_read},
                              {"fp32_fma", "flop_per_s", &roof.fma},
                              {"tf32_mma_sync", "flop_per_s", &roof.tf32.mma_sync},
                              {"bf16_mma_sync", "flop_per_s", &roof.bf16.mma_sync},
                              {"launch_queued", "", &roof.launch.queued},
                              {"launch_back_to_back", "", &roof.launch.back_to_back},
                              {"launch_and_sync", "", &roof.launch.launch_and_sync},
                              {"event_pair", "", &roof.launch.event_pair},
                              {"host_to_device_pinned", "bytes_per_s", &roof.host.to_device_pinned},
                              {"device_to_host_pinned", "bytes_per_s", &roof.host.to_host_pinned},
                              {"host_to_device_pageable", "bytes_per_s", &roof.host.to_device_pageable},
                              {"device_to_host_pageable", "bytes_per_s", &roof.host.to_host_pageable}};
}

// The largest cold size: what the memory itself does.
std::optional<double> memory_rate(const GpuRoof& roof, Operation operation) {
    std::size_t largest = 0;
    std::optional<double> rate;
    for (const MemoryRow& row : roof.memory) {
        if (row.operation == operation && row.cache == Cache::cold && row.bytes > largest) {
            largest = row.bytes;
            rate = row.result.rate();
        }
    }
    return rate;
}

// The best rate of sizes that half of L2 holds: what L2 itself does.
std::optional<double> l2_rate(const GpuRoof& roof, Operation operation) {
    std::optional<double> best;
    for (const MemoryRow& row : roof.memory) {
        const std::optional<double> rate = row.result.rate();
        if (row.operation == operation && row.cache == Cache::hot_in_kernel && rate && roof.device &&
            row.bytes <= roof.device->l2_bytes / 2 && (!best || *rate > *best)) {
            best = rate;
        }
    }
    return best;
}

// The fields of one result, in the object that the writer is in. `unit` is the key of its rate, or empty where the
// time is the result.
void write_fields(JsonWriter& json, const Result& result, const std::string& unit) {
    if (!unit.empty()) {
        json.number(unit, result.rate());
    }
    json.number("median_s", result.time());
    const bool shown = result.time().has_value();
    json.number("p10_s", shown ? std::optional(result.seconds->p10) : std::nullopt);
    json.number("p90_s", shown ? std::optional(result.seconds->p90) : std::nullopt);
    json.integer("samples", result.seconds ? static_cast<std::int64_t>(result.seconds->samples) : 0);
    json.integer("calls_per_sample", result.calls_per_sample);
    if (!unit.empty()) {
        json.number("bound_" + unit,
                    result.least_seconds ? std::optional(result.work / *result.least_seconds) : std::nullopt);
        json.text("bound_from", result.least_seconds ? std::optional(result.bound_from) : std::nullopt);
    }
    if (result.sm_clock) {
        json.number("sm_clock_hz", result.sm_clock);
    }
    json.boolean("impossible", result.impossible());
    std::optional<std::string> why;
    if (result.impossible()) {
        why = format(
            "a call took %.4g s by the clock, and at least %.4g s are needed (%s): the timing or the work is "
            "wrong",
            result.seconds->median, *result.least_seconds, result.bound_from.c_str());
    } else if (!result.seconds) {
        why = result.why;
    }
    json.text("why", why);
}

void write_gemms(JsonWriter& json, const char* key, const TensorRoof& tensor) {
    json.begin_object(key);
    json.number("flop_per_s", tensor.cublas_rate());
    json.text("why", tensor.why_no_cublas.empty() ? std::nullopt : std::optional(tensor.why_no_cublas));
    json.begin_array("shapes");
    for (const GemmRow& row : tensor.cublas) {
        json.begin_element();
        json.integer("N", row.shape.N);
        json.integer("OC", row.shape.OC);
        json.integer("C", row.shape.C);
        write_fields(json, row.result, "flop_per_s");
        json.end_object();
    }
    json.end_array();
    json.end_object();
}

std::optional<std::int64_t> as_integer(std::size_t value) {
    return value > 0 ? std::optional(static_cast<std::int64_t>(value)) : std::nullopt;
}

void write_device(JsonWriter& json, const GpuRoof& roof) {
    const bool known = roof.device.has_value();
    const Device device = roof.device.value_or(Device{});
    const auto text = [&](const std::string& value) { return known ? std::optional(value) : std::nullopt; };
    json.text("name", text(device.name));
    json.text("compute_capability", text(format("%d.%d", device.major, device.minor)));
    json.integer("sm_count", as_integer(static_cast<std::size_t>(device.sm_count)));
    json.integer("l2_bytes", as_integer(device.l2_bytes));
    json.integer("memory_bytes", as_integer(device.memory_bytes));
    json.integer("memory_free_bytes", as_integer(device.free_bytes));
    json.integer("shared_memory_per_sm_bytes", as_integer(device.shared_bytes_per_sm));
    json.integer("memory_bus_bits", as_integer(static_cast<std::size_t>(device.bus_bits)));
    json.number("memory_clock_hz", device.memory_clock_hz > 0 ? std::optional(device.memory_clock_hz) : std::nullopt);
    json.number("memory_bus_bytes_per_s", device.bus_bytes_per_s());
    json.boolean("integrated", device.integrated);
    json.boolean("pageable_memory_access", device.pageable_memory_access);
    json.text("driver_version", roof.driver_version);
    json.text("driver_cuda_version", text(cuda_version(device.driver_cuda)));
    json.text("runtime_version", cuda_version(roof.runtime_cuda));
    json.integer("cublas_version", roof.cublas_version);
    json.number("sm_clock_hz", roof.sm_clock);
    json.number("sm_clock_max_hz", roof.sm_clock_max);
}

// One number for each limit, in the units of its key; null where it was not measured or is impossible.
void write_summary(JsonWriter& json, const GpuRoof& roof) {
    for (const Operation operation : kOperations) {
        const std::string key = name(operation) + std::string("_bytes_per_s");
        json.number(key, memory_rate(roof, operation));
        json.number("l2_" + key, l2_rate(roof, operation));
    }
    for (const auto& [key, unit, result] : named_results(roof)) {
        json.number(key + (unit.empty() ? "_s" : "_" + unit), unit.empty() ? result->time() : result->rate());
    }
    json.number("tf32_cublas_flop_per_s", roof.tf32.cublas_rate());
    json.number("bf16_cublas_flop_per_s", roof.bf16.cublas_rate());
}

}  // namespace

std::string cuda_version(int version) {
    return format("%d.%d", version / 1000, version % 1000 / 10);
}

double fma_flop_per_cycle(const Device& device) {
    return device.capability() <= 80 ? 128 : 256;
}

double bf16_flop_per_cycle(const Device& device) {
    switch (device.capability()) {
        case 80:
        case 87:
            return 2048;
        case 86:
        case 89:
        case 120:
        case 121:
            return 1024;  // GeForce cards do half of this with float sums
        case 90:
            return 4096;
        case 100:
        case 103:
            return 8192;
        default:
            return 0;
    }
}

Result not_measured(const std::string& why) {
    Result result;
    result.why = why;
    return result;
}

const char* name(Operation operation) {
    constexpr const char* kNames[] = {"copy", "read", "write", "cudaMemcpy"};
    return kNames[static_cast<int>(operation)];
}

const char* name(Cache cache) {
    constexpr const char* kNames[] = {"hot_in_kernel", "hot", "cold"};
    return kNames[static_cast<int>(cache)];
}

void for_each(GpuRoof& roof, const std::function<void(Result&)>& visit) {
    for (MemoryRow& row : roof.memory) { visit(row.result); }
    for (const auto& named : named_results(roof)) { visit(*named.result); }
    for (TensorRoof* tensor : {&roof.tf32, &roof.bf16}) {
        for (GemmRow& row : tensor->cublas) { visit(row.result); }
    }
}

std::optional<double> fastest_clock(GpuRoof& roof) {
    std::optional<double> fastest = roof.device->clock_hz;
    const auto consider = [&](std::optional<double> clock) {
        if (clock && (!fastest || *clock > *fastest)) {
            fastest = clock;
        }
    };
    consider(roof.sm_clock);
    consider(roof.sm_clock_max);
    if (!roof.sm_clock_max) {
        for_each(roof, [&](const Result& result) { consider(result.sm_clock); });
    }
    return fastest;
}

void add_bound(Result& result, const Device& device, std::optional<double> clock) {
    result.least_seconds.reset();
    const std::optional<double> bus = device.bus_bytes_per_s();
    if (result.bus_bytes > 0 && bus) {
        result.least_seconds = result.bus_bytes / *bus;
        result.bound_from = format("memory bus: %d bits x %.4g MHz x 2", device.bus_bits, device.memory_clock_hz / 1e6);
    }
    if (result.sm_cycles > 0 && clock) {
        const double least = result.sm_cycles / *clock;
        if (!result.least_seconds || least > *result.least_seconds) {
            result.least_seconds = least;
            result.bound_from = format("%d multiprocessors at %.4g MHz", device.sm_count, *clock / 1e6);
        }
    }
}

std::vector<std::size_t> memory_sizes(std::size_t l2_bytes, std::size_t step, std::size_t most) {
    std::vector<std::size_t> sizes;
    for (const double share : {1 / 16.0, 1 / 8.0, 1 / 4.0, 1 / 2.0, 1.0, 2.0, 4.0, 16.0, 64.0}) {
        const auto wanted = static_cast<std::size_t>(share * static_cast<double>(l2_bytes));
        const std::size_t bytes = wanted / step * step;
        if (bytes > 0 && bytes <= most && (sizes.empty() || bytes > sizes.back())) {
            sizes.push_back(bytes);
        }
    }
    return sizes;
}

std::string to_json(const GpuRoof& roof) {
    JsonWriter json;
    write_device(json, roof);
    write_summary(json, roof);
    json.begin_object("details");
    json.number("measured_in_s", roof.device ? std::optional(roof.seconds) : std::nullopt);
    json.begin_array("memory");
    for (const MemoryRow& row : roof.memory) {
        json.begin_element();
        json.text("operation", name(row.operation));
        json.text("cache", name(row.cache));
        json.integer("size_bytes", static_cast<std::int64_t>(row.bytes));
        json.integer("accesses_per_thread", as_integer(static_cast<std::size_t>(row.loads)));
        json.integer("blocks", as_integer(static_cast<std::size_t>(row.blocks)));
        write_fields(json, row.result, "bytes_per_s");
        json.end_object();
    }
    json.end_array();
    for (const auto& [key, unit, result] : named_results(roof)) {
        json.begin_object(key);
        write_fields(json, *result, unit);
        json.end_object();
    }
    write_gemms(json, "tf32_cublas", roof.tf32);
    write_gemms(json, "bf16_cublas", roof.bf16);
    json.end_object();
    return json.finish();
}

bool is_settled(const std::vector<double>& readings_hz) {
    constexpr double kAgree = 0.01;
    if (readings_hz.size() < 2) {
        return false;
    }
    const double last = readings_hz.back(), before = readings_hz[readings_hz.size() - 2];
    return before > 0 && std::abs(last - before) <= kAgree * before;
}

Settling settle_clock(const std::function<double()>& reading, const std::function<double()>& now) {
    Settling settling;
    const double begin = now();
    const auto has_time = [&] { return now() - begin + kSettleStepSeconds <= kSettleSeconds; };
    while (!settling.settled && has_time()) {
        settling.readings_hz.push_back(reading());
        settling.settled = is_settled(settling.readings_hz);
    }
    settling.seconds = now() - begin;
    return settling;
}

std::string to_json(const Settling& settling) {
    JsonWriter json;
    json.begin_array("readings_mhz");
    for (const double hz : settling.readings_hz) { json.number("", hz * 1e-6); }
    json.end_array();
    json.boolean("settled", settling.settled);
    json.number("seconds", settling.seconds);
    return json.finish();
}

}  // namespace checker
