// SPDX-License-Identifier: Apache-2.0
// The integrator `inclusion`: the accumulation of the rocking block (Halm & Posa 2023, section 4.3) against quadrature, bouncing and
// sliding in closed form, Painleve's rod, what is conserved on random drops, and every way in which a run may be refused.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "integrators.h"

// -------------------------------------------------------------------------------------------------------------- helpers

static const char BLOCK[] =
    "<mujoco><worldbody><body name='block'><joint name='x' type='slide' axis='1 0 0'/><joint name='z' type='slide' axis='0 0 1'/>"
    "<joint name='theta' type='hinge' axis='0 -1 0'/><geom type='box' size='0.5 0.25 1' mass='1'/><site name='a' pos='-0.5 0 -1'/>"
    "<site name='b' pos='0.5 0 -1'/></body></worldbody></mujoco>";

// A rod of length 2 and mass 1 that stands upright on its tip at angle 0.
static const char ROD[] =
    "<mujoco><worldbody><body name='rod'><joint name='x' type='slide' axis='1 0 0'/><joint name='z' type='slide' axis='0 0 1'/>"
    "<joint name='theta' type='hinge' axis='0 -1 0'/><inertial pos='0 0 0' mass='1' diaginertia='0.33333333333333331 "
    "0.33333333333333331 0.001'/><site name='a' pos='0 0 -1'/></body></worldbody></mujoco>";

static const char POINT[] =
    "<mujoco><worldbody><body name='point'><joint name='x' type='slide' axis='1 0 0'/><joint name='z' type='slide' axis='0 0 1'/>"
    "<inertial pos='0 0 0' mass='2' diaginertia='1 1 1'/><site name='a' pos='0 0 0'/></body></worldbody></mujoco>";

// A scene whose model is `xml`; `rest` holds the state, the contacts and more.
static carom_status try_read(const char *xml, const char *rest, carom_scene **scene, carom_error *error) {
    char *directory = support_make_directory(), text[2048];
    free(support_write_file(directory, "model.xml", xml));
    snprintf(text, sizeof text, "{model: model.xml, %s}", rest);
    char *path = support_write_file(directory, "scene.yaml", text);
    const carom_status status = carom_scene_read_motion(path, registry, scene, error);
    free(path);
    support_remove_directory(directory);
    return status;
}

static carom_scene *read_scene(const char *xml, const char *rest) {
    carom_scene *scene;
    carom_error error;
    assert_ok(try_read(xml, rest, &scene, &error), error);
    return scene;
}

static carom_status apply_impact(void *user, const carom_law *law, void *options, carom_error *error) {
    return carom_scene_apply(user, law->options, law->option_count, options, error);
}

// Runs with options as name, text pairs, NULL at the end, as member `member` displaced by `displacement`.
static carom_status try_run(carom_scene *scene, const char *const *pairs, int64_t member, const carom_sink *states,
                            carom_motion_answer *answer, carom_error *error) {
    const carom_integrator *one = carom_integrator_find(registry, "inclusion");
    void *options = malloc(one->options_size);
    one->defaults(options);
    assert_ok(carom_scene_apply_simulate(scene, one->options, one->option_count, options, error), *error);
    for (; pairs && *pairs; pairs += 2)
        assert_ok(carom_option_set(&one->options[carom_option_find(one->options, one->option_count, pairs[0])], options, pairs[1], error),
                  *error);
    carom_motion motion = *carom_scene_motion(scene);
    motion.member = member;
    const carom_law_settings settings = {scene, apply_impact, carom_scene_law(scene)};
    const carom_status status =
        carom_integrator_run(&(carom_motion_request){one, &motion, options, registry, &settings, NULL, NULL}, states, answer, error);
    free(options);
    return status;
}

static carom_motion_answer run(carom_scene *scene, const char *const *pairs) {
    carom_motion_answer answer;
    carom_error error;
    assert_ok(try_run(scene, pairs, 0, NULL, &answer, &error), error);
    return answer;
}

static int64_t whole(const carom_table *table, const char *name) {
    return carom_table_integer_column(table, carom_table_find(table, name))[0];
}

static void assert_verdict(const carom_motion_answer *answer, const char *verdict) {
    assert_string_equal(carom_table_text(answer->result, CAROM_MOTION_VERDICT, 0), verdict);
}

// ------------------------------------------------------------------------------------------------------ the Zeno block

