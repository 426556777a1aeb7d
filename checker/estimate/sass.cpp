// SPDX-License-Identifier: MIT
#include "checker/estimate/sass.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

#include "checker/base/files.h"

namespace checker::estimate {
namespace {

constexpr std::array<std::pair<std::string_view, Kind>, 7> kNames{{{"global_ld", Kind::global_load},
                                                                   {"global_st", Kind::global_store},
                                                                   {"global_atom", Kind::global_atomic},
                                                                   {"shared_ld", Kind::shared_load},
                                                                   {"shared_st", Kind::shared_store},
                                                                   {"shared_atom", Kind::shared_atomic},
                                                                   {"async_copy", Kind::global_load}}};

EmittedAccess access_of(const Json& access, const std::string& kind) {
    const auto* const found = std::ranges::find(kNames, kind, [](const auto& name) { return name.first; });
    if (found == kNames.end()) {
        throw std::runtime_error(fmt::format("an access is of the unknown kind {}", kind));
    }
    return {.file = text_or_none(access, "file"),
            .line = static_cast<int>(access.at("line").integer()),
            .kind = found->second,
            .is_async_copy = kind == "async_copy",
            .bytes = access.at("bytes").number(),
            .count = access.at("count").number()};
}

std::vector<AtLine> lines_of(const Json& region, std::string_view name) {
    std::vector<AtLine> lines;
    if (const Json* found = region.find(name)) {
        for (const Json& one : found->elements()) {
            lines.push_back({.file = text_or_none(one, "file"),
                             .line = static_cast<int>(one.at("line").integer()),
                             .count = one.at("count").number()});
        }
    }
    return lines;
}

Region region_of(const Json& region) {
    const Json& of = region.at("instructions");
    Region result{.parent = static_cast<int>(region.at("parent").integer()),
                  .instructions = {.issued = of.at("issued").number(),
                                   .fma = number_or_0(of, "fma"),
                                   .fp = number_or_0(of, "fp"),
                                   .multiplied = number_or_0(of, "imad"),
                                   .integer = number_or_0(of, "int"),
                                   .special = number_or_0(of, "sfu"),
                                   .lsu = number_or_0(of, "lsu")},
                  .accesses = {},
                  .barriers = lines_of(region, "barriers"),
                  .special = lines_of(region, "special"),
                  .waits = number_or_0(region, "waits")};
    for (const Json& access : region.at("accesses").elements()) {
        const std::string kind = access.at("kind").text();
        if (kind.starts_with("local")) {
            result.spilled += access.at("bytes").number() * access.at("count").number();
        } else if (kind != "shuffle") {  // which the device counts
            result.accesses.push_back(access_of(access, kind));
        }
    }
    return result;
}

SassFile file_of(const Json& file) {
    SassFile result{.arch = file.at("arch").text(),
                    .nvcc = text_or_none(file, "nvcc"),
                    .source = text_or_none(file, "source"),
                    .digest = text_or_none(file, "digest"),
                    .hashed = {},
                    .kernels = {}};
    if (const Json* hashed = file.find("hashed")) {
        for (const Json& one : hashed->elements()) { result.hashed.emplace_back(one.text()); }
    }
    for (const auto& [name, kernel] : file.at("kernels").members()) {
        KernelSass one{.kernel = name,
                       .source = result.source,
                       .registers = static_cast<int>(kernel.at("registers").integer()),
                       .shared = static_cast<int>(number_or_0(kernel, "shared")),
                       .regions = {}};
        for (const Json& region : kernel.at("regions").elements()) { one.regions.push_back(region_of(region)); }
        for (std::size_t i = 0; i < one.regions.size(); i++) {
            const int parent = one.regions[i].parent;
            if (i == 0 ? parent != -1 : parent < 0 || parent >= static_cast<int>(i)) {
                throw std::runtime_error(fmt::format("{}: region {} has the parent {}", name, i, parent));
            }
        }
        if (one.regions.empty()) {
            throw std::runtime_error(fmt::format("{} has no regions", name));
        }
        result.kernels.push_back(std::move(one));
    }
    return result;
}

}  // namespace

std::vector<SassFile> parse_sass(std::string_view json, const std::string& from) {
    try {
        const Json whole = Json::parse(json);
        std::vector<SassFile> all;
        if (whole.find("kernels") != nullptr) {
            all.push_back(file_of(whole));
        } else {
            for (const Json& file : whole.at("files").elements()) { all.push_back(file_of(file)); }
        }
        return all;
    } catch (const std::exception& error) { throw std::runtime_error(fmt::format("{}: {}", from, error.what())); }
}

bool is_fresh(const SassFile& file) {
    std::string hashed;
    for (const std::filesystem::path& path : file.hashed) {
        const std::optional<std::string> text = read_file_if_there(path);
        if (!text) {
            return false;
        }
        hashed += *text;
    }
    return !file.hashed.empty() && file.digest == fnv1a64(hashed);
}

std::vector<SassFile> sass_of(const std::filesystem::path& source) {
    namespace fs = std::filesystem;
    std::vector<SassFile> found;
    const auto add_fresh = [&](SassFile&& file) {
        const bool is_known = std::ranges::find(found, file.arch, &SassFile::arch) != found.end();
        if (!is_known && fs::path(file.source) == source && is_fresh(file)) {
            found.push_back(std::move(file));
        }
    };
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("build/sass" / source.parent_path(), error)) {
        const fs::path& path = entry.path();
        if (path.extension() == ".json" && path.filename().string().starts_with(source.stem().string() + '.')) {
            for (SassFile& file : parse_sass(read_file(path), path.string())) { add_fresh(std::move(file)); }
        }
    }
    if (source.begin() != source.end() && *source.begin() == "solutions") {
        const fs::path recorded = "reference/sass.json";
        if (const std::optional<std::string> text = read_file_if_there(recorded)) {
            for (SassFile& file : parse_sass(*text, recorded.string())) { add_fresh(std::move(file)); }
        }
    }
    return found;
}

const KernelSass* find_kernel(const std::vector<SassFile>& files, const LaunchCounts& launch, std::string_view arch) {
    // g++ says of an unnamed namespace's names where they are, nvcc does not.
    constexpr std::string_view kUnnamed = "<unnamed>::";
    std::string name = launch.kernel;
    for (std::size_t at = name.find(kUnnamed); at != std::string::npos; at = name.find(kUnnamed, at)) {
        name.erase(at, kUnnamed.size());
    }
    const KernelSass* only = nullptr;
    std::size_t count = 0;
    for (const SassFile& file : files) {
        if (file.arch != arch) {
            continue;
        }
        const auto found = std::ranges::find(file.kernels, name, &KernelSass::kernel);
        const bool is_there = found != file.kernels.end();
        if (!file.source.empty() && (launch.file == file.source || launch.file.ends_with("/" + file.source))) {
            return is_there ? &*found : nullptr;
        }
        if (is_there) {
            only = &*found;
            count++;
        }
    }
    return count == 1 ? only : nullptr;
}

}  // namespace checker::estimate
