// SPDX-License-Identifier: MIT
//
// What nvcc builds for a GPU, run where none is: check programs and their shared objects as they are, with the stand-in
// for the CUDA runtime (checker/gpu/standin) in the place of NVIDIA's. Skipped where nvcc is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "checker/base/files.h"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string kProgram = "build/gpu/check/lesson04";
const std::string kImpl = "build/gpu/impl/solutions/04_first_kernel";
const std::vector<std::string> kOps = {"residual", "gelu", "encoder"};

struct Checked {
    int status = 0;
    std::string output;
    json verdict;
    std::vector<std::string> log;  // the stand-in's: process, function, error, a launch's kernel and shape

    // "ok", "WRONG", … of an op.
    std::string of(const std::string& op) const {
        for (const json& one : verdict.value("ops", json::array())) {
            if (one.at("op") == op) {
                return one.at("verdict");
            }
        }
        return "";
    }
    std::set<std::string> processes() const {
        std::set<std::string> numbers;
        for (const std::string& line : log) { numbers.insert(line.substr(0, line.find(' '))); }
        return numbers;
    }
};

class StandIn : public testing::Test {
  protected:
    void SetUp() override {
        if (!fs::exists("build/standin/libcudart.so")) {
            GTEST_SKIP() << "nvcc is not here, which builds what this runs";
        }
        static const checker::Finished built = build_lesson();
        ASSERT_EQ(built.status, 0) << built.output;
    }

    // With SOL_STANDIN, what goes wrong; `environment` more of its kind.
    static Checked check(const std::string& standin, const std::string& options, const std::string& environment = "",
                         const std::string& impl = kImpl) {
        const fs::path folder = "build/standin/test";
        fs::create_directories(folder);
        fs::remove(folder / "verdict.json");
        fs::remove(folder / "log");
        const checker::Finished finished = checker::run_command(
            "env LD_PRELOAD=build/standin/libcudart.so SOL_STANDIN_KERNELS=build/standin/kernels-04.so "
            "SOL_STANDIN_LOG=" +
            (folder / "log").string() + " SOL_STANDIN='" + standin + "' " + environment + ' ' + kProgram +
            " --subject solutions --impl-dir " + impl + " --reference-dir " + impl + " --json " +
            (folder / "verdict.json").string() + ' ' + options + " 2>&1");
        Checked checked{.status = finished.status, .output = finished.output, .verdict = {}, .log = {}};
        checked.verdict = json::parse(checker::read_file_if_there(folder / "verdict.json").value_or("{}"));
        std::istringstream log(checker::read_file_if_there(folder / "log").value_or(""));
        for (std::string line; std::getline(log, line);) { checked.log.push_back(line); }
        return checked;
    }
    // The times of one op at a small shape.
    static Checked time(const std::string& standin, const std::string& op, const std::string& environment = "") {
        const fs::path folder = "build/standin/lesson";
        fs::create_directories(folder);
        std::istringstream toml(checker::read_file("lessons/04_first_kernel/lesson.toml"));
        std::ofstream small(folder / "lesson.toml");
        for (std::string line; std::getline(toml, line);) {
            small << (line.rfind("shapes", 0) != 0                    ? line
                      : line.find("B=64 T=1024 C=768\"") != line.npos ? "shapes = [\"B=4 T=64 C=64\"]"
                                                                      : "shapes = [\"N=65536\"]")
                  << '\n';
        }
        small.close();
        return check(standin, "--timing-only --lesson-dir " + folder.string() + " --only " + op + "/timing",
                     environment);
    }

    // Names a card if there is none: which architecture nvcc compiles for changes nothing here. One process builds at
    // a time: two suites that run at once build the same program, and neither may start it while the other links it.
    static checker::Finished build(const std::string& targets) {
        const bool card = checker::run_command("build/tools/gpu --arch 2>&1").status == 0;
        const std::string named = "SOL_LIBCUDA=build/tests/fakes/cuda_driver.so FAKE_CARD='80 99000 Stand-in' ";
        fs::create_directories("build/standin");
        return checker::run_command((card ? "" : named) + "flock build/standin/lock make -s " + targets + " 2>&1");
    }

  private:
    static checker::Finished build_lesson() {
        std::string targets = kProgram + " build/standin/pinned/residual.so";
        for (const std::string& op : kOps) {
            targets += " " + kImpl + "/" + op + ".so build/standin/two/" + op + ".so";
        }
        return build(targets);
    }
};

bool says(const Checked& checked, const std::string& text) {
    return checked.output.find(text) != std::string::npos;
}

