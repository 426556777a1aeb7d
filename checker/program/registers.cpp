// SPDX-License-Identifier: MIT
#include "checker/program/registers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <regex>

#include "checker/base/course.h"
#include "checker/base/files.h"
#include "checker/base/text.h"

namespace checker {
namespace {

constexpr long kRegisters = 65536;  // a multiprocessor has, on all cards since 2014
constexpr const char* kArchitecture = "sm_90";

// Returns what nvcc says of a file; nothing if nvcc is not there. It takes seconds, so what it says of a text is kept.
std::optional<Finished> ask_nvcc(const std::filesystem::path& file) {
    const std::filesystem::path kept = std::filesystem::path("build/registers") / (exercise_digest(file) + ".txt");
    if (const std::optional<std::string> said = read_file_if_there(kept)) {
        return Finished{0, *said};
    }
    if (run_command("command -v nvcc >/dev/null 2>&1").status != 0) {
        return std::nullopt;
    }
    const Finished asked = run_command(fmt::format(
        "nvcc ${{NVCC_CXX:+-ccbin \"$NVCC_CXX\"}} -std=c++20 -O3 -I. -I{} -arch={} -cubin -Xptxas -v "
        "-o /dev/null {} 2>&1",
        file.begin()->string() == "solutions" ? "solutions" : "build/helpers", kArchitecture, quoted(file.string())));
    if (asked.status == 0) {
        write_file(kept, asked.output);
    }
    return asked;
}

// Returns "sum" for "_ZN12_GLOBAL__N_13sumILi4EEEvPf".
std::string name_of_entry(const std::string& mangled) {
    std::string name = demangled(mangled);
    constexpr std::string_view kUnnamed = "(anonymous namespace)::";
    if (const std::size_t at = name.find(kUnnamed); at != name.npos) {
        name = name.substr(at + kUnnamed.size());
    }
    name.resize(std::min(name.size(), name.find_first_of("<(")));
    return name;
}

// Returns true if a line of a file declares an array that a thread has for itself.
bool has_array_of_a_thread(const std::filesystem::path& file) {
    static const std::regex array(R"(^ +(const )?(float|float2|float4|int|unsigned|uint32_t|std::uint32_t) \w+\[\w)");
    const std::string text = read_file_if_there(file).value_or("");
    return std::ranges::any_of(
        split(text, '\n'), [](std::string_view line) { return std::regex_search(line.begin(), line.end(), array); });
}

}  // namespace

std::optional<long> registers_in(std::string_view said, std::string_view kernel) {
    const std::string_view name = kernel.substr(0, kernel.find_first_of("< "));
    const std::string mangled = std::to_string(name.size()) + std::string(name);
    std::optional<long> most;
    bool of_it = false;
    for (const std::string_view line : split(said, '\n')) {
        constexpr std::string_view kUsed = "Used ";
        if (line.find("Compiling entry function '") != line.npos) {
            of_it = line.find(mangled) != line.npos || line.find("'" + std::string(name) + "'") != line.npos;
        } else if (const std::size_t used = line.find(kUsed); of_it && used != line.npos) {
            long registers = 0;
            std::from_chars(line.data() + used + kUsed.size(), line.data() + line.size(), registers);
            most = std::max(most.value_or(0), registers);
        }
    }
    return most;
}

bool block_fits(long threads, long registers) {
    constexpr long kWarp = 32, kUnit = 256;  // a warp's are given out in such units
    const long warps = (threads + kWarp - 1) / kWarp, of_warp = (registers * kWarp + kUnit - 1) / kUnit * kUnit;
    return warps * of_warp <= kRegisters;
}

std::optional<Finding> find_too_many_registers(const std::filesystem::path& file, const std::string& kernel,
                                               long threads, std::string& note) {
    const std::optional<Finished> asked = ask_nvcc(file);
    const std::optional<long> registers =
        asked && asked->status == 0 ? registers_in(asked->output, kernel) : std::nullopt;
    if (!registers) {
        note = fmt::format(
            "a thread of {} may take {} registers, as its blocks have {} threads; {}, so nobody has looked "
            "how many it takes",
            kernel, kRegisters / threads / 8 * 8, format_count(threads),
            !asked               ? "nvcc is not here"
            : asked->status != 0 ? "nvcc does not compile it"
                                 : "nvcc does not name it");
        return std::nullopt;
    }
    if (block_fits(threads, *registers)) {
        return std::nullopt;
    }
    return Finding{
        "bad_launch",
        fmt::format("{} takes {} registers a thread, by nvcc for {}: {} threads need more than the {} of a "
                    "multiprocessor, and the launch fails",
                    kernel, *registers, kArchitecture, format_count(threads), format_count(kRegisters)),
        {fmt::format("\t__launch_bounds__({}) makes nvcc keep within {}", threads, kRegisters / threads / 8 * 8)}};
}

LocalMemory most_local_memory_in(std::string_view said) {
    constexpr std::string_view kEntry = "Compiling entry function '", kFrame = " bytes stack frame";
    LocalMemory most;
    std::string entry;
    for (const std::string_view line : split(said, '\n')) {
        if (const std::size_t at = line.find(kEntry); at != line.npos) {
            const std::string_view rest = line.substr(at + kEntry.size());
            entry = rest.substr(0, rest.find('\''));
        } else if (line.find(kFrame) != line.npos) {
            const long bytes = std::atol(std::string(line).c_str());
            if (bytes > most.bytes) {
                most = {name_of_entry(entry), bytes};
            }
        }
    }
    return most;
}

std::optional<CounterResult> find_local_memory(const std::filesystem::path& file, const std::filesystem::path& solution,
                                               std::string& note) {
    constexpr long kFew = 64;  // bytes; a float4 indexed by a loop is 16 of them
    const std::optional<Finished> asked = ask_nvcc(file);
    if (!asked || asked->status != 0) {
        if (has_array_of_a_thread(file)) {
            note = fmt::format("nvcc {}, so nobody has looked whether an array of a thread lies in local memory",
                               !asked ? "is not here" : "does not compile it");
        }
        return std::nullopt;
    }
    const LocalMemory most = most_local_memory_in(asked->output);
    if (most.bytes < kFew) {
        return std::nullopt;
    }
    const std::optional<Finished> of_solution = ask_nvcc(solution);
    if (!of_solution || of_solution->status != 0 || most_local_memory_in(of_solution->output).bytes >= most.bytes) {
        return std::nullopt;
    }
    return CounterResult{
        .counter = "local_memory",
        .takes = "keeps {} bytes of each thread in local memory",
        .value = static_cast<double>(most.bytes),
        .most = fmt::format("{}, by nvcc for {}: an array there has an index that nvcc does not know, or "
                            "too few registers are left",
                            most.kernel, kArchitecture)};
}

}  // namespace checker
