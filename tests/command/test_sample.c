// SPDX-License-Identifier: Apache-2.0
// `carom sample`: statistics and extents of sampled sets, files, and what an interrupt leaves.
#include "command_support.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check_statistics(const json_t *sampled, const published *p) {
    assert_string_equal(text(sampled, "schema"), "carom.sample/1");
    assert_string_equal(text(sampled, "selection"), "lemke");
    assert_true(is_true(sampled, "complete"));
    assert_int_equal(number(sampled, "samples"), 65536);
    assert_int_equal(number(sampled, "unsolved"), 0);
    assert_int_equal(number(sampled, "closed"), 0);
    assert_true(number(sampled, "terminated") >= 0.99 * 65536);
    assert_close(number(sampled, "lcps_per_sample"), number(sampled, "lcp_solves") / 65536, 1e-12);
    assert_close(number(sampled, "lcps_per_sample") - p->lcps, 0, 0.02);
    assert_true(number(sampled, "lcps_per_sample_ci95") > 0 && number(sampled, "lcps_per_sample_ci95") < 0.02);
    assert_true(number(sampled, "max_residual") <= 1e-9);
    assert_true(number(sampled, "max_relative_energy_gain") <= 1e-12);
}

static void check_extent(const json_t *sampled, const published *p) {
    static const char *const most[COMPONENTS] = {"extent.normal.0.1", "extent.normal.1.1", "extent.tangent.0.1", "extent.tangent.1.1"};
    for (int i = 0; i < COMPONENTS; i++) assert_true(number(sampled, most[i]) <= p->most[i]);
    assert_true(number(sampled, "extent.normal.0.0") >= -1e-8);
    assert_true(number(sampled, "extent.normal.1.0") >= -1e-8);
}

static void samples_have_the_published_statistics(void **state) {
    for (const published *p = scenes; p < scenes + SCENES; p++) {
        char path[PATH_SIZE];
        json_t *sampled = ask(*state, "sample", scene_path(p, path), "--step", p->step, "--max-steps", p->steps, "--samples", "65536",
                              "--seed", "1", "--selection", "lemke", "--sampler", "lcp");
        check_statistics(sampled, p);
        check_extent(sampled, p);
        json_decref(sampled);
    }
}

// The block's set is the triangle (0, 0), (a, 0), (0, a) with a = 0.0930184, and its tangents rest. How close 2^16 samples come to the
// corners is luck (0.0898 to 0.0928 over thirty seeds); twice as many reach 0.092 on both axes.
static void samples_fill_the_triangle_of_the_block(void **state) {
    char path[PATH_SIZE];
    json_t *sampled = ask(*state, "sample", scene_path(&scenes[0], path), "--samples", "131072", "--seed", "1");
    check_extent(sampled, &scenes[0]);
    assert_true(number(sampled, "extent.normal.0.1") >= 0.092);
    assert_true(number(sampled, "extent.normal.1.1") >= 0.092);
    static const double rest[COMPONENTS] = {0};
    check_numbers(sampled, "extent.tangent", rest, COMPONENTS, 1e-12);
    json_decref(sampled);
}

static void digests_do_not_depend_on_threads_or_files(void **state) {
    for (const published *p = scenes; p < scenes + SCENES; p++) {
        char path[PATH_SIZE];
        scene_path(p, path);
        json_t *one = ask(*state, "sample", path, "--samples", "20001", "--seed", "1", "--threads", "1");
        json_t *two = ask(*state, "sample", path, "--samples", "20001", "--seed", "1", "--threads", "2");
        json_t *filed = ask(*state, "sample", path, "--samples", "20001", "--seed=1", "--threads", "3", "--output", "set.h5");
        json_t *other = ask(*state, "sample", path, "--samples", "20001", "--seed", "2");
        static const char *const same[] = {"digest", "terminated", "lcp_solves", "max_residual", "extent", "lcps_per_sample_ci95"};
        for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
            assert_true(json_equal(at(one, same[i]), at(two, same[i])));
            assert_true(json_equal(at(one, same[i]), at(filed, same[i])));
        }
        assert_string_not_equal(text(one, "digest"), text(other, "digest"));
        json_decref(one);
        json_decref(two);
        json_decref(filed);
        json_decref(other);
    }
}

