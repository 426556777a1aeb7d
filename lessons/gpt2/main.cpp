// SPDX-License-Identifier: MIT
//
// gpt2: writes text with a GPT-2, one token after the other. Every token costs a forward pass over the text so far.
// Text goes to standard output, everything else to standard error. Exit status: 0, 1 for an error, 2 for wrong usage.
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <limits>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "checker/base/file_error.h"
#include "lessons/gpt2/embedded.h"
#include "lessons/gpt2/files.h"
#include "lessons/gpt2/loading.h"
#include "lessons/gpt2/model.h"
#include "lessons/gpt2/sampling.h"
#include "lessons/gpt2/tokenizer.h"
#include "lessons/gpt2/tokens.h"
#include "lessons/gpt2/utf8.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kByteVocabulary = 256;  // with this many tokens, a token is a byte
constexpr std::int64_t kMaxTokens = 1'000'000;
constexpr std::int64_t kMaxTopK = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kMaxText = 1u << 30;

struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Options {
    std::string model;  // empty: the embedded one
    std::optional<std::string> prompt;
    std::optional<std::string> tokens_in;
    std::int64_t tokens = 200;
    double temperature = 0.8;
    std::int64_t top_k = 0;
    double top_p = 1.0;
    std::int64_t seed = 1;
    std::optional<std::string> loss;
    std::vector<std::string> logits;  // empty, or IN and OUT
};

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

void print(std::string_view text) {
    write_all(STDOUT_FILENO, text, "standard output");
}

// Writes to standard error. What cannot be written there is lost: it must not change the result or the exit status.
void say(std::string_view text) {
    const auto before = std::signal(SIGPIPE, SIG_IGN);  // a reader may be gone
    while (!text.empty()) {
        const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
        if (n < 0 && errno != EINTR) {
            break;
        }
        text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    }
    std::signal(SIGPIPE, before);
}

// One line, also where a path in it holds a line feed or a terminal's escape sequence.
void note(std::string_view text) {
    std::string line = "gpt2: ";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        line += byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
    }
    say(line + "\n");
}

// The number that was typed, whole and within [low, high]; anything else is refused with the typed text and both ends.
template <class Number>
Number number(const char* option, const std::string& typed, Number low, Number high) {
    Number value{};
    const char* end = typed.data() + typed.size();
    const auto [stop, error] = std::from_chars(typed.data(), end, value);
    if (error != std::errc() || stop != end || !(value >= low && value <= high)) {
        throw UsageError(fmt::format("{} {}: must be a {} from {} to {}", option, typed.empty() ? "''" : typed,
                                     std::is_integral_v<Number> ? "whole number" : "number", low, high));
    }
    return value;
}

// Reports how far long work is, from its third second on: in place on a terminal, else a line every ten seconds.
class ProgressLine {
  public:
    explicit ProgressLine(std::string what) : what_(std::move(what)) {}
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ~ProgressLine() {
        if (shown_ && terminal_) {
            say("\r\033[K");
        }
    }
    void update(std::size_t done, std::size_t total) {
        const double now = seconds_since(start_);
        if (now < next_ || total == 0) {
            return;
        }
        next_ = now + (terminal_ ? 0.2 : 10.0);
        shown_ = true;
        const double percent = 100.0 * static_cast<double>(done) / static_cast<double>(total);
        say(fmt::format("{}gpt2: {}, {:.0f} %{}", terminal_ ? "\r" : "", what_, percent, terminal_ ? "" : "\n"));
    }

  private:
    std::string what_;
    Clock::time_point start_ = Clock::now();
    double next_ = 2.0;
    bool shown_ = false;
    bool terminal_ = isatty(STDERR_FILENO) != 0;
};

