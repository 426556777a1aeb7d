// SPDX-License-Identifier: MIT
//
// Reads a GPT-2 of any size from a Hugging Face folder: config.json and model.safetensors (or its shards).
// Whatever is wrong there throws checker::FileError with one line: which file, what, how to mend it.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "checker/cases/safetensors.h"
#include "lessons/gpt2/config.h"
#include "lessons/gpt2/files.h"
#include "lessons/gpt2/tensors.h"

// Called as tensors arrive, with the bytes read so far and the bytes of them all.
using LoadProgress = std::function<void(std::size_t done, std::size_t total)>;

// Refuses every setting under which this program would not compute what the model was trained to compute.
Config load_config(const std::filesystem::path& dir);
Config parse_config(std::string_view json, const std::string& file);  // `file` is for messages

Parameters load_parameters(const std::filesystem::path& dir, const LoadProgress& progress = {}, const Note& note = {});

// The tensors of one model, from one file or several. Names may carry the prefix `transformer.`; storage is F32, F16 or
// BF16; the masks that published files hold are passed over, and with a note heads of other tasks; lm_head.weight may
// be there or stand for wte.weight, as the two are tied.
Parameters load_parameters(const Config& config, std::span<const checker::SafeTensors> files,
                           const LoadProgress& progress = {}, const Note& note = {});

// Returns true if `file` is one of the model's in `dir`, or would become one: config.json, weights, a tokeniser's.
bool is_file_of_model(const std::filesystem::path& dir, const std::filesystem::path& file);

float float_from_half(std::uint16_t bits);      // IEEE binary16
float float_from_bfloat16(std::uint16_t bits);  // the upper half of a float
