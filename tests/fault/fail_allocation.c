// SPDX-License-Identifier: Apache-2.0
// LD_PRELOAD: fails the n-th allocation (CAROM_FAIL_AT), or that and all later ones (CAROM_FAIL_ON), that the program asks for. Allocations
// of libraries are left alone: some end the process without memory, which is theirs to mend. CAROM_FAIL_COUNT names a file for the number.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

static atomic_long asked;
static long fail_at, fail_on;
static uintptr_t program_start, program_end;

// The segments of the program itself come first, without a name.
static int find_program(struct dl_phdr_info *info, size_t size, void *user) {
    (void)size, (void)user;
    program_start = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
        const uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, end = start + info->dlpi_phdr[i].p_memsz;
        if (start < program_start) program_start = start;
        if (end > program_end) program_end = end;
    }
    return 1;
}

__attribute__((constructor)) static void start(void) {
    const char *at = getenv("CAROM_FAIL_AT"), *on = getenv("CAROM_FAIL_ON");
    fail_at = at ? atol(at) : 0;
    fail_on = on ? atol(on) : 0;
    dl_iterate_phdr(find_program, NULL);
}

__attribute__((destructor)) static void finish(void) {
    const char *path = getenv("CAROM_FAIL_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%ld\n", (long)asked);
    fclose(file);
}

static int fails(const void *caller) {
    const uintptr_t place = (uintptr_t)caller;
    if (place < program_start || place >= program_end) return 0;
    const long number = atomic_fetch_add(&asked, 1) + 1;
    if (number != fail_at && !(fail_on && number >= fail_on)) return 0;
    errno = ENOMEM;
    return 1;
}

__attribute__((visibility("default"))) void *malloc(size_t size) { return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size); }

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

__attribute__((visibility("default"))) void *realloc(void *memory, size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, size);
}
