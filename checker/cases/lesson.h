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
#include <stdexcept>
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
#include "checker/resources.h"

struct CUstream_st;    // cudaStream_t is a pointer to it
struct __nv_bfloat16;  // incomplete: cuda_bf16.h is for CUDA C++

namespace checker {

// ---- one call --------------------------------------------------------------------------------------------------

// Where the buffers of a call lie while it runs, by name. What is asked for by a name or type that the call lacks throws
// std::logic_error; an argument that is null in the call is null in any type.
class Buffers {
  public:
    // `memory` is where what is kept may work; null: the host's. `stream` is the device's that the call's work belongs
    // in; null: the default stream.
    explicit Buffers(Allocator* memory = nullptr, CUstream_st* stream = nullptr) : memory_(memory), stream_(stream) {}
    CUstream_st* stream() const { return stream_; }
    void set_stream(CUstream_st* stream) { stream_ = stream; }

    void add(const std::string& name, Element element, void* data) { at_[name] = {element, data}; }
    void add_null(const std::string& name) { at_[name] = {Element::byte, nullptr}; }

    bool has(std::string_view name) const { return at_.contains(name); }
    float* f32(std::string_view name) const { return elements<float>(name, Element::f32); }
    __nv_bfloat16* bf16(std::string_view name) const { return static_cast<__nv_bfloat16*>(find(name, Element::bf16)); }
    int* i32(std::string_view name) const { return elements<int>(name, Element::i32); }
    void* scratch(std::string_view name) const { return find(name, Element::byte); }
    // Returns other elements in the op's type: elements<__nv_fp8_e4m3>("out", Element::f8_e4m3).
    template <class T>
    T* elements(std::string_view name, Element element) const {
        if (sizeof(T) != bytes_of(element)) {
            throw_wrong_size(name, element, sizeof(T));
        }
        return static_cast<T*>(find(name, element));
    }

    // The T of the call, a Context: T(memory, stream), made when it is first asked for. It is kept over the calls of a sequence,
    // and over those in which an implementation is timed; each other call has its own.
    template <class T>
    T& kept() const {
        return kept_->get<T>(memory_, stream_);
    }

  private:
    struct Buffer {
        Element element = Element::f32;
        void* data = nullptr;
    };
    void* find(std::string_view name, Element element) const;
    [[noreturn]] static void throw_wrong_size(std::string_view name, Element element, std::size_t bytes);

    std::map<std::string, Buffer, std::less<>> at_;
    Allocator* memory_;
    CUstream_st* stream_;
    std::shared_ptr<OnePerType> kept_ = std::make_shared<OnePerType>();  // of all copies
};

// Writes a tensor's content. What is committed does not depend on the seed.
using FillFunction = std::function<void(std::span<std::byte>, std::uint64_t seed)>;

struct Input {
    BufferSpec spec;
    FillFunction fill;  // none: it holds what the sequence's earlier calls left there
};

// What an output should be where no tensor is committed: computed in float64 from what the call reads, decoded: its
// inputs, then what its in-out tensors hold before, each in the call's order.
struct Computed {
    std::vector<float> values;
    std::vector<float> floor;
    double factor = 0;
    std::vector<std::int64_t> integers = {};  // of an output of integers
};
using ComputeFunction = std::function<Computed(const std::vector<std::span<const float>>& inputs)>;

// What one element of an output should be, in float64, and its floor.
using ElementFunction =
    std::function<std::pair<double, double>(long element, const std::vector<std::span<const float>>& inputs)>;

// An output and what it should be. Columns from `columns` on are padding.
struct Output {
    BufferSpec spec;
    long columns = 0;
    Expected expected;
    std::vector<Suspect> suspects;
    ComputeFunction compute;       // in place of `expected`
    ElementFunction element = {};  // the same of a timed output, of which so many that all would take too long
    double factor = 0;             // of the budget of such an element
    bool zero_in_padding = false;  // padding may become 0; else it must stay as it was
    bool stays_untouched = false;  // nothing at all may be written (the loss of a forward without targets)
    FillFunction initial = {};     // of an in-out tensor: what it holds before; none: what the earlier calls left there
    std::string precision = "fp32";  // whose budget it has: "tf32", "bf16"
};

// Memory that the op may use as it likes; how much, the implementation says.
struct Scratch {
    std::string name;
    std::function<std::size_t(const Library&)> bytes;
    Dims dims =
        {};  // a tensor of floats that it is for: findings count in it if the memory holds one or several of them
};

// An op left something of its arguments otherwise than it found it: "acts.T is 4 after the call, and was 8 before it".
class LeftChanged : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

using RunFunction = std::function<void(const Library&, const Buffers&)>;

// The output of a shape that is too large for the host, which lies on the device alone. On a device that can, some blocks
// of each launch run, and what they wrote is judged, element by element; on a GPU all of them run, and some elements are.
struct Sampled {
    BufferSpec output;
    std::uint64_t blocks = 30;  // random ones, beside the first and the last
    // None: nobody has written what the op reads either, and only the places that it reads and writes are judged.
    ElementFunction expected;
    double factor = 0;  // of the op's budget
};

struct Call {
    std::string where;  // which of the case's calls: "h.0.ln_1"
    std::vector<Input> inputs;
    std::vector<Output> outputs;  // in the order in which a learner should look at them
    std::vector<Scratch> scratch = {};
    std::vector<std::string> null = {};  // arguments that are null in this call
    RunFunction run;
    RunFunction run_on_one_thread = {};  // set if `run` may use several
    // What each of its outputs is in float64 where factors are rounded to the op's precision; none: not known.
    std::function<std::vector<Computed>(const std::vector<std::span<const float>>& inputs)> rounded = {};
    // As `rounded`, with factors of bf16, if the op's precision is TF32.
    std::function<std::vector<Computed>(const std::vector<std::span<const float>>& inputs)> rounded_to_bf16 = {};
    std::vector<Needed> needed = {};      // what lesson.toml's counters are judged against
    double least_bytes = 0;               // that it reads and writes, where that is known
    std::optional<Sampled> sampled = {};  // in place of outputs
    bool on_other_stream = false;         // its work belongs in another stream than that of the sequence's other calls
    bool is_warm = false;   // the op has had this problem before in the sequence: what it does once is done
    bool is_model = false;  // each output is computed from those before it: the first that is wrong tells most
};

// Whether an output lies in the host's memory: the call is over when it is there.
bool ends_on_host(const Call& call);

// An input that holds these values: a case file's tensor as it is, or numbers, rounded to the element.
Input input(std::string name, std::string_view dims, std::vector<long> sizes, const TensorView& tensor);
Input input(std::string name, std::string_view dims, std::vector<long> sizes, std::span<const float> values,
            Element element = Element::f32);
Input input(std::string name, std::string_view dims, std::vector<long> sizes, std::span<const std::int32_t> values);

// Inputs drawn from a seed: normally distributed, in [low, high), integers in [0, below).
Input normal(std::string name, std::string_view dims, std::vector<long> sizes, float sigma = 1.0F,
             Element element = Element::f32);
Input uniform(std::string name, std::string_view dims, std::vector<long> sizes, float low, float high,
              Element element = Element::f32);
Input integers(std::string name, std::string_view dims, std::vector<long> sizes, int below,
               Element element = Element::i32);

// In a sequence of calls: what earlier calls left in the tensor of this name.
Input carried_over(std::string name, std::string_view dims, std::vector<long> sizes, Element element = Element::f32);

// What an output should be and its suspects, from a case file.
struct Reference {
    Expected expected;
    std::vector<Suspect> suspects;
    std::string precision = "fp32";
};

Output output(std::string name, std::string_view dims, std::vector<long> sizes, Reference reference,
              Element element = Element::f32);
Output output(std::string name, std::string_view dims, std::vector<long> sizes, ComputeFunction compute,
              Element element = Element::f32);
// For timing: it is compared with the solution's.
Output output(std::string name, std::string_view dims, std::vector<long> sizes, Element element = Element::f32);

// An in-out tensor: what it holds before the call, and what it should hold afterwards. Before each run it is set anew. In
// a sample of several timed calls each goes on from what the one before it left.
Output inout(Input before, Reference reference);
Output inout(Input before);

// The same in the host's memory, though the op runs on a device.
Input on_host(Input input);
Output on_host(Output output);

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

