# SPDX-License-Identifier: MIT
"""What nvcc emits for each kernel of a CUDA C++ file and an architecture, as JSON: registers, shared memory, the
threads and resident blocks of its __launch_bounds__, and by loop the instructions by kind and the accesses by source
line. Needs nvcc and nvdisasm, no GPU."""

from __future__ import annotations

import itertools
import json
import re
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from reference.gpu import nvcc, sass_flow, sources, tools
from reference.gpu.tools import Parser, ToolError

# ---- names as the CPU device prints them -----------------------------------------------------------------------------


def split(text: str) -> list[str]:
    """At its commas, but for those within brackets."""
    depth, parts = 0, [""]
    for letter in text:
        depth += (letter in "<({") - (letter in ">)}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def bracketed(text: str, begin: int) -> str:
    """What lies between the bracket < at `begin` and its partner."""
    depth = 0
    for i in range(begin, len(text)):
        depth += (text[i] in "<(") - (text[i] in ">)")
        if depth == 0:
            return text[begin + 1 : i]
    return ""


# As g++ writes types.
TYPES = {
    "unsigned": "unsigned int",
    "long": "long int",
    "unsigned long": "long unsigned int",
    "size_t": "long unsigned int",
    "std::size_t": "long unsigned int",
    "short": "short int",
    "long long": "long long int",
}


def parameters_of(text: str, kernel: str) -> list[tuple[str, str]]:
    """Kind and name of a kernel template's parameters, by its heading: ("class", "Piece"), ("int", "kKept")."""
    found = re.search(rf"__global__(?:(?!__global__)[^;{{}}])*?\b{kernel}\s*\(", text)
    before = text[: found.start()] if found else ""
    at = [place.start() for place in re.finditer(r"\btemplate\s*<", before)]
    if not at:
        return []
    begin = before.index("<", at[-1])
    inside = bracketed(before, begin)
    if before[begin + len(inside) + 2 :].strip():  # of something else
        return []
    parameters = []
    for part in split(inside):
        words = part.partition("=")[0].strip()
        name = re.search(r"\w+$", words)
        kind = words[: name.start()].strip() if name else words
        parameters.append((TYPES.get(kind, kind), name[0] if name else ""))
    return parameters


def enumerators_of(text: str) -> dict[str, list[str]]:
    """The names of each enumeration whose values count from 0."""
    found = re.findall(r"\benum\s+(?:class\s+|struct\s+)?(\w+)\s*(?::\s*[\w\s]+)?\{([^{}=]*)\}", text)
    return {name: [word.strip() for word in inside.split(",") if word.strip()] for name, inside in found}


def argument(text: str, enumerators: dict[str, list[str]]) -> str:
    """A template's argument, from c++filt's form to g++'s: (Way)1 is Way::async, 8u is 8."""

    def named(found: re.Match) -> str:
        names = enumerators.get(found[1].split("::")[-1], [])
        return f"{found[1]}::{names[int(found[2])]}" if int(found[2]) < len(names) else found[0]

    text = re.sub(r"\(anonymous namespace\)::", "", text)
    text = re.sub(r"\(([\w:]+)\)(\d+)", named, text)
    text = re.sub(r"\b(\d+)(?:ul|u|l)\b", r"\1", text)
    text = re.sub(r"\bunsigned long\b", "long unsigned int", text)
    text = text.replace("> >", ">>")
    return TYPES.get(text, text)


def device_name(full: str, kernel: str, text: str) -> str:
    """Of what c++filt prints, `copy_kernel [Tile = Tile<64, Way::async>]`; the bare name where it is no template."""
    full = full.replace("(anonymous namespace)::", "")
    found = re.search(rf"(?:\b\w+::)*\b{kernel}\b(?=[<(])", full)
    if not found:
        return kernel
    if full[found.end()] != "<":
        return found[0]
    enumerators = enumerators_of(text)
    arguments = [argument(part, enumerators) for part in split(bracketed(full, found.end()))]
    rows = []
    for kind, name in parameters_of(text, kernel):
        if kind.endswith("..."):
            rows.append(f"{name} = {{{', '.join(arguments)}}}")
        elif arguments:
            value = arguments.pop(0)
            rows.append(f"{name} = {value}" if kind in ("class", "typename") else f"{kind} {name} = {value}")
    return f"{found[0]} [{'; '.join(rows)}]" if rows else found[0]


# ---- a file's kernels ------------------------------------------------------------------------------------------------


def files_of(root: Path, source: Path) -> list[Path]:
    """The file and the lessons' headers that it includes: what the lines of its kernels are in."""
    return [source] + [
        file
        for file in sources.closure(root, [source])
        if file != source
        and file.suffix in (".h", ".cuh")
        and (file.parent == source.parent or file.parts[0] in ("lessons", "solutions"))
    ]


def hashed(root: Path, source: Path) -> list[Path]:
    """What the digest is of: the source, then the headers that lie in a lesson's folder or its own."""
    return [file for file in files_of(root, source) if "lessons/gpt2/" not in f"{file}"]


def fnv_1a(texts: Iterable[bytes]) -> str:
    """64 bits, of all of them one after the other."""
    value = 0xCBF29CE484222325
    for byte in itertools.chain.from_iterable(texts):
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def digest(root: Path, source: Path) -> str:
    """A line that moves changes it, as lines are what is told."""
    return fnv_1a((root / file).read_bytes() for file in hashed(root, source))


def without_zeros(row: dict) -> dict:
    return {name: value for name, value in row.items() if name in ("parent", "accesses") or value not in (0, [], None)}


def names_of(root: Path, source: Path, mangled: Iterable[str]) -> dict[str, str]:
    """The source's kernels as the CPU device names them, by mangled name."""
    files = files_of(root, source)
    text = "\n".join(re.sub(r"//.*", "", (root / file).read_text()) for file in files)
    names = {name for file in files for name in tools.kernels_of(root / file)}
    found = {}
    for symbol, full in nvcc.demangled(mangled).items():
        bare = next((name for name in sorted(names, key=len, reverse=True) if f"{len(name)}{name}" in symbol), "")
        found[symbol] = device_name(full, bare, text) if bare else symbol
    return found


def kernel_sass(root: Path, source: Path, arch: str, flags: list[str]) -> dict:
    """Of a file below the root, or of an absolute path. Zeros and empty lists are left out."""
    nvdisasm = tools.find("nvdisasm")
    with tempfile.TemporaryDirectory(prefix="sass-") as scratch:
        cubin = Path(scratch) / f"{source.stem}.cubin"
        kept = [*flags, "--keep", "--keep-dir", scratch]
        usages = nvcc.parse_ptxas(nvcc.compiled(root / source, arch, kept, cubin))
        resident = nvcc.parse_resident((Path(scratch) / f"{source.stem}.ptx").read_text())
        listed = nvcc.disassembled(nvdisasm, cubin, "-c", "--print-line-info-inline")
        bounds = nvcc.parse_bounds(nvcc.disassembled(nvdisasm, cubin))
    files = files_of(root, source)
    known = sass_flow.resolved(listed, {(root / file).resolve(): file.as_posix() for file in files})
    names = names_of(root, source, usages)
    kernels = {}
    for mangled, instructions in sass_flow.instructions_of(listed).items():
        usage = usages.get(mangled, nvcc.Usage())
        row = {"registers": usage.registers, "shared": usage.shared, "bounds": bounds.get(mangled)}
        row["resident"] = resident.get(mangled)
        row["spills"] = usage.stores + usage.loads
        row["regions"] = [
            without_zeros(sass_flow.as_json(region, known, source.as_posix()))
            for region in sass_flow.regions_of(instructions)
        ]
        kernels[names[mangled]] = without_zeros(row)
    return {
        "arch": arch,
        "nvcc": nvcc.version(),
        "source": source.as_posix(),
        "digest": digest(root, source),
        "hashed": [file.as_posix() for file in hashed(root, source)],
        "kernels": dict(sorted(kernels.items())),
    }


def write(options) -> int:
    source, root = Path(options.source), Path()
    if not source.is_file():
        raise ToolError(f"{source} is not there")
    text = json.dumps(kernel_sass(root, source, options.arch, options.flags.split()))
    if options.out:
        Path(options.out).parent.mkdir(parents=True, exist_ok=True)
        Path(options.out).write_text(text + "\n")
    else:
        print(text)
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = Parser("kernel-sass", __doc__)
    parser.add_argument("source", help="a .cu file")
    parser.add_argument("--arch", required=True, help="such as sm_90a")
    parser.add_argument("--flags", default="-std=c++20 -O3 -lineinfo -I.", help="nvcc's, -lineinfo among them")
    parser.add_argument("--out", default="", help="the file to write; standard output where it is left out")
    options = parser.parse_args(arguments)
    return tools.run_main("kernel-sass", lambda: write(options))


if __name__ == "__main__":
    sys.exit(main())
