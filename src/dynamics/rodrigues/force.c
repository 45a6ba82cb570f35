// SPDX-License-Identifier: Apache-2.0
// Forces, torques and energies of the built-in potentials (Baker & Gonzalez, sections 4.1 and 4.2, corrected where the printed formulas do
// not follow from the printed energies), and of the caller's.
#include <stdlib.h>
#include <string.h>

#include "carom/quaternion.h"
#include "dynamics/rodrigues/rodrigues.h"

// ------------------------------------------------------------------------------------------------------------ one body

// Where the potentials of one body are added up.
typedef struct body_sum {
    double force[3], torque[3], energy;
} body_sum;

// U = (2/5) K s^(5/2) and -dU/d(distance) = (K/D) s^(3/2), s = [1 - distance/D]_+ (eqs. 56-58, with 2/5 for the printed 5/2).
static double press(double K, double distance, double D, double *energy) {
    const double s = 1 - distance / D;
    if (!(s > 0)) return 0;
    const double root = sqrt(s);
    *energy += 0.4 * K * s * s * root;
    return K / D * s * root;
}

// The potentials of body i alone: those of gravity, offset masses and dipoles.
static void add_potentials(const rodrigues *run, int64_t i, body_sum *sum) {
    const double *x = run->evaluated.position + 3 * i, *q = run->evaluated.attitude + 4 * i, mass = run->mass[i];
    for (int k = 0; k < run->motion->potentials; k++) {
        const carom_potential *p = &run->motion->potential[k];
        switch (p->type) {
        case CAROM_POTENTIAL_GRAVITY:
            carom_add3(mass, p->acceleration, sum->force);
            sum->energy -= mass * carom_dot3(p->acceleration, x);
            break;
        case CAROM_POTENTIAL_OFFSET_MASS: {
            // T = m g (R rho) x e3 (eq. 40 with its factor completed)
            const double weight = mass * p->offset_mass.gravity;
            double arm[3];
            carom_quaternion_rotate(q, p->offset_mass.offset, arm);
            sum->energy -= weight * arm[2];
            sum->torque[0] += weight * arm[1];
            sum->torque[1] -= weight * arm[0];
            break;
        }
        case CAROM_POTENTIAL_DIPOLE: {
            // With the moment m = mu R d and the field b = B + G x: T = m x b, F = G'm - k x - m g e3.
            double moment[3], field[3], turned[3], pull[3];
            carom_quaternion_rotate(q, p->dipole.direction, moment);
            for (int j = 0; j < 3; j++) moment[j] *= p->dipole.moment;
            carom_multiply3(p->dipole.gradient, x, field);
            carom_add3(1, p->dipole.field, field);
            carom_cross3(moment, field, turned);
            carom_multiply3_transposed(p->dipole.gradient, moment, pull);
            carom_add3(1, turned, sum->torque);
            carom_add3(1, pull, sum->force);
            carom_add3(-p->dipole.trap, x, sum->force);
            sum->force[2] -= mass * p->dipole.gravity;
            sum->energy += 0.5 * p->dipole.trap * carom_dot3(x, x) + mass * p->dipole.gravity * x[2] - carom_dot3(moment, field);
            break;
        }
        case CAROM_POTENTIAL_BONDS:
        case CAROM_POTENTIAL_HERTZ:
        case CAROM_POTENTIAL_USER: break;  // not of one body alone
        }
    }
}

// Soft planes of all Hertz potentials.
static void add_planes(const rodrigues *run, int64_t i, body_sum *sum) {
    const double *x = run->evaluated.position + 3 * i, radius = run->radius[i];
    for (int w = 0; w < run->planes; w++) {
        const double *plane = run->plane + RODRIGUES_PLANE_ROW * w, distance = carom_dot3(plane, x) + plane[3];
        if (distance < radius) carom_add3(press(plane[4], distance, radius, &sum->energy), plane, sum->force);
    }
}

// --------------------------------------------------------------------------------------------------------------- pairs

// (I - n n') v, times a factor, added.
static void add_across(double factor, const double n[3], const double v[3], double out[3]) {
    const double along = carom_dot3(n, v);
    for (int k = 0; k < 3; k++) out[k] += factor * (v[k] - along * n[k]);
}

