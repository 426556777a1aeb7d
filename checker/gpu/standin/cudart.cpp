// SPDX-License-Identifier: MIT
//
// A stand-in for the CUDA runtime, so that what nvcc has built runs where no GPU is: programs and shared objects as they
// are, with this libcudart.so in place of NVIDIA's. Device memory is the host's, which the host cannot touch between calls;
// kernels are known by the name that nvcc's code registers, and the CPU device runs them (kernels.cpp). Time is counted,
// not measured: each call takes the host as long as the script says, each kernel takes the card 20 µs.
//
//   SOL_STANDIN          what goes wrong, words with blanks between them:
//     NAME=CODE            every call of the function NAME, or launch of the kernel NAME, ends with error CODE, or `hang`
//     NAME@3=CODE          the third of a process only
//     memory=MIB           of the card: 1024, unless this says another number; programs leave 256 to others
//     spill=1              cudaMalloc gives more than is free, as on Windows, where the rest lies in the host's memory
//     host_us=N            that a call takes the host: 1
//   SOL_STANDIN_KERNELS  the shared object that has the kernels
//   SOL_STANDIN_LOG      a file that gets a line for each call: process, name, error, a launch's grid and block
#include <cuda_runtime_api.h>
#include <cxxabi.h>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "checker/gpu/standin/kernels.h"

