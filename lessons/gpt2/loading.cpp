// SPDX-License-Identifier: MIT
#include "lessons/gpt2/loading.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "lessons/gpt2/files.h"

namespace fs = std::filesystem;
using checker::DType;
using checker::FileError;
using checker::in_quotes;
using checker::SafeTensors;
using checker::TensorView;
using nlohmann::json;

namespace {

constexpr std::size_t kMaxJson = 16u << 20;

// Returns the text with Python's numbers that are not JSON, NaN and Infinity, as strings: a setting that this program
// reads is then refused with its value.
std::string with_quoted_constants(std::string_view text) {
    std::string result;
    bool in_string = false;
    while (!text.empty()) {
        std::size_t n = 1;
        if (in_string) {
            n = text[0] == '\\' && text.size() > 1 ? 2 : 1;
        } else {
            for (const std::string_view constant : {"NaN", "Infinity", "-Infinity"}) {
                n = text.starts_with(constant) ? constant.size() : n;
            }
        }
        in_string ^= text[0] == '"';
        const std::string_view part = text.substr(0, n);
        result += !in_string && n > 2 ? fmt::format("\"{}\"", part) : std::string(part);
        text.remove_prefix(n);
    }
    return result;
}

json parse_json(std::string_view text, const std::string& file) {
    if (checker::is_lfs_pointer(text)) {
        throw FileError(fmt::format("{}: {}", file, checker::kLfsPointer));
    }
    // nlohmann's parser keeps a stack on the heap, so deep nesting is safe; a document of kMaxJson is the bound.
    json document = json::parse(text, nullptr, false);
    if (document.is_discarded()) {
        document = json::parse(with_quoted_constants(text), nullptr, false);
    }
    if (document.is_discarded()) {
        throw FileError(fmt::format("{}: is not JSON; download the file again", file));
    }
    if (!document.is_object()) {
        throw FileError(fmt::format("{}: is JSON, but not an object; download the file again", file));
    }
    return document;
}

// Reads config.json's settings, each of which has one value that this program implements or a range.
class ConfigReader {
  public:
    ConfigReader(const json& document, const std::string& file) : document_(document), file_(file) {}

    int size(const char* key) const {
        const json* value = find(key);
        if (!value) {
            throw FileError(fmt::format("{}: lacks {}; is this the folder of a GPT-2?", file_, key));
        }
        if (!value->is_number_integer()) {
            refuse(key, *value, "a whole number");
        }
        // Below 2^30, so that no size overflows an int when it is rounded up or multiplied by a small factor.
        if (value->is_number_unsigned() ? value->get<std::uint64_t>() == 0 || value->get<std::uint64_t>() >= 1u << 28
                                        : value->get<std::int64_t>() <= 0) {
            refuse(key, *value, "a number from 1 to 2^28 - 1");
        }
        return value->get<int>();
    }
    // Hugging Face writes null for 'the default'.
    const json* find(const char* key) const {
        const auto found = document_.find(key);
        return found == document_.end() || found->is_null() ? nullptr : &*found;
    }
    bool has(const char* key) const { return find(key) != nullptr; }

    void must_be(const char* key, const json& only) const {
        const json* value = find(key);
        if (value && *value != only) {
            refuse(key, *value, fmt::format("{}, the only one this program implements", only.dump()));
        }
    }
    [[noreturn]] void refuse(const char* key, const json& value, std::string_view wanted) const {
        // A list or object may be too deep for the stack that dump() needs.
        const std::string shown = value.is_structured()
                                      ? (value.is_array() ? "a list" : "an object")
                                      : value.dump(-1, ' ', true, json::error_handler_t::replace).substr(0, 40);
        throw FileError(fmt::format("{}: {} is {}, but must be {}", file_, key, shown, wanted));
    }

  private:
    const json& document_;
    const std::string& file_;
};

// Several words in one message: the first three of them, and how many more there are.
std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, names.size()); i++) { text += (i ? ", " : "") + names[i]; }
    if (names.size() > 3) {
        text += fmt::format(" and {} more", names.size() - 3);
    }
    return text;
}

std::string shape_text(std::span<const long> shape) {
    std::string text = "(";
    for (std::size_t i = 0; i < shape.size(); i++) { text += (i ? ", " : "") + std::to_string(shape[i]); }
    return text + ")";
}

