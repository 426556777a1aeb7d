// SPDX-License-Identifier: MIT
#include "checker/simt/driver/options.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>

namespace simt {

const char* const kUsage =
    "usage: simtcc [options] file.cu [more.cu host.cpp object.o …] [-o program]\n"
    "Compiles CUDA C++ for the CPU device: the program runs without a GPU, and its mistakes are named when it ends.\n"
    "  -o FILE  -c  -dc  -shared  -I DIR  -D NAME[=VALUE]  -U NAME  -include FILE  -l LIB  -L DIR  -std=c++17  -x cu\n"
    "  -Xcompiler OPTION[,OPTION]  -Xlinker OPTION  -W…  -f…  -MMD -MF FILE  --default-stream per-thread  --verbose\n"
    "  --expt-relaxed-constexpr  kernels may call constexpr functions of the host, as under nvcc\n"
    "  --unchecked    compiles for speed: memory is not checked, and a thread that polls memory never gives way\n"
    "  --arithmetic   compiles so that SIMT_TRAFFIC counts floating-point operations too\n"
    "  --for-debugger compiles for gdb: line by line, and memory is not checked\n"
    "  --included NAME[,NAME]  standard headers that every file includes anyway: they are read precompiled\n"
    "Taken and without effect here: -O…, -g, -G, -lineinfo, -arch, -gencode, -code, -rdc, -Xptxas, --maxrregcount,\n"
    "  --extended-lambda, --use_fast_math, -m64, -ccbin.\n"
    "When the program runs: SIMT_SEED=N another order of blocks and warps, SIMT_CHECK=off no checks, SIMT_REPORT=FILE\n"
    "  the findings as JSON, SIMT_TIME_LIMIT=SECONDS how long a thread may run, SIMT_ORDERS=N in how many orders a "
    "small\n"
    "  launch runs that synchronises by atomics or flags (2).\n";

namespace {

// Options of nvcc that mean nothing on the CPU device.
constexpr std::array kIgnored = {"-g",
                                 "-G",
                                 "--device-debug",
                                 "--debug",
                                 "-lineinfo",
                                 "--generate-line-info",
                                 "--expt-extended-lambda",
                                 "-expt-extended-lambda",
                                 "--extended-lambda",
                                 "-extended-lambda",
                                 "--use_fast_math",
                                 "-use_fast_math",
                                 "-m64",
                                 "-MP",
                                 "-MD",
                                 "-MMD",
                                 "--restrict",
                                 "-restrict"};
// The same, with a value.
constexpr std::array kIgnoredWithValue = {
    "-arch",   "--gpu-architecture", "-gencode",       "--generate-code", "-code",   "--gpu-code",
    "-Xptxas", "--ptxas-options",    "-maxrregcount",  "--maxrregcount",  "-ccbin",  "--compiler-bindir",
    "-t",      "--threads",          "-diag-suppress", "--diag-suppress", "-cudart", "--cudart"};

template <class List>
bool contains(const List& list, std::string_view word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_cuda_or_host_source(const std::string& file) {
    static constexpr std::array kExtensions = {".cu", ".cpp", ".cc", ".cxx", ".c++", ".c"};
    return contains(kExtensions, std::filesystem::path(file).extension().string());
}

bool is_for_the_linker(const std::string& file) {
    const std::filesystem::path path(file);
    return path.extension() == ".o" || path.extension() == ".a" || path.extension() == ".so" ||
           path.filename().string().find(".so.") != std::string::npos;
}

class Parser {
  public:
    explicit Parser(std::span<const std::string> arguments) : arguments_(arguments) {}

    Options run() {
        for (; at_ < arguments_.size(); at_++) { argument(arguments_[at_]); }
        if (options_.help) {
            return options_;
        }
        if (options_.sources.empty() && options_.objects.empty()) {
            throw UsageError("no input files (simtcc --help)");
        }
        if (options_.arithmetic && (!options_.checked || options_.for_debugger)) {
            throw UsageError("--arithmetic counts where memory is checked: without --unchecked and --for-debugger");
        }
        if (options_.compile_only && !options_.output.empty() && options_.sources.size() > 1) {
            throw UsageError("-o with -c takes one source file");
        }
        return options_;
    }

  private:
    // The value of `-name value`, of `-name=value`, and, if `glued`, of `-Ivalue`; nothing if it is another option.
    std::optional<std::string> value(const std::string& argument, std::string_view name, bool glued = false) {
        if (!argument.starts_with(name)) {
            return std::nullopt;
        }
        const std::string rest = argument.substr(name.size());
        if (rest.empty()) {
            if (at_ + 1 >= arguments_.size()) {
                throw UsageError(argument + " needs a value");
            }
            return arguments_[++at_];
        }
        if (rest[0] == '=') {
            return rest.substr(1);
        }
        return glued ? std::optional(rest) : std::nullopt;
    }

    void split(const std::string& list, std::vector<std::string>& into) {
        for (std::size_t begin = 0; begin <= list.size();) {
            const std::size_t end = std::min(list.find(',', begin), list.size());
            into.push_back(list.substr(begin, end - begin));
            begin = end + 1;
        }
    }

    void argument(const std::string& a) {
        if (a.empty() || a[0] != '-') {
            file(a);
            return;
        }
        if (a == "-h" || a == "--help") {
            options_.help = true;
        } else if (a == "-c" || a == "--compile" || a == "-dc" || a == "--device-c") {
            options_.compile_only = true;
            options_.relocatable = options_.relocatable || a == "-dc" || a == "--device-c";
        } else if (a == "-shared" || a == "--shared") {
            options_.shared = true;
        } else if (a == "--unchecked") {
            options_.checked = false;
        } else if (a == "--arithmetic") {
            options_.arithmetic = true;
        } else if (a == "--for-debugger") {
            options_.for_debugger = true;
        } else if (a == "-v" || a == "--verbose") {
            options_.verbose = true;
        } else if (a == "-w") {
            options_.compile.push_back(a);
        } else if (a == "-pthread") {
            options_.link.push_back(a);
        } else if (a == "-expt-relaxed-constexpr" || a == "--expt-relaxed-constexpr") {
            options_.relaxed_constexpr = true;
        } else if (contains(kIgnored, a)) {
            return;
        } else if (a.starts_with("-O")) {
            options_.optimise = a;
        } else if (const auto language = value(a, "-x")) {
            if (*language != "cu" && *language != "c++") {
                throw UsageError("-x " + *language + ": it is cu or c++");
            }
            options_.all_cuda = *language == "cu";
        } else if (const auto headers = value(a, "--included")) {
            split(*headers, options_.included);
        } else if (const auto dependencies = value(a, "-MF")) {
            options_.dependencies = *dependencies;
        } else if (const auto xcompiler =
                       value(a, a.starts_with("--compiler-options") ? "--compiler-options" : "-Xcompiler")) {
            split(*xcompiler, options_.compile);
        } else if (const auto xlinker = value(a, a.starts_with("--linker-options") ? "--linker-options" : "-Xlinker")) {
            options_.link.push_back("-Wl," + *xlinker);
        } else if (const auto stream =
                       value(a, a.starts_with("--default-stream") ? "--default-stream" : "-default-stream")) {
            if (*stream == "per-thread") {
                options_.preprocess.push_back("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
            } else if (*stream != "legacy" && *stream != "null") {
                throw UsageError("--default-stream " + *stream + ": it is legacy or per-thread");
            }
        } else if (const auto relocatable = value(a, a.starts_with("-rdc") ? "-rdc" : "--relocatable-device-code")) {
            options_.relocatable = *relocatable == "true";
        } else if (ignored_with_value(a)) {
            return;
        } else if (const auto standard = value(a, a.starts_with("--std") ? "--std" : "-std")) {
            this->standard(*standard);
        } else if (const auto output = value(a, a.starts_with("--output-file") ? "--output-file" : "-o", true)) {
            options_.output = *output;
        } else if (preprocessor(a)) {
            return;
        } else if (const auto library = value(a, "-l", true)) {
            static constexpr std::array kDevices = {"cudart", "cudart_static", "cuda",     "cudadevrt",
                                                    "cublas", "nvToolsExt",    "cublasLt", "nvidia-ml"};
            if (!contains(kDevices, *library)) {  // the runtime stands for those, or there is nothing of them to link
                options_.link.push_back("-l" + *library);
            }
        } else if (const auto path = value(a, "-L", true)) {
            options_.link.push_back("-L" + *path);
        } else if (a.starts_with("-Wl,")) {
            options_.link.push_back(a);
        } else if (a.starts_with("-W") || a.starts_with("-f")) {
            options_.compile.push_back(a);
        } else {
            throw UsageError("unknown option " + a + " (simtcc --help lists those that it takes)");
        }
    }

    bool ignored_with_value(const std::string& a) {
        for (const char* name : kIgnoredWithValue) {
            if (a == name || a.starts_with(std::string(name) + '=')) {
                value(a, name);
                return true;
            }
        }
        return false;
    }

    bool preprocessor(const std::string& a) {
        for (const char* name : {"-isystem", "-include"}) {
            if (const auto path = value(a, name)) {
                options_.preprocess.insert(options_.preprocess.end(), {name, *path});
                return true;
            }
        }
        for (const char* name : {"-I", "-D", "-U"}) {
            if (const auto what = value(a, name, true)) {
                options_.preprocess.push_back(name + *what);
                return true;
            }
        }
        return false;
    }

    // The stand-in headers need C++17; who asks for less gets it too.
    void standard(const std::string& name) {
        static constexpr std::array kKnown = {"c++11", "c++14", "c++17", "c++20", "c++23"};
        if (!contains(kKnown, name)) {
            throw UsageError("-std=" + name + ": it is one of c++11, c++14, c++17, c++20, c++23");
        }
        options_.standard = name < "c++17" ? "c++17" : name;
    }

    void file(const std::string& name) {
        if (is_for_the_linker(name)) {
            options_.objects.push_back(name);
        } else if (options_.all_cuda || is_cuda_or_host_source(name)) {
            options_.sources.push_back(name);
        } else {
            throw UsageError(name + ": its ending says neither source (.cu, .cpp, .c) nor object (.o, .a, .so)");
        }
    }

    std::span<const std::string> arguments_;
    std::size_t at_ = 0;
    Options options_;
};

}  // namespace

Options parse_options(std::span<const std::string> arguments) {
    return Parser(arguments).run();
}

}  // namespace simt