// Of `readelf -d`, what stands in brackets in the rows of a tag.
std::vector<std::string> dynamic_entries(const std::string& file, const std::string& tag) {
    std::istringstream rows(checker::run_command("readelf -d " + file).output);
    std::vector<std::string> found;
    for (std::string row; std::getline(rows, row);) {
        if (row.find(tag) != std::string::npos) {
            const std::size_t begin = row.find('[') + 1;
            found.push_back(row.substr(begin, row.find(']') - begin));
        }
    }
    return found;
}

TEST_F(StandIn, SolutionIsRightAsNvccHasBuiltIt) {
    const Checked checked = check("", "--no-timing");
    ASSERT_EQ(checked.status, 0) << checked.output;
    EXPECT_FALSE(checked.verdict.value("rehearsal", false));
    for (const std::string& op : kOps) {
        EXPECT_EQ(checked.of(op), "ok") << checked.output;
        EXPECT_TRUE(std::ranges::any_of(checked.log,
                                        [&](const std::string& line) {
                                            return line.find("launch 0 " + op + "_forward_kernel") != std::string::npos;
                                        }))
            << op << ": no kernel was launched by the name that nvcc's code registers";
    }
}

TEST_F(StandIn, SolutionOfLesson06IsRightTooWithTheOpsOfLesson05AroundIt) {
    if (std::getenv("SOL_FRESH") == nullptr) {
        GTEST_SKIP() << "nvcc takes half a minute for them: make test-all does it";
    }
    const std::string impl = "build/gpu/impl/solutions/06_coalescing";
    const checker::Finished built = build("build/standin/kernels-06.so build/gpu/check/lesson06 " + impl +
                                          "/layernorm.so " + impl + "/residual.so " + impl + "/gelu.so");
    ASSERT_EQ(built.status, 0) << built.output;
    const checker::Finished checked = checker::run_command(
        "env LD_PRELOAD=build/standin/libcudart.so SOL_STANDIN_KERNELS=build/standin/kernels-06.so "
        "build/gpu/check/lesson06 --subject solutions --no-timing --impl-dir " +
        impl + " --reference-dir " + impl + " 2>&1");
    EXPECT_EQ(checked.status, 0) << checked.output;
    EXPECT_NE(checked.output.find("all ok  3 ops"), std::string::npos) << checked.output;
}

TEST_F(StandIn, ProgramAndSharedObjectsFindTheRuntimeOfNvccByThemselves) {
    std::vector<std::string> files{kProgram};
    for (const std::string& op : kOps) { files.push_back(kImpl + "/" + op + ".so"); }
    for (const std::string& file : files) {
        const std::vector<std::string> needed = dynamic_entries(file, "(NEEDED)");
        const auto runtime =
            std::ranges::find_if(needed, [](const std::string& name) { return name.rfind("libcudart.so.", 0) == 0; });
        ASSERT_NE(runtime, needed.end()) << file;
        const std::vector<std::string> paths = dynamic_entries(file, "PATH)");  // RUNPATH, or the older RPATH
        EXPECT_TRUE(std::ranges::any_of(paths, [&](const std::string& path) {
            std::istringstream folders(path);
            bool there = false;
            for (std::string folder; std::getline(folders, folder, ':');) {
                there = there || fs::exists(fs::path(folder) / *runtime);
            }
            return there;
        })) << file;
        const std::string loaded =
            checker::run_command(
                "env -u LD_LIBRARY_PATH LD_TRACE_LOADED_OBJECTS=1 " +
                (file == kProgram ? file : "$(readelf -p .interp " + kProgram + " | grep -o '/[^ ]*') --list " + file))
                .output;
        EXPECT_NE(loaded.find(*runtime + " => /"), std::string::npos) << file << '\n' << loaded;
    }
}

TEST_F(StandIn, TakesTimesBehindADelayAndGivesAMedal) {
    const Checked checked = time("", "encoder");
    ASSERT_EQ(checked.status, 0) << checked.output;
    const json& shape = checked.verdict.at("ops").at(0).at("timing").at("shapes").at(0);
    EXPECT_NEAR(shape.at("median_ms").get<double>(), 0.020, 1e-6) << "the stand-in's time of a kernel";
    EXPECT_GE(shape.at("samples").get<int>(), 20);
    EXPECT_TRUE(says(checked, "encoder  gold    20.0 us, 100% of a copy's speed")) << checked.output;
}

TEST_F(StandIn, WaitsLongerWhereTheHostQueuesTooLate) {
    const Checked checked = time("host_us=100", "encoder");
    ASSERT_EQ(checked.status, 0) << checked.output;
    const json& shape = checked.verdict.at("ops").at(0).at("timing").at("shapes").at(0);
    EXPECT_NEAR(shape.at("median_ms").get<double>(), 0.020, 1e-6) << "without the time in which the host queued it";
}