// The unit vector n from body j to body i, and their distance.
static double direction_between(const rodrigues_state *state, int i, int j, double n[3]) {
    for (int k = 0; k < 3; k++) n[k] = state->position[3 * i + k] - state->position[3 * j + k];
    const double r = carom_norm3(n);
    for (int k = 0; k < 3; k++) n[k] /= r;
    return r;
}

void rodrigues_bond_push(const rodrigues_bond *bond, const rodrigues_state *state, rodrigues_push *push, double terms[3]) {
    const carom_bonds *law = bond->law;
    if (bond->broken) {
        *push = (rodrigues_push){0};
        if (terms) memset(terms, 0, 3 * sizeof *terms);
        return;
    }
    const double *qi = state->attitude + 4 * bond->first, *qj = state->attitude + 4 * bond->second;
    double n[3], turn[4], turned[3];

    // Stretching: U = Ka (r/r0 - 1)^2/2.
    const double r = direction_between(state, bond->first, bond->second, n), stretch = r / bond->length - 1;
    *push = (rodrigues_push){.energy = 0.5 * law->Ka * stretch * stretch};
    carom_add3(-law->Ka / bond->length * stretch, n, push->force);

    // Bending: U = Km theta^2/2, T = -Km theta times the axis of Ri Rj'. The angle over the sine of its half tends to 2: no division at
    // zero.
    carom_quaternion_difference(qi, qj, turn);
    const double sine = carom_norm3(turn + 1), angle = carom_quaternion_angle(turn);
    const double factor = -law->Km * (sine > 0 ? angle / sine : 2) * (turn[0] < 0 ? -1 : 1);
    for (int k = 0; k < 3; k++) {
        push->torque[0][k] = factor * turn[1 + k];
        push->torque[1][k] = -push->torque[0][k];
    }
    push->energy += 0.5 * law->Km * angle * angle;

    // Shear: U = Ks (1 - c)^2/2.
    double arm[2][3], slack;
    carom_quaternion_rotate(qi, bond->direction, arm[0]);
    if (law->shear == CAROM_SHEAR_PUBLISHED) {
        // c = (Ri n0).(Rj n) as printed (eq. 53).
        double back[3];
        carom_quaternion_rotate(qj, n, arm[1]);
        slack = 1 - carom_dot3(arm[0], arm[1]);
        carom_quaternion_rotate_back(qj, arm[0], back);
        add_across(law->Ks * slack / r, n, back, push->force);
        carom_cross3(arm[0], arm[1], turned);
        carom_add3(law->Ks * slack, turned, push->torque[0]);
        carom_add3(-law->Ks * slack, turned, push->torque[1]);
    } else {
        // c = (Ri n0 + Rj n0).n/2: the same for every observer, and for both orders of the pair.
        double both[3];
        carom_quaternion_rotate(qj, bond->direction, arm[1]);
        for (int k = 0; k < 3; k++) both[k] = arm[0][k] + arm[1][k];
        slack = 1 - 0.5 * carom_dot3(both, n);
        add_across(law->Ks * slack / (2 * r), n, both, push->force);
        for (int side = 0; side < 2; side++) {
            carom_cross3(arm[side], n, turned);
            carom_add3(0.5 * law->Ks * slack, turned, push->torque[side]);
        }
    }
    push->energy += 0.5 * law->Ks * slack * slack;
    if (!terms) return;
    terms[RODRIGUES_BENDING] = 0.5 * law->Km * angle * angle;
    terms[RODRIGUES_STRETCHING] = 0.5 * law->Ka * stretch * stretch;
    terms[RODRIGUES_SHEAR] = 0.5 * law->Ks * slack * slack;
}

// What each bond does, once for both of its bodies.
static void push_bonds(rodrigues *run, int64_t block, int64_t first, int64_t end) {
    (void)block;
    for (int64_t k = first; k < end; k++) rodrigues_bond_push(&run->bond[k], &run->evaluated, &run->bond_push[k], NULL);
}

// Pairs of the list in contact, those of a block of first bodies.
static void push_contacts(rodrigues *run, int64_t block, int64_t first, int64_t end) {
    (void)block;
    const rodrigues_neighbours *near = &run->contacts;
    for (int64_t i = first; i < end; i++) {
        for (int64_t k = near->start[i]; k < near->start[i + 1]; k++) {
            const double D = run->radius[i] + run->radius[near->second[k]];
            rodrigues_press *push = &run->contact_push[k];
            double n[3];
            *push = (rodrigues_press){0};
            const double r = direction_between(&run->evaluated, (int)i, near->second[k], n);
            if (!(r >= D)) carom_add3(press(run->Kpp, r, D, &push->energy), n, push->force);
        }
    }
}