// Hugging Face stores the four projections as Conv1D, (in, out); the course's layout is (OC, C), (out, in).
bool is_transposed(std::string_view name) {
    return name.ends_with(".c_attn.weight") || name.ends_with(".c_proj.weight") || name.ends_with(".c_fc.weight");
}

// h.N.attn.bias and h.N.attn.masked_bias: the causal mask, which older versions of transformers saved.
bool is_mask(std::string_view name, int L) {
    if (!name.starts_with("h.")) {
        return false;
    }
    name.remove_prefix(2);
    const std::size_t digits = name.find_first_not_of("0123456789");
    if (digits == 0 || digits == std::string_view::npos || digits > 6) {
        return false;
    }
    const std::string_view rest = name.substr(digits);
    return std::stoi(std::string(name.substr(0, digits))) < L && (rest == ".attn.bias" || rest == ".attn.masked_bias");
}

// Returns true for what transformers and trl save beside a GPT-2 and the logits do not need: heads of other tasks, and
// buffers that hold positions.
bool is_of_another_task(std::string_view name) {
    constexpr std::array kHeads{"v_head.", "score.", "classifier.", "qa_outputs.", "multiple_choice_head."};
    return std::ranges::any_of(kHeads, [name](std::string_view head) { return name.starts_with(head); }) ||
           name == "position_ids" || name.ends_with(".position_ids") || name.ends_with(".inv_freq");
}

using TensorsByName = std::map<std::string, const TensorView*, std::less<>>;

// Throws if a name that is not there stands behind a prefix, as torch.compile, DistributedDataParallel and others leave.
void refuse_prefix(const TensorsByName& found, std::string_view missing, const std::string& where) {
    for (const auto& [name, tensor] : found) {
        std::string_view prefix = tensor->name;
        if (!prefix.ends_with(fmt::format(".{}", missing))) {
            continue;
        }
        prefix.remove_suffix(missing.size());
        if (prefix.ends_with("transformer.")) {
            prefix.remove_suffix(std::string_view("transformer.").size());
        }
        throw FileError(
            fmt::format("{0}: its names have the prefix {1} before GPT-2's; take it off, with safetensors.torch: "
                        "save_file({{name.removeprefix({1}): x for name, x in load_file(FILE).items()}}, FILE)",
                        where, in_quotes(prefix)));
    }
}

// Elements first to first + out.size() of a tensor, as floats.
void decode(std::span<float> out, const TensorView& tensor, std::size_t first) {
    if (tensor.dtype == DType::f32) {
        tensor.read(std::as_writable_bytes(out), first * sizeof(float));
        return;
    }
    std::vector<std::uint16_t> bits(out.size());
    tensor.read(std::as_writable_bytes(std::span(bits)), first * sizeof(std::uint16_t));
    std::ranges::transform(bits, out.begin(), tensor.dtype == DType::f16 ? float_from_half : float_from_bfloat16);
}

bool has_float_dtype(const TensorView& tensor) {
    return tensor.dtype == DType::f32 || tensor.dtype == DType::f16 || tensor.dtype == DType::bf16;
}

// Compares values, whatever the two are stored as.
bool are_equal(const TensorView& a, const TensorView& b) {
    if (a.shape != b.shape || !has_float_dtype(a) || !has_float_dtype(b)) {
        return false;
    }
    constexpr std::size_t kBlock = 1u << 14;
    const auto elements = static_cast<std::size_t>(a.elements());
    std::vector<float> of_a(kBlock), of_b(kBlock);
    for (std::size_t first = 0; first < elements; first += kBlock) {
        const std::size_t n = std::min(kBlock, elements - first);
        decode(std::span(of_a).first(n), a, first);
        decode(std::span(of_b).first(n), b, first);
        if (!std::equal(of_a.begin(), of_a.begin() + static_cast<std::ptrdiff_t>(n), of_b.begin())) {
            return false;
        }
    }
    return true;
}