// Counts do not contain the closing step, which ends samples that were cut off close to termination.
static void epsilon_adds_a_closing_step(void **state) {
    write_text(*state, "block.yaml", BLOCK_SCENE);
    json_t *open_ended = ask(*state, "sample", "block.yaml", "--samples", "4096", "--max-steps", "2");
    json_t *closed = ask(*state, "sample", "block.yaml", "--samples", "4096", "--max-steps", "2", "--epsilon", "0.299");
    assert_int_equal(number(open_ended, "closed"), 0);
    assert_true(number(open_ended, "terminated") < 4096);
    assert_true(number(closed, "closed") > 0);
    assert_int_equal(number(closed, "terminated"), number(open_ended, "terminated") + number(closed, "closed"));
    assert_int_equal(number(closed, "lcp_solves"), number(open_ended, "lcp_solves"));
    json_decref(open_ended);
    json_decref(closed);
}

// Without options: time stepping and walks in turn, with all solutions of a step; results say what served, how often there was a choice,
// and how much may lie outside the set.
static void defaults_are_the_whole_set(void **state) {
    char path[PATH_SIZE];
    for (const published *p = scenes; p < scenes + SCENES; p++) {
        json_t *sampled = ask(*state, "sample", scene_path(p, path), "--samples", "4096", "-o", "set.h5");
        assert_int_equal(number(sampled, "walks"), 2048);
        assert_true(is_true(sampled, "complete"));
        assert_non_null(strstr(text(sampled, "path"), "+walk"));
        assert_string_equal(text(sampled, "solver"), "lemke");
        assert_close(number(sampled, "lcps_per_sample"), number(sampled, "lcp_solves") / 2048, 1e-12);
        assert_true(number(sampled, "nonunique_share") >= 0 && number(sampled, "nonunique_share") <= 1);
        assert_true(number(sampled, "approximate") >= 0 && number(sampled, "approximate") <= 2048);
        const char *selection = text(sampled, "selection");
        assert_true(!strcmp(selection, "any") || !strcmp(selection, "random"));
        assert_int_equal(count_rows(join(path, *state, "set.h5"), "halm-posa/sampler"), number(sampled, "terminated"));
        json_decref(sampled);
    }
    // Outcomes name their sampler.
    json_t *resolved = ask(*state, "resolve", scene_path(&scenes[0], path), "--law", "halm-posa", "--samples", "2");
    assert_string_equal(text(resolved, "outcomes.0.sampler"), "lcp");
    assert_string_equal(text(resolved, "outcomes.1.sampler"), "walk");
    json_decref(resolved);
}

// With a hypothesis a set bounces, by walks whose number of pieces the scene's max_steps does not bound; JSON and files say what contacts
// stored and gave back. A scene's coefficient without a hypothesis is for other laws.
static void sets_bounce_with_a_hypothesis(void **state) {
    write_text(*state, "bounce.yaml",
               "matrices: {" FLAT_PARTS "}\nimpact: {max_steps: 1, samples: 64, hypothesis: stronge, restitution: 0.2:0.8}\n");
    json_t *sampled = ask(*state, "sample", "bounce.yaml", "-o", "bounce.h5");
    assert_int_equal(number(sampled, "terminated"), 64);
    assert_int_equal(number(sampled, "walks"), 64);
    assert_string_equal(text(sampled, "path"), "walk");
    json_t *resolved = ask(*state, "resolve", "bounce.yaml", "--law", "halm-posa", "--restitution", "0.5", "--weights", "single");
    const double stored = number(resolved, "outcomes.0.bounces.0.stored"), restored = number(resolved, "outcomes.0.bounces.0.restored");
    assert_true(stored > 0);
    assert_close(restored, stored / 4, 1e-12);
    write_text(*state, "inelastic.yaml", "matrices: {" FLAT_PARTS "}\nimpact: {samples: 64, restitution: 0.5}\n");
    write_text(*state, "plain.yaml", "matrices: {" FLAT_PARTS "}\nimpact: {samples: 64}\n");
    json_t *inelastic = ask(*state, "sample", "inelastic.yaml"), *plain = ask(*state, "sample", "plain.yaml");
    assert_string_equal(text(inelastic, "digest"), text(plain, "digest"));
    json_decref(sampled);
    json_decref(resolved);
    json_decref(inelastic);
    json_decref(plain);
}

