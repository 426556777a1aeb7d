// SPDX-License-Identifier: MIT
//
// simtcc: the compiler driver of the CPU device. Each .cu is preprocessed, lowered (lower.h), and compiled with the hooks
// that checker/simt/runtime answers; host files are compiled as they are. The stand-in headers, which are most of a
// small kernel's text, are read precompiled. What g++ says of a file it says of the text before its macros were expanded.
#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "checker/simt/driver/absent_headers.h"
#include "checker/simt/driver/arithmetic.h"
#include "checker/simt/driver/host_calls.h"
#include "checker/simt/driver/options.h"
#include "checker/simt/lower/lower.h"

namespace {

namespace fs = std::filesystem;
using Command = std::vector<std::string>;

// The flags with which every kernel is compiled. no-gnu-unique: two shared objects may have kernels of the same name.
// no-volatile: C++20 deprecates what kernels that poll or lock use. wrapv: an index that overflows goes wrong as it
// does on a GPU. stack-clash-protection: a frame that is larger than a thread's stack touches the page that guards it,
// and not another thread's stack behind.
constexpr const char* kKernelFlags[] = {
    "-g", "-fwrapv", "-fno-gnu-unique", "-fstack-clash-protection", "-Wno-unknown-pragmas", "-Wno-volatile"};

// The reason for each: -O1 without the passes that split, merge or move accesses, so that one access in the source is
// one hook; without the pass that puts an instruction in place of a call of sqrt, which is counted (simt/special_functions.h);
// thread: a call before each access; bounds: for a thread's own arrays, whose accesses have no hook.
constexpr const char* kCheckedFlags[] = {"-O1",
                                         "-fno-tree-sra",
                                         "-fno-tree-vectorize",
                                         "-fno-reorder-blocks",
                                         "-fno-thread-jumps",
                                         "-fno-tree-builtin-call-dce",
                                         "-fsanitize=thread",
                                         "--param",
                                         "tsan-distinguish-volatile=1",
                                         "--param",
                                         "tsan-instrument-func-entry-exit=0",
                                         "-fsanitize=bounds"};
// Without the pass that copies code after a branch, barriers included: threads would wait at different barriers.
constexpr const char* kUncheckedFlags[] = {"-O2", "-fno-thread-jumps"};
constexpr const char* kDebuggerFlags[] = {"-O0"};

// Without g++'s search for calls of free and delete that do not fit: it reads the names of operator new and delete, and
// crashes at those that the stand-in headers give them (simt/before_libc.h).
constexpr const char* kAllFlags[] = {"-Wno-free-nonheap-object", "-Wno-mismatched-dealloc",
                                     "-Wno-mismatched-new-delete"};

// A folder of our own that is gone when the driver ends.
class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::string pattern = (fs::temp_directory_path() / "simtcc-XXXXXX").string();
        if (mkdtemp(pattern.data()) == nullptr) {
            throw std::runtime_error("no temporary folder: " + std::string(std::strerror(errno)));
        }
        path_ = pattern;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    fs::path operator/(const std::string& name) const { return path_ / name; }

  private:
    fs::path path_;
};

// Where simtcc was built: build/simtcc, beside checker/.
struct Installation {
    fs::path build = fs::read_symlink("/proc/self/exe").parent_path();
    fs::path headers = build.parent_path() / "checker/simt/include";
    fs::path lower = build / "simt-lower";
    fs::path runtime = build / "lib/libsimt.a";
    fs::path libraries = build / "lib/libsimt_libraries.a";
    fs::path precompiled = build / "headers";
    fs::path toolkit = build / "cuda";  // laid out as nvcc's
    fs::path absent;                    // headers that the device does not have; empty: the program includes none
    std::string compiler = std::getenv("CXX") != nullptr ? std::getenv("CXX") : "g++";
};

struct Failed {  // a command ended badly and has said why
    int status = 0;
};

// A signal that asks simtcc to end is passed to the command that runs; then the folder is removed, and the signal ends
// simtcc.
volatile std::sig_atomic_t asked_to_end = 0;
volatile std::sig_atomic_t running = 0;

void pass_on(int signal) {
    asked_to_end = signal;
    if (running != 0) {
        kill(running, signal);
    }
}

