// SPDX-License-Identifier: MIT
//
// build/tools/gpu against a fake driver and a fake nvcc.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "checker/base/files.h"

namespace {

namespace fs = std::filesystem;

class GpuTool : public testing::Test {
  protected:
    GpuTool() : folder_(fs::temp_directory_path() / ("gpu_tool_test." + std::to_string(getpid()))) {
        fs::create_directories(folder_);
    }
    ~GpuTool() override { fs::remove_all(folder_); }

    // nvcc of a release, which knows these architectures.
    void install_nvcc(const std::string& release, const std::string& known = "compute_75\\ncompute_90\\n") {
        checker::write_file(folder_ / "nvcc",
                            "#!/bin/sh\ncase $1 in\n--version) echo 'Cuda compilation tools, release " + release +
                                ", V" + release + ".88' ;;\n--list-gpu-arch) printf '" + known + "' ;;\nesac\n");
        fs::permissions(folder_ / "nvcc", fs::perms::owner_all);
    }

    // A path without the system's nvcc: the shell's own tools are enough.
    checker::Finished run(const std::string& card, const std::string& options = "",
                          const std::string& driver = "build/tests/fakes/cuda_driver.so") {
        return checker::run_command("FAKE_CARD='" + card + "' SOL_LIBCUDA=" + fs::absolute(driver).string() + " PATH=" +
                                    folder_.string() + ":/usr/bin:/bin build/tools/gpu " + options + " 2>&1");
    }

  private:
    fs::path folder_;
};

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
    EXPECT_NE(finished.output.find("no NVIDIA driver"), std::string::npos) << finished.output;
    EXPECT_NE(finished.output.find("DEVICE=cpu"), std::string::npos) << finished.output;
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
    EXPECT_NE(run("90 13000 NVIDIA H200").output.find("needs CUDA 12.4 or newer"), std::string::npos);
    install_nvcc("nothing");
    const checker::Finished missing = run("90 13000 NVIDIA H200");
    EXPECT_EQ(missing.status, 1);
    EXPECT_NE(missing.output.find("nvcc is not there"), std::string::npos) << missing.output;
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

}  // namespace