// A scene's max_steps counts impact steps, unless the scene or the command line asks for walks alone.
static void max_steps_belong_to_a_sampler(void **state) {
    write_text(*state, "steps.yaml", "matrices: {" FLAT_PARTS "}\nimpact: {max_steps: 1, step: 1e-9, samples: 8}\n");
    json_t *mixed = ask(*state, "sample", "steps.yaml"), *walks = ask(*state, "sample", "steps.yaml", "--sampler", "walk");
    json_t *few = ask(*state, "sample", "steps.yaml", "--sampler", "lcp");
    assert_int_equal(number(mixed, "terminated"), 4);
    assert_int_equal(number(walks, "terminated"), 8);
    assert_int_equal(number(few, "terminated"), 0);
    json_decref(mixed);
    json_decref(walks);
    json_decref(few);
}

static void automatic_steps_are_the_total_normal_impulse(void **state) {
    write_text(*state, "flat.yaml", FLAT_SCENE);
    json_t *sampled = ask(*state, "sample", "flat.yaml", "--samples", "16");
    assert_close(number(sampled, "step"), 1, 1e-12);
    json_decref(sampled);
}

static void samples_are_filed_and_drawn(void **state) {
    char path[PATH_SIZE];
    json_t *sampled = ask(*state, "sample", scene_path(&scenes[0], path), "--samples", "1000", "-o", "set.h5");
    assert_string_equal(text(sampled, "file"), "set.h5");
    assert_int_equal(read_complete(join(path, *state, "set.h5")), 1);
    assert_int_equal(count_rows(path, "halm-posa/v_plus"), number(sampled, "terminated"));

    json_t *usual = ask(*state, "plot", "set.h5"), *both = ask(*state, "plot", "set.h5", "--svg", "-o", "more");
    json_t *chosen = ask(*state, "plot", "set.h5", "--axes", "Jn.A,Jt.B", "-o", "chosen.png");
    json_t *vector = ask(*state, "plot", "set.h5", "--axes", "Jn.B,Jn.A", "-o", "vector.svg");
    assert_string_equal(text(usual, "schema"), "carom.plot/1");
    assert_string_equal(text(usual, "files.0"), "set-Jn.A-Jn.B.png");
    assert_string_equal(text(chosen, "files.0"), "chosen.png");
    assert_string_equal(text(vector, "files.0"), "vector.svg");
    check_pictures(*state, usual, 1);
    check_pictures(*state, both, 2);
    check_pictures(*state, chosen, 1);
    check_pictures(*state, vector, 1);
    assert_true(is_png(join(path, *state, "chosen.png")));
    json_decref(sampled);
    json_decref(usual);
    json_decref(both);
    json_decref(chosen);
    json_decref(vector);
}

