# SPDX-License-Identifier: Apache-2.0
# What leaves a checkout: installed files, the archive of the sources, Debian packages.

override PREFIX := $(abspath $(PREFIX))
override LIBDIR := $(abspath $(or $(LIBDIR),$(PREFIX)/lib))
override DESTDIR := $(strip $(DESTDIR))
# The dynamic linker looks into /usr/lib by itself. Elsewhere carom's libraries find each other beside them, and programs remember where they
# were linked: no LD_LIBRARY_PATH, no ldconfig.
OWN_PLACE := $(if $(filter /usr/lib /usr/lib/%,$(LIBDIR)),,yes)
ORIGIN    := $(if $(OWN_PLACE),-Wl$(comma)-rpath$(comma)'$$ORIGIN')

# Headers that say of themselves that they are not installed serve carom's own libraries.
PUBLIC_HEADERS = $(filter-out %/box.h %/clock.h %/dense.h %/file.h %/json.h %/lanes.h %/modular.h %/ode.h %/utf8.h,$(wildcard include/carom/*.h))

# A library with its pkg-config file.
define install_library
	install -m 644 $(BUILD)/lib$(1).a $(DESTDIR)$(LIBDIR)/
	install -m 755 $(BUILD)/lib$(1).so $(DESTDIR)$(LIBDIR)/lib$(1).so.$(VERSION)
	ln -sf lib$(1).so.$(VERSION) $(DESTDIR)$(LIBDIR)/lib$(1).so.$(SOVERSION)
	ln -sf lib$(1).so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/lib$(1).so
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR:$(PREFIX)/%=$${prefix}/%)|' -e 's|@VERSION@|$(VERSION)|' -e 's|@NAME@|$(1)|' \
	    -e 's|@ABOUT@|$(ABOUT_$(1))|' -e 's|@REQUIRES@|$(USES_$(1))|' -e 's|@PRIVATE@|$(strip $(LIBS_$(1)))|' \
	    -e 's|@RUN_PATH@|$(if $(OWN_PLACE), -Wl$(comma)-rpath$(comma)$${libdir})|' scripts/carom.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/$(1).pc

endef

# A row of CMake for each library: libcarom-io is carom::io, which uses carom::measure and others.
component = $(patsubst carom-%,%,$(1))
CMAKE_ROWS = $(foreach l,$(LIBRARIES),\n_carom_library($(strip $(call component,$(l)) $(l) $(call component,$(USES_$(l))))))

install: all
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(LIBDIR)/cmake/carom $(DESTDIR)$(PREFIX)/include/carom
	install -m 644 $(PUBLIC_HEADERS) $(DESTDIR)$(PREFIX)/include/carom/
	$(foreach l,$(LIBRARIES),$(call install_library,$(l)))
	sed -e 's|@VERSION@|$(VERSION)|' -e 's|@SOVERSION@|$(SOVERSION)|' -e 's|@ROWS@|$(CMAKE_ROWS)|' \
	    -e "s|@INCLUDE@|$$(realpath -m --relative-to=$(LIBDIR) $(PREFIX)/include)|" scripts/carom-config.cmake.in > $(DESTDIR)$(LIBDIR)/cmake/carom/carom-config.cmake
	sed -e 's|@VERSION@|$(VERSION)|' scripts/carom-config-version.cmake.in > $(DESTDIR)$(LIBDIR)/cmake/carom/carom-config-version.cmake
	chmod 644 $(DESTDIR)$(LIBDIR)/cmake/carom/*.cmake $(LIBRARIES:%=$(DESTDIR)$(LIBDIR)/pkgconfig/%.pc)
ifeq ($(CORE),)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	install -m 755 $(BUILD)/carom $(DESTDIR)$(PREFIX)/bin/
	install -m 644 $(BUILD)/man/carom.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	install -m 644 $(BUILD)/completion/carom.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/
endif

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/carom $(DESTDIR)$(PREFIX)/share/man/man1/carom.1 \
	    $(DESTDIR)$(PREFIX)/share/bash-completion/completions/carom.bash \
	    $(DESTDIR)$(LIBDIR)/libcarom.* $(DESTDIR)$(LIBDIR)/libcarom-* $(DESTDIR)$(LIBDIR)/pkgconfig/carom.pc $(DESTDIR)$(LIBDIR)/pkgconfig/carom-*.pc
	rm -rf $(DESTDIR)$(PREFIX)/include/carom $(DESTDIR)$(LIBDIR)/cmake/carom

# The last commit as an archive, which needs no git to build; the same commit gives the same bytes.
ARCHIVE := $(BUILD)/carom-$(VERSION).tar.gz
dist:
	@git rev-parse --verify -q HEAD >/dev/null 2>&1 || { echo "make dist packs the last commit, and this is no git checkout" >&2; exit 1; }
	@[ -z "$$(git status --porcelain)" ] || echo "Changes that are not committed are not in the archive." >&2
	@mkdir -p $(BUILD)
	@git archive --prefix=carom-$(VERSION)/ HEAD | gzip -9 -n > $(ARCHIVE)
	@echo $(ARCHIVE)

# The archive in an empty folder, where no git is: it builds, tests and installs.
test-dist: dist
	@scripts/deps.sh build test python
	@rm -rf $(BUILD)/dist && mkdir -p $(BUILD)/dist && tar -xzf $(ARCHIVE) -C $(BUILD)/dist
	@cd $(BUILD)/dist/carom-$(VERSION) && GIT_DIR=/nonexistent $(MAKE) --no-print-directory -j$(JOBS) BUILD=build run-tests

# Debian packages of the last commit, for the distribution that this runs in.
deb:
	@scripts/deps.sh build sundials deb
	@JOBS=$(JOBS) scripts/deb.sh $(BUILD) $(VERSION)

# Built, installed, used and removed in fresh systems.
test-deb:
	@scripts/test-deb.sh $(BUILD) bookworm trixie

# Programs elsewhere that use what was installed. Sanitized libraries need sanitized programs.
INSTALL_TESTS := $(if $(SANITIZE),,tests/install/test_install.sh)
