# SPDX-License-Identifier: MIT
# How make notebooks starts JupyterLab: in this folder, and without outputs in the files that it saves.
from pathlib import Path

from reference.notebooks.strip import before_saving

c = get_config()  # noqa: F821 (Jupyter defines it)
c.ServerApp.root_dir = str(Path(__file__).parent)
c.ServerApp.allow_root = True  # as in a container
c.FileContentsManager.pre_save_hook = before_saving
