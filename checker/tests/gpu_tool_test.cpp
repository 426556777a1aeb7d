// SPDX-License-Identifier: MIT
//
// build/tools/gpu and scripts/cuda.sh against a fake driver, a fake nvcc and fake compilers.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "checker/base/files.h"

namespace {

namespace fs = std::filesystem;

class GpuTool : public testing::Test {
  protected:
    GpuTool() : folder_(fs::temp_directory_path() / ("gpu_tool_test." + std::to_string(getpid()))) {
        checker::write_file(folder_ / "etc/os-release", "ID=debian\n");
        fs::create_directories(folder_ / "bin");
        // The system's own programs that the scripts call, and none of its compilers.
        for (const char* tool : {"awk", "cat", "dirname", "getconf", "grep", "head", "id", "mktemp", "realpath", "rm",
                                 "sed", "sh", "tail", "tr"}) {
            fs::create_symlink(checker::run_command(std::string("printf %s \"$(command -v ") + tool + ")\"").output,
                               folder_ / "bin" / tool);
        }
        install("apt-get", "");
    }
    ~GpuTool() override { fs::remove_all(folder_); }

    // nvcc of a release, which knows these architectures.
    void install_nvcc(const std::string& release, const std::string& known = "compute_75\\ncompute_90\\n") {
        install("nvcc", "case $1 in\n--version) echo 'Cuda compilation tools, release " + release + ", V" + release +
                            ".88' ;;\n--list-gpu-arch) printf '" + known + "' ;;\nesac\n");
    }
    // nvcc of a release that compiles nothing and says this instead, and g++ 14.
    void install_failing_nvcc(const std::string& release, const std::string& said) {
        install("nvcc", "case $1 in\n--version) echo 'Cuda compilation tools, release " + release + ", V" + release +
                            ".88' ;;\n--list-gpu-arch) printf 'compute_75\\ncompute_90\\n' ;;\n*) cat >&2 <<'SAID'\n" +
                            said + "\nSAID\nexit 1 ;;\nesac\n");
        install("g++", "echo 14.2.0\n");
    }
    void install(const std::string& program, const std::string& text) {
        checker::write_file(folder_ / "bin" / program, "#!/bin/sh\n" + text);
        fs::permissions(folder_ / "bin" / program, fs::perms::owner_all);
    }

    checker::Finished shell(const std::string& command) {
        return checker::run_command(
            "unset CUDA_HOME CUDA_PATH NVCC_CCBIN NVCC_CXX CUDA_VISIBLE_DEVICES SOL_ON_CPU; export PATH=" +
            (folder_ / "bin").string() + " SETUP_ROOT=" + folder_.string() + " SETUP_VENV=" + folder_.string() + "; " +
            command + " 2>&1");
    }
    checker::Finished run(const std::string& card, const std::string& options = "",
                          const std::string& driver = "build/tests/fakes/cuda_driver.so") {
        return shell("FAKE_CARD='" + card + "' SOL_LIBCUDA=" + fs::absolute(driver).string() + " build/tools/gpu " +
                     options);
    }
    // What it says of a toolkit that compiles nothing, in one line.
    std::string mend_of(const std::string& release, const std::string& said, const std::string& host = "") {
        install_failing_nvcc(release, said);
        const checker::Finished finished =
            shell((host.empty() ? "" : "NVCC_CXX=" + host + ' ') + "scripts/cuda.sh --compiles");
        EXPECT_EQ(finished.status, 1) << finished.output;
        EXPECT_EQ(std::ranges::count(finished.output, '\n'), 1) << finished.output;
        return finished.output.substr(0, finished.output.find('\n'));
    }

    const fs::path& folder() const { return folder_; }