    const TensorView& tensor(std::string_view name) const { return tensors_.at(name); }

    // An op's own reference, from the stored inputs; `output` names its budget: local("h.0.ln_1", "layernorm.out").
    Reference local(std::string_view tensor, std::string_view output, const std::string& precision = "fp32") const;
    // The whole model's reference.
    Reference chained(std::string_view tensor, const std::string& precision = "fp32") const;

  private:
    // `factor` is asked for where the tensor has a budget: integers have none.
    Reference reference(std::string_view scope, std::string_view tensor, const std::string& precision,
                        const std::function<double()>& factor) const;
    const Decoded& decoded(const TensorView& tensor) const;  // lives as long as the file

    SafeTensors tensors_;
    mutable std::map<std::string, Decoded> decoded_;  // of what is stored as something else than floats
    const Budgets& budgets_;
    std::map<std::string, int, std::less<>> dims_;
    std::map<std::string, std::string> suspects_;  // id -> what
};

struct Case {
    std::string name;   // "regular"
    std::string shape;  // "B=2 T=8 C=64"
    std::vector<Call> calls;
    // Its calls run in turn on the same buffers, by their names, and on the same Context: steps of a training, replays of
    // a graph. Without, each call stands for itself.
    bool sequence = false;
    std::string limited_calls = {};  // the calls that have `needed`, in words: "2 tokens that find their graph"
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
    bool tensor_cores = false;            // unless these compute it, which are faster
    Call call = {};                       // its run is called in a row, for each implementation on one Context
    std::optional<Vendor> library = {};   // one core
    RunFunction run_on_two_threads = {};  // for targets that ask how it scales
    bool warm = false;                    // a whole model's step: timed one after another, caches as it left them
    // The same grid of outputs, each from a shorter sum: what blocks share is the same share of it.
    std::optional<Call> reduced_k = {};
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
    // The whole step, in model.so: the lesson's ops and those of earlier lessons that a model needs. Its check runs it when each
    // op is right by itself.
    Op& model(std::function<bool(const Library&)> defined);
    bool has_model() const { return model_.has_value(); }
    void declared_in(std::string header) { header_ = std::move(header); }

    // A case file, opened once. Throws FileError when it is missing or malformed.
    bool has_case_file(const std::string& name) const;
    const CaseFile& case_file(const std::string& name);

    // k * max(ratio, 1) of an op's output, for what is computed.
    double budget_factor(std::string_view output, std::string_view precision = "fp32");

    const std::string& name() const { return name_; }  // "01_layers"
    const LessonToml& toml() const { return toml_; }
    const std::deque<Op>& ops() const { return ops_; }
    // Returns an op by its index in ops(), and the model if the index is ops().size(). Throws std::out_of_range for others.
    const Op& op_at(std::size_t index) const;

  private:
    const Budgets& budgets();

    std::string name_;
    std::filesystem::path reference_;
    LessonToml toml_;
    std::string header_;
    std::unique_ptr<Budgets> budgets_;
    std::map<std::string, std::unique_ptr<CaseFile>> files_;
    std::deque<Op> ops_;
    std::optional<Op> model_;
};

}  // namespace checker
