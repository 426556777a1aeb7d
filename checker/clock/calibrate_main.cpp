// SPDX-License-Identifier: MIT
//
// `make calibrate`: measures the roof of this machine into results/roof.json and prints it.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "checker/base/files.h"
#include "checker/base/json.h"
#include "checker/clock/roof_file.h"

namespace {

void print(const checker::CpuRoof& cpu) {
    fmt::print("CPU     {}, {} {}, {} floats a register\n", cpu.name, cpu.cores, cpu.cores == 1 ? "core" : "cores",
               cpu.lanes);
    const auto row = [&](std::string_view what, std::string_view one, std::string_view all) {
        fmt::print("{:<26}{:>14}{:>16}\n", what, one, cpu.cores == 1 ? "" : all);
    };
    const auto giga = [](double rate, const char* unit) { return fmt::format("{:.3g} {}", rate / 1e9, unit); };
    row("", "one core", "all cores");
    row("copy (read plus written)", giga(cpu.copy_one, "GB/s"), giga(cpu.copy_all, "GB/s"));
    row("fp32 multiply-adds", giga(cpu.fma_one, "GFLOP/s"), giga(cpu.fma_all, "GFLOP/s"));
    fmt::print("two processes do {:.2f} times the work of one: ", cpu.two_processes);
    fmt::print("{}\n", checker::cores_scale(cpu) ? "the cores add up" : "the cores do not add up");
}

// What the GPU's program prints, or nothing where it is not built or there is no GPU. It explains itself on stderr.
std::string measure_gpu(const std::filesystem::path& program) {
    if (!std::filesystem::exists(program)) {
        return {};
    }
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(program.c_str(), "r"), pclose);
    if (!pipe) {
        return {};
    }
    std::string text;
    std::array<char, 4096> part{};
    while (const std::size_t n = std::fread(part.data(), 1, part.size(), pipe.get())) { text.append(part.data(), n); }
    return text;
}

void print_gpu(const checker::Json& gpu) {
    fmt::print("GPU\n");
    for (const auto& [key, value] : gpu.members()) {
        if (value.is_number() || value.is_string()) {
            fmt::print("  {:<44}{}\n", key, value.is_string() ? value.text() : value.dump());
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Measures the roof of this machine.", "calibrate");
    std::filesystem::path out = "results/roof.json";
    std::filesystem::path gpu = "build/calibrate-gpu";
    app.add_option("--out", out, "where the roof is written")->capture_default_str();
    app.add_option("--gpu", gpu, "the program that measures the GPU, if it is there")->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    try {
        const bool terminal = isatty(STDERR_FILENO) != 0;
        checker::Roof roof;
        roof.cpu = checker::measure_cpu_roof([&](const std::string& what) {
            fmt::print(stderr, "{}measuring {} …{}", terminal ? "\r\033[K" : "", what, terminal ? "" : "\n");
            std::fflush(stderr);
        });
        fmt::print(stderr, "{}", terminal ? "\r\033[K" : "");
        std::string why, raised;
        if (const std::optional<checker::Roof> earlier = checker::load_roof(out, roof.cpu.name, why)) {
            raised = checker::keep_best(roof.cpu, earlier->cpu);
        }
        roof.gpu = measure_gpu(gpu);
        roof.measured_at = checker::utc_now();
        checker::save_roof(roof, out);
        print(roof.cpu);
        if (!roof.gpu.empty()) {
            print_gpu(checker::Json::parse(roof.gpu));
        }
        if (!raised.empty()) {
            fmt::print(
                "kept from an earlier calibration, whose rates are higher: {}; something else was running now. "
                "To forget the earlier one: rm {}\n",
                raised, out.string());
        }
        fmt::print("written to {}\n", out.string());
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "calibrate: {}\n", error.what());
        return 1;
    }
}
