// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/loader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "checker/base/json.h"

namespace cases {
namespace {

using checker::CaseFile;
using checker::FileError;
using checker::Json;

// The names of an op's parameters that are tensors.
std::vector<std::string> parameters_of(const OpSpec& spec) {
    std::vector<std::string> names;
    for (const InputSpec& input : spec.inputs) { names.push_back(input.name); }
    for (const OutputSpec& output : spec.outputs) { names.push_back(output.name); }
    return names;
}

FileCall read_call(const Json& row, const OpSpec& spec) {
    FileCall call{.case_name = row.at("case").text(),
                  .where = row.at("where").text(),
                  .sizes = {},
                  .index = {},
                  .args = {},
                  .results = {},
                  .null = {}};
    if (const Json* sequence = row.find("sequence")) {
        call.sequence = sequence->text();
    }
    for (const char* key : {"dims", "scalars"}) {
        if (const Json* numbers = row.find(key)) {
            for (const auto& [name, value] : numbers->members()) { call.sizes.set(name, value.number()); }
        }
    }
    if (const Json* index = row.find("index")) {
        for (const auto& [name, dims] : index->members()) { call.index[name] = dims.text(); }
    }
    const auto read = [&](const char* key, std::map<std::string, std::string>& tensors) {
        for (const auto& [name, tensor] : row.at(key).members()) {
            if (tensor.is_null()) {
                call.null.push_back(name);
            } else {
                tensors[name] = tensor.text();
            }
        }
    };
    read("args", call.args);
    read("results", call.results);
    const std::vector<std::string> parameters = parameters_of(spec);
    const auto require_known = [&](const std::string& name) {
        if (std::ranges::find(parameters, name) == parameters.end()) {
            throw FileError(
                fmt::format("names {}, which is no tensor of the op; it has {}", name, fmt::join(parameters, ", ")));
        }
    };
    for (const auto& [name, tensor] : call.args) { require_known(name); }
    for (const auto& [name, tensor] : call.results) { require_known(name); }
    for (const auto& [name, dims] : call.index) { require_known(name); }
    std::ranges::for_each(call.null, require_known);
    const auto require = [&](const std::string& name, const std::map<std::string, std::string>& tensors) {
        if (!tensors.contains(name) && std::ranges::find(call.null, name) == call.null.end()) {
            throw FileError(fmt::format("has no {}", name));
        }
    };
    for (const InputSpec& input : spec.inputs) { require(input.name, call.args); }
    for (const OutputSpec& output : spec.outputs) {
        require(output.name, call.results);
        if (output.before) {
            require(output.name, call.args);
        }
    }
    return call;
}

using NamedCall = std::pair<std::string, FileCall>;  // with the op's name

bool is_same_sequence(const FileCall& a, const FileCall& b) {
    return !a.sequence.empty() && a.sequence == b.sequence && a.case_name == b.case_name;
}

// Notes which in-out tensors of the call hold what the one before it in the sequence left. Throws FileError if an in-out
// tensor of that one is missing, or if the call goes on from anything else than its result.
void set_left(FileCall& call, const FileCall& before) {
    for (const auto& [name, result] : before.results) {
        if (!before.args.contains(name)) {
            continue;
        }
        const std::string left = "local/" + result;
        const auto read = call.args.find(name);
        if (read == call.args.end() || !call.results.contains(name)) {
            throw FileError(fmt::format("has no {}, which the call before it left", name));
        }
        if (read->second == left) {
            call.left.push_back(name);
        } else if (read->second.starts_with("local/")) {
            throw FileError(
                fmt::format("goes on from {} as {}, but the call before it left {}", read->second, name, left));
        }
    }
}

// Adds a call. Throws FileError if the calls of its sequence are of several ops, or other calls are in their case.
void add_call(std::vector<NamedCall>& calls, const std::string& op, FileCall call) {
    const bool continues = !calls.empty() && is_same_sequence(calls.back().second, call);
    if (continues && calls.back().first != op) {
        throw FileError(
            fmt::format("is of another op than the sequence \"{}\" before it, {}", call.sequence, calls.back().first));
    }
    const auto shares_case = [&](const NamedCall& other) {
        return other.first == op && other.second.case_name == call.case_name;
    };
    const auto earlier = std::ranges::find_if(calls, shares_case);
    if (earlier != calls.end() && !continues && (!call.sequence.empty() || !earlier->second.sequence.empty())) {
        throw FileError(
            fmt::format("is of the case {}, in which other calls are a sequence; give the sequence a case of its own",
                        call.case_name));
    }
    if (continues) {
        set_left(call, calls.back().second);
    }
    calls.emplace_back(op, std::move(call));
}

// Every call of the file, so that a misspelt op is not a call less.
std::vector<NamedCall> read_calls(const CaseFile& file) {
    const auto& metadata = file.tensors().metadata();
    const auto text = metadata.find("calls");
    if (text == metadata.end()) {
        throw FileError(
            fmt::format("{}: its metadata have no calls; 'make reference' writes them", file.tensors().file()));
    }
    Json rows;
    try {
        rows = Json::parse(text->second);
    } catch (const std::exception&) {  // it stays null
    }
    if (!rows.is_array()) {
        throw FileError(fmt::format("{}: the calls in its metadata are no JSON array; 'make reference' writes them",
                                    file.tensors().file()));
    }
    const auto refuse = [&](std::size_t call, const std::string& op, const std::string& what) {
        throw FileError(fmt::format("{}: call {} in its metadata{} {}; 'make reference' writes them",
                                    file.tensors().file(), call, op.empty() ? "" : " (" + op + ")", what));
    };
    std::vector<NamedCall> calls;
    for (const Json& row : rows.elements()) {
        std::string op;
        try {
            op = row.at("op").text();
            const OpSpec* spec = find_op(op);
            if (spec == nullptr) {
                throw FileError("is of an op that lessons/gpt2/ops.def does not list");
            }
            add_call(calls, op, read_call(row, *spec));
        } catch (const std::exception& e) {  // ours, or that of a key that is missing or of another type
            refuse(calls.size(), op, e.what());
        }
    }
    for (std::size_t i = 0; i < calls.size(); i++) {
        const auto& [op, call] = calls[i];
        const bool begins = i == 0 || !is_same_sequence(calls[i - 1].second, call);
        const bool ends = i + 1 == calls.size() || !is_same_sequence(call, calls[i + 1].second);
        if (!call.sequence.empty() && begins && ends) {
            refuse(i, op, fmt::format("is the only one of its sequence \"{}\", which has two or more", call.sequence));
        }
    }
    return calls;
}

// The lengths of the axes `names` of a parameter's tensor: the file's, or where that stores it flat those of the call. An
// input may have more elements than `op_dims` asks for: a padded vocabulary has rows that no token names.
std::vector<long> axes_of(const CaseFile& file, const FileCall& call, const std::string& parameter,
                          const std::string& tensor, const std::string& names, const std::string& op_dims,
                          bool is_input) {
    const checker::TensorView& view = file.tensors().at(tensor);
    const auto refuse = [&](const std::string& asked) {
        throw FileError(fmt::format("{}: tensor \"{}\" is ({}), but {} asks for {} as {}; 'make reference' writes it",
                                    file.tensors().file(), tensor, fmt::join(view.shape, ", "), call.where, asked,
                                    parameter));
    };
    const auto product = [](const std::vector<long>& lengths) {
        return std::accumulate(lengths.begin(), lengths.end(), 1L, std::multiplies<>());
    };
    if (call.sizes.has_axes(op_dims)) {
        const long asked = product(call.sizes.axes(op_dims));
        if (is_input ? view.elements() < asked : view.elements() != asked) {
            refuse(fmt::format("{} elements ({})", asked, op_dims));
        }
    }
    if (view.shape.size() == words(names).size()) {
        return view.shape;
    }
    if (!call.sizes.has_axes(names) || product(call.sizes.axes(names)) != view.elements()) {
        refuse("\"" + names + "\"");
    }
    return call.sizes.axes(names);
}

// Returns what the op reads of a parameter, as elements that it takes: the tensor's bytes if those are its elements, and
// its floats rounded if the op takes narrower ones. Throws FileError for any other pair.
checker::Input content_of(const CaseFile& file, const FileCall& call, const std::string& parameter,
                          const std::string& names, std::vector<long> axes, checker::Element takes) {
    const checker::TensorView& view = file.tensors().at(call.args.at(parameter));
    if (checker::has_elements(view.dtype, takes)) {
        return checker::input(parameter, names, std::move(axes), view);
    }
    if (view.dtype != checker::DType::f32 || checker::is_integer(takes)) {
        throw FileError(fmt::format("{}: tensor \"{}\" is {}, but {} takes {} as {}; 'make reference' writes it",
                                    file.tensors().file(), view.name, checker::to_string(view.dtype), call.where,
                                    checker::name_of(takes), parameter));
    }
    return checker::input(parameter, names, std::move(axes), view.f32(), takes);
}

checker::Call make_call(const CaseFile& file, const OpSpec& spec, const FileCall& of) {
    const auto names_of = [&](const std::string& parameter, const std::string& dims) {
        const auto found = of.index.find(parameter);
        return found == of.index.end() ? dims : found->second;
    };
    checker::Call call{.where = of.where, .inputs = {}, .outputs = {}, .null = of.null, .run = {}};
    call.run = run_of(spec, of.sizes);
    for (const InputSpec& input : spec.inputs) {
        if (!of.args.contains(input.name)) {
            continue;
        }
        const std::string& tensor = of.args.at(input.name);
        const std::string names = names_of(input.name, input.dims);
        std::vector<long> axes = axes_of(file, of, input.name, tensor, names, input.dims, true);
        call.inputs.push_back(content_of(file, of, input.name, names, std::move(axes), input.element));
    }
    const Sizes sizes = of.sizes.completed(spec.defaults);
    for (const OutputSpec& output : spec.outputs) {
        if (!of.results.contains(output.name)) {
            continue;
        }
        const std::string& tensor = of.results.at(output.name);
        const std::string names = names_of(output.name, dims_of(output, of.sizes));
        const std::vector<long> axes = axes_of(file, of, output.name, "local/" + tensor, names, output.dims, false);
        checker::Reference reference = file.local(tensor, spec.name + "." + output.name, precision_of(spec, output));
        reference.expected.factor *= floors_times(spec, output, sizes);
        if (output.before) {
            axes_of(file, of, output.name, of.args.at(output.name), names, output.dims, false);
            const bool is_left = std::ranges::find(of.left, output.name) != of.left.end();
            call.outputs.push_back(checker::inout(is_left
                                                      ? checker::carried_over(output.name, names, axes, output.element)
                                                      : content_of(file, of, output.name, names, axes, output.element),
                                                  reference));
        } else {
            call.outputs.push_back(checker::output(output.name, names, axes, reference, output.element));
        }
        if (!output.columns.empty()) {
            call.outputs.back().columns = of.sizes[output.columns];
        }
        call.outputs.back().expected.exact_zeros = output.exact_zeros;
    }
    call.is_model = spec.is_model;
    if (of.left.empty()) {  // else the judge does not know what the call reads
        add_rounded(call, spec, sizes);
    }
    if (spec.scratch_bytes != nullptr) {
        call.scratch = {scratch_of(spec, of.sizes)};
    }
    if (spec.needed != nullptr) {
        call.needed = spec.needed(of.sizes);
    }
    call.least_bytes = spec.cost(sizes).bytes;
    return call;
}

// What the case's first call has: its sizes, the axes of its first tensor by their names, and the model's config.
std::string shape_of(const CaseFile& file, const OpSpec& spec, const Sizes& first, const checker::Input& input) {
    Sizes sizes = first;
    for (std::size_t axis = 0; axis < input.spec.dims.rank(); axis++) {
        sizes.set(input.spec.dims.name(axis), static_cast<double>(input.spec.dims.size(axis)));
    }
    const std::vector<std::string> names = words(spec.case_shape);
    const bool as_case = !names.empty() && sizes.has(names.front());
    for (const auto& [name, value] : file.dims()) {
        if (!sizes.has(name)) {
            sizes.set(name, value);
        }
    }
    return sizes.text(as_case ? spec.case_shape : spec.shape);
}

// Throws FileError if a tensor of the call has another shape in an earlier call of the sequence: they share its buffer.
void require_same_tensors(const CaseFile& file, const std::string& sequence, const std::vector<checker::Call>& earlier,
                          const checker::Call& call) {
    const auto specs_of = [](const checker::Call& of) {
        std::vector<checker::BufferSpec> specs;
        for (const checker::Input& input : of.inputs) { specs.push_back(input.spec); }
        for (const checker::Output& output : of.outputs) { specs.push_back(output.spec); }
        return specs;
    };
    const std::vector<checker::BufferSpec> own = specs_of(call);
    for (const checker::Call& before : earlier) {
        for (const checker::BufferSpec& known : specs_of(before)) {
            const auto same = std::ranges::find(own, known.name, &checker::BufferSpec::name);
            if (same != own.end() && same->bytes() != known.bytes()) {
                throw FileError(fmt::format(
                    "{}: {} is ({}) in {}, but ({}) in an earlier call of the sequence \"{}\"; 'make reference' writes "
                    "it",
                    file.tensors().file(), known.name, same->dims.text(), call.where, known.dims.text(), sequence));
            }
        }
    }
}

}  // namespace

std::vector<FileCall> calls_of(const CaseFile& file, const OpSpec& spec) {
    std::vector<FileCall> result;
    for (auto& [op, call] : read_calls(file)) {
        if (op == spec.name) {
            result.push_back(std::move(call));
        }
    }
    return result;
}

std::vector<checker::Case> load_cases(const CaseFile& file, const OpSpec& spec) {
    if (spec.model_calls != nullptr) {
        Sizes sizes;
        for (const auto& [name, value] : file.dims()) { sizes.set(name, value); }
        std::vector<checker::Call> calls = spec.model_calls(file, spec);
        for (checker::Call& call : calls) { call.is_model = spec.is_model; }
        return {{file.tensors().metadata().at("case"), sizes.text(spec.shape), std::move(calls)}};
    }
    std::vector<checker::Case> result;
    for (const FileCall& call : calls_of(file, spec)) {
        checker::Call made = make_call(file, spec, call);
        auto of_name = std::ranges::find(result, call.case_name, &checker::Case::name);
        if (of_name == result.end()) {
            const std::string shape = shape_of(file, spec, call.sizes, made.inputs.front());
            const bool is_sequence = !call.sequence.empty();
            result.push_back({call.case_name, is_sequence ? shape + ", " + call.sequence : shape, {}, is_sequence});
            of_name = result.end() - 1;
        }
        if (of_name->sequence) {
            require_same_tensors(file, call.sequence, of_name->calls, made);
        }
        of_name->calls.push_back(std::move(made));
    }
    return result;
}

}  // namespace cases
