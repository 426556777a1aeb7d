// SPDX-License-Identifier: MIT
#include "checker/clock/roof_file.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "checker/base/file_error.h"
#include "checker/base/files.h"
#include "checker/base/json.h"

namespace checker {
namespace {

Json to_json(const CpuRoof& cpu) {
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
double rate(const Json& cpu, const char* key) {
    const double value = cpu.at(key).number();
    if (!(value > 0 && std::isfinite(value))) {
        throw std::runtime_error(fmt::format("{} is {}", key, value));
    }
    return value;
}

CpuRoof cpu_from_json(const Json& cpu) {
    return {.name = cpu.at("name").text(),
            .cores = static_cast<int>(cpu.at("cores").integer()),
            .lanes = static_cast<int>(cpu.at("lanes").integer()),
            .copy_one = rate(cpu, "copy_one_bytes_per_s"),
            .copy_all = rate(cpu, "copy_all_bytes_per_s"),
            .fma_one = rate(cpu, "fma_one_flop_per_s"),
            .fma_all = rate(cpu, "fma_all_flop_per_s"),
            .two_processes = rate(cpu, "two_processes")};
}

}  // namespace

void save_roof(const Roof& roof, const std::filesystem::path& path) {
    const Json gpu = roof.gpu.empty() ? Json() : Json::parse(roof.gpu);
    const Json json = {{"cpu", to_json(roof.cpu)}, {"gpu", gpu}, {"measured_at", roof.measured_at}};
    std::error_code ignored;  // write_whole says what is wrong with the folder
    std::filesystem::create_directories(path.parent_path(), ignored);
    write_whole(path, json.dump(2) + '\n');
}

std::optional<Roof> load_roof(const std::filesystem::path& path, const std::string& cpu, std::string& why) {
    const std::optional<std::string> text = read_file_if_there(path);
    if (!text) {
        why = "the roof of this machine is not measured yet (`make calibrate` does)";
        return std::nullopt;
    }
    try {
        const Json json = Json::parse(*text);
        const Json *gpu = json.find("gpu"), *measured_at = json.find("measured_at");
        Roof roof{.cpu = cpu_from_json(json.at("cpu")),
                  .gpu = gpu == nullptr || gpu->is_null() ? "" : gpu->dump(),
                  .measured_at = measured_at == nullptr ? "" : measured_at->text()};
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
