// SPDX-License-Identifier: Apache-2.0
// All solutions of a step: Appendix A's lists, contact modes against complementary bases, Lemke's solution among them.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { MOST = 64, NV = 64, SPACE = 18 };

// Velocities collected from an enumeration.
typedef struct list {
    const carom_impact *impact;
    const carom_stepper *stepper;
    int nv, count;
    double v[MOST][NV];
} list;

static void add_distinct(list *l, const double *v) {
    double scale = 0;
    for (int k = 0; k < l->nv; k++) scale = fmax(scale, fmax(fabs(v[k]), fabs(carom_impact_get_data(l->impact)->velocity[k])));
    for (int i = 0; i < l->count; i++) {
        double difference = 0;
        for (int k = 0; k < l->nv; k++) difference = fmax(difference, fabs(l->v[i][k] - v[k]));
        if (difference <= 1e-8 * scale) return;
    }
    assert_true(l->count < MOST);
    memcpy(l->v[l->count++], v, (size_t)l->nv * sizeof *v);
}

// Exact numbers are valued in long double, which valgrind computes as double.
static void skip_without_long_double(void) {
    const volatile long double one = 1;
    if (one + 0x1p-60L == one) skip();
}

static carom_status collect_step(void *user, const double *v, const double *impulse, const carom_step_info *info, carom_error *error) {
    (void)impulse;
    (void)error;
    assert_int_equal(info->verdict, CAROM_COMPLETE);
    list *l = user;
    const int before = l->count;
    add_distinct(l, v);
    // The enumeration itself leaves out what it has seen.
    assert_int_equal(l->count, before + 1);
    return CAROM_OK;
}

// The velocity of an LCP solution, from the impulses in z: planar (edges +t, -t) or with four edges on the axes.
static carom_status collect_basis(void *user, const double *z, double residual, carom_error *error) {
    (void)residual;
    (void)error;
    list *l = user;
    const carom_impact_data *data = carom_impact_get_data(l->impact);
    const int m = data->contacts, dim = data->tangent_dim, edges = 2 * dim;
    const bool capped = carom_stepper_lcp_size(l->stepper) == m * (edges + 3);
    const double *normal = z + (capped ? m : 0), *cone = normal + m;
    double impulse[SPACE] = {0}, v[NV];
    for (int i = 0; i < m; i++) {
        impulse[i * (1 + dim)] = normal[i];
        for (int p = 0; p < dim; p++) impulse[i * (1 + dim) + 1 + p] = cone[i * edges + p] - cone[i * edges + dim + p];
    }
    carom_impact_apply(l->impact, data->velocity, impulse, v);
    add_distinct(l, v);
    return CAROM_OK;
}

static bool contains(const list *l, const double *v, double tolerance) {
    for (int i = 0; i < l->count; i++) {
        double difference = 0, scale = 0;
        for (int k = 0; k < l->nv; k++) {
            difference = fmax(difference, fabs(l->v[i][k] - v[k]));
            scale = fmax(scale, fabs(v[k]));
        }
        if (difference <= tolerance * (1 + scale)) return true;
    }
    return false;
}

static carom_stepper *make_stepper(const carom_impact *impact, carom_step_kind kind, carom_selection selection) {
    carom_stepper_options options = carom_stepper_defaults();
    options.kind = kind;
    options.selection = selection;
    carom_stepper *stepper;
    carom_error error;
    assert_ok(carom_stepper_create(impact, &options, &stepper, &error), error);
    return stepper;
}

static list enumerate(const carom_impact *impact, carom_stepper *stepper, const double *lmax, bool *complete) {
    list l = {.impact = impact, .stepper = stepper, .nv = carom_impact_get_data(impact)->nv};
    carom_error error;
    assert_ok(carom_stepper_enumerate(stepper, carom_impact_get_data(impact)->velocity, lmax, collect_step, &l, complete, &error), error);
    return l;
}

// ------------------------------------------------------------------------------------------------------- Appendix A

typedef struct solution {
    double normal[2], tangent[2];
} solution;

static const solution rest[] = {{{0, 0}, {0, 0}}};
static const solution compass[] = {
    {{0, 0.099555175630902715}, {0, 0.19801960392433349}}, {{0, 0}, {0, 0}}, {{0, 0}, {0, 0.12849043251361725}}};
static const solution ramone[] = {
    {{0, 0.00033082304514997496}, {0, -0.027350089620414408}}, {{0, 0}, {0, 0}}, {{0, 0}, {0, -0.019516304638809046}}};

