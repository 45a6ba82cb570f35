// SPDX-License-Identifier: Apache-2.0
// Witnesses: the walk of a tape, and a check of its path that knows nothing of how it was made.
#include <math.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/worst.h"
#include "reach/player.h"

// What the checks allow, relative to their scales: in the plane rounding, in space times the tolerance of curved pieces. Contacts whose
// slip, or whose impulse, is below this share are taken as resting, or as not pressing.
#define PLANAR_ALLOWANCE   1e-9
#define SPATIAL_ALLOWANCES 100

#define RIGHT_ANGLE 1.57079632679489662

// Half the angle by which the slip of a contact in space turns from `t` to `end`; a right angle, which says nothing, where it begins or
// ends at rest.
static double half_turn(const double t[2], const double end[2], double rest) {
    if (!(fmin(hypot(t[0], t[1]), hypot(end[0], end[1])) > rest)) return RIGHT_ANGLE;
    return fabs(atan2(t[0] * end[1] - t[1] * end[0], t[0] * end[0] + t[1] * end[1])) / 2;
}

// How much of its impulse on a piece a contact may have had at another time, or in another direction, than evenly: friction turns with the
// slip, at rest it is anywhere in the cone, and the weights of contacts that are held change. (They may change by more than their mean,
// which is not covered; walks do not.)
static double uneven(const double *u, const double *end, double mu, double pressed, double rest) {
    const bool held = fabs(u[0]) <= rest && fabs(end[0]) <= rest;
    return 2 * pressed * (held ? 1 + mu : mu * sin(fmin(2 * half_turn(u + 1, end + 1, rest), RIGHT_ANGLE)));
}

// How far the friction of a contact in space is from all that its slip allows, relative to its bound mu dP_n: its mean direction is within
// the piece of the unit disk between the first and the last direction against the slip and their chord. Slip is off the straight line from
// the first to the last by a quarter of what uneven impulses change at most, `bulge`, and may turn further by as much.
static double friction_off_arc(const double t[2], const double end[2], const double friction[2], double bulge, double rest) {
    const double speed = hypot(t[0], t[1]), last = hypot(end[0], end[1]), turn = half_turn(t, end, rest);
    const double half = turn + bulge / (fmin(speed, last) * cos(turn));
    if (!(half < RIGHT_ANGLE)) return 0;
    const double h[2] = {t[0] / speed + end[0] / last, t[1] / speed + end[1] / last}, size = hypot(h[0], h[1]);
    const double against = -(friction[0] * h[0] + friction[1] * h[1]) / size, across = (friction[0] * h[1] - friction[1] * h[0]) / size;
    return fmax(cos(half) - against, fabs(across) - sin(half));
}

// How far the friction of sliding contacts in space is from all that their slip allows.
static void check_turning_friction(const carom_impact *impact, double scale, double small, const double *u, const double *impulse,
                                   carom_witness *witness) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int n = witness->n;
    const double *next = u + n, *W = carom_impact_delassus(impact), rest = small * carom_impact_velocity_scale(impact);
    for (int i = 0; i < 3 * data->contacts; i += 3) {
        const double limit = data->friction[i / 3] * (impulse[n + i] - impulse[i]), size = scale * fmax(1, data->friction[i / 3]);
        if (!(limit > small * size)) continue;
        double bulge = 0;
        for (int j = 0; j < 3 * data->contacts; j += 3) {
            double block = 0;
            for (int k = 0; k < 6; k++) block = hypot(block, W[(size_t)(i + 1 + k / 3) * (size_t)n + (size_t)(j + k % 3)]);
            bulge += block * uneven(u + j, next + j, data->friction[j / 3], fmax(impulse[n + j] - impulse[j], 0), rest) / 4;
        }
        const double friction[2] = {(impulse[n + i + 1] - impulse[i + 1]) / limit, (impulse[n + i + 2] - impulse[i + 2]) / limit};
        witness->slip = fmax(witness->slip, friction_off_arc(u + i + 1, next + i + 1, friction, bulge, rest) * limit / size);
    }
}

