# SPDX-License-Identifier: MIT
"""venv.sh: what it says where packages cannot be installed."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UNREACHED = "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(…)': /simple/numpy/"
NO_SUCH = "ERROR: No matching distribution found for numpy==99"


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/usr/bin/env bash\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def venv(tmp_path):
    """Runs it in a folder whose pip fails with these words, or succeeds."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/venv.sh", tmp_path / "scripts")
    program(tmp_path / "scripts/setup.sh", "")
    (tmp_path / "requirements.txt").write_text("numpy==99\n")

    def run(words: str | None, *what: str) -> subprocess.CompletedProcess:
        fails = f'echo "{words}" >&2; exit 1' if words else "exit 0"
        program(tmp_path / ".venv/bin/python", f'[ "$1" = -m ] || exit 0\n{fails}')
        command = ["bash", "scripts/venv.sh", "requirements.txt", ".venv/stamp", *what]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


def test_without_network_one_line_says_so(venv):
    done = venv(UNREACHED)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "no package index was reached for requirements.txt: with a network the command can be repeated as it is"
    ]


def test_another_reason_of_pips_is_shown(venv):
    done = venv(NO_SUCH)
    assert done.returncode == 1
    assert done.stderr.startswith(NO_SUCH)
    assert "pip's reason is above" in done.stderr


def test_what_failed_is_tried_again_and_what_succeeded_is_not(venv):
    venv(UNREACHED)
    assert venv(None).stdout.startswith("making .venv")
    assert venv(UNREACHED).stdout == ""


def test_a_library_of_nvidias_packages_is_linked_by_its_plain_name(venv, tmp_path):
    folder = tmp_path / ".venv/lib/python3.11/site-packages/nvidia/cu13"
    program(folder / "bin/nvcc", "")
    (folder / "lib").mkdir()
    (folder / "lib/libcudart.so.13").write_text("library")
    assert venv(None).returncode == 0
    assert (folder / "lib64/libcudart.so").read_text() == "library"


def test_what_is_fetched_is_said_with_its_size(venv):
    said = venv(None, "NVIDIA's nvcc, 125 MB to download").stdout
    assert said.startswith("making .venv: NVIDIA's nvcc, 125 MB to download; this can take minutes")


# ---- the Python that makes it ----------------------------------------------------------------------------------------


def pythons(folder: Path, **minors: int) -> str:
    """A PATH on which these are, all without venv: `python3=12` is a python3 that is 3.12."""
    for name in ("bash", "cat", "cut", "sha256sum"):
        (folder / "bin").mkdir(exist_ok=True)
        (folder / "bin" / name).symlink_to(shutil.which(name))
    for name, minor in minors.items():
        program(
            folder / "bin" / name,
            f"""case "$*" in
*--version*) echo "Python 3.{minor}.3" ;;
*ensurepip*) exit 1 ;;
*) [[ $2 =~ 3,\\ ([0-9]+) ]] && [ {minor} -ge "${{BASH_REMATCH[1]}}" ] ;;
esac""",
        )
    program(folder / "scripts/setup.sh", '[ "$1" != --how ] || echo "apt-get install ${*:2}"')
    return str(folder / "bin")


NVCC = "NVIDIA's nvcc"


@pytest.mark.parametrize(
    ("there", "what", "said"),
    [
        ({"python3": 12}, [], "python3 has no venv, which is a package of its own: apt-get install python3-venv, then"),
        ({"python3": 10}, [NVCC], "python3 has no venv, which is a package of its own: apt-get install python3-venv"),
        (
            {"python3": 10},
            [],
            "Python 3.11 or newer is needed for the tests; the lessons need no Python. This is Python 3.10.3",
        ),
        ({"python3": 8}, [NVCC], "Python 3.9 or newer is needed for NVIDIA's packages. This is Python 3.8.3"),
        (
            {},
            [],
            "python3 is not there, which is needed for the tests; the lessons need no Python: apt-get install python3",
        ),
    ],
)
def test_what_its_python_lacks_is_said_with_its_mend(venv, tmp_path, monkeypatch, there, what, said):
    monkeypatch.setenv("PATH", pythons(tmp_path, **there))
    done = venv(None, *what)
    assert done.returncode == 1
    assert done.stderr.startswith(said)
    assert len(done.stderr.splitlines()) == 1


def test_an_older_python_than_the_tests_need_does_not_stay_in_venv(venv, tmp_path, monkeypatch):
    program(tmp_path / "bin/python3", f'[ "$2" != venv ] || {{ echo "$*" >{tmp_path}/made; exit 1; }}')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    program(tmp_path / ".venv/bin/python", 'case "$*" in *version_info*) exit 1 ;; esac')
    subprocess.run(["bash", "scripts/venv.sh", "requirements.txt", ".venv/stamp"], cwd=tmp_path, check=False)
    assert (tmp_path / "made").read_text() == "-m venv --clear .venv\n"
