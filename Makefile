# SPDX-License-Identifier: Apache-2.0
# carom: GNU Make, out of source (build/). `make help` lists the targets.

BUILD    ?= build
ifeq ($(origin CC),default)
CC       := gcc
endif
# For scripts that make something: `make -n` runs what names $(MAKE) itself.
MAKE_OF_SCRIPTS := $(MAKE)
PREFIX   ?= /usr/local
# A blank ends a name in make: the rest would be another folder, which `uninstall` and `clean` would remove.
$(foreach v,BUILD PREFIX LIBDIR DESTDIR SICONOS,$(if $(word 2,$($(v))),$(error $(v)=$($(v)): make cannot use a path with blanks)))
$(if $(BUILD),,$(error BUILD is empty: it names the folder that is built in))
VERSION  := $(shell sed -n 's/^#define CAROM_VERSION "\(.*\)"/\1/p' include/carom/api.h)
SOVERSION := 0

# ------------------------------------------------------------------------------- what belongs to which library
# Folder = library: no folder is split. Where an outside library may be missing, what needs it stands in a folder of its own, beside the
# folder `absent` that says so in its stead. scripts/libraries.mk lists these libraries.
in_folders = $(wildcard $(1:%=%/*.c))
comma := ,
# The flag of a library that is there, by the name of its file.
installed = $(if $(filter /%,$(shell $(CC) -print-file-name=lib$(1).so)),-l$(1))
pkg = $(shell pkg-config $(1) $(2) 2>/dev/null)
# $(call libs,PACKAGE,NAME): what pkg-config says, or -lNAME where it knows no such package and the library is there.
libs = $(or $(if $(1),$(call pkg,--libs,$(1))),$(call installed,$(2)))

# MuJoCo is the system's, or that of `make MUJOCO=pip` (the wheel of PYTHON) or `make MUJOCO=DIR` (a release): then programs and
# libcarom-mujoco.so remember where it lies. Siconos may be one's own build, too, installed in DIR: `make SICONOS=DIR`.
PYTHON ?= python3
ifneq ($(filter-out no,$(MUJOCO)),)
ifneq ($(filter-out deps help clean uninstall format format-check,$(or $(MAKECMDGOALS),all)),)
MUJOCO_FOUND := $(shell scripts/mujoco.sh '$(MUJOCO)' '$(PYTHON)')
ifeq ($(MUJOCO_FOUND),)
$(error the MuJoCo of MUJOCO=$(MUJOCO) was not found)
endif
CFLAGS_mujoco := -isystem $(word 1,$(MUJOCO_FOUND))
endif
endif
PLACE_SICONOS := $(or $(filter-out no,$(SICONOS)),/usr)
OWN_SICONOS   := $(if $(filter-out no,$(SICONOS)),$(firstword $(wildcard $(foreach l,lib lib64 lib/*,$(abspath $(SICONOS))/$(l)/libsiconos_numerics.so))))
# hdf5-serial where that is: in Debian hdf5 flips to Open MPI when libsundials-dev is installed. Other systems have hdf5 alone, or neither.
HDF5_FILE := $(firstword $(foreach p,hdf5-serial hdf5,$(if $(call pkg,--modversion,$(p)),$(p))))
DEPENDENCY_CFLAGS := $(patsubst -I%,-isystem %,$(foreach p,openblas lapacke $(HDF5_FILE) yaml-0.1 jansson nettle qhull_r libxml-2.0,$(call pkg,--cflags,$(p)))) \
                     -isystem $(PLACE_SICONOS)/include/siconos -isystem $(PLACE_SICONOS)/include/siconos/numerics

include scripts/libraries.mk
# SUNDIALS 7 may be built with MPI, whose header and empty communicator it then needs.
MPI_SUNDIALS := $(if $(call installed,sundials_core),ompi-c)
DEPENDENCY_CFLAGS += $(if $(MPI_SUNDIALS),$(patsubst -I%,-isystem %,$(call pkg,--cflags,$(MPI_SUNDIALS))))
# A choice that is none would build something else in silence.
no_choice = $(if $(and $(filter command,$(origin $(1))),$(filter-out $(2),$($(1)))),$(error $(1)=$($(1)): $(1) is $(3)))
$(foreach l,$(filter-out SICONOS MUJOCO,$(OPTIONAL)),$(call no_choice,$(l),no,'no' to build without it; otherwise it is used where it is found))
$(call no_choice,CORE,yes no,'yes' for libcarom alone)
$(call no_choice,MPI,0 1,'1' for a command that mpirun can start)
override CORE := $(filter-out no,$(CORE))
has_headers = $(shell printf '$(foreach h,$(1),\043include <$(h)>\n)' | $(CC) $(DEPENDENCY_CFLAGS) $(CFLAGS_mujoco) $(CFLAGS) -E - >/dev/null 2>&1 && echo yes)
$(foreach l,$(OPTIONAL),$(eval HAVE_$(l) := $(if $(CORE)$(filter no,$($(l))),,$(call has_headers,$(HEADERS_$(l))))))
# What every build needs, asked for by those targets that do not install it first.
NEEDED := cblas.h lapacke.h nettle/sha2.h Random123/philox.h $(if $(CORE),,yaml.h jansson.h)
ifneq ($(filter all libraries install run-% $(BUILD)/%,$(or $(MAKECMDGOALS),all)),)
ifeq ($(call has_headers,$(NEEDED)),)
$(error $(CC) finds no $(or $(strip $(foreach h,$(NEEDED),$(if $(call has_headers,$(h)),,$(h)))),headers): 'make deps' installs what is missing on Debian, and README ("On another system") says what is needed elsewhere)
endif
endif
# Bounds by linear programs take the rational numbers of exact sets.
HAVE_GLPK := $(if $(HAVE_PPL),$(HAVE_GLPK))
PRESENT := $(strip $(foreach l,$(OPTIONAL),$(if $(HAVE_$(l)),$(l))))
ifneq ($(and $(filter-out no,$(SICONOS)),$(if $(HAVE_SICONOS),,yes)),)
$(error SICONOS=$(SICONOS) has no include/siconos/numerics/SiconosNumerics.h)
endif
ifneq ($(and $(filter-out no,$(SICONOS)),$(if $(CORE)$(OWN_SICONOS),,yes)),)
$(error SICONOS=$(SICONOS) has no lib/libsiconos_numerics.so (nor in lib64 or a folder of lib))
endif
# $(call choose,FOLDER,NAME): the folder of what needs the library NAME, or the folder `absent` beside it.
choose = $(if $(HAVE_$(2)),$(1),$(dir $(1))absent)
HAVE_BULLET := $(shell pkg-config --exists bullet 2>/dev/null && echo yes)

FOLDERS_carom           := src/base src/impact solvers solvers/lemke src/step src/step/cones src/reach src/laws src/laws/stronge src/laws/propagative
FOLDERS_carom-siconos   := $(call choose,solvers/siconos/numerics,SICONOS)
FOLDERS_carom-sets      := src/sets $(call choose,src/sets/qhull,QHULL)
FOLDERS_carom-exact     := src/exact $(call choose,src/exact/ppl,PPL) $(call choose,src/exact/fan/glpk,GLPK)
FOLDERS_carom-mujoco    := $(if $(HAVE_MUJOCO),src/mujoco,src/mujoco/absent)
# Every folder of src/dynamics is an integrator.
FOLDERS_carom-dynamics  := src/bodies src/dynamics $(patsubst %/,%,$(wildcard src/dynamics/*/))
FOLDERS_carom-compliant := src/compliant $(call choose,src/compliant/cvode,SUNDIALS)
FOLDERS_carom-design    := $(call choose,src/design/kinsol,SUNDIALS)
FOLDERS_carom-measure   := src/measure
FOLDERS_carom-io        := src/io $(addprefix src/io/,scene result plot fclib measurements) $(call choose,src/io/hdf5,HDF5)
# `make MPI=1`: `mpirun carom sample` shares the work between processes. MPI_PACKAGE is the pkg-config name of the MPI to build with.
RANKS       := src/cli/ranks/$(if $(filter 1,$(MPI)),mpi,single)
FOLDERS_cli := src/cli $(addprefix src/cli/,bench compare docs hodograph info measure modes query simulate sweep worst) $(RANKS)
MPI_PACKAGE ?= ompi-c