// Pairs give a body its force; the first body of a pair keeps its energy.
static inline void gather_bonds(const rodrigues *run, int64_t i, body_sum *sum) {
    const rodrigues_incidence *of = &run->of_bonds;
    for (int64_t k = of->start[i]; k < of->start[i + 1]; k++) {
        const rodrigues_push *push = &run->bond_push[of->entries[k] / 2];
        const int side = (int)(of->entries[k] % 2);
        carom_add3(side ? -1 : 1, push->force, sum->force);
        carom_add3(1, push->torque[side], sum->torque);
        if (!side) sum->energy += push->energy;
    }
}

static inline void gather_contacts(const rodrigues *run, int64_t i, body_sum *sum) {
    const rodrigues_incidence *of = &run->of_contacts;
    for (int64_t k = of->start[i]; k < of->start[i + 1]; k++) {
        const rodrigues_press *push = &run->contact_push[of->entries[k] / 2];
        const int side = (int)(of->entries[k] % 2);
        carom_add3(side ? -1 : 1, push->force, sum->force);
        if (!side) sum->energy += push->energy;
    }
}

// Forces, torques and energy of the bodies of a block: first their own potentials, then those of their pairs.
static void sum_bodies(rodrigues *run, int64_t block, int64_t first, int64_t end) {
    double energy = 0;
    for (int64_t i = first; i < end; i++) {
        body_sum sum = {0};
        add_potentials(run, i, &sum);
        add_planes(run, i, &sum);
        if (run->bonds) gather_bonds(run, i, &sum);
        if (run->has_contacts) gather_contacts(run, i, &sum);
        memcpy(run->evaluated.force + 3 * i, sum.force, sizeof sum.force);
        memcpy(run->evaluated.torque + 3 * i, sum.torque, sizeof sum.torque);
        energy += sum.energy;
    }
    run->partials[block].potential = energy;
}

// Lists for each body the pairs that it is in: counts in start, sums, then fills each body's entries in the order of pairs.
static bool make_incidence(int bodies, int64_t pairs, const int *first, const int *second, rodrigues_incidence *of) {
    if (2 * pairs > of->capacity) {
        int64_t *grown = realloc(of->entries, (size_t)(2 * pairs) * sizeof *grown);
        if (!grown) return false;
        of->entries = grown;
        of->capacity = 2 * pairs;
    }
    memset(of->start, 0, ((size_t)bodies + 1) * sizeof *of->start);
    for (int64_t k = 0; k < pairs; k++) {
        of->start[first[k]]++;
        of->start[second[k]]++;
    }
    for (int i = 0; i < bodies; i++) of->start[i + 1] += of->start[i];
    // start[i] is now the end of body i's entries; filling from the last pair on brings it to their beginning.
    for (int64_t k = pairs - 1; k >= 0; k--) {
        of->entries[--of->start[second[k]]] = 2 * k + 1;
        of->entries[--of->start[first[k]]] = 2 * k;
    }
    return true;
}

// Brings the list of contacts up to date; where it was made anew, with room for its pairs and their incidence.
static bool update_contacts(rodrigues *run, const rodrigues_state *state) {
    const rodrigues_neighbours *near = &run->contacts;
    const int64_t generation = near->generation;
    if (!rodrigues_neighbours_update(&run->contacts, state->position, run->radius, 0)) return false;
    if (generation == near->generation) return true;
    const int64_t pairs = near->start[near->bodies];
    if (pairs > run->contact_capacity) {
        rodrigues_press *grown = realloc(run->contact_push, (size_t)pairs * sizeof *grown);
        if (!grown) return false;
        run->contact_push = grown;
        run->contact_capacity = pairs;
    }
    int *first = malloc(((size_t)pairs + 1) * sizeof *first);
    if (!first) return false;
    for (int i = 0; i < near->bodies; i++)
        for (int64_t k = near->start[i]; k < near->start[i + 1]; k++) first[k] = i;
    const bool made = make_incidence(run->bodies, pairs, first, near->second, &run->of_contacts);
    free(first);
    return made;
}