static void check_scene(const carom_impact_data *data, const solution *solutions, int count) {
    carom_impact *impact = support_impact(data);
    carom_stepper *stepper = make_stepper(impact, CAROM_STEP_SIMULTANEOUS, CAROM_SELECT_ALL);
    bool complete;
    const list l = enumerate(impact, stepper, NULL, &complete);
    assert_true(complete);
    assert_int_equal(l.count, count);
    for (int i = 0; i < count; i++) {
        bool found = false;
        for (int k = 0; k < l.count && !found; k++) {
            double u[SPACE], difference = 0;
            carom_impact_contact_velocity(impact, l.v[k], u);
            for (int c = 0; c < 2; c++)
                difference = fmax(difference, fmax(fabs(u[2 * c] - solutions[i].normal[c]), fabs(u[2 * c + 1] - solutions[i].tangent[c])));
            found = difference <= 1e-10;
        }
        assert_true(found);
    }
    carom_stepper_free(stepper);
    carom_impact_free(impact);
}

static void anitescu_potra_has_the_solutions_of_appendix_a(void **state) {
    (void)state;
    check_scene(&reference_block, rest, 1);
    check_scene(&reference_boxwall, rest, 1);
    check_scene(&reference_compass, compass, 3);
    check_scene(&reference_ramone, ramone, 3);
}

static void disks_come_to_rest_in_one_way(void **state) {
    (void)state;
    skip_without_long_double();
    carom_impact *impact = support_impact(&reference_disks);
    carom_stepper *stepper = make_stepper(impact, CAROM_STEP_SIMULTANEOUS, CAROM_SELECT_ALL);
    bool complete;
    const list l = enumerate(impact, stepper, NULL, &complete);
    assert_true(complete);
    assert_int_equal(l.count, 1);
    for (int k = 0; k < 9; k++) assert_true(fabs(l.v[0][k]) <= 1e-12);
    carom_stepper_free(stepper);
    carom_impact_free(impact);
}

// ---------------------------------------------------------------------------------------------------- modes and bases

// One random problem, solved both ways.
static void compare_modes_and_bases(uint64_t index, carom_step_kind kind, int most_contacts, int tangent_dim) {
    carom_stream stream;
    carom_stream_start(&stream, 99, index);
    const support_family family = index % 5 == 4 ? FAMILY_FRICTIONLESS : FAMILY_PLAIN;
    carom_impact *impact = support_random_impact(&stream, family, most_contacts, tangent_dim, index % 3 ? 1.5 : 10);
    double lmax[8];
    for (int i = 0; i < 8; i++) lmax[i] = carom_stream_uniform(&stream);
    carom_stepper *stepper = make_stepper(impact, kind, CAROM_SELECT_ALL);
    bool complete;
    const list modes = enumerate(impact, stepper, lmax, &complete);

    list bases = {.impact = impact, .stepper = stepper, .nv = modes.nv};
    double w[CAROM_LCP_MOST_ENUMERATED];
    const double *v = carom_impact_get_data(impact)->velocity;
    carom_stepper_lcp_vector(stepper, v, lmax, w);
    bool bases_complete;
    carom_error error;
    const int size = carom_stepper_lcp_size(stepper);
    assert_ok(carom_lcp_enumerate(size, carom_stepper_lcp_matrix(stepper), w, collect_basis, &bases, &bases_complete, &error), error);
    if (modes.count != bases.count) fail_msg("problem %d: %d solutions by modes, %d by bases", (int)index, modes.count, bases.count);
    for (int i = 0; i < modes.count; i++) assert_true(contains(&bases, modes.v[i], 1e-8));

    // Full row rank: generic data have an odd number of solutions.
    const bool generic = family == FAMILY_PLAIN && modes.nv >= carom_impact_contact_size(impact);
    if (generic) {
        assert_true(complete);
        assert_int_equal(modes.count % 2, 1);
    }
    double lemke[NV], impulse[SPACE];
    carom_step_info info;
    carom_stepper_solve(stepper, v, lmax, lemke, impulse, &info);
    assert_int_equal(info.verdict, CAROM_COMPLETE);
    assert_true(contains(&modes, lemke, 1e-9) || !complete);
    carom_stepper_free(stepper);
    carom_impact_free(impact);
}

static void planar_modes_and_bases_agree(void **state) {
    (void)state;
    skip_without_long_double();
    const int count = support_count(100, 2000, 10000);
    for (int i = 0; i < count; i++) compare_modes_and_bases((uint64_t)i, CAROM_STEP_SIMULTANEOUS, 3, 1);
}

