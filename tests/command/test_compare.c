// SPDX-License-Identifier: Apache-2.0
// `carom compare`: its JSON, its table, and the page that it writes.
#include "command_support.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// -------------------------------------------------------------------------------------------------------------- scenes

// The rocking block, dropped flat: unit mass, width 1 m, height 2 m.
#define BLOCK                                                                                                                              \
    "M: [[1, 0, 0], [0, 1, 0], [0, 0, \"5/12\"]], Jn: [[0, 1, -0.5], [0, 1, 0.5]], Jt: [[1, 0, 1], [1, 0, 1]], mu: [1, 1], "               \
    "v: [0, -0.44294469180700204, 0]"

static const char page_scene[] = "name: block\nmatrices: {" BLOCK ", names: [A, B]}\nimpact: {step: 0.3, max_steps: 50, samples: 64}\n";

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

// ------------------------------------------------------------------------------------------------------ JSON and tables

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
    write_text(*state, "block.yaml", page_scene);
    char *text = run_line(*state, 0, "\"$carom\" compare block.yaml --json");
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
    write_text(*state, "block.yaml", page_scene);
    char *text = run_line(*state, 0, "\"$carom\" compare block.yaml --json");
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
    text = run_line(*state, 0, "\"$carom\" compare block.yaml");
    check_text(text, "\nfrom the exact set [m/s]:");
    check_text(text, "\nsequential                  0                  0.093\n");
    free(text);
}

// No exact set, no distances: in space, and where the exact law ran out of its budget.
static void distances_need_a_finished_set(void **state) {
    if (!carom_exact_available()) skip();
    write_text(*state, "block.yaml", page_scene);
    char *text = run_line(*state, 1, "\"$carom\" compare block.yaml --pieces 1 --json");
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *law;
    const char *name;
    json_object_foreach(json_object_get(document, "laws"), name, law) assert_true(json_is_null(json_object_get(law, "from_exact")));
    json_decref(document);
    free(text);
}

static void the_terminal_shows_modes(void **state) {
    write_text(*state, "block.yaml", page_scene);
    char *text = run_line(*state, 0, "\"$carom\" compare block.yaml");
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
    write_text(*state, "block.yaml", page_scene);
    run_quietly(*state, 0, "\"$carom\" compare block.yaml --threads 1 -o out");
    char *page = read_file(join(path, *state, "out"), "index.md"), *laws = run_line(*state, 0, "\"$carom\" resolve --list");
    for (const char *line = laws; *line; line += strcspn(line, "\n") + 1) {
        snprintf(law, sizeof law, "\n| `%.*s` | ", (int)strcspn(line, " "), line);
        // The block has two contacts, and `stronge` takes one; nothing bounces, and `propagative` is elastic; exact sets need PPL.
        const bool exact = !strncmp(line, "halm-posa-exact ", 16) && !support_has("PPL");
        if (!strncmp(line, "stronge ", 8) || !strncmp(line, "propagative ", 12) || exact)
            assert_null(strstr(page, law));
        else
            check_text(page, law);
    }
    char *info = run_line(*state, 0, "sha256sum block.yaml | cut -d' ' -f1 | tr -d '\\n'");
    check_text(page, info);
    check_text(page, "# block\n");
    check_text(page, "| *before the impact* | | | A | -0.44294 | 0 |");
    check_text(page, "| `sequential` | 2 | 0.0735 | A | 0 to 0.093018 | 0 | 50.0 % |  | 50.0 % |\n| | | | B |");
    check_text(page, "carom " CAROM_VERSION);
    check_text(page, "```sh\ncarom compare block.yaml -o out\ncarom plot out/compare.h5 --axes Jn.A,Jn.B");
    check_text(page, "A sampled set is an inner approximation: ");
    check_text(page, "- `propagative` is left out: its impacts are elastic, and no contact bounces here");
    check_text(page, "\n## What is possible\n\nWhat the contacts do together in 64 sampled outcomes of the set, in 3 ways:\n\n- ");
    check_text(page, "- A and B stick: ");
    check_text(page, "- the contact that may lift fastest is A, with ");
    check_text(page, "- no contact moves along its surface\n");
    check_text(page, "- `anitescu-potra`, `moreau`, ");
    check_tables(page);
    assert_true(check_links(path, page) >= 2);
    free(info);
    free(laws);
    free(page);
}

