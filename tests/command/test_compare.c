// SPDX-License-Identifier: Apache-2.0
// The page that `carom compare` writes, and what is made from the command's tables: the manual page and the completion of bash.
#define _XOPEN_SOURCE 700  // realpath
#include "support.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, LINE_SIZE = 2 * PATH_SIZE };

static char command_path[PATH_SIZE];

static int find_command(void **state) {
    (void)state;
    const char *build = getenv("CAROM_BUILD");
    char relative[PATH_SIZE];
    snprintf(relative, sizeof relative, "%s/carom", build && *build ? build : "build");
    if (realpath(relative, command_path)) return 0;
    print_error("%s is missing: build first, and run from the root of the repository\n", relative);
    return -1;
}

static int set_up(void **state) {
    *state = support_make_directory();
    return 0;
}

static int tear_down(void **state) {
    support_remove_directory(*state);
    return 0;
}

// ------------------------------------------------------------------------------------------------------------- running

static char *join(char path[PATH_SIZE], const char *directory, const char *name) {
    assert_true(snprintf(path, PATH_SIZE, "%s/%s", directory, name) < PATH_SIZE);
    return path;
}

// The whole text of a stream, to be freed.
static char *read_stream(FILE *file) {
    char *text = NULL, part[4096];
    size_t size = 0;
    FILE *copy = open_memstream(&text, &size);
    assert_non_null(copy);
    for (size_t count; (count = fread(part, 1, sizeof part, file)) > 0;) fwrite(part, 1, count, copy);
    assert_int_equal(fclose(copy), 0);
    return text;
}

// Runs a line of bash in a directory, with the command as $carom; returns its standard output, to be freed.
static char *run(const char *directory, int status, const char *line) {
    char *script = support_write_file(directory, "line.sh", line), whole[LINE_SIZE];
    assert_true(snprintf(whole, sizeof whole, "cd '%s' && carom='%s' exec bash line.sh", directory, command_path) < LINE_SIZE);
    FILE *pipe = popen(whole, "r");
    assert_non_null(pipe);
    char *text = read_stream(pipe);
    const int ended = pclose(pipe);
    unlink(script);
    free(script);
    if (!WIFEXITED(ended) || WEXITSTATUS(ended) != status)
        fail_msg("%s\n  ended with %d instead of %d: %.400s", line, WEXITSTATUS(ended), status, text);
    return text;
}

static void run_quietly(const char *directory, int status, const char *line) { free(run(directory, status, line)); }

static char *read_file(const char *directory, const char *name) {
    char path[PATH_SIZE];
    FILE *file = fopen(join(path, directory, name), "rb");
    if (!file) fail_msg("%s is missing", path);
    char *text = read_stream(file);
    fclose(file);
    return text;
}

static bool exists(const char *directory, const char *name) {
    char path[PATH_SIZE];
    struct stat about;
    return !lstat(join(path, directory, name), &about);
}

static int count_text(const char *text, const char *part) {
    int count = 0;
    for (const char *found = strstr(text, part); found; found = strstr(found + 1, part)) count++;
    return count;
}

static void check_text(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("'%s' is missing in:\n%.3000s", part, text);
}

// -------------------------------------------------------------------------------------------------------------- scenes

// The rocking block, dropped flat: unit mass, width 1 m, height 2 m.
#define BLOCK                                                                                                                              \
    "M: [[1, 0, 0], [0, 1, 0], [0, 0, \"5/12\"]], Jn: [[0, 1, -0.5], [0, 1, 0.5]], Jt: [[1, 0, 1], [1, 0, 1]], mu: [1, 1], "               \
    "v: [0, -0.44294469180700204, 0]"

static const char block_scene[] = "name: block\nmatrices: {" BLOCK ", names: [A, B]}\nimpact: {step: 0.3, max_steps: 50, samples: 64}\n";

// Names that Markdown, the shell and file systems could take for their own.
static const char odd_scene[] = "name: \"*odd* | <b>name\"\nmatrices: {" BLOCK ", names: [\"a|b /[x](y)\", \"_c_;$(d)`\"]}\n"
                                "impact: {step: 0.3, max_steps: 50, samples: 16}\n";

