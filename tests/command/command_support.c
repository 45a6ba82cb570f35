// SPDX-License-Identifier: Apache-2.0
// What the tests of the command share: running it, its JSON, the files it writes, scenes, command lines that it must refuse.
#define _XOPEN_SOURCE 700  // realpath, scandir
#include "command_support.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_WORDS = 32 };

// What a command has of the processor before it is interrupted: some blocks of samples, also under sanitizers.
#define PROCESSOR_SECONDS 0.8

char command_path[PATH_SIZE], scenes_path[PATH_SIZE];

int find_command(void **state) {
    (void)state;
    const char *build = getenv("CAROM_BUILD");
    char relative[PATH_SIZE];
    snprintf(relative, sizeof relative, "%s/carom", build && *build ? build : "build");
    if (realpath(relative, command_path) && realpath("scenes", scenes_path)) return 0;
    print_error("%s or scenes/ is missing: build first, and run from the root of the repository\n", relative);
    return -1;
}

int set_up(void **state) {
    *state = support_make_directory();
    return 0;
}

int tear_down(void **state) {
    support_remove_directory(*state);
    return 0;
}

// ------------------------------------------------------------------------------------------------- running the command

typedef struct process {
    pid_t id;
    int out, err;
} process;

void release(report *r) {
    free(r->out);
    free(r->err);
    *r = (report){0};
}

// A pipe that the command does not inherit beyond what dup2 makes of it.
static void make_pipe(int ends[2]) {
    assert_int_equal(pipe(ends), 0);
    for (int i = 0; i < 2; i++) assert_int_equal(fcntl(ends[i], F_SETFD, FD_CLOEXEC), 0);
}

static process start(const request *asked) {
    int out[2], err[2];
    make_pipe(out);
    make_pipe(err);
    if (asked->broken_pipe) close(out[0]);
    fflush(NULL);
    const pid_t id = fork();
    assert_true(id >= 0);
    if (id == 0) {
        // The child redirects its streams, limits its files and becomes the command. Only calls that are safe between fork and exec.
        const char *words[MOST_WORDS + 2] = {command_path};
        for (int i = 0; i < MOST_WORDS && asked->arguments[i]; i++) words[i + 1] = asked->arguments[i];
        const int input = open("/dev/null", O_RDONLY), output = asked->output ? open(asked->output, O_WRONLY) : out[1];
        const struct rlimit limit = {asked->file_limit, asked->file_limit};
        const bool ready = !chdir(asked->directory) && (!asked->file_limit || !setrlimit(RLIMIT_FSIZE, &limit)) && dup2(input, 0) == 0 &&
                           dup2(output, 1) == 1 && dup2(err[1], 2) == 2;
        // The array is ours, and exec does not write to it.
        if (ready) execv(command_path, (char *const *)words);
        _exit(127);
    }
    close(out[1]);
    close(err[1]);
    return (process){id, asked->broken_pipe ? -1 : out[0], err[0]};
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// Appends what a stream has; false at its end.
static bool take(int descriptor, char **taken, size_t *size) {
    char part[1 << 16];
    const ssize_t count = read(descriptor, part, sizeof part);
    if (count <= 0) return false;
    *taken = realloc(*taken, *size + (size_t)count + 1);
    assert_non_null(*taken);
    memcpy(*taken + *size, part, (size_t)count);
    *size += (size_t)count;
    (*taken)[*size] = '\0';
    return true;
}

static report collect(process p) {
    report r = {.out = calloc(1, 1), .err = calloc(1, 1)};
    assert_non_null(r.out);
    assert_non_null(r.err);
    // Read both streams to their ends, until the time is up.
    struct pollfd streams[2] = {{.fd = p.out, .events = POLLIN}, {.fd = p.err, .events = POLLIN}};
    size_t err_size = 0;
    bool in_time = true;
    const double deadline = now() + TIME_LIMIT;
    while (in_time && (streams[0].fd >= 0 || streams[1].fd >= 0)) {
        const double left = deadline - now();
        in_time = left > 0 && poll(streams, 2, (int)(1000 * left) + 1) != 0;
        if (in_time && streams[0].revents && !take(p.out, &r.out, &r.out_size)) streams[0].fd = -1;
        if (in_time && streams[1].revents && !take(p.err, &r.err, &err_size)) streams[1].fd = -1;
    }
    if (!in_time) kill(p.id, SIGKILL);
    int status;
    assert_int_equal(waitpid(p.id, &status, 0), p.id);
    if (p.out >= 0) close(p.out);
    close(p.err);
    if (!in_time) fail_msg("the command did not end within %d s", TIME_LIMIT);
    r.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    return r;
}

report run_request(const request *asked) {
    report r = collect(start(asked));
    support_skip_missing(r.err);
    return r;
}

void show(const request *asked, const report *r) {
    print_error("carom");
    for (int i = 0; asked->arguments[i]; i++) print_error(" %s", asked->arguments[i]);
    print_error("\n  status %d\n  stdout (%zu bytes): %.400s\n  stderr: %.400s\n", r->status, r->out_size, r->out, r->err);
}

// Linux tells which signals a process handles, so that the test need not guess how long a start takes.
static bool handles(pid_t id, int signal_number) {
    char path[64], content[4096];
    snprintf(path, sizeof path, "/proc/%ld/status", (long)id);
    read_start(path, content, sizeof content);
    const char *caught = strstr(content, "SigCgt:");
    return caught && (strtoull(caught + 7, NULL, 16) >> (signal_number - 1) & 1);
}

// Seconds of the processor that a process has had: what it has done by then depends little on what else the machine does.
static double processor_time(pid_t id) {
    char path[64], content[1024];
    unsigned long user = 0, kernel = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)id);
    read_start(path, content, sizeof content);
    const char *fields = strrchr(content, ')');
    if (fields) sscanf(fields + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &kernel);
    return (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
}

