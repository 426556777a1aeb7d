// SPDX-License-Identifier: MIT
//
// What the build for a GPU must know of the card, and whether driver, toolkit, its host compiler and card go together: one
// line that says what does not, and what mends it. Asks the driver itself (libcuda.so.1, or what SOL_LIBCUDA names), and
// the nvcc that scripts/cuda.sh finds.
#include <dlfcn.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "checker/base/files.h"
#include "checker/device_order.h"

namespace {

constexpr int kOldest = 75;

std::string without_a_card() {
    return "every lesson can be done without a GPU: " + checker::on_cpu("make check-lesson04 DEVICE=cpu");
}

struct GpuInfo {
    std::string name;
    int capability = 0;                   // 90 is 9.0
    int driver_cuda = 0;                  // 13000 is 13.0
    bool integrated = false;              // its memory is the host's
    bool pageable_memory_access = false;  // kernels may read what the host's malloc gave
};

std::string dotted(int cuda_version) {
    return fmt::format("{}.{}", cuda_version / 1000, cuda_version % 1000 / 10);
}

// The driver's functions that are needed here, as cuda.h declares them: CUresult and CUdevice are int.
class Driver {
  public:
    Driver() {
        const char* other = std::getenv("SOL_LIBCUDA");
        const std::string file = other != nullptr ? other : "libcuda.so.1";
        handle_.reset(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL));
        if (!handle_) {
            throw std::runtime_error(fmt::format("no NVIDIA driver: {} cannot be opened; {}", file, without_a_card()));
        }
    }

    GpuInfo first_card() const {
        const int status = function<int (*)(unsigned)>("cuInit")(0);
        constexpr int kNoDevice = 100;
        int count = 0;
        if (status == kNoDevice ||
            (status == 0 && function<int (*)(int*)>("cuDeviceGetCount")(&count) == 0 && count == 0)) {
            throw std::runtime_error(checker::why_no_card("the NVIDIA driver finds no GPU; " + without_a_card()));
        }
        require(status, "cuInit");
        GpuInfo card;
        require(function<int (*)(int*)>("cuDriverGetVersion")(&card.driver_cuda), "cuDriverGetVersion");
        int device = 0;
        require(function<int (*)(int*, int)>("cuDeviceGet")(&device, 0), "cuDeviceGet");
        char name[256] = "";
        require(function<int (*)(char*, int, int)>("cuDeviceGetName")(name, sizeof name, device), "cuDeviceGetName");
        card.name = name;
        const auto attribute = function<int (*)(int*, int, int)>("cuDeviceGetAttribute");
        constexpr int kMajor = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, and 76 for the minor
        constexpr int kIntegrated = 18;
        constexpr int kPageableMemoryAccess = 88;
        int major = 0;
        int minor = 0;
        require(attribute(&major, kMajor, device), "cuDeviceGetAttribute");
        require(attribute(&minor, kMajor + 1, device), "cuDeviceGetAttribute");
        card.capability = 10 * major + minor;
        int integrated = 0;
        int pageable = 0;
        require(attribute(&integrated, kIntegrated, device), "cuDeviceGetAttribute");
        require(attribute(&pageable, kPageableMemoryAccess, device), "cuDeviceGetAttribute");
        card.integrated = integrated != 0;
        card.pageable_memory_access = pageable != 0;
        return card;
    }

  private:
    template <class Function>
    Function function(const char* name) const {
        void* address = dlsym(handle_.get(), name);
        if (address == nullptr) {
            throw std::runtime_error(fmt::format("the NVIDIA driver has no {}: it is too old for the course", name));
        }
        return reinterpret_cast<Function>(address);
    }

    static void require(int status, const char* what) {
        if (status != 0) {
            throw std::runtime_error(
                fmt::format("the NVIDIA driver does not work: {} returned error {}; nvidia-smi may "
                            "say why, a restart mends a driver that was just updated",
                            what, status));
        }
    }

    struct Close {
        void operator()(void* handle) const { dlclose(handle); }
    };
    std::unique_ptr<void, Close> handle_;
};

std::string without_last_newline(std::string text) {
    while (text.ends_with('\n')) { text.pop_back(); }
    return text;
}

// The path of nvcc as a shell's word; nothing where it is not there.
std::string find_nvcc() {
    const std::string path = without_last_newline(checker::run_command("scripts/cuda.sh nvcc 2>&1").output);
    return path.empty() ? "" : checker::quoted(path);
}