static void the_page_counts_samples_that_may_lie_outside(void **state) {
    char line[2 * PATH_SIZE], path[PATH_SIZE];
    snprintf(line, sizeof line, "\"$carom\" compare '%s' --samples 256 -o out", motion_path("compass-matrices", path));
    run_quietly(*state, 0, line);
    char *page = read_file(join(path, *state, "out"), "index.md");
    check_text(page, " outcomes may lie outside the set by O(h): slip reverses within a step");
    assert_null(strstr(page, "inner approximation"));
    free(page);
}

// The page's own commands give the same page, and the figure that it shows.
static void the_page_says_how_to_make_it_again(void **state) {
    char path[PATH_SIZE];
    write_text(*state, "block.yaml", page_scene);
    run_quietly(*state, 0, "\"$carom\" compare block.yaml --max-impacts 77 --samples=12 --svg -o out && cp -r out first");
    char *page = read_file(join(path, *state, "out"), "index.md");
    check_text(page, "--max-impacts 77 --samples 12 --svg -o out");
    check_text(page, "[as SVG](figure-1-Jn.A-Jn.B.svg)");
    assert_true(check_links(path, page) >= 3);
    run_quietly(*state, 0,
                "carom() { \"$carom\" \"$@\"; }; sed -n '/^```sh/,/^```/{/^```/d;p}' first/index.md > made.sh && . ./made.sh && "
                "cmp out/index.md first/index.md && cmp out/index.html first/index.html && cmp out/compare.h5 first/compare.h5 && cmp "
                "figure-1-*.png first/figure-1-*.png && "
                "rm -r first");
    free(page);
}

static void odd_names_do_not_break_the_page(void **state) {
    char path[PATH_SIZE];
    write_text(*state, "odd scene'.yaml", odd_scene);
    run_quietly(*state, 0, "\"$carom\" compare \"odd scene'.yaml\" -o out");
    char *page = read_file(join(path, *state, "out"), "index.md");
    check_text(page, "# \\*odd\\* \\| \\<b\\>name\n");
    check_text(page, "| a\\|b /\\[x\\](y) | ");
    check_text(page, "carom compare 'odd scene'\\''.yaml' -o out");
    check_text(page, "--axes 'Jn.a|b /[x](y),Jn._c_;$(d)`'");
    check_tables(page);
    char *html = read_file(path, "index.html");
    check_text(html, "<h1>*odd* | &lt;b&gt;name</h1>");
    check_text(html, "<td>a|b /[x](y)</td>");
    free(html);
    assert_true(check_links(path, page) >= 2);
    free(page);
}

static void many_contacts_get_the_figures_that_differ(void **state) {
    char path[PATH_SIZE];
    char *scene = six_scene();
    write_text(*state, "six.yaml", scene);
    free(scene);
    run_quietly(*state, 0, "\"$carom\" compare six.yaml -o out");
    char *page = read_file(join(path, *state, "out"), "index.md");
    check_text(page, "Of 6 contacts, the 5 whose velocities differ most have figures.");
    assert_int_equal(count_text(page, "\n### "), 10);
    assert_null(strstr(page, "Jn.A"));
    assert_true(exists(path, "figure-10-Jn.E-Jn.F.png"));
    check_links(path, page);
    free(page);
}

// One impact does not end the block's sequences, nor a step most samples: the page says so.
static void unfinished_outcomes_are_marked(void **state) {
    char path[PATH_SIZE];
    write_text(*state, "block.yaml", page_scene);
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
    write_text(*state, "one.yaml", "delassus: {W: [[1, 0], [0, 1]], u: [-1, 0.5], mu: [0.1]}\nimpact: {samples: 4}\n");
    run_quietly(*state, 0, "\"$carom\" compare one.yaml -o out");
    char *page = read_file(join(path, *state, "out"), "index.md");
    check_text(page, "](figure-1-Jt.A-Jn.A.png)");
    check_text(page, "| `anitescu-potra` | 1 | 0.128 | A | 0 | 0.4 |  | 100 % |  |");
    assert_true(check_links(path, page) >= 2);
    free(page);
}