// A process that has ended, and is still to be waited for.
static bool has_ended(pid_t id) {
    siginfo_t info = {0};
    return !waitid(P_PID, (id_t)id, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid == id;
}

static void sleep_for(double seconds) { nanosleep(&(struct timespec){0, (long)(1e9 * seconds)}, NULL); }

// What is said on stderr, each sentence once, is what the document has, too; it may have more, which the text says beside its numbers.
static bool has_caveats(const json_t *document, const char *said) {
    const json_t *caveats = json_object_get(document, "caveats"), *sentence;
    size_t index;
    int count = 0;
    json_array_foreach(caveats, index, sentence) count += count_text(said, json_string_value(sentence));
    return json_is_array(caveats) && count == count_text(said, "\n");
}

json_t *stop(const request *asked, int signal_number) {
    const process p = start(asked);
    const double deadline = now() + TIME_LIMIT;
    while (!handles(p.id, signal_number) && !has_ended(p.id) && now() < deadline) sleep_for(0.005);
    const double begun = processor_time(p.id);
    while (processor_time(p.id) - begun < PROCESSOR_SECONDS && !has_ended(p.id) && now() < deadline) sleep_for(0.01);
    kill(p.id, signal_number);
    const double stopped = now();
    report r = collect(p);
    support_skip_missing(r.err);
    json_t *document = r.status == 1 ? parse(&r) : NULL;
    if (!document || !has_caveats(document, r.err)) {
        show(asked, &r);
        fail();
    }
    // Promptly: a block of samples takes milliseconds.
    assert_true(now() - stopped < 20);
    release(&r);
    return document;
}

// The whole text of a stream, to be freed.
static char *read_stream(FILE *file) {
    char *whole = NULL, part[4096];
    size_t size = 0;
    FILE *copy = open_memstream(&whole, &size);
    assert_non_null(copy);
    for (size_t count; (count = fread(part, 1, sizeof part, file)) > 0;) fwrite(part, 1, count, copy);
    assert_int_equal(fclose(copy), 0);
    return whole;
}

char *run_line(const char *directory, int status, const char *line) {
    char *script = support_write_file(directory, "line.sh", line), *aside = support_make_directory(), whole[3 * PATH_SIZE];
    assert_true(snprintf(whole, sizeof whole, "cd '%s' && carom='%s' exec bash line.sh 2>'%s/errors'", directory, command_path, aside) <
                (int)sizeof whole);
    FILE *pipe = popen(whole, "r");
    assert_non_null(pipe);
    char *said = read_stream(pipe);
    const int ended = pclose(pipe);
    unlink(script);
    free(script);
    char *errors = read_file(aside, "errors");
    support_remove_directory(aside);
    if (!WIFEXITED(ended) || WEXITSTATUS(ended) != status) {
        support_skip_missing(errors);
        support_skip_missing(said);
        fail_msg("%s\n  ended with %d instead of %d: %.400s%.400s", line, WEXITSTATUS(ended), status, said, errors);
    }
    free(errors);
    return said;
}

void run_quietly(const char *directory, int status, const char *line) { free(run_line(directory, status, line)); }

void check_text(const char *whole, const char *part) {
    if (!strstr(whole, part)) fail_msg("'%s' is missing in:\n%.3000s", part, whole);
}

int count_text(const char *whole, const char *part) {
    int count = 0;
    for (const char *found = strstr(whole, part); found; found = strstr(found + 1, part)) count++;
    return count;
}

// ---------------------------------------------------------------------------------------------------------------- JSON

// No key twice, and jansson takes neither NaN nor infinity.
json_t *parse(const report *r) {
    json_error_t error;
    json_t *document = json_loadb(r->out, r->out_size, JSON_REJECT_DUPLICATES, &error);
    if (!document) print_error("stdout is not one JSON document: %s, line %d\n", error.text, error.line);
    return document;
}

// Every document says in the words of the table of verdicts how far its computation got, and the exit status says the same.
static bool has_verdict(const json_t *document, int status) {
    const json_t *verdict = json_object_get(document, "verdict");
    int code = CAROM_COMPLETE;
    while (json_is_string(verdict) && code <= CAROM_NO_FORCE &&
           strcmp(json_string_value(verdict), carom_verdict_name((carom_verdict)code)) != 0)
        code++;
    return json_is_string(verdict) && code <= CAROM_NO_FORCE && (code == CAROM_COMPLETE) == (status == 0);
}

json_t *ask_request(const request *asked, int status) {
    report r = run_request(asked);
    json_t *document = r.status == status ? parse(&r) : NULL;
    if (document && !has_caveats(document, r.err)) {
        print_error("stderr and the caveats of the document differ\n");
        document = NULL;
    }
    if (document && !has_verdict(document, status)) {
        print_error("the verdict is missing, or not that of the exit status\n");
        document = NULL;
    }
    if (!document) {
        show(asked, &r);
        fail();
    }
    release(&r);
    return document;
}

const json_t *at(const json_t *document, const char *place) {
    char keys[256], *rest = NULL;
    const json_t *value = document;
    snprintf(keys, sizeof keys, "%s", place);
    for (char *key = strtok_r(keys, ".", &rest); key && value; key = strtok_r(NULL, ".", &rest))
        value = json_is_array(value) ? json_array_get(value, (size_t)strtoul(key, NULL, 10)) : json_object_get(value, key);
    if (!value) fail_msg("%s is missing", place);
    return value;
}

double number(const json_t *document, const char *place) {
    const json_t *value = at(document, place);
    if (!json_is_number(value)) fail_msg("%s is not a number", place);
    return json_number_value(value);
}

const char *text(const json_t *document, const char *place) {
    const char *value = json_string_value(at(document, place));
    if (!value) fail_msg("%s is not a text", place);
    return value;
}

bool is_true(const json_t *document, const char *place) {
    const json_t *value = at(document, place);
    if (!json_is_boolean(value)) fail_msg("%s is neither true nor false", place);
    return json_is_true(value);
}

size_t length(const json_t *document, const char *place) {
    const json_t *value = at(document, place);
    if (!json_is_array(value)) fail_msg("%s is not a list", place);
    return json_array_size(value);
}

// Appends the numbers of nested lists, row by row.
static void flatten(const json_t *value, double *numbers, size_t room, size_t *count) {
    for (size_t i = 0; i < json_array_size(value); i++) flatten(json_array_get(value, i), numbers, room, count);
    if (json_is_array(value)) return;
    assert_true(json_is_number(value));
    assert_true(*count < room);
    numbers[(*count)++] = json_number_value(value);
}

void check_numbers(const json_t *document, const char *place, const double *expected, int count, double tolerance) {
    double numbers[256];
    size_t found = 0;
    flatten(at(document, place), numbers, sizeof numbers / sizeof *numbers, &found);
    if (found != (size_t)count) fail_msg("%s has %zu numbers instead of %d", place, found, count);
    assert_all_close(numbers, expected, count, tolerance);
}

const json_t *only_outcome(const json_t *answer) {
    assert_true(is_true(answer, "complete"));
    assert_int_equal(length(answer, "outcomes"), 1);
    const json_t *outcome = at(answer, "outcomes.0");
    assert_true(is_true(outcome, "terminated"));
    assert_int_equal(length(outcome, "flags"), 0);
    assert_true(number(outcome, "energy_ratio") <= 1 + 1e-12);
    return outcome;
}

// --------------------------------------------------------------------------------------------------------------- files

char *join(char path[PATH_SIZE], const char *directory, const char *name) {
    assert_true(snprintf(path, PATH_SIZE, "%s/%s", directory, name) < PATH_SIZE);
    return path;
}

bool exists(const char *directory, const char *name) {
    char path[PATH_SIZE];
    struct stat about;
    return !lstat(join(path, directory, name), &about);
}

void write_text(const char *directory, const char *name, const char *content) { free(support_write_file(directory, name, content)); }

size_t read_start(const char *path, char *bytes, size_t room) {
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(bytes, 1, room - 1, file) : 0;
    if (file) fclose(file);
    bytes[size] = '\0';
    return size;
}

char *read_file(const char *directory, const char *name) {
    char path[PATH_SIZE];
    FILE *file = fopen(join(path, directory, name), "rb");
    if (!file) fail_msg("%s is missing", path);
    char *content = read_stream(file);
    fclose(file);
    return content;
}

bool is_png(const char *path) {
    char bytes[9];
    return read_start(path, bytes, sizeof bytes) == 8 && !memcmp(bytes, "\x89PNG\r\n\x1a\n", 8);
}

// One line for each entry below a directory: name, kind, size.
static void list_entries(const char *directory, FILE *list) {
    struct dirent **entries;
    const int count = scandir(directory, &entries, NULL, alphasort);
    assert_true(count >= 0);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        char path[PATH_SIZE];
        struct stat about;
        if (strcmp(name, ".") && strcmp(name, "..")) {
            assert_int_equal(lstat(join(path, directory, name), &about), 0);
            fprintf(list, "%s %o %lld\n", path, (unsigned)about.st_mode, S_ISREG(about.st_mode) ? (long long)about.st_size : 0);
            if (S_ISDIR(about.st_mode)) list_entries(path, list);
        }
        free(entries[i]);
    }
    free(entries);
}

