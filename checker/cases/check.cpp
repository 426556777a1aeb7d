// SPDX-License-Identifier: MIT
#include "checker/cases/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>

#include "checker/worker/device_side.h"

namespace checker {
namespace {

template <class T>
Input filled(std::string name, Element element, std::string_view dims, const std::vector<long>& sizes,
             std::span<const T> values) {
    BufferSpec spec{std::move(name), Role::input, element, Dims(dims, sizes)};
    if (spec.bytes() != values.size_bytes()) {
        throw std::logic_error(
            fmt::format("input {} ({}) is given {} elements", spec.name, spec.dims.text(), values.size()));
    }
    return {std::move(spec), [values](std::span<std::byte> to, std::uint64_t /*seed*/) {
                std::memcpy(to.data(), values.data(), values.size_bytes());
            }};
}

// Seeded by the name too, so that two inputs of a call differ.
template <class T, class Distribution>
Input drawn(std::string name, Element element, std::string_view dims, const std::vector<long>& sizes,
            Distribution distribution) {
    const std::vector<std::uint32_t> letters(name.begin(), name.end());
    return {{std::move(name), Role::input, element, Dims(dims, sizes)},
            [=](std::span<std::byte> to, std::uint64_t seed) {
                std::vector<std::uint32_t> words = letters;
                words.insert(words.end(), {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)});
                std::seed_seq sequence(words.begin(), words.end());
                std::mt19937 random(sequence);
                Distribution draw = distribution;
                const std::span values(reinterpret_cast<T*>(to.data()), to.size() / sizeof(T));
                // Drawing 40 million values takes a second; repeated with a prime period, no two rows are alike.
                constexpr std::size_t kPeriod = 65'537;
                std::ranges::generate(values.first(std::min(kPeriod, values.size())), [&] { return draw(random); });
                for (std::size_t i = kPeriod; i < values.size(); i++) { values[i] = values[i - kPeriod]; }
            }};
}

}  // namespace

void* Buffers::find(std::string_view name, Element element) const {
    const auto found = at_.find(name);
    if (found == at_.end() || (found->second.data != nullptr && found->second.element != element)) {
        throw std::logic_error(fmt::format("check.cpp asks for a buffer '{}' that the call does not have", name));
    }
    return found->second.data;
}

float* Buffers::f32(std::string_view name) const {
    return static_cast<float*>(find(name, Element::f32));
}

int* Buffers::i32(std::string_view name) const {
    return static_cast<int*>(find(name, Element::i32));
}

void* Buffers::scratch(std::string_view name) const {
    return find(name, Element::byte);
}

Input input(std::string name, std::string_view dims, std::vector<long> sizes, std::span<const float> values) {
    return filled(std::move(name), Element::f32, dims, sizes, values);
}

Input input(std::string name, std::string_view dims, std::vector<long> sizes, std::span<const std::int32_t> values) {
    return filled(std::move(name), Element::i32, dims, sizes, values);
}

Input normal(std::string name, std::string_view dims, std::vector<long> sizes, float sigma) {
    return drawn<float>(std::move(name), Element::f32, dims, sizes, std::normal_distribution<float>(0.0F, sigma));
}

Input uniform(std::string name, std::string_view dims, std::vector<long> sizes, float low, float high) {
    return drawn<float>(std::move(name), Element::f32, dims, sizes, std::uniform_real_distribution<float>(low, high));
}

Input integers(std::string name, std::string_view dims, std::vector<long> sizes, int below) {
    return drawn<int>(std::move(name), Element::i32, dims, sizes, std::uniform_int_distribution<int>(0, below - 1));
}

Output output(std::string name, std::string_view dims, std::vector<long> sizes) {
    Output result;
    result.spec = {std::move(name), Role::output, Element::f32, Dims(dims, sizes)};
    result.columns = result.spec.dims.columns();
    return result;
}

Output output(std::string name, std::string_view dims, std::vector<long> sizes, ComputeFunction compute) {
    Output result = output(std::move(name), dims, std::move(sizes));
    result.compute = std::move(compute);
    return result;
}

Output output(std::string name, std::string_view dims, std::vector<long> sizes, Reference reference) {
    Output result = output(std::move(name), dims, std::move(sizes));
    const auto elements = static_cast<std::size_t>(result.spec.dims.elements());
    if (reference.expected.values.size() != elements ||
        !has_floors(result.spec.dims, reference.expected.floor.size())) {
        throw std::logic_error(fmt::format("output {} ({}): its reference has {} elements and {} floors",
                                           result.spec.name, result.spec.dims.text(), reference.expected.values.size(),
                                           reference.expected.floor.size()));
    }
    result.expected = reference.expected;
    result.suspects = std::move(reference.suspects);
    return result;
}