// What the command says goes to a file, if one is given.
void run(const Command& command, bool verbose, const fs::path& errors = {}) {
    std::vector<char*> arguments;
    for (const std::string& word : command) { arguments.push_back(const_cast<char*>(word.c_str())); }
    arguments.push_back(nullptr);
    if (verbose) {
        for (const std::string& word : command) { std::fprintf(stderr, "%s ", word.c_str()); }
        std::fputc('\n', stderr);
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (!errors.empty()) {
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    }
    pid_t child = 0;
    const int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        throw std::runtime_error(command[0] + " cannot be started: " + std::strerror(error));
    }
    running = child;
    if (asked_to_end != 0) {
        kill(child, asked_to_end);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    running = 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || asked_to_end != 0) {
        throw Failed{WIFEXITED(status) ? WEXITSTATUS(status) : -1};
    }
}

std::string text_of(const fs::path& name) {
    std::stringstream text;
    text << std::ifstream(name).rdbuf();
    return text.str();
}

void append(Command& command, const auto& words) {
    command.insert(command.end(), std::begin(words), std::end(words));
}

bool is_position_independent(const simt::Options& options) {
    return options.shared ||
           std::find(options.compile.begin(), options.compile.end(), "-fPIC") != options.compile.end();
}

// The stand-in headers use concepts, which g++ has in C++17 on demand.
Command common_flags(const simt::Options& options) {
    Command flags = {"-std=" + options.standard};
    if (options.standard.ends_with("++17")) {
        flags.push_back("-fconcepts");
    }
    append(flags, kAllFlags);
    return flags;
}

// Returns true if checked kernels note where they compute in double: a call before each such block of instructions.
bool counts_doubles(const simt::Options& options) {
    return options.checked && !options.for_debugger && !options.arithmetic;
}

// The options that decide how a kernel's code looks, except for the user's own.
Command kernel_flags(const simt::Options& options) {
    Command flags = common_flags(options);
    if (is_position_independent(options)) {
        flags.push_back("-fPIC");
    }
    append(flags, kKernelFlags);
    if (options.for_debugger) {
        append(flags, kDebuggerFlags);
    } else if (options.checked) {
        append(flags, kCheckedFlags);
    } else {
        append(flags, kUncheckedFlags);
    }
    if (options.arithmetic) {
        append(flags, simt::kArithmeticFlags);
    } else if (counts_doubles(options)) {
        flags.emplace_back(simt::kCallFlag);
    }
    // Headers are read as if these flags were not there: so they have neither glibc's inline functions nor libstdc++'s
    // calls of a sanitizer.
    append(flags, std::vector<std::string>{"-U__OPTIMIZE__", "-U__SANITIZE_THREAD__"});
    return flags;
}

// What the stand-in headers are told of the options: only the preprocessor may know these.
Command told_headers(const simt::Options& options) {
    Command told;
    if (!options.checked) {
        told.push_back("-D__SIMT_UNCHECKED__");
    }
    if (options.arithmetic) {
        told.push_back("-D__SIMT_ARITHMETIC__");
    }
    return told;
}

Command host_flags(const simt::Options& options) {
    Command flags = common_flags(options);
    append(flags, std::vector<std::string>{options.optimise, "-g"});
    if (options.shared) {
        flags.push_back("-fPIC");
    }
    return flags;
}

// Of a C file, which the C++ compiler's driver compiles as C.
Command c_flags(const simt::Options& options) {
    Command flags = {"-x", "c", options.optimise, "-g"};
    if (options.shared) {
        flags.push_back("-fPIC");
    }
    return flags;
}

// Returns true if precompiled headers fit the user's own options. Options of warnings and of messages change nothing in them,
// and the compiler notices by itself if a macro is defined. Other options (-Xcompiler -O3) it may notice too late.
bool take_compiled_headers(const simt::Options& options) {
    return std::all_of(options.compile.begin(), options.compile.end(), [](const std::string& option) {
        return option.starts_with("-W") || option == "-w" || option == "-fPIC" ||
               option.starts_with("-fdiagnostics-") || option.starts_with("-ftemplate-backtrace-limit=");
    });
}

// Whether it is at least as new as everything that it is made from.
bool is_current(const fs::path& compiled, const Installation& here) {
    std::error_code missing;
    const auto made = fs::last_write_time(compiled, missing);
    if (missing || made < fs::last_write_time(fs::read_symlink("/proc/self/exe"))) {
        return false;
    }
    const fs::recursive_directory_iterator headers(here.headers);
    return std::all_of(begin(headers), end(headers),
                       [&](const fs::directory_entry& header) { return header.last_write_time() <= made; });
}