char *snapshot(const char *directory) {
    char *listing = NULL;
    size_t size;
    FILE *list = open_memstream(&listing, &size);
    assert_non_null(list);
    list_entries(directory, list);
    assert_int_equal(fclose(list), 0);
    return listing;
}

void check_pictures(const char *directory, const json_t *drawn, size_t count) {
    assert_int_equal(length(drawn, "files"), count);
    for (size_t i = 0; i < count; i++) {
        char path[PATH_SIZE], content[256];
        const char *name = json_string_value(json_array_get(at(drawn, "files"), i));
        assert_non_null(name);
        join(path, *name == '/' ? "" : directory, name);
        assert_true(read_start(path, content, sizeof content) > 0);
        assert_true(is_png(path) || strstr(content, "<svg") || strstr(content, "<?xml"));
    }
}

// -------------------------------------------------------------------------------------------------------------- scenes

const published scenes[SCENES] = {
    {.scene = "block.yaml",
     .data = &reference_block,
     .kinetic_energy = 0.098100000000000007,
     .r_norm = 1,
     .psi = 22.73656339,
     .step_bound = 64,
     .step = "0.3",
     .steps = "10",
     .lcps = 2.470,
     .most = {0.0930184, 0.0930184, INFINITY, INFINITY},
     .simultaneous_tolerance = 1e-12,
     .sequential = {{0.093018385279470386, 0, 0, 0}, {0, 0.093018385279470386, 0, 0}},
     .visits = {2, 2}},
    {.scene = "boxwall.yaml",
     .data = &reference_boxwall,
     .kinetic_energy = 0.5,
     .r_norm = 1.486093459,
     .psi = 32.49475593,
     .step_bound = 24,
     .step = "2",
     .steps = "5",
     .lcps = 1.535,
     .most = {INFINITY, 0.1056423, 0.3720979, 0.0725422},
     .simultaneous_tolerance = 1e-12,
     .sequential = {{0, 0.10564228654184135, 0.30576480579161885, 0.072542170433207764},
                    {0, 0.10564228654184135, 0.30576480579161885, 0.072542170433207764}},
     .visits = {3, 2}},
    {.scene = "compass.yaml",
     .data = &reference_compass,
     .kinetic_energy = 0.075423295551331315,
     .r_norm = 2.116219829,
     .psi = 669.1436741,
     .step_bound = 1036,
     .step = "0.25",
     .steps = "5",
     .lcps = 1.633,
     .most = {INFINITY, 0.0995552, INFINITY, INFINITY},
     .simultaneous = {0, 0.0995551756309027, 0, 0.19801960392433349},
     .simultaneous_tolerance = 1e-10,
     .sequential = {{0, 0.099555175630902659, 0, 0.19801960392433346}, {0, 0.099555175630902659, 0, 0.19801960392433346}},
     .visits = {1, 2}},
};

