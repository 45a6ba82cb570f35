// SPDX-License-Identifier: Apache-2.0
// Threads, Ctrl-C and the progress bar: the only mutable state of the process, which belongs to the command and not to the library.
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "cli/cli_internal.h"
#include "cli/ranks/ranks.h"

// Work that is done sooner shows no bar, and a bar is not redrawn more often.
#define PROGRESS_AFTER_SECONDS 1.0
#define PROGRESS_EVERY_SECONDS 0.1

enum { MOST_THREADS = 1024, BAR_WIDTH = 40, DURATION_TEXT = 32 };

static atomic_bool interrupted;

static struct {
    double start;
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

// "40 s", "3 min 20 s", "2 h 5 min": two units tell whether to wait.
static void write_duration(char text[DURATION_TEXT], double seconds) {
    const double whole = ceil(seconds), minutes = floor(whole / 60), hours = floor(whole / 3600);
    if (minutes < 1)
        snprintf(text, DURATION_TEXT, "%.0f s", whole);
    else if (hours < 1)
        snprintf(text, DURATION_TEXT, "%.0f min %.0f s", minutes, whole - 60 * minutes);
    else
        snprintf(text, DURATION_TEXT, "%.0f h %.0f min", hours, minutes - 60 * hours);
}

// A carom_control progress function: a bar on the terminal, a few times a second.
static void draw_progress(void *user, int64_t done, int64_t total) {
    (void)user;
    const double seconds = carom_clock_seconds() - bar.start, share = (double)done / (double)total;
    if (seconds < PROGRESS_AFTER_SECONDS || seconds - bar.last < PROGRESS_EVERY_SECONDS) return;
    char cells[BAR_WIDTH + 1] = {0};
    for (int i = 0; i < BAR_WIDTH; i++) cells[i] = i < share * BAR_WIDTH ? '#' : '.';
    char left[DURATION_TEXT];
    write_duration(left, seconds * (1 - share) / share);
    // What a longer line has left over is erased.
    dprintf(STDERR_FILENO, "\r[%s] %3.0f %%  about %s left\033[K", cells, 100 * share, left);
    bar.last = seconds;
    bar.drawn = true;
}

void cli_end_progress(void) {
    if (bar.drawn) dprintf(STDERR_FILENO, "\r\033[K");
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
    bar.start = carom_clock_seconds();
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