# Users before what they use. `make CORE=yes` makes libcarom alone, without the command: it needs BLAS with LAPACKE, nettle and Random123.
LIBRARIES := $(if $(CORE),,carom-io carom-measure carom-compliant carom-dynamics carom-design carom-mujoco carom-exact carom-sets carom-siconos) carom
# Libraries of carom that a library uses.
USES_carom-siconos   := carom
USES_carom-sets      := carom
USES_carom-exact     := carom
USES_carom-mujoco    := carom
USES_carom-dynamics  := carom-sets carom
USES_carom-compliant := carom
USES_carom-design    := carom
USES_carom-measure   := carom
USES_carom-io        := carom-measure carom-dynamics carom-mujoco carom-sets carom

ABOUT_carom           := Sets of post-impact velocities of rigid-body systems: impacts, solvers, laws
ABOUT_carom-siconos   := LCP solvers of Siconos Numerics for carom
ABOUT_carom-sets      := Distances, hulls and other questions about sets of outcomes of carom, with Qhull
ABOUT_carom-exact     := Exact sets of impact outcomes for carom, and certified bounds, on the Parma Polyhedra Library and GLPK (GPL-3 terms)
ABOUT_carom-mujoco    := MuJoCo models (MJCF, URDF) for carom
ABOUT_carom-dynamics  := Motions in time for carom: bodies and integrators
ABOUT_carom-compliant := Impacts of compliant bodies for carom, on SUNDIALS
ABOUT_carom-design    := Design for predictable impacts for carom, with KINSOL
ABOUT_carom-measure   := Measured impacts against the laws of carom: fits and scores
ABOUT_carom-io        := Scene files, result files and plots of carom

# ---------------------------------------------------------------------------------------- flags of dependencies
# What SUNDIALS 7 has in common stands in a library of its own.
LIBS_sundials        = -lsundials_nvecserial -lsundials_sunlinsoldense -lsundials_sunmatrixdense $(if $(MPI_SUNDIALS),-lsundials_core $(call pkg,--libs,$(MPI_SUNDIALS)))
LIBS_mujoco         := $(if $(MUJOCO_FOUND),$(word 2,$(MUJOCO_FOUND)) -Wl$(comma)-rpath$(comma)$(patsubst %/,%,$(dir $(word 2,$(MUJOCO_FOUND)))),-lmujoco)
# libcarom alone takes any BLAS; the command asks OpenBLAS for its threads.
LIBS_carom          := $(call libs,lapacke,lapacke) $(or $(call libs,openblas,openblas),$(call libs,cblas,cblas) $(call libs,blas,blas)) $(call libs,nettle,nettle) -fopenmp -lm
LIBS_carom-siconos   = $(if $(HAVE_SICONOS),$(if $(OWN_SICONOS),-L$(patsubst %/,%,$(dir $(OWN_SICONOS))) -Wl$(comma)-rpath$(comma)$(patsubst %/,%,$(dir $(OWN_SICONOS)))) -lsiconos_numerics)
LIBS_carom-sets     := $(if $(HAVE_QHULL),$(call libs,qhull_r,qhull_r)) -lm
LIBS_carom-exact     = $(if $(HAVE_GLPK),-lglpk) $(if $(HAVE_PPL),-lppl_c -lppl -lgmp) -lm
LIBS_carom-mujoco   := $(if $(HAVE_MUJOCO),$(call libs,libxml-2.0,xml2) $(LIBS_mujoco)) -lm
LIBS_carom-dynamics  = -lm
LIBS_carom-measure   = -fopenmp -lm
LIBS_carom-compliant = $(if $(HAVE_SUNDIALS),-lsundials_cvode $(LIBS_sundials)) -lm
LIBS_carom-design    = $(if $(HAVE_SUNDIALS),-lsundials_kinsol $(LIBS_sundials)) -lm
LIBS_carom-io       := $(if $(HAVE_HDF5),$(call libs,$(HDF5_FILE),hdf5)) $(call libs,yaml-0.1,yaml) $(call libs,jansson,jansson) -lm
# Programs of ours take the serial OpenBLAS where it is installed, whatever Debian's alternatives choose, for themselves and for the
# libraries that they use: sampling is parallel by itself, and a thread of the other OpenBLAS that finds no memory when it starts looks for
# some for ever, also while the process waits for it at its exit. Libraries leave the choice to their host.
SERIAL_BLAS := $(patsubst %/libopenblas.so.0,%,$(wildcard /usr/lib/$(patsubst %-pc-linux-gnu,%-linux-gnu,$(shell $(CC) -dumpmachine))/openblas-serial/libopenblas.so.0))
PROGRAM_LIBS         = $(if $(SERIAL_BLAS),-Wl$(comma)--disable-new-dtags$(comma)-rpath$(comma)$(SERIAL_BLAS))
CLI_LIBS             = $(if $(filter 1,$(MPI)),$(call pkg,--libs,$(MPI_PACKAGE)))
TEST_LIBS           := $(call libs,cmocka,cmocka) $(if $(HAVE_FCLIB),-lfclib)

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
OPTIMISE ?= -O3
# No contraction into FMA: gcc and clang then give the same bits. No math errno: sqrt becomes an instruction.
# gcc 14.2 at -O3 makes wrong code of a product of quaternions by its vectors of straight code (tests/dynamics/test_rodrigues_forces.c).
SOUND := $(if $(findstring clang,$(CC)),,$(if $(filter 14.%,$(shell $(CC) -dumpfullversion 2>/dev/null)),-fno-tree-slp-vectorize))
CFLAGS_ALL = -std=c17 $(WARNINGS) $(OPTIMISE) $(SOUND) -g -fPIC -fvisibility=hidden -ffp-contract=off -fno-math-errno -fopenmp \
             -D_POSIX_C_SOURCE=200809L -Iinclude -Isrc -I. $(DEPENDENCY_CFLAGS) $(SANITIZE) $(COVERAGE) $(CFLAGS)
