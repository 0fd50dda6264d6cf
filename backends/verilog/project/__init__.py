"""A design on disk: the folder for hardware users, with the design's Verilog, its test bench and its synthesis
scripts.
"""

from .folder import DESIGN_FILE, Project, Vectors, read_project, write_project, written_files

__all__ = ["DESIGN_FILE", "Project", "Vectors", "read_project", "write_project", "written_files"]