const char *scene_path(const published *p, char path[PATH_SIZE]) { return join(path, scenes_path, p->scene); }

const char *motion_path(const char *stem, char path[PATH_SIZE]) {
    // Both are short of the room: the folder is a real path, the stem a literal.
    snprintf(path, PATH_SIZE, "%.4000s/%.60s.yaml", scenes_path, stem);
    return path;
}

void check_velocities(const json_t *outcome, const double expected[COMPONENTS], double tolerance) {
    check_numbers(outcome, "normal_velocity", expected, CONTACTS, tolerance);
    check_numbers(outcome, "tangent_velocity", expected + CONTACTS, CONTACTS, tolerance);
}

const char cube_scene[] = "name: cube\n"
                          "matrices:\n"
                          "  M: [[1,0,0,0,0,0], [0,1,0,0,0,0], [0,0,1,0,0,0], [0,0,0,1/6,0,0], [0,0,0,0,1/6,0], [0,0,0,0,0,1/6]]\n"
                          "  Jn: [[0,0,1,-0.5,0.5,0], [0,0,1,-0.5,-0.5,0], [0,0,1,0.5,-0.5,0], [0,0,1,0.5,0.5,0]]\n"
                          "  Jt: [[1,0,0,0,-0.5,0.5], [0,1,0,0.5,0,-0.5], [1,0,0,0,-0.5,0.5], [0,1,0,0.5,0,0.5],\n"
                          "       [1,0,0,0,-0.5,-0.5], [0,1,0,0.5,0,0.5], [1,0,0,0,-0.5,-0.5], [0,1,0,0.5,0,-0.5]]\n"
                          "  mu: [0.6, 0.6, 0.6, 0.6]\n"
                          "  v: [0, 0, -1, 0, 0, 0]\n"
                          "impact: {step: 0.4, max_steps: 12, samples: 512, seed: 5}\n";

