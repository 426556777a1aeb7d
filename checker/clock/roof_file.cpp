// SPDX-License-Identifier: MIT
#include "checker/clock/roof_file.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "checker/base/file_error.h"
#include "checker/base/files.h"

namespace checker {
namespace {

nlohmann::json to_json(const CpuRoof& cpu) {
    return {{"name", cpu.name},
            {"cores", cpu.cores},
            {"lanes", cpu.lanes},
            {"copy_one_bytes_per_s", cpu.copy_one},
            {"copy_all_bytes_per_s", cpu.copy_all},
            {"fma_one_flop_per_s", cpu.fma_one},
            {"fma_all_flop_per_s", cpu.fma_all},
            {"two_processes", cpu.two_processes}};
}

// A rate in the file must be a number above 0; anything else is no roof.
double rate(const nlohmann::json& cpu, const char* key) {
    const double value = cpu.at(key).get<double>();
    if (!(value > 0 && std::isfinite(value))) {
        throw std::runtime_error(fmt::format("{} is {}", key, value));
    }
    return value;
}

CpuRoof cpu_from_json(const nlohmann::json& cpu) {
    return {.name = cpu.at("name").get<std::string>(),
            .cores = cpu.at("cores").get<int>(),
            .lanes = cpu.at("lanes").get<int>(),
            .copy_one = rate(cpu, "copy_one_bytes_per_s"),
            .copy_all = rate(cpu, "copy_all_bytes_per_s"),
            .fma_one = rate(cpu, "fma_one_flop_per_s"),
            .fma_all = rate(cpu, "fma_all_flop_per_s"),
            .two_processes = rate(cpu, "two_processes")};
}

}  // namespace

void save_roof(const Roof& roof, const std::filesystem::path& path) {
    const nlohmann::json gpu = roof.gpu.empty() ? nlohmann::json() : nlohmann::json::parse(roof.gpu);
    const nlohmann::json json = {{"cpu", to_json(roof.cpu)}, {"gpu", gpu}, {"measured_at", roof.measured_at}};
    std::error_code ignored;  // write_whole says what is wrong with the folder
    std::filesystem::create_directories(path.parent_path(), ignored);
    write_whole(path, json.dump(2) + '\n');
}

std::optional<Roof> load_roof(const std::filesystem::path& path, const std::string& cpu, std::string& why) {
    std::ifstream file(path);
    if (!file) {
        why = "the roof of this machine is not measured yet (`make calibrate` does)";
        return std::nullopt;
    }
    try {
        const nlohmann::json json = nlohmann::json::parse(file);
        const nlohmann::json gpu = json.value("gpu", nlohmann::json());
        Roof roof{.cpu = cpu_from_json(json.at("cpu")),
                  .gpu = gpu.is_null() ? "" : gpu.dump(),
                  .measured_at = json.value("measured_at", "")};
        if (roof.cpu.name != cpu) {
            why = fmt::format("{} was measured on another machine ({}; `make calibrate` measures this one)",
                              path.string(), roof.cpu.name);
            return std::nullopt;
        }
        return roof;
    } catch (const std::exception& error) {
        why = fmt::format("{} cannot be read ({}; `make calibrate` measures it anew)", path.string(), error.what());
        return std::nullopt;
    }
}

}  // namespace checker
