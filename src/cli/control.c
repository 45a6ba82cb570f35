// SPDX-License-Identifier: Apache-2.0
// Threads, Ctrl-C and the progress bar: the only mutable state of the process, which belongs to the command and not to the library.
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "cli/cli_internal.h"
#include "cli/ranks/ranks.h"

// Work that is done sooner shows no bar, and a bar is not redrawn more often.
#define PROGRESS_AFTER_SECONDS 1.0
#define PROGRESS_EVERY_SECONDS 0.1

enum { MOST_THREADS = 1024, BAR_WIDTH = 40 };

static atomic_bool interrupted;

static struct {
    struct timespec start;
    double last;  // seconds after the start
    bool drawn;
} bar;

static void interrupt(int signal_number) {
    (void)signal_number;
    atomic_store(&interrupted, true);
}

bool cli_interrupted(void) { return atomic_load(&interrupted); }

static bool is_interrupted(void *user) {
    (void)user;
    return cli_interrupted();
}

// A carom_control progress function: a bar on the terminal, a few times a second.
static void draw_progress(void *user, int64_t done, int64_t total) {
    (void)user;
    const double seconds = cli_seconds_since(&bar.start), share = (double)done / (double)total;
    if (seconds < PROGRESS_AFTER_SECONDS || seconds - bar.last < PROGRESS_EVERY_SECONDS) return;
    char cells[BAR_WIDTH + 1] = {0};
    for (int i = 0; i < BAR_WIDTH; i++) cells[i] = i < share * BAR_WIDTH ? '#' : '.';
    fprintf(stderr, "\r[%s] %3.0f %%  %.0f s left ", cells, 100 * share, seconds * (1 - share) / share);
    bar.last = seconds;
    bar.drawn = true;
}

void cli_end_progress(void) {
    if (bar.drawn) fprintf(stderr, "\r\033[K");
    bar.drawn = false;
}

carom_status cli_start_control(const cli_arguments *arguments, carom_control *control, carom_error *error) {
    *control = (carom_control){.cancelled = is_interrupted};
    const char *threads = cli_value(arguments, "threads");
    double count;
    if (threads) {
        if (!carom_parse_whole(threads, &count) || count < 1 || count > MOST_THREADS)
            return carom_fail(error, CAROM_BAD_INPUT, "--threads: '%.60s' is not a whole number between 1 and %d", threads, MOST_THREADS);
        control->threads = (int)count;
    }
    if (isatty(STDERR_FILENO) && cli_ranks_is_first()) control->progress = draw_progress;
    clock_gettime(CLOCK_MONOTONIC, &bar.start);
    bar.last = 0;
    // A program may call the command as a function, again and again.
    atomic_store(&interrupted, false);
    // The first Ctrl-C asks for a clean end, the second one has its usual effect.
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return CAROM_OK;
}