CaseFile::CaseFile(const std::filesystem::path& file, const Budgets& budgets)
    : tensors_(SafeTensors::open(file)), budgets_(budgets) {
    try {
        const auto& metadata = tensors_.metadata();
        const nlohmann::json config = nlohmann::json::parse(metadata.at("config"));  // outlives the loop over its items
        for (const auto& [key, value] : config.items()) {
            if (value.is_number_integer()) {
                dims_[key] = value.get<int>();
            }
        }
        if (const auto suspects = metadata.find("suspects"); suspects != metadata.end()) {
            nlohmann::json::parse(suspects->second).get_to(suspects_);
        }
    } catch (const std::exception& e) {
        throw FileError(
            fmt::format("{}: its metadata are not what 'make reference' writes ({})", file.string(), e.what()));
    }
}

int CaseFile::dim(std::string_view name) const {
    const auto found = dims_.find(name);
    if (found == dims_.end()) {
        throw FileError(fmt::format("{}: its config has no {}; 'make reference' writes it", tensors_.file(), name));
    }
    return found->second;
}

Reference CaseFile::local(std::string_view tensor, std::string_view output) const {
    return reference("local", tensor,
                     budgets_.local(output, "fp32", std::filesystem::path(tensors_.file()).stem().string()));
}

Reference CaseFile::chained(std::string_view tensor) const {
    return reference("chained", tensor, budgets_.chained(tensor, "fp32"));
}

Reference CaseFile::reference(std::string_view scope, std::string_view tensor, double factor) const {
    Reference result;
    result.expected.values = f32(fmt::format("{}/{}", scope, tensor));
    result.expected.floor = f32(fmt::format("floor/{}", tensor));
    result.expected.factor = factor;
    const std::string prefix = fmt::format("suspect/{}/{}/", scope, tensor);
    for (const TensorView& view : tensors_.tensors()) {
        if (!view.name.starts_with(prefix)) {
            continue;
        }
        const std::string id = view.name.substr(prefix.size());
        const auto what = suspects_.find(id);
        result.suspects.push_back({id, what == suspects_.end() ? id : what->second, view.f32()});
    }
    return result;
}

Case& Op::add_case(std::string case_name, std::string shape) {
    cases.push_back({std::move(case_name), std::move(shape), {}});
    return cases.back();
}

Lesson::Lesson(std::string name, std::filesystem::path reference, LessonToml toml)
    : name_(std::move(name)), reference_(std::move(reference)), toml_(std::move(toml)) {}

Op& Lesson::op(std::string name, std::function<bool(const Library&)> defined) {
    ops_.push_back({std::move(name), std::move(defined), header_, {}, {}});
    return ops_.back();
}

std::optional<Vendor> Lesson::matmul_library(int N, int C, int OC) const {
    return device_side() != nullptr ? device_side()->matmul_library(N, C, OC) : std::nullopt;
}

bool Lesson::on_device() const {
    return device_side() != nullptr;
}

bool Lesson::samples_blocks() const {
    return device_side() != nullptr && device_side()->samples_blocks();
}

bool Lesson::takes_sampled() const {
    return device_side() != nullptr && device_side()->takes_sampled();
}

bool Lesson::rehearsal() const {
    return device_side() != nullptr && device_side()->rehearsal();
}

const Budgets& Lesson::budgets() {
    if (!budgets_) {
        budgets_ = std::make_unique<Budgets>(Budgets::read(reference_ / "cases" / "budgets.json"));
    }
    return *budgets_;
}

double Lesson::budget_factor(std::string_view output) {
    return budgets().local(output, "fp32");
}

bool Lesson::has_case_file(const std::string& name) const {
    return std::filesystem::exists(reference_ / "cases" / (name + ".safetensors"));
}

const CaseFile& Lesson::case_file(const std::string& name) {
    std::unique_ptr<CaseFile>& file = files_[name];
    if (!file) {
        const std::filesystem::path path = reference_ / "cases" / (name + ".safetensors");
        if (!std::filesystem::exists(path)) {
            throw FileError(
                fmt::format("{} is missing; 'git checkout {}' brings it back, 'make reference' makes it "
                            "anew",
                            path.string(), path.parent_path().string()));
        }
        file = std::make_unique<CaseFile>(path, budgets());
    }
    return *file;
}

}  // namespace checker
