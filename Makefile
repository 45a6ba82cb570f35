# SPDX-License-Identifier: Apache-2.0
# carom: GNU Make, out of source (build/). `make help` lists the targets.

BUILD    ?= build
ifeq ($(origin CC),default)
CC       := gcc
endif
PREFIX   ?= /usr/local
VERSION  := $(shell sed -n 's/^#define CAROM_VERSION "\(.*\)"/\1/p' include/carom/base.h)
SOVERSION := 0

# ------------------------------------------------------------------------------- what belongs to which library
CORE_ROOMS   := base impact solvers reach propagative laws
QUERY_SOURCES := src/reach/hull.c $(wildcard src/reach/query*.c)
EXACT_COMMON := src/reach/exact_set.c src/laws/halm_posa_exact.c
SIDE_SOURCES := src/solvers/lcp_siconos.c $(wildcard src/reach/exact_*.c) $(EXACT_COMMON) $(QUERY_SOURCES)
CORE_SOURCES := $(filter-out $(SIDE_SOURCES),$(wildcard $(CORE_ROOMS:%=src/%/*.c)))
SICONOS_SOURCES := src/solvers/lcp_siconos.c
# With the Parma Polyhedra Library, or what says that it is missing.
HAVE_PPL := $(shell printf '\043include <gmp.h>\n\043include <ppl_c.h>\n' | $(CC) -E - >/dev/null 2>&1 && echo yes)
ifeq ($(HAVE_PPL),yes)
EXACT_SOURCES := $(filter-out src/reach/exact_absent.c,$(wildcard src/reach/exact_*.c)) src/laws/halm_posa_exact.c
EXACT_LIBS    := -lppl_c -lppl -lgmp -lstdc++ -lm
else
EXACT_SOURCES := $(EXACT_COMMON) src/reach/exact_absent.c
endif
MUJOCO_SOURCES  := $(wildcard src/model/*.c)
DYNAMICS_SOURCES := $(filter-out src/dynamics/compliant%,$(wildcard src/dynamics/*.c))
# With SUNDIALS, or what says that it is missing.
HAVE_SUNDIALS := $(shell printf '\043include <cvode/cvode.h>\n' | $(CC) -E - >/dev/null 2>&1 && echo yes)
COMPLIANT_SOURCES := $(filter-out src/dynamics/compliant_$(if $(HAVE_SUNDIALS),absent,cvode).c,$(wildcard src/dynamics/compliant*.c))
COMPLIANT_LIBS := $(if $(HAVE_SUNDIALS),-lsundials_cvode -lsundials_nvecserial -lsundials_sunmatrixdense -lsundials_sunlinsoldense)
IO_SOURCES      := $(wildcard src/io/*.c) $(QUERY_SOURCES)
# `make MPI=1`: `mpirun carom sample` shares the work between processes. MPI_PACKAGE is the pkg-config name of the MPI to build with.
RANKS           := src/cli/ranks_$(if $(filter 1,$(MPI)),mpi,single).c
CLI_SOURCES     := $(filter-out src/cli/ranks_%.c,$(wildcard src/cli/*.c)) $(RANKS)
MPI_PACKAGE     ?= ompi-c
DESIGN_SOURCES  := src/design/design_$(if $(HAVE_SUNDIALS),kinsol,absent).c
DESIGN_LIBS     := $(if $(HAVE_SUNDIALS),-lsundials_kinsol -lsundials_nvecserial -lsundials_sunlinsoldense -lsundials_sunmatrixdense)
TEST_SOURCES    := $(filter-out tests/support.c,$(wildcard tests/*.c))

# ---------------------------------------------------------------------------------------- flags of dependencies
pkg = $(shell pkg-config $(1) $(2) 2>/dev/null)

# hdf5-serial, never hdf5: the latter flips to Open MPI when libsundials-dev is installed.
DEPENDENCY_CFLAGS = $(patsubst -I%,-isystem %,$(call pkg,--cflags,openblas lapacke hdf5-serial yaml-0.1 jansson nettle qhull_r)) \
                    -isystem /usr/include/siconos -isystem /usr/include/siconos/numerics
CORE_LIBS    = $(call pkg,--libs,lapacke openblas nettle) -lm
SICONOS_LIBS = -lsiconos_numerics
MUJOCO_LIBS  = -lmujoco
DYNAMICS_LIBS = $(call pkg,--libs,qhull_r)
IO_LIBS      = $(call pkg,--libs,hdf5-serial yaml-0.1 jansson qhull_r)
CLI_LIBS     = $(if $(filter 1,$(MPI)),$(call pkg,--libs,$(MPI_PACKAGE)))
TEST_LIBS    = $(call pkg,--libs,cmocka) -lfclib

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
OPTIMISE ?= -O3
# No contraction into FMA: gcc and clang then give the same bits. No math errno: sqrt becomes an instruction.
CFLAGS_ALL = -std=c17 $(WARNINGS) $(OPTIMISE) -g -fPIC -fvisibility=hidden -ffp-contract=off -fno-math-errno -fopenmp \
             -D_POSIX_C_SOURCE=200809L -Iinclude -Isrc $(DEPENDENCY_CFLAGS) $(SANITIZE) $(CFLAGS)
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
LIBRARIES := carom carom-siconos carom-exact carom-mujoco carom-design carom-dynamics carom-compliant carom-io
SOURCES_carom         := $(CORE_SOURCES)
SOURCES_carom-siconos := $(SICONOS_SOURCES)
SOURCES_carom-exact   := $(EXACT_SOURCES)
SOURCES_carom-mujoco  := $(MUJOCO_SOURCES)
SOURCES_carom-design  := $(DESIGN_SOURCES)
SOURCES_carom-dynamics := $(DYNAMICS_SOURCES)
SOURCES_carom-compliant := $(COMPLIANT_SOURCES)
SOURCES_carom-io      := $(IO_SOURCES)
LIBS_carom         = $(CORE_LIBS)
LIBS_carom-siconos = $(SICONOS_LIBS)
LIBS_carom-exact   = $(EXACT_LIBS)
LIBS_carom-mujoco  = $(MUJOCO_LIBS)
LIBS_carom-design  = $(DESIGN_LIBS)
LIBS_carom-dynamics = $(DYNAMICS_LIBS)
LIBS_carom-compliant = $(COMPLIANT_LIBS)
LIBS_carom-io      = $(IO_LIBS)

objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
STATIC := $(LIBRARIES:%=$(BUILD)/lib%.a)
SHARED := $(LIBRARIES:%=$(BUILD)/lib%.so)
# The command and the tests link the static libraries: no search path at run time, and tests reach inner functions.
# Order: users before what they use.
LINK_STATIC = $(LINK_ORDER:%=$(BUILD)/lib%.a)
LINK_ORDER  = carom-io carom-compliant carom-dynamics carom-design carom-mujoco carom-exact carom-siconos carom
LINK_LIBS   = $(IO_LIBS) $(COMPLIANT_LIBS) $(DYNAMICS_LIBS) $(DESIGN_LIBS) $(MUJOCO_LIBS) $(EXACT_LIBS) $(SICONOS_LIBS) $(CORE_LIBS)
TESTS := $(TEST_SOURCES:tests/%.c=$(BUILD)/tests/%)
EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(wildcard examples/*.c))

JOBS ?= $(shell nproc)

.PHONY: FORCE check-mpi all libraries demo figures coverage bench benchmarks test test-long deps sanitize valgrind check-layers format format-check install uninstall clean help run-tests run-demo run-figures run-coverage run-bench run-benchmarks
.DELETE_ON_ERROR:
.SECONDARY:

all: $(BUILD)/carom libraries $(BUILD)/man/carom.1 $(BUILD)/completion/carom.bash

libraries: $(STATIC) $(SHARED) $(LIBRARIES:%=$(BUILD)/pkgconfig/%.pc)

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call show,CC,$<)
	$(QUIET)$(CC) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

# Kernels once more for each wider instruction set; the machine's is chosen at run time.
KERNEL_NAMES := lemke_kernel step_reduced_kernel cone_kernel
INSTRUCTION_SETS := scalar $(if $(filter x86_64,$(shell uname -m)),avx2 avx512)
KERNELS := $(foreach k,$(KERNEL_NAMES),$(INSTRUCTION_SETS:%=$(BUILD)/obj/src/solvers/$(k)_%.o))
$(filter %_scalar.o,$(KERNELS)): ISA := -fno-tree-vectorize $(if $(findstring clang,$(CC)),-fno-vectorize -fno-slp-vectorize)
$(filter %_avx2.o,$(KERNELS)): ISA := -mavx2
$(filter %_avx512.o,$(KERNELS)): ISA := -mavx512f -mprefer-vector-width=512
define kernel_rules
$(INSTRUCTION_SETS:%=$(BUILD)/obj/src/solvers/$(1)_%.o): $(BUILD)/obj/src/solvers/$(1)_%.o: src/solvers/$(1).c
	@mkdir -p $$(@D)
	$$(call show,CC,$$< $$(ISA))
	$$(QUIET)$$(CC) $$(CFLAGS_ALL) $$(ISA) -DKERNEL=carom_$(1)_$$* -DINSTRUCTION_SET='"$$*"' -MMD -MP -c $$< -o $$@
endef
$(foreach k,$(KERNEL_NAMES),$(eval $(call kernel_rules,$(k))))

OBJECTS_carom = $(KERNELS)

define library_rules
$(BUILD)/lib$(1).a: $$(call objects,$$(SOURCES_$(1))) $$(OBJECTS_$(1))
	$$(call show,AR,$$@)
	$$(QUIET)rm -f $$@ && ar rcs $$@ $$^

$(BUILD)/lib$(1).so: $$(call objects,$$(SOURCES_$(1))) $$(OBJECTS_$(1)) $(2)
	$$(call show,LD,$$@)
	$$(QUIET)$(CC) -shared -Wl,-soname,lib$(1).so.$(SOVERSION) -Wl,-z,defs -o $$@ $$^ $$(LIBS_$(1)) -lm $$(LDFLAGS_ALL)
	$$(QUIET)ln -sf $$(@F) $$@.$(SOVERSION)
endef
$(eval $(call library_rules,carom,))
$(eval $(call library_rules,carom-siconos,$(BUILD)/libcarom.so))
$(eval $(call library_rules,carom-exact,$(BUILD)/libcarom.so))
$(eval $(call library_rules,carom-mujoco,$(BUILD)/libcarom.so))
$(eval $(call library_rules,carom-design,$(BUILD)/libcarom.so))
$(eval $(call library_rules,carom-dynamics,$(BUILD)/libcarom.so))
$(eval $(call library_rules,carom-compliant,$(BUILD)/libcarom.so))
$(eval $(call library_rules,carom-io,$(BUILD)/libcarom-dynamics.so $(BUILD)/libcarom-mujoco.so $(BUILD)/libcarom.so))

# Made anew when the prefix changes, as in `make` followed by `make install PREFIX=...`.
$(BUILD)/pkgconfig/%.pc: scripts/%.pc.in Makefile include/carom/base.h $(BUILD)/pkgconfig/prefix
	@mkdir -p $(@D)
	$(QUIET)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|g' -e 's|@DESIGN_LIBS@|$(DESIGN_LIBS)|' $< > $@

$(BUILD)/pkgconfig/prefix: FORCE
	@mkdir -p $(@D)
	@echo '$(PREFIX)' | cmp -s - $@ || echo '$(PREFIX)' > $@

FORCE:

# Linked anew after a change between builds with and without MPI.
$(BUILD)/ranks: FORCE
	@mkdir -p $(@D)
	@echo '$(RANKS)' | cmp -s - $@ || echo '$(RANKS)' > $@

$(BUILD)/obj/src/cli/ranks_mpi.o: DEPENDENCY_CFLAGS += $(patsubst -I%,-isystem %,$(call pkg,--cflags,$(MPI_PACKAGE)))
$(BUILD)/obj/src/cli/ranks_mpi.o: | check-mpi
check-mpi:
	@pkg-config --exists $(MPI_PACKAGE) || { echo "MPI=1 needs Open MPI, which pkg-config does not find ($(MPI_PACKAGE)): install it with 'make deps DEPS_GROUPS=mpi', or name another MPI with MPI_PACKAGE=..." >&2; exit 1; }

$(BUILD)/carom: $(call objects,$(CLI_SOURCES)) $(LINK_STATIC) $(BUILD)/ranks
	$(call show,LD,$@)
	$(QUIET)$(CC) -o $@ $(filter-out $(BUILD)/ranks,$^) $(LINK_LIBS) $(CLI_LIBS) $(LDFLAGS_ALL)

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
	$(QUIET)$(CC) -o $@ $^ $(CORE_LIBS) $(LDFLAGS_ALL)

$(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(BUILD)/obj/tests/support.o $(LINK_STATIC)
	@mkdir -p $(@D)
	$(call show,LD,$@)
	$(QUIET)$(CC) -o $@ $^ $(TEST_LIBS) $(LINK_LIBS) $(LDFLAGS_ALL)

# Benchmarks reach inner functions, too; their peers are libraries that nothing else needs.
# Three balls in Bullet (C++), where it is installed: scripts/deps.sh bullet.
HAVE_BULLET := $(shell pkg-config --exists bullet 2>/dev/null && echo yes)
BENCHMARKS := $(BUILD)/benchmarks/stronge $(BUILD)/benchmarks/rodrigues $(if $(HAVE_BULLET),$(BUILD)/benchmarks/cradle)

$(BUILD)/benchmarks/stronge: $(BUILD)/obj/benchmarks/stronge_sundials.o $(BUILD)/obj/benchmarks/stronge_euler.o
$(BUILD)/benchmarks/stronge: LIBS_benchmark = -lsundials_cvode -lsundials_arkode -lsundials_nvecserial
$(BUILD)/benchmarks/rodrigues: $(BUILD)/libcarom-dynamics.a
$(BUILD)/benchmarks/rodrigues: LIBS_benchmark = $(DYNAMICS_LIBS)

$(BUILD)/obj/benchmarks/cradle_bullet.o: benchmarks/cradle_bullet.cpp benchmarks/cradle_bullet.h
	@mkdir -p $(@D)
	$(call show,CXX,$<)
	$(QUIET)$(CXX) -std=c++17 -Wall -Wextra -O2 $(patsubst -I%,-isystem %,$(call pkg,--cflags,bullet)) -c $< -o $@

$(BUILD)/benchmarks/cradle: $(BUILD)/obj/benchmarks/cradle_bullet.o
$(BUILD)/benchmarks/cradle: LIBS_benchmark = -lBulletDynamics -lBulletCollision -lLinearMath -lstdc++

$(BUILD)/benchmarks/%: $(BUILD)/obj/benchmarks/%.o $(BUILD)/libcarom.a
	@mkdir -p $(@D)
	$(call show,LD,$@)
	$(QUIET)$(CC) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS_benchmark) $(CORE_LIBS) $(LDFLAGS_ALL)

deps:
	@scripts/deps.sh $(DEPS_GROUPS)

# `deps` first and alone: flags of dependencies are read when a make starts, so the rest runs in a second one.
demo:
	@scripts/deps.sh build
	@$(MAKE) --no-print-directory -j$(JOBS) run-demo

test:
	@scripts/deps.sh build test $(if $(filter 1,$(MPI)),mpi)
	@$(MAKE) --no-print-directory -j$(JOBS) run-tests

test-long:
	@scripts/deps.sh build test $(if $(filter 1,$(MPI)),mpi)
	@CAROM_TEST_LONG=1 $(MAKE) --no-print-directory -j$(JOBS) run-tests

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

run-coverage: $(BUILD)/carom
	@scripts/coverage.sh $(BUILD)

run-bench: $(BUILD)/carom
	$< bench --growth --profiles -o $(BUILD)/performance.md

run-benchmarks: $(BENCHMARKS)
	$(BUILD)/benchmarks/stronge > $(BUILD)/stronge.md
	$(if $(HAVE_BULLET),$(BUILD)/benchmarks/cradle > $(BUILD)/cradle.md)
	$(BUILD)/benchmarks/rodrigues > $(BUILD)/rodrigues.md

run-figures: $(BUILD)/carom $(BUILD)/examples/billiards $(if $(HAVE_BULLET),$(BUILD)/benchmarks/cradle)
	@scripts/figures.sh $(BUILD)

run-demo: $(BUILD)/carom
	@scripts/demo.sh $(BUILD)

# Benchmarks whose libraries are here are built, too: no test runs them.
run-tests: all $(TESTS) $(EXAMPLES) $(filter-out %/stronge,$(BENCHMARKS)) check-layers
	@scripts/run-tests.sh $(BUILD) $(TESTS)

# Fewer random trials: they look for wrong numbers, which sanitizers do not.
sanitize:
	@scripts/deps.sh build test $(if $(findstring clang,$(CC)),clang)
	@CAROM_TEST_QUICK=1 $(MAKE) --no-print-directory -j$(JOBS) BUILD=$(BUILD)/sanitize OPTIMISE="-O1 -fno-omit-frame-pointer" \
	    SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=all" run-tests

valgrind:
	@scripts/deps.sh build test valgrind
	@$(MAKE) --no-print-directory -j$(JOBS) all $(TESTS) $(EXAMPLES)
	@CAROM_TEST_QUICK=1 CAROM_TEST_WRAPPER="valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect" \
	    scripts/run-tests.sh $(BUILD) $(TESTS)

check-layers:
	@scripts/check-layers.sh

# ----------------------------------------------------------------------------------------------------------- house
format:
	clang-format -i include/carom/*.h src/*/*.[ch] tests/*.[ch] examples/*.c benchmarks/*.[ch]

format-check:
	clang-format --dry-run --Werror include/carom/*.h src/*/*.[ch] tests/*.[ch] examples/*.c benchmarks/*.[ch]

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include/carom \
	    $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	install -m 755 $(BUILD)/carom $(DESTDIR)$(PREFIX)/bin/
	install -m 644 $(BUILD)/man/carom.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	install -m 644 $(BUILD)/completion/carom.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/
	install -m 644 include/carom/*.h $(DESTDIR)$(PREFIX)/include/carom/
	install -m 644 $(STATIC) $(DESTDIR)$(PREFIX)/lib/
	install -m 644 $(BUILD)/pkgconfig/*.pc $(DESTDIR)$(PREFIX)/lib/pkgconfig/
	for l in $(LIBRARIES); do \
	    install -m 755 $(BUILD)/lib$$l.so $(DESTDIR)$(PREFIX)/lib/lib$$l.so.$(VERSION) && \
	    ln -sf lib$$l.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/lib$$l.so.$(SOVERSION) && \
	    ln -sf lib$$l.so.$(SOVERSION) $(DESTDIR)$(PREFIX)/lib/lib$$l.so; done

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/carom $(DESTDIR)$(PREFIX)/share/man/man1/carom.1 \
	    $(DESTDIR)$(PREFIX)/share/bash-completion/completions/carom.bash \
	    $(DESTDIR)$(PREFIX)/include/carom/*.h $(DESTDIR)$(PREFIX)/lib/libcarom* $(DESTDIR)$(PREFIX)/lib/pkgconfig/carom*.pc

clean:
	rm -rf $(BUILD)

help:
	@echo "make            the command and the libraries, in $(BUILD)/; V=1 shows the commands"
	@echo "make MPI=1      the same, and 'mpirun -n R carom sample ...' shares the work between R processes"
	@echo "make demo       install what is missing, build, sample the rocking block's set, draw it"
	@echo "make figures    draw the figures of docs/paper.md and measure its table (two minutes)"
	@echo "make coverage   measure how well samples cover the exact sets, for docs/coverage.md (some minutes)"
	@echo "make bench      measure this machine into $(BUILD)/performance.md (under five minutes)"
	@echo "make benchmarks measure against other libraries into $(BUILD)/stronge.md, rodrigues.md and, with Bullet, cradle.md"
	@echo "make test       install what is missing, build, run every test"
	@echo "make test-long  the same with the large random families"
	@echo "make sanitize   the tests under AddressSanitizer and UndefinedBehaviorSanitizer (CC=clang for clang's)"
	@echo "make valgrind   the tests under valgrind, with smaller random families"
	@echo "make deps       install the Debian packages that the build uses and that are missing"
	@echo "make install    PREFIX=$(PREFIX), DESTDIR is honoured"
	@echo "make format     clang-format; make check-layers verifies the direction of includes"

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