// One process at a time makes a header; the others wait for it. Where the file cannot be made, nobody waits.
class Turn {
  public:
    explicit Turn(const fs::path& file) : file_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
        while (file_ >= 0 && flock(file_, LOCK_EX) != 0 && errno == EINTR && asked_to_end == 0) {}
    }
    ~Turn() {
        if (file_ >= 0) {
            close(file_);
        }
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

  private:
    int file_;
};

bool has_openmp(const simt::Options& options) {
    return std::find(options.compile.begin(), options.compile.end(), "-fopenmp") != options.compile.end();
}

// The names of headers to include, a line each.
std::string inclusions(const simt::Options& options) {
    std::string text = "#include <cuda_runtime.h>\n";
    for (const std::string& included : options.included) { text += "#include <" + included + ">\n"; }
    return text;
}

// Compiles a header for the compilers that include it: into `compiled`, or not at all.
void precompile(const fs::path& header, const std::string& compiled, const Command& user_flags,
                const simt::Options& options, const Installation& here) {
    Command making = {here.compiler};
    append(making, kernel_flags(options));
    append(making, user_flags);
    append(making, told_headers(options));
    append(making, std::vector<std::string>{"-I" + here.headers.string(), "-MMD", "-MF", compiled + ".d", "-x",
                                            "c++-header", header.string(), "-o", compiled});
    try {
        run(making, options.verbose);
        fs::remove(compiled + ".d");
    } catch (...) {
        fs::remove(compiled);
        fs::remove(compiled + ".d");
        throw;
    }
}

// The header in simtcc's own folder that is included before a kernel's file. What it includes lies beside it, compiled
// once for each set of flags. Returns nothing where the folder cannot be written.
std::optional<fs::path> shared_header(const simt::Options& options, const Installation& here) {
    const std::string mode = options.for_debugger ? "debugger"
                             : options.arithmetic ? "arithmetic"
                             : options.checked    ? "checked"
                                                  : "unchecked";
    const std::string position = is_position_independent(options) ? "-pic" : "";
    std::string folder = mode + position + '-' + options.standard;
    for (const std::string& included : options.included) { folder += '-' + included; }
    const fs::path header = here.precompiled / folder / "cuda.h";
    const fs::path compiled = header.string() + ".gch";
    if (is_current(compiled, here)) {
        return header;
    }
    std::error_code unwritable;
    fs::create_directories(header.parent_path(), unwritable);
    const Turn turn(header.parent_path() / "turn");
    if (is_current(compiled, here)) {
        return header;
    }
    // Others read what is there meanwhile, so it is made under another name. The header keeps its time, because objects
    // depend on it.
    const std::string mine = compiled.string() + '.' + std::to_string(getpid());
    if (!fs::exists(header)) {
        if (!(std::ofstream(mine) << inclusions(options))) {
            return std::nullopt;
        }
        fs::rename(mine, header);
    }
    precompile(header, mine, {}, options, here);
    fs::rename(mine, compiled);
    return header;
}

// The header for this one call, made with its options and macros.
fs::path own_header(const simt::Options& options, const Installation& here, const TemporaryFolder& folder) {
    const fs::path header = folder / "cuda.h";
    if (!fs::exists(header)) {
        std::ofstream(header) << inclusions(options);
        Command flags = options.compile;
        std::copy_if(options.preprocess.begin(), options.preprocess.end(), std::back_inserter(flags),
                     [](const std::string& option) { return option.starts_with("-D") || option.starts_with("-U"); });
        precompile(header, header.string() + ".gch", flags, options, here);
    }
    return header;
}

bool is_toolkit(const fs::path& folder) {
    std::error_code unreadable;
    return fs::exists(folder / "cuda_runtime_api.h", unreadable);
}

// The user's own folders come before the device's, but for the toolkit's: its headers are not read.
void append_preprocessor(Command& command, const simt::Options& options, const Installation& here) {
    Command toolkit;
    for (const std::string& option : options.preprocess) {
        (option.starts_with("-I") && is_toolkit(option.substr(2)) ? toolkit : command).push_back(option);
    }
    command.push_back("-I" + here.headers.string());
    if (!here.absent.empty()) {
        command.push_back("-I" + here.absent.string());
    }
    append(command, toolkit);
}