// How far the piece between two rows breaks the conditions of the inclusion.
static void check_piece(const carom_impact *impact, bool bounces, double small, const double *u, const double *impulse,
                        carom_witness *witness) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int n = witness->n, stride = 1 + data->tangent_dim;
    const double *next = u + n, *W = carom_impact_delassus(impact), speed = carom_impact_velocity_scale(impact);
    double scale = 0, work = 0;
    for (int c = 0; c < n; c++) scale = fmax(scale, fabs(impulse[n + c]));
    for (int r = 0; r < n; r++) {
        double change = 0;
        for (int c = 0; c < n; c++) change += W[(size_t)r * (size_t)n + (size_t)c] * (impulse[n + c] - impulse[c]);
        witness->balance = fmax(witness->balance, fabs(next[r] - u[r] - change) / speed);
        // K' - K = (u + u').dP / 2.
        work += (u[r] + next[r]) / 2 * (impulse[n + r] - impulse[r]);
    }
    if (!bounces) witness->energy = fmax(witness->energy, work / carom_impact_initial_energy(impact));
    for (int i = 0; i < data->contacts; i++) {
        const int row = stride * i;
        const double mu = data->friction[i], pressed = impulse[n + row] - impulse[row];
        double friction = 0;
        for (int k = 1; k < stride; k++) friction = hypot(friction, impulse[n + row + k] - impulse[row + k]);
        const double size = scale * fmax(1, mu);
        witness->cone = fmax(witness->cone, fmax(-pressed, friction - mu * pressed) / size);
        if (!(pressed > small * scale)) continue;
        if (!bounces) witness->opening = fmax(witness->opening, fmax(u[row], next[row]) / speed);
        // A planar contact that slides one way throughout has the friction against it.
        const double slip = u[row + 1], last = next[row + 1];
        const bool slides = stride == 2 && slip * last > 0 && fmin(fabs(slip), fabs(last)) > small * speed;
        if (slides)
            witness->slip = fmax(witness->slip, fabs(impulse[n + row + 1] - impulse[row + 1] + copysign(mu * pressed, slip)) / size);
    }
    if (stride == 3) check_turning_friction(impact, scale, small, u, impulse, witness);
}

// A copy in the witness; NULL where there is no memory.
static double *keep(carom_witness *witness, const double *values, size_t count) {
    double *kept = carom_arena_take(&witness->arena, count, sizeof *kept);
    if (kept) memcpy(kept, values, count * sizeof *kept);
    return kept;
}

// Fills a witness from the player that has played its tape.
static carom_status examine(const carom_player *player, carom_witness *witness, carom_error *error) {
    const carom_impact *impact = player->impact;
    const carom_walker_options *options = player->options;
    const carom_impact_data *data = carom_impact_get_data(impact);
    const size_t n = (size_t)witness->n;
    const double *u = carom_walker_trace(player->walker, &witness->rows), *impulse = carom_walker_impulses(player->walker, &witness->rows);
    for (int k = 0; k < data->nv; k++) player->v[k] += 0.0;
    witness->u = keep(witness, u, (size_t)witness->rows * n);
    witness->impulse = keep(witness, impulse, (size_t)witness->rows * n);
    witness->v = keep(witness, player->v, (size_t)data->nv);
    witness->u_plus = keep(witness, player->u, n);
    witness->total = keep(witness, player->impulse, n);
    if (player->uncertainty) witness->parameters = keep(witness, player->values, (size_t)carom_uncertainty_count(player->uncertainty));
    if (witness->arena.failed) return carom_fail_memory(error, "witness");
    const double energy = carom_impact_initial_energy(impact);
    witness->energy_ratio = energy > 0 ? carom_impact_kinetic_energy(impact, player->v) / energy : NAN;
    const double tolerance = options->tolerance != 0 ? options->tolerance : CAROM_WALK_TOLERANCE;
    const double allowed = data->tangent_dim == 1 ? PLANAR_ALLOWANCE : SPATIAL_ALLOWANCES * tolerance;
    const bool bounces = options->rebound.hypothesis != CAROM_HYPOTHESIS_NONE;
    for (int k = 0; k + 1 < witness->rows; k++)
        check_piece(impact, bounces, allowed, witness->u + (size_t)k * n, witness->impulse + (size_t)k * n, witness);
    if (options->rebound.hypothesis == CAROM_HYPOTHESIS_STRONGE && energy > 0) witness->energy = fmax(0, witness->energy_ratio - 1);
    witness->verified = witness->terminated && witness->balance <= allowed && witness->cone <= allowed && witness->energy <= allowed &&
                        witness->opening <= allowed && witness->slip <= allowed;
    return CAROM_OK;
}

carom_status carom_witness_create(const carom_impact *impact, const carom_worst_options *options, const carom_tape *tape,
                                  carom_witness *witness, carom_error *error) {
    *witness = (carom_witness){.n = carom_impact_contact_size(impact)};
    carom_player player;
    carom_verdict verdict = CAROM_INCOMPLETE;
    carom_status status = carom_player_create(impact, options->uncertainty, &options->walker, NULL, &player, error);
    player.records = true;
    if (!status) status = carom_player_play(&player, tape, 0, 0, NULL, &verdict, error);
    witness->terminated = verdict == CAROM_COMPLETE;
    if (!status) status = examine(&player, witness, error);
    carom_player_release(&player);
    if (status) carom_witness_release(witness);
    return status;
}

double carom_witness_value(const carom_witness *witness, const carom_functional *functional) {
    const carom_outcome_point point = {witness->u_plus, witness->v, witness->total, witness->energy_ratio};
    return carom_functional_value(functional, &point);
}

void carom_witness_release(carom_witness *witness) { carom_arena_free(&witness->arena); }