// Six contacts without friction, of which the first comes to rest whatever happens, and the others push each other.
static char *six_scene(void) {
    char *text = NULL;
    size_t size;
    FILE *scene = open_memstream(&text, &size);
    assert_non_null(scene);
    fputs("name: six\nimpact: {step: 1, max_steps: 50, samples: 16}\ndelassus:\n  mu: [0, 0, 0, 0, 0, 0]\n", scene);
    // Contact A is at rest and coupled to no other.
    fputs("  u: [0, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0]\n  W:\n", scene);
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 12; k++) {
            const bool coupled = i > 1 && k > 1 && i % 2 == 0 && k % 2 == 0;
            fprintf(scene, "%s%d%s", k ? ", " : "    - [", (i == k) + coupled, k == 11 ? "]\n" : "");
        }
    assert_int_equal(fclose(scene), 0);
    return text;
}

// --------------------------------------------------------------------------------------------------------------- modes

static void velocities_tell_the_mode(void **state) {
    (void)state;
    static const struct {
        double normal, tangent[2];
        int dim;
        carom_contact_mode mode;
    } cases[] = {
        {0, {0, 9}, 1, CAROM_CONTACT_STICKS},           {1e-9, {-1e-9, 0}, 1, CAROM_CONTACT_STICKS},
        {-1e-9, {-2e-8, 0}, 1, CAROM_CONTACT_SLIDES},   {0, {0, 1}, 2, CAROM_CONTACT_SLIDES},
        {0, {8e-9, 8e-9}, 2, CAROM_CONTACT_SLIDES},     {0, {7e-9, 7e-9}, 2, CAROM_CONTACT_STICKS},
        {1.1e-8, {0, 0}, 2, CAROM_CONTACT_LIFTS},       {1, {1, 0}, 1, CAROM_CONTACT_LIFTS},
        {-1.1e-8, {0, 0}, 1, CAROM_CONTACT_APPROACHES},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(carom_contact_mode_of(cases[i].normal, cases[i].tangent, cases[i].dim, 1e-8), cases[i].mode);
    assert_string_equal(carom_contact_mode_name(CAROM_CONTACT_SLIDES), "slide");
}

// Each contact of each outcome is in one mode; the two sequential outcomes of the block are mirror images.
static void json_counts_modes(void **state) {
    free(support_write_file(*state, "block.yaml", block_scene));
    char *text = run(*state, 0, "\"$carom\" compare block.yaml --json");
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *law;
    const char *name;
    assert_non_null(document);
    json_object_foreach(json_object_get(document, "laws"), name, law) {
        json_t *counts;
        const char *mode;
        for (size_t contact = 0; contact < 2; contact++) {
            json_int_t sum = 0;
            json_object_foreach(json_object_get(law, "modes"), mode, counts) {
                assert_int_equal(json_array_size(counts), 2);
                sum += json_integer_value(json_array_get(counts, contact));
            }
            assert_int_equal(sum, json_integer_value(json_object_get(law, "count")));
        }
    }
    json_t *sequential = json_object_get(json_object_get(json_object_get(document, "laws"), "sequential"), "modes");
    for (size_t contact = 0; contact < 2; contact++) {
        assert_int_equal(json_integer_value(json_array_get(json_object_get(sequential, "stick"), contact)), 1);
        assert_int_equal(json_integer_value(json_array_get(json_object_get(sequential, "lift"), contact)), 1);
    }
    json_decref(document);
    free(text);
}

// The block's set: segments from rest to the two outcomes of the sequential law, 0.21 of the approach speed away.
static void distances_from_the_exact_set_are_told(void **state) {
    if (!carom_exact_available()) skip();
    const double tip = 0.21 * 0.44294469180700204;
    free(support_write_file(*state, "block.yaml", block_scene));
    char *text = run(*state, 0, "\"$carom\" compare block.yaml --json");
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *laws = json_object_get(document, "laws"), *law;
    const char *name;
    json_object_foreach(laws, name, law) {
        double outside, coverage, hausdorff, gap;
        json_t *from = json_object_get(law, "from_exact"), *worst;
        if (!strcmp(name, "halm-posa-exact")) {
            assert_true(json_is_null(from));
            continue;
        }
        assert_int_equal(json_unpack(from, "{s:F, s:F, s:F, s:F, s:o}", "outside", &outside, "coverage", &coverage, "hausdorff", &hausdorff,
                                     "gap", &gap, "worst_point", &worst),
                         0);
        assert_true(gap <= 1e-12 && hausdorff == fmax(outside, coverage));
        assert_int_equal(json_array_size(json_object_get(worst, "normal_velocity")), 2);
        assert_int_equal(json_array_size(json_object_get(worst, "tangent_velocity")), 2);
        // Elastic and without friction: outcomes of another model.
        if (!strcmp(name, "propagative")) {
            assert_true(outside > 0.1 * tip);
            continue;
        }
        assert_true(outside >= 0 && outside <= 1e-12);
        if (!strcmp(name, "halm-posa"))
            assert_true(coverage > 0 && coverage < tip);
        else
            assert_true(fabs(coverage - tip) <= 1e-9);
    }
    json_decref(document);
    free(text);
    text = run(*state, 0, "\"$carom\" compare block.yaml");
    check_text(text, "\nfrom the exact set [m/s]:");
    check_text(text, "\nsequential                  0                  0.093\n");
    free(text);
}

// No exact set, no distances: in space, and where the exact law ran out of its budget.
static void distances_need_a_finished_set(void **state) {
    if (!carom_exact_available()) skip();
    free(support_write_file(*state, "block.yaml", block_scene));
    char *text = run(*state, 1, "\"$carom\" compare block.yaml --pieces 1 --json");
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *law;
    const char *name;
    json_object_foreach(json_object_get(document, "laws"), name, law) assert_true(json_is_null(json_object_get(law, "from_exact")));
    json_decref(document);
    free(text);
}

static void the_terminal_shows_modes(void **state) {
    free(support_write_file(*state, "block.yaml", block_scene));
    char *text = run(*state, 0, "\"$carom\" compare block.yaml");
    check_text(text, "A [0, 0] stick  B [0, 0] stick\n");
    check_text(text, "A [0, 0.093018] stick 50.0 %, lift 50.0 %");
    free(text);
}

// ---------------------------------------------------------------------------------------------------------------- page

// Every `](FILE)` names a file that is there and not empty; returns how many.
static int check_links(const char *directory, const char *page) {
    int links = 0;
    const char *code = strstr(page, "```");
    for (const char *link = strstr(page, "]("); link && link < code; link = strstr(link + 1, "](")) {
        if (link[-1] == '\\') continue;
        char path[PATH_SIZE];
        struct stat about;
        assert_true(snprintf(path, sizeof path, "%s/%.*s", directory, (int)strcspn(link + 2, ")"), link + 2) < PATH_SIZE);
        if (stat(path, &about) || about.st_size == 0) fail_msg("%s is linked and missing", path);
        links++;
    }
    return links;
}

// All rows of a table have as many cells as its head.
static void check_tables(const char *page) {
    int wanted = 0;
    for (const char *line = page; *line; line += strcspn(line, "\n") + 1) {
        int bars = 0;
        for (const char *c = line; *line == '|' && *c != '\n'; c++) bars += *c == '|' && (c == line || c[-1] != '\\');
        if (bars && wanted && bars != wanted) fail_msg("a row with %d bars instead of %d: %.200s", bars, wanted, line);
        wanted = bars;
    }
}

static void the_page_shows_every_law(void **state) {
    char path[PATH_SIZE], law[256];
    free(support_write_file(*state, "block.yaml", block_scene));
    run_quietly(*state, 0, "\"$carom\" compare block.yaml --threads 1 -o out");
    char *page = read_file(join(path, *state, "out"), "index.md"), *laws = run(*state, 0, "\"$carom\" resolve --list");
    for (const char *line = laws; *line; line += strcspn(line, "\n") + 1) {
        snprintf(law, sizeof law, "\n| `%.*s` | ", (int)strcspn(line, " "), line);
        // The block has two contacts, and `stronge` takes one.
        if (!strncmp(line, "stronge ", 8))
            assert_null(strstr(page, law));
        else
            check_text(page, law);
    }
    char *info = run(*state, 0, "sha256sum block.yaml | cut -d' ' -f1 | tr -d '\\n'");
    check_text(page, info);
    check_text(page, "# block\n");
    check_text(page, "| *before the impact* | | | A | -0.44294 | 0 |");
    check_text(page, "| `sequential` | 2 | 0.0735 | A | 0 to 0.093018 | 0 | 50.0 % |  | 50.0 % |\n| | | | B |");
    check_text(page, "carom " CAROM_VERSION);
    check_text(page, "```sh\ncarom compare block.yaml -o out\ncarom plot out/compare.h5 --axes Jn.A,Jn.B");
    check_tables(page);
    assert_true(check_links(path, page) >= 3);
    free(info);
    free(laws);
    free(page);
}

// The page's own commands give the same page, and the figure that it shows.
static void the_page_says_how_to_make_it_again(void **state) {
    char path[PATH_SIZE];
    free(support_write_file(*state, "block.yaml", block_scene));
    run_quietly(*state, 0, "\"$carom\" compare block.yaml --max-impacts 77 --samples=12 -o out && cp -r out first");
    char *page = read_file(join(path, *state, "out"), "index.md");
    check_text(page, "--max-impacts 77 --samples 12 -o out");
    run_quietly(*state, 0,
                "carom() { \"$carom\" \"$@\"; }; sed -n '/^```sh/,/^```/{/^```/d;p}' first/index.md > made.sh && . ./made.sh && "
                "cmp out/index.md first/index.md && cmp out/compare.h5 first/compare.h5 && cmp figure-1-*.png first/figure-1-*.png && "
                "rm -r first");
    free(page);
}

static void odd_names_do_not_break_the_page(void **state) {
    char path[PATH_SIZE];
    free(support_write_file(*state, "odd scene'.yaml", odd_scene));
    run_quietly(*state, 0, "\"$carom\" compare \"odd scene'.yaml\" -o out");
    char *page = read_file(join(path, *state, "out"), "index.md");
    check_text(page, "# \\*odd\\* \\| \\<b\\>name\n");
    check_text(page, "| a\\|b /\\[x\\](y) | ");
    check_text(page, "carom compare 'odd scene'\\''.yaml' -o out");
    check_text(page, "--axes 'Jn.a|b /[x](y),Jn._c_;$(d)`'");
    check_tables(page);
    assert_true(check_links(path, page) >= 3);
    free(page);
}

static void many_contacts_get_the_figures_that_differ(void **state) {
    char path[PATH_SIZE];
    char *scene = six_scene();
    free(support_write_file(*state, "six.yaml", scene));
    free(scene);
    run_quietly(*state, 0, "\"$carom\" compare six.yaml -o out");
    char *page = read_file(join(path, *state, "out"), "index.md");
    check_text(page, "Of 6 contacts, the 5 whose velocities differ most have figures.");
    assert_int_equal(count_text(page, "\n### "), 10);
    assert_null(strstr(page, "Jn.A"));
    assert_true(exists(path, "figure-10-Jn.E-Jn.F.svg"));
    check_links(path, page);
    free(page);
}

// One impact does not end the block's sequences, nor a step most samples: the page says so.
static void unfinished_outcomes_are_marked(void **state) {
    char path[PATH_SIZE];
    free(support_write_file(*state, "block.yaml", block_scene));
    run_quietly(*state, 1, "\"$carom\" compare block.yaml --max-impacts 1 --max-steps 1 -o out");
    char *page = read_file(join(path, *state, "out"), "index.md");
    check_text(page, "| stick | slide | lift | approach |\n");
    check_text(page, "| 50.0 % |  |  | 50.0 % |\n");
    check_text(page, "| `sequential` | 2 (");
    check_text(page, " of 64 samples | ");
    check_tables(page);
    free(page);
}

// A single contact has no pair: its normal and tangential velocities are drawn, even where all laws agree.
static void one_contact_has_a_figure(void **state) {
    char path[PATH_SIZE];
    free(support_write_file(*state, "one.yaml", "delassus: {W: [[1, 0], [0, 1]], u: [-1, 0.5], mu: [0.1]}\nimpact: {samples: 4}\n"));
    run_quietly(*state, 0, "\"$carom\" compare one.yaml -o out");
    char *page = read_file(join(path, *state, "out"), "index.md");
    check_text(page, "](figure-1-Jt.A-Jn.A.png)");
    check_text(page, "| `anitescu-potra` | 1 | 0.128 | A | 0 | 0.4 |  | 100 % |  |");
    assert_true(check_links(path, page) >= 3);
    free(page);
}

// Without gnuplot there is neither a page nor a figure, and no page of an earlier comparison that would show another result.
static void a_failed_figure_leaves_no_page(void **state) {
    char path[PATH_SIZE];
    free(support_write_file(*state, "block.yaml", block_scene));
    run_quietly(*state, 0, "\"$carom\" compare block.yaml -o out");
    assert_true(exists(join(path, *state, "out"), "index.md"));
    run_quietly(*state, 0, "rm out/figure*; PATH=/nowhere \"$carom\" compare block.yaml -o out >said 2>&1; [ $? -eq 2 ]");
    char *said = read_file(*state, "said"), *left = run(*state, 0, "cd out && echo * .[!.]*");
    assert_string_equal(left, "compare.h5 .[!.]*\n");
    check_text(said, "gnuplot");
    free(said);
    free(left);
}

// A file of that name may be the user's: a site's front page, for one.
static void a_page_of_others_stays(void **state) {
    free(support_write_file(*state, "block.yaml", block_scene));
    free(support_write_file(*state, "index.md", "# My notes\n"));
    char *said = run(*state, 2, "\"$carom\" compare block.yaml -o . 2>&1"), *left = run(*state, 0, "cat index.md; ls");
    check_text(said, "index.md: is not the page of an earlier comparison");
    assert_string_equal(left, "# My notes\nblock.yaml\nindex.md\nline.sh\n");
    free(said);
    free(left);
}

// --------------------------------------------------------------------------------------------------------- manual page

// Calls `check` with every command and every flag that its `--help` names.
static void visit_help(const char *directory, void (*check)(void *user, const char *command, const char *flag), void *user) {
    char *usage = run(directory, 0, "\"$carom\" --help"), line[256];
    const char *commands = strstr(usage, "commands:\n");
    assert_non_null(commands);
    for (const char *row = commands + 10; *row == ' '; row += strcspn(row, "\n") + 1) {
        char command[64], flag[64];
        assert_int_equal(sscanf(row, " %63s", command), 1);
        snprintf(line, sizeof line, "\"$carom\" %s --help", command);
        char *help = run(directory, 0, line);
        // A line starts with its flag, or it lists flags of an earlier law.
        for (const char *start = help; *start; start += strcspn(start, "\n") + 1) {
            const bool is_list = !strncmp(start, "  as above: ", 12);
            for (const char *c = start; *c && *c != '\n'; c++)
                if ((is_list || c == start + 2) && c > start && c[-1] == ' ' && sscanf(c, "%63[-a-z]", flag) == 1 && flag[0] == '-')
                    check(user, command, flag);
        }
        free(help);
    }
    free(usage);
}

static void check_manual_entry(void *user, const char *command, const char *flag) {
    char wanted[160], *to = wanted;
    snprintf(wanted, sizeof wanted, "\n.SS \"%s ", command);
    check_text(user, wanted);
    for (; *flag; *to++ = *flag++)
        if (*flag == '-') *to++ = '\\';
    *to = '\0';
    check_text(user, wanted);
}

static void the_manual_has_every_command_and_option(void **state) {
    char *manual = run(*state, 0, "\"$carom\" docs man");
    visit_help(*state, check_manual_entry, manual);
    static const char *const sections[] = {"NAME",        "SYNOPSIS",    "DESCRIPTION", "COMMANDS", "LAWS",
                                           "LCP SOLVERS", "EXIT STATUS", "EXAMPLES",    "SEE ALSO"};
    const char *place = manual;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        char title[64];
        snprintf(title, sizeof title, "\n.SH %s\n", sections[i]);
        place = strstr(place, title);
        if (!place) fail_msg("section %s is missing or out of order", sections[i]);
    }
    free(manual);
}