void refuse_non_finite(std::span<const float> values, const TensorView& tensor, std::size_t first) {
    const auto bad = std::ranges::find_if_not(values, [](float x) { return std::isfinite(x); });
    if (bad == values.end()) {
        return;
    }
    auto flat = static_cast<long>(first) + (bad - values.begin());
    std::string index;
    for (std::size_t i = tensor.shape.size(); i-- > 0;) {
        index = std::to_string(flat % tensor.shape[i]) + (index.empty() ? "" : ", ") + index;
        flat /= tensor.shape[i];
    }
    throw FileError(fmt::format("{}: {}[{}] is {}; weights must be finite: train or download the model again",
                                *tensor.file, tensor.name, index, *bad));
}

// Reads a tensor of `rows` x `columns` into out: as it is, or transposed. In blocks of rows, so that the transposed
// writes fill whole cache lines.
void read_matrix(float* out, const TensorView& tensor, long rows, long columns, bool transposed) {
    constexpr long kRows = 16;
    std::vector<float> block(static_cast<std::size_t>(kRows * columns));
    for (long r = 0; r < rows; r += kRows) {
        const long n = std::min(kRows, rows - r);
        const std::span values = std::span(block).first(static_cast<std::size_t>(n * columns));
        decode(values, tensor, static_cast<std::size_t>(r * columns));
        refuse_non_finite(values, tensor, static_cast<std::size_t>(r * columns));
        if (!transposed) {
            std::ranges::copy(values, out + r * columns);
            continue;
        }
        for (long c = 0; c < columns; c++) {
            float* out_c = out + c * rows + r;  // out[c, r : r + n]
            for (long i = 0; i < n; i++) { out_c[i] = block[static_cast<std::size_t>(i * columns + c)]; }
        }
    }
}

// The names in a folder, in order.
std::set<std::string> names_in(const fs::path& dir) {
    std::set<std::string> names;
    std::error_code none;
    for (fs::directory_iterator entry(dir, none), end; entry != end; entry.increment(none)) {
        names.insert(entry->path().filename().string());
    }
    return names;
}

// Returns what the folder has in the place of model.safetensors, and what to do; "" if it has no weights by name.
std::string other_weights(const fs::path& dir) {
    constexpr std::string_view kSave = "call save_pretrained, which writes model.safetensors";
    const auto not_read = [](std::string_view name, std::string_view mend) {
        return fmt::format("has only {}, which is not read; {}", name, mend);
    };
    for (const std::string& name : names_in(dir)) {
        if (name.starts_with("adapter_model.")) {
            return not_read(name, "merge the adapter into its model with peft's merge_and_unload and save that");
        }
        if (name.find("-of-") != std::string::npos && name.ends_with(".safetensors")) {
            return fmt::format("has {} but no model.safetensors.index.json; download that too", name);
        }
        if (name.ends_with(".safetensors")) {
            return fmt::format("has {} but no model.safetensors; if it is the model, give it that name", name);
        }
        if (name.starts_with("pytorch_model")) {
            return not_read(name, fmt::format("load it with transformers and {}", kSave));
        }
        if (name == "tf_model.h5" || name == "flax_model.msgpack") {
            return not_read(name, fmt::format("load it with transformers 4 (from_{}=True) and {}",
                                              name[0] == 't' ? "tf" : "flax", kSave));
        }
        if (name.ends_with(".gguf") || name.ends_with(".pt") || name.ends_with(".pth") || name.ends_with(".ckpt")) {
            return not_read(name, "take the model as transformers saves it, with model.safetensors");
        }
    }
    return "";
}

// Throws for a link that leads nowhere: in Hugging Face's cache, one whose blob was removed.
void refuse_dangling_link(const fs::path& file) {
    std::error_code none;
    if (fs::is_symlink(fs::symlink_status(file, none)) && !fs::exists(file, none)) {
        throw FileError(fmt::format("{}: is a link to {}, which is not there; download the model again", file.string(),
                                    fs::read_symlink(file, none).string()));
    }
}

SafeTensors open_file(const fs::path& file) {
    refuse_dangling_link(file);
    return SafeTensors::open(file);
}