// Without gnuplot there is neither a page nor a figure, and no page of an earlier comparison that would show another result.
static void a_failed_figure_leaves_no_page(void **state) {
    char path[PATH_SIZE];
    write_text(*state, "block.yaml", page_scene);
    run_quietly(*state, 0, "\"$carom\" compare block.yaml -o out");
    assert_true(exists(join(path, *state, "out"), "index.md"));
    run_quietly(*state, 0, "rm out/figure*; PATH=/nowhere \"$carom\" compare block.yaml -o out >said 2>&1; [ $? -eq 2 ]");
    char *said = read_file(*state, "said"), *left = run_line(*state, 0, "cd out && echo * .[!.]*");
    assert_string_equal(left, "compare.h5 .[!.]*\n");
    check_text(said, "gnuplot");
    free(said);
    free(left);
}

// Distances are measured in up to 64 dimensions; 33 planar contacts have 66 velocities, and are compared without.
static void many_contacts_are_compared_without_distances(void **state) {
    enum { MANY = 33 };
    char *text = NULL;
    size_t size;
    FILE *scene = open_memstream(&text, &size);
    assert_non_null(scene);
    for (int part = 0; part < 2; part++) {
        fputs(part ? ", Jn: [" : "matrices: {M: [", scene);
        for (int i = 0; i < MANY; i++)
            for (int j = 0; j < MANY; j++) fprintf(scene, "%s%d%s", j ? ", " : i ? ", [" : "[", i == j, j == MANY - 1 ? "]" : "");
        fputc(']', scene);
    }
    fputs(", v: [-1", scene);
    for (int i = 1; i < MANY; i++) fputs(", -1", scene);
    fputs("]}\n", scene);
    assert_int_equal(fclose(scene), 0);
    write_text(*state, "many.yaml", text);
    free(text);
    json_t *said = ask(*state, "compare", "many.yaml", "--laws", "moreau,halm-posa", "--samples", "10", "--max-steps", "500");
    assert_true(json_is_null(json_object_get(said, "missed")));
    assert_int_equal(json_object_size(json_object_get(said, "laws")), 2);
    json_decref(said);
}

// What figures show is chosen as for `carom plot`, and the page says how to draw them again.
static void figures_take_a_zoom_and_a_focus(void **state) {
    write_text(*state, "block.yaml", page_scene);
    run_quietly(*state, 0,
                "\"$carom\" compare block.yaml --zoom all --svg -o all; \"$carom\" compare block.yaml --focus moreau --dark --svg -o out");
    // A law that would be left out takes part where the figures are to be about it.
    json_t *elastic = ask(*state, "compare", "block.yaml", "--without", "halm-posa-exact", "--focus", "propagative");
    assert_non_null(json_object_get(json_object_get(elastic, "laws"), "propagative"));
    json_decref(elastic);
    char path[PATH_SIZE], *page = read_file(join(path, *state, "out"), "index.md");
    char *svg = read_file(path, "figure-1-Jn.A-Jn.B.svg"), *all = read_file(join(path, *state, "all"), "figure-1-Jn.A-Jn.B.svg");
    check_text(page, "carom plot out/compare.h5 --axes Jn.A,Jn.B --focus moreau --dark -o figure-1-Jn.A-Jn.B.png");
    // The start is beyond the edge of the one, whose paper is dark, and in the other.
    check_text(svg, "before the impact \u2192\u00a0(-0.443,\u00a0-0.443)");
    check_text(svg, "#181c20");
    check_text(all, ">before the impact<");
    assert_null(strstr(all, "#181c20"));
    free(page);
    free(svg);
    free(all);
    json_t *drawn = ask(*state, "plot", "out/compare.h5", "--panels", "Jn.A:Jn.B,Jt.A:Jn.A", "--size", "column", "-o", "two.pdf");
    assert_string_equal(json_string_value(json_array_get(at(drawn, "files"), 0)), "two.pdf");
    json_decref(drawn);
    char *pdf = read_file(*state, "two.pdf");
    assert_memory_equal(pdf, "%PDF-", 5);
    free(pdf);
    // Without gnuplot there is one line.
    run_quietly(*state, 0, "PATH=/nowhere \"$carom\" plot out/compare.h5 --panels Jn.A:Jn.B,Jt.A:Jn.A -o no.png >said 2>&1; [ $? -eq 2 ]");
    char *said = read_file(*state, "said");
    assert_string_equal(said, "carom: no.png: pictures are drawn by gnuplot, which was not found: install gnuplot-nox\n");
    free(said);
}