// Returns the folder for the program's absent headers, a name for each set of them: make may depend on them.
fs::path folder_of(const std::set<std::string>& headers, const Installation& here, const TemporaryFolder& temporary) {
    std::string names;
    for (const std::string& header : headers) { names += header + '\n'; }
    fs::path folder = here.precompiled / "absent" / std::to_string(std::hash<std::string>()(names));
    std::error_code unwritable;
    fs::create_directories(folder, unwritable);
    return access(folder.c_str(), W_OK) == 0 ? folder : temporary / "absent";
}

// Writes the headers that the program includes, and that are the toolkit's and not the device's.
fs::path write_absent_headers(const simt::Options& options, const Installation& here,
                              const TemporaryFolder& temporary) {
    std::vector<fs::path> files(options.sources.begin(), options.sources.end()), folders = {here.headers};
    for (std::size_t i = 0; i < options.preprocess.size(); i++) {
        const std::string& option = options.preprocess[i];
        if (option == "-include" || option == "-isystem") {
            (option == "-include" ? files : folders).emplace_back(options.preprocess[++i]);
        } else if (option.starts_with("-I") && !is_toolkit(option.substr(2))) {
            folders.emplace_back(option.substr(2));
        }
    }
    std::set<std::string> headers = simt::absent_includes(files, folders);
    std::erase_if(headers, [](const std::string& name) { return simt::absent_header(name).empty(); });
    if (headers.empty()) {
        return {};
    }
    const fs::path folder = folder_of(headers, here, temporary);
    for (const std::string& name : headers) {
        const fs::path header = folder / name;
        const std::string text = simt::absent_header(name);
        if (text_of(header) != text) {  // another process may read it meanwhile
            fs::create_directories(header.parent_path());
            const std::string mine = header.string() + '.' + std::to_string(getpid());
            std::ofstream(mine) << text;
            fs::rename(mine, header);
        }
    }
    return folder;
}

// g++ dies of an internal error where a constant index lies gigabytes outside a __shared__ array. Its warning about
// such an index, which takes a pass that the checks do without, says which; the note that follows names the array.
void explain_internal_error(Command compiling, const TemporaryFolder& folder, bool verbose) {
    const fs::path said = folder / "said";
    append(compiling, std::vector<std::string>{"-ftree-vrp", "-Warray-bounds", "-fno-diagnostics-show-option",
                                               "-fno-diagnostics-show-caret"});
    try {
        run(compiling, verbose, said);
    } catch (const Failed&) {}
    std::ifstream in(said);
    std::string found;
    for (std::string line; std::getline(in, line);) {
        const std::size_t warning = line.find(" warning: array subscript"), note = line.find(" note: at offset");
        if (warning != std::string::npos && found.empty()) {
            found = line.substr(0, warning) + " out_of_bounds:" + line.substr(line.find(": ", warning) + 1);
        } else if (note != std::string::npos && !found.empty()) {
            found += ',' + line.substr(line.find(": ", note) + 1);
            break;
        }
    }
    if (!found.empty()) {
        throw std::runtime_error(found + "; g++ dies of it");
    }
}

// Counts in the text that the compiler has made.
void count_arithmetic(const std::string& assembly, simt::Counted counted) {
    const std::string text = text_of(assembly);
    std::ofstream out(assembly);
    out << simt::with_arithmetic_counted(text, counted);
    out.close();
    if (!out) {
        throw std::runtime_error(assembly + ": cannot be written");
    }
}

// A host file is only looked at for what the device lacks, and compiled as it is.
void compile_host(const simt::Options& options, const Installation& here, const TemporaryFolder& folder,
                  const std::string& source, const std::string& object) {
    const bool c = fs::path(source).extension() == ".c";
    Command reading = {here.compiler};
    append(reading, c ? c_flags(options) : host_flags(options));
    append_preprocessor(reading, options, here);
    append(reading, told_headers(options));
    if (!options.dependencies.empty()) {
        append(reading, std::vector<std::string>{"-MMD", "-MP", "-MF", options.dependencies, "-MT", object});
    }
    if (!c) {
        const std::string read = (folder / "read.ii").string();
        Command looking = reading;
        append(looking, options.compile);
        append(looking, std::vector<std::string>{"-E", source, "-o", read});
        run(looking, options.verbose);
        run({here.lower.string(), read, "--host"}, options.verbose);
    }
    append(reading, options.compile);
    append(reading, std::vector<std::string>{"-c", source, "-o", object});
    run(reading, options.verbose);
}