static void capped_modes_and_bases_agree(void **state) {
    (void)state;
    const int count = support_count(50, 1000, 10000);
    for (int i = 0; i < count; i++) compare_modes_and_bases(100000 + (uint64_t)i, CAROM_STEP_CAPPED, 2, 1);
    for (int i = 0; i < count / 50; i++) compare_modes_and_bases(200000 + (uint64_t)i, CAROM_STEP_CAPPED, 3, 1);
}

static void spatial_modes_and_bases_agree(void **state) {
    (void)state;
    const int count = support_count(30, 500, 5000);
    for (int i = 0; i < count; i++) compare_modes_and_bases(300000 + (uint64_t)i, CAROM_STEP_SIMULTANEOUS, 2, 2);
    for (int i = 0; i < count; i++) compare_modes_and_bases(400000 + (uint64_t)i, CAROM_STEP_CAPPED, 1, 2);
}

// Two contacts that are one, given twice: impulses are not unique, velocities are.
static void duplicated_contacts_change_nothing(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 200; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 12, i);
        carom_impact *one = support_random_impact(&stream, FAMILY_PLAIN, 1, 1, 1);
        const carom_impact_data *data = carom_impact_get_data(one);
        double normal[2 * NV], tangent[2 * NV];
        const size_t row = (size_t)data->nv * sizeof(double);
        for (int c = 0; c < 2; c++) {
            memcpy(normal + c * data->nv, data->normal, row);
            memcpy(tangent + c * data->nv, data->tangent, row);
        }
        const double mu[] = {data->friction[0], data->friction[0]};
        carom_impact_data twice = *data;
        twice.contacts = 2;
        twice.normal = normal;
        twice.tangent = tangent;
        twice.friction = mu;
        twice.restitution = NULL;
        twice.names = NULL;
        carom_impact *both = support_impact(&twice);
        carom_stepper *first = make_stepper(one, CAROM_STEP_SIMULTANEOUS, CAROM_SELECT_ALL);
        carom_stepper *second = make_stepper(both, CAROM_STEP_SIMULTANEOUS, CAROM_SELECT_ALL);
        bool complete, complete_twice;
        const list expected = enumerate(one, first, NULL, &complete), found = enumerate(both, second, NULL, &complete_twice);
        assert_int_equal(found.count, expected.count);
        for (int k = 0; k < found.count; k++) assert_true(contains(&expected, found.v[k], 1e-9));
        carom_stepper_free(first);
        carom_stepper_free(second);
        carom_impact_free(one);
        carom_impact_free(both);
    }
}

// ----------------------------------------------------------------------------------------------------------- selection

// The compass step has three solutions; `random` takes each a third of the time.
static void random_is_uniform_over_the_solutions(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_compass);
    carom_stepper *stepper = make_stepper(impact, CAROM_STEP_SIMULTANEOUS, CAROM_SELECT_RANDOM);
    carom_stream stream;
    carom_stream_start(&stream, 3, 0);
    carom_stepper_set_stream(stepper, &stream);
    enum { DRAWS = 3000 };
    int lifts = 0, sticks = 0;
    for (int i = 0; i < DRAWS; i++) {
        double v[4], impulse[4], u[4];
        carom_step_info info;
        carom_stepper_solve(stepper, reference_compass.velocity, NULL, v, impulse, &info);
        carom_impact_contact_velocity(impact, v, u);
        lifts += u[2] > 0.05;
        sticks += fabs(u[3]) < 1e-9;
    }
    // Six standard deviations of a third of the draws.
    assert_true(abs(lifts - DRAWS / 3) < 155 && abs(sticks - DRAWS / 3) < 155);
    carom_stepper_free(stepper);
    carom_impact_free(impact);
}

static void lemke_steppers_do_not_enumerate(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    carom_stepper *stepper = make_stepper(impact, CAROM_STEP_SIMULTANEOUS, CAROM_SELECT_LEMKE);
    bool complete;
    carom_error error;
    list l = {.impact = impact};
    assert_refused(carom_stepper_enumerate(stepper, reference_block.velocity, NULL, collect_step, &l, &complete, &error), CAROM_BAD_INPUT,
                   error, "selection");
    carom_stepper_free(stepper);
    carom_impact_free(impact);
}

// -------------------------------------------------------------------------------------------------------- LCP by bases

typedef struct lcp_list {
    int n, count;
    double z[16][4];
} lcp_list;

