// SPDX-License-Identifier: Apache-2.0
// Robots that lie flat: many coplanar contacts of few bodies, so that rows of J repeat each other. Every capped step is solved on the first
// rung, keeps the friction law and gains no energy; the order of contacts and repeated ones change no velocity that is unique.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { BASE = 6, MOST_CONTACTS = 40, MOST_VELOCITIES = 60, WIDTH = 3, MOST_ROWS = MOST_CONTACTS * WIDTH };

// An impact and room for its arrays.
typedef struct flat {
    carom_impact_data data;
    double mass[MOST_VELOCITIES * MOST_VELOCITIES], normal[MOST_CONTACTS * MOST_VELOCITIES];
    double tangent[2 * MOST_CONTACTS * MOST_VELOCITIES], friction[MOST_CONTACTS], velocity[MOST_VELOCITIES];
} flat;

// Velocity of the point (x, y, z) of a link by each velocity coordinate: three rows x, y, z. Links form a chain, with a hinge at the start
// of each one but the first, whose axis is x, y or z in turn.
static void point_jacobian(int nv, int link, double length, double x, double y, double z, double rows[WIDTH][MOST_VELOCITIES]) {
    memset(rows, 0, WIDTH * sizeof rows[0]);
    for (int p = 0; p < 3; p++) rows[p][p] = 1;
    for (int k = 3; k < nv; k++) {
        const int joint = k - BASE;
        if (joint >= link) break;
        // omega x r, r from the base or from the hinge.
        const int axis = k < BASE ? k - 3 : joint % 3;
        const double r[3] = {x - (k < BASE ? 0 : (joint + 1) * length), y, z};
        rows[(axis + 1) % 3][k] = -r[(axis + 2) % 3];
        rows[(axis + 2) % 3][k] = r[(axis + 1) % 3];
    }
}