// A file on its way through the compilers. `expanded` is what is compiled. `written` keeps the macros, so that g++
// quotes the lines that the user has written; a construct that only the expanded text shows is not lowered in it.
// `host` is expanded too, and only read: without __CUDA_ARCH__.
enum class Text { expanded, written, host };

class Kernels {
  public:
    Kernels(const simt::Options& options, const Installation& here, const TemporaryFolder& folder, std::string source,
            std::string object)
        : options_(options), here_(here), folder_(folder), source_(std::move(source)), object_(std::move(object)) {}

    void compile() {
        lower(Text::expanded);
        const bool compiled = compiles(Text::expanded, object());
        const std::string said = said_of_it(Text::expanded);
        if (compiled && said.empty()) {
            finish();
            return;
        }
        const bool as_written = compiles_as_written();
        const std::string said_as_written = said_of_it(Text::written);
        // A warning may be of the expanded text alone. Then the compiler is asked again, without warnings.
        if (compiled || (as_written && compiles(Text::expanded, object(), {"-w"}))) {
            std::fputs((as_written ? said_as_written : said).c_str(), stderr);
            finish();
            return;
        }
        std::fputs((!as_written && is_about_the_same(said_as_written, said) ? said_as_written : said).c_str(), stderr);
        fs::remove(object_);
        throw Failed{1};
    }

  private:
    fs::path file(Text text, const std::string& ending) const {
        return folder_ / ((text == Text::expanded ? "expanded" : text == Text::written ? "written" : "host") + ending);
    }
    fs::path said_of(Text text) const { return file(text, ".said"); }
    std::string object() const { return counts() ? (folder_ / "kernels.s").string() : object_; }

    // Returns the compiler's messages about a text, without the names that simt-lower has made.
    std::string said_of_it(Text text) const {
        std::string said = text_of(said_of(text));
        for (std::size_t at = 0; (at = said.find(simt::kExternShared)) != std::string::npos;) {
            said.erase(at, simt::kExternShared.size());
        }
        return said;
    }

    // A header that is included before the file, and before what -include names.
    void read(Text text, const fs::path& header) {
        Command reading = {here_.compiler};
        append(reading, kernel_flags(options_));
        append(reading, options_.compile);
        append(reading, std::vector<std::string>{"-include", header.string()});
        if (text == Text::written) {
            reading.push_back("-fdirectives-only");
        } else {
            append(reading, std::vector<std::string>{"-include", (here_.headers / "simt/kept_words.h").string()});
        }
        if (text == Text::host) {
            append(reading, std::vector<std::string>{"-include", (here_.headers / "simt/host_side.h").string()});
        }
        append_preprocessor(reading, options_, here_);
        append(reading, told_headers(options_));
        if (text == Text::expanded && !options_.dependencies.empty()) {
            // pch-deps: without a list to write them to, the compiler crashes.
            append(reading,
                   std::vector<std::string>{"-MMD", "-MP", "-MF", options_.dependencies, "-MT", object_, "-fpch-deps"});
        }
        append(reading, std::vector<std::string>{"-fpch-preprocess", "-E", "-x", "c++", source_, "-o",
                                                 file(text, ".read.ii").string()});
        run(reading, options_.verbose, text == Text::written ? said_of(text) : fs::path());
    }

    // A lowered file holds words that are macros of the stand-in headers. It has them from a precompiled header, as that
    // keeps macros, and from no other. The compiler does not take one that was made without a macro of this call. Returns
    // what was read.
    std::string read(Text text) {
        const std::optional<fs::path> shared =
            take_compiled_headers(options_) ? shared_header(options_, here_) : std::nullopt;
        if (shared) {
            read(text, *shared);
            std::string found = text_of(file(text, ".read.ii"));
            if (found.find("#pragma GCC pch_preprocess") != std::string::npos) {
                return found;
            }
        }
        read(text, own_header(options_, here_, folder_));
        return text_of(file(text, ".read.ii"));
    }