// ------------------------------------------------------------------------------------------------------------- refusals

bool is_refusal(const report *r, const char *says) {
    const char *end = strchr(r->err, '\n');
    return r->status == 2 && r->out_size == 0 && !strncmp(r->err, "carom: ", 7) && strlen(r->err) > 8 && end && !end[1] &&
           strstr(r->err, says);
}

static void write_repeated(const char *directory, const char *name, const char *before, const char *part, int count, const char *after) {
    char path[PATH_SIZE];
    FILE *file = fopen(join(path, directory, name), "w");
    assert_non_null(file);
    fputs(before, file);
    for (int i = 0; i < count; i++) fputs(part, file);
    fputs(after, file);
    assert_int_equal(fclose(file), 0);
}

static void write_bytes(const char *directory, const char *name, const char *bytes, size_t size) {
    char path[PATH_SIZE];
    FILE *file = fopen(join(path, directory, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

// The files that the refused command lines name.
static void write_fixtures(const char *directory) {
    char path[PATH_SIZE], bytes[1 << 14];
    static const char *const shipped[] = {"block.yaml", "block.xml"};
    for (int i = 0; i < 2; i++) {
        assert_true(read_start(join(path, scenes_path, shipped[i]), bytes, sizeof bytes) > 0);
        write_text(directory, shipped[i], bytes);
    }
    write_text(directory, "flat.yaml", FLAT_SCENE);
    write_text(directory, "cube.yaml", cube_scene);
    write_text(directory, "lcp.json", SMALL_LCP);
    write_text(directory, "text.txt", "just a text\n");
    write_text(directory, "text.png", "just a text\n");
    write_text(directory, "text.svg", "just a text\n");
    write_text(directory, "empty.h5", "");
    write_text(directory, "cut.xml", "<mujoco><worldbody><body name=\"block\">");
    write_text(directory, "huge.xml", "<mujoco><size nuser_body=\"2000000000\"/><worldbody/></mujoco>");
    write_text(directory, "nan.xml",
               "<mujoco><worldbody><body name=\"block\"><joint type=\"slide\"/><inertial pos=\"0 0 0\" mass=\"nan\" diaginertia=\"1 1 1\"/>"
               "<site name=\"left_corner\"/></body></worldbody></mujoco>");
    assert_int_equal(mkdir(join(path, directory, "folder"), 0777), 0);
    assert_int_equal(mkdir(join(path, directory, "folder.png"), 0777), 0);
    write_repeated(directory, "deep.yaml", "matrices: ", "[", 100000, "\n");
    write_repeated(directory, "long.yaml", "matrices: {M: [[1]], Jn: [[1]], Jt: [[1]], mu: [1], v: [0", ", 0", 5000, "]}\n");
    carom_stream stream;
    carom_stream_start(&stream, 1, 2);
    for (size_t i = 0; i < 5000; i++) bytes[i] = (char)carom_stream_bits(&stream);
    write_bytes(directory, "noise.yaml", bytes, 5000);

    // A good result file, the start of one, and an HDF5 file of somebody else.
    if (!support_has("HDF5")) return;
    json_decref(ask(directory, "sample", "flat.yaml", "--samples", "20", "-o", "set.h5"));
    write_bytes(directory, "cut.h5", bytes, read_start(join(path, directory, "set.h5"), bytes, 1000));
    write_foreign(join(path, directory, "foreign.h5"));
}

// True when the command refuses this case and leaves the directory as it was.
static bool check_refusal(const char *directory, const refusal *refused) {
    char words[256], *rest = NULL;
    const char *split[MOST_WORDS];
    int count = 0;
    assert_true(snprintf(words, sizeof words, "%s", refused->words) < (int)sizeof words);
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) split[count++] = strcmp(word, "''") ? word : "";
    split[count] = NULL;
    if (refused->content) write_text(directory, "case.yaml", refused->content);
    char *before = snapshot(directory);
    const request asked = {.directory = directory, .arguments = split};
    report r = run_request(&asked);
    char *after = snapshot(directory);
    const bool clean = !strcmp(before, after), refuses = is_refusal(&r, refused->says);
    if (!refuses) print_error("not refused as it should be, with \"%s\":\n", refused->says);
    if (!clean) print_error("something is left behind:\n");
    if (!refuses || !clean) {
        show(&asked, &r);
        if (refused->content) print_error("  case.yaml: %.300s\n", refused->content);
    }
    release(&r);
    free(before);
    free(after);
    return refuses && clean;
}

void check_refusals(const char *directory, const refusal *refusals, size_t count) {
    write_fixtures(directory);
    int wrong = 0;
    for (size_t i = 0; i < count; i += (size_t)support_count(7, 1, 1)) wrong += !check_refusal(directory, &refusals[i]);
    // Some of the command lines name devices, which must still be there.
    struct stat null, full;
    assert_true(!stat("/dev/null", &null) && S_ISCHR(null.st_mode) && !stat("/dev/full", &full) && S_ISCHR(full.st_mode));
    if (wrong) fail_msg("%d of %zu command lines are not refused as they should be", wrong, count);
}