// One file, which needs no other: its pictures are in it, as the files beside it are, and every element is closed.
static void the_page_as_html_stands_alone(void **state) {
    write_text(*state, "block.yaml", page_scene);
    run_quietly(*state, 0, "\"$carom\" compare block.yaml -o out");
    char path[PATH_SIZE], *html = read_file(join(path, *state, "out"), "index.html");
    check_text(html, "<title>block</title>");
    check_text(html, "<h2>What is possible</h2>");
    check_text(html, "<th class=\"n\">outcomes</th>");
    check_text(html, "<td><code>sequential</code></td><td class=\"n\">2</td><td>0.0735</td><td>A</td><td>0 to 0.093018</td>");
    check_text(html, "<a href=\"compare.h5\">compare.h5</a>");
    assert_int_equal(count_text(html, "src="), count_text(html, "src=\"data:image/png;base64,"));
    assert_int_equal(count_text(html, "<img "), 1);
    for (const char *const *element = (const char *[]){"p", "ul", "li", "table", "tr", "td", "pre", "code", "em", "h2", NULL}; *element;
         element++) {
        char open[16], with[16], close[16];
        snprintf(open, sizeof open, "<%s>", *element);
        snprintf(with, sizeof with, "<%s ", *element);
        snprintf(close, sizeof close, "</%s>", *element);
        assert_int_equal(count_text(html, open) + count_text(html, with), count_text(html, close));
    }
    run_quietly(*state, 0, "sed -n 's/.*base64,\\([^\"]*\\)\".*/\\1/p' out/index.html | base64 -d | cmp - out/figure-1-Jn.A-Jn.B.png");
    free(html);
}

static void laws_are_chosen(void **state) {
    write_text(*state, "block.yaml", BLOCK_SCENE);
    json_t *two = ask(*state, "compare", "block.yaml", "--laws", "propagative,moreau"), *laws = json_object_get(two, "laws");
    assert_int_equal(json_object_size(laws), 2);
    assert_non_null(json_object_get(laws, "propagative"));
    assert_int_equal(length(two, "left_out"), 0);
    json_t *less = ask(*state, "compare", "block.yaml", "--without", "halm-posa,routh");
    laws = json_object_get(less, "laws");
    assert_null(json_object_get(laws, "routh"));
    assert_null(json_object_get(laws, "halm-posa"));
    assert_non_null(json_object_get(laws, "moreau"));
    // Elastic answers are for impacts that bounce, or for who asks.
    assert_null(json_object_get(laws, "propagative"));
    json_t *bouncing = ask(*state, "compare", "block.yaml", "--restitution", "0.5", "--laws", "propagative");
    assert_non_null(at(bouncing, "laws.propagative"));
    write_text(*state, "bounces.yaml", "delassus: {W: [[1, 0], [0, 1]], u: [-1, 0.5], mu: [0.1], restitution: [0.5]}\n");
    json_t *scene = ask(*state, "compare", "bounces.yaml");
    assert_non_null(at(scene, "laws.propagative"));
    json_decref(two);
    json_decref(less);
    json_decref(bouncing);
    json_decref(scene);

    char *said = run_line(*state, 2, "\"$carom\" compare block.yaml --laws moreau,mroeau 2>&1");
    check_text(said, "--laws: 'mroeau' is not one of the laws");
    free(said);
    said = run_line(*state, 2, "\"$carom\" compare block.yaml --laws moreau --without moreau 2>&1");
    check_text(said, "--without: takes away all");
    free(said);
    said = run_line(*state, 0, "\"$carom\" compare block.yaml --laws moreau,stronge 2>&1 >/dev/null");
    check_text(said, "stronge is left out: it is for impacts of another kind");
    free(said);
}