// The folder's safetensors files: the one, or the shards that the index names.
std::vector<SafeTensors> open_weights(const fs::path& dir) {
    std::vector<SafeTensors> files;
    const fs::path single = dir / "model.safetensors";
    const fs::path index = dir / "model.safetensors.index.json";
    std::error_code ignored;
    if (fs::exists(single, ignored) || !fs::exists(index, ignored)) {
        if (!fs::exists(fs::symlink_status(single, ignored))) {
            if (const std::string other = other_weights(dir); !other.empty()) {
                throw FileError(fmt::format("{}: {}", dir.string(), other));
            }
        }
        files.push_back(open_file(single));
        return files;
    }
    const json document = parse_json(read_file(index, kMaxJson), index.string());
    const auto map = document.find("weight_map");
    if (map == document.end() || !map->is_object() || map->empty()) {
        throw FileError(fmt::format("{}: lacks weight_map; download the file again", index.string()));
    }
    std::set<std::string> names;
    for (const auto& [tensor, file] : map->items()) {
        const fs::path path = file.is_string() ? fs::path(file.get<std::string>()).lexically_normal() : fs::path();
        if (!path.has_filename() || path.is_absolute() || *path.begin() == "..") {
            throw FileError(fmt::format("{}: names no file in this folder for tensor {}; download the file again",
                                        index.string(), in_quotes(tensor)));
        }
        names.insert(path.string());
    }
    for (const std::string& name : names) { files.push_back(open_file(dir / name)); }
    return files;
}

// Returns true if a file of that name in a model's folder is part of the model.
bool is_model_name(const fs::path& file) {
    const std::string name = file.filename().string(), extension = file.extension().string();
    return extension == ".json" || extension == ".safetensors" || extension == ".model" ||
           name.starts_with("pytorch_model") || name == "merges.txt" || name == "vocab.txt";
}

}  // namespace

bool is_file_of_model(const fs::path& dir, const fs::path& file) {
    std::error_code none;
    const fs::path inside =
        fs::weakly_canonical(fs::absolute(file, none), none).lexically_relative(fs::canonical(dir, none));
    if (!inside.empty() && *inside.begin() != ".." && is_model_name(file)) {
        return true;
    }
    // A link, or the blob of a cache that a link in the folder leads to.
    for (fs::directory_iterator entry(dir, none), end; entry != end; entry.increment(none)) {
        if (is_model_name(entry->path()) && fs::equivalent(entry->path(), file, none)) {
            return true;
        }
    }
    return false;
}

