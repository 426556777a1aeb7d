# SPDX-License-Identifier: MIT
"""Notebooks are kept without outputs: `make format` takes them out, and JupyterLab, as make notebooks starts it, writes
none into the file.

    python -m reference.notebooks.strip
"""

from __future__ import annotations

import json

from reference.timings.results import ROOT

KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
KEPT = ("accelerator",)


def strip(notebook: dict) -> dict:
    """The same notebook without outputs, counts and what an editor noted; its kernel is .venv's Python. What
    tells Colab to lend a GPU stays."""
    for cell in notebook["cells"]:
        cell["metadata"] = {}
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    notebook["metadata"] = KERNEL | {key: notebook["metadata"][key] for key in KEPT if key in notebook["metadata"]}
    return notebook


def text_of(notebook: dict) -> str:
    return json.dumps(strip(notebook), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def before_saving(model: dict, **_) -> None:
    """JupyterLab's hook: what it is about to write."""
    if model["type"] == "notebook" and model["content"]:
        strip(model["content"])


def main() -> None:
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        before = path.read_text()
        after = text_of(json.loads(before))
        if after != before:
            path.write_text(after)


if __name__ == "__main__":
    main()