// A file of that name may be the user's: a site's front page, for one.
static void a_page_of_others_stays(void **state) {
    write_text(*state, "block.yaml", page_scene);
    write_text(*state, "index.md", "# My notes\n");
    char *said = run_line(*state, 2, "\"$carom\" compare block.yaml -o . 2>&1"), *left = run_line(*state, 0, "cat index.md; ls");
    check_text(said, "index.md: is not the page of an earlier comparison");
    assert_string_equal(left, "# My notes\nblock.yaml\nindex.md\nline.sh\n");
    free(said);
    free(left);
    said = run_line(
        *state, 2,
        "rm index.md; echo '<p>mine' >index.html; \"$carom\" compare block.yaml -o . 2>&1; status=$?; cat index.html; exit $status");
    check_text(said, "index.html: is not the page of an earlier comparison");
    check_text(said, "<p>mine");
    free(said);
}

static void compare_asks_every_law(void **state) {
    static const char *const laws[] = {"laws.anitescu-potra", "laws.sequential", "laws.routh", "laws.halm-posa"};
    static const int counts[] = {1, 2, 1, 64};
    write_text(*state, "block.yaml", BLOCK_SCENE);
    json_t *quiet = ask(*state, "compare", "block.yaml"), *drawn = ask(*state, "compare", "block.yaml", "-o", "out");
    assert_int_equal(length(quiet, "files"), 0);
    assert_true(length(drawn, "files") >= 2);
    for (int i = 0; i < 4; i++) {
        const json_t *law = at(drawn, laws[i]);
        assert_int_equal(number(law, "count"), counts[i]);
        assert_true(is_true(law, "complete"));
        assert_int_equal(length(law, "energy_ratio"), 2);
        assert_true(number(law, "energy_ratio.0") <= number(law, "energy_ratio.1"));
        assert_true(json_equal(at(law, "extent"), at(at(quiet, laws[i]), "extent")));
    }
    // No law leaves the block's triangle, and the sequential outcomes are its corners.
    assert_close(number(drawn, "laws.sequential.extent.normal.0.1"), 0.093018385279470386, 1e-12);
    assert_true(number(drawn, "laws.halm-posa.extent.normal.0.1") <= 0.0930184);

    char path[PATH_SIZE], directory[PATH_SIZE];
    assert_int_equal(read_complete(join(path, join(directory, *state, "out"), "compare.h5")), 1);
    // The file of results comes first, the two pages last, pictures between them.
    json_t *files = json_object_get(drawn, "files");
    assert_string_equal(json_string_value(json_array_get(files, json_array_size(files) - 1)), "out/index.html");
    json_array_remove(files, json_array_size(files) - 1);
    assert_string_equal(json_string_value(json_array_get(files, json_array_size(files) - 1)), "out/index.md");
    json_array_remove(files, json_array_size(files) - 1);
    json_array_remove(files, 0);
    check_pictures(*state, drawn, length(drawn, "files"));
    json_decref(quiet);
    json_decref(drawn);
}