// nvcc's release, 13000 for 13.0.
int toolkit_version(const std::string& nvcc) {
    const checker::Finished said = checker::run_command(nvcc + " --version 2>&1");
    const std::size_t at = said.output.find("release ");
    int major = 0;
    int minor = 0;
    if (said.status != 0 || at == std::string::npos ||
        std::sscanf(said.output.c_str() + at, "release %d.%d", &major, &minor) != 2) {
        throw std::runtime_error(
            "nvcc is not there, which compiles for a GPU: make setup NVCC=1, or install the CUDA toolkit, 12.4 or "
            "newer");
    }
    return 1000 * major + 10 * minor;
}

// Throws std::runtime_error where the kernels cannot be compiled for this card, or would not run there.
void require_match(const GpuInfo& card, const std::string& nvcc, int toolkit) {
    constexpr int kOldestToolkit = 12040;
    if (toolkit < kOldestToolkit) {
        throw std::runtime_error(
            fmt::format("nvcc is {}; CUDA 12.4 or newer is needed: put its bin/ first on PATH", dotted(toolkit)));
    }
    if (card.capability < kOldest) {
        throw std::runtime_error(fmt::format("{} is sm_{}; the course's kernels are for sm_75 and newer; {}", card.name,
                                             card.capability, without_a_card()));
    }
    // Within one major release newer code runs on older drivers.
    if (card.driver_cuda / 1000 < toolkit / 1000) {
        throw std::runtime_error(
            fmt::format("the driver is for CUDA {} and nvcc is {}: update the driver, or put a "
                        "toolkit {}.x first on PATH",
                        dotted(card.driver_cuda), dotted(toolkit), card.driver_cuda / 1000));
    }
    const std::string known = checker::run_command(nvcc + " --list-gpu-arch 2>&1").output;
    if (known.find(fmt::format("compute_{}\n", card.capability)) == std::string::npos) {
        throw std::runtime_error(fmt::format("nvcc {} does not know {} (sm_{}): a newer toolkit does", dotted(toolkit),
                                             card.name, card.capability));
    }
}

// For what has no nvidia-smi to ask.
std::string as_json(const GpuInfo& card) {
    return nlohmann::json{{"name", card.name},
                          {"compute_capability", fmt::format("{}.{}", card.capability / 10, card.capability % 10)},
                          {"driver_cuda", dotted(card.driver_cuda)},
                          {"integrated", card.integrated},
                          {"pageable_memory_access", card.pageable_memory_access}}
        .dump();
}

// Throws what scripts/cuda.sh says where nvcc and its host compiler do not compile an empty file.
void require_compiler() {
    const checker::Finished compiled = checker::run_command("scripts/cuda.sh --compiles 2>&1");
    if (compiled.status != 0) {
        throw std::runtime_error(without_last_newline(compiled.output));
    }
}

// From Hopper on, the instructions that only one card's generation has are in the architecture with an `a`.
std::string architecture(const GpuInfo& card) {
    return fmt::format("{}{}", card.capability, card.capability >= 90 ? "a" : "");
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"The first GPU here, and whether driver, toolkit and card go together."};
    bool arch = false;
    bool name = false;
    bool json = false;
    app.add_flag("--arch", arch, "print its architecture only, such as 90a, and compile nothing");
    app.add_flag("--name", name, "print its name only, and compile nothing");
    app.add_flag("--json", json, "print what the driver says of it, whatever nvcc is");
    CLI11_PARSE(app, argc, argv);
    try {
        checker::count_cards_as_nvidia_smi();
        const GpuInfo card = Driver().first_card();
        if (json) {
            fmt::print("{}\n", as_json(card));
            return 0;
        }
        const std::string nvcc = find_nvcc();
        const int toolkit = toolkit_version(nvcc);
        require_match(card, nvcc, toolkit);
        if (!arch && !name) {
            require_compiler();
        }
        fmt::print("{}\n", arch ? architecture(card)
                           : name
                               ? card.name
                               : fmt::format("{}, sm_{}, driver for CUDA {}, nvcc {}{}", card.name, architecture(card),
                                             dotted(card.driver_cuda), dotted(toolkit),
                                             card.pageable_memory_access
                                                 ? "; its kernels may read the host's memory, so that such a mistake "
                                                   "is no fault there (DEVICE=cpu finds it)"
                                                 : ""));
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