  private:
    fs::path folder_;
};

// Of each error the lines that count, as compilers and headers print them.
constexpr const char* kUnsupportedCompiler =
    "In file included from /usr/local/cuda/bin/../targets/x86_64-linux/include/cuda_runtime.h:82,\n"
    "                 from <command-line>:\n"
    "/usr/local/cuda/bin/../targets/x86_64-linux/include/crt/host_config.h:143:2: error: #error -- unsupported GNU "
    "version! gcc versions later than 13 are not supported! The nvcc flag '-allow-unsupported-compiler' can be used to "
    "override this version check; however, using an unsupported host compiler may cause compilation failure or "
    "incorrect run time execution. Use at your own risk.\n"
    "  143 | #error -- unsupported GNU version! gcc versions later than 13 are not supported!";
constexpr const char* kNewGlibc =
    "/usr/include/x86_64-linux-gnu/bits/mathcalls.h(79): error: exception specification is incompatible with that of "
    "previous function \"cospi\" (declared at line 2601 of /usr/local/cuda/bin/../targets/x86_64-linux/include/crt/"
    "math_functions.h)\n"
    "   extern double cospi (double __x) noexcept (true); extern double __cospi (double __x) noexcept (true);\n";
constexpr const char* kNewerGlibc =
    "/usr/include/bits/mathcalls.h(206): error: exception specification is incompatible with that of previous function "
    "\"rsqrt\" (declared at line 629 of /usr/local/cuda/bin/../targets/x86_64-linux/include/crt/math_functions.h)\n"
    "   extern double rsqrt (double __x) noexcept (true); extern double __rsqrt (double __x) noexcept (true);\n";
constexpr const char* kNewGlibcOfArm =
    "/usr/include/bits/math-vector.h(30): error: identifier \"__Float32x4_t\" is undefined\n"
    "  typedef __Float32x4_t __f32x4_t;\n";
constexpr const char* kNoCompiler =
    "g++-13: No such file or directory\nnvcc fatal   : Failed to preprocess host compiler properties.";
constexpr const char* kHalfACompiler =
    "gcc: fatal error: cannot execute 'cc1plus': execvp: No such file or directory\ncompilation terminated.\n"
    "nvcc fatal   : Failed to preprocess host compiler properties.";
constexpr const char* kNoHeaders =
    "cc1plus: fatal error: cuda_runtime.h: No such file or directory\ncompilation terminated.";

TEST_F(GpuTool, NamesTheCardItsArchitectureAndTheVersions) {
    install_nvcc("13.0");
    const checker::Finished all = run("90 13000 NVIDIA H200");
    EXPECT_EQ(all.status, 0);
    EXPECT_EQ(all.output, "NVIDIA H200, sm_90a, driver for CUDA 13.0, nvcc 13.0\n");
    EXPECT_EQ(run("90 13000 NVIDIA H200", "--arch").output, "90a\n");
    EXPECT_EQ(run("75 13000 Tesla T4", "--arch").output, "75\n");
    EXPECT_EQ(run("90 13000 NVIDIA H200", "--name").output, "NVIDIA H200\n");
}

TEST_F(GpuTool, TakesTheFirstCardAsNvidiaSmiCountsThem) {
    install_nvcc("13.0");
    EXPECT_EQ(run("75 13000 Tesla T4", "--name").output, "Tesla T4\n");
}

TEST_F(GpuTool, SaysOfACardWithoutNvidiaSmiWhatTheDriverSaysEvenWithoutNvcc) {
    const checker::Finished finished = run("87 12060 Orin", "--json");
    EXPECT_EQ(finished.output,
              "{\"compute_capability\":\"8.7\",\"driver_cuda\":\"12.6\",\"integrated\":false,\"name\":\"Orin\","
              "\"pageable_memory_access\":false}\n");
}

TEST_F(GpuTool, SaysThatTheCardsKernelsMayReadTheHostsMemory) {
    install_nvcc("13.0");
    setenv("FAKE_PAGEABLE", "1", 1);
    const checker::Finished finished = run("90 13000 NVIDIA GH200 480GB");
    unsetenv("FAKE_PAGEABLE");
    EXPECT_NE(finished.output.find("its kernels may read the host's memory"), std::string::npos) << finished.output;
}

TEST_F(GpuTool, SaysThatThereIsNoDriver) {
    install_nvcc("13.0");
    const checker::Finished finished = run("", "", "no/such/driver.so");
    EXPECT_EQ(finished.status, 1);
    EXPECT_EQ(finished.output,
              "no NVIDIA driver: " + fs::absolute("no/such/driver.so").string() +
                  " cannot be opened; every lesson can be done without a GPU: make check-lesson04 DEVICE=cpu\n");
    EXPECT_TRUE(shell("SOL_ON_CPU='make check-lesson07 DEVICE=cpu' SOL_LIBCUDA=no/such.so build/tools/gpu")
                    .output.ends_with(": make check-lesson07 DEVICE=cpu\n"))
        << "what make says";
}

TEST_F(GpuTool, NamesTheVariableThatHidesEveryCard) {
    for (const std::string hidden : {"-1", "", "7"}) {
        const checker::Finished finished =
            shell("CUDA_VISIBLE_DEVICES=" + hidden + " FAKE_CARD=100 SOL_LIBCUDA=" +
                  fs::absolute("build/tests/fakes/cuda_driver.so").string() + " build/tools/gpu --arch");
        EXPECT_EQ(finished.status, 1);
        EXPECT_EQ(finished.output, "CUDA_VISIBLE_DEVICES=" + hidden + " hides every GPU: unset it\n");
    }
}

TEST_F(GpuTool, SaysThatTheDriverFindsNoCardOrDoesNotWork) {
    install_nvcc("13.0");
    EXPECT_NE(run("100").output.find("finds no GPU"), std::string::npos);
    const checker::Finished broken = run("999");
    EXPECT_EQ(broken.status, 1);
    EXPECT_NE(broken.output.find("cuInit returned error 999"), std::string::npos) << broken.output;
}

TEST_F(GpuTool, SaysThatNvccIsMissingOrTooOld) {
    install_nvcc("11.8");
    EXPECT_NE(run("90 13000 NVIDIA H200").output.find("nvcc is 11.8; CUDA 12.4 or newer is needed"), std::string::npos);
    install_nvcc("nothing");
    const checker::Finished missing = run("90 13000 NVIDIA H200");
    EXPECT_EQ(missing.status, 1);
    EXPECT_NE(missing.output.find("nvcc is not there"), std::string::npos) << missing.output;
    fs::remove(folder() / "bin/nvcc");
    EXPECT_NE(run("90 13000 NVIDIA H200").output.find("nvcc is not there"), std::string::npos);
    EXPECT_EQ(shell("scripts/cuda.sh --compiles").output,
              "nvcc is not there: make setup NVCC=1, or install the CUDA toolkit, 12.4 or newer\n");
}

TEST_F(GpuTool, SaysThatTheDriverIsOlderThanTheToolkit) {
    install_nvcc("13.0");
    const checker::Finished finished = run("90 12040 NVIDIA H100");
    EXPECT_EQ(finished.status, 1);
    EXPECT_NE(finished.output.find("update the driver, or put a toolkit 12.x first on PATH"), std::string::npos)
        << finished.output;
}

TEST_F(GpuTool, TakesANewerToolkitOfTheDriversOwnRelease) {
    install_nvcc("13.1");
    EXPECT_EQ(run("90 13000 NVIDIA H200").status, 0);
}

TEST_F(GpuTool, SaysThatTheCardIsTooOldForTheCourseOrTooNewForNvcc) {
    install_nvcc("12.4");
    EXPECT_NE(run("61 12040 GTX 1080").output.find("GTX 1080 is sm_61; the course's kernels are for sm_75"),
              std::string::npos);
    EXPECT_NE(run("120 13000 RTX 5090").output.find("nvcc 12.4 does not know RTX 5090 (sm_120)"), std::string::npos);
}

// ---- the host compiler and the C library --------------------------------------------------------------------------------

TEST_F(GpuTool, ThatNvccDoesNotTakeTheCompilerIsSaidWithTheNewestThatIsHereAndThatItTakes) {
    install("g++-12", "");
    install("g++-11", "");
    EXPECT_EQ(mend_of("12.4", kUnsupportedCompiler),
              "nvcc 12.4 takes g++ up to 13, and this is g++ 14.2.0: make … NVCC_CXX=g++-12");
    install("g++-13", "");
    EXPECT_EQ(mend_of("12.4", kUnsupportedCompiler),
              "nvcc 12.4 takes g++ up to 13, and this is g++ 14.2.0: make … NVCC_CXX=g++-13");
}

TEST_F(GpuTool, WhereNoCompilerIsHereThatNvccTakesItSaysHowToInstallOne) {
    EXPECT_EQ(mend_of("12.4", kUnsupportedCompiler),
              "nvcc 12.4 takes g++ up to 13, and this is g++ 14.2.0: apt-get install g++-13, then make … "
              "NVCC_CXX=g++-13");
    checker::write_file(folder() / "etc/os-release", "ID=fedora\n");
    install("dnf", "");
    EXPECT_NE(mend_of("12.4", kUnsupportedCompiler).find("dnf install gcc13-c++, then make … NVCC_CXX=g++-13"),
              std::string::npos);
    checker::write_file(folder() / "etc/os-release", "ID=arch\n");
    install("pacman", "");
    EXPECT_NE(mend_of("12.4", kUnsupportedCompiler).find("pacman -S gcc13, then make … NVCC_CXX=g++-13"),
              std::string::npos);
}

TEST_F(GpuTool, OfACLibraryThatIsNewerThanCudasHeadersItNamesTheReleaseThatKnowsIt) {
    install("getconf", "echo glibc 2.41\n");
    EXPECT_EQ(mend_of("12.4", kNewGlibc),
              "CUDA 12.4 does not compile on this glibc 2.41: CUDA 13 does; put its bin/ first on PATH");
    EXPECT_EQ(mend_of("13.0", kNewerGlibc),
              "CUDA 13.0 does not compile on this glibc 2.41: CUDA 13.2 does; put its bin/ first on PATH");
    EXPECT_EQ(mend_of("12.9", std::string(kNewGlibc) + kNewerGlibc),
              "CUDA 12.9 does not compile on this glibc 2.41: CUDA 13.2 does; put its bin/ first on PATH");
    EXPECT_EQ(mend_of("12.4", kNewGlibcOfArm),
              "CUDA 12.4 does not compile on this glibc 2.41 of ARM: CUDA 12.5 does; put its bin/ first on PATH");
}

// Debian 13 with CUDA 12: an older compiler would meet the same headers.
TEST_F(GpuTool, WhereTheCompilerAndTheCLibraryAreBothTooNewItNamesTheReleaseThatTakesBoth) {
    install("getconf", "echo glibc 2.41\n");
    install("g++-13", "");
    install("nvcc",
            std::string("case $* in\n--version) echo 'release 12.4, V12.4.131' ;;\n*-allow-unsupported-compiler*) "
                        "cat >&2 <<'SAID'\n") +
                kNewGlibc + "\nSAID\nexit 1 ;;\n*) cat >&2 <<'SAID'\n" + kUnsupportedCompiler +
                "\nSAID\nexit 1 ;;\nesac\n");
    EXPECT_EQ(shell("scripts/cuda.sh --compiles").output,
              "CUDA 12.4 does not compile on this glibc 2.41: CUDA 13 does; put its bin/ first on PATH\n");
}

TEST_F(GpuTool, ThatTheHostCompilerIsNotThereIsSaidWithWhatInstallsIt) {
    EXPECT_EQ(mend_of("12.4", kNoCompiler, "g++-13"),
              "nvcc's host compiler, g++-13, is not there: apt-get install g++-13, or NVCC_CXX= names another");
    EXPECT_EQ(mend_of("12.4",
                      "gcc: No such file or directory\nnvcc fatal   : Failed to preprocess host compiler properties."),
              "nvcc's host compiler, gcc, is not there: apt-get install gcc, or NVCC_CXX= names another");
    EXPECT_EQ(mend_of("12.4", kHalfACompiler),
              "nvcc's host compiler, g++, is not there: apt-get install g++, or NVCC_CXX= names another");
}

// Debian's own nvcc looks for a g++ that it takes, and knows clang.
TEST_F(GpuTool, ThatDebiansNvccFindsNoCompilerThatItTakesIsSaidWithTheNewestThatItTakes) {
    checker::write_file(folder() / "usr/include/crt/host_config.h", kUnsupportedCompiler);
    EXPECT_EQ(mend_of("12.4",
                      "ERROR: No supported gcc/g++ host compiler found, but clang-17 is available.\n"
                      "       Use 'nvcc -ccbin clang-17' to use that instead.\n"
                      "nvcc fatal   : Failed to preprocess host compiler properties."),
              "nvcc 12.4 takes g++ up to 13, and there is none: apt-get install g++-13");
}

TEST_F(GpuTool, ThatTheHostCompilerIsTooOldForCpp20IsSaidThoughNvccSucceeds) {
    install("nvcc",
            "case $1 in --version) echo 'release 12.4, V12.4.131' ;; *) echo 'nvcc warning : The -std=c++20 flag "
            "is not supported with the configured host compiler. Flag will be ignored.' ;; esac\n");
    install("g++", "echo 9.4.0\n");
    EXPECT_EQ(shell("scripts/cuda.sh --compiles").output,
              "nvcc's host compiler, g++ 9.4.0, is too old: apt-get install g++-11, then make … NVCC_CXX=g++-11\n");
}

TEST_F(GpuTool, OfWhatItDoesNotKnowItGivesTheFirstError) {
    EXPECT_EQ(mend_of("12.4", kNoHeaders),
              "nvcc 12.4 misses cuda_runtime.h, a header of its own: install all of the CUDA toolkit");
    EXPECT_EQ(mend_of("12.4", "a note\nnvcc error   : 'cicc' died due to signal 9 (Kill signal)\nanother note"),
              "nvcc 12.4 cannot compile an empty file: nvcc error   : 'cicc' died due to signal 9 (Kill signal)");
    EXPECT_EQ(mend_of("12.4", "sh: 1: cicc: not found"),
              "nvcc 12.4 cannot compile an empty file: sh: 1: cicc: not found");
}

TEST_F(GpuTool, TheToolCompilesWithTheCompilerThatWillBeUsedUnlessOnlyTheCardIsAsked) {
    install_failing_nvcc("12.4", kUnsupportedCompiler);
    const checker::Finished all = run("90 12040 NVIDIA H100");
    EXPECT_EQ(all.status, 1);
    EXPECT_TRUE(all.output.starts_with("nvcc 12.4 takes g++ up to 13, and this is g++ 14.2.0: ")) << all.output;
    EXPECT_EQ(run("90 12040 NVIDIA H100", "--arch").output, "90a\n");
    install("nvcc",
            "case \"$1 $*\" in\n--version*) echo 'Cuda compilation tools, release 12.4, V12.4.88' ;;\n"
            "--list*) printf 'compute_90\\n' ;;\n*' -ccbin g++-13 '*) ;;\n*) exit 1 ;;\nesac\n");
    EXPECT_EQ(shell("NVCC_CXX=g++-13 scripts/cuda.sh --compiles").status, 0);
}

// ---- where nvcc's files are ----------------------------------------------------------------------------------------------

TEST_F(GpuTool, FindsTheHeadersAndLibrariesThatTheDryRunNames) {
    for (const char* file :
         {"toolkit/include/cuda_runtime.h", "toolkit/lib64/libcudart.so", "toolkit/lib64/stubs/libcuda.so"}) {
        checker::write_file(folder() / file, "");
    }
    const std::string toolkit = (folder() / "toolkit").string();
    install("nvcc", "echo '#$ INCLUDES=\"-I" + toolkit + "/include\"  '\necho '#$ LIBRARIES=  \"-L" + toolkit +
                        "/lib64/stubs\" \"-L" + toolkit + "/lib64\"'\n");
    EXPECT_EQ(shell("scripts/cuda.sh --include").output, toolkit + "/include\n");
    EXPECT_EQ(shell("scripts/cuda.sh --lib").output, toolkit + "/lib64\n");
}

// Debian's own nvcc.
TEST_F(GpuTool, TakesADryRunWithoutIncludesAndWithoutQuotes) {
    checker::write_file(folder() / "lib/libcudart.so", "");
    const std::string stubs = (folder() / "lib/stubs").string();
    install("nvcc", "echo '#$ LIBRARIES=  -L" + stubs + " -L" + (folder() / "lib").string() + "'\n");
    EXPECT_EQ(shell("scripts/cuda.sh --include").output, "");
    EXPECT_EQ(shell("scripts/cuda.sh --lib").output, (folder() / "lib").string() + "\n");
    install("nvcc", "echo '#$ LIBRARIES=  -L/usr/lib/x86_64-linux-gnu/stubs'\n");
    EXPECT_EQ(shell("scripts/cuda.sh --lib").output, (folder() / "lib").string() + "\n") << "the toolkit's own";
    fs::remove_all(folder() / "lib");
    const checker::Finished systems = shell("scripts/cuda.sh --lib");
    EXPECT_EQ(systems.output, "");
    EXPECT_EQ(systems.status, 0);
}

TEST_F(GpuTool, WhatEveryCompilerSearchesIsNotNamed) {
    install("nvcc", "echo '#$ INCLUDES=\"-I/usr/include\"'\n");
    install("realpath", "echo /usr/include\n");
    checker::write_file(folder() / "include/cuda_runtime.h", "");
    EXPECT_EQ(shell("scripts/cuda.sh --include").output, "");
}

TEST_F(GpuTool, SaysWhatObjectsAreCompiledWith) {
    install_nvcc("12.4");
    install("g++-13", "echo 'g++-13 (Debian 13.3.0-1) 13.3.0'\n");
    install("getconf", "echo glibc 2.41\n");
    EXPECT_EQ(shell("NVCC_CXX=g++-13 scripts/cuda.sh --toolkit").output,
              (folder() / "bin/nvcc").string() + ", V12.4.88\ng++-13, g++-13 (Debian 13.3.0-1) 13.3.0\nglibc 2.41\n");
}

TEST_F(GpuTool, WhatGoesAfterPathIsEachFolderThatIsThereAndNotOnPathYet) {
    fs::create_directories(folder() / "usr/local/cuda-12.4/bin");
    fs::create_directories(folder() / "opt/cuda/bin");
    const std::string both =
        ":" + folder().string() + "/usr/local/cuda-12.4/bin:" + folder().string() + "/opt/cuda/bin";
    EXPECT_EQ(shell("scripts/cuda.sh --path").output, both);
    EXPECT_EQ(shell("PATH=$PATH" + both + " scripts/cuda.sh --path").output, "");
}

}  // namespace