#define BLOCK_CONTACTS                                                                                                                     \
    "contacts: [{name: A, site: a, normal: [0, 0, 1], tangents: [[1, 0, 0]], friction: 1, offset: 0}, "                                    \
    "{name: B, site: b, normal: [0, 0, 1], tangents: [[1, 0, 0]], friction: 1, offset: 0}]"
static const char PIVOTING[] =
    "state: {qpos: [0, 1, 0], qvel: [-1, 0.5, 1]}, " BLOCK_CONTACTS ", simulate: {integrator: inclusion, duration: 3}";

static const double GRAVITY = 9.81, ACCUMULATION_T = 2.671421398374244, ACCUMULATION_S = 28.378065316425578;

static void zeno_block_accumulates_where_quadrature_says(void **state) {
    (void)state;
    // Half-cycles: t and s after the impact at the end of each.
    static const double t[] = {0.9873278073159661, 1.5312698464061411, 1.8845703372039461,
                               2.1242217428427162, 2.2895752649077437, 2.4045321556359718};
    static const double s[] = {10.523013597085593, 16.298027039650385, 20.043705345174657,
                               22.582887040129762, 24.334343613652710, 25.551817102424855};
    carom_scene *scene = read_scene(BLOCK, PIVOTING);
    const char *const steps[] = {"0.001", "0.01", "0.0037"};
    for (int k = 0; k < 3; k++) {
        carom_motion_answer answer = run(scene, (const char *[]){"step", steps[k], NULL});
        assert_verdict(&answer, "complete");
        const double *time = reals(answer.impacts, "t"), *before = reals(answer.impacts, "s"),
                     *normal = reals(answer.impacts, "normal_impulse");
        const double *velocity = reals(answer.impacts, "qvel_after");
        for (int i = 0; i < 6; i++) {
            // Steps have errors of 1e-11, which add up.
            assert_close(time[i], t[i], 1e-10);
            assert_close(before[i] + normal[2 * i] + normal[2 * i + 1], s[i], 1e-10);
            assert_close(fabs(velocity[3 * i + 2]), pow(0.7, i + 1), 1e-10);
        }
        const double limit_t = *reals(answer.result, "accumulation_t"), limit_s = *reals(answer.result, "accumulation_s");
        assert_close(limit_t, ACCUMULATION_T, 1e-10);
        assert_close(limit_s, ACCUMULATION_S, 1e-10);
        // Momentum balance: s* = (1 + m g) t* - m w omega0/2.
        assert_close(limit_s, (1 + GRAVITY) * limit_t - 0.5, 1e-12);
        assert_int_equal(whole(answer.result, "accumulation_count"), 1);
        carom_motion_answer_free(&answer);
    }
    carom_scene_free(scene);
}

static void zeno_block_rests_after_the_accumulation(void **state) {
    (void)state;
    carom_scene *scene = read_scene(BLOCK, PIVOTING);
    carom_motion_answer answer = run(scene, NULL);
    const double *velocity = reals(answer.final, "qvel"), *force = reals(answer.final, "normal_force");
    for (int j = 0; j < 3; j++) assert_close(velocity[j], 0, 1e-12);
    for (int i = 0; i < 2; i++) assert_close(force[i], GRAVITY / 2, 1e-12);
    assert_close(*reals(answer.final, "time_rate"), 1 / (1 + GRAVITY), 1e-14);
    assert_close(*reals(answer.final, "s"), ACCUMULATION_S + (3 - ACCUMULATION_T) * (1 + GRAVITY), 1e-9);
    assert_true(*reals(answer.result, "max_penetration") < 1e-12);
    carom_motion_answer_free(&answer);
    carom_scene_free(scene);
}

// A receiver of pictures that looks at the rates of time and of each contact's impulse: they add up to 1, in impacts, too.
static carom_status check_rates(void *user, const char *name, const carom_plot *picture, carom_error *error) {
    (void)error;
    if (strcmp(name, "rates") != 0) return CAROM_OK;
    int *seen = user;
    const carom_plot_series *lines = picture->series;
    assert_int_equal(picture->series_count, 3);
    assert_string_equal(lines[1].label, "normal impulse of A");
    assert_string_equal(lines[2].label, "normal impulse of B");
    for (int64_t i = 0; i < lines[0].count; i++) {
        const double sum = lines[0].y[i] + lines[1].y[i] + lines[2].y[i];
        // The end of the accumulation alone is no impact.
        seen[0] += isnan(sum);
        if (!isnan(sum)) assert_close(sum, 1, 1e-12);
        // Each half-cycle pivots about one corner until the other collides, which alone has an impulse.
        seen[1] += lines[0].y[i] == 0 && lines[1].y[i] == 1;
        seen[2] += lines[0].y[i] == 0 && lines[2].y[i] == 1;
    }
    return CAROM_OK;
}

