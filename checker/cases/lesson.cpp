// SPDX-License-Identifier: MIT
#include "checker/cases/lesson.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "checker/base/course.h"
#include "checker/base/json.h"

namespace checker {
namespace {

void require_bytes(const BufferSpec& spec, std::size_t bytes) {
    if (spec.bytes() != bytes) {
        throw std::logic_error(
            fmt::format("{} ({}) is given {} elements", spec.name, spec.dims.text(), bytes / bytes_of(spec.element)));
    }
}

// `bytes` outlive the input: a case file's.
Input filled(std::string name, Element element, std::string_view dims, const std::vector<long>& sizes,
             std::span<const std::byte> bytes) {
    BufferSpec spec{std::move(name), Role::input, element, Dims(dims, sizes)};
    require_bytes(spec, bytes.size());
    return {std::move(spec),
            [bytes](std::span<std::byte> to, std::uint64_t /*seed*/) { std::ranges::copy(bytes, to.begin()); }};
}

// Seeded by the name too, so that two inputs of a call differ.
template <class Distribution>
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
                // Drawing 40 million values takes a second; repeated with a prime period, no two rows are alike.
                constexpr std::size_t kPeriod = 65'537;
                std::vector<float> values(std::min(kPeriod, to.size() / bytes_of(element)));
                std::ranges::generate(values, [&] { return static_cast<float>(draw(random)); });
                const std::vector<std::byte> period = encode(values, element);
                for (std::size_t at = 0; at < to.size(); at += period.size()) {
                    std::copy_n(period.begin(), std::min(period.size(), to.size() - at),
                                to.begin() + static_cast<long>(at));
                }
            }};
}

Output referred(Output result, Reference reference) {
    result.expected = reference.expected;
    result.expected.element = result.spec.element;
    if (!has_shape(result.expected, result.spec.dims)) {
        throw std::logic_error(fmt::format("output {} ({}): its reference has {} elements and {} floors",
                                           result.spec.name, result.spec.dims.text(), reference.expected.values.size(),
                                           reference.expected.floor.size()));
    }
    result.suspects = std::move(reference.suspects);
    result.precision = std::move(reference.precision);
    return result;
}

}  // namespace

void* Buffers::find(std::string_view name, Element element) const {
    const auto found = at_.find(name);
    if (found == at_.end()) {
        throw std::logic_error(fmt::format("check.cpp asks for a buffer '{}' that the call does not have", name));
    }
    if (found->second.data != nullptr && found->second.element != element) {
        throw std::logic_error(fmt::format("check.cpp asks for the buffer '{}' as {}, but it is {}", name,
                                           name_of(element), name_of(found->second.element)));
    }
    return found->second.data;
}

void Buffers::throw_wrong_size(std::string_view name, Element element, std::size_t bytes) {
    throw std::logic_error(
        fmt::format("check.cpp asks for the buffer '{}' of {} in elements of {} bytes", name, name_of(element), bytes));
}

Input input(std::string name, std::string_view dims, std::vector<long> sizes, const TensorView& tensor) {
    return filled(std::move(name), element_of(tensor.dtype), dims, sizes, tensor.bytes);
}

Input input(std::string name, std::string_view dims, std::vector<long> sizes, std::span<const float> values,
            Element element) {
    if (element == Element::f32) {
        return filled(std::move(name), element, dims, sizes, std::as_bytes(values));
    }
    BufferSpec spec{std::move(name), Role::input, element, Dims(dims, sizes)};
    std::vector<std::byte> bytes = encode(values, element);
    require_bytes(spec, bytes.size());
    return {std::move(spec), [bytes = std::move(bytes)](std::span<std::byte> to, std::uint64_t /*seed*/) {
                std::ranges::copy(bytes, to.begin());
            }};
}

Input input(std::string name, std::string_view dims, std::vector<long> sizes, std::span<const std::int32_t> values) {
    return filled(std::move(name), Element::i32, dims, sizes, std::as_bytes(values));
}

Input normal(std::string name, std::string_view dims, std::vector<long> sizes, float sigma, Element element) {
    return drawn(std::move(name), element, dims, sizes, std::normal_distribution<float>(0.0F, sigma));
}

Input uniform(std::string name, std::string_view dims, std::vector<long> sizes, float low, float high,
              Element element) {
    return drawn(std::move(name), element, dims, sizes, std::uniform_real_distribution<float>(low, high));
}

Input integers(std::string name, std::string_view dims, std::vector<long> sizes, int below, Element element) {
    return drawn(std::move(name), element, dims, sizes, std::uniform_int_distribution<int>(0, below - 1));
}

Input carried_over(std::string name, std::string_view dims, std::vector<long> sizes, Element element) {
    return {{std::move(name), Role::input, element, Dims(dims, sizes)}, {}};
}