// Requests are those of man(7), and each paragraph with a tag has one.
static void the_manual_is_roff(void **state) {
    char *manual = run(*state, 0, "\"$carom\" docs man");
    static const char *const macros[] = {".\\\"", ".TH", ".SH", ".SS", ".TP", ".PP", ".br", ".BR"};
    for (const char *line = manual; *line; line += strcspn(line, "\n") + 1) {
        bool known = *line != '.' && *line != '\'' && *line != '\n';
        for (size_t i = 0; i < sizeof macros / sizeof *macros; i++) known = known || !strncmp(line, macros[i], 3);
        if (!known) fail_msg("not a line of a manual page: %.80s", line);
    }
    assert_int_equal(count_text(manual, ".TP\n"), count_text(manual, ".TP\n\\fB"));
    free(manual);
    char *warnings = run(*state, 0, "command -v groff >/dev/null || exit 0; \"$carom\" docs man | groff -ww -man -Tascii 2>&1 >/dev/null");
    assert_string_equal(warnings, "");
    free(warnings);
}

// ---------------------------------------------------------------------------------------------------------- completion

// Completes a line whose words stand in `words` (of bash), with the last one under the cursor; one candidate a line.
static char *complete(const char *directory, const char *words) {
    char line[LINE_SIZE];
    snprintf(line, sizeof line,
             "\"$carom\" docs bash > carom.bash && bash -n carom.bash && . ./carom.bash && COMP_WORDS=(%s) && "
             "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) && { _carom; rm carom.bash; printf '%%s\\n' \"${COMPREPLY[@]}\" | sort; }",
             words);
    return run(directory, 0, line);
}