static void rates_of_each_contact_add_up(void **state) {
    (void)state;
    carom_scene *scene = read_scene(BLOCK, PIVOTING);
    const carom_motion *motion = carom_scene_motion(scene);
    const carom_integrator *one = carom_integrator_find(registry, "inclusion");
    carom_table *states;
    carom_motion_answer answer;
    carom_error error;
    int seen[3] = {0};
    assert_ok(carom_motion_create_states(one, motion, &states, &error), error);
    const carom_sink sink = carom_table_sink(states);
    assert_ok(try_run(scene, NULL, 0, &sink, &answer, &error), error);
    const carom_figures figures = {
        .title = "", .motion = motion, .states = states, .answer = &answer, .user = seen, .receive = check_rates};
    assert_ok(one->figures(&figures, &error), error);
    assert_int_equal(seen[0], 1);
    // Two states for each impact; corners take turns.
    const int impacts = (int)carom_table_rows(answer.impacts);
    assert_in_range(seen[1] + seen[2], 2 * impacts - 4, 2 * impacts);
    assert_in_range(abs(seen[1] - seen[2]), 0, 4);
    carom_motion_answer_free(&answer);
    carom_table_free(states);
    carom_scene_free(scene);
}

// From the recorded state next to the apex, whose rate is small, to the apex.
static void first_apex_is_that_of_the_energy(void **state) {
    (void)state;
    carom_scene *scene = read_scene(BLOCK, PIVOTING);
    carom_table *states;
    carom_error error;
    const carom_integrator *one = carom_integrator_find(registry, "inclusion");
    const carom_sizes sizes = carom_impact_sizes(carom_scene_impact(scene));
    assert_ok(carom_table_create(one->state_columns, one->state_column_count, NULL, 0, &sizes, &states, &error), error);
    const carom_sink sink = carom_table_sink(states);
    carom_motion_answer answer;
    assert_ok(try_run(scene, (const char *[]){"duration", "0.9", NULL}, 0, &sink, &answer, &error), error);
    const double *q = reals(states, "qpos"), *v = reals(states, "qvel"), alpha = atan(2), half_diagonal = sqrt(5) / 2;
    int64_t best = 0;
    for (int64_t i = 0; i < carom_table_rows(states); i++)
        if (fabs(v[3 * i + 2]) < fabs(v[3 * best + 2])) best = i;
    const double theta = q[3 * best + 2], deceleration = GRAVITY * half_diagonal * cos(theta + alpha) / (5. / 3);
    assert_close(theta + v[3 * best + 2] * v[3 * best + 2] / (2 * deceleration), 0.21975939112053, 1e-10);
    carom_table_free(states);
    carom_motion_answer_free(&answer);
    carom_scene_free(scene);
}

// ------------------------------------------------------------------------------------------------------- closed forms

// A hop lower than 1e-15 of the system's length is not followed: the point stays closed, and the result counts it. Faster points hop.
static void hops_below_precision_are_counted(void **state) {
    (void)state;
    static const double speeds[] = {1e-9, 1e-3};
    for (int k = 0; k < 2; k++) {
        char text[512], said[256];
        snprintf(text, sizeof text,
                 "state: {qpos: [0, 0], qvel: [0, %g]}, contacts: [{name: A, site: a, normal: [0, 0, 1], tangents: [[1, 0, 0]], friction: "
                 "0, restitution: 0.5, offset: 0}], impact: {law: moreau}, simulate: {integrator: inclusion, duration: 1e-4, step: 1e-5}",
                 -speeds[k]);
        carom_scene *scene = read_scene(POINT, text);
        carom_motion_answer answer = run(scene, NULL);
        assert_verdict(&answer, "complete");
        const int column = carom_table_find(answer.result, "unresolved_hops");
        assert_int_equal(carom_table_integer_column(answer.result, column)[0], k == 0);
        carom_integrator_find(registry, "inclusion")->describe(&answer, said, sizeof said);
        if (k == 0) assert_non_null(strstr(said, "1 hop below double precision"));
        if (k == 1) assert_string_equal(said, "");
        assert_true((reals(answer.final, "gap")[0] > 0) == (k == 1));
        carom_motion_answer_free(&answer);
        carom_scene_free(scene);
    }
}

