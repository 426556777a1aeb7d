// SPDX-License-Identifier: MIT
#include "lessons/gpt2/tests/support.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace fs = std::filesystem;
using checker::DType;

namespace {

std::string shell_quoted(std::string_view text) {
    std::string out = "'";
    for (const char c : text) { out += c == '\'' ? std::string("'\\''") : std::string(1, c); }
    return out + "'";
}

template <class T>
void append(std::string& bytes, T value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    bytes.append(raw, sizeof(T));
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "gpt2_test.XXXXXX").string();
    if (!mkdtemp(name.data())) {
        throw std::runtime_error("no temporary folder");
    }
    path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

void write_text(const fs::path& path, std::string_view text) {
    std::ofstream file(path, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    if (!file.flush()) {
        throw std::runtime_error(path.string() + " could not be written");
    }
}

std::string read_text(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw std::runtime_error(path.string() + " could not be read");
    }
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string safetensors_bytes(std::string_view header, std::string_view data) {
    std::string bytes;
    append(bytes, static_cast<std::uint64_t>(header.size()));
    return bytes.append(header).append(data);
}

std::string safetensors_bytes(std::span<const StoredTensor> tensors) {
    std::string header = "{", data;
    for (const StoredTensor& tensor : tensors) {
        const std::size_t begin = data.size();
        for (const float value : tensor.values) {
            switch (tensor.dtype) {
                case DType::f16:
                    append(data, half_from_float(value));
                    break;
                case DType::bf16:
                    append(data, bfloat16_from_float(value));
                    break;
                case DType::f64:
                    append(data, static_cast<double>(value));
                    break;
                default:
                    append(data, value);
            }
        }
        header += fmt::format(R"({}"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                              header.size() > 1 ? "," : "", tensor.name, checker::to_string(tensor.dtype),
                              fmt::join(tensor.shape, ","), begin, data.size());
    }
    header += "}";
    header.append((8 - header.size() % 8) % 8, ' ');
    return safetensors_bytes(header, data);
}

std::uint16_t half_from_float(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = bits >> 16 & 0x8000u, exponent = bits >> 23 & 0xffu, fraction = bits >> 13 & 0x3ffu;
    if (value == 0.0f) {
        return static_cast<std::uint16_t>(sign);
    }
    return static_cast<std::uint16_t>(sign | (exponent == 0xffu ? 0x1fu : exponent - 112) << 10 | fraction);
}

std::uint16_t bfloat16_from_float(float value) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}

TinyModel::TinyModel() : TinyModel(Config{.max_T = 6, .V = 11, .Vp = 128, .L = 2, .NH = 2, .C = 4}) {}

TinyModel::TinyModel(const Config& config_) : config(config_) {
    const auto add = [this](const std::string& name, std::vector<long> shape) {
        long n = 1;
        for (const long dim : shape) { n *= dim; }
        StoredTensor tensor{.name = name, .dtype = DType::f32, .shape = std::move(shape), .values = {}};
        for (long i = 0; i < n; i++) { tensor.values.push_back(value(name, i)); }
        tensors.push_back(std::move(tensor));
    };
    const long C = config.C;
    add("wte.weight", {config.V, C});
    add("wpe.weight", {config.max_T, C});
    for (int l = 0; l < config.L; l++) {
        const std::string h = fmt::format("h.{}.", l);
        for (const char* name :
             {"ln_1.weight", "ln_1.bias", "ln_2.weight", "ln_2.bias", "attn.c_proj.bias", "mlp.c_proj.bias"}) {
            add(h + name, {C});
        }
        add(h + "attn.c_attn.weight", {C, 3 * C});
        add(h + "attn.c_attn.bias", {3 * C});
        add(h + "attn.c_proj.weight", {C, C});
        add(h + "mlp.c_fc.weight", {C, 4 * C});
        add(h + "mlp.c_fc.bias", {4 * C});
        add(h + "mlp.c_proj.weight", {4 * C, C});
    }
    add("ln_f.weight", {C});
    add("ln_f.bias", {C});
}

float TinyModel::value(std::string_view name, long index) {
    const auto hash = static_cast<long>(std::hash<std::string_view>()(name) % 17);
    return static_cast<float>((hash + 5 * index) % 17 - 8) / 8.0f;
}

StoredTensor& TinyModel::at(std::string_view name) {
    const auto found = std::ranges::find(tensors, name, &StoredTensor::name);
    if (found == tensors.end()) {
        throw std::out_of_range(std::string(name));
    }
    return *found;
}

void TinyModel::remove(std::string_view name) {
    std::erase_if(tensors, [name](const StoredTensor& tensor) { return tensor.name == name; });
}

std::string TinyModel::config_json() const {
    return fmt::format(R"({{"model_type": "gpt2", "vocab_size": {}, "n_positions": {}, "n_embd": {}, "n_layer": {},
 "n_head": {}, "n_inner": null, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-05}})",
                       config.V, config.max_T, config.C, config.L, config.NH);
}

void TinyModel::save(const fs::path& dir, std::string_view prefix) const {
    std::vector<StoredTensor> stored = tensors;
    for (StoredTensor& tensor : stored) {
        if (tensor.name != "lm_head.weight") {
            tensor.name.insert(0, prefix);
        }
    }
    fs::create_directories(dir);
    write_text(dir / "config.json", config_json());
    write_text(dir / "model.safetensors", safetensors_bytes(stored));
}

Finished run_gpt2(const std::vector<std::string>& arguments, std::string_view output, std::string_view launcher) {
    const char* binary = std::getenv("GPT2_BINARY");
    const TemporaryFolder folder;
    write_text(folder / "out", "");
    std::string command = std::string(launcher) + " ";
    command += shell_quoted(fs::absolute(binary ? binary : "build/gpt2-host").string());
    for (const std::string& argument : arguments) { command += " " + shell_quoted(argument); }
    command += fmt::format(" < /dev/null 2> {} ", shell_quoted((folder / "err").string()));
    command += output.empty() ? "> " + shell_quoted((folder / "out").string()) : std::string(output);
    const int status = std::system(command.c_str());
    return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            .out = read_text(folder / "out"),
            .err = read_text(folder / "err")};
}

std::string message_of(const std::function<void()>& f) {
    try {
        f();
    } catch (const std::exception& error) { return error.what(); }
    return "";
}