// A value that a law does not have leaves it out, and only it.
static void laws_that_cannot_take_a_value_are_left_out(void **state) {
    write_text(*state, "block.yaml", BLOCK_SCENE);
    const request asked = {.directory = *state,
                           .arguments = WORDS("compare", "block.yaml", "--hypothesis", "stronge", "--restitution", "0.1:0.9", "--json")};
    report r = run_request(&asked);
    assert_int_equal(r.status, 0);
    check_text(r.err, "note: sequential is left out: it has no restitution 0.1:0.9");
    json_t *compared = json_loads(r.out, 0, NULL);
    // Among them the exact set, which the energetic hypothesis leaves without polytopes, where this build has it.
    assert_int_equal(length(compared, "left_out"), carom_exact_available() ? 5 : 4);
    assert_true(number(compared, "laws.halm-posa.energy_ratio.1") > 0.1);
    json_decref(compared);
    release(&r);
    // The same from the scene: a law that would be asked about an inelastic impact instead takes no part.
    write_text(*state, "bouncing.yaml",
               "matrices: {" FLAT_PARTS "}\nimpact: {hypothesis: stronge, restitution: \"0.1:0.9\", samples: 64}\n");
    const request again = {.directory = *state, .arguments = WORDS("compare", "bouncing.yaml", "--json")};
    r = run_request(&again);
    assert_int_equal(r.status, 0);
    check_text(r.err, "note: sequential is left out: it has no restitution 0.1:0.9");
    if (carom_exact_available()) check_text(r.err, "note: halm-posa-exact is left out: it has no hypothesis stronge");
    release(&r);
}

#define FAR_TOO_MANY "1073741824"

static void an_interrupted_comparison_says_which_law_is_incomplete(void **state) {
    write_text(*state, "long.yaml", "matrices: {" FLAT_PARTS "}\nimpact: {samples: " FAR_TOO_MANY "}\n");
    json_t *stopped = stop(&(request){.directory = *state, .arguments = WORDS("compare", "long.yaml", "--json")}, SIGINT);
    assert_true(is_true(stopped, "laws.anitescu-potra.complete"));
    assert_false(is_true(stopped, "laws.halm-posa.complete"));
    assert_true(number(stopped, "laws.halm-posa.count") > 0);
    json_decref(stopped);
    // No figures are drawn then, which takes seconds; what was found is filed.
    stopped = stop(&(request){.directory = *state, .arguments = WORDS("compare", "long.yaml", "-o", "page", "--json")}, SIGINT);
    assert_int_equal(json_array_size(at(stopped, "files")), 1);
    assert_string_equal(json_string_value(json_array_get(at(stopped, "files"), 0)), "page/compare.h5");
    json_decref(stopped);
}

// ----------------------------------------------------------------------------------------------------------- bad input

static const refusal refusals[] = {
    // values
    {"compare flat.yaml --threads 0 -o new", "--threads: '0'", NULL},
    {"compare flat.yaml --step -1 -o newer", "--step: -1", NULL},
    {"compare flat.yaml --zoom near", "--zoom: 'near' is not set or all", NULL},
    {"compare flat.yaml --focus newton", "--focus: 'newton' is not one of the laws that carom resolve --list prints", NULL},
    {"compare flat.yaml --focus moreau --without moreau", "--focus: 'moreau' is not one of the laws that are asked", NULL},
    {"compare case.yaml --focus stronge", "--focus: stronge does not take part in a comparison of this scene", page_scene},
    // options in scenes
    {"compare case.yaml", "case.yaml:2: impact.order: 'Z' names", "matrices: {" FLAT_PARTS "}\nimpact: {order: [Z]}\n"},
    {"compare case.yaml --order Q", "carom: --order: 'Q' names", "matrices: {" FLAT_PARTS "}\nimpact: {order: [Z]}\n"},
};

static void bad_input_is_refused_in_one_line(void **state) { check_refusals(*state, refusals, sizeof refusals / sizeof *refusals); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(velocities_tell_the_mode),
        cmocka_unit_test_setup_teardown(json_counts_modes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(laws_that_cannot_take_a_value_are_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(distances_from_the_exact_set_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(distances_need_a_finished_set, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_terminal_shows_modes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_page_shows_every_law, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_page_counts_samples_that_may_lie_outside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_page_says_how_to_make_it_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(odd_names_do_not_break_the_page, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_contacts_get_the_figures_that_differ, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_contacts_are_compared_without_distances, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unfinished_outcomes_are_marked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_contact_has_a_figure, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_failed_figure_leaves_no_page, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_page_of_others_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_page_as_html_stands_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(figures_take_a_zoom_and_a_focus, set_up, tear_down),
        cmocka_unit_test_setup_teardown(laws_are_chosen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(compare_asks_every_law, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_interrupted_comparison_says_which_law_is_incomplete, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_input_is_refused_in_one_line, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