void add_options(CLI::App& app, Options& options) {
    app.add_option("--prompt", options.prompt, "the text to continue; - reads standard input")->type_name("TEXT");
    app.add_option("--tokens-in", options.tokens_in,
                   "token ids to continue: 15496,995, a file of them, or - for standard input")
        ->type_name("IDS|FILE");
    const auto add_number = [&app](const char* name, auto& value, auto low, auto high, const char* what) {
        const auto parse = [name, &value, low, high](const std::string& typed) {
            value = number<std::remove_reference_t<decltype(value)>>(name, typed, low, high);
        };
        app.add_option_function<std::string>(name, parse, what)->type_name("N")->default_str(fmt::format("{}", value));
    };
    constexpr std::int64_t kMaxSeed = std::numeric_limits<std::int64_t>::max();
    add_number("--tokens", options.tokens, 0, kMaxTokens, "how many tokens to write");
    add_number("--temperature", options.temperature, 0.0, 1000.0, "divides the logits; 0 takes the most likely token");
    add_number("--top-k", options.top_k, 0, kMaxTopK, "draw from the K most likely tokens only; 0: all");
    add_number("--top-p", options.top_p, 0.0, 1.0,
               "draw from the most likely tokens that reach probability P together");
    add_number("--seed", options.seed, 0, kMaxSeed, "the same seed gives the same text");
    app.add_option("--model", options.model, "a Hugging Face GPT-2 folder; without it, the small embedded model")
        ->type_name("DIR");
    app.add_option("--loss", options.loss, "print the mean loss of this text and stop; - is standard input")
        ->type_name("FILE");
    app.add_option("--logits", options.logits,
                   "read int32 token ids from IN, write float32 logits (T, V) to OUT, print the mean loss and stop")
        ->type_name("IN OUT")
        ->expected(2);
    app.footer(
        "Text is for models of 256 tokens, the bytes. For others Python prints the ids:\n"
        "  from transformers import AutoTokenizer\n"
        "  print(*AutoTokenizer.from_pretrained(\"DIR\").encode(\"TEXT\"))\n"
        "python3 ids.py | gpt2 --model DIR --tokens-in - goes on from them.");
}

// Returns true if a file written there would replace one of the model.
bool is_model_file(const std::string& model, const std::filesystem::path& file) {
    std::error_code none;
    return model.empty() ? std::filesystem::equivalent("/proc/self/exe", file, none) : is_file_of_model(model, file);
}

// What the parser cannot know: what excludes what.
void check_options(const CLI::App& app, const Options& options) {
    const auto refuse = [](const std::string& text) { throw UsageError(text); };
    if (options.top_p == 0.0) {
        refuse("--top-p 0: must be above 0 and at most 1");
    }
    if (app.count("--model") && options.model.empty()) {
        refuse("--model is empty; name a folder or leave it out");
    }
    if (options.prompt && options.prompt->empty()) {
        refuse("--prompt is empty; give at least one character to continue");
    }
    std::error_code none;
    const auto is_same = [&none](const std::string& in, const std::string& out) {
        return std::filesystem::equivalent(in == "-" ? "/dev/stdin" : in, out == "-" ? "/dev/stdout" : out, none);
    };
    if (!options.logits.empty() && ((options.logits[0] == options.logits[1] && options.logits[0] != "-") ||
                                    is_same(options.logits[0], options.logits[1]))) {
        refuse(fmt::format("--logits: IN and OUT are the same file, {}; name another one for OUT", options.logits[0]));
    }
    if (!options.logits.empty() && is_model_file(options.model, options.logits[1])) {
        refuse(fmt::format("--logits: OUT, {}, is a file of the model; name another one", options.logits[1]));
    }
    const int modes = (options.prompt ? 1 : 0) + (options.tokens_in ? 1 : 0) + (options.loss ? 1 : 0) +
                      (options.logits.empty() ? 0 : 1);
    if (modes > 1) {
        refuse("--prompt, --tokens-in, --loss and --logits exclude each other; give one of them");
    }
    if (modes == 0) {
        refuse("nothing to continue; give a text with --prompt \"...\", or --prompt - to read it");
    }
}

Parameters load(const Options& options) {
    if (options.model.empty()) {
        return load_embedded_model();
    }
    ProgressLine line(fmt::format("loading {}", options.model));
    return load_parameters(
        options.model, [&line](std::size_t done, std::size_t total) { line.update(done, total); }, note);
}

// Returns what tells the model's tokens from bytes, as the object of "it has"; nothing if a token is a byte.
std::optional<std::string> other_tokens(const Options& options, const Config& config) {
    if (config.V != kByteVocabulary) {
        return fmt::format("a vocabulary of {} tokens, not of the 256 bytes", config.V);
    }
    if (options.model.empty()) {
        return std::nullopt;
    }
    const std::optional<std::string> file = foreign_tokenizer(options.model);
    return file ? std::optional(fmt::format("a tokeniser ({}) that is not the 256 bytes in order", *file))
                : std::nullopt;
}

