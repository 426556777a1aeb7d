# SPDX-License-Identifier: MIT
"""The parts of CUDA that a program needs and the CPU device leaves out, by the includes and names of its sources."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

GRAPHICS = "graphics"
SEVERAL_GPUS = "several GPUs"
MPI = "MPI"
LIBRARIES = "libraries without a CPU fake"
TEXTURES = "textures and surfaces"
LAUNCHES = "launches from kernels"
DRIVER = "the driver API and NVRTC"
CURAND = "cuRAND"
THRUST = "Thrust"
IPC = "IPC"
TENSOR_CORES = "tensor cores for integers or doubles"
ALL = (
    GRAPHICS,
    SEVERAL_GPUS,
    MPI,
    LIBRARIES,
    TEXTURES,
    LAUNCHES,
    DRIVER,
    CURAND,
    THRUST,
    IPC,
    TENSOR_CORES,
)

# Beginnings of included names.
INCLUDED = {
    GRAPHICS: r"GL/|GLES|EGL/|glad|GLFW/|vulkan|[dD]3[dD]|dxgi|DirectX|cuda_gl_interop|cuda_?EGL|helper_gl|rendercheck",
    MPI: r"mpi\.h",
    LIBRARIES: r"npp|Common/UtilNPP|cusparse|cusolver|cufft|cublasXt|cudnn|nccl|nvml|nvjpeg|helper_nvJPEG|cudla|nvvm|"
    r"nv[sS]ci|nvmedia|cudaNv|FreeImage",
    CURAND: r"curand",
    THRUST: r"thrust/|cub/",
    DRIVER: r"nvrtc|nvJitLink|cuda_drvapi_dynlink|helper_cuda_drvapi",
}
# Names in the code.
NAMED = {
    TEXTURES: r"\bcuda(Texture|Surface)Object_t\b|\bcudaArray(_t)?\b|\bcudaMalloc(3D)?Array\b|\btexture\s*<|"
    r"\b(tex|surf)[123]D\w*\s*[(<]",
    DRIVER: r"\bcu(Init|(Array|Ctx|Device|Driver|Event|Func|Get|Launch|Library|Link|Mem|Module|Stream|Tex)[A-Z]\w*)\s*"
    r"\(|\bnvrtc\w+\s*\(|\bCU(context|module|function|deviceptr|device)\b",
    CURAND: r"\bcurand\w+",
    THRUST: r"\bthrust::",
    IPC: r"\bcudaIpc\w+|\bcudaMemPool(Export|Import)\w+|\bcuMem(Export|Import)\w+",
    TENSOR_CORES: r"\bwmma::fragment<[^;>]*\b(double|u?int8_t|(un)?signed char|int|experimental)\b",
}
SOURCES_OF_NVVM = (".ll",)  # a program in LLVM's language, for libNVVM


def without_comments(text: str) -> str:
    """Returns the code alone: without comments, and with empty strings."""
    kept = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
    return kept.sub(lambda match: '""' if match[0].startswith('"') else " ", text)


def includes(text: str) -> list[str]:
    code = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)
    return re.findall(r'^\s*#\s*include\s*[<"]([^">]+)[">]', code, re.MULTILINE)


def reached(sources: Iterable[Path], folders: Iterable[Path]) -> dict[Path, str]:
    """Returns the text of the sources, and of the files of these folders that they include."""
    texts: dict[Path, str] = {}
    waiting = list(sources)
    while waiting:
        path = waiting.pop().resolve()
        if path in texts or not path.is_file():
            continue
        texts[path] = path.read_text(errors="replace")
        for name in includes(texts[path]):
            waiting.extend(folder / name for folder in (path.parent, *folders) if (folder / name).is_file())
    return texts


def launches_inside(code: str) -> bool:
    """Returns true if a function for the device holds a launch. `code` is without comments."""
    for found in re.finditer(r"\b__(?:global|device)__\b[^;{}]*\{", code):
        depth, at = 1, found.end()
        while depth and at < len(code):
            depth += {"{": 1, "}": -1}.get(code[at], 0)
            at += 1
        if "<<<" in code[found.end() : at]:
            return True
    return False


def functions_of_cublas(include: Path) -> set[str]:
    """Returns the functions of cuBLAS that the CPU device declares, by both of their names."""
    text = "".join((include / name).read_text() for name in ("cublas_api.h", "cublas_v2.h"))
    names = set(re.findall(r"\bcublas[A-Z]\w*(?=\s*\()", text))
    return names | {name.removesuffix("_v2") for name in names}


def needs(sources: list[Path], folder: Path, include: Path) -> dict[str, str]:
    """Returns those of ALL that a program needs, each with the name that shows it."""
    texts = reached(sources, (folder, folder / "inc"))
    found: dict[str, str] = {}
    called = set()
    for text in texts.values():
        for name in includes(text):
            for need, pattern in INCLUDED.items():
                if re.match(pattern, name):
                    found.setdefault(need, name)
        code = without_comments(text)
        for need, pattern in NAMED.items():
            if match := re.search(pattern, code):
                found.setdefault(need, match[0].strip(" (<"))
        if launches_inside(code):
            found.setdefault(LAUNCHES, "<<<>>> in a kernel")
        called |= set(re.findall(r"\bcublas[A-Z]\w*(?=\s*\()", code))
    if missing := sorted(called - functions_of_cublas(include)):
        found.setdefault(LIBRARIES, missing[0])
    if not sources and any(path.suffix in SOURCES_OF_NVVM for path in folder.iterdir()):
        found[LIBRARIES] = "libNVVM"
    return {need: found[need] for need in ALL if need in found}