bool rodrigues_evaluate(rodrigues *run, const rodrigues_state *state, double *energy) {
    run->evaluated = *state;
    run->evaluations++;
    if (run->has_contacts && !update_contacts(run, state)) {
        run->failure = (rodrigues_failure){.problem = RODRIGUES_NO_MEMORY};
        return false;
    }
    if (run->bonds) rodrigues_for_blocks(run, run->bonds, push_bonds);
    if (run->has_contacts) rodrigues_for_blocks(run, run->bodies, push_contacts);
    rodrigues_for_blocks(run, run->bodies, sum_bodies);
    *energy = 0;
    for (int64_t b = 0; b < run->blocks; b++) *energy += run->partials[b].potential;
    // Callbacks see all bodies at once and add to what is there.
    for (int k = 0; run->has_users && k < run->motion->potentials; k++) {
        const carom_potential *p = &run->motion->potential[k];
        if (p->type == CAROM_POTENTIAL_USER)
            p->callback.evaluate(p->callback.user, run->bodies, state->position, state->attitude, state->force, state->torque, energy);
    }
    return true;
}

bool rodrigues_energy_terms(rodrigues *run, double terms[RODRIGUES_TERMS]) {
    memset(terms, 0, RODRIGUES_TERMS * sizeof *terms);
    run->evaluated = run->now;
    if (run->has_contacts && !update_contacts(run, &run->now)) return false;
    rodrigues_push push;
    for (int64_t k = 0; k < run->bonds; k++) {
        double own[3];
        rodrigues_bond_push(&run->bond[k], &run->now, &push, own);
        for (int term = 0; term < 3; term++) terms[term] += own[term];
    }
    for (int64_t i = 0; i < run->bodies; i++) {
        body_sum fields = {0}, planes = {0};
        add_potentials(run, i, &fields);
        add_planes(run, i, &planes);
        terms[RODRIGUES_FIELD] += fields.energy;
        terms[RODRIGUES_PLANE] += planes.energy;
        for (int64_t k = run->has_contacts ? run->contacts.start[i] : 0; run->has_contacts && k < run->contacts.start[i + 1]; k++) {
            const int j = run->contacts.second[k];
            double n[3];
            press(run->Kpp, direction_between(&run->now, (int)i, j, n), run->radius[i] + run->radius[j], &terms[RODRIGUES_CONTACT]);
        }
    }
    // Callbacks are what is left of the sum.
    double known = 0;
    for (int term = 0; term < RODRIGUES_TERMS; term++) known += terms[term];
    if (run->has_users) terms[RODRIGUES_FIELD] += run->potential - known;
    return true;
}

bool rodrigues_break_bonds(rodrigues *run) {
    const int64_t before = run->broken;
    for (int64_t k = 0; k < run->bonds; k++) {
        rodrigues_bond *bond = &run->bond[k];
        const rodrigues_push *push = &run->bond_push[k];
        const bool torn = bond->law->break_force > 0 && carom_norm3(push->force) > bond->law->break_force;
        const bool strained = bond->law->break_energy > 0 && push->energy > bond->law->break_energy;
        if (bond->broken || (!torn && !strained)) continue;
        bond->broken = true;
        run->broken++;
    }
    return run->broken == before || rodrigues_evaluate(run, &run->now, &run->potential);
}

// ------------------------------------------------------------------------------------------- reasons and preparation

// Two centers at the same place, bit for bit: the direction between them has no meaning.
static bool coincide(const rodrigues_state *state, int64_t i, int64_t j) {
    return !memcmp(state->position + 3 * i, state->position + 3 * j, 3 * sizeof(double));
}

void rodrigues_explain_force(rodrigues *run, const rodrigues_state *state) {
    run->failure = (rodrigues_failure){.problem = RODRIGUES_COINCIDENT};
    for (int64_t k = 0; k < run->bonds; k++) {
        run->failure.body = run->bond[k].first;
        run->failure.other = run->bond[k].second;
        if (!run->bond[k].broken && coincide(state, run->failure.body, run->failure.other)) return;
    }
    for (int64_t i = 0; run->has_contacts && i < run->bodies; i++) {
        for (int64_t k = run->contacts.start[i]; k < run->contacts.start[i + 1]; k++) {
            run->failure.body = i;
            run->failure.other = run->contacts.second[k];
            if (coincide(state, i, run->failure.other)) return;
        }
    }
    run->failure = (rodrigues_failure){.problem = RODRIGUES_NO_FORCE, .body = -1};
    for (int64_t i = 0; i < 3 * (int64_t)run->bodies && run->failure.body < 0; i++)
        if (!isfinite(state->force[i]) || !isfinite(state->torque[i])) run->failure.body = i / 3;
}