// Returns the Python expression for the ids of `text`, an expression too.
std::string python_ids(const Options& options, const Config& config, std::string_view text) {
    // Without a tokeniser in the folder, a vocabulary of GPT-2's size is taken for GPT-2's.
    const std::string name = has_tokenizer(options.model) ? options.model : config.V == 50257 ? "gpt2" : "NAME";
    return fmt::format("AutoTokenizer.from_pretrained(\"{}\").encode({})", name, text);
}

// Throws for a text given to a model whose tokens are not bytes.
[[noreturn]] void refuse_text(const Options& options, std::string_view other, std::string_view way_out) {
    throw UsageError(fmt::format("{} has {}, and turning text into such tokens is not yet supported; {}", options.model,
                                 other, way_out));
}

void print_logits(const Options& options, Parameters params) {
    const Config config = params.config;
    const std::vector<int> tokens = read_int32_tokens(options.logits[0], note);
    if (tokens.empty()) {
        throw checker::FileError(input_name(options.logits[0]) + ": holds no tokens; write at least one id");
    }
    const auto outside = std::ranges::find_if(tokens, [&config](int token) { return token < 0 || token >= config.V; });
    if (outside != tokens.end()) {
        throw checker::FileError(
            fmt::format("{}: token {} at position {} is not in the vocabulary, 0 to {}; write ids as int32, "
                        "numpy.array(ids, 'int32').tofile(...)",
                        input_name(options.logits[0]), *outside, outside - tokens.begin(), config.V - 1));
    }
    if (tokens.size() > static_cast<std::size_t>(config.max_T)) {
        throw checker::FileError(fmt::format("{}: holds {} tokens, but the context of this model is {}; use fewer",
                                             input_name(options.logits[0]), tokens.size(), config.max_T));
    }
    const std::size_t T = tokens.size();
    std::vector<int> targets(tokens.begin() + 1, tokens.end());
    targets.push_back(0);  // what follows the last token is unknown: its loss is not used

    Model model(std::move(params), static_cast<int>(T));
    const Activations& acts = model.run(tokens, targets);

    const auto V = static_cast<std::size_t>(config.V), Vp = static_cast<std::size_t>(config.Vp);
    std::vector<float> logits(T * V);  // (T, V): without the padding
    for (std::size_t t = 0; t < T; t++) { std::copy_n(acts.logits + t * Vp, V, logits.data() + t * V); }
    write_file(options.logits[1], std::as_bytes(std::span(logits)));

    double sum = 0.0;
    for (std::size_t t = 0; t + 1 < T; t++) { sum += static_cast<double>(acts.losses[t]); }
    const std::string loss = T > 1 ? fmt::format("loss {:.6f}", sum / static_cast<double>(T - 1))
                                   : "loss none (one token predicts no next one)";
    if (is_standard_output(options.logits[1])) {
        note(loss);  // not among the logits
    } else {
        print(loss + "\n");
    }
}

void print_loss(const Options& options, Parameters params) {
    const Config config = params.config;
    if (const auto other = other_tokens(options, config)) {
        refuse_text(options, *other,
                    fmt::format("--logits IN OUT prints the loss of token ids, until the planned tokeniser is there. "
                                "Python writes IN: import numpy; from transformers import AutoTokenizer; "
                                "numpy.array({}, \"int32\").tofile(\"IN\")",
                                python_ids(options, config, fmt::format("open(\"{}\").read()", *options.loss))));
    }
    const std::vector<int> tokens = tokens_of_bytes(read_input(*options.loss, kMaxText));
    if (tokens.size() < 2) {
        throw checker::FileError(input_name(*options.loss) + ": is too short; a loss needs at least two characters");
    }
    const Clock::time_point start = Clock::now();
    const auto window = static_cast<int>(std::min(tokens.size() - 1, static_cast<std::size_t>(config.max_T)));
    Model model(std::move(params), window);
    double loss = 0.0;
    {
        ProgressLine line(fmt::format("loss of {}", input_name(*options.loss)));
        loss = mean_loss(model, tokens, [&](std::size_t done, std::size_t total) { line.update(done, total); });
    }
    print(fmt::format("loss {:.6f}\n", loss));
    note(fmt::format("mean of {} predictions, in windows of {} tokens that do not overlap, {:.1f} s", tokens.size() - 1,
                     window, seconds_since(start)));
}

