// SPDX-License-Identifier: MIT
#include "checker/simt/driver/options.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

namespace simt {

const char* const kUsage =
    "usage: simtcc [options] file.cu [more.cu host.cpp object.o …] [-o program]\n"
    "Compiles CUDA C++ for the CPU device: the program runs without a GPU, and its mistakes are named when it ends.\n"
    "  -o FILE  -c  -dc  -shared  -I DIR  -D NAME[=VALUE]  -U NAME  -include FILE  -l LIB  -L DIR  -std=c++17  -x cu\n"
    "  -Xcompiler OPTION[,OPTION]  -Xlinker OPTION  -W…  -f…  --default-stream per-thread  --verbose\n"
    "  --expt-relaxed-constexpr  kernels may call constexpr functions of the host, as under nvcc\n"
    "  --unchecked    compiles for speed: memory is not checked, and a thread that polls memory never gives way\n"
    "  --arithmetic   compiles so that SIMT_TRAFFIC counts floating-point operations too\n"
    "  --for-debugger compiles for gdb: line by line, and memory is not checked\n"
    "  --included NAME[,NAME]  standard headers that every file includes anyway: they are read precompiled\n"
    "  -E  -M  -MM  -MD  -MF FILE  -MT NAME  -lib  -dlink  -odir DIR  --options-file FILE  --version  --dryrun\n"
    "  --forward-unknown-to-host-compiler  --forward-unknown-to-host-linker\n"
    "Taken and without effect here: -O…, -g, -G, -lineinfo, -arch, -gencode, -code, -rdc, -Xptxas, --maxrregcount,\n"
    "  --extended-lambda, --use_fast_math, -m64, -ccbin and the like.\n"
    "When the program runs: SIMT_SEED=N another order of blocks and warps, SIMT_CHECK=off no checks, SIMT_REPORT=FILE\n"
    "  the findings as JSON, SIMT_TIME_LIMIT=SECONDS how long a kernel may run, SIMT_ORDERS=N in how many orders a "
    "small\n"
    "  launch runs that synchronises by atomics or flags (2).\n";

const char* const kVersion =
    "simtcc: compiles CUDA C++ for a CPU, in the place of\n"
    "nvcc: NVIDIA (R) Cuda compiler driver\n"
    "Cuda compilation tools, release 13.0, V13.0.88\n";

namespace {

// Options of nvcc that mean nothing on the CPU device. One that nvcc documents with two dashes may have one.
constexpr std::array kIgnored = {"-g",
                                 "-G",
                                 "--device-debug",
                                 "--debug",
                                 "-lineinfo",
                                 "--generate-line-info",
                                 "--expt-extended-lambda",
                                 "--extended-lambda",
                                 "--use_fast_math",
                                 "-m64",
                                 "-m32",
                                 "-MP",
                                 "--generate-dependency-targets",
                                 "--restrict",
                                 "--link",
                                 "-s",
                                 "-pg",
                                 "--profile",
                                 "--keep",
                                 "--save-temps",
                                 "-objtemp",
                                 "--objdir-as-tempdir",
                                 "--use-local-env",
                                 "--allow-unsupported-compiler",
                                 "-dlto",
                                 "--dlink-time-opt",
                                 "-lto",
                                 "--lto",
                                 "--gen-opt-lto",
                                 "-nohdinitlist",
                                 "--no-host-device-initializer-list",
                                 "-nohdmoveforward",
                                 "--no-host-device-move-forward",
                                 "-noprof",
                                 "--dont-use-profile",
                                 "-nodlink",
                                 "--no-device-link",
                                 "--no-align-double",
                                 "--extra-device-vectorization",
                                 "--keep-device-functions",
                                 "-src-in-ptx",
                                 "--source-in-ptx",
                                 "--Wreorder",
                                 "--Wdefault-stream-launch",
                                 "--Wmissing-launch-bounds",
                                 "--Wext-lambda-captures-this",
                                 "--Wno-deprecated-gpu-targets",
                                 "-res-usage",
                                 "--resource-usage",
                                 "-ewp",
                                 "--extensible-whole-program",
                                 "--no-compress",
                                 "-err-no",
                                 "--display-error-number",
                                 "-no-err-no",
                                 "--no-display-error-number",
                                 "-reloc-ptx",
                                 "--relocatable-ptx",
                                 "--jobserver"};
// The same, with a value.
constexpr std::array kIgnoredWithValue = {"--gpu-architecture",
                                          "-arch",
                                          "--generate-code",
                                          "-gencode",
                                          "--gpu-code",
                                          "-code",
                                          "--gpu-name",
                                          "--ptxas-options",
                                          "-Xptxas",
                                          "--nvlink-options",
                                          "-Xnvlink",
                                          "--archive-options",
                                          "-Xarchive",
                                          "-Xcudafe",
                                          "-Xopencc",
                                          "--maxrregcount",
                                          "--compiler-bindir",
                                          "-ccbin",
                                          "--archiver-binary",
                                          "-arbin",
                                          "--machine",
                                          "-m",
                                          "--threads",
                                          "-t",
                                          "--split-compile",
                                          "--split-compile-extended",
                                          "--time",
                                          "--keep-dir",
                                          "--diag-suppress",
                                          "--diag-error",
                                          "--diag-warn",
                                          "--Werror",
                                          "--cudart",
                                          "--cudadevrt",
                                          "--libdevice-directory",
                                          "-ldir",
                                          "--target-directory",
                                          "-target-dir",
                                          "-MQ",
                                          "--fmad",
                                          "--ftz",
                                          "--prec-div",
                                          "--prec-sqrt",
                                          "--optimization-info",
                                          "-opt-info",
                                          "--Ofast-compile",
                                          "-Ofc",
                                          "--dopt",
                                          "--entries",
                                          "-e",
                                          "--static-global-template-stub",
                                          "--device-entity-has-hidden-visibility",
                                          "--brief-diagnostics",
                                          "-brief-diag",
                                          "--jump-table-density",
                                          "-jtd",
                                          "--compress-mode",
                                          "--device-stack-protector"};
// Products of nvcc that the CPU device does not have.
constexpr std::array kRefused = {"--ptx", "--cubin",    "--fatbin", "--optix-ir", "--ltoir",
                                 "-dw",   "--device-w", "--run",    "-hls",       "--sanitize"};
// NVIDIA's libraries. The runtime stands for the first ones. What uses another does not compile, so nothing of it is linked.
constexpr std::array kToolkitLibraries = {
    "cudart",          "cudart_static", "cuda",       "cudadevrt",      "cublas",       "cublas_static",   "cublasLt",
    "cublasLt_static", "culibos",       "nvToolsExt", "nvToolsExt64_1", "nvtx3interop", "nvidia-ml",       "cufft",
    "cufft_static",    "cufftw",        "curand",     "curand_static",  "cusparse",     "cusparse_static", "cusolver",
    "cusolver_static", "cudnn",         "nccl",       "nvrtc",          "nvJitLink",    "nvjpeg",          "nppc",
    "nppial",          "nppicc",        "nppidei",    "nppif",          "nppig",        "nppim",           "nppist",
    "nppisu",          "nppitc",        "npps",       "cupti"};

template <class List>
bool contains(const List& list, std::string_view word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

// Returns true if the list has the option; `-name` stands for `--name` too.
template <class List>
bool has_option(const List& list, const std::string& option) {
    return contains(list, option) || (!option.starts_with("--") && contains(list, '-' + option));
}

bool is_cuda_or_host_source(const std::string& file) {
    static constexpr std::array kExtensions = {".cu", ".cpp", ".cc", ".cxx", ".c++", ".c", ".C"};
    return contains(kExtensions, std::filesystem::path(file).extension().string());
}

bool is_for_the_linker(const std::string& file) {
    const std::filesystem::path path(file);
    return path.extension() == ".o" || path.extension() == ".obj" || path.extension() == ".a" ||
           path.extension() == ".so" || path.filename().string().find(".so.") != std::string::npos;
}

class Parser {
  public:
    explicit Parser(std::span<const std::string> arguments) : arguments_(arguments.begin(), arguments.end()) {}

    Options run() {
        for (; at_ < arguments_.size(); at_++) { argument(std::string(arguments_[at_])); }
        if (options_.help || options_.product == Product::description) {
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
        if (to_file_ && options_.output.empty() && !options_.sources.empty()) {  // nvcc's name
            options_.output = std::filesystem::path(options_.sources[0]).filename().string() + ".cpp.ii";
        }
        if (options_.write_dependencies && options_.dependencies.empty() && !options_.sources.empty()) {
            const std::filesystem::path source = options_.sources[0];
            const std::filesystem::path made = options_.output.empty()
                                                   ? std::filesystem::path(options_.directory) / source.filename()
                                                   : std::filesystem::path(options_.output);
            options_.dependencies = std::filesystem::path(made).replace_extension(".d").string();
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

    static void split(const std::string& list, std::vector<std::string>& into, std::string_view by = ",") {
        for (std::size_t begin = 0; begin < list.size();) {
            const std::size_t end = std::min(list.find_first_of(by, begin), list.size());
            if (end > begin) {
                into.push_back(list.substr(begin, end - begin));
            }
            begin = end + 1;
        }
    }

    void argument(const std::string& a) {
        if (a.starts_with('@')) {
            options_file(a.substr(1));
            return;
        }
        if (a.empty() || a[0] != '-') {
            file(a);
            return;
        }
        if (a == "-h" || a == "--help") {
            options_.help = true;
        } else if (a == "-V" || a == "--version" || is(a, "--dryrun")) {
            options_.product = Product::description;
        } else if (a == "-c" || a == "--compile" || a == "-dc" || a == "--device-c") {
            options_.compile_only = true;
            options_.relocatable = options_.relocatable || a == "-dc" || a == "--device-c";
        } else if (is(a, "--shared")) {
            options_.shared = true;
        } else if (is(a, "--lib")) {
            options_.product = Product::library;
        } else if (a == "-dlink" || a == "--device-link") {
            options_.product = Product::device_link;
        } else if (a == "-E" || a == "--preprocess" || is(a, "--cuda")) {
            options_.product = Product::preprocessed;
            to_file_ = is(a, "--cuda");
        } else if (a == "-M" || a == "-MM" || a == "--generate-dependencies" ||
                   a == "--generate-nonsystem-dependencies") {
            options_.product = Product::dependencies;
            options_.system_dependencies = a == "-M" || a == "--generate-dependencies";
        } else if (a == "-MD" || a == "-MMD" || a == "--generate-dependencies-with-compile" ||
                   a == "--generate-nonsystem-dependencies-with-compile") {
            options_.write_dependencies = true;
        } else if (a == "--unchecked") {
            options_.checked = false;
        } else if (a == "--arithmetic") {
            options_.arithmetic = true;
        } else if (a == "--for-debugger") {
            options_.for_debugger = true;
        } else if (a == "-v" || a == "--verbose") {
            options_.verbose = true;
        } else if (a == "-w" || a == "--disable-warnings") {
            options_.compile.emplace_back("-w");
        } else if (is(a, "--no-exceptions") || a == "-noeh") {
            options_.compile.emplace_back("-fno-exceptions");
        } else if (a == "-pthread" || a == "-rdynamic") {
            options_.link.push_back(a);
        } else if (is(a, "--expt-relaxed-constexpr")) {
            options_.relaxed_constexpr = true;
        } else if (is(a, "--forward-unknown-to-host-compiler") || is(a, "--forward-unknown-opts")) {
            to_compiler_ = true;
        } else if (is(a, "--forward-unknown-to-host-linker")) {
            to_linker_ = true;
        } else if (has_option(kRefused, a)) {
            throw UsageError(a + ": the CPU device has programs, objects and libraries only");
        } else if (has_option(kIgnored, a) || ignored_with_value(a)) {
            return;
        } else if (const auto files = either(a, "--options-file", "-optf")) {
            std::vector<std::string> names;
            split(*files, names);
            for (const std::string& name : names) { options_file(name); }
        } else if (const auto level = value(a, "--optimize")) {
            options_.optimise = "-O" + *level;
        } else if (a == "-O" && at_ + 1 < arguments_.size() && arguments_[at_ + 1].size() == 1) {
            options_.optimise = a + arguments_[++at_];
        } else if (a.starts_with("-O")) {
            options_.optimise = a;
        } else if (const auto language = either(a, "--x", "-x")) {
            if (*language != "cu" && *language != "c++") {
                throw UsageError("-x " + *language + ": it is cu or c++");
            }
            options_.all_cuda = *language == "cu";
        } else if (const auto headers = value(a, "--included")) {
            split(*headers, options_.included);
        } else if (const auto dependencies = either(a, "--dependency-output", "-MF")) {
            options_.dependencies = *dependencies;
        } else if (const auto target = either(a, "--dependency-target-name", "-MT")) {
            options_.target = *target;
        } else if (const auto directory = either(a, "--output-directory", "-odir")) {
            options_.directory = *directory;
        } else if (const auto xcompiler = either(a, "--compiler-options", "-Xcompiler")) {
            std::vector<std::string> words;
            split(*xcompiler, words, ", ");
            for (std::string& word : words) {
                const bool quoted = word.size() > 2 && word.front() == '"' && word.back() == '"';
                options_.compile.push_back(quoted ? word.substr(1, word.size() - 2) : word);
            }
        } else if (const auto xlinker = either(a, "--linker-options", "-Xlinker")) {
            options_.link.push_back("-Wl," + *xlinker);
        } else if (const auto stream = either(a, "--default-stream", "-default-stream")) {
            if (*stream == "per-thread") {
                options_.preprocess.push_back("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
            } else if (*stream != "legacy" && *stream != "null") {
                throw UsageError("--default-stream " + *stream + ": it is legacy or per-thread");
            }
        } else if (const auto relocatable = either(a, "--relocatable-device-code", "-rdc")) {
            options_.relocatable = *relocatable == "true";
        } else if (const auto standard = either(a, "--std", "-std")) {
            this->standard(*standard);
        } else if (const auto output = value(a, a.starts_with("--output-file") ? "--output-file" : "-o", true)) {
            options_.output = *output;
        } else if (preprocessor(a)) {
            return;
        } else if (const auto library =
                       value(a, a.starts_with("--library=") || a == "--library" ? "--library" : "-l", true)) {
            if (!contains(kToolkitLibraries, *library)) {
                options_.link.push_back("-l" + *library);
            }
        } else if (const auto path = value(a, a.starts_with("--library-path") ? "--library-path" : "-L", true)) {
            options_.link.push_back("-L" + *path);
        } else if (a.starts_with("-Wl,")) {
            options_.link.push_back(a);
        } else if (a.starts_with("-W") || a.starts_with("-f") || to_compiler_) {
            options_.compile.push_back(a);
        } else if (to_linker_) {
            options_.link.push_back(a);
        } else {
            throw UsageError("unknown option " + a + " (simtcc --help lists those that it takes)");
        }
    }

    // An option that nvcc documents with two dashes may have one.
    static bool is(const std::string& a, std::string_view name) { return a == name || a == name.substr(1); }

    std::optional<std::string> either(const std::string& a, std::string_view name, std::string_view brief) {
        return value(a, a.starts_with(name) ? name : brief);
    }

    // An option with a value may have one dash, or two, and its value after a = or in the next word.
    bool ignored_with_value(const std::string& a) {
        const std::string name = a.substr(0, a.find('='));
        if (!has_option(kIgnoredWithValue, name)) {
            return false;
        }
        value(a, name);
        return true;
    }

    // The words of the file take the place of the option. Quotes keep blanks.
    void options_file(const std::string& name) {
        std::ifstream in(name);
        if (!in) {
            throw UsageError(name + ": no such file of options");
        }
        std::vector<std::string> words(1);
        bool quoted = false;
        for (char c = 0; in.get(c);) {
            if (c == '"') {
                quoted = !quoted;
            } else if (quoted || std::isspace(static_cast<unsigned char>(c)) == 0) {
                words.back() += c;
            } else if (!words.back().empty()) {
                words.emplace_back();
            }
        }
        if (words.back().empty()) {
            words.pop_back();
        }
        arguments_.insert(arguments_.begin() + static_cast<std::ptrdiff_t>(at_) + 1, words.begin(), words.end());
    }

    bool preprocessor(const std::string& a) {
        for (const auto& [name, brief] : {std::pair("--system-include", "-isystem"), {"--pre-include", "-include"}}) {
            if (const auto path = either(a, name, brief)) {
                options_.preprocess.insert(options_.preprocess.end(), {brief, *path});
                return true;
            }
        }
        for (const auto& [name, brief] :
             {std::pair("--include-path", "-I"), {"--define-macro", "-D"}, {"--undefine-macro", "-U"}}) {
            const bool is_long = a.starts_with(name);
            if (const auto what = value(a, is_long ? name : brief, !is_long)) {
                options_.preprocess.push_back(brief + *what);
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
        const std::string library = std::filesystem::path(name).filename().string();
        if (library.starts_with("lib") && contains(kToolkitLibraries, library.substr(3, library.find('.') - 3))) {
            return;
        }
        if (is_for_the_linker(name)) {
            options_.objects.push_back(name);
        } else if (options_.all_cuda || is_cuda_or_host_source(name)) {
            options_.sources.push_back(name);
        } else {
            throw UsageError(name + ": its ending says neither source (.cu, .cpp, .c) nor object (.o, .a, .so)");
        }
    }

    std::vector<std::string> arguments_;
    std::size_t at_ = 0;
    bool to_compiler_ = false;  // unknown options
    bool to_linker_ = false;
    bool to_file_ = false;  // the preprocessed text, even without -o
    Options options_;
};

}  // namespace

Options parse_options(std::span<const std::string> arguments) {
    return Parser(arguments).run();
}

}  // namespace simt
