// SPDX-License-Identifier: MIT
//
// Runs forward passes when it is told to, so that a script can alternate them with another program's.
// Commands come a line each on standard input; each is answered by one line on standard output:
//   run           one forward pass without a loss; the answer is its seconds
//   logits FILE   the logits of that pass, (B, T, V) little-endian float32; the answer is `ok`
//   forward COUNT FILE, predict COUNT FILE    so many passes, one after another, whose results stay where the ops left them;
//                 or as many calls of predict(), tokens and logits on the host. The answer is the seconds of each, and FILE
//                 holds each sequence's last logits, (B, V)
#include <fmt/core.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "checker/base/file_error.h"
#include "lessons/gpt2/files.h"
#include "lessons/gpt2/loading.h"
#include "lessons/gpt2/placement.h"
#include "lessons/gpt2/tensors.h"
#include "lessons/gpt2/tokens.h"

namespace {

std::vector<int> read_tokens(const std::string& path, int B, int T, int V) {
    std::vector<int> tokens = read_int32_tokens(path);
    if (tokens.size() != static_cast<std::size_t>(B) * static_cast<std::size_t>(T)) {
        throw checker::FileError(fmt::format("{}: holds {} tokens, not B * T = {} * {}", path, tokens.size(), B, T));
    }
    for (const int token : tokens) {
        if (token < 0 || token >= V) {
            throw checker::FileError(fmt::format("{}: token {} is not in the vocabulary, 0 to {}", path, token, V - 1));
        }
    }
    return tokens;
}

// Columns of padding are left out.
void write_logits(const Activations& acts, const std::string& path) {
    const auto V = static_cast<std::size_t>(acts.config.V);
    const auto Vp = static_cast<std::size_t>(acts.config.Vp);
    const std::size_t rows = static_cast<std::size_t>(acts.B) * static_cast<std::size_t>(acts.T);
    std::vector<float> logits(rows * V);
    for (std::size_t n = 0; n < rows; n++) { std::copy_n(acts.logits + n * Vp, V, logits.data() + n * V); }
    write_file(path, std::as_bytes(std::span(logits)));
}

// "COUNT FILE" of a command.
struct Timed {
    int count = 0;
    std::string file;
};

Timed parse_timed(const std::string& line, const std::string& rest) {
    std::istringstream words(rest);
    Timed timed;
    if (!(words >> timed.count >> std::ws) || timed.count < 1 || !std::getline(words, timed.file)) {
        throw std::runtime_error(fmt::format("'{}': after the command come a number of passes and a file", line));
    }
    return timed;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Runs forward passes of a GPT-2 on command.", "gpt2-bench");
    std::string model, tokens_file;
    int B = 0, T = 0;
    app.add_option("--model", model, "a Hugging Face GPT-2 folder")->required();
    app.add_option("--tokens", tokens_file, "B * T int32 token ids, little-endian")->required();
    app.add_option("-B", B, "sequences")->required()->check(CLI::PositiveNumber);
    app.add_option("-T", T, "tokens in a sequence")->required()->check(CLI::PositiveNumber);
    CLI11_PARSE(app, argc, argv);
    try {
        Parameters params = load_parameters(model);
        if (T > params.config.max_T) {
            throw std::runtime_error(fmt::format("T={} is above the model's {}", T, params.config.max_T));
        }
        const std::vector<int> tokens = read_tokens(tokens_file, B, T, params.config.V);
        Activations acts(params.config, B, T);
        const std::unique_ptr<Placement> placement = make_placement(params, acts);
        std::vector<float> last(static_cast<std::size_t>(B) * static_cast<std::size_t>(params.config.V));  // (B, V)
        for (std::string line; std::getline(std::cin, line);) {
            if (line == "run") {
                const auto begin = std::chrono::steady_clock::now();
                placement->forward(acts, tokens.data(), nullptr);
                const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
                fmt::print("{}\n", seconds.count());
            } else if (line.starts_with("logits ")) {
                write_logits(acts, line.substr(7));
                fmt::print("ok\n");
            } else if (line.starts_with("forward ") || line.starts_with("predict ")) {
                const auto task = line[0] == 'f' ? Placement::Task::forward : Placement::Task::predict;
                const Timed timed = parse_timed(line, line.substr(8));
                const auto seconds = placement->time(task, timed.count, last.data(), acts, tokens.data());
                write_file(timed.file, std::as_bytes(std::span(last)));
                fmt::print("{}\n", fmt::join(seconds, " "));
            } else {
                throw std::runtime_error(fmt::format(
                    "unknown command '{}'; there are run, logits FILE, forward COUNT FILE, predict COUNT FILE", line));
            }
            std::fflush(stdout);
        }
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "gpt2-bench: {}\n", error.what());
        return 1;
    }
}