static carom_status collect_lcp(void *user, const double *z, double residual, carom_error *error) {
    (void)error;
    lcp_list *l = user;
    assert_true(residual <= 1e-12);
    memcpy(l->z[l->count++], z, (size_t)l->n * sizeof *z);
    return CAROM_OK;
}

static void small_lcps_have_their_known_solutions(void **state) {
    (void)state;
    carom_error error;
    bool complete;
    lcp_list l = {.n = 2};
    static const double three[] = {1, 2, 2, 1}, minus[] = {-1, -1};
    assert_ok(carom_lcp_enumerate(2, three, minus, collect_lcp, &l, &complete, &error), error);
    assert_true(complete);
    assert_int_equal(l.count, 3);

    // z1 + z2 = 1: a segment of solutions.
    l.count = 0;
    static const double ones[] = {1, 1, 1, 1};
    assert_ok(carom_lcp_enumerate(2, ones, minus, collect_lcp, &l, &complete, &error), error);
    assert_false(complete);
    assert_int_equal(l.count, 2);

    // No solution at all.
    l.count = 0;
    static const double negative[] = {-1, 0, 0, -1};
    assert_ok(carom_lcp_enumerate(2, negative, minus, collect_lcp, &l, &complete, &error), error);
    assert_true(complete);
    assert_int_equal(l.count, 0);

    // Solutions that are small, or close to each other, in SI units.
    l = (lcp_list){.n = 1};
    static const double steep[] = {-1e9}, one[] = {1};
    assert_ok(carom_lcp_enumerate(1, steep, one, collect_lcp, &l, &complete, &error), error);
    assert_int_equal(l.count, 2);
    assert_true(l.z[0][0] == 0 && fabs(l.z[1][0] - 1e-9) <= 1e-20);
    l.count = 0;
    static const double unit[] = {1}, small[] = {-5e-10};
    assert_ok(carom_lcp_enumerate(1, unit, small, collect_lcp, &l, &complete, &error), error);
    assert_int_equal(l.count, 1);
    assert_true(l.z[0][0] == 5e-10);
    l.n = 2;

    static const double bad[] = {1, NAN, 0, 1};
    assert_refused(carom_lcp_enumerate(2, bad, minus, collect_lcp, &l, &complete, &error), CAROM_BAD_INPUT, error, "finite");
    assert_refused(carom_lcp_enumerate(23, bad, minus, collect_lcp, &l, &complete, &error), CAROM_BAD_INPUT, error, "size 23");
}

static carom_status count_step(void *user, const double *v, const double *impulse, const carom_step_info *info, carom_error *error) {
    (void)v, (void)impulse, (void)info, (void)error;
    ++*(int *)user;
    return CAROM_OK;
}

// How many solutions the step from v has, all of which are listed.
static int count_all(const carom_impact *impact, const double *v, int edges) {
    carom_stepper_options options = carom_stepper_defaults();
    options.selection = CAROM_SELECT_ALL;
    options.cone_edges = edges;
    carom_stepper *stepper;
    carom_error error;
    bool complete;
    int count = 0;
    assert_ok(carom_stepper_create(impact, &options, &stepper, &error), error);
    assert_ok(carom_stepper_enumerate(stepper, v, NULL, count_step, &count, &complete, &error), error);
    assert_true(complete);
    carom_stepper_free(stepper);
    return count;
}

// A body of 950 kg that one outcome moves at 1.8e-4 m/s and another stops, beside one of 2.5e-8 kg that starts at 74 km/s.
static void a_heavy_body_tells_outcomes_apart(void **state) {
    (void)state;
    static const double M[] = {950.1844867414839, 0, 0, 0, 0.0037794369097432826, 0, 0, 0, 2.4633329131663204e-08};
    static const double normal[] = {7.681915479013986,      4922.6692663925005,  37.12742903818759,
                                    0.008130026498500443,   -344842.05199630884, -0.016996612196242274,
                                    2.1293728099058754e-08, -214262.96365880757, 0.001015218911600293};
    static const double tangent[] = {-94.44990857524098,  0.0038872876717440195, -71695094.56136698,
                                     11435.29630579857,   -6598.016045254806,    -626680.207823087,
                                     -258411.72497549703, -0.3918564273338559,   3.969341774866905e-06};
    static const double mu[] = {1.611859569184421, 0.208954117829983, 0.4678269417814603};
    static const double v[] = {-0.000178038691700824, -1.7780091664333986e-05, 74189.5428981967};
    carom_impact *impact = support_impact(&(carom_impact_data){
        .nv = 3, .contacts = 3, .tangent_dim = 1, .mass = M, .normal = normal, .tangent = tangent, .friction = mu, .velocity = v});
    assert_int_equal(count_all(impact, v, carom_stepper_defaults().cone_edges), 3);
    carom_impact_free(impact);
}