static void bouncing_ball_comes_to_rest_in_finite_time(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        const double restitution = 0.3 + 0.3 * k;
        char text[512];
        snprintf(
            text, sizeof text,
            "state: {qpos: [0, 1], qvel: [0.5, 0]}, contacts: [{name: A, site: a, normal: [0, 0, 1], tangents: [[1, 0, 0]], friction: 0, "
            "restitution: %g, offset: 0}], impact: {law: moreau}, simulate: {integrator: inclusion, duration: 12, step: 0.01}",
            restitution);
        carom_scene *scene = read_scene(POINT, text);
        carom_motion_answer answer = run(scene, NULL);
        assert_verdict(&answer, "complete");
        assert_close(*reals(answer.result, "accumulation_t"), sqrt(2 / GRAVITY) * (1 + restitution) / (1 - restitution), 1e-9);
        // The speed along the ground is what it was, through the accumulation and after it.
        assert_close(reals(answer.final, "qpos")[0], 6, 1e-8);
        assert_close(reals(answer.final, "qvel")[0], 0.5, 1e-10);
        // Over the whole run the ground gives back what gravity takes: s = (1 + m g) t.
        assert_close(*reals(answer.final, "s"), 12 * (1 + 2 * GRAVITY), 1e-9);
        // No impact that a grid step could show is left out.
        const int64_t impacts = carom_table_rows(answer.impacts);
        assert_true(*reals(answer.result, "accumulation_t") - reals(answer.impacts, "t")[impacts - 1] < 0.01);
        carom_motion_answer_free(&answer);
        carom_scene_free(scene);
    }
}

// On a slope of angle phi, pushed upwards: slides for v/(g (sin + mu cos)), then sticks where mu > tan phi, or slides down.
static void point_on_a_slope_slides_and_sticks(void **state) {
    (void)state;
    const double phi = 0.3, speed = 1;
    for (int k = 0; k < 2; k++) {
        const double mu = k ? 0.2 : 0.5;
        char text[512];
        snprintf(text, sizeof text,
                 "state: {qpos: [0, 0], qvel: [%.17g, %.17g]}, contacts: [{name: A, site: a, normal: [%.17g, 0, %.17g], "
                 "tangents: [[%.17g, 0, %.17g]], friction: %g}], simulate: {integrator: inclusion, duration: 1}",
                 speed * cos(phi), speed * sin(phi), -sin(phi), cos(phi), cos(phi), sin(phi), mu);
        carom_scene *scene = read_scene(POINT, text);
        carom_motion_answer answer = run(scene, NULL);
        const double *q = reals(answer.final, "qpos"), *v = reals(answer.final, "qvel"), up = GRAVITY * (sin(phi) + mu * cos(phi));
        const double rest = 1 - speed / up, down = GRAVITY * fmax(sin(phi) - mu * cos(phi), 0);
        assert_close(cos(phi) * q[0] + sin(phi) * q[1], speed * speed / (2 * up) - down * rest * rest / 2, 1e-10);
        assert_close(cos(phi) * v[0] + sin(phi) * v[1], -down * rest, 1e-10);
        assert_close(*reals(answer.final, "s"), 1 + 2 * GRAVITY * cos(phi), 1e-9);
        assert_int_equal(whole(answer.result, "impact_count"), 0);
        assert_int_equal(whole(answer.result, "switch_count"), 1);
        carom_motion_answer_free(&answer);
        carom_scene_free(scene);
    }
}

// A block that slides without tipping: both corners carry, and their shares follow from the moment balance.
static void sliding_block_shares_its_weight(void **state) {
    (void)state;
    carom_scene *scene = read_scene(
        BLOCK,
        "state: {qpos: [0, 1, 0], qvel: [2, 0, 0]}, contacts: [{name: A, site: a, normal: [0, 0, 1], tangents: [[1, 0, 0]], friction: "
        "0.3}, {name: B, site: b, normal: [0, 0, 1], tangents: [[1, 0, 0]], friction: 0.3}], simulate: {integrator: inclusion}");
    carom_motion_answer answer = run(scene, (const char *[]){"duration", "0.1", NULL});
    const double *force = reals(answer.final, "normal_force");
    assert_close(force[1] - force[0], 2 * 0.3 * GRAVITY, 1e-10);
    assert_close(force[1] + force[0], GRAVITY, 1e-10);
    carom_motion_answer_free(&answer);
    answer = run(scene, (const char *[]){"duration", "1", NULL});
    assert_close(reals(answer.final, "qpos")[0], 4 / (2 * 0.3 * GRAVITY), 1e-10);
    assert_close(reals(answer.final, "qvel")[0], 0, 1e-12);
    carom_motion_answer_free(&answer);
    carom_scene_free(scene);
}

