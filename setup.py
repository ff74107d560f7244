"""Builds the compiled part of the Python module with CMake; all else is in pyproject.toml."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCE = Path(__file__).parent


class CMakeBuild(build_ext):
    def build_extension(self, extension):
        build = Path(self.build_temp).resolve()
        only_the_module = [f"-DPACELINE_{part}=OFF" for part in ("DEVELOPER", "PROGRAM", "TORCH", "MPI", "DASHBOARD")]
        subprocess.run(["cmake", "--preset", "release", "-S", SOURCE, "-B", build, "-DPACELINE_PYTHON=ON",
                        f"-DPython_EXECUTABLE={sys.executable}", *only_the_module], check=True, cwd=SOURCE)
        subprocess.run(["cmake", "--build", build, "--target", "paceline_python", "--parallel"], check=True)
        made = next((build / "python" / "paceline").glob("_paceline*.so"))
        wanted = Path(self.get_ext_fullpath(extension.name))
        wanted.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(made, wanted)


setup(
    version=re.search(r"project\(paceline VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text())[1],
    ext_modules=[Extension("paceline._paceline", sources=[])],
    cmdclass={"build_ext": CMakeBuild},
)