// Samples that are cut off are a result: an empty set, whose digest is that of no bytes.
static void sets_may_be_empty(void **state) {
    write_text(*state, "block.yaml", BLOCK_SCENE);
    json_t *sampled = ask(*state, "sample", "block.yaml", "--sampler", "lcp", "--max-steps", "1", "--step", "1e-9", "-o", "empty.h5");
    assert_int_equal(number(sampled, "samples"), 64);
    assert_int_equal(number(sampled, "terminated"), 0);
    assert_true(json_is_null(at(sampled, "extent")));
    assert_string_equal(text(sampled, "digest"), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_true(exists(*state, "empty.h5"));
    json_t *one = ask_for(1, *state, "resolve", "block.yaml", "--law", "routh", "--max-steps", "1", "--step", "1e-9");
    assert_false(is_true(one, "complete"));
    assert_false(is_true(one, "outcomes.0.terminated"));
    json_decref(sampled);
    json_decref(one);
}

// -----------------------------------------------------------------------------------------------------------------------------------
// Ctrl-C

#define FAR_TOO_MANY "1073741824"

// The finished samples are those that a run for just as many gives.
static void check_prefix(const char *directory, const json_t *stopped) {
    char samples[32];
    assert_false(is_true(stopped, "complete"));
    assert_string_equal(text(stopped, "verdict"), "interrupted");
    assert_int_equal(number(stopped, "requested"), 1 << 30);
    assert_true(number(stopped, "samples") > 0 && number(stopped, "samples") < 1 << 30);
    snprintf(samples, sizeof samples, "%.0f", number(stopped, "samples"));
    json_t *again = ask(directory, "sample", "block.yaml", "--samples", samples);
    static const char *const same[] = {"digest", "samples", "terminated", "lcp_solves", "extent"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) assert_true(json_equal(at(stopped, same[i]), at(again, same[i])));
    json_decref(again);
}

static void an_interrupt_keeps_the_finished_samples(void **state) {
    static const int signals[] = {SIGINT, SIGTERM};
    write_text(*state, "block.yaml", BLOCK_SCENE);
    for (int i = 0; i < 2; i++) {
        char *before = snapshot(*state);
        json_t *stopped = stop(
            &(request){.directory = *state, .arguments = WORDS("sample", "block.yaml", "--samples", FAR_TOO_MANY, "--json")}, signals[i]);
        char *after = snapshot(*state);
        assert_string_equal(before, after);
        check_prefix(*state, stopped);
        json_decref(stopped);
        free(before);
        free(after);
    }
}

static void an_interrupt_keeps_the_file(void **state) {
    char path[PATH_SIZE];
    write_text(*state, "block.yaml", BLOCK_SCENE);
    char *before = snapshot(*state);
    json_t *stopped = stop(
        &(request){.directory = *state, .arguments = WORDS("sample", "block.yaml", "--samples", FAR_TOO_MANY, "-o", "set.h5", "--json")},
        SIGINT);
    check_prefix(*state, stopped);
    assert_string_equal(text(stopped, "file"), "set.h5");
    join(path, *state, "set.h5");
    assert_int_equal(read_complete(path), 0);
    assert_int_equal(count_rows(path, "halm-posa/v_plus"), number(stopped, "terminated"));
    // Nothing else is there.
    assert_int_equal(unlink(path), 0);
    char *after = snapshot(*state);
    assert_string_equal(before, after);
    free(before);
    free(after);
    json_decref(stopped);
}

// -------------------------------------------------------------------------------------------------------------------------------- bad
// input

static const refusal refusals[] = {
    // values
    {"sample flat.yaml --samples 0 -o new.h5", "--samples: 0", NULL},
    {"sample flat.yaml --samples -1", "--samples: -1", NULL},
    {"sample flat.yaml --samples 1e30", "--samples: 1e30", NULL},
    {"sample flat.yaml --samples 1.5", "--samples: 1.5 is not a whole number", NULL},
    {"sample flat.yaml --samples many", "--samples: 'many' is not a number", NULL},
    {"sample flat.yaml --samples 1abc", "--samples: '1abc' is not a number", NULL},
    {"sample flat.yaml --samples nan", "--samples: 'nan' is not a number", NULL},
    {"sample flat.yaml --samples 0x10", "--samples: '0x10' is not a number", NULL},
    {"sample flat.yaml --samples ''", "--samples: '' is not a number", NULL},
    {"sample flat.yaml --samples=", "--samples: '' is not a number", NULL},
    {"sample flat.yaml --seed -1", "--seed: -1", NULL},
    {"sample flat.yaml --seed 0.5", "--seed: 0.5", NULL},
    {"sample flat.yaml --seed 1e300", "--seed: 1e300", NULL},
    {"sample flat.yaml --step 0", "--step: 0", NULL},
    {"sample flat.yaml --step -1 -o new.h5", "--step: -1", NULL},
    {"sample flat.yaml --step nan", "--step: 'nan'", NULL},
    {"sample flat.yaml --step inf", "--step: 'inf'", NULL},
    {"sample flat.yaml --step 1e999", "--step: '1e999'", NULL},
    {"sample flat.yaml --hypothesis newton", "--hypothesis: 'newton' is not one of: none, stronge, poisson", NULL},
    {"sample flat.yaml --restitution 0.5", "--restitution: has no meaning without --hypothesis stronge or poisson", NULL},
    {"sample flat.yaml --hypothesis stronge --restitution 0.5:0.2 -o new.h5", "--restitution: 0.5:0.2 begins above its end", NULL},
    {"sample flat.yaml --hypothesis stronge --restitution 0:2", "--restitution: 2 is not between 0 and 1", NULL},
    {"sample flat.yaml --hypothesis stronge --sampler lcp", "--sampler: the steps of lcp are inelastic", NULL},
    {"sample flat.yaml --max-steps 0", "--max-steps: 0", NULL},
    {"sample flat.yaml --max-steps 2.5", "--max-steps: 2.5", NULL},
    {"sample flat.yaml --cone-edges 3", "cone-edges: 3", NULL},
    {"sample cube.yaml --cone-edges 5 -o new.h5", "even", NULL},
    {"sample cube.yaml --cone-edges 66", "--cone-edges: 66", NULL},
    {"sample flat.yaml --selection best", "--selection: 'best' is not one of: lemke", NULL},
    {"sample flat.yaml --solver guess -o new.h5", "guess", NULL},
    {"sample flat.yaml --solver ''", "--solver", NULL},
    {"sample flat.yaml --threads 0", "--threads: '0'", NULL},
    {"sample flat.yaml --threads -2", "--threads: '-2'", NULL},
    {"sample flat.yaml --threads 1.5", "--threads: '1.5'", NULL},
    {"sample flat.yaml --threads two", "--threads: 'two'", NULL},
    {"sample flat.yaml --threads 1e9", "--threads: '1e9'", NULL},
    {"sample flat.yaml --epsilon 0", "--epsilon: 0", NULL},
    {"sample flat.yaml --epsilon -1", "--epsilon: -1", NULL},
    {"sample flat.yaml --epsilon nan", "--epsilon: 'nan'", NULL},
    {"sample flat.yaml --step 1 --epsilon 1 -o new.h5", "epsilon: 1 is not between 0 and the step", NULL},
    {"sample flat.yaml --step 1 --epsilon 2", "epsilon: 2", NULL},
    // options in scenes
    {"sample case.yaml", "impact.sample", "matrices: {" FLAT_PARTS "}\nimpact: {sample: 8}\n"},
    {"sample case.yaml", "case.yaml:2: impact.samples: 0 is", "matrices: {" FLAT_PARTS "}\nimpact: {samples: 0}\n"},
    {"sample case.yaml -o new.h5", "impact.step", "matrices: {" FLAT_PARTS "}\nimpact: {step: [1, 2]}\n"},
    {"sample case.yaml", "case.yaml:2: impact.epsilon: 99 is", "matrices: {" FLAT_PARTS "}\nimpact: {epsilon: 99}\n"},
    {"sample case.yaml --epsilon 98", "carom: --epsilon: 98 is", "matrices: {" FLAT_PARTS "}\nimpact: {epsilon: 99}\n"},
    // one line, even where the scene deserves a warning
    {"sample case.yaml --samples 0", "--samples: 0", "matrices: {" FLAT_PARTS "}\ncompliant: {points: 3}\n"},
};

static void bad_input_is_refused_in_one_line(void **state) { check_refusals(*state, refusals, sizeof refusals / sizeof *refusals); }

// A chain of nine capsules that lie on the floor, with two contacts each: 18 flat contacts of a body with 14 velocities.
static void write_flat_robot(const char *directory) {
    enum { LINKS = 9, TEXT = 8192 };
    char model[TEXT];
    int size = snprintf(model, TEXT,
                        "<mujoco><default><geom contype='1' conaffinity='0' friction='0.8'/></default><worldbody>"
                        "<geom type='plane' size='5 5 1' contype='0' conaffinity='1'/><body pos='0 0 0.05'><freejoint/>");
    for (int link = 0; link < LINKS; link++) {
        if (link)
            size += snprintf(model + size, TEXT - (size_t)size, "<body pos='0.15 0 0'><joint axis='%d %d 0'/>", link % 2, (link + 1) % 2);
        size += snprintf(model + size, TEXT - (size_t)size, "<geom type='capsule' size='0.05' fromto='0 -%g 0 0 %g 0'/>", 0.1 + 0.01 * link,
                         0.1 + 0.01 * link);
    }
    for (int link = 0; link < LINKS; link++) size += snprintf(model + size, TEXT - (size_t)size, "</body>");
    snprintf(model + size, TEXT - (size_t)size, "</worldbody></mujoco>");
    free(support_write_file(directory, "robot.xml", model));
    free(support_write_file(directory, "robot.yaml",
                            "{model: robot.xml, state: {qpos: [0, 0, 0.049999, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],"
                            " qvel: [0.2, 0.1, -1, 0.1, 0, 0.2, 0.3, -0.2, 0.1, 0, -0.3, 0.2, 0.1, -0.1]}, contacts: {detect: true}}"));
}

// With default options: every step is solved, on the first rung but for one in a thousand, whatever the number of threads.
static void flat_robots_are_sampled_on_the_first_rung(void **state) {
    write_flat_robot(*state);
    char samples[16];
    snprintf(samples, sizeof samples, "%d", support_count(128, 512, 16384));
    json_t *one = ask(*state, "sample", "robot.yaml", "--samples", samples, "--threads", "1");
    json_t *two = ask(*state, "sample", "robot.yaml", "--samples", samples, "--threads", "2");
    assert_int_equal(number(one, "unsolved"), 0);
    assert_int_equal(number(one, "terminated"), number(one, "samples"));
    assert_true(number(one, "fallbacks") * 1000 <= number(one, "lcp_solves"));
    assert_true(number(one, "max_relative_energy_gain") <= 1e-9);
    assert_string_equal(text(one, "digest"), text(two, "digest"));
    json_decref(one);
    json_decref(two);
}

// Only sets without samples that may lie outside are called inner approximations: in words, in pictures, and by questions.
static void samples_that_may_lie_outside_are_counted(void **state) {
    const struct {
        const char *scene, *sampler, *label;
        bool outside;
    } rows[] = {
        {"quadruped", "auto", "halm-posa (512 samples, 512 may lie outside)", true},
        {"compass-matrices", "walk", "halm-posa (inner approximation, 512 walks)", false},
        {"boxwall", "auto", "halm-posa (inner approximation, 512 samples)", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const bool outside = rows[i].outside;
        char path[PATH_SIZE];
        motion_path(rows[i].scene, path);
        report said = run(*state, "sample", path, "--samples", "512", "--sampler", rows[i].sampler, "-o", "set.h5");
        assert_int_equal(said.status, 0);
        assert_int_equal(strstr(said.out, "512 samples, complete (inner approximation of the set)\n") != NULL, !outside);
        assert_int_equal(strstr(said.out, "of 512 outcomes may lie outside the set by O(h)") != NULL, outside);
        release(&said);
        run_quietly(*state, 0, "\"$carom\" plot set.h5 -o set.svg");
        char *drawn = run_line(*state, 0, "cat set.svg");
        check_text(drawn, rows[i].label);
        assert_int_equal(strstr(drawn, "may lie outside)") != NULL, outside);
        free(drawn);
        said = run(*state, "query", "set.h5", "--max", "v.1");
        assert_int_equal(strstr(said.err, "may lie outside the set by O(h), so that it is no lower bound") != NULL, outside);
        check_text(said.out, outside ? "approximate        yes" : "approximate        no");
        release(&said);
        said = run(*state, "query", "set.h5", "--distance", "set.h5", "--json");
        assert_int_equal(strstr(said.err, "of 512 outcomes may lie outside the set by O(h)") != NULL, outside);
        assert_int_equal(strstr(said.out, "of 512 outcomes may lie outside the set by O(h)") != NULL, outside);
        release(&said);
    }
}

// A cube that lands on two corners. Solutions lift a corner by at most 0.02562 m/s (walks), samples of time stepping say 0.06.
static const char edge_scene[] =
    "name: edge\n"
    "matrices:\n"
    "  names: [left, right]\n"
    "  M: [[1,0,0,0,0,0],[0,1,0,0,0,0],[0,0,1,0,0,0],[0,0,0,\"1/6\",0,0],[0,0,0,0,\"1/6\",0],[0,0,0,0,0,\"1/6\"]]\n"
    "  Jn: [[0,0,1,-0.5,0,0],[0,0,1,0.5,0,0]]\n"
    "  Jt: [[1,0,0,0,-0.7071,0.5],[0,1,0,0.7071,0,0],[1,0,0,0,-0.7071,-0.5],[0,1,0,0.7071,0,0]]\n"
    "  mu: [0.3,0.3]\n"
    "  v: [0,0,-1,0,0,0]\n";

// Every number of samples that may lie outside the set is marked where it is printed, and what is claimed of the set is of members.
static void numbers_that_may_lie_outside_are_marked(void **state) {
    static const struct {
        const char *line, *mark;
    } rows[] = {{"sample edge.yaml", "]*  tangent [0, 0]*"},
                {"resolve edge.yaml --law halm-posa", "* (approximate) "},
                {"modes edge.yaml", "*"},
                {"sweep edge.yaml --vary mu=0.3:0.3:1", "*"},
                {"compare edge.yaml", "]* stick"}};
    write_text(*state, "edge.yaml", edge_scene);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int walks = 0; walks < 2; walks++) {
            char line[256];
            // In a comparison `routh` has one sample, and no walk.
            snprintf(line, sizeof line, "\"$carom\" %s --samples 1024%s", rows[i].line,
                     !walks                                ? ""
                     : strncmp(rows[i].line, "compare", 7) ? " --sampler walk"
                                                           : " --sampler walk --laws halm-posa");
            char *said = run_line(*state, 0, line);
            assert_int_equal(strstr(said, rows[i].mark) != NULL, !walks);
            assert_int_equal(strstr(said, " may lie outside the set by O(h), and by the edges") != NULL, !walks);
            free(said);
        }
    json_t *answer = ask(*state, "compare", "edge.yaml");
    assert_true(is_true(answer, "laws.halm-posa.extent_may_lie_outside"));
    assert_false(is_true(answer, "laws.sequential.extent_may_lie_outside"));
    assert_true(number(answer, "laws.halm-posa.extent.normal.0.1") > 0.05);
    assert_true(number(answer, "members.extent.normal.0.1") > 0.0036 && number(answer, "members.extent.normal.0.1") < 0.02563);
    assert_int_equal(json_array_size(json_object_get(answer, "caveats")), 1);
    json_decref(answer);
    run_quietly(*state, 0, "\"$carom\" sample edge.yaml -o edge.h5");
    report said = run(*state, "query", "edge.h5", "--max", "Jn.left");
    check_text(said.out, "maximum            0.06");
    check_text(said.out, "*\nunit ");
    const char *inner = strstr(said.out, "inner              ");
    assert_non_null(inner);
    assert_true(strtod(inner + 19, NULL) > 0.02 && strtod(inner + 19, NULL) < 0.02563);
    release(&said);
}

// The page claims extremes of members, with what samples say beside them.
static void the_page_claims_extremes_of_members(void **state) {
    write_text(*state, "edge.yaml", edge_scene);
    run_quietly(*state, 0, "\"$carom\" compare edge.yaml --samples 4096 -o out");
    char *page = run_line(*state, 0, "cat out/index.md");
    const char *claim = strstr(page, "the contact that may lift fastest is ");
    assert_non_null(claim);
    const char *least = strstr(claim, "with at least ");
    assert_true(least && strtod(least + strlen("with at least "), NULL) < 0.02563);
    check_text(page, "m/s\\* in samples)");
    check_text(page, "in no outcome that is in the set for certain");
    free(page);
    page = run_line(*state, 0, "cat out/index.html");
    check_text(page, "m/s* in samples)");
    free(page);
}

// Contacts of the dropped cube that come to rest leave slip of the size of the tolerance behind: walks in one proportion end all the same.
static void walks_in_one_proportion_end(void **state) {
    char path[PATH_SIZE];
    json_t *answer = ask(*state, "sample", motion_path("cube-k4", path), "--sampler", "walk", "--weights", "constant", "--samples", "400",
                         "--max-steps", "1000");
    assert_true(number(answer, "terminated") >= 390);
    json_decref(answer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(flat_robots_are_sampled_on_the_first_rung, set_up, tear_down),
        cmocka_unit_test_setup_teardown(samples_have_the_published_statistics, set_up, tear_down),
        cmocka_unit_test_setup_teardown(samples_fill_the_triangle_of_the_block, set_up, tear_down),
        cmocka_unit_test_setup_teardown(digests_do_not_depend_on_threads_or_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(epsilon_adds_a_closing_step, set_up, tear_down),
        cmocka_unit_test_setup_teardown(defaults_are_the_whole_set, set_up, tear_down),
        cmocka_unit_test_setup_teardown(samples_that_may_lie_outside_are_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(numbers_that_may_lie_outside_are_marked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_page_claims_extremes_of_members, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sets_bounce_with_a_hypothesis, set_up, tear_down),
        cmocka_unit_test_setup_teardown(max_steps_belong_to_a_sampler, set_up, tear_down),
        cmocka_unit_test_setup_teardown(automatic_steps_are_the_total_normal_impulse, set_up, tear_down),
        cmocka_unit_test_setup_teardown(samples_are_filed_and_drawn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sets_may_be_empty, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_interrupt_keeps_the_finished_samples, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_interrupt_keeps_the_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_input_is_refused_in_one_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(walks_in_one_proportion_end, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