// A contact force that ends: over the top of a wheel-like rod, the tip leaves the ground by itself (or the rod would have to be pulled).
static void fast_rod_lifts_its_tip(void **state) {
    (void)state;
    // Upright on a frictionless floor with omega^2 > g/l: the tip's acceleration in free flight is upwards at once.
    carom_scene *scene =
        read_scene(ROD, "state: {qpos: [0, 1, 0], qvel: [0, 0, 4]}, contacts: [{name: A, site: a, normal: [0, 0, 1], tangents: "
                        "[[1, 0, 0]], friction: 0}], simulate: {integrator: inclusion, duration: 0.05}");
    carom_motion_answer answer = run(scene, NULL);
    assert_close(reals(answer.final, "qvel")[1], -GRAVITY * 0.05, 1e-11);
    assert_close(reals(answer.final, "gap")[0], 1 - GRAVITY * 0.05 * 0.05 / 2 - cos(4 * 0.05), 1e-11);
    assert_int_equal(whole(answer.result, "impact_count"), 0);
    carom_motion_answer_free(&answer);
    carom_scene_free(scene);
}

// --------------------------------------------------------------------------------------------------------- Painleve

#define TIP                                                                                                                                \
    "contacts: [{name: A, site: a, normal: [0, 0, 1], tangents: [[1, 0, 0]], friction: 2}], simulate: {integrator: inclusion, duration: "  \
    "0.1}"

// Delassus block of the tip at an angle: a, b, c.
static void tip_block(double theta, double W[3]) {
    const double x = sin(theta), z = -cos(theta), inertia = 1. / 3;
    W[0] = 1 + x * x / inertia;
    W[1] = -x * z / inertia;
    W[2] = 1 + z * z / inertia;
}

// Friction below a/b, from which on pressing would pull the tip down (a - mu b < 0), lets it slide on.
static void painleve_rod_slides_below_the_critical_friction(void **state) {
    (void)state;
    const double theta = 0.6108652381980153;
    double W[3];
    tip_block(theta, W);
    for (int k = 0; k < 2; k++) {
        const double mu = W[0] / W[1] * (k ? 1.01 : 0.99);
        char text[512];
        snprintf(text, sizeof text,
                 "state: {qpos: [0, %.17g, %.17g], qvel: [1, 0, 0]}, contacts: [{name: A, site: a, normal: [0, 0, 1], tangents: "
                 "[[1, 0, 0]], friction: %.17g}], simulate: {integrator: inclusion, duration: 0}",
                 cos(theta), theta, mu);
        carom_scene *scene = read_scene(ROD, text);
        carom_motion_answer answer = run(scene, NULL);
        const double force = reals(answer.final, "normal_force")[0];
        assert_int_equal(carom_table_rows(answer.impacts), k);
        // At rest in its turning the tip falls freely with g: (a - mu b) F = g.
        if (k == 0) assert_close(force, GRAVITY / (W[0] - mu * W[1]), 1e-9);
        carom_motion_answer_free(&answer);
        carom_scene_free(scene);
    }
}

// Without consistent force, slip ends in an impact whose normal impulse closes the gap again: J = v a ... by Routh's method.
static void painleve_rod_stops_in_an_impact(void **state) {
    (void)state;
    const double theta = 0.6108652381980153;
    char text[512];
    snprintf(text, sizeof text, "state: {qpos: [0, %.17g, %.17g], qvel: [1, 0, 0]}, " TIP, cos(theta), theta);
    carom_scene *scene = read_scene(ROD, text);
    carom_motion_answer answer = run(scene, NULL);
    double W[3];
    tip_block(theta, W);
    assert_true(W[0] - 2 * W[1] < 0);
    // Slip and approach are both gone: the impulse is the solution of W p = (0, -1).
    const double determinant = W[0] * W[2] - W[1] * W[1];
    assert_verdict(&answer, "complete");
    assert_int_equal(carom_table_rows(answer.impacts), 1);
    assert_string_equal(carom_table_text(answer.impacts, carom_table_find(answer.impacts, "kind"), 0), "without-collision");
    assert_close(*reals(answer.impacts, "t"), 0, 0);
    assert_close(*reals(answer.impacts, "normal_impulse"), W[1] / determinant, 1e-12);
    assert_close(*reals(answer.impacts, "tangent_impulse"), -W[0] / determinant, 1e-12);
    assert_close(*reals(answer.final, "gap"), 0, 1e-12);
    carom_motion_answer_free(&answer);
    carom_scene_free(scene);
}