Output output(std::string name, std::string_view dims, std::vector<long> sizes, Element element) {
    Output result;
    result.spec = {std::move(name), Role::output, element, Dims(dims, sizes)};
    result.columns = result.spec.dims.columns();
    return result;
}

Output output(std::string name, std::string_view dims, std::vector<long> sizes, ComputeFunction compute,
              Element element) {
    Output result = output(std::move(name), dims, std::move(sizes), element);
    result.compute = std::move(compute);
    return result;
}

Output output(std::string name, std::string_view dims, std::vector<long> sizes, Reference reference, Element element) {
    return referred(output(std::move(name), dims, std::move(sizes), element), std::move(reference));
}

Output inout(Input before) {
    Output result;
    result.spec = std::move(before.spec);
    result.spec.role = Role::inout;
    result.columns = result.spec.dims.columns();
    result.initial = std::move(before.fill);
    return result;
}

Output inout(Input before, Reference reference) {
    return referred(inout(std::move(before)), std::move(reference));
}

bool ends_on_host(const Call& call) {
    return std::ranges::any_of(call.outputs, [](const Output& output) { return output.spec.on_host; });
}

Input on_host(Input input) {
    input.spec.on_host = true;
    return input;
}

Output on_host(Output output) {
    output.spec.on_host = true;
    return output;
}

CaseFile::CaseFile(const std::filesystem::path& file, const Budgets& budgets)
    : tensors_(SafeTensors::open(file)), budgets_(budgets) {
    try {
        const auto& metadata = tensors_.metadata();
        const Json config = Json::parse(metadata.at("config"));  // outlives the loop over its members
        for (const auto& [key, value] : config.members()) {
            if (value.is_integer()) {
                dims_[key] = static_cast<int>(value.integer());
            }
        }
        if (const auto suspects = metadata.find("suspects"); suspects != metadata.end()) {
            const Json what = Json::parse(suspects->second);
            for (const auto& [id, text] : what.members()) { suspects_[id] = text.text(); }
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

Reference CaseFile::local(std::string_view tensor, std::string_view output, const std::string& precision) const {
    return reference("local", tensor, precision, [&] {
        return budgets_.local(output, precision, std::filesystem::path(tensors_.file()).stem().string());
    });
}

Reference CaseFile::chained(std::string_view tensor, const std::string& precision) const {
    return reference("chained", tensor, precision, [&] { return budgets_.chained(tensor, precision); });
}

Reference CaseFile::reference(std::string_view scope, std::string_view tensor, const std::string& precision,
                              const std::function<double()>& factor) const {
    Reference result;
    result.precision = precision;
    const TensorView& expected = tensors_.at(fmt::format("{}/{}", scope, tensor));
    if (is_integer(element_of(expected.dtype))) {
        const Decoded& whole = decoded(expected);
        result.expected.values = whole.values;
        result.expected.integers = whole.integers;
    } else {
        result.expected.values = expected.f32();
        result.expected.floor = f32(fmt::format("floor/{}", tensor));
        result.expected.factor = factor();
    }
    for (const bool is_spread : {false, true}) {
        const std::string prefix = fmt::format("{}/{}/{}/", is_spread ? "spread" : "suspect", scope, tensor);
        for (const TensorView& view : tensors_.tensors()) {
            if (!view.name.starts_with(prefix)) {
                continue;
            }
            const std::string id = view.name.substr(prefix.size());
            const auto what = suspects_.find(id);
            const std::span<const float> values = view.dtype == DType::f32 ? view.f32() : decoded(view).values;
            result.suspects.push_back({.id = id,
                                       .what = what == suspects_.end() ? id : what->second,
                                       .values = is_spread ? result.expected.values : values,
                                       .spread = is_spread ? values : std::span<const float>()});
        }
    }
    return result;
}

const Decoded& CaseFile::decoded(const TensorView& tensor) const {
    Decoded& kept = decoded_[tensor.name];
    if (kept.values.empty()) {
        kept = decode(tensor.bytes, element_of(tensor.dtype));
    }
    return kept;
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

Op& Lesson::model(std::function<bool(const Library&)> defined) {
    return model_.emplace(Op{"model", std::move(defined), header_, {}, {}});
}

const Op& Lesson::op_at(std::size_t index) const {
    return index == ops_.size() && model_ ? *model_ : ops_.at(index);
}

const Budgets& Lesson::budgets() {
    if (!budgets_) {
        budgets_ = std::make_unique<Budgets>(Budgets::read(reference_ / "cases" / "budgets.json"));
    }
    return *budgets_;
}

double Lesson::budget_factor(std::string_view output, std::string_view precision) {
    return budgets().local(output, precision, "lesson" + lesson_number(name_));
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
