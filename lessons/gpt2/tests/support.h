// SPDX-License-Identifier: MIT
//
// What the tests of lessons/gpt2 share: temporary folders, small safetensors files and models, running the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checker/cases/safetensors.h"
#include "lessons/gpt2/config.h"

// A folder that is gone at the end of the test.
class TemporaryFolder {
  public:
    TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder();
    std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

void write_text(const std::filesystem::path& path, std::string_view text);
std::string read_text(const std::filesystem::path& path);

// The bytes of a safetensors file from its parts: the JSON as given, and whatever follows it.
std::string safetensors_bytes(std::string_view header, std::string_view data);

// A tensor to write. The values are stored in the given dtype: F32, F16, BF16 or F64.
struct StoredTensor {
    std::string name;
    checker::DType dtype = checker::DType::f32;
    std::vector<long> shape;
    std::vector<float> values;
};
std::string safetensors_bytes(std::span<const StoredTensor> tensors);

std::uint16_t half_from_float(float value);      // for values that binary16 holds exactly
std::uint16_t bfloat16_from_float(float value);  // rounds towards zero

// A GPT-2 as Hugging Face would save it, small, every value a multiple of 1/8 in [-1, 1] that binary16 and bfloat16
// hold exactly: value() tells which, so that a test can ask where an element went.
struct TinyModel {
    Config config{.max_T = 6, .V = 11, .Vp = 128, .L = 2, .NH = 2, .C = 4};
    std::vector<StoredTensor> tensors;  // names without the prefix, Conv1D weights (in, out)

    TinyModel();
    explicit TinyModel(const Config& config_);
    static float value(std::string_view name, long index);
    StoredTensor& at(std::string_view name);
    void remove(std::string_view name);
    std::string config_json() const;
    void save(const std::filesystem::path& dir, std::string_view prefix = "transformer.") const;
};

// What a finished program left behind.
struct Finished {
    int status = -1;  // exit status, or 128 + the signal that ended it
    std::string out;
    std::string err;
};

// Runs the gpt2 program (environment GPT2_BINARY, else the newest host step, build/gpt2-host) to its end. `output` says in the shell's words
// where its standard output goes, `launcher` is put before its name.
Finished run_gpt2(const std::vector<std::string>& arguments, std::string_view output = "",
                  std::string_view launcher = "");

// The message of the std::exception that f throws, or "" where it throws none.
std::string message_of(const std::function<void()>& f);