    void lower(Text text) {
        const std::string found = read(text);
        Command lowering = {here_.lower.string(), file(text, ".read.ii").string(), file(text, ".ii").string()};
        if (options_.for_debugger) {
            lowering.push_back("--for-debugger");
        }
        if (options_.relocatable) {
            lowering.push_back("--relocatable");
        }
        if (options_.relaxed_constexpr) {
            lowering.push_back("--relaxed-constexpr");
        }
        if (text == Text::expanded) {
            fs::remove(uses());  // the source before this one has left them
            append(lowering, std::vector<std::string>{"--host-uses", marked().string(), uses().string()});
            if (mentions_architecture(found)) {
                read(Text::host);
                append(lowering, std::vector<std::string>{"--host-side", file(Text::host, ".read.ii").string()});
            }
        }
        run(lowering, options_.verbose, text == Text::written ? said_of(text) : fs::path());
    }

    // Returns true if a file that is not the system's mentions __CUDA_ARCH__, by which nvcc's two compilations differ.
    static bool mentions_architecture(const std::string& read) {
        static const std::regex kMarker(R"x(# [0-9]+ "([^"<]+)"[ 12]*)x");
        std::set<std::string> files;
        std::istringstream lines(read);
        for (std::string line; std::getline(lines, line);) {
            std::smatch marker;
            if (line.starts_with("# ") && std::regex_match(line, marker, kMarker)) {
                files.insert(marker.str(1));
            }
        }
        return std::any_of(files.begin(), files.end(), [](const std::string& name) {
            return text_of(name).find("__CUDA_ARCH__") != std::string::npos;
        });
    }

    // The text in which functions of the host are marked that kernels may call, and where the names stand (simt-lower).
    fs::path marked() const { return folder_ / "marked.ii"; }
    fs::path uses() const { return folder_ / "uses"; }

    // Says in nvcc's words where code of the device calls a function of the host.
    void refuse_host_functions() {
        if (!fs::exists(uses())) {
            return;
        }
        Command asking = {here_.compiler};
        append(asking, kernel_flags(options_));
        append(asking, options_.compile);
        append(asking,
               std::vector<std::string>{"-fdiagnostics-plain-output", "-Wdeprecated-declarations", "-fpreprocessed",
                                        "-fdirectives-only", "-fsyntax-only", "-x", "c++", marked().string()});
        try {
            run(asking, options_.verbose, said_of(Text::written));
        } catch (const Failed&) {
            if (asked_to_end != 0) {
                throw;
            }
        }
        const simt::RefusedCalls refused = simt::refused_calls(text_of(said_of(Text::written)), text_of(uses()));
        std::fputs(refused.text.c_str(), stderr);
        if (refused.is_error) {
            fs::remove(object_);  // as the compiler does: make would take it for current
            throw Failed{1};
        }
    }

    // Makes the compiler preprocess the expanded text, and returns the file that it is to read. g++ 13 and later ignore
    // `#pragma omp` in preprocessed files whose macros they expand, and a lowered file has macros. -include takes the place
    // of the pragma that names the precompiled header, and the macros of this call are those that the header was made with.
    fs::path take_header_by_option(Command& compiling) const {
        static const std::regex kHeader(R"x(#pragma GCC pch_preprocess "([^"\n]+)\.gch"[^\n]*)x");
        const std::string lowered = text_of(file(Text::expanded, ".ii"));
        std::smatch header;
        if (!std::regex_search(lowered, header, kHeader)) {
            throw std::runtime_error(file(Text::expanded, ".ii").string() + " names no precompiled header");
        }
        append_preprocessor(compiling, options_, here_);
        append(compiling, told_headers(options_));
        append(compiling, std::vector<std::string>{"-include", header.str(1)});
        const fs::path without_header = file(Text::expanded, ".openmp.ii");
        std::ofstream(without_header) << header.prefix() << header.suffix();
        return without_header;
    }

    // Writes the compiler's messages to the text's own file.
    bool compiles(Text text, const std::string& into, const Command& more = {}) {
        Command compiling = {here_.compiler};
        append(compiling, kernel_flags(options_));
        append(compiling, options_.compile);
        append(compiling, more);
        if (isatty(STDERR_FILENO) != 0) {
            compiling.push_back("-fdiagnostics-color=always");
        }
        fs::path reads = file(text, ".ii");
        if (text == Text::expanded && has_openmp(options_)) {
            reads = take_header_by_option(compiling);
        } else {
            append(compiling, std::vector<std::string>{"-fpreprocessed", "-fdirectives-only"});
        }
        append(compiling, std::vector<std::string>{"-pass-exit-codes", "-x", "c++", counts() ? "-S" : "-c",
                                                   reads.string(), "-o", into});
        try {
            run(compiling, options_.verbose, said_of(text));
            return true;
        } catch (const Failed& failed) {
            constexpr int kInternalError = 4;
            if (asked_to_end != 0) {
                throw;
            }
            if (failed.status == kInternalError) {
                explain_internal_error(compiling, folder_, options_.verbose);
            }
            return false;
        }
    }

    bool compiles_as_written() {
        try {
            lower(Text::written);
        } catch (const Failed&) {
            if (asked_to_end != 0) {
                throw;
            }
            return false;
        }
        return compiles(Text::written, (folder_ / "written.o").string());
    }

    // Returns whether the first error of the one is at a line of which the other has an error too. simt-lower's errors
    // have no column: what it does not read as it is written says nothing of the text that is compiled.
    static bool is_about_the_same(const std::string& one, const std::string& other) {
        static const std::regex kError(R"((?:^|\n)([^\n]+:[0-9]+:)[0-9]+: (?:fatal )?error:)");
        std::smatch first;
        return std::regex_search(one, first, kError) && other.find(first.str(1)) != std::string::npos;
    }

    bool counts() const { return options_.arithmetic || counts_doubles(options_); }

    void finish() {
        refuse_host_functions();
        if (counts()) {
            count_arithmetic(object(), options_.arithmetic ? simt::Counted::all : simt::Counted::of_doubles);
            run({here_.compiler, "-c", object(), "-o", object_}, options_.verbose);
        }
    }

    const simt::Options& options_;
    const Installation& here_;
    const TemporaryFolder& folder_;
    std::string source_, object_;
};

void compile(const simt::Options& options, const Installation& here, const TemporaryFolder& folder,
             const std::string& source, const std::string& object) {
    if (options.all_cuda || fs::path(source).extension() == ".cu") {
        Kernels(options, here, folder, source, object).compile();
    } else {
        compile_host(options, here, folder, source, object);
    }
}

// Tells build tools what they ask nvcc: CMake looks for these lines.
void describe(const Installation& here) {
    const std::string toolkit = here.toolkit.string();
    const char* const path = std::getenv("PATH");
    std::fprintf(stderr,
                 "#$ TOP=%s\n#$ NVVMIR_LIBRARY_DIR=%s/nvvm/libdevice\n#$ PATH=%s\n#$ INCLUDES=\"-I%s/include\"\n"
                 "#$ LIBRARIES=\"-L%s/lib64\"\n#$ simt-lower -arch compute_90\n",
                 toolkit.c_str(), toolkit.c_str(), path == nullptr ? "" : path, toolkit.c_str(), toolkit.c_str());
}

// The two lines from which CMake learns how to link: by simtcc itself, and what a link by the C++ compiler needs besides.
void describe_link(const Installation& here) {
    const std::string libraries = (here.toolkit / "lib64").string();
    std::fprintf(stderr, "#$ \"%s\" \"-L%s\" -lcudadevrt -lcudart_static -lrt -lpthread -ldl\nld -L%s\n",
                 fs::read_symlink("/proc/self/exe").c_str(), libraries.c_str(), libraries.c_str());
}

// Writes what the preprocessor makes of a file, or the rule for make.
void preprocess(const simt::Options& options, const Installation& here, const std::string& source) {
    const bool cuda = options.all_cuda || fs::path(source).extension() == ".cu";
    const bool c = !cuda && fs::path(source).extension() == ".c";
    Command command = {here.compiler};
    append(command, cuda ? kernel_flags(options) : c ? c_flags(options) : host_flags(options));
    append_preprocessor(command, options, here);
    append(command, told_headers(options));
    append(command, options.compile);
    if (cuda) {
        append(command, std::vector<std::string>{"-include", "cuda_runtime.h", "-x", "c++"});
    }
    if (options.product == simt::Product::preprocessed) {
        command.emplace_back("-E");
    } else {
        command.emplace_back(options.system_dependencies ? "-M" : "-MM");
        if (!options.target.empty()) {
            append(command, std::vector<std::string>{"-MT", options.target});
        }
    }
    command.push_back(source);
    const std::string& output = options.output.empty() ? options.dependencies : options.output;
    if (!output.empty()) {
        append(command, std::vector<std::string>{"-o", output});
    }
    run(command, options.verbose);
}

void archive(const simt::Options& options, const std::vector<std::string>& objects) {
    Command command = {"ar", "rcs", options.output.empty() ? "a.a" : options.output};
    append(command, objects);
    append(command, options.objects);
    run(command, options.verbose);
}

// Under nvcc the object holds the linked kernels. Here they are functions, which the host's linker links.
void link_device(const simt::Options& options, const Installation& here) {
    run({here.compiler, "-x", "c++", "-c", "/dev/null", "-o", options.output.empty() ? "a_dlink.o" : options.output},
        options.verbose);
}

void link(const simt::Options& options, const Installation& here, const std::vector<std::string>& objects) {
    if (options.verbose) {
        describe_link(here);
    }
    Command command = {here.compiler, "-o", options.output.empty() ? "a.out" : options.output};
    append(command, objects);
    append(command, options.objects);
    if (options.shared) {
        command.push_back("-shared");  // the program that loads it has the runtime
    } else {
        append(command, std::vector<std::string>{"-Wl,--whole-archive", here.runtime.string(), "-Wl,--no-whole-archive",
                                                 "-Wl,-rpath," + here.runtime.parent_path().string()});
    }
    append(command, options.link);
    if (has_openmp(options)) {
        command.push_back("-fopenmp");
    }
    if (!options.shared) {
        // Of the libraries a program gets what it calls; without a call of cuBLAS it does not load OpenBLAS.
        append(command, std::vector<std::string>{here.libraries.string(), "-Wl,--as-needed", "-lopenblas",
                                                 "-Wl,--no-as-needed", "-lboost_context", "-lfmt", "-lpthread"});
    }
    run(command, options.verbose);
}

int build(const simt::Options& options) {
    if (const char* why = options.arithmetic ? simt::why_no_arithmetic() : nullptr) {
        throw std::runtime_error("--arithmetic cannot count here: " + std::string(why));
    }
    Installation here;
    const TemporaryFolder folder;
    here.absent = write_absent_headers(options, here, folder);
    std::vector<std::string> objects;
    if (options.product == simt::Product::device_link) {
        link_device(options, here);
        return 0;
    }
    for (const std::string& source : options.sources) {
        if (!fs::is_regular_file(source)) {
            throw std::runtime_error(source + ": no such file");
        }
        if (options.product == simt::Product::preprocessed || options.product == simt::Product::dependencies) {
            preprocess(options, here, source);
            continue;
        }
        std::string object = (folder / (std::to_string(objects.size()) + ".o")).string();
        if (options.compile_only) {
            const fs::path own = fs::path(options.directory) / fs::path(source).filename().replace_extension(".o");
            object = options.output.empty() ? own.string() : options.output;
        }
        compile(options, here, folder, source, object);
        objects.push_back(object);
    }
    if (options.product == simt::Product::library) {
        archive(options, objects);
    } else if (options.product == simt::Product::program && !options.compile_only) {
        link(options, here, objects);
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        if (std::signal(signal, pass_on) == SIG_IGN) {
            std::signal(signal, SIG_IGN);
        }
    }
    try {
        const std::vector<std::string> arguments(argv + 1, argv + argc);
        for (const std::string& argument : arguments) {
            if (argument == "-v" || argument == "-dryrun" || argument == "--dryrun") {
                describe(Installation());  // CMake asks for it with a file that is not there
                break;
            }
            if (argument == "-V" || argument == "--version") {
                std::fputs(simt::kVersion, stdout);
            }
        }
        const simt::Options options = simt::parse_options(arguments);
        if (options.help) {
            std::fputs(simt::kUsage, stdout);
            return 0;
        }
        if (options.product == simt::Product::description) {
            return 0;
        }
        return build(options);
    } catch (const Failed&) {
        if (asked_to_end != 0) {
            std::signal(asked_to_end, SIG_DFL);
            std::raise(asked_to_end);
        }
        return 1;
    } catch (const simt::UsageError& error) {
        std::fprintf(stderr, "simtcc: %s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "simtcc: %s\n", error.what());
        return 1;
    }
}