// Turning fast enough, the tip may lift, press, or jam: seeds find all of them.
static void seeds_choose_in_the_indeterminate_case(void **state) {
    (void)state;
    const double theta = 0.6108652381980153, omega = 4;
    char text[512];
    snprintf(text, sizeof text, "state: {qpos: [0, %.17g, %.17g], qvel: [%.17g, %.17g, %g]}, " TIP, cos(theta), theta,
             1 - omega * cos(theta), -omega * sin(theta), omega);
    carom_scene *scene = read_scene(ROD, text);
    bool lifts = false, jams = false, presses = false;
    for (int seed = 0; seed < 40; seed++) {
        char number[16];
        snprintf(number, sizeof number, "%d", seed);
        carom_motion_answer answer = run(scene, (const char *[]){"seed", number, "duration", "0.001", NULL});
        const bool impact = carom_table_rows(answer.impacts) > 0, open = *reals(answer.final, "gap") > 1e-9;
        jams = jams || impact;
        lifts = lifts || (!impact && open);
        presses = presses || (!impact && !open);
        carom_motion_answer_free(&answer);
    }
    assert_true(lifts && jams && presses);
    carom_scene_free(scene);
}

// ------------------------------------------------------------------------------------------------------- invariants

// Blocks dropped and thrown at random, by laws that are deterministic and laws that draw.
static void random_drops_neither_penetrate_nor_gain_energy(void **state) {
    (void)state;
    static const char *const laws[] = {"anitescu-potra", "routh", "sequential"};
    carom_stream stream;
    carom_stream_start(&stream, 11, 0);
    const int runs = support_count(40, 200, 1500);
    int accumulations = 0;
    for (int k = 0; k < runs; k++) {
        const double theta = 0.8 * (carom_stream_uniform(&stream) - 0.5), height = 0.05 + 0.3 * carom_stream_uniform(&stream);
        const double lowest = cos(theta) + 0.5 * fabs(sin(theta)), mu = carom_stream_uniform(&stream);
        char text[1024];
        snprintf(
            text, sizeof text,
            "state: {qpos: [0, %.17g, %.17g], qvel: [%.17g, %.17g, %.17g]}, contacts: [{name: A, site: a, normal: [0, 0, 1], tangents: "
            "[[1, 0, 0]], friction: %.17g, offset: 0}, {name: B, site: b, normal: [0, 0, 1], tangents: [[1, 0, 0]], friction: %.17g, "
            "offset: 0}], impact: {law: %s}, simulate: {integrator: inclusion, duration: 1, step: 0.01, seed: %d}",
            k % 4 ? lowest + height : 1 + height, k % 4 ? theta : 0, carom_stream_normal(&stream), carom_stream_normal(&stream),
            k % 4 ? carom_stream_normal(&stream) : 0, mu, mu, laws[k % 3], k);
        carom_scene *scene = read_scene(BLOCK, text);
        carom_motion_answer answer = run(scene, NULL);
        assert_verdict(&answer, "complete");
        assert_true(*reals(answer.result, "max_penetration") < 1e-9);
        assert_true(*reals(answer.result, "max_relative_energy_error") < 1e-10);
        accumulations += whole(answer.result, "accumulation_count") > 0;
        carom_motion_answer_free(&answer);
        carom_scene_free(scene);
    }
    // Most of the drops that end on both corners get there by accumulation.
    assert_true(30 * accumulations > runs);
}