void write_text(const Options& options, Parameters params) {
    const Config config = params.config;
    const std::optional<std::string> other = other_tokens(options, config);
    const bool bytes = !other;
    if (other && options.prompt) {
        refuse_text(options, *other,
                    fmt::format("give their ids with --tokens-in, until the planned tokeniser is there. Python prints "
                                "them: from transformers import AutoTokenizer; print(*{})",
                                python_ids(options, config, "\"TEXT\"")));
    }
    std::vector<int> tokens;
    if (options.prompt) {
        tokens = tokens_of_bytes(*options.prompt == "-" ? read_input("-", kMaxText) : *options.prompt);
    } else {
        tokens = tokens_from_argument(*options.tokens_in, note);
    }
    if (tokens.empty()) {
        throw UsageError(options.prompt ? "--prompt: standard input is empty; give at least one character to continue"
                                        : "--tokens-in holds no token ids; give at least one to continue");
    }
    for (const int token : tokens) {
        if (token < 0 || token >= config.V) {
            throw UsageError(
                fmt::format("--tokens-in: token {} is not in the vocabulary, 0 to {}", token, config.V - 1));
        }
    }
    if (tokens.size() > static_cast<std::size_t>(config.max_T)) {
        note(fmt::format("the prompt has {} tokens, the context {}: only its last {} are looked at", tokens.size(),
                         config.max_T, config.max_T));
    }

    const auto longest = static_cast<std::int64_t>(tokens.size()) + std::max<std::int64_t>(options.tokens - 1, 0);
    Model model(std::move(params), static_cast<int>(std::min<std::int64_t>(longest, config.max_T)));
    const Sampling sampling{options.temperature, static_cast<int>(options.top_k), options.top_p};
    Random random(static_cast<std::uint64_t>(options.seed));
    Utf8Stream text;
    const auto shown = [&](std::span<const int> some) {
        std::string out;
        for (const int token : some) {
            out += bytes ? text.push(std::string(1, static_cast<char>(token))) : fmt::format("{} ", token);
        }
        return out;
    };

    print(shown(tokens));
    tokens.reserve(tokens.size() + static_cast<std::size_t>(options.tokens));
    const Clock::time_point start = Clock::now();
    for (std::int64_t i = 0; i < options.tokens; i++) {
        tokens.push_back(sample(model.next_logits(tokens), sampling, random));
        print(shown(std::span(tokens).last(1)));
    }
    const double seconds = seconds_since(start);
    print(text.finish() + "\n");
    if (options.tokens > 0) {
        note(fmt::format("{} tokens in {:.1f} s, {:.1f} tokens/s", options.tokens, seconds,
                         static_cast<double>(options.tokens) / seconds));
    }
}

// Ctrl-C ends the line that is being written, then the program, as the shell expects of a program that was interrupted.
void end_line_when_interrupted() {
    struct sigaction action {};
    if (sigaction(SIGINT, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) {
        return;  // started in the background: Ctrl-C is not meant for it
    }
    action.sa_handler = [](int signal) {
        [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, "\n", 1);
        raise(signal);  // delivered on return, by then with its default action
    };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, nullptr);
}

// Gives each standard descriptor that is closed one that can do nothing: a file of this program would get its number, and
// what is said to standard error would end up in it.
void occupy_closed_descriptors() {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(fd, F_GETFD) < 0) {
            [[maybe_unused]] const int opened = ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
}

int run(int argc, char** argv) {
    CLI::App app("gpt2 writes text with a GPT-2.", "gpt2");
    Options options;
    add_options(app, options);
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        print(app.help());
        return 0;
    } catch (const CLI::ParseError& error) {
        throw UsageError(fmt::format("{}; gpt2 --help lists the options", error.what()));
    }
    check_options(app, options);
    end_line_when_interrupted();

    Parameters params = load(options);
    if (!options.logits.empty()) {
        print_logits(options, std::move(params));
    } else if (options.loss) {
        print_loss(options, std::move(params));
    } else {
        write_text(options, std::move(params));
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    occupy_closed_descriptors();
    std::signal(SIGXFSZ, SIG_IGN);  // a file beyond the shell's limit is an error that write() reports
    try {
        return run(argc, argv);
    } catch (const UsageError& error) {
        note(error.what());
        return 2;
    } catch (const std::bad_alloc&) {
        note("out of memory; use a smaller model or fewer tokens");
    } catch (const std::exception& error) { note(error.what()); }
    return 1;
}