// All laws, whichever there are.
static void completion_knows_laws(void **state) {
    char *laws = run(*state, 0, "\"$carom\" resolve --list | cut -d' ' -f1 | sort"), *found = complete(*state, "carom resolve --law =");
    assert_string_equal(found, laws);
    free(laws);
    free(found);
}

static void check_completion(const char *directory, const char *words, const char *expected) {
    char *found = complete(directory, words);
    if (strcmp(found, expected)) fail_msg("%s\n  gives: %s  instead of: %s", words, found, expected);
    free(found);
}

static void completion_knows_words(void **state) {
    check_completion(*state, "carom re", "resolve\n");
    check_completion(*state, "carom resolve --la", "--law\n");
    check_completion(*state, "carom resolve x.yaml --law ant", "\n");
    check_completion(*state, "carom resolve x.yaml --law an", "anitescu-potra\n");
    check_completion(*state, "carom resolve --law = se", "sequential\n");
    check_completion(*state, "carom resolve --selection ''", "all\nany\nlemke\nrandom\n");
    check_completion(*state, "carom sample --selection ''", "any\nlemke\nrandom\n");
    check_completion(*state, "carom lcp --solver siconos-enu", "siconos-enum\n");
    check_completion(*state, "carom sample --solver siconos-l", "siconos-lemke\n");
    check_completion(*state, "carom sample --seed ''", "\n");
    check_completion(*state, "carom sample --m", "--max-steps\n");
    check_completion(*state, "carom docs ''", "bash\nman\n");
    check_completion(*state, "carom explode ''", "\n");
}