namespace {

constexpr int kHang = -1;

struct Error {
    int code;
    const char *name, *text;
    bool sticky = false;  // it ends the context: each later call of the process gets it
};
constexpr Error kErrors[] = {
    {0, "cudaSuccess", "no error"},
    {1, "cudaErrorInvalidValue", "invalid argument"},
    {2, "cudaErrorMemoryAllocation", "out of memory"},
    {3, "cudaErrorInitializationError", "initialization error"},
    {9, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {35, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"},
    {46, "cudaErrorDevicesUnavailable", "CUDA-capable device(s) is/are busy or unavailable"},
    {98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {100, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {209, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"},
    {214, "cudaErrorECCUncorrectable", "uncorrectable ECC error encountered", true},
    {222, "cudaErrorUnsupportedPtxVersion", "the provided PTX was compiled with an unsupported toolchain."},
    {400, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {600, "cudaErrorNotReady", "device not ready"},
    {700, "cudaErrorIllegalAddress", "an illegal memory access was encountered", true},
    {701, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {702, "cudaErrorLaunchTimeout", "the launch timed out and was terminated", true},
    {710, "cudaErrorAssert", "device-side assert triggered", true},
    {715, "cudaErrorIllegalInstruction", "an illegal instruction was encountered", true},
    {716, "cudaErrorMisalignedAddress", "misaligned address", true},
    {719, "cudaErrorLaunchFailure", "unspecified launch failure", true},
    {802, "cudaErrorSystemNotReady", "system not yet initialized"},
    {803, "cudaErrorSystemDriverMismatch", "system has unsupported display driver / cuda driver combination"},
    {999, "cudaErrorUnknown", "unknown error"},
};
const Error& error_of(int code) {
    const auto* const found = std::ranges::find(kErrors, code, &Error::code);
    return found != std::end(kErrors) ? *found : *std::prev(std::end(kErrors));
}

std::string environment(const char* name) {
    const char* const text = std::getenv(name);
    return text == nullptr ? "" : text;
}

class Script {
  public:
    Script() {
        std::istringstream words(environment("SOL_STANDIN"));
        for (std::string word; words >> word;) {
            const std::size_t equals = word.find('=');
            const std::string value = word.substr(equals + 1);
            says_[word.substr(0, equals)] = value == "hang" ? kHang : std::atoi(value.c_str());
        }
    }
    int setting(const char* name, int otherwise) const {
        const auto found = says_.find(name);
        return found == says_.end() ? otherwise : found->second;
    }
    // The error of this call of `name`, which counts it.
    int next(const std::string& name) {
        const int call = ++calls_[name];
        return setting((name + '@' + std::to_string(call)).c_str(), setting(name.c_str(), cudaSuccess));
    }

  private:
    std::map<std::string, int> says_, calls_;
};

// The card's memory: a range of addresses that can be read and written only while the card works.
class Memory {
  public:
    explicit Memory(std::size_t bytes, bool spills)
        : card_bytes_(bytes),
          bytes_(spills ? 16 * bytes : bytes),
          begin_(static_cast<char*>(
              mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {}

    std::size_t card_bytes() const { return card_bytes_; }
    std::size_t free_bytes() const { return card_bytes_ - std::min(used_, card_bytes_); }

    char* allocate(std::size_t bytes) {
        constexpr std::size_t kAlignment = 512;
        std::size_t at = 0;
        for (const auto& [begin, size] : blocks_) {
            if (begin - at >= bytes) {
                break;
            }
            at = (begin + size + kAlignment - 1) / kAlignment * kAlignment;
        }
        if (at + bytes > bytes_) {
            return nullptr;
        }
        blocks_[at] = bytes;
        used_ += bytes;
        return begin_ + at;
    }
    bool release(const void* pointer) {
        const auto found = blocks_.find(offset(pointer));
        if (found == blocks_.end()) {
            return false;
        }
        used_ -= found->second;
        blocks_.erase(found);
        return true;
    }
    // Whether all of it lies in one allocation.
    bool holds(const void* pointer, std::size_t bytes) const {
        const auto after = blocks_.upper_bound(offset(pointer));
        if (after == blocks_.begin()) {
            return false;
        }
        const auto [begin, size] = *std::prev(after);
        return offset(pointer) + bytes <= begin + size;
    }

    template <class Work>
    auto open(Work work) {
        mprotect(begin_, bytes_, PROT_READ | PROT_WRITE);
        const auto result = work();
        mprotect(begin_, bytes_, PROT_NONE);
        return result;
    }

  private:
    std::size_t offset(const void* pointer) const {
        return static_cast<std::size_t>(static_cast<const char*>(pointer) - begin_);
    }

    std::size_t card_bytes_, bytes_, used_ = 0;
    char* begin_;
    std::map<std::size_t, std::size_t> blocks_;  // bytes of each, by where it begins
};

cudaError_t last_error = cudaSuccess;  // of this runtime

struct Launch {
    dim3 grid, block;
    std::size_t shared = 0;
    cudaStream_t stream = nullptr;
};

class Card {
  public:
    Script script;
    Memory memory{static_cast<std::size_t>(script.setting("memory", 1024)) << 20, script.setting("spill", 0) != 0};
    std::map<const void*, std::string> kernels;  // linkage names, by the function that stands for each on the host
    std::map<const void*, void**> binaries;      // of each kernel
    std::vector<Launch> configured;

    // What a call answers: what the script says of it; what an earlier kernel has left; or what `work` gives.
    template <class Work>
    cudaError_t call(const std::string& name, Work work, const std::string& details = "") {
        host_ += 1000L * script.setting("host_us", 1);
        int code = script.next(name);
        if (code == kHang) {
            hang();
        }
        if (code == cudaSuccess) {
            code = ended_by_;
        }
        if (code == cudaSuccess) {
            code = work();
        }
        log(name, code, details);
        const auto status = static_cast<cudaError_t>(code);
        if (error_of(code).sticky) {
            ended_by_ = status;
        }
        last_error = status == cudaSuccess ? last_error : status;
        return status;
    }

    cudaError_t launch(const void* function, const Launch& how, void** arguments) {
        const auto known = kernels.find(function);
        if (known == kernels.end()) {
            return call("launch", [] { return cudaErrorInvalidDeviceFunction; });
        }
        const std::string name = short_name(known->second);
        const auto shape = [](dim3 d) {
            return '(' + std::to_string(d.x) + ',' + std::to_string(d.y) + ',' + std::to_string(d.z) + ')';
        };
        const int fault = script.next(name);
        const bool ends_later = fault == kHang || error_of(fault).sticky;
        const auto begin = [&] {
            if (how.grid.x == 0 || how.block.x == 0 || how.block.x * how.block.y * how.block.z > 1024 ||
                how.grid.y > 65535 || how.grid.z > 65535) {
                return cudaErrorInvalidConfiguration;
            }
            if (fault != cudaSuccess && !ends_later) {
                return static_cast<cudaError_t>(fault);
            }
            const bool delays = name == "delay_kernel";
            constexpr long kNanoseconds = 20'000;
            done_ = std::max(done_, host_) +
                    (delays ? static_cast<long>(*static_cast<std::uint64_t*>(arguments[0])) : kNanoseconds);
            timed_only_ = timed_only_ || delays;
            const int ended = ends_later                            ? fault
                              : timed_only_ || of_the_checker(name) ? cudaSuccess
                                                                    : run(known->second, how, arguments);
            if (ended != kHang && !error_of(ended).sticky) {
                return static_cast<cudaError_t>(ended);
            }
            left_ = ended;
            return cudaSuccess;
        };
        return call("launch", begin, name + ' ' + shape(how.grid) + ' ' + shape(how.block));
    }

    cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
        const bool to_card = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
        const bool from_card = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
        if ((to_card && !memory.holds(to, bytes)) || (from_card && !memory.holds(from, bytes))) {
            return cudaErrorInvalidValue;
        }
        if (const cudaError_t status = wait(); status != cudaSuccess) {
            return status;
        }
        return memory.open([&] { return std::memcpy(to, from, bytes), cudaSuccess; });
    }

    // The host waits until the card has come to `when`, or to the end of its work.
    cudaError_t wait(long when) {
        if (left_ == kHang) {
            hang();
        }
        host_ = std::max(host_, when);
        timed_only_ = false;
        return leave();
    }
    cudaError_t wait() { return wait(done_); }
    cudaError_t reached(long when) { return left_ != kHang && host_ >= when ? leave() : cudaErrorNotReady; }
    cudaError_t idle() { return reached(done_); }
    // Streams and events; all streams are one here.
    template <class Handle>
    void make(Handle* handle) {
        *handle = reinterpret_cast<Handle>(next_handle_++);
        reached_at_[*handle] = 0;
    }
    cudaError_t destroy(void* handle) {
        return reached_at_.erase(handle) == 1 ? cudaSuccess : cudaErrorInvalidResourceHandle;
    }
    long& reached_at(void* event) { return reached_at_.at(event); }

    cudaError_t take_last() { return std::exchange(last_error, ended_by_); }
    long now() { return done_ = std::max(done_, host_); }

  private:
    // What a kernel has left is known from now on.
    cudaError_t leave() {
        if (left_ != cudaSuccess) {
            ended_by_ = static_cast<cudaError_t>(left_);
        }
        return ended_by_;
    }

    [[noreturn]] static void hang() {
        while (true) { pause(); }
    }

    // Those that only take time: nobody reads what they write.
    static bool of_the_checker(const std::string& name) {
        return name == "copy_kernel" || name == "read_kernel" || name == "fma_kernel";
    }

    static std::string short_name(const std::string& linkage_name) {
        int status = 0;
        char* const text = abi::__cxa_demangle(linkage_name.c_str(), nullptr, nullptr, &status);
        std::string name = status == 0 ? text : linkage_name;
        std::free(text);
        const std::string scope = "(anonymous namespace)::";
        for (std::size_t at = name.find(scope); at != std::string::npos; at = name.find(scope)) {
            name.erase(at, scope.size());
        }
        name = name.substr(0, name.find_first_of("(<"));
        return name.substr(name.find_last_of(" :") + 1);
    }

    int run(const std::string& linkage_name, const Launch& how, void** arguments) {
        if (run_kernel_ == nullptr) {
            void* const kernels_of_lesson = dlopen(environment("SOL_STANDIN_KERNELS").c_str(), RTLD_NOW | RTLD_LOCAL);
            run_kernel_ = kernels_of_lesson == nullptr
                              ? nullptr
                              : reinterpret_cast<decltype(run_kernel_)>(dlsym(kernels_of_lesson, "standin_run_kernel"));
            if (run_kernel_ == nullptr) {
                std::fprintf(stderr, "SOL_STANDIN_KERNELS: %s\n", dlerror());
                std::exit(1);
            }
        }
        const KernelRun what{linkage_name.c_str(),
                             {how.grid.x, how.grid.y, how.grid.z},
                             {how.block.x, how.block.y, how.block.z},
                             how.shared,
                             arguments};
        return memory.open([&] { return run_kernel_(what); });
    }

    static void log(const std::string& name, int code, const std::string& details) {
        static const std::string file = environment("SOL_STANDIN_LOG");
        if (std::FILE* const out = file.empty() ? nullptr : std::fopen(file.c_str(), "a"); out != nullptr) {
            std::fprintf(out, "%d %s %d %s\n", getpid(), name.c_str(), code, details.c_str());
            std::fclose(out);
        }
    }

    long host_ = 0, done_ = 0;             // ns: where the host is, and when the card has done all that was asked of it
    std::uintptr_t next_handle_ = 0x1000;  // the runtime's own streams are 1 and 2
    std::map<void*, long> reached_at_;     // when the card comes past an event, in ns
    bool timed_only_ = false;              // since a delay was queued: what comes after it is timed, and not computed
    int left_ = cudaSuccess;               // the error that a kernel ends with, or kHang
    cudaError_t ended_by_ = cudaSuccess;
    int (*run_kernel_)(const KernelRun&) = nullptr;
};

}  // namespace

extern "C" {

// Two runtimes of a process have one card, and each its own last error.
Card* standin_card() {
    static Card* const first = new Card;
    return first;
}
}

namespace {

Card& card() {
    static Card* const only = reinterpret_cast<Card* (*)()>(dlsym(RTLD_DEFAULT, "standin_card"))();
    return *only;
}

}  // namespace

extern "C" {

// ---- what nvcc's code calls ------------------------------------------------------------------------------------------

void** __cudaRegisterFatBinary(void* binary) {
    constexpr std::uint32_t kMagic = 0x466243b1;
    std::uint32_t magic = 0;
    std::memcpy(&magic, binary, sizeof magic);
    if (magic != kMagic) {
        std::fprintf(stderr, "__cudaRegisterFatBinary: this is no binary of nvcc's\n");
        std::exit(1);
    }
    return new void*(binary);
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void** binary) {
    std::erase_if(card().kernels, [&](const auto& kernel) { return card().binaries[kernel.first] == binary; });
    delete binary;
}
char __cudaInitModule(void**) {
    return 1;
}
void __cudaRegisterFunction(void** binary, const char* function, char*, const char* name, int, uint3*, uint3*, dim3*,
                            dim3*, int*) {
    card().kernels[function] = name;
    card().binaries[function] = binary;
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream) {
    card().configured.push_back({grid, block, shared, stream});
    return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
    const Launch launch = card().configured.back();
    card().configured.pop_back();
    *grid = launch.grid;
    *block = launch.block;
    *shared = launch.shared;
    std::memcpy(stream, &launch.stream, sizeof launch.stream);
    return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                             cudaStream_t stream) {
    return card().launch(function, {grid, block, shared, stream}, arguments);
}
// CUDA 13's code asks for a kernel's handle first: here that is the function that stands for it.
cudaError_t __cudaGetKernel(void** kernel, const void* function) {
    *kernel = const_cast<void*>(function);
    return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                               cudaStream_t stream) {
    return card().launch(kernel, {grid, block, shared, stream}, arguments);
}

// ---- the device and its errors ---------------------------------------------------------------------------------------

cudaError_t cudaGetDeviceCount(int* count) {
    *count = 1;
    return card().call("cudaGetDeviceCount", [] { return cudaSuccess; });
}
cudaError_t cudaGetDevice(int* device) {
    *device = 0;
    return card().call("cudaGetDevice", [] { return cudaSuccess; });
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
    return card().call("cudaGetDeviceProperties", [&] {
        *properties = {};
        std::snprintf(properties->name, sizeof properties->name, "Stand-in");
        properties->major = 8;
        properties->totalGlobalMem = card().memory.card_bytes();
        return cudaSuccess;
    });
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
    return card().call("cudaDeviceGetAttribute", [&] {
        *value = attribute == cudaDevAttrMultiProcessorCount      ? 2
                 : attribute == cudaDevAttrL2CacheSize            ? 1 << 20
                 : attribute == cudaDevAttrComputeCapabilityMajor ? 8
                                                                  : 0;
        return cudaSuccess;
    });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int, std::size_t,
                                                                   unsigned) {
    *blocks = 2;
    return card().call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [] { return cudaSuccess; });
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) {
    return card().call("cudaFuncSetAttribute", [] { return cudaSuccess; });
}
cudaError_t cudaDeviceSynchronize() {
    return card().call("cudaDeviceSynchronize", [] { return card().wait(); });
}
cudaError_t cudaGetLastError() {
    return card().take_last();
}
const char* cudaGetErrorName(cudaError_t error) {
    return error_of(error).name;
}
const char* cudaGetErrorString(cudaError_t error) {
    return error_of(error).text;
}

// ---- memory ------------------------------------------------------------------------------------------------------------

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
    return card().call("cudaMalloc", [&] {
        *pointer = card().memory.allocate(bytes);
        return *pointer == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
    });
}
cudaError_t cudaFree(void* pointer) {
    return card().call("cudaFree", [&] {
        return pointer == nullptr || card().memory.release(pointer) ? cudaSuccess : cudaErrorInvalidValue;
    });
}
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
    *pointer = std::calloc(bytes, 1);  // zeros, as a driver gives
    return card().call("cudaMallocHost", [] { return cudaSuccess; });
}
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) {
    *pointer = std::calloc(bytes, 1);
    return card().call("cudaHostAlloc", [] { return cudaSuccess; });
}
cudaError_t cudaFreeHost(void* pointer) {
    std::free(pointer);
    return card().call("cudaFreeHost", [] { return cudaSuccess; });
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* all) {
    *free = card().memory.free_bytes();
    *all = card().memory.card_bytes();
    return card().call("cudaMemGetInfo", [] { return cudaSuccess; });
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    return card().call("cudaMemcpy", [&] { return card().copy(to, from, bytes, kind); });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
    return card().call("cudaMemcpyAsync", [&] { return card().copy(to, from, bytes, kind); });
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t) {
    return card().call("cudaMemcpy2DAsync", [&] {
        cudaError_t status = cudaSuccess;
        for (std::size_t row = 0; row < height && status == cudaSuccess; row++) {
            status = card().copy(static_cast<char*>(to) + row * to_pitch,
                                 static_cast<const char*>(from) + row * from_pitch, width, kind);
        }
        return status;
    });
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
    return card().call("cudaMemset", [&] {
        return card().memory.holds(to, bytes)
                   ? card().memory.open([&] { return std::memset(to, value, bytes), cudaSuccess; })
                   : cudaErrorInvalidValue;
    });
}

// ---- streams and events ------------------------------------------------------------------------------------------------

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
    return card().call("cudaStreamCreateWithFlags", [&] { return card().make(stream), cudaSuccess; });
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    return card().call("cudaStreamDestroy", [&] { return card().destroy(stream); });
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
    return card().call("cudaStreamSynchronize", [] { return card().wait(); });
}
cudaError_t cudaStreamQuery(cudaStream_t) {
    return card().call("cudaStreamQuery", [] { return card().idle(); });
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
    return card().call("cudaEventCreate", [&] { return card().make(event), cudaSuccess; });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return card().call("cudaEventDestroy", [&] { return card().destroy(event); });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
    return card().call("cudaEventRecord", [&] { return card().reached_at(event) = card().now(), cudaSuccess; });
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
    return card().call("cudaEventQuery", [&] { return card().reached(card().reached_at(event)); });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return card().call("cudaEventSynchronize", [&] { return card().wait(card().reached_at(event)); });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    return card().call("cudaEventElapsedTime", [&] {
        *milliseconds = static_cast<float>(card().reached_at(end) - card().reached_at(begin)) * 1e-6F;
        return cudaSuccess;
    });
}
}