TEST_F(StandIn, TakesAnEventThatIsNeverReadyForOneThatIsNotLate) {
    EXPECT_TRUE(says(time("cudaEventQuery=600", "encoder"), "encoder  gold    20.0 us"));
}

TEST_F(StandIn, SaysWhatTheCardHasNoRoomForAndGoesOn) {
    const Checked checked = check("memory=257", "--no-timing");
    EXPECT_EQ(checked.status, 0) << checked.output;
    EXPECT_TRUE(says(checked, "N=1100003 is not checked: it wants")) << checked.output;
    const Checked third = check("cudaMalloc@3=2", "--no-timing --only residual");
    EXPECT_EQ(third.status, 0) << third.output;
    EXPECT_TRUE(says(third, "B=2 T=8 C=64 is not checked: it wants")) << third.output;
}

TEST_F(StandIn, SaysOfEachOpThatTheCardHasNoRoomToTimeWhichItIs) {
    const Checked checked = check("memory=900", "--timing-only");
    EXPECT_EQ(checked.status, 0) << checked.output;
    for (const std::string& op : kOps) { EXPECT_TRUE(says(checked, "  " + op + ' ')) << op << '\n' << checked.output; }
    EXPECT_TRUE(says(checked, " of 3 ops timed; ")) << checked.output;
    EXPECT_FALSE(says(checked, "all ok")) << checked.output;
}

TEST_F(StandIn, AsksForNoMoreThanIsFreeWhereTheDriverWouldTakeTheHostsMemory) {
    const Checked checked = check("memory=257 spill=1", "--no-timing --only residual");
    EXPECT_EQ(checked.status, 0) << checked.output;
    EXPECT_TRUE(says(checked, "N=1100003 is not checked: it wants")) << checked.output;
    EXPECT_FALSE(says(checked, "B=2 T=8 C=64 is not checked")) << "1 MiB is free: " << checked.output;
}

TEST_F(StandIn, NamesTheLineOfALaunchThatWasRefused) {
    for (const auto& [code, words] :
         {std::pair{701, "__launch_bounds__"}, std::pair{9, "cudaErrorInvalidConfiguration"}}) {
        const Checked checked = check("gelu_forward_kernel=" + std::to_string(code), "--no-timing");
        EXPECT_EQ(checked.status, 1) << checked.output;
        EXPECT_EQ(checked.of("gelu"), "WRONG") << checked.output;
        EXPECT_TRUE(says(checked, "threw an exception: solutions/04_first_kernel/gelu.cu:")) << checked.output;
        EXPECT_TRUE(says(checked, words)) << checked.output;
        EXPECT_EQ(checked.of("encoder"), "ok") << "the op after it: " << checked.output;
    }
}

TEST_F(StandIn, EndsTheWorkerWithTheContextAndGoesOnInAnother) {
    const struct {
        int code;
        const char* says;
    } rows[] = {{700, "a kernel read or wrote memory that is not its own"},
                {716, "a kernel used an address that is no multiple of the access's size"},
                {719, "the device stopped a kernel"},
                {702, "the driver stopped a kernel that did not end"}};
    for (const auto& row : rows) {
        const Checked checked = check("gelu_forward_kernel@2=" + std::to_string(row.code), "--no-timing --only gelu");
        EXPECT_EQ(checked.status, 1) << checked.output;
        EXPECT_TRUE(says(checked, row.says)) << checked.output;
        EXPECT_TRUE(says(checked, "the lesson's check with DEVICE=cpu names line")) << checked.output;
        EXPECT_TRUE(says(check("gelu_forward_kernel@2=" + std::to_string(row.code), "--no-timing --only gelu",
                               "SOL_ON_CPU='make check-lesson04 DEVICE=cpu'"),
                         "a GPU does not say: make check-lesson04 DEVICE=cpu names line"))
            << "what make says";
        EXPECT_FALSE(says(checked, "further finding"))
            << "a call that failed because of the first error is not a finding of its own: " << checked.output;
    }
    const Checked all = check("gelu_forward_kernel=700", "--no-timing");
    EXPECT_EQ(all.of("gelu"), "WRONG") << all.output;
    EXPECT_EQ(all.of("encoder"), "ok") << "the op after it: " << all.output;
    EXPECT_GE(all.processes().size(), 3U) << "one before it, one for each of its cases, one after it";
}