LDFLAGS_ALL = -fopenmp $(SANITIZE) $(LDFLAGS)

# ---------------------------------------------------------------------------------------------------- what is shown
# A line for each file, `make V=1` the commands, `make -s` neither.
ifeq ($(V),)
QUIET := @
ifeq ($(findstring s,$(firstword -$(MAKEFLAGS))),)
show   = @printf '  %-4s %s\n' $(1) '$(2)'
endif
endif

# -------------------------------------------------------------------------------------------------- the libraries
objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
STATIC := $(LIBRARIES:%=$(BUILD)/lib%.a)
SHARED := $(LIBRARIES:%=$(BUILD)/lib%.so)
# The command and the tests link the static libraries: no search path at run time, and tests reach inner functions.
LINK_LIBS = $(foreach l,$(LIBRARIES),$(LIBS_$(l)))
MISSING   := $(filter-out $(PRESENT),$(OPTIONAL))
LEFT_OUT  := $(foreach l,$(MISSING),$(TESTS_$(l)))
# The rooms of libcarom; a few of their tests compare it with other libraries of carom, or read scenes.
CORE_ROOMS := base impact solvers step reach laws
LEFT_OUT  += $(if $(CORE),reach/test_defaults reach/test_walk laws/test_stronge_examples laws/test_stronge_law)
TESTS     := $(patsubst %.c,$(BUILD)/%,$(filter-out $(LEFT_OUT:%=tests/%.c),$(wildcard $(if $(CORE),$(CORE_ROOMS:%=tests/%/test_*.c),tests/*/test_*.c))))
EXAMPLES  := $(patsubst %.c,$(BUILD)/%,$(wildcard examples/*.c))

JOBS ?= $(shell nproc)

.PHONY: FORCE check-mpi all libraries python run-python test-python-all run-test-python-all wheel demo figures coverage docs bench benchmarks benchmarks-simulators run-benchmarks-simulators test test-long test-mujoco deps sanitize valgrind check-layers check-symbols check-aarch64 test-arm64 format format-check install uninstall clean help fuzz run-fuzz fault run-fault options run-options tsan run-tsan run-tests run-models run-demo run-figures run-coverage run-bench run-benchmarks test-all test-without test-debian12 test-debian13 core test-core dist test-dist deb test-deb
.DELETE_ON_ERROR:
.SECONDARY:

all: libraries $(if $(CORE),,$(BUILD)/carom $(BUILD)/man/carom.1 $(BUILD)/completion/carom.bash)

libraries: $(STATIC) $(SHARED)

include scripts/install.mk

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call show,CC,$<)
	$(QUIET)$(CC) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

# Kernels once more for each instruction set that pays; the machine's is chosen at run time. Scalar ones are for tests. COVERAGE is for
# libFuzzer, and left out of kernels: they are long straight code. With UBSan clang's loop and address passes take minutes for it: -O0 has none.
KERNEL_SOURCES   := solvers/lemke/kernel.c src/step/cones/kernel.c src/step/loops.c src/reach/corners.c
KERNEL_solvers/lemke/kernel.c     := carom_lemke_kernel
KERNEL_src/step/cones/kernel.c    := carom_cone_kernel
KERNEL_src/step/loops.c           := carom_step_loops
KERNEL_src/reach/corners.c        := carom_corners_follow
X86              := $(filter x86_64,$(shell $(CC) -dumpmachine | cut -d- -f1))
SETS_solvers/lemke/kernel.c       := scalar $(if $(X86),avx2)
SETS_src/step/cones/kernel.c      := scalar $(if $(X86),avx2 avx512)
SETS_src/step/loops.c             := scalar $(if $(X86),avx2 avx512)
SETS_src/reach/corners.c          := scalar $(if $(X86),avx2 avx512)
kernel_objects = $(foreach i,$(SETS_$(1)),$(1:%.c=$(BUILD)/obj/%_$(i).o))
OBJECTS_carom  := $(foreach k,$(KERNEL_SOURCES),$(call kernel_objects,$(k)))
$(filter %_scalar.o,$(OBJECTS_carom)): ISA := -DSCALAR_LANES -fno-tree-vectorize $(if $(findstring clang,$(CC)),-fno-vectorize -fno-slp-vectorize)
$(filter %_avx2.o,$(OBJECTS_carom)): ISA := -mavx2
$(filter %_avx512.o,$(OBJECTS_carom)): ISA := -mavx512f -mprefer-vector-width=512
ifneq ($(and $(findstring clang,$(CC)),$(findstring undefined,$(SANITIZE))),)
$(KERNEL_SOURCES:%.c=$(BUILD)/obj/%.o) $(OBJECTS_carom): override OPTIMISE := -O0
$(KERNEL_SOURCES:%.c=$(BUILD)/obj/%.o): override COVERAGE :=
endif
define kernel_rules
$(call kernel_objects,$(1)): $(BUILD)/obj/$(1:.c=)_%.o: $(1)
	@mkdir -p $$(@D)
	$$(call show,CC,$$< $$(ISA))
	$$(QUIET)$$(CC) $$(filter-out $$(COVERAGE),$$(CFLAGS_ALL)) $$(ISA) -DKERNEL=$(KERNEL_$(1))_$$* -DINSTRUCTION_SET='"$$*"' -MMD -MP -c $$< -o $$@
endef
$(foreach k,$(KERNEL_SOURCES),$(eval $(call kernel_rules,$(k))))

# Members of an archive may have the same name in different folders: `q` keeps both.
define library_rules
$(BUILD)/lib$(1).a: $$(call objects,$$(call in_folders,$$(FOLDERS_$(1)))) $$(OBJECTS_$(1)) $(BUILD)/libraries
	$$(call show,AR,$$@)
	$$(QUIET)rm -f $$@ && ar qcs $$@ $$(filter %.o,$$^)

$(BUILD)/lib$(1).so: $$(call objects,$$(call in_folders,$$(FOLDERS_$(1)))) $$(OBJECTS_$(1)) $(USES_$(1):%=$(BUILD)/lib%.so) $(BUILD)/libraries
	$$(call show,LD,$$@)
	$$(QUIET)$(CC) -shared -Wl,-soname,lib$(1).so.$(SOVERSION) -Wl,-z,defs $$(ORIGIN) -o $$@ $$(filter-out $(BUILD)/libraries,$$^) $$(LIBS_$(1)) $$(LDFLAGS_ALL)
	$$(QUIET)ln -sf $$(@F) $$@.$(SOVERSION)
endef
$(foreach l,$(LIBRARIES),$(eval $(call library_rules,$(l))))

FORCE:

# What the build has of the libraries that it may lack. After a change everything is linked anew.
LIBRARY_CHOICE := $(PRESENT) $(SICONOS) $(MUJOCO_FOUND) $(OWN_PLACE:yes=beside)
$(BUILD)/libraries: FORCE
	@mkdir -p $(@D)
	@echo '$(LIBRARY_CHOICE)' | cmp -s - $@ || echo '$(LIBRARY_CHOICE)' > $@

# The table of these libraries in C: for `carom --version --verbose`, and for tests that skip what is not there.
OPTIONAL_ROWS := $(foreach l,$(OPTIONAL),{"$(l)"$(comma) "$(WHAT_$(l))"$(comma) "$(PACKAGES_$(l))"$(comma) $(if $(HAVE_$(l)),true,false)}$(comma))
$(BUILD)/obj/src/cli/version.o $(BUILD)/obj/tests/support.o: CFLAGS_ALL += -DOPTIONAL_LIBRARIES='$(OPTIONAL_ROWS)'
$(BUILD)/obj/src/cli/version.o $(BUILD)/obj/tests/support.o: $(BUILD)/libraries
$(BUILD)/obj/%/absent.o: CFLAGS_ALL += $(foreach l,$(OPTIONAL),-DWITHOUT_$(l)='"this build has no $(WHAT_$(l)): install $(PACKAGES_$(l)), and build again"')

# These alone include MuJoCo's headers.

$(call objects,$(call in_folders,src/mujoco tests/mujoco)): DEPENDENCY_CFLAGS += $(CFLAGS_mujoco)
$(call objects,$(call in_folders,src/mujoco tests/mujoco)): $(BUILD)/libraries

# Linked anew after a change between builds with and without MPI.
$(BUILD)/ranks: FORCE
	@mkdir -p $(@D)
	@echo '$(RANKS)' | cmp -s - $@ || echo '$(RANKS)' > $@

$(BUILD)/obj/src/cli/ranks/mpi/mpi.o: DEPENDENCY_CFLAGS += $(patsubst -I%,-isystem %,$(call pkg,--cflags,$(MPI_PACKAGE)))
$(BUILD)/obj/src/cli/ranks/mpi/mpi.o: | check-mpi
check-mpi:
	@pkg-config --exists $(MPI_PACKAGE) || { echo "MPI=1 needs Open MPI, which pkg-config does not find ($(MPI_PACKAGE)): install it with 'make deps DEPS_GROUPS=mpi', or name another MPI with MPI_PACKAGE=..." >&2; exit 1; }

# The harness of `carom bench` is a library of the command alone, and not installed.
$(BUILD)/libcarom-bench.a: $(call objects,$(call in_folders,benchmarks/harness))
	$(call show,AR,$@)
	$(QUIET)rm -f $@ && ar qcs $@ $^

$(BUILD)/carom: $(call objects,$(call in_folders,$(FOLDERS_cli))) $(BUILD)/libcarom-bench.a $(STATIC) $(BUILD)/ranks
	$(call show,LD,$@)
	$(QUIET)$(CC) -o $@ $(filter-out $(BUILD)/ranks,$^) $(PROGRAM_LIBS) $(LINK_LIBS) $(CLI_LIBS) $(LDFLAGS_ALL)

# Made from the tables of the command, so that they are never behind it.
$(BUILD)/man/carom.1: $(BUILD)/carom
	@mkdir -p $(@D)
	$(QUIET)$< docs man > $@

$(BUILD)/completion/carom.bash: $(BUILD)/carom
	@mkdir -p $(@D)
	$(QUIET)$< docs bash > $@

# ------------------------------------------------------------------------------------------------ examples and tests
# Examples need libcarom alone, as a program with matrices does.
$(BUILD)/examples/%: $(BUILD)/obj/examples/%.o $(BUILD)/libcarom.a
	@mkdir -p $(@D)
	$(call show,LD,$@)
	$(QUIET)$(CC) -o $@ $^ $(LIBS_carom) $(LDFLAGS_ALL)

$(BUILD)/obj/tests/%.o: CFLAGS_ALL += -Itests
# Tests of the command share more: running it, its JSON, what it leaves behind.
$(filter $(BUILD)/tests/command/%,$(TESTS)): $(call objects,tests/command/command_support.c $(call in_folders,$(call choose,tests/command/hdf5,HDF5)))
$(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(BUILD)/obj/tests/support.o $(BUILD)/libcarom-bench.a $(STATIC)
	@mkdir -p $(@D)
	$(call show,LD,$@)
	$(QUIET)$(CC) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(PROGRAM_LIBS) $(TEST_LIBS) $(LINK_LIBS) $(LDFLAGS_ALL)

# Harnesses of fuzzing call the whole command as a function. Its seeds are replayed by a test; libFuzzer needs clang.
COMMAND_AS_FUNCTION := $(filter-out %/src/cli/main.o,$(call objects,$(call in_folders,$(FOLDERS_cli)))) $(BUILD)/obj/tests/fuzz/main.o
FUZZ_OBJECTS        := $(call objects,$(filter-out tests/fuzz/test_% tests/fuzz/libfuzzer.c,$(wildcard tests/fuzz/*.c))) $(COMMAND_AS_FUNCTION)
$(BUILD)/obj/tests/fuzz/main.o: src/cli/main.c
	@mkdir -p $(@D)
	$(call show,CC,$< as a function)
	$(QUIET)$(CC) $(CFLAGS_ALL) -Dmain=carom_main -MMD -MP -c $< -o $@
$(BUILD)/tests/fuzz/test_seeds: $(FUZZ_OBJECTS)
$(BUILD)/carom-fuzz: $(BUILD)/obj/tests/fuzz/libfuzzer.o $(FUZZ_OBJECTS) $(BUILD)/libcarom-bench.a $(STATIC)
	$(call show,LD,$@)
	$(QUIET)$(CC) -o $@ $^ $(LINK_LIBS) $(CLI_LIBS) -fsanitize=fuzzer $(LDFLAGS_ALL)

# Benchmarks reach inner functions, too; their peers are libraries that nothing else needs.
# Three balls in Bullet (C++), where it is installed: scripts/deps.sh bullet.
BENCHMARKS := $(BUILD)/benchmarks/stronge $(BUILD)/benchmarks/rodrigues $(if $(HAVE_BULLET),$(BUILD)/benchmarks/cradle)

$(BUILD)/benchmarks/stronge: $(BUILD)/obj/benchmarks/peers/stronge_sundials.o $(BUILD)/obj/benchmarks/peers/stronge_euler.o
$(BUILD)/benchmarks/stronge: LIBS_benchmark = -lsundials_cvode -lsundials_arkode -lsundials_nvecserial
$(BUILD)/benchmarks/rodrigues: $(BUILD)/libcarom-dynamics.a $(BUILD)/libcarom-sets.a
$(BUILD)/benchmarks/rodrigues: LIBS_benchmark = $(LIBS_carom-dynamics) $(LIBS_carom-sets)

$(BUILD)/obj/benchmarks/peers/cradle_bullet.o: benchmarks/peers/cradle_bullet.cpp benchmarks/peers/cradle_bullet.h
	@mkdir -p $(@D)
	$(call show,CXX,$<)
	$(QUIET)$(CXX) -std=c++17 -Wall -Wextra -O2 $(patsubst -I%,-isystem %,$(call pkg,--cflags,bullet)) -c $< -o $@

$(BUILD)/benchmarks/cradle: $(BUILD)/obj/benchmarks/peers/cradle_bullet.o
$(BUILD)/benchmarks/cradle: LIBS_benchmark = -lBulletDynamics -lBulletCollision -lLinearMath -lstdc++

$(BUILD)/benchmarks/%: $(BUILD)/obj/benchmarks/peers/%.o $(BUILD)/libcarom.a
	@mkdir -p $(@D)
	$(call show,LD,$@)
	$(QUIET)$(CC) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS_benchmark) $(LIBS_carom) $(LDFLAGS_ALL)

# --------------------------------------------------------------------------------------------------- the Python package
# Debian's Python by default, whatever stands first in PATH. Where it lacks headers or what the tests need, the package is left out, and
# nothing else changes. AddressSanitizer must be loaded before Python, which gcc's can be (beside the library of C++, whose exceptions it
# watches); clang's and ThreadSanitizer cannot, and the package is left out there. Python itself leaks on purpose.
PACKAGE_PYTHON := $(if $(filter file,$(origin PYTHON)),/usr/bin/python3,$(PYTHON))
PYTHON_INCLUDE := $(shell $(PACKAGE_PYTHON) -c 'import os, sysconfig; p = sysconfig.get_path("include"); print(p if os.path.exists(p + "/Python.h") else "")' 2>/dev/null)
PYTHON_PRELOAD := $(if $(findstring address,$(SANITIZE)),$(if $(findstring clang,$(CC)),,$(shell $(CC) -print-file-name=libasan.so) $(shell $(CC) -print-file-name=libstdc++.so)))
PYTHON_WATCHED := $(if $(PYTHON_PRELOAD),LD_PRELOAD="$(PYTHON_PRELOAD)" ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc)
HAVE_PYTHON    := $(if $(CORE),,$(if $(SANITIZE),$(PYTHON_PRELOAD),yes))
HAVE_PYTHON    := $(if $(and $(HAVE_PYTHON),$(PYTHON_INCLUDE)),$(shell $(PACKAGE_PYTHON) -c 'import numpy, pytest' 2>/dev/null && echo yes))
PYTHON_SOURCES := $(wildcard python/src/extension/*.c)
PYTHON_FILES   := $(shell find python/src/carom -name '*.py' -o -name '*.pyi' -o -name py.typed -o -path '*/page/*')
PYTHON_PACKAGE := $(BUILD)/python/carom/_carom.abi3.so $(PYTHON_FILES:python/src/carom/%=$(BUILD)/python/carom/%)
PYTHON_TESTS   := $(if $(HAVE_PYTHON),$(patsubst python/%.py,$(BUILD)/python/%,$(filter-out $(LEFT_OUT:python/%=python/tests/%.py),$(wildcard python/tests/test_*.py))))

# The limited API of 3.11: one build serves that and every later version. Symbols of carom stay inside.
$(call objects,$(PYTHON_SOURCES)): CFLAGS_ALL += -DPy_LIMITED_API=0x030b0000 -isystem $(PYTHON_INCLUDE)
$(BUILD)/python/carom/_carom.abi3.so: $(call objects,$(PYTHON_SOURCES)) $(STATIC)
	@mkdir -p $(@D)
	$(call show,LD,$@)
	$(QUIET)$(CC) -shared -Wl,--exclude-libs,ALL -o $@ $^ $(PROGRAM_LIBS) $(LINK_LIBS) $(LDFLAGS_ALL)

$(BUILD)/python/carom/%: python/src/carom/%
	@mkdir -p $(@D)
	$(QUIET)cp $< $@

# Test programs of the package run a file of tests by pytest.
$(BUILD)/python/tests/%: python/tests/%.py $(PYTHON_PACKAGE)
	@mkdir -p $(@D)
	$(QUIET)printf '#!/bin/sh\n$(PYTHON_WATCHED) PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$(abspath $(BUILD))/python" exec $(PACKAGE_PYTHON) python/tests/run.py $<\n' > $@ && chmod +x $@

python:
	@scripts/deps.sh build python
	@$(MAKE) --no-print-directory -j$(JOBS) run-python

# What needs packages from the index of Python, in an environment of its own; whatever cannot be had is left out with a word.
PYTHON_ENVIRONMENT := $(BUILD)/python-environment
test-python-all:
	@scripts/deps.sh build python browser
	@$(MAKE) --no-print-directory -j$(JOBS) run-test-python-all

SIMULATORS_ENVIRONMENT := $(BUILD)/simulators-environment
$(PYTHON_ENVIRONMENT)/ready: python/tests/packages/requirements.txt
$(SIMULATORS_ENVIRONMENT)/ready: benchmarks/simulators/requirements.txt
$(PYTHON_ENVIRONMENT)/ready $(SIMULATORS_ENVIRONMENT)/ready:
	@rm -rf $(@D)
	$(QUIET)$(PACKAGE_PYTHON) -m venv $(@D)
	@while read -r package; do \
	    $(@D)/bin/pip install --quiet --disable-pip-version-check "$$package" || \
	    echo "The package $$package cannot be had: what needs it is left out." >&2; done < $<
	@touch $@

run-test-python-all: $(PYTHON_PACKAGE) $(BUILD)/carom $(PYTHON_ENVIRONMENT)/ready
	@$(PYTHON_ENVIRONMENT)/bin/python -c 'import pytest, numpy' 2>/dev/null || { \
	    echo "The index of Python does not answer: the tests that need packages from it are left out."; rm $(PYTHON_ENVIRONMENT)/ready; exit 0; }; \
	if [ -x $(PYTHON_ENVIRONMENT)/bin/mypy ]; then (cd python && "$(abspath $(PYTHON_ENVIRONMENT))/bin/mypy" --cache-dir="$(abspath $(BUILD))/mypy") || exit; fi; \
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$(abspath $(BUILD))/python" CAROM_BUILD=$(BUILD) \
	    $(PYTHON_ENVIRONMENT)/bin/python -m pytest -q -rs -p no:cacheprovider python/tests/packages python/tests/test_tables.py

run-python: $(PYTHON_PACKAGE)
	@$(if $(PYTHON_INCLUDE),,echo "$(PACKAGE_PYTHON) has no headers: install python3-dev, or name another Python with PYTHON=..." >&2; exit 1)

wheel:
	@scripts/deps.sh build python wheel
	@$(MAKE) --no-print-directory -j$(JOBS) run-python
	@scripts/wheel.sh $(BUILD) $(PACKAGE_PYTHON)

deps:
	@scripts/deps.sh $(DEPS_GROUPS)

# `deps` first and alone: flags of dependencies are read when a make starts, so the rest runs in a second one.
demo:
	@scripts/deps.sh build
	@$(MAKE) --no-print-directory -j$(JOBS) run-demo

# libcarom alone, with what it needs and no more; and its tests.
core:
	@scripts/deps.sh core
	@$(MAKE) --no-print-directory -j$(JOBS) CORE=yes BUILD=$(BUILD)/core all

test-core:
	@FCLIB=no scripts/deps.sh core test
	@$(MAKE) --no-print-directory -j$(JOBS) CORE=yes BUILD=$(BUILD)/core run-tests

test:
	@scripts/deps.sh build test python $(if $(filter 1,$(MPI)),mpi)
	@$(MAKE) --no-print-directory -j$(JOBS) run-tests

# With SUNDIALS, too, which pulls 140 packages.
test-all:
	@scripts/deps.sh build test python sundials $(if $(filter 1,$(MPI)),mpi)
	@$(MAKE) --no-print-directory -j$(JOBS) run-tests

test-long:
	@scripts/deps.sh build test python sundials $(if $(filter 1,$(MPI)),mpi)
	@CAROM_TEST_LONG=1 $(MAKE) --no-print-directory -j$(JOBS) run-tests
	@$(MAKE) --no-print-directory fault options tsan fuzz

# Both commands of the README in fresh, minimal systems; and the tests without each library in turn, in a build folder for each.
test-debian12 test-debian13:
	@scripts/test-debian.sh $(BUILD) $(if $(filter %12,$@),bookworm,trixie)

WITHOUT ?= $(filter-out FCLIB,$(OPTIONAL))
test-without:
	@scripts/deps.sh build test python
	@mkdir -p $(BUILD)
	@for name in $(WITHOUT); do echo "Without $$name:"; \
	    $(MAKE) --no-print-directory -j$(JOBS) $$name=no BUILD=$(BUILD)/without/$$name run-tests > $(BUILD)/without-$$name.log 2>&1 || failed="$$failed $$name"; \
	    tail -n 3 $(BUILD)/without-$$name.log; done; [ -z "$$failed" ] || { echo "failed without$$failed: see $(BUILD)/without-NAME.log" >&2; exit 1; }

figures:
	@scripts/deps.sh build
	@$(MAKE) --no-print-directory -j$(JOBS) run-figures

coverage:
	@scripts/deps.sh build
	@$(MAKE) --no-print-directory -j$(JOBS) run-coverage

bench:
	@scripts/deps.sh build
	@$(MAKE) --no-print-directory -j$(JOBS) run-bench

benchmarks:
	@scripts/deps.sh build sundials
	@$(MAKE) --no-print-directory -j$(JOBS) run-benchmarks

# The pages as a site. Sphinx is Debian's, and so is its Python.
docs:
	@scripts/deps.sh docs
	@/usr/bin/python3 scripts/site.py $(BUILD)

run-coverage: $(BUILD)/carom
	@scripts/coverage.sh $(BUILD)

# What simulators say of impacts, beside the sets; without some of them, a line says so (docs/simulators.md).
benchmarks-simulators:
	@scripts/deps.sh build python simulators
	@$(MAKE) --no-print-directory -j$(JOBS) run-benchmarks-simulators

run-benchmarks-simulators: $(PYTHON_PACKAGE) $(BUILD)/carom $(SIMULATORS_ENVIRONMENT)/ready
	@$(SIMULATORS_ENVIRONMENT)/bin/python -c 'import numpy, scipy, matplotlib' || { \
	    echo "The index of Python does not answer: numpy, scipy and matplotlib are needed." >&2; rm $(SIMULATORS_ENVIRONMENT)/ready; exit 1; }
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$(abspath $(BUILD))/python:benchmarks" \
	    $(SIMULATORS_ENVIRONMENT)/bin/python -m simulators --carom $(BUILD)/carom --out $(BUILD)/simulators

run-bench: $(BUILD)/carom
	$< bench --growth --profiles -o $(BUILD)/performance.md

run-benchmarks: $(BENCHMARKS)
	$(BUILD)/benchmarks/stronge > $(BUILD)/stronge.md
	$(if $(HAVE_BULLET),$(BUILD)/benchmarks/cradle > $(BUILD)/cradle.md)
	$(BUILD)/benchmarks/rodrigues > $(BUILD)/rodrigues.md

run-figures: $(BUILD)/carom $(BUILD)/examples/billiards $(if $(HAVE_BULLET),$(BUILD)/benchmarks/cradle) $(if $(HAVE_PYTHON),$(PYTHON_PACKAGE))
	@scripts/figures.sh $(BUILD)

run-demo: $(BUILD)/carom
	@scripts/demo.sh $(BUILD)

# Benchmarks whose libraries are here are built, too: no test runs them.
run-tests: all $(TESTS) $(PYTHON_TESTS) $(EXAMPLES) check-layers $(if $(CORE),,$(filter-out %/stronge,$(BENCHMARKS)) check-symbols)
	@$(if $(PYTHON_TESTS)$(SANITIZE)$(CORE),,echo "The tests of the Python package are left out: $(PACKAGE_PYTHON) lacks headers, numpy or pytest.")
	@CAROM_LEFT_OUT='$(if $(CORE),,$(foreach l,$(MISSING),$(l) ($(firstword $(PACKAGES_$(l)))$(TESTS_$(l):%=, %));))' scripts/run-tests.sh $(BUILD) $(TESTS) $(PYTHON_TESTS) $(INSTALL_TESTS)

SANITIZE_BUILD := BUILD=$(BUILD)/sanitize OPTIMISE="-O1 -fno-omit-frame-pointer" SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=all"
# Fewer random trials: they look for wrong numbers, which sanitizers do not.
sanitize:
	@scripts/deps.sh build test python sundials $(if $(findstring clang,$(CC)),clang)
	@LSAN_OPTIONS="suppressions=$(CURDIR)/tests/fuzz/leaks.txt:print_suppressions=0" CAROM_TEST_QUICK=1 \
	    $(MAKE) --no-print-directory -j$(JOBS) $(SANITIZE_BUILD) run-tests

# libFuzzer's build stands beside the others; seconds are those of each harness.
FUZZ_SECONDS ?= 60
FUZZ_BUILD   := BUILD=$(BUILD)/fuzz CC=clang OPTIMISE="-O1 -fno-omit-frame-pointer" SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=all" \
                COVERAGE=-fsanitize=fuzzer-no-link
fuzz:
	@scripts/deps.sh build test clang
	@$(MAKE) --no-print-directory -j$(JOBS) $(FUZZ_BUILD) run-fuzz

run-fuzz: $(BUILD)/carom $(BUILD)/carom-fuzz
	@FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz.sh $(BUILD) $(FUZZ_HARNESSES)

# The command while its surroundings fail: full disks, signals, limits of memory, allocations that fail one by one. Seconds are those of all.
FAULT_SECONDS ?= 60
fault:
	@scripts/deps.sh build fault
	@$(MAKE) --no-print-directory -j$(JOBS) run-fault

run-fault: $(BUILD)/carom $(BUILD)/fail_allocation.so
	@FAULT_SECONDS=$(FAULT_SECONDS) tests/fault/fault.py $^ $(FAULT_KINDS)

$(BUILD)/fail_allocation.so: tests/fault/fail_allocation.c
	$(call show,LD,$@)
	$(QUIET)$(CC) -std=c17 $(WARNINGS) -O1 -fPIC -shared -o $@ $<

# Every option of every subcommand with bad values, under AddressSanitizer; OPTIONS_SECONDS=0 runs them all.
OPTIONS_SECONDS ?= 60
options:
	@scripts/deps.sh build fault
	@$(MAKE) --no-print-directory -j$(JOBS) $(SANITIZE_BUILD) run-options

run-options: $(BUILD)/carom
	@OPTIONS_SECONDS=$(OPTIONS_SECONDS) tests/fault/options.py $< $(OPTIONS_COMMANDS)

# The tests that use threads, under ThreadSanitizer: clang's OpenMP tells it by libarcher what waits for what, which gcc's cannot.
TSAN_TESTS := base/test_base reach/test_reach reach/test_walk laws/test_laws step/test_cones measure/test_measure dynamics/test_rodrigues_runs sets/test_query \
              command/test_sample command/test_simulate compliant/test_compliant
tsan:
	@scripts/deps.sh build test clang
	@CAROM_TEST_QUICK=1 $(MAKE) --no-print-directory -j$(JOBS) BUILD=$(BUILD)/tsan CC=clang OPTIMISE="-O1 -fno-omit-frame-pointer" \
	    SANITIZE=-fsanitize=thread run-tsan

run-tsan: $(BUILD)/carom $(TSAN_TESTS:%=$(BUILD)/tests/%)
	@OMP_TOOL_LIBRARIES=$(abspath $(shell $(CC) -print-resource-dir)/../../libarcher.so) OMP_NUM_THREADS=3 \
	    TSAN_OPTIONS="halt_on_error=1 exitcode=66 ignore_noninstrumented_modules=1" \
	    scripts/run-tests.sh $(BUILD) $(TSAN_TESTS:%=$(BUILD)/tests/%)

# The tests that read models, against the Python wheels of other versions of MuJoCo, and the results of shipped scenes against this build's.
MUJOCO_WHEELS ?= 3.* 4.*
MODEL_TESTS   := $(patsubst tests/%.c,%,$(wildcard tests/mujoco/test_*.c)) command/test_info command/test_usage command/test_simulate \
                 io/test_scene io/test_scenes dynamics/test_inclusion design/test_design
test-mujoco:
	@scripts/deps.sh build test
	@$(MAKE) --no-print-directory -j$(JOBS) $(BUILD)/carom
	@MAKE='$(MAKE_OF_SCRIPTS)' JOBS=$(JOBS) scripts/test-mujoco.sh $(BUILD) '$(PYTHON)' $(foreach w,$(MUJOCO_WHEELS),'$(w)')

run-models: $(BUILD)/carom $(MODEL_TESTS:%=$(BUILD)/tests/%)
	@scripts/run-tests.sh $(BUILD) $(MODEL_TESTS:%=$(BUILD)/tests/%)

valgrind:
	@scripts/deps.sh build test valgrind
	@$(MAKE) --no-print-directory -j$(JOBS) all $(TESTS) $(EXAMPLES)
	@CAROM_TEST_QUICK=1 CAROM_TEST_WRAPPER="valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect" \
	    scripts/run-tests.sh $(BUILD) $(TESTS)

check-layers:
	@scripts/check-layers.sh

check-symbols: $(BUILD)/carom
	@scripts/check-symbols.sh $(BUILD)

check-aarch64:
	@scripts/deps.sh build test aarch64
	@scripts/check-aarch64.sh

# The core's tests and digests, cross compiled and run under qemu.
ARM64_TESTS ?= $(filter-out base/test_ranks solvers/test_siconos,$(patsubst tests/%.c,%,$(wildcard $(CORE_ROOMS:%=tests/%/test_*.c))))
test-arm64:
	@scripts/deps.sh build test aarch64
	@$(MAKE) --no-print-directory -j$(JOBS) $(BUILD)/tests/laws/digests
	@MAKE='$(MAKE_OF_SCRIPTS)' JOBS=$(JOBS) scripts/test-arm64.sh $(BUILD) $(ARM64_TESTS)

# ----------------------------------------------------------------------------------------------------------- house
format:
	clang-format -i $$(git ls-files '*.[ch]')

format-check:
	clang-format --dry-run --Werror $$(git ls-files '*.[ch]')

clean:
	rm -rf $(BUILD)

help:
	@echo "make            the command and the libraries, in $(BUILD)/; V=1 shows the commands"
	@echo "make MUJOCO=pip the same with the MuJoCo of the Python wheel 'mujoco' that PYTHON=$(PYTHON) has; MUJOCO=DIR: of an unpacked release"
	@echo "make MPI=1      the same, and 'mpirun -n R carom sample ...' shares the work between R processes"
	@echo "make demo       install what is missing, build, sample the rocking block's set, draw it"
	@echo "make figures    draw the figures of docs/paper.md and measure its table (two minutes)"
	@echo "make coverage   measure how well samples cover the exact sets, for docs/coverage.md (some minutes)"
	@echo "make docs       the documentation as HTML in $(BUILD)/site/html, its links checked"
	@echo "make bench      measure this machine into $(BUILD)/performance.md (under five minutes)"
	@echo "make benchmarks measure against other libraries into $(BUILD)/stronge.md, rodrigues.md and, with Bullet, cradle.md"
	@echo "make benchmarks-simulators run MuJoCo, Drake, Bullet, ODE and DART, as far as they can be had, on impacts, into $(BUILD)/simulators (half an hour)"
	@echo "make test       install what is missing but SUNDIALS, build, run every test; what the build lacks is left out with a word"
	@echo "make test-all   the same with SUNDIALS (140 packages)"
	@echo "make core       libcarom alone in $(BUILD)/core: a C compiler, BLAS with LAPACKE, nettle and Random123; make test-core: its tests"
	@echo "make NAME=no    without a library that is there, NAME of $(OPTIONAL)"
	@echo "make test-without the tests without each library in turn (long): WITHOUT='$(WITHOUT)'"
	@echo "make test-debian12 demo and test of the last commit in a fresh, minimal Debian 12, made by debootstrap; test-debian13: in Debian 13"
	@echo "make test-long  the same with the large random families, then fault, options, tsan and fuzz"
	@echo "make test-mujoco the tests of models with other versions of MuJoCo: MUJOCO_WHEELS='$(MUJOCO_WHEELS)', from the Python registry"
	@echo "make sanitize   the tests under AddressSanitizer and UndefinedBehaviorSanitizer (CC=clang for clang's)"
	@echo "make valgrind   the tests under valgrind, with smaller random families"
	@echo "make fuzz       libFuzzer with clang's sanitizers: FUZZ_SECONDS=$(FUZZ_SECONDS) for each harness, or FUZZ_HARNESSES='command scene'"
	@echo "make fault      the command while disks, memory, pipes and places fail, and signals come: FAULT_SECONDS=$(FAULT_SECONDS)"
	@echo "make options    every option with bad values under AddressSanitizer: OPTIONS_SECONDS=$(OPTIONS_SECONDS), 0 for all"
	@echo "make tsan       the tests that use threads under ThreadSanitizer"
	@echo "make python     install what is missing, build the Python package in $(BUILD)/python; PYTHON=$(PACKAGE_PYTHON)"
	@echo "make wheel      build a wheel with all libraries inside in $(BUILD)/wheels, and try it where none of them is installed"
	@echo "make test-python-all  the package's tests that need others from the index of Python, in $(BUILD)/python-environment"
	@echo "make deps       install the Debian packages that the build uses and that are missing"
	@echo "make install    PREFIX=$(PREFIX), LIBDIR=PREFIX/lib, DESTDIR is honoured; make uninstall"
	@echo "make dist       the last commit as $(ARCHIVE); make test-dist: its tests in an empty folder without git"
	@echo "make deb        Debian packages of the last commit in $(BUILD)/deb; make test-deb: in fresh Debian 12 and 13, installed, used, removed"
	@echo "make format     clang-format; make check-layers and check-symbols verify who uses whom"
	@echo "make test-arm64 the core's tests for 64-bit ARM under qemu, and digests of outcomes beside those of this machine"
	@echo "make check-aarch64  every file through gcc for 64-bit ARM, without making code"

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