static void completion_knows_files(void **state) {
    run_quietly(*state, 0, "mkdir 'a b' && touch 'the scene.yaml' the.json the.h5 the.txt 'a b/c.yml'");
    check_completion(*state, "carom info the", "the scene.yaml\nthe.json\n");
    check_completion(*state, "carom info 'a b/'", "a b/c.yml\n");
    check_completion(*state, "carom plot ''", "a b\nthe.h5\n");
    check_completion(*state, "carom sample x.yaml -o the.", "the.h5\nthe.json\nthe.txt\n");
    check_completion(*state, "carom compare x.yaml -o ''", "a b\n");
    check_completion(*state, "carom lcp the.t", "the.txt\n");
    run_quietly(*state, 0, "rm -r 'a b'");
}

static void check_flag_completion(void *user, const char *command, const char *flag) {
    char words[160], wanted[80];
    snprintf(words, sizeof words, "carom %s -", command);
    snprintf(wanted, sizeof wanted, "%s\n", flag);
    char *found = complete(user, words);
    check_text(found, wanted);
    free(found);
}

static void completion_has_every_flag(void **state) { visit_help(*state, check_flag_completion, *state); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(velocities_tell_the_mode),
        cmocka_unit_test_setup_teardown(json_counts_modes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(distances_from_the_exact_set_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(distances_need_a_finished_set, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_terminal_shows_modes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_page_shows_every_law, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_page_says_how_to_make_it_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(odd_names_do_not_break_the_page, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_contacts_get_the_figures_that_differ, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unfinished_outcomes_are_marked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_contact_has_a_figure, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_failed_figure_leaves_no_page, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_page_of_others_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_manual_has_every_command_and_option, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_manual_is_roff, set_up, tear_down),
        cmocka_unit_test_setup_teardown(completion_knows_laws, set_up, tear_down),
        cmocka_unit_test_setup_teardown(completion_knows_words, set_up, tear_down),
        cmocka_unit_test_setup_teardown(completion_knows_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(completion_has_every_flag, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
