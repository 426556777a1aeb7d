// SPDX-License-Identifier: MIT
//
// What checks are made of. Each op has cases; a case is one or more calls of the op, each with its inputs, its outputs and
// what they should be; and each op is timed on some. The same program is parent (cases, references, comparison, verdict)
// and worker (the learner's code): both register the same cases. Those of GPT-2's ops: lessons/gpt2/check.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/cases/budget.h"
#include "checker/cases/buffer_spec.h"
#include "checker/cases/counters.h"
#include "checker/cases/dims.h"
#include "checker/cases/expected.h"
#include "checker/cases/lesson_toml.h"
#include "checker/cases/library.h"
#include "checker/cases/safetensors.h"

namespace checker {

// ---- one call --------------------------------------------------------------------------------------------------

// Where the buffers of a call lie while it runs, by name.
class Buffers {
  public:
    void add(const std::string& name, Element element, void* data) { at_[name] = {element, data}; }
    void add_null(const std::string& name) { at_[name] = {Element::byte, nullptr}; }  // of any type
    float* f32(std::string_view name) const;  // these throw std::logic_error for a name or type that the call lacks
    int* i32(std::string_view name) const;
    void* scratch(std::string_view name) const;

  private:
    struct Buffer {
        Element element = Element::f32;
        void* data = nullptr;
    };
    void* find(std::string_view name, Element element) const;
    std::map<std::string, Buffer, std::less<>> at_;
};

struct Input {
    BufferSpec spec;
    std::function<void(std::span<std::byte>, std::uint64_t seed)> fill;  // committed values do not depend on the seed
};

// What an output should be where no tensor is committed: computed from the call's inputs, in its order, in float64.
struct Computed {
    std::vector<float> values;
    std::vector<float> floor;
    double factor = 0;
};
using ComputeFunction = std::function<Computed(const std::vector<std::span<const float>>& inputs)>;

// An output and what it should be. Columns from `columns` on are padding.
struct Output {
    BufferSpec spec;
    long columns = 0;
    Expected expected;
    std::vector<Suspect> suspects;
    ComputeFunction compute;       // in place of `expected`
    bool watch_padding = true;     // padding must stay as it was
    bool stays_untouched = false;  // nothing at all may be written (the loss of a forward without targets)
};

// Memory that the op may use as it likes; how much, the implementation says.
struct Scratch {
    std::string name;
    std::function<std::size_t(const Library&)> bytes;
};

using RunFunction = std::function<void(const Library&, const Buffers&)>;

// The output of a shape that is too large for the host, which lies on the device alone. On a device that can, some blocks
// of each launch run, and what they wrote is judged, element by element; on a GPU all of them run, and some elements are.
struct Sampled {
    BufferSpec output;
    std::uint64_t blocks = 30;  // random ones, beside the first and the last
    // What an element should be, in float64, and its floor.
    std::function<std::pair<double, double>(long element, const std::vector<std::span<const float>>& inputs)> expected;
    double factor = 0;  // of the op's budget
};

struct Call {
    std::string where;  // which of the case's calls: "h.0.ln_1"
    std::vector<Input> inputs;
    std::vector<Output> outputs;  // in the order in which a learner should look at them
    std::vector<Scratch> scratch = {};
    std::vector<std::string> null = {};  // arguments that are null in this call
    RunFunction run;
    std::vector<Needed> needed = {};      // what lesson.toml's counters are judged against
    std::optional<Sampled> sampled = {};  // in place of outputs
};

// An input that holds these values.
Input input(std::string name, std::string_view dims, std::vector<long> sizes, std::span<const float> values);
Input input(std::string name, std::string_view dims, std::vector<long> sizes, std::span<const std::int32_t> values);

// Inputs drawn from a seed: normally distributed floats, floats in [low, high), integers in [0, below).
Input normal(std::string name, std::string_view dims, std::vector<long> sizes, float sigma = 1.0F);
Input uniform(std::string name, std::string_view dims, std::vector<long> sizes, float low, float high);
Input integers(std::string name, std::string_view dims, std::vector<long> sizes, int below);

// What an output should be and its suspects, from a case file.
struct Reference {
    Expected expected;
    std::vector<Suspect> suspects;
};

Output output(std::string name, std::string_view dims, std::vector<long> sizes, Reference reference);
Output output(std::string name, std::string_view dims, std::vector<long> sizes, ComputeFunction compute);
// For timing: where there is nothing else to compare with, it is the solution.
Output output(std::string name, std::string_view dims, std::vector<long> sizes);

// ---- cases -----------------------------------------------------------------------------------------------------

// reference/cases/NAME.safetensors; reference/dump writes it and says what is in it.
class CaseFile {
  public:
    CaseFile(const std::filesystem::path& file, const Budgets& budgets);