float float_from_bfloat16(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

float float_from_half(std::uint16_t bits) {
    const std::uint32_t sign = (bits & 0x8000u) << 16;
    const std::uint32_t exponent = (bits >> 10) & 0x1fu;
    const std::uint32_t fraction = bits & 0x3ffu;
    if (exponent == 0) {  // zero or subnormal: fraction * 2^-24
        const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
    }
    const std::uint32_t widened = exponent == 0x1fu ? 0xffu : exponent + 127 - 15;
    return std::bit_cast<float>(sign | widened << 23 | fraction << 13);
}

Config parse_config(std::string_view text, const std::string& file) {
    const json document = parse_json(text, file);
    const ConfigReader reader(document, file);
    reader.must_be("model_type", "gpt2");

    Config config;
    // The oldest published files call the context n_ctx. Where both are there, n_ctx may be a default left over.
    config.max_T = reader.size(reader.has("n_ctx") && !reader.has("n_positions") ? "n_ctx" : "n_positions");
    config.V = reader.size("vocab_size");
    config.Vp = padded_vocabulary(config.V);
    config.L = reader.size("n_layer");
    config.NH = reader.size("n_head");
    config.C = reader.size("n_embd");
    if (config.C % config.NH != 0) {
        reader.refuse("n_embd", document["n_embd"], fmt::format("a multiple of n_head, {}", config.NH));
    }
    if (config.L > 4096) {
        reader.refuse("n_layer", document["n_layer"], "at most 4096");
    }

    if (const json* inner = reader.find("n_inner"); inner && *inner != json(4L * config.C)) {
        reader.refuse("n_inner", *inner, fmt::format("null or 4 * n_embd, {}", 4L * config.C));
    }
    // The other names of the same function. gelu is another one.
    constexpr std::array kGeluNames{"gelu_pytorch_tanh", "gelu_python_tanh", "gelu_fast", "gelu_accurate"};
    const json* activation = reader.find("activation_function");
    if (!activation || std::ranges::none_of(kGeluNames, [&](const char* name) { return *activation == name; })) {
        reader.must_be("activation_function", "gelu_new");
    }
    const json* epsilon = reader.find("layer_norm_epsilon");
    if (!epsilon || !epsilon->is_number() || epsilon->get<float>() != 1e-5f) {  // float32's is 9.999999747378752e-06
        reader.must_be("layer_norm_epsilon", 1e-5);
    }
    reader.must_be("scale_attn_weights", true);
    reader.must_be("scale_attn_by_inverse_layer_idx", false);
    reader.must_be("add_cross_attention", false);
    if (reader.has("tie_word_embeddings") && !document["tie_word_embeddings"].is_boolean()) {
        reader.refuse("tie_word_embeddings", document["tie_word_embeddings"], "true or false");
    }
    return config;
}

namespace {

// Throws if a folder in `dir` is the model: in Hugging Face's cache a snapshot, in a Trainer's output a checkpoint.
void refuse_parent_folder(const fs::path& dir) {
    std::error_code none;
    for (const fs::path& parent : {dir / "snapshots", dir}) {
        std::vector<std::string> models;
        for (const std::string& name : names_in(parent)) {
            if (fs::exists(parent / name / "config.json", none)) {
                models.push_back((parent / name).string());
            }
        }
        if (!models.empty()) {
            throw FileError(fmt::format("{}: has no config.json; name the folder in it that has one: {}", dir.string(),
                                        listed(models)));
        }
    }
}

// Returns the text of config.json.
std::string read_config(const fs::path& dir) {
    std::error_code error;
    const fs::file_status status = fs::status(dir, error);
    if (status.type() == fs::file_type::not_found) {
        throw FileError(
            fmt::format("{}: no such folder; --model wants a Hugging Face folder with config.json and "
                        "model.safetensors, and downloads nothing: 'hf download NAME --local-dir DIR' does",
                        dir.string()));
    }
    if (status.type() != fs::file_type::directory) {
        throw FileError(
            error ? fmt::format("{}: cannot be read: {}; check its permissions", dir.string(), error.message())
                  : fmt::format("{}: is not a folder; name the one that holds config.json and "
                                "model.safetensors",
                                dir.string()));
    }
    if (!fs::exists(fs::symlink_status(dir / "config.json", error))) {
        refuse_parent_folder(dir);
    }
    refuse_dangling_link(dir / "config.json");
    return read_file(dir / "config.json", kMaxJson);
}

// Throws if an untied model lacks one of the two: its values are not those of the other one.
void require_both(std::span<const SafeTensors> files, const std::string& config_file) {
    for (const std::string name : {"wte.weight", "lm_head.weight"}) {
        const auto has = [&name](const SafeTensors& file) {
            return file.find(name) || file.find("transformer." + name);
        };
        if (std::ranges::none_of(files, has)) {
            throw FileError(
                fmt::format("{}: tie_word_embeddings is false, but {} lacks {}; make it true if the two are tied",
                            config_file, files.front().file(), name));
        }
    }
}

}  // namespace

Config load_config(const fs::path& dir) {
    return parse_config(read_config(dir), (dir / "config.json").string());
}

Parameters load_parameters(const fs::path& dir, const LoadProgress& progress, const Note& note) {
    const std::string text = read_config(dir), file = (dir / "config.json").string();
    const Config config = parse_config(text, file);
    const std::vector<SafeTensors> files = open_weights(dir);
    if (parse_json(text, file).value("tie_word_embeddings", json()) == json(false)) {
        require_both(files, file);
    }
    if (note && fs::exists(dir / "adapter_config.json")) {
        note(fmt::format(
            "{}: has an adapter too, which is passed over; peft's merge_and_unload puts it into the weights",
            dir.string()));
    }
    return load_parameters(config, files, progress, note);
}

Parameters load_parameters(const Config& config, std::span<const SafeTensors> files, const LoadProgress& progress,
                           const Note& note) {
    // Every tensor by its name without the prefix.
    constexpr std::string_view kPrefix = "transformer.";
    TensorsByName found;
    std::size_t total = 0;
    for (const SafeTensors& file : files) {
        for (const TensorView& tensor : file.tensors()) {
            std::string_view name = tensor.name;
            if (name.starts_with(kPrefix)) {
                name.remove_prefix(kPrefix.size());
            }
            const auto [entry, is_new] = found.emplace(name, &tensor);
            // Shards may overlap where they agree.
            if (!is_new && (entry->second->file == tensor.file || !are_equal(*entry->second, tensor))) {
                throw FileError(fmt::format("{}: has tensor {} a second time; save the model again", file.file(),
                                            in_quotes(tensor.name)));
            }
            total += tensor.bytes.size();
        }
    }
    // save_model of safetensors keeps one name of a tied pair, and it may be this one.
    if (const auto head = found.find("lm_head.weight"); head != found.end()) {
        found.emplace("wte.weight", head->second);
    }
    const std::string where = files.empty() ? "the model" : files.front().file();

    // Compare names and shapes before allocating: a config that asks for more than the file holds must not cost memory.
    Parameters params(config);
    std::vector<std::string> missing, unknown, unused;
    TensorsByName wanted;
    params.visit([&](const std::string& name, float*&, const Shape& shape) {
        const auto entry = found.find(name);
        if (entry == found.end()) {
            missing.push_back(name);
            return;
        }
        const TensorView& tensor = *entry->second;
        std::vector<long> expected(shape.dims.begin(), shape.dims.begin() + shape.rank);
        if (name == "wte.weight") {
            expected[0] = config.V;
        }
        if (is_transposed(name)) {
            std::ranges::reverse(expected);
        }
        if (tensor.shape != expected) {
            throw FileError(
                fmt::format("{}: tensor {} has the shape {}, but config.json makes it {}; these two files "
                            "do not belong together",
                            *tensor.file, in_quotes(tensor.name), shape_text(tensor.shape), shape_text(expected)));
        }
        if (!has_float_dtype(tensor)) {
            throw FileError(fmt::format("{}: tensor {} is {}; weights must be F32, F16 or BF16", *tensor.file,
                                        in_quotes(tensor.name), checker::to_string(tensor.dtype)));
        }
        wanted.emplace(name, &tensor);
    });
    for (const auto& [name, tensor] : found) {
        if (!wanted.contains(name) && !is_mask(name, config.L) && name != "lm_head.weight") {
            if (std::ranges::find(missing, name) == missing.end()) {
                (is_of_another_task(name) ? unused : unknown).push_back(in_quotes(tensor->name));
            }
        }
    }
    if (!missing.empty()) {
        refuse_prefix(found, missing.front(), where);
        throw FileError(fmt::format("{}: lacks {} tensor{} that config.json asks for: {}", where, missing.size(),
                                    missing.size() == 1 ? "" : "s", listed(missing)));
    }
    if (!unknown.empty()) {
        throw FileError(
            fmt::format("{}: has {} tensor{} that a GPT-2 of this config.json has not: {}; if they are not needed, "
                        "GPT2LMHeadModel's from_pretrained and save_pretrained leave them out",
                        where, unknown.size(), unknown.size() == 1 ? "" : "s", listed(unknown)));
    }
    if (!unused.empty() && note) {
        note(fmt::format("{}: passed over {} tensor{} that the logits do not need: {}", where, unused.size(),
                         unused.size() == 1 ? "" : "s", listed(unused)));
    }

    params.allocate();
    std::size_t done = 0;
    params.visit([&](const std::string& name, float*& view, const Shape&) {
        const TensorView& tensor = *wanted.find(name)->second;
        const long rows = tensor.shape.size() == 2 ? tensor.shape[0] : 1;
        const long columns = tensor.shape.back();
        read_matrix(view, tensor, rows, columns, is_transposed(name));
        done += tensor.bytes.size();
        if (progress) {
            progress(done, total);
        }
    });

    if (const auto head = found.find("lm_head.weight"); head != found.end()) {
        const TensorView &tensor = *head->second, &wte = *wanted.find("wte.weight")->second;
        if (&tensor != &wte && !are_equal(tensor, wte)) {
            throw FileError(
                fmt::format("{}: lm_head.weight differs from wte.weight; this program ties the two, as "
                            "GPT-2 does",
                            *tensor.file));
        }
    }
    for (const SafeTensors& file : files) { file.check_unchanged(); }
    if (progress) {
        progress(total, total);
    }
    return params;
}
