# SPDX-License-Identifier: Apache-2.0
# The outside libraries that a build may lack, in the only place that lists them. Each is used where its headers are found; `make NAME=no`
# builds without it. What needs one stands in a folder of its own, beside a folder `absent` that says in its stead: "this build has no
# WHAT: install PACKAGES, and build again".
#   HEADERS_NAME   show that it is there
#   PACKAGES_NAME  Debian's, the library's own first. scripts/deps.sh installs them where the distribution has them, and otherwise says
#                  so in a line and goes on
#   WHAT_NAME      what a build without it lacks
#   TESTS_NAME     tests that are left out without it (patterns); others skip what needs it one by one
OPTIONAL := SICONOS MUJOCO HDF5 QHULL PPL GLPK SUNDIALS FCLIB

HEADERS_SICONOS   := SiconosNumerics.h
PACKAGES_SICONOS  := libsiconos-numerics-dev
WHAT_SICONOS      := LCP solvers of Siconos
TESTS_SICONOS     := solvers/test_siconos

HEADERS_MUJOCO    := mujoco/mujoco.h libxml/tree.h
PACKAGES_MUJOCO   := libmujoco-dev libxml2-dev
WHAT_MUJOCO       := MuJoCo models
TESTS_MUJOCO      := $(patsubst tests/%.c,%,$(wildcard tests/mujoco/test_*.c)) command/test_bare command/test_robot_files \
                     dynamics/test_propagative_scenes dynamics/test_stepping_models io/test_bad_scenes io/test_mechanism_scenes \
                     sets/test_questions

HEADERS_HDF5      := hdf5.h
PACKAGES_HDF5     := libhdf5-dev
WHAT_HDF5         := HDF5 files
TESTS_HDF5        := command/test_hodograph command/test_measure command/test_keep io/test_bad_results io/test_result_names io/test_results \
                     io/test_fclib io/test_fclib_written exact/test_exact_files \
                     sets/test_questions python/test_poses

HEADERS_QHULL     := libqhull_r/libqhull_r.h
PACKAGES_QHULL    := libqhull-dev
WHAT_QHULL        := hulls by Qhull
TESTS_QHULL       := sets/test_query sets/test_questions

HEADERS_PPL       := gmp.h ppl_c.h
PACKAGES_PPL      := libppl-dev libgmp-dev
WHAT_PPL          := exact sets
TESTS_PPL         := step/test_completeness

# Bounds by linear programs take the rational numbers of exact sets.
HEADERS_GLPK      := glpk.h
PACKAGES_GLPK     := libglpk-dev libppl-dev libgmp-dev
WHAT_GLPK         := value functions

HEADERS_SUNDIALS  := cvode/cvode.h kinsol/kinsol.h
PACKAGES_SUNDIALS := libsundials-dev
WHAT_SUNDIALS     := CVODE and KINSOL

# For tests alone.
HEADERS_FCLIB     := fclib.h
PACKAGES_FCLIB    := libfclib-dev
WHAT_FCLIB        := peer for FCLIB files
TESTS_FCLIB       := io/test_fclib io/test_fclib_written