// Many coordinates and one contact with many edges: the numbers of velocities alone stay smaller than those of the decisions.
static void many_coordinates_are_enumerated(void **state) {
    (void)state;
    skip_without_long_double();
    enum { COORDINATES = 80 };
    static double M[COORDINATES * COORDINATES], rows[3 * COORDINATES], v[COORDINATES];
    static const double mu = 0.5;
    carom_stream stream;
    carom_stream_start(&stream, 29, 0);
    for (int k = 0; k < 3 * COORDINATES; k++) rows[k] = carom_stream_uniform(&stream) - 0.5;
    for (int k = 0; k < COORDINATES; k++) {
        M[k * COORDINATES + k] = 0.5 + carom_stream_uniform(&stream);
        v[k] = -rows[k];
    }
    carom_impact *impact = support_impact(&(carom_impact_data){.nv = COORDINATES,
                                                               .contacts = 1,
                                                               .tangent_dim = 2,
                                                               .mass = M,
                                                               .normal = rows,
                                                               .tangent = rows + COORDINATES,
                                                               .friction = &mu,
                                                               .velocity = v});
    assert_int_equal(count_all(impact, v, 8), 1);
    carom_impact_free(impact);
}

// Collects up to three solutions.
typedef struct found_lcps {
    int n, count;
    double *z;
} found_lcps;

static carom_status count_lcp(void *user, const double *z, double residual, carom_error *error) {
    (void)residual;
    (void)error;
    found_lcps *found = user;
    assert_true(found->count < 3);
    memcpy(found->z + found->count++ * found->n, z, (size_t)found->n * sizeof *z);
    return CAROM_OK;
}

// Cancels after some polls.
static bool is_cancelled(void *user) {
    int *polls = user;
    return (*polls)-- <= 0;
}

static void an_enumeration_can_be_watched(void **state) {
    (void)state;
    enum { SIZE = 14 };
    // Twelve variables with one solution each, and two that have three together.
    double W[SIZE * SIZE] = {0}, w[SIZE];
    for (int i = 0; i < SIZE; i++) {
        W[i * SIZE + i] = 1;
        w[i] = -1;
    }
    W[(SIZE - 2) * SIZE + SIZE - 1] = W[(SIZE - 1) * SIZE + SIZE - 2] = 2;
    carom_error error;
    bool complete;
    double z[3][SIZE];
    found_lcps all = {.n = SIZE, .z = z[0]};
    assert_ok(carom_lcp_enumerate_watched(SIZE, W, w, NULL, count_lcp, &all, &complete, &error), error);
    assert_true(complete && all.count == 3);

    // Nobody cancels: the same solutions in the same order.
    int polls = INT_MAX;
    const carom_control patient = {.cancelled = is_cancelled, .user = &polls};
    double again[3][SIZE];
    found_lcps watched = {.n = SIZE, .z = again[0]};
    assert_ok(carom_lcp_enumerate_watched(SIZE, W, w, &patient, count_lcp, &watched, &complete, &error), error);
    assert_true(complete && watched.count == 3 && polls < INT_MAX && !memcmp(z, again, sizeof z));

    // Cancelled at once: nothing was found, which proves nothing.
    polls = 0;
    found_lcps none = {.n = SIZE, .z = again[0]};
    assert_ok(carom_lcp_enumerate_watched(SIZE, W, w, &patient, count_lcp, &none, &complete, &error), error);
    assert_true(!complete && none.count < 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(anitescu_potra_has_the_solutions_of_appendix_a),
        cmocka_unit_test(disks_come_to_rest_in_one_way),
        cmocka_unit_test(planar_modes_and_bases_agree),
        cmocka_unit_test(capped_modes_and_bases_agree),
        cmocka_unit_test(spatial_modes_and_bases_agree),
        cmocka_unit_test(duplicated_contacts_change_nothing),
        cmocka_unit_test(random_is_uniform_over_the_solutions),
        cmocka_unit_test(lemke_steppers_do_not_enumerate),
        cmocka_unit_test(small_lcps_have_their_known_solutions),
        cmocka_unit_test(an_enumeration_can_be_watched),
        cmocka_unit_test(a_heavy_body_tells_outcomes_apart),
        cmocka_unit_test(many_coordinates_are_enumerated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
