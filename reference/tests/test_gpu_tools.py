# SPDX-License-Identifier: MIT
"""The parsers of nvidia-smi, compute-sanitizer and Nsight Compute, on samples and on malformed text. Samples of two
releases each, and where their format is known from, are in data/ (data/README.md)."""

import os
import shutil
import sys
import time
from pathlib import Path

import pytest

from reference.gpu import tools
from reference.gpu.tools import Card, Kernel, ToolError

DATA = Path(__file__).parent / "data"


def sample(name: str) -> str:
    return (DATA / name).read_text()


def log(name: str) -> str:
    return sample(f"compute-sanitizer-2025.3/{name}.log")


def counted(name: str) -> str:
    return sample(f"ncu-2025.3/{name}")


def script(folder: Path, body: str, name: str = "program") -> list[str]:
    program = folder / name
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return [str(program)]


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """Makes a tool that is found first."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return lambda name, body: script(tmp_path, body, name)


# ---- the card --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("NVIDIA H200", "nvidia-h200"),
        ("NVIDIA H100 80GB HBM3", "nvidia-h100-80gb-hbm3"),
        ("NVIDIA GeForce RTX 4090", "nvidia-geforce-rtx-4090"),
        ("../Tesla/T4 (x)", "tesla-t4-x"),
    ],
)
def test_a_cards_name_becomes_a_file_name(name, slug):
    assert Card(name, "1").slug == slug


def test_what_a_card_does_not_tell_is_none(tool):
    tool("nvidia-smi", "echo 'NVIDIA T4, 535.1, 7.5, 15360, [N/A], 5001, [Not Supported]'")
    card = tools.read_card()
    assert (card.name, card.driver, card.compute_capability) == ("NVIDIA T4", "535.1", "7.5")
    assert (card.memory_mib, card.sm_clock_max_mhz, card.power_limit_w) == (15360, None, None)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("echo 'No devices were found'; exit 6", "finds no GPU: No devices were found"),
        ("exit 9", "finds no GPU: exit status 9"),
        ("echo one, two", "printed 'one, two', not 7 values"),
        ("true", "printed '', not 7 values"),
        ("echo ', 1, 2, 3, 4, 5, 6'", "calls the card ''"),
    ],
)
def test_an_nvidia_smi_that_finds_nothing_is_one_line(tool, body, message):
    tool("nvidia-smi", body)
    with pytest.raises(ToolError, match="nvidia-smi") as error:
        tools.read_card()
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def only_under(monkeypatch, root: Path) -> None:
    """No tools but those in the usual folders under that root."""
    for name in ("CUDA_HOME", "CUDA_PATH", "NVCC_CXX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(root / "empty"))
    monkeypatch.setenv("SETUP_ROOT", str(root))
    monkeypatch.setenv("SETUP_VENV", str(root / "empty"))


@pytest.fixture
def no_nvidia_smi(monkeypatch, tmp_path):
    """A machine whose tools folder this test fills."""
    only_under(monkeypatch, tmp_path)
    monkeypatch.setattr(tools, "GPU_TOOL", tmp_path / "gpu")
    return lambda body: script(tmp_path, body, "gpu")


JETSON = '{"name": "Orin", "driver_cuda": "12.6", "compute_capability": "8.7"}'


def test_without_nvidia_smi_the_driver_names_the_card(no_nvidia_smi):
    no_nvidia_smi(f"[ $1 = --json ] && echo '{JETSON}'")
    assert tools.read_card() == Card("Orin", "for CUDA 12.6", "8.7")


def test_where_nvidia_smi_tells_nothing_the_driver_names_the_card(tool, tmp_path, monkeypatch):
    tool("nvidia-smi", "echo '[N/A], 540.4.0, [N/A], [N/A], [N/A], [N/A], [N/A]'")
    monkeypatch.setattr(tools, "GPU_TOOL", tmp_path / "gpu")
    script(tmp_path, f"echo '{JETSON}'", "gpu")
    assert tools.read_card().name == "Orin"


def test_without_nvidia_smi_and_a_driver_the_drivers_absence_is_said(no_nvidia_smi):
    no_nvidia_smi("echo 'no NVIDIA driver' >&2; exit 1")
    with pytest.raises(ToolError, match=r"^no NVIDIA driver$"):
        tools.read_card()


@pytest.mark.parametrize(("visible", "index"), [(None, "0"), ("1", "1"), ("2,0", "2"), ("GPU-8a3b", "GPU-8a3b")])
def test_the_card_is_the_first_that_programs_may_see(monkeypatch, visible, index):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert tools.card_index() == index


@pytest.mark.parametrize("visible", ["", "-1"])
def test_cards_that_are_all_hidden_are_said_to_be(monkeypatch, visible):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    with pytest.raises(ToolError, match="CUDA_VISIBLE_DEVICES hides every GPU"):
        tools.card_index()


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 13.0, V13.0.88", "13.0"),
        ("NVIDIA (R) Nsight Compute Command Line Profiler\nVersion 2025.3.1.0 (build 36398880)", "2025.3.1.0"),
    ],
)
def test_a_tools_version_is_read(tool, tmp_path, said, version):
    (tmp_path / "said").write_text(said)
    tool("ncu", f"cat {tmp_path}/said")
    assert tools.version("ncu") == version


def test_a_tool_that_a_package_brought_is_found_after_that_of_the_path(monkeypatch, tmp_path):
    packaged = executable(tmp_path / ".venv/lib/python3.11/site-packages/nvidia/cu13/bin/nvdisasm")
    on_path = executable(tmp_path / "bin/nvdisasm")
    only_under(monkeypatch, tmp_path)
    monkeypatch.setenv("SETUP_VENV", str(tmp_path / ".venv"))
    assert tools.find("nvdisasm") == [str(packaged)]
    monkeypatch.setenv("PATH", str(on_path.parent))
    assert tools.find("nvdisasm") == [str(on_path)]


@pytest.mark.parametrize(
    "folder", ["usr/local/cuda/bin", "usr/local/cuda-12.4/bin", "opt/cuda/bin", "usr/lib/nvidia-cuda-toolkit/bin"]
)
def test_a_toolkit_in_a_usual_folder_needs_no_path(monkeypatch, tmp_path, folder):
    nvcc = executable(tmp_path / folder / "nvcc")
    only_under(monkeypatch, tmp_path)
    assert tools.find("nvcc") == [str(nvcc)]


def test_of_several_toolkits_the_one_that_the_environment_names_is_taken_then_the_linked_one_then_the_newest(
    monkeypatch, tmp_path
):
    older, newer = (executable(tmp_path / f"usr/local/cuda-{release}/bin/nvcc") for release in ("9.2", "12.4"))
    newest = executable(tmp_path / "usr/local/cuda-13.0/bin/nvcc")
    only_under(monkeypatch, tmp_path)
    assert tools.find("nvcc") == [str(newest)]
    newest.unlink()
    assert tools.find("nvcc") == [str(newer)]
    linked = executable(tmp_path / "usr/local/cuda/bin/nvcc")
    assert tools.find("nvcc") == [str(linked)]
    monkeypatch.setenv("CUDA_PATH", str(older.parents[1]))
    assert tools.find("nvcc") == [str(older)]


def test_a_tool_is_found_beside_the_nvcc_that_path_links_to(monkeypatch, tmp_path):
    nvcc, ncu = executable(tmp_path / "toolkit/bin/nvcc"), executable(tmp_path / "toolkit/bin/ncu")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/nvcc").symlink_to(nvcc)
    (tmp_path / "bin/realpath").symlink_to(shutil.which("realpath"))
    only_under(monkeypatch, tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert tools.find("ncu") == [str(ncu)]


def test_nvcc_takes_the_host_compiler_that_the_environment_names(monkeypatch, tmp_path):
    nvcc, disassembler = executable(tmp_path / "bin/nvcc"), executable(tmp_path / "bin/nvdisasm")
    monkeypatch.setenv("PATH", str(nvcc.parent))
    monkeypatch.setenv("NVCC_CXX", "g++-13")
    assert tools.find("nvcc") == [str(nvcc), "-ccbin", "g++-13"]
    assert tools.find("nvdisasm") == [str(disassembler)]


def test_a_missing_tool_is_named_with_its_mend(monkeypatch, tmp_path):
    only_under(monkeypatch, tmp_path)
    for tool in ("nvidia-smi", "nvcc", "ncu", "compute-sanitizer"):
        with pytest.raises(
            ToolError, match=f"^{tool} is not there: (it comes with|a whole CUDA toolkit has|make setup NVCC=1) "
        ):
            tools.find(tool)


def test_a_tool_beside_nvcc_is_found_without_path(monkeypatch, tmp_path):
    ncu = executable(tmp_path / "usr/local/cuda/bin/ncu")
    only_under(monkeypatch, tmp_path)
    assert tools.find("ncu") == [str(ncu)]


# ---- clocks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (0, []),
        (0x1, ["idle"]),
        (0x4, ["power cap"]),
        (0x24, ["power cap", "thermal slowdown by software"]),
        (0xC8, ["hardware slowdown", "thermal slowdown by hardware", "power brake"]),
        (0x2000, ["unknown reason 0x2000"]),
        (0x4 | 0x4000, ["power cap", "unknown reason 0x4000"]),
    ],
)
def test_throttle_reasons_are_words(mask, words):
    assert tools.reasons(mask) == words


def test_clock_samples_are_summarised():
    samples = [tools.parse_clocks(line) for line in sample("nvidia-smi.csv").splitlines()]
    summary = tools.summarise_clocks(samples)
    assert summary["samples"] == 4
    assert summary["sm_mhz"] == {"median": 1747.5, "min": 345, "max": 1980}
    assert summary["power_w"]["max"] == 699.83  # [N/A] does not count
    assert summary["held_back_by"] == {"power cap": 0.5, "idle": 0.25, "thermal slowdown by software": 0.25}


def test_lines_that_are_no_samples_are_left_out():
    assert tools.parse_clocks("Unable to determine the device handle, gone") is None
    assert tools.parse_clocks("1980, 3201") is None
    assert tools.parse_clocks("") is None
    assert tools.parse_clocks("[N/A], [N/A], [N/A], [N/A], [N/A]") is None
    assert tools.parse_clocks("1980, 3201, 70, 31, [N/A]").mask is None


def test_no_sample_is_no_summary():
    assert tools.summarise_clocks([]) is None
    only_mask = tools.summarise_clocks([tools.parse_clocks("[N/A], [N/A], [N/A], [N/A], 0x4")])
    assert only_mask["sm_mhz"] is None
    assert only_mask["held_back_by"] == {"power cap": 1.0}


def test_the_log_of_clocks_ends_with_its_block(monkeypatch):
    monkeypatch.setenv("PATH", os.environ["PATH"])
    tools.rehearse()
    with tools.ClockLog() as clocks:
        deadline = time.monotonic() + 30
        while len(clocks.samples) < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
    assert clocks.process.returncode is not None
    assert clocks.since(0)["samples"] >= 3
    assert clocks.since(len(clocks.samples)) is None


def test_an_older_driver_is_asked_by_the_older_name(tool):
    body = (
        "case $* in *clocks_event*) exit 2;; *-lms*) echo 1, 2, 3, 4, 0x4; exec sleep 100;; esac; echo 1, 2, 3, 4, 0x0"
    )
    tool("nvidia-smi", body)
    with tools.ClockLog() as clocks:
        deadline = time.monotonic() + 30
        while not clocks.samples and time.monotonic() < deadline:
            time.sleep(0.05)
    assert clocks.since(0)["held_back_by"] == {"power cap": 1.0}


def test_without_nvidia_smi_there_are_no_clocks(monkeypatch, tmp_path):
    only_under(monkeypatch, tmp_path)
    with tools.ClockLog() as clocks:
        pass
    assert clocks.since(0) is None


# ---- running a program -----------------------------------------------------------------------------------------------


def test_a_program_that_runs_past_its_time_is_ended_with_its_children(tmp_path):
    body = f"sleep 60 & echo $! >{tmp_path}/child; echo said; wait"
    done = tools.run(script(tmp_path, body), 1.0)
    assert done.status is None
    assert "said" in done.output
    assert done.seconds < 30
    child = Path(f"/proc/{(tmp_path / 'child').read_text().strip()}/status")

    def has_ended() -> bool:
        try:
            return "zombie" in child.read_text()
        except OSError:
            return True

    until = time.monotonic() + 30  # it was told to end; a busy machine lets it do so later
    while not has_ended():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_make_that_is_started_does_not_join_another_makes_job_server(monkeypatch):
    monkeypatch.setenv("MAKEFLAGS", "j4 --jobserver-auth=3,4")
    done = tools.run([sys.executable, "-c", "import os; print(os.environ.get('MAKEFLAGS'))"], 30)
    assert done.output == "None\n"


# ---- compute-sanitizer -----------------------------------------------------------------------------------------------


RELEASES = ("2024.1", "2025.3")
RESIDUAL, SOFTMAX = "residual_forward_kernel", "softmax_forward_kernel"
# Of a log: errors, warnings, and the distinct ones with how often each was printed.
FACTS = {
    "clean": (0, 0, {}),
    "clean_racecheck": (0, 0, {}),
    "memcheck": (
        252,
        0,
        {
            f"Invalid __global__ read of size 4 bytes at residual.cu:19 in {RESIDUAL}": 2,
            'Program hit cudaErrorLaunchFailure (error 719) due to "unspecified launch failure" on CUDA API call to '
            "cudaStreamSynchronize": 1,
        },
    ),
    "overflow": (257, 0, {f"Invalid __global__ read of size 4 bytes at residual.cu:19 in {RESIDUAL}": 1}),
    "without_lines": (1, 0, {f"Invalid __global__ write of size 16 bytes at {RESIDUAL}": 1}),
    "leak": (1, 0, {"Leaked 1,024 bytes": 1}),
    "initcheck": (
        1,
        0,
        {"Uninitialized __global__ memory read of size 4 bytes at gelu.cu:24 in gelu_forward_kernel": 1},
    ),
    "initcheck_host": (2, 0, {"Host API memory access error at cudaMemcpy": 2}),
    "racecheck": (
        1,
        1,
        {
            f"race between softmax.cu:31 in {SOFTMAX} and softmax.cu:33 in {SOFTMAX}": 1,
            f"race (warning) between softmax.cu:31 in {SOFTMAX} and softmax.cu:34 in {SOFTMAX} and softmax.cu:36 in "
            f"{SOFTMAX}": 1,
        },
    ),
    "racecheck_without_lines": (1, 0, {f"race between {SOFTMAX}": 1}),
    "synccheck": (1, 0, {f"Barrier error detected. Invalid arguments at softmax.cu:29 in {SOFTMAX}": 1}),
    "divergent": (2, 0, {f"Barrier error detected. Divergent thread(s) in block at softmax.cu:40 in {SOFTMAX}": 2}),
    "killed": (0, 0, {}),
    "driver_probe": (0, 0, {}),
}


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("name", FACTS)
def test_two_releases_of_compute_sanitizer_say_the_same(release, name):
    report = tools.parse_sanitizer(sample(f"compute-sanitizer-{release}/{name}.log"))
    assert (report.errors, report.warnings, report.distinct) == FACTS[name]
    assert report.unended == ("process didn't terminate successfully" if name == "killed" else "")


@pytest.mark.parametrize("release", RELEASES)
def test_a_launch_that_compute_sanitizer_did_not_watch_is_not_taken_for_a_clean_one(release):
    with pytest.raises(ToolError, match="did not watch every launch: The Sanitizer encountered an error"):
        tools.parse_sanitizer(sample(f"compute-sanitizer-{release}/untracked.log"))


def test_every_sample_of_compute_sanitizer_is_there_in_both_releases():
    names = [{path.stem for path in (DATA / f"compute-sanitizer-{release}").glob("*.log")} for release in RELEASES]
    assert names == [set(FACTS) | {"untracked"}] * 2


def test_a_race_on_lines_of_its_own_is_read_too():
    text = (
        "========= Error: Race reported between Write access at\n"
        "=========     k(float *)+0xb0 in x.cu:28\n"
        "=========     and Read access at k(float *)+0xc0 in x.cu:30 [4 hazards]\n"
        "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n"
    )
    report = tools.parse_sanitizer(text)
    assert report.errors == 1
    assert "x.cu:30 in k" in next(iter(report.distinct))


def test_the_summaries_of_several_processes_are_added():
    text = log("initcheck") + log("clean") + log("initcheck")
    report = tools.parse_sanitizer(text)
    assert report.errors == 2
    assert list(report.distinct.values()) == [2]


# compute-sanitizer does not count it among the errors of its summary.
def test_a_process_that_did_not_end_well_is_no_error_of_a_kernel_and_is_said():
    ended = "========= Error: process didn't terminate successfully\n========= Target application returned an error\n"
    report = tools.parse_sanitizer(log("initcheck").replace("========= ERROR", f"{ended}========= ERROR"))
    assert report.errors == 1
    assert len(report.distinct) == 1
    assert next(iter(report.distinct)).startswith("Uninitialized")
    assert report.unended == "process didn't terminate successfully"
    clean = tools.parse_sanitizer(log("clean").replace("========= ERROR", f"{ended}========= ERROR"))
    assert (clean.errors, clean.distinct) == (0, {})
    assert clean.unended == "process didn't terminate successfully"
    assert tools.parse_sanitizer(log("clean")).unended == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "wrote no summary; the last line of its log: none"),
        ("========= COMPUTE-SANITIZER\n========= Invalid __global__ read\n", "wrote no summary"),
        (
            "========= Error: Device not supported. Please refer to the manual\n",
            "cannot run here: device not supported",
        ),
        (
            "========= Error: Target application terminated before first instrumented API call\n",
            "the program never reached the GPU",
        ),
        ("========= Error: No attachable process found. compute-sanitizer timed-out.\n", "ended before it reached"),
        ("========= Unable to find injection library libsanitizer-collection.so\n", "its installation is not whole"),
        (
            "========= Error: process didn't terminate successfully\n"
            "========= Error: Target application terminated before first instrumented API call\n",
            "the program never reached the GPU",
        ),
    ],
)
def test_a_log_without_a_summary_says_nothing_of_the_kernel(text, message):
    with pytest.raises(ToolError) as error:
        tools.parse_sanitizer(text)
    assert message in str(error.value)


def test_an_unsupported_device_is_not_taken_for_a_clean_kernel():
    with pytest.raises(ToolError, match="device not supported"):
        tools.parse_sanitizer("========= Error: Device not supported\n" + log("clean"))


# ---- Nsight Compute --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", RELEASES)
def test_two_releases_of_nsight_compute_count_the_same(release):
    (kernel,) = tools.parse_ncu(sample(f"ncu-{release}/raw.csv"))
    assert (kernel.name, kernel.grid, kernel.block) == ("layernorm_forward_kernel", "(128, 1, 1)", "(32, 1, 1)")
    assert set(kernel.values) == set(tools.METRICS.values())
    assert (kernel.values["time_ns"], kernel.values["dram_bytes_read"]) == (9984, 12613120)
    assert kernel.ratio("global_load_sectors", "global_load_requests") == 32
    assert kernel.ratio("shared_load_bank_conflicts", "shared_load_wavefronts") is None  # no request
    assert kernel.limited_by() == "shared memory, blocks"


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("denied", "keeps the counters to root (ERR_NVGPUCTRPERM)"),
        ("resource", "something else reads the card's counters (driver resource was unavailable): stop it, DCGM by"),
        ("unsupported", "ncu: Profiling is not supported on device 0."),
        ("driver", "ncu: Cuda driver is not compatible with Nsight Compute."),
        ("unknown", "ncu: Unknown Error on device 0."),
        ("none", "no kernel of this name was launched"),
        ("crashed", "the program ended with exit status 11 under ncu"),
    ],
)
def test_two_releases_of_nsight_compute_fail_for_the_same_reason(release, name, why):
    with pytest.raises(ToolError) as error:
        tools.parse_ncu(sample(f"ncu-{release}/{name}.txt"))
    assert why in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("release", RELEASES)
def test_nsight_computes_page_of_details_holds_no_counters_for_us(release):
    with pytest.raises(ToolError, match="printed no counters"):
        tools.parse_ncu(sample(f"ncu-{release}/details.csv"))


def test_tools_are_run_in_a_locale_whose_numbers_are_read(tmp_path, monkeypatch):
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert tools.run(script(tmp_path, 'echo "$LC_ALL"'), 30).output == "C\n"


def test_counters_are_read_in_base_units():
    text = counted("raw.csv").replace('"ns"', '"us"').replace('"byte"', '"Mbyte"').replace('"9,984"', '"9.98"')
    (kernel,) = tools.parse_ncu(text.replace('"12,613,120"', '"12.61"'))
    assert (kernel.values["time_ns"], kernel.values["dram_bytes_read"]) == (9980, 12.61e6)


def test_a_counter_that_is_no_number_is_missing():
    (kernel,) = tools.parse_ncu(counted("raw.csv").replace('"3.52"', '"nan"').replace('"1.56"', '"inf"'))
    assert "sm_percent" not in kernel.values
    assert "occupancy_percent" not in kernel.values


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("<unnamed>::k(float *, int)", "k"),
        ("void (anonymous namespace)::k<256, 4>(const float *)", "k<256, 4>"),
        ("a::b::k(a::c)", "k"),
        ("k<a::b>(int)", "k<a::b>"),
        ("k", "k"),
    ],
)
def test_a_kernel_is_named_without_parameters_and_namespaces(text, name):
    assert tools.kernel_name(text) == name


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("==WARNING== No kernels were profiled.\n", "no kernel of this name was launched"),
        ('==ERROR== Failed to profile "k" in process 7\n', 'ncu: Failed to profile "k" in process 7'),
        ("==ERROR== Failed to find metric x\n", "ncu: Failed to find metric x"),
        ("", "its last line: none"),
        ("Segmentation fault\n", "its last line: Segmentation fault"),
        ('"ID","Kernel Name"\n"0","k"\n', "printed no counters"),
        ('"ID"\n', "printed no counters"),
        ('"nonsense', "printed no counters"),
    ],
)
def test_an_ncu_without_counters_says_why(output, message):
    with pytest.raises(ToolError) as error:
        tools.parse_ncu(output)
    assert message in str(error.value)


DENIED = counted("denied.txt")


@pytest.fixture
def desktop(monkeypatch, tmp_path):
    """A machine of a user who is not root."""
    monkeypatch.setattr(tools, "under_wsl", lambda: False)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(tools, "MODULES", tmp_path)
    for name in tools.KEPT:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SOL_COMMAND", "make profile-lesson05 ONLY=matmul")


def test_counters_kept_to_root_are_had_by_a_command_that_keeps_path_and_owner(desktop):
    said = tools.ncu_trouble(DENIED)
    assert '`sudo env "PATH=$PATH" make profile-lesson05 ONLY=matmul; sudo chown -R ' in said
    assert "echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 | sudo tee /etc/modprobe.d/" in said
    assert "\n" not in said


def test_the_command_for_root_keeps_the_chosen_card(desktop, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert 'sudo env "PATH=$PATH" "CUDA_VISIBLE_DEVICES=$CUDA_VISIBLE_DEVICES" make' in tools.ncu_trouble(DENIED)


def test_debians_kernel_module_has_its_own_name_in_the_mend(desktop, tmp_path):
    (tmp_path / "6.1/updates/dkms").mkdir(parents=True)
    (tmp_path / "6.1/updates/dkms/nvidia-current.ko.xz").touch()
    assert "echo options nvidia-current NVreg_" in tools.ncu_trouble(DENIED)


def test_under_wsl_the_counters_are_switched_on_in_windows(desktop, monkeypatch):
    monkeypatch.setattr(tools, "under_wsl", lambda: True)
    said = tools.ncu_trouble(DENIED)
    assert "Windows' NVIDIA Control Panel" in said
    assert "sudo" not in said


def test_root_without_counters_is_in_a_container(desktop, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    said = tools.ncu_trouble(DENIED)
    assert "--cap-add=SYS_ADMIN" in said
    assert "sudo" not in said


def test_a_metric_of_another_name_on_this_card_is_asked_for_by_that(tool, tmp_path):
    text = counted("raw.csv").replace("dram__bytes_read", "dram__bytes_op_read")
    (tmp_path / "log").write_text(text)
    refusal = (
        'case "$*" in *dram__bytes_read*) echo "==ERROR== Failed to find metric regex:^dram__bytes_read"; exit 1;; esac'
    )
    tool("ncu", f"{refusal}\ncat {tmp_path}/log")
    (kernel,), unknown = tools.profile(["k"], ["program"], 30, tmp_path / "none.csv")
    assert unknown == ["dram__bytes_read.sum"]
    assert kernel.values["dram_bytes_read"] == 12613120


def test_ncu_leaves_the_clocks_alone_and_takes_the_first_launch_of_each_kernel():
    options = tools.ncu_options(["a_kernel", "b_kernel"], tools.METRICS, Path("log"))
    assert options[options.index("--clock-control") + 1] == "none"
    assert options[options.index("--kernel-id") + 1] == "::regex:(a_kernel|b_kernel)$:1"


def test_the_kernels_of_a_file_are_found(tmp_path):
    file = tmp_path / "x.cu"
    file.write_text(
        "// __global__ void not_me(\n"
        "template <int N>\n__global__ void a_kernel(float* x) {}\n"
        "__global__ void __launch_bounds__(256, 2) b_kernel(\n"
        "__global__ __launch_bounds__(128)\nvoid c_kernel(int n);\n"
        "static __global__ void c_kernel(int n) {}\n"
        "__global__ void __launch_bounds__(M / (N * 4)) d_kernel(int n);\n"
        "__device__ float helper(float x);\n"
    )
    assert tools.kernels_of(file) == ["a_kernel", "b_kernel", "c_kernel", "d_kernel"]


def test_a_missing_kernel_file_is_one_line(tmp_path):
    with pytest.raises(ToolError, match=r"x\.cu: No such file"):
        tools.kernels_of(tmp_path / "x.cu")


def test_limits_of_occupancy_are_named_by_the_smallest():
    kernel = Kernel("k", "", "", {"blocks_by_registers": 3, "blocks_by_warps": 8, "blocks_by_slots": 32})
    assert kernel.limited_by() == "registers"