// What starts at zero may rise before it falls within a step: a corner that leaves by its acceleration alone, slip that friction stops
// again. A corner that has just bounced does not take part in the impact of another. Joints that turn far in a step take shorter ones. All
// these ended in other states, or not at all, when the step was long.
static void steps_of_any_length_see_the_same_events(void **state) {
    (void)state;
    static const char level[] = "normal: [0, 0, 1], tangents: [[1, 0, 0]]",
                      slope[] = "normal: [0.3964234341485468, 0, 0.9180677866355365], tangents: [[0.9180677866355365, 0, "
                                "-0.3964234341485468]]";
    static const struct {
        int corners;
        const char *start, *plane, *law;
        double friction, restitution, offset;
    } cases[] = {
        {2, "qpos: [0, 1.824634946092586, 0], qvel: [-1.2395562819354868, -0.0020276768127227562, -2.2181296015703262]", level,
         "sequential", 0.7873557825456265, 0, -1.5},
        {4, "qpos: [0, 1.2955824376780327, -6.133264330856189], qvel: [0, 0, 0]", slope, "sequential", 0.4740117233460607, 0, -1.5},
        {4, "qpos: [0, 1.5042417231956196, 0.7107325735732335], qvel: [0.1407066507662602, 0.36420950081969394, -0.7489531172514328]",
         level, "moreau", 0, 0.3217991677256632, -1.5},
        {4, "qpos: [0, 4, 0.2], qvel: [0, 0, 9]", level, "anitescu-potra", 0.3, 0, 0},
    };
    static const char *const corners[] = {"-0.5, 0, -1", "0.5, 0, -1", "-0.5, 0, 1", "0.5, 0, 1"}, *const steps[] = {"0.002", "0.01", "1"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1800];
        int used =
            snprintf(text, sizeof text, "state: {%s}, impact: {law: %s}, simulate: {integrator: inclusion, duration: 2}, contacts: [",
                     cases[i].start, cases[i].law);
        for (int k = 0; k < cases[i].corners; k++)
            used +=
                snprintf(text + used, sizeof text - (size_t)used,
                         "{name: C%d, body: block, point: [%s], %s, friction: %.17g, restitution: %.17g, offset: %g}%s", k, corners[k],
                         cases[i].plane, cases[i].friction, cases[i].restitution, cases[i].offset, k < cases[i].corners - 1 ? ", " : "]");
        carom_scene *scene = read_scene(BLOCK, text);
        double reference[3];
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            carom_motion_answer answer = run(scene, (const char *[]){"step", steps[k], NULL});
            assert_verdict(&answer, "complete");
            assert_true(*reals(answer.result, "max_penetration") < 1e-9);
            const double *q = reals(answer.final, "qpos");
            if (!k) memcpy(reference, q, sizeof reference);
            for (int j = 0; j < 3; j++) assert_close(q[j], reference[j], 1e-8);
            carom_motion_answer_free(&answer);
        }
        carom_scene_free(scene);
    }
}