// A chain of links that lies on a floor with two contacts each, one on each side, as capsules across it have; it falls at 1 m/s.
static void lie_flat(carom_stream *stream, int contacts, double friction, bool moving, flat *made) {
    const int links = contacts / 2, nv = BASE + links - 1;
    const double length = 0.2, height = 0.05;
    double rows[WIDTH][MOST_VELOCITIES];
    memset(made, 0, sizeof *made);
    for (int link = 0; link < links; link++) {
        const double half = 0.05 + 0.15 * carom_stream_uniform(stream), x = (link + 0.5) * length;
        for (int side = 0; side < 2; side++) {
            const int contact = 2 * link + side;
            point_jacobian(nv, link, length, x, side ? half : -half, -height, rows);
            memcpy(made->normal + contact * nv, rows[2], (size_t)nv * sizeof(double));
            for (int p = 0; p < 2; p++) memcpy(made->tangent + (2 * contact + p) * nv, rows[p], (size_t)nv * sizeof(double));
            made->friction[contact] = friction;
        }
        // The mass of the link in eight corners.
        for (int corner = 0; corner < 8; corner++) {
            point_jacobian(nv, link, length, x + (corner & 1 ? 0.06 : -0.06), corner & 2 ? half : -half, corner & 4 ? 0.03 : -0.03, rows);
            for (int i = 0; i < nv; i++)
                for (int j = 0; j < nv; j++)
                    for (int p = 0; p < 3; p++) made->mass[i * nv + j] += 0.25 * rows[p][i] * rows[p][j];
        }
    }
    for (int k = BASE; k < nv; k++) made->mass[k * nv + k] += 0.001;
    made->velocity[2] = -1;
    for (int k = 0; moving && k < nv; k++) made->velocity[k] += 0.4 * (carom_stream_uniform(stream) - 0.5);
    made->data = (carom_impact_data){.nv = nv,
                                     .contacts = contacts,
                                     .tangent_dim = 2,
                                     .mass = made->mass,
                                     .normal = made->normal,
                                     .tangent = made->tangent,
                                     .friction = made->friction,
                                     .velocity = made->velocity};
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

// Impulses within caps and friction cones, and no energy gained, from the impact's matrices alone.
static void assert_lawful(const flat *f, const double *v, const double *lmax, const double *v_next, const double *impulse) {
    const int nv = f->data.nv;
    double before = 0, after = 0, largest = 0;
    for (int i = 0; i < nv; i++)
        for (int j = 0; j < nv; j++) {
            before += 0.5 * v[i] * f->mass[i * nv + j] * v[j];
            after += 0.5 * v_next[i] * f->mass[i * nv + j] * v_next[j];
        }
    assert_true(after <= before * (1 + 1e-9));
    for (int i = 0; i < f->data.contacts; i++) largest = fmax(largest, impulse[WIDTH * i]);
    for (int i = 0; i < f->data.contacts; i++) {
        const double *own = impulse + WIDTH * i;
        assert_true(own[0] >= 0 && own[0] <= lmax[i] + 1e-9 * largest);
        assert_true(hypot(own[1], own[2]) <= f->friction[i] * own[0] + 1e-9 * largest);
    }
    // M (v' - v) = J' impulse.
    for (int k = 0; k < nv; k++) {
        double change = 0, given = 0;
        for (int j = 0; j < nv; j++) change += f->mass[k * nv + j] * (v_next[j] - v[j]);
        for (int i = 0; i < f->data.contacts; i++) {
            given += f->normal[i * nv + k] * impulse[WIDTH * i];
            for (int p = 0; p < 2; p++) given += f->tangent[(2 * i + p) * nv + k] * impulse[WIDTH * i + 1 + p];
        }
        assert_close(change, given, 1e-9);
    }
}

// Random capped steps, one after the other until the contacts separate: the scale of caps is that of the first simultaneous step.
static void take_steps(carom_stream *stream, int contacts, int samples, carom_selection selection, int *steps, int *fallbacks) {
    static flat f;
    for (int sample = 0; sample < samples; sample++) {
        lie_flat(stream, contacts, 0.3 + carom_stream_uniform(stream), sample % 2, &f);
        carom_impact *impact = support_impact(&f.data);
        carom_stepper *stepper = make_stepper(impact, CAROM_STEP_CAPPED, selection);
        carom_stepper_set_stream(stepper, stream);
        double v[MOST_VELOCITIES], v_next[MOST_VELOCITIES], lmax[MOST_CONTACTS], impulse[MOST_ROWS], u[MOST_ROWS];
        memcpy(v, f.velocity, sizeof v);
        for (int step = 0; step < 6; step++) {
            carom_step_info info;
            // The mass of 2 kg a link comes to one contact, or to many.
            for (int i = 0; i < contacts; i++) lmax[i] = carom_stream_uniform(stream) * (sample % 3 ? 2 : contacts);
            carom_stepper_solve(stepper, v, lmax, v_next, impulse, &info);
            assert_int_equal(info.verdict, CAROM_COMPLETE);
            assert_true(info.residual <= CAROM_LCP_TOLERANCE);
            assert_lawful(&f, v, lmax, v_next, impulse);
            ++*steps;
            *fallbacks += info.fallbacks > 0;
            memcpy(v, v_next, sizeof v);
            carom_impact_contact_velocity(impact, v, u);
            if (carom_impact_terminated(impact, u)) break;
        }
        carom_stepper_free(stepper);
        carom_impact_free(impact);
    }
}

// No step is unsolved. With random covering vectors, which sets are sampled with, at most one in a thousand leaves the first rung; with the
// canonical one, whose rows tie more often, few do.
static void flat_steps_take_the_first_rung(void **state) {
    (void)state;
    static const int contacts[] = {8, 18, 34};
    carom_stream stream;
    carom_stream_start(&stream, 19, 6);
    const int samples = support_count(4, 20, 200);
    int steps = 0, fallbacks = 0;
    for (int c = 0; c < 3; c++) take_steps(&stream, contacts[c], 2 * samples, CAROM_SELECT_SCATTERED, &steps, &fallbacks);
    assert_true(steps >= 6 * samples);
    assert_true(fallbacks * 1000 <= steps);
    steps = fallbacks = 0;
    for (int c = 0; c < 3; c++) take_steps(&stream, contacts[c], samples, CAROM_SELECT_LEMKE, &steps, &fallbacks);
    assert_true(fallbacks * 20 <= steps);
}

// v' of a step of each contact list; simultaneous, so that contacts that are there twice have no caps to share.
static void solve_list(const flat *f, const int *list, int count, double *v_next) {
    static flat other;
    const int nv = f->data.nv;
    memcpy(&other, f, sizeof other);
    for (int i = 0; i < count; i++) {
        memcpy(other.normal + i * nv, f->normal + list[i] * nv, (size_t)nv * sizeof(double));
        memcpy(other.tangent + 2 * i * nv, f->tangent + 2 * list[i] * nv, 2 * (size_t)nv * sizeof(double));
        other.friction[i] = f->friction[list[i]];
    }
    other.data = f->data;
    other.data.contacts = count;
    other.data.mass = other.mass;
    other.data.normal = other.normal;
    other.data.tangent = other.tangent;
    other.data.friction = other.friction;
    other.data.velocity = other.velocity;
    carom_impact *impact = support_impact(&other.data);
    carom_stepper *stepper = make_stepper(impact, CAROM_STEP_SIMULTANEOUS, CAROM_SELECT_LEMKE);
    double impulse[MOST_ROWS];
    carom_step_info info;
    carom_stepper_solve(stepper, f->velocity, NULL, v_next, impulse, &info);
    assert_int_equal(info.verdict, CAROM_COMPLETE);
    carom_stepper_free(stepper);
    carom_impact_free(impact);
}

// Without friction v' is unique: neither the order of the contacts nor contacts that are there twice change it.
static void order_and_repetition_change_nothing(void **state) {
    (void)state;
    static flat f;
    carom_stream stream;
    carom_stream_start(&stream, 19, 7);
    for (int sample = 0; sample < support_count(4, 30, 300); sample++) {
        const int contacts = sample % 2 ? 18 : 8;
        lie_flat(&stream, contacts, 0, true, &f);
        int list[MOST_CONTACTS];
        double straight[MOST_VELOCITIES], changed[MOST_VELOCITIES];
        for (int i = 0; i < contacts; i++) list[i] = i;
        solve_list(&f, list, contacts, straight);
        for (int i = contacts - 1; i > 0; i--) {
            const int j = support_random_integer(&stream, 0, i), former = list[i];
            list[i] = list[j];
            list[j] = former;
        }
        solve_list(&f, list, contacts, changed);
        assert_all_close(changed, straight, f.data.nv, 1e-10);
        // Every contact twice.
        for (int i = 0; i < contacts; i++) list[contacts + i] = list[i];
        solve_list(&f, list, 2 * contacts, changed);
        assert_all_close(changed, straight, f.data.nv, 1e-10);
    }
}

// With friction, impulses of contacts that are there twice add up to those of one contact with both caps, which then has a lawful step.
static void repeated_contacts_share_their_impulse(void **state) {
    (void)state;
    static flat f, twice;
    carom_stream stream;
    carom_stream_start(&stream, 19, 8);
    for (int sample = 0; sample < support_count(4, 30, 300); sample++) {
        const int contacts = 8;
        lie_flat(&stream, contacts, 0.7, true, &f);
        memcpy(&twice, &f, sizeof twice);
        const int nv = f.data.nv;
        memcpy(twice.normal + contacts * nv, f.normal, (size_t)(contacts * nv) * sizeof(double));
        memcpy(twice.tangent + 2 * contacts * nv, f.tangent, (size_t)(2 * contacts * nv) * sizeof(double));
        memcpy(twice.friction + contacts, f.friction, (size_t)contacts * sizeof(double));
        twice.data = (carom_impact_data){.nv = nv,
                                         .contacts = 2 * contacts,
                                         .tangent_dim = 2,
                                         .mass = twice.mass,
                                         .normal = twice.normal,
                                         .tangent = twice.tangent,
                                         .friction = twice.friction,
                                         .velocity = twice.velocity};
        carom_impact *impact = support_impact(&twice.data);
        carom_stepper *stepper = make_stepper(impact, CAROM_STEP_CAPPED, CAROM_SELECT_SCATTERED);
        carom_stepper_set_stream(stepper, &stream);
        double v_next[MOST_VELOCITIES], lmax[MOST_CONTACTS], impulse[MOST_ROWS];
        for (int i = 0; i < 2 * contacts; i++) lmax[i] = 2 * carom_stream_uniform(&stream);
        carom_step_info info;
        carom_stepper_solve(stepper, f.velocity, lmax, v_next, impulse, &info);
        assert_int_equal(info.verdict, CAROM_COMPLETE);
        for (int i = 0; i < contacts; i++) {
            lmax[i] += lmax[contacts + i];
            for (int p = 0; p < WIDTH; p++) impulse[WIDTH * i + p] += impulse[WIDTH * (contacts + i) + p];
        }
        assert_lawful(&f, f.velocity, lmax, v_next, impulse);
        carom_stepper_free(stepper);
        carom_impact_free(impact);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_steps_take_the_first_rung),
        cmocka_unit_test(order_and_repetition_change_nothing),
        cmocka_unit_test(repeated_contacts_share_their_impulse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