// Checks the pairs of all bonds and takes their references from the present state.
static carom_status prepare_bonds(rodrigues *run, carom_error *error) {
    const size_t count = (size_t)run->bonds;
    int *ends = carom_arena_take(&run->memory, 2 * count, sizeof *ends);
    run->bond = carom_arena_take(&run->memory, count, sizeof *run->bond);
    run->bond_push = carom_arena_take(&run->memory, count, sizeof *run->bond_push);
    run->of_bonds.start = carom_arena_take(&run->memory, (size_t)run->bodies + 1, sizeof *run->of_bonds.start);
    if (run->memory.failed) return carom_fail_memory(error, "bonds");
    size_t filled = 0;
    for (int k = 0; k < run->motion->potentials; k++) {
        const carom_bonds *bonds = &run->motion->potential[k].bonds;
        if (run->motion->potential[k].type != CAROM_POTENTIAL_BONDS) continue;
        for (int b = 0; b < bonds->count; b++, filled++) {
            const int i = bonds->pairs[2 * b], j = bonds->pairs[2 * b + 1];
            if (i < 0 || j < 0 || i >= run->bodies || j >= run->bodies)
                return carom_fail(error, CAROM_BAD_INPUT, "potentials: a bond joins bodies %d and %d, but they are numbered from 0 to %d",
                                  i, j, run->bodies - 1);
            if (i == j) return carom_fail(error, CAROM_BAD_INPUT, "potentials: a bond joins body %d with itself", i);
            if (coincide(&run->now, i, j))
                return carom_fail(error, CAROM_BAD_INPUT,
                                  "potentials: the centers of bodies %d and %d coincide, so their bond has no direction", i, j);
            rodrigues_bond *bond = &run->bond[filled];
            *bond = (rodrigues_bond){.first = i, .second = j, .law = bonds};
            bond->length = direction_between(&run->now, i, j, bond->direction);
            ends[filled] = i;
            ends[count + filled] = j;
        }
    }
    return make_incidence(run->bodies, run->bonds, ends, ends + count, &run->of_bonds) ? CAROM_OK : carom_fail_memory(error, "bonds");
}

// Potentials of one type act together: their bonds and planes are put in one list, their stiffnesses between bodies add up.
carom_status rodrigues_prepare_forces(rodrigues *run, carom_error *error) {
    const carom_potential *potential = run->motion->potential;
    const int potentials = run->motion->potentials;
    size_t planes = 0;
    for (int k = 0; k < potentials; k++) {
        run->has_users |= potential[k].type == CAROM_POTENTIAL_USER;
        if (potential[k].type == CAROM_POTENTIAL_BONDS) run->bonds += potential[k].bonds.count;
        if (potential[k].type != CAROM_POTENTIAL_HERTZ) continue;
        run->Kpp += potential[k].hertz.Kpp;
        planes += (size_t)potential[k].hertz.planes;
    }
    // Planes of all Hertz potentials, with unit normals.
    run->plane = carom_arena_take(&run->memory, planes * RODRIGUES_PLANE_ROW, sizeof *run->plane);
    if (run->memory.failed) return carom_fail_memory(error, "planes");
    for (int k = 0; k < potentials; k++) {
        for (int w = 0; potential[k].type == CAROM_POTENTIAL_HERTZ && w < potential[k].hertz.planes; w++) {
            const double *given = potential[k].hertz.plane + 4 * w, length = carom_norm3(given);
            double *plane = run->plane + RODRIGUES_PLANE_ROW * run->planes++;
            for (int j = 0; j < 4; j++) plane[j] = given[j] / length;
            plane[4] = potential[k].hertz.Kpw;
        }
    }
    run->has_contacts = run->Kpp > 0 && run->bodies > 1;
    const carom_status status = run->bonds ? prepare_bonds(run, error) : CAROM_OK;
    if (status || !run->has_contacts) return status;
    run->of_contacts.start = carom_arena_take(&run->memory, (size_t)run->bodies + 1, sizeof *run->of_contacts.start);
    if (run->memory.failed) return carom_fail_memory(error, "contacts");
    return rodrigues_neighbours_create(run->bodies, &run->contacts, error);
}
