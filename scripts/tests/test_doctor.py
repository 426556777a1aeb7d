# SPDX-License-Identifier: MIT
"""Machines that are made up: what `make doctor` says of the GPU's side, its one mend, and what make does there."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# What doctor.sh and cuda.sh call. Nothing else is on PATH, so that this machine's own CUDA is not found.
SHELL = "sh bash awk basename cat cksum cut df dirname env find getconf grep head id ls make mktemp nproc"
SHELL += " pwd realpath rm sed sort tail timeout tr uname git g++ python3"

NVCC = """#!/bin/sh
case "$*" in
    --version) echo 'Cuda compilation tools, release {release}, V{release}.99' ;;
    --list-gpu-arch) printf 'compute_75\\ncompute_86\\n' ;;
    *) {compiling} ;;
esac
"""
SMI = """#!/bin/sh
case "$*" in
    *--query-gpu*) cat <<'CARDS'
{cards}
CARDS
    ;;
    *) echo '| NVIDIA-SMI {driver}      Driver Version: {driver}     CUDA Version: {cuda}     |' ;;
esac
"""
NEWER_HOST = "#error -- unsupported GNU version! gcc versions later than 13 are not supported! The nvcc flag"
NEWER_GLIBC = 'error: exception specification is incompatible with that of previous function "cospi"'


class Machine:
    def __init__(self, root: Path):
        self.root = root
        self.environment = {}
        (root / "usr").mkdir()
        (root / "usr/include").symlink_to("/usr/include")
        (root / "bin").mkdir()
        for name in SHELL.split():
            if program := shutil.which(name):
                (root / "bin" / name).symlink_to(program)
        self.file("etc/os-release", "ID=ubuntu\nID_LIKE=debian\nPRETTY_NAME=Ubuntu\n")
        self.program("bin/id", "#!/bin/sh\necho 0\n")

    def file(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).unlink(missing_ok=True)
        (self.root / path).write_text(text)

    def program(self, path: str, text: str) -> None:
        self.file(path, text)
        (self.root / path).chmod(0o755)

    def toolkit(self, release: str, folder: str = "usr/local/cuda/bin", says: str = "") -> None:
        compiling = f"echo 'crt/host_config.h: {says}' >&2; exit 1" if says else "exit 0"
        self.program(f"{folder}/nvcc", NVCC.format(release=release, compiling=compiling))
        for tool in ("nvdisasm", "ncu", "compute-sanitizer"):
            self.program(f"{folder}/{tool}", "#!/bin/sh\n")

    def cards(self, *cards: str, driver: str = "580.65.06", cuda: str = "13.0") -> None:
        rows = "\n".join(f"{i}, GPU-{i}a3b, {card}" for i, card in enumerate(cards)).replace("DRIVER", driver)
        self.program("bin/nvidia-smi", SMI.format(cards=rows, driver=driver, cuda=cuda))

    def card_on_the_bus(self) -> None:
        self.file("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n")

    def whole_doctor(self) -> subprocess.CompletedProcess:
        environment = {
            "PATH": str(self.root / "bin"),
            "HOME": str(self.root / "home"),
            "SETUP_ROOT": str(self.root),
            "SETUP_VENV": str(self.root / ".venv"),
        }
        return subprocess.run(
            ["scripts/doctor.sh"],
            cwd=ROOT,
            env=environment | self.environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def doctor(self) -> str:
        """What it says from `Only for times on a GPU` on."""
        done = self.whole_doctor()
        assert done.stderr == ""
        assert done.returncode == 0, done.stdout
        return done.stdout.partition("Only for times on a GPU")[2]


@pytest.fixture
def machine(tmp_path) -> Machine:
    return Machine(tmp_path)


def mends(said: str) -> list[str]:
    return re.findall(r"^ +(?:mend|another): (.*)", said, re.MULTILINE)


def state(said: str, row: str) -> str:
    return re.search(rf"^  {re.escape(row)} +(\S+)", said, re.MULTILINE)[1]


T4 = "Tesla T4, DRIVER, 15360 MiB, 7.5"
RTX = "NVIDIA GeForce RTX 3060, DRIVER, 12288 MiB, 8.6"


def test_a_machine_whose_parts_go_together_needs_no_mend(machine):
    machine.toolkit("13.0")
    machine.cards(RTX)
    said = machine.doctor()
    assert mends(said) == []
    assert "NVIDIA GeForce RTX 3060, driver 580.65.06 for CUDA 13.0, 12288 MiB, sm_86" in said
    assert [state(said, row) for row in ("gpu", "nvcc", "nvdisasm", "ncu", "compute-sanitizer")] == ["ok"] * 5


# ---- the six --------------------------------------------------------------------------------------------------------


def test_no_driver(machine):
    machine.toolkit("13.0")
    machine.card_on_the_bus()
    said = machine.doctor()
    assert "a card of NVIDIA is here, and no driver for it" in said
    assert mends(said) == ["sudo ubuntu-drivers install (it must bring 580 or newer), then restart"]


def test_old_driver(machine):
    machine.toolkit("13.0")
    machine.cards(RTX, driver="535.183.01", cuda="12.2")
    said = machine.doctor()
    assert "13.0, " in said
    assert ": the driver is for CUDA 12.2" in said
    assert mends(said) == ["sudo ubuntu-drivers install (it must bring 580 or newer), then restart"]


def test_nvcc_off_path_where_make_does_not_look(machine):
    machine.toolkit("12.8", "opt/nvidia/hpc_sdk/Linux_x86_64/25.3/cuda/bin")
    machine.cards(RTX)
    said = machine.doctor()
    assert mends(said) == [f"export PATH={machine.root}/opt/nvidia/hpc_sdk/Linux_x86_64/25.3/cuda/bin:$PATH"]


def test_gxx_too_new(machine):
    machine.toolkit("12.4", says=NEWER_HOST)
    machine.cards(RTX)
    machine.program("bin/g++-13", "#!/bin/sh\n")
    said = machine.doctor()
    assert "nvcc 12.4 takes g++ up to 13, and this is g++" in said
    assert mends(said) == ["make … NVCC_CXX=g++-13"]


def test_glibc_too_new(machine):
    machine.toolkit("12.9", says=NEWER_GLIBC)
    machine.program("bin/getconf", "#!/bin/sh\necho glibc 2.41\n")
    machine.cards(RTX)
    said = machine.doctor()
    assert "CUDA 12.9 does not compile on this glibc 2.41" in said
    assert mends(said) == ["CUDA 13 does; put its bin/ first on PATH"]


def test_two_cards(machine):
    machine.toolkit("13.0")
    machine.cards(T4, RTX)
    said = machine.doctor()
    assert re.search(r"ok +Tesla T4.*, sm_75 \(make takes this one\)\n", said)
    assert re.search(r"ok +NVIDIA GeForce RTX 3060.*, sm_86\n", said)
    assert mends(said) == ["CUDA_VISIBLE_DEVICES=1 make …"]


# ---- others ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chosen", ["1", "1,0", "GPU-1a"])
def test_the_card_of_cuda_visible_devices_is_the_one_that_is_taken(machine, chosen):
    machine.toolkit("13.0")
    machine.cards(T4, RTX)
    machine.environment["CUDA_VISIBLE_DEVICES"] = chosen
    said = machine.doctor()
    assert re.search(r"ok +NVIDIA GeForce RTX 3060.* \(make takes this one\)\n", said)
    assert mends(said) == ["CUDA_VISIBLE_DEVICES=0 make …"]


def test_nvcc_in_its_usual_folder_needs_no_path(machine):
    machine.toolkit("12.4")
    machine.cards(RTX)
    said = machine.doctor()
    assert re.search(rf"nvcc +ok +12\.4, {machine.root}/usr/local/cuda/bin/nvcc", said)
    assert mends(said) == []


def test_an_older_minor_release_of_the_drivers_cuda_is_fine(machine):
    machine.toolkit("12.8")
    machine.cards(RTX, driver="550.54.15", cuda="12.4")
    assert mends(machine.doctor()) == []


def test_without_any_of_it_the_mend_is_for_nvcc_alone(machine):
    said = machine.doctor()
    assert re.search(r"gpu +- +no NVIDIA GPU", said)
    assert mends(said) == ["make setup NVCC=1"]


@pytest.mark.parametrize(
    ("card", "what", "mend"),
    [
        (
            "NVIDIA GeForce RTX 5090, DRIVER, 32607 MiB, 12.0",
            "does not know sm_120",
            "a newer CUDA toolkit, its bin/ first on PATH",
        ),
        ("NVIDIA GeForce GTX 1080, DRIVER, 8192 MiB, 6.1", "are for sm_75 and newer", "the CPU device checks them all"),
    ],
)
def test_a_card_that_nvcc_does_not_know_is_too_new_for_it_or_too_old_for_the_course(machine, card, what, mend):
    machine.toolkit("12.4")
    machine.cards(card)
    said = machine.doctor()
    assert what in said
    assert mends(said) == [mend]


def test_under_wsl_the_driver_is_mended_in_windows(machine):
    machine.file("proc/version", "Linux version 5.15.153.1-microsoft-standard-WSL2")
    machine.toolkit("13.0")
    machine.cards(RTX, driver="551.61", cuda="12.4")
    (mend,) = mends(machine.doctor())
    assert mend.startswith("install NVIDIA's driver 580 or newer in Windows")


def test_a_container_without_its_card_is_started_with_it(machine):
    machine.file(".dockerenv", "")
    machine.toolkit("12.8")
    machine.card_on_the_bus()
    (mend,) = mends(machine.doctor())
    assert mend.startswith("start the container with --gpus all")


def test_a_driver_that_does_not_answer_is_said_in_its_own_words(machine):
    machine.toolkit("13.0")
    machine.program(
        "bin/nvidia-smi", "#!/bin/sh\necho 'Failed to initialize NVML: Driver/library version mismatch'; exit 18\n"
    )
    said = machine.doctor()
    assert "Failed to initialize NVML: Driver/library version mismatch" in said
    assert mends(said) == ["restart; if that does not help, install the driver anew"]


def test_a_jetson_has_its_gpu_without_nvidia_smi(machine):
    machine.toolkit("12.6")
    machine.file("dev/nvmap", "")
    said = machine.doctor()
    assert state(said, "gpu") == "ok"
    assert mends(said) == []


def test_a_gxx_that_is_older_than_what_built_the_libraries_is_named(machine):
    wants = "ld: libfmt.so: undefined reference to `__cxa_call_terminate@CXXABI_1.3.15'"
    machine.program(
        "bin/g++-13",
        f'#!/bin/sh\n[ "$1" = -dumpfullversion ] && echo 13.3.0 || {{ echo "{wants}" >&2; exit 1; }}\n'.replace(
            "`", "\\`"
        ),
    )
    machine.environment["CXX"] = "g++-13"
    done = machine.whole_doctor()
    said = done.stdout.partition("Only for tests")[0]
    assert "13.3.0 does not link this system's libfmt, which a newer g++ built" in said
    assert "make without CXX=; NVCC_CXX= is for nvcc alone" in mends(said)
    assert done.returncode == 1


@pytest.mark.parametrize("hidden", ["-1", "", "5"])
def test_a_setting_that_hides_every_card_is_named(machine, hidden):
    machine.toolkit("13.0")
    machine.cards(RTX)
    machine.environment["CUDA_VISIBLE_DEVICES"] = hidden
    said = machine.doctor()
    assert f"CUDA_VISIBLE_DEVICES={hidden} hides every GPU" in said
    assert mends(said) == ["unset CUDA_VISIBLE_DEVICES"]


@pytest.mark.parametrize(("release", "says"), [("12.0", ""), ("11.5", "nvcc fatal: Value c++20 is not defined")])
def test_a_toolkit_too_old_for_the_course_is_named(machine, release, says):
    machine.toolkit(release, says=says)
    machine.cards(RTX)
    said = machine.doctor()
    assert f"nvcc is {release}, {machine.root}/usr/local/cuda/bin/nvcc; CUDA 12.4 or newer is needed" in said
    assert mends(said) == ["put that one's bin/ first on PATH (make setup NVCC=1 brings one, and says where)"]


@pytest.mark.parametrize(
    ("card", "cuda", "mend"),
    [
        (RTX, "13.0", "make setup NVCC=1"),
        (RTX, "12.4", "install a CUDA toolkit, 12.4 to 12.9; or driver 580 or newer, and then: make setup NVCC=1"),
        ("NVIDIA GeForce GTX 1080, DRIVER, 8192 MiB, 6.1", "13.0", "the CPU device checks them all"),
    ],
)
def test_what_brings_nvcc_goes_with_driver_and_card(machine, card, cuda, mend):
    machine.cards(card, cuda=cuda)
    assert mends(machine.doctor()) == [mend]


def test_an_nvcc_that_comes_before_the_one_in_venv_is_named_with_the_mend(machine):
    def said(path: str) -> str:
        environment = {"PATH": f"{path}{machine.root / 'bin'}", "SETUP_ROOT": str(machine.root)}
        environment["SETUP_VENV"] = str(machine.root / ".venv")
        command = [str(ROOT / "scripts/cuda.sh"), "--in-venv"]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    own = ".venv/lib/python3.11/site-packages/nvidia/cu13/bin"
    machine.toolkit("13.0", own)
    assert said("") == ""
    machine.toolkit("12.0")
    mend = f"export PATH={machine.root / own}:$PATH"
    assert said("") == (
        f"make takes {machine.root}/usr/local/cuda/bin/nvcc, which comes first; for the one in .venv: {mend}\n"
    )
    assert said(f"{machine.root / own}:") == ""


def test_no_driver_and_no_toolkit_ask_for_the_driver_of_the_toolkit_that_is_offered(machine):
    machine.card_on_the_bus()
    assert mends(machine.doctor()) == [
        "sudo ubuntu-drivers install (it must bring 580 or newer), then restart",
        "make setup NVCC=1",
    ]


@pytest.mark.parametrize(
    ("place", "mend"),
    [
        ((".dockerenv", ""), "start the container anew; if that does not help, restart its host"),
        (
            ("proc/version", "Microsoft"),
            "in Windows: wsl --shutdown; if that does not help, install Windows' driver anew",
        ),
        (("home/none", ""), "restart; if that does not help, install the driver anew"),
    ],
)
def test_a_driver_that_does_not_answer_is_mended_where_it_lies(machine, place, mend):
    machine.toolkit("13.0")
    machine.file(*place)
    machine.program("bin/nvidia-smi", "#!/bin/sh\necho 'Failed to initialize NVML: Unknown Error'; exit 1\n")
    said = machine.doctor()
    assert "nvidia-smi finds none: Failed to initialize NVML: Unknown Error" in said
    assert mends(said) == [mend]


def test_what_installs_is_asked_of_sudo_where_the_user_is_not_root(machine):
    machine.program("bin/id", "#!/bin/sh\necho 1000\n")
    machine.program("bin/sudo", "#!/bin/sh\n")
    machine.program("bin/apt-get", "#!/bin/sh\n")
    machine.toolkit("12.4", says=NEWER_HOST)
    assert mends(machine.doctor()) == ["sudo apt-get install g++-13, then make … NVCC_CXX=g++-13"]


def test_counters_kept_to_root_are_said_to_be(machine):
    machine.program("bin/id", "#!/bin/sh\necho 1000\n")
    machine.toolkit("13.0")
    machine.cards(RTX)
    machine.file("proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n")
    assert mends(machine.doctor()) == ["make profile-lesson05 prints the commands"]


# ---- what make does there --------------------------------------------------------------------------------------------


def check(machine: Machine, card: str) -> subprocess.CompletedProcess:
    """`make check-lesson04` where a GPU seems to be; what a check does is left out."""
    words = ["check_needs=", "run_check=echo checked on $1 $2", "at_best=", "gpu_seen=/dev/nvidia0", "nvcc=nvcc"]
    environment = {
        "PATH": f"{machine.root}/usr/local/cuda/bin:{os.environ['PATH']}",
        "SOL_LIBCUDA": str(ROOT / "build/tests/fakes/cuda_driver.so") if card else "/nowhere/libcuda.so",
        "FAKE_CARD": card,
    }
    ours = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")
    return subprocess.run(
        ["make", "-s", "check-lesson04", *words],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name not in ours} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_check_goes_on_on_the_gpu_that_is_here(machine):
    machine.toolkit("13.0")
    done = check(machine, "86 13000 NVIDIA GeForce RTX 3060")
    assert (done.stdout, done.stderr) == ("checked on cpu --more\nchecked on gpu\n", "")
    assert done.returncode == 0


def test_a_gpu_that_cannot_be_used_is_said_after_a_check_that_has_passed(machine):
    machine.toolkit("13.0")
    done = check(machine, "")
    assert done.stdout.startswith(
        "checked on cpu\nA GPU seems to be here too, and nothing ran on it: no NVIDIA driver: /nowhere/libcuda.so"
    ), done.stderr
    assert done.returncode == 0


def test_cuda_counts_cards_as_nvidia_smi_does_in_all_that_make_starts():
    done = subprocess.run(
        ["make", "-s", "--eval=said: ; @echo $$CUDA_DEVICE_ORDER", "said"],
        cwd=ROOT,
        env={**os.environ, "CUDA_DEVICE_ORDER": "FASTEST_FIRST"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "PCI_BUS_ID\n"
