// SPDX-License-Identifier: MIT
//
// simtcc: the compiler driver of the CPU device. Each .cu is preprocessed as far as its directives, lowered (lower.h),
// and compiled with the hooks that checker/simt/runtime answers; host files are compiled as they are.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "checker/simt/driver/options.h"

namespace {

namespace fs = std::filesystem;
using Command = std::vector<std::string>;

// What every kernel is compiled with. no-gnu-unique: two shared objects may have kernels of the same name.
// no-volatile: C++20 deprecates what kernels that poll or lock are written with. wrapv: an index that overflows goes
// wrong as it does on a GPU.
// stack-clash-protection: a frame that is larger than a thread's stack touches the page that guards it, and not
// another thread's stack behind.
constexpr const char* kKernelFlags[] = {
    "-g", "-fwrapv", "-fno-gnu-unique", "-fstack-clash-protection", "-Wno-unknown-pragmas", "-Wno-volatile"};

// Why each: -O1 without the passes that split, merge or move accesses, so that one access in the source is one hook;
// thread: a call before each access; bounds: arrays of a thread, whose accesses have no hook.
constexpr const char* kCheckedFlags[] = {"-O1",
                                         "-fno-tree-sra",
                                         "-fno-tree-vectorize",
                                         "-fno-reorder-blocks",
                                         "-fno-thread-jumps",
                                         "-fsanitize=thread",
                                         "--param",
                                         "tsan-distinguish-volatile=1",
                                         "--param",
                                         "tsan-instrument-func-entry-exit=0",
                                         "-fsanitize=bounds"};
constexpr const char* kUncheckedFlags[] = {"-O2"};
constexpr const char* kDebuggerFlags[] = {"-O0"};

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
    std::string compiler = std::getenv("CXX") != nullptr ? std::getenv("CXX") : "g++";
};

struct Failed {};  // a command ended badly and has said why

// A signal that asks for the end goes to the command that runs; then the folder is removed, and the signal ends simtcc.
volatile std::sig_atomic_t asked_to_end = 0;
volatile std::sig_atomic_t running = 0;

void pass_on(int signal) {
    asked_to_end = signal;
    if (running != 0) {
        kill(running, signal);
    }
}

void run(const Command& command, bool verbose) {
    std::vector<char*> arguments;
    for (const std::string& word : command) { arguments.push_back(const_cast<char*>(word.c_str())); }
    arguments.push_back(nullptr);
    if (verbose) {
        for (const std::string& word : command) { std::fprintf(stderr, "%s ", word.c_str()); }
        std::fputc('\n', stderr);
    }
    pid_t child = 0;
    if (const int error = posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ); error != 0) {
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
        throw Failed();
    }
}

void append(Command& command, const auto& words) {
    command.insert(command.end(), std::begin(words), std::end(words));
}

void compile(const simt::Options& options, const Installation& here, const TemporaryFolder& folder,
             const std::string& source, const std::string& object) {
    const bool cuda = options.all_cuda || fs::path(source).extension() == ".cu";
    Command base = {here.compiler, "-std=" + options.standard};
    if (options.shared) {
        base.push_back("-fPIC");
    }
    Command reading = base;
    append(reading, std::vector<std::string>{"-I" + here.headers.string()});
    append(reading, options.preprocess);
    if (!options.checked) {
        reading.push_back("-D__SIMT_UNCHECKED__");
    }
    if (!options.dependencies.empty()) {
        append(reading, std::vector<std::string>{"-MMD", "-MP", "-MF", options.dependencies, "-MT", object});
    }
    append(reading, options.compile);
    if (!cuda) {
        append(reading, std::vector<std::string>{options.optimise, "-g", "-c", source, "-o", object});
        run(reading, options.verbose);
        return;
    }
    const std::string read = (folder / "read.ii").string();
    const std::string lowered = (folder / "lowered.ii").string();
    append(reading, std::vector<std::string>{"-include", "cuda_runtime.h", "-E", "-fdirectives-only", "-x", "c++",
                                             source, "-o", read});
    run(reading, options.verbose);
    Command lowering = {here.lower.string(), read, lowered};
    if (options.for_debugger) {
        lowering.push_back("--for-debugger");
    }
    run(lowering, options.verbose);
    Command compiling = base;
    append(compiling, kKernelFlags);
    if (options.for_debugger) {
        append(compiling, kDebuggerFlags);
    } else if (options.checked) {
        append(compiling, kCheckedFlags);
    } else {
        append(compiling, kUncheckedFlags);
    }
    append(compiling, options.compile);
    append(compiling,
           std::vector<std::string>{"-fpreprocessed", "-fdirectives-only", "-x", "c++", "-c", lowered, "-o", object});
    run(compiling, options.verbose);
}

void link(const simt::Options& options, const Installation& here, const std::vector<std::string>& objects) {
    Command command = {here.compiler, "-o", options.output.empty() ? "a.out" : options.output};
    append(command, objects);
    append(command, options.objects);
    if (options.shared) {
        command.push_back("-shared");  // the program that loads it has the runtime
    } else {
        append(command,
               std::vector<std::string>{"-Wl,--whole-archive", here.runtime.string(), "-Wl,--no-whole-archive"});
    }
    append(command, options.link);
    if (!options.shared) {
        append(command, std::vector<std::string>{"-lboost_context", "-lfmt", "-lpthread"});
    }
    run(command, options.verbose);
}

int build(const simt::Options& options) {
    const Installation here;
    const TemporaryFolder folder;
    std::vector<std::string> objects;
    for (const std::string& source : options.sources) {
        if (!fs::is_regular_file(source)) {
            throw std::runtime_error(source + ": no such file");
        }
        std::string object = (folder / (std::to_string(objects.size()) + ".o")).string();
        if (options.compile_only) {
            object =
                options.output.empty() ? fs::path(source).filename().replace_extension(".o").string() : options.output;
        }
        compile(options, here, folder, source, object);
        objects.push_back(object);
    }
    if (!options.compile_only) {
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
        const simt::Options options = simt::parse_options(arguments);
        if (options.help) {
            std::fputs(simt::kUsage, stdout);
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