TEST_F(StandIn, StopsAKernelThatDoesNotEnd) {
    const Checked checked = check("gelu_forward_kernel=hang", "--no-timing --only gelu", "SOL_TIMEOUT_S=2");
    EXPECT_EQ(checked.status, 1);
    EXPECT_TRUE(says(checked, "was still running after 2 s: a loop that does not end?")) << checked.output;
}

// One line, and the exit status of a check that cannot run: no op is to blame.
void expect_refused(const Checked& checked, const std::vector<std::string>& words) {
    EXPECT_EQ(checked.status, 2) << checked.output;
    EXPECT_EQ(std::ranges::count(checked.output, '\n'), 1) << checked.output;
    EXPECT_EQ(checked.output.rfind("check: ", 0), 0U) << checked.output;
    for (const std::string& word : words) { EXPECT_TRUE(says(checked, word)) << word << '\n' << checked.output; }
}

TEST_F(StandIn, SaysInOneLineWhyNoGpuCanBeUsedAndWhatMendsIt) {
    const struct {
        const char *standin, *why, *mend;
    } rows[] = {
        {"cudaGetDeviceCount=35", "CUDA driver version is insufficient", "make doctor"},
        {"cudaGetDeviceCount=100", "no CUDA-capable device is detected", "make doctor"},
        {"cudaGetDeviceCount=3", "initialization error", "restart"},
        {"cudaGetDeviceCount=803", "unsupported display driver", "restart the machine"},
        {"cudaFree=46", "busy or unavailable", "another program may have the card for itself"},
        {"cudaFree=2", "out of memory", "nvidia-smi names the programs"},
        {"memory=200", "out of memory", "nvidia-smi names the programs"},
        {"cudaFree=802", "system not yet initialized", "nvidia-fabricmanager"},
        {"cudaGetDeviceProperties=999", "unknown error", "restart"},
    };
    for (const auto& row : rows) {
        expect_refused(check(row.standin, "--no-timing"), {"check: no GPU can be used: ", row.why, row.mend});
    }
}

TEST_F(StandIn, SaysThatADriverDoesNotAnswer) {
    expect_refused(check("cudaGetDeviceCount=hang", "--no-timing", "SOL_TIMEOUT_S=1"),
                   {"its driver has not answered in 1 s"});
}

TEST_F(StandIn, BlamesNoOpForWhatTheMachineOrTheBuildDoes) {
    const struct {
        int code;
        const char* mend;
    } rows[] = {{209, "rm -r build/gpu"}, {222, "rm -r build/gpu"}, {214, "the card's memory is at fault"}};
    for (const auto& row : rows) {
        const std::string code = std::to_string(row.code);
        expect_refused(check("gelu_forward_kernel=" + code, "--no-timing"), {row.mend});
        expect_refused(time("encoder_forward_kernel@20=" + code, "encoder"), {row.mend});
    }
    expect_refused(time("delay_kernel=209", "encoder"), {"rm -r build/gpu"});
}

TEST_F(StandIn, FindsTwoRuntimesInOneProcess) {
    const std::vector<std::string> words = {"two CUDA runtimes in one process", "standin/libcudart.so",
                                            "standin/other/libcudart.so.", "rm -r build/gpu"};
    expect_refused(check("", "--no-timing", "", "build/standin/two"), words);
    expect_refused(check("", "--timing-only", "", "build/standin/two"), words);
}

TEST_F(StandIn, RejectsAnOpThatTakesFreshPinnedMemoryForZeros) {
    for (const char* function : {"cudaMallocHost", "cudaHostAlloc"}) {
        const Checked checked =
            check("", "--no-timing --only residual", std::string("SOL_PINNED=") + function, "build/standin/pinned");
        EXPECT_EQ(checked.status, 1) << function << '\n' << checked.output;
        EXPECT_TRUE(says(checked, "reads memory that it has not written")) << function << '\n' << checked.output;
        const auto calls_it = [&](const std::string& line) { return line.find(function) != std::string::npos; };
        EXPECT_TRUE(std::ranges::any_of(checked.log, calls_it)) << function << ": the runtime has allocated nothing";
    }
}

TEST_F(StandIn, SaysOfATimedOpTooWhyTheDeviceEndedIt) {
    const Checked checked = time("encoder_forward_kernel@40=700", "encoder");
    EXPECT_EQ(checked.status, 1);
    EXPECT_TRUE(says(checked, "finding   a kernel read or wrote memory that is not its own")) << checked.output;
}

TEST_F(StandIn, SaysWhereTheHostsTimeIsInTheTimes) {
    const Checked checked = time("host_us=10000", "encoder");
    EXPECT_EQ(checked.status, 0);
    EXPECT_TRUE(says(checked, "the GPU had begun before the host had queued all")) << checked.output;
}

}  // namespace
