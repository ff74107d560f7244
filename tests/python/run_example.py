"""Runs an example, unless a package that it needs is missing: run_example.py EXAMPLE"""

import runpy
import sys
from pathlib import Path

from support import need

need("numpy")
if "torch" in Path(sys.argv[1]).name:
    need("torch")
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