    bool has_dim(std::string_view name) const { return dims_.contains(name); }
    int dim(std::string_view name) const;  // "B", "T", "C", ...: from the file's config
    const std::map<std::string, int, std::less<>>& dims() const { return dims_; }
    const SafeTensors& tensors() const { return tensors_; }
    std::span<const float> f32(std::string_view tensor) const { return tensors_.at(tensor).f32(); }
    std::span<const std::int32_t> i32(std::string_view tensor) const { return tensors_.at(tensor).i32(); }

    // An op's own reference, from the stored inputs; `output` names its budget: local("h.0.ln_1", "layernorm.out").
    Reference local(std::string_view tensor, std::string_view output) const;
    // The whole model's reference.
    Reference chained(std::string_view tensor) const;

  private:
    Reference reference(std::string_view scope, std::string_view tensor, double factor) const;
    SafeTensors tensors_;
    const Budgets& budgets_;
    std::map<std::string, int, std::less<>> dims_;
    std::map<std::string, std::string> suspects_;  // id -> what
};

struct Case {
    std::string name;   // "regular"
    std::string shape;  // "B=2 T=8 C=64"
    std::vector<Call> calls;
    bool is_sampled() const {
        return std::ranges::any_of(calls, [](const Call& call) { return call.sampled.has_value(); });
    }
};

// The vendor's routine for the same call.
struct Vendor {
    std::string name;  // "OpenBLAS"
    std::function<void(const Buffers&)> run;
    std::function<std::string()> missing = {};  // asked in the worker: why it cannot run here; empty where it can
};

// What an op is timed on: one call at one of GPT-2's shapes. The target is in lesson.toml.
struct Timed {
    std::string shape;
    std::size_t bytes_moved = 0;          // read and written once; a copy of as many bytes is its roof
    double flop = 0;                      // of an op that arithmetic bounds: multiply-adds in registers are its roof
    Call call = {};                       // its run is called in a row on the same Context, if it keeps one
    std::optional<Vendor> library = {};   // one core
    RunFunction run_on_two_threads = {};  // for targets that ask how it scales
    bool hot = false;                     // a whole model's step: timed one after another, caches as it left them
};

struct Op {
    std::string name;
    std::function<bool(const Library&)> defined;
    std::string declared_in;  // the header that has its signature
    std::deque<Case> cases;
    std::vector<Timed> timed;

    Case& add_case(std::string case_name, std::string shape);
};

class Lesson {
  public:
    Lesson(std::string name, std::filesystem::path reference, LessonToml toml = {});
    Lesson(const Lesson&) = delete;
    Lesson& operator=(const Lesson&) = delete;

    Op& op(std::string name, std::function<bool(const Library&)> defined);
    void declared_in(std::string header) { header_ = std::move(header); }

    // A case file, opened once. Throws FileError when it is missing or malformed.
    bool has_case_file(const std::string& name) const;
    const CaseFile& case_file(const std::string& name);

    // k * max(ratio, 1) of an op's output in fp32, for what is computed.
    double budget_factor(std::string_view output);

    // The vendor's fp32 matmul on the device that the lesson runs on: see DeviceSide.
    std::optional<Vendor> matmul_library(int N, int C, int OC) const;

    bool on_device() const;

    // Whether the device runs samples of a launch's blocks; and whether it takes calls that have `sampled` at all.
    bool samples_blocks() const;
    bool takes_sampled() const;

    // Timed shapes are to be small: this is a rehearsal of the GPU's checks without a GPU.
    bool rehearsal() const;

    const std::string& name() const { return name_; }  // "01_layers"
    const LessonToml& toml() const { return toml_; }
    const std::deque<Op>& ops() const { return ops_; }

  private:
    const Budgets& budgets();

    std::string name_;
    std::filesystem::path reference_;
    LessonToml toml_;
    std::string header_;
    std::unique_ptr<Budgets> budgets_;
    std::map<std::string, std::unique_ptr<CaseFile>> files_;
    std::deque<Op> ops_;
};

}  // namespace checker
