# SPDX-License-Identifier: Apache-2.0
"""Builds the extension with the Makefile of the checkout, which knows the libraries of carom and what they need."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = os.environ.get("CAROM_BUILD", "build")


class MakeExtension(build_ext):
    def build_extension(self, extension):
        if not (ROOT / "Makefile").exists():
            raise SystemExit("carom: the extension is built from a checkout, where the Makefile stands beside the folder python")
        built = pathlib.Path(BUILD) / "python" / "carom" / "_carom.abi3.so"
        jobs = f"-j{os.cpu_count() or 1}"
        subprocess.run(["make", "--no-print-directory", jobs, f"PYTHON={sys.executable}", f"BUILD={BUILD}", str(built)], cwd=ROOT, check=True)
        target = pathlib.Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / built, target)


version = re.search(r'#define CAROM_VERSION "(.*)"', (ROOT / "include" / "carom" / "api.h").read_text())[1]
setup(version=version, ext_modules=[Extension("carom._carom", sources=[], py_limited_api=True)], cmdclass={"build_ext": MakeExtension})