// Corners that bounce with restitution accumulate again and again, one after the other: a hop that starts in round-off is not searched for
// switches there, one that cannot be resolved ends, and a limit is taken when all of it is known.
static void nested_accumulations_are_passed(void **state) {
    (void)state;
    static const struct {
        double friction, restitution, qpos[3], qvel[3];
    } cases[] = {
        {1, 0.5, {0, 1.6106955826493925, -1.1566379150915276}, {1.3758947907728913, 0.4486535256781526, -1.85652598146487}},
        {0, 0.5, {0, 1.43549224075021, 0.25962581377438254}, {2.0747748218592688, 0.270394203032548, 1.5440180993011203}},
        {0.5, 0.2, {0, 1.304758474036922, -0.1303515046819106}, {-0.7463404093369057, -1.4022797726953953, 2.134927278647146}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double mu = cases[i].friction, e = cases[i].restitution, *q = cases[i].qpos, *v = cases[i].qvel;
        char text[1024];
        snprintf(text, sizeof text,
                 "state: {qpos: [%.17g, %.17g, %.17g], qvel: [%.17g, %.17g, %.17g]}, contacts: [{name: A, site: a, normal: [0, 0, 1], "
                 "tangents: [[1, 0, 0]], friction: %g, restitution: %g, offset: 0}, {name: B, site: b, normal: [0, 0, 1], tangents: "
                 "[[1, 0, 0]], friction: %g, restitution: %g, offset: 0}], impact: {law: moreau}, simulate: {integrator: inclusion, "
                 "duration: 4, step: 0.01}",
                 q[0], q[1], q[2], v[0], v[1], v[2], mu, e, mu, e);
        carom_scene *scene = read_scene(BLOCK, text);
        carom_motion_answer answer = run(scene, NULL);
        assert_verdict(&answer, "complete");
        assert_true(whole(answer.result, "accumulation_count") > 0);
        assert_true(whole(answer.result, "impact_count") < 1000);
        assert_true(whole(answer.result, "switch_count") < 2 * whole(answer.result, "impact_count"));
        assert_true(*reals(answer.result, "max_relative_energy_error") < 1e-10);
        assert_close(reals(answer.final, "qvel")[2], 0, 1e-12);
        carom_motion_answer_free(&answer);
        carom_scene_free(scene);
    }
}

// Members of an ensemble draw other outcomes; the same member draws the same.
static void members_differ_and_repeat(void **state) {
    (void)state;
    carom_scene *scene = read_scene(BLOCK, "state: {qpos: [0, 1.01, 0]}, " BLOCK_CONTACTS
                                           ", impact: {law: routh}, simulate: {integrator: inclusion, duration: 0.06, step: 0.01}");
    double first[2][8];
    for (int round = 0; round < 2; round++) {
        for (int member = 0; member < 8; member++) {
            carom_motion_answer answer;
            carom_error error;
            assert_ok(try_run(scene, NULL, member, NULL, &answer, &error), error);
            first[round][member] = reals(answer.impacts, "qvel_after")[2];
            carom_motion_answer_free(&answer);
        }
    }
    assert_memory_equal(first[0], first[1], sizeof first[0]);
    bool left = false, right = false;
    for (int member = 0; member < 8; member++) {
        left = left || first[0][member] > 1e-3;
        right = right || first[0][member] < -1e-3;
    }
    assert_true(left && right);
    carom_scene_free(scene);
}

// ------------------------------------------------------------------------------------------------------- refusals

static void endless_impacts_end_by_their_number(void **state) {
    (void)state;
    carom_scene *scene = read_scene(BLOCK, PIVOTING);
    carom_motion_answer answer = run(scene, (const char *[]){"max_impacts", "5", NULL});
    assert_verdict(&answer, "zeno-limit");
    assert_int_equal(carom_table_rows(answer.impacts), 5);
    carom_motion_answer_free(&answer);
    carom_scene_free(scene);
}

static void bad_motions_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *xml, *rest, *text;
        carom_status status;
    } cases[] = {
        {POINT,
         "state: {qpos: [0, -0.1]}, contacts: [{name: A, site: a, normal: [0, 0, 1], tangents: [[1, 0, 0]], friction: 0, offset: 0}]",
         "below its plane", CAROM_BAD_INPUT},
        {POINT, "contacts: [{name: A, site: a, normal: [0, 0, 1], tangents: [[1, 0, 0], [0, 1, 0]], friction: 0.5}]", "planar",
         CAROM_UNSUPPORTED},
        {POINT, "contacts: [{name: A, site: a, normal: [0, 0, 1], tangents: [[1, 0, 0]], friction: 0}], simulate: {law: nonsense}",
         "no law", CAROM_BAD_INPUT},
        {"<mujoco><worldbody><body><freejoint/><geom size='1'/><site name='a'/></body></worldbody></mujoco>",
         "contacts: [{name: A, site: a, normal: [0, 0, 1], friction: 0}]", "slide and hinge joints only", CAROM_UNSUPPORTED},
        {"<mujoco><worldbody><body><joint name='j' type='slide' axis='0 0 1' frictionloss='2'/><geom size='1'/><site "
         "name='a'/></body></worldbody></mujoco>",
         "contacts: [{name: A, site: a, normal: [0, 0, 1], friction: 0}]", "joint 'j' has frictionloss", CAROM_UNSUPPORTED},
        {POINT,
         "state: {qpos: [0, 1e300]}, contacts: [{name: A, site: a, normal: [0, 0, 1], tangents: [[1, 0, 0]], friction: 0, offset: 0}], "
         "simulate: {step: 1e-300}",
         "too small", CAROM_BAD_INPUT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        carom_scene *scene = NULL;
        carom_motion_answer answer;
        carom_error error;
        carom_status status = try_read(cases[i].xml, cases[i].rest, &scene, &error);
        if (!status) status = try_run(scene, NULL, 0, NULL, &answer, &error);
        assert_refused(status, cases[i].status, error, cases[i].text);
        carom_scene_free(scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeno_block_accumulates_where_quadrature_says),
        cmocka_unit_test(zeno_block_rests_after_the_accumulation),
        cmocka_unit_test(rates_of_each_contact_add_up),
        cmocka_unit_test(first_apex_is_that_of_the_energy),
        cmocka_unit_test(hops_below_precision_are_counted),
        cmocka_unit_test(bouncing_ball_comes_to_rest_in_finite_time),
        cmocka_unit_test(point_on_a_slope_slides_and_sticks),
        cmocka_unit_test(sliding_block_shares_its_weight),
        cmocka_unit_test(fast_rod_lifts_its_tip),
        cmocka_unit_test(painleve_rod_slides_below_the_critical_friction),
        cmocka_unit_test(painleve_rod_stops_in_an_impact),
        cmocka_unit_test(seeds_choose_in_the_indeterminate_case),
        cmocka_unit_test(random_drops_neither_penetrate_nor_gain_energy),
        cmocka_unit_test(steps_of_any_length_see_the_same_events),
        cmocka_unit_test(nested_accumulations_are_passed),
        cmocka_unit_test(members_differ_and_repeat),
        cmocka_unit_test(endless_impacts_end_by_their_number),
        cmocka_unit_test(bad_motions_are_refused),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
