// SPDX-License-Identifier: Apache-2.0
// Witnesses: the walk of a tape, and a check of its path that knows nothing of how it was made.
#include <math.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/worst.h"
#include "reach/player.h"
#include "reach/reach_internal.h"

// What the checks allow, relative to their scales: in the plane rounding, in space times the tolerance of curved pieces. Contacts whose
// slip, or whose impulse, is below this share are taken as resting, or as not pressing.
//
// Velocities have the scale of what they are computed from under the impulses so far. Impulses have that of the largest impulse so far,
// work that of the energy before the impact or of its largest term.
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

double carom_velocity_scale_of(const carom_impact *impact, const double *impulse) {
    const int n = carom_impact_contact_size(impact);
    const double *W = carom_impact_delassus(impact);
    double speed = carom_impact_velocity_scale(impact);
    for (int k = 0; k < n * n; k++) speed = fmax(speed, fabs(W[k] * impulse[k % n]));
    return speed;
}

// How far the piece between two rows breaks the conditions of the inclusion, or of an impact step.
static void check_piece(const carom_impact *impact, bool bounces, double small, const double *u, const double *impulse,
                        carom_witness *witness) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int n = witness->n, stride = 1 + data->tangent_dim;
    const double *next = u + n, *W = carom_impact_delassus(impact);
    const bool steps = witness->path == CAROM_PATH_STEPS;
    double scale = 0, work = 0, speed = carom_velocity_scale_of(impact, impulse + n), energy = carom_impact_initial_energy(impact);
    for (int c = 0; c < n; c++) scale = fmax(scale, fabs(impulse[n + c]));
    for (int r = 0; r < n; r++) {
        double change = 0;
        for (int c = 0; c < n; c++) change += W[(size_t)r * (size_t)n + (size_t)c] * (impulse[n + c] - impulse[c]);
        witness->balance = fmax(witness->balance, fabs(next[r] - u[r] - change) / speed);
        // K' - K = (u + u').dP / 2.
        const double term = (u[r] + next[r]) / 2 * (impulse[n + r] - impulse[r]);
        work += term;
        energy = fmax(energy, fabs(term));
    }
    // Of a jump the balance alone is known: laws differ in the rest.
    if (witness->path == CAROM_PATH_JUMP) return;
    if (!bounces) witness->energy = fmax(witness->energy, work / energy);
    for (int i = 0; i < data->contacts; i++) {
        const int row = stride * i;
        const double mu = data->friction[i], pressed = impulse[n + row] - impulse[row];
        double friction = 0;
        for (int k = 1; k < stride; k++) friction = hypot(friction, impulse[n + row + k] - impulse[row + k]);
        const double size = scale * fmax(1, mu);
        witness->cone = fmax(witness->cone, fmax(-pressed, friction - mu * pressed) / size);
        if (!(pressed > small * scale)) continue;
        if (!bounces) witness->opening = fmax(witness->opening, fmax(steps ? 0 : u[row], next[row]) / speed);
        // A planar contact that slides one way throughout, or at the end of a step, has the friction against it.
        const double slip = steps ? next[row + 1] : u[row + 1], last = next[row + 1];
        const bool slides = stride == 2 && slip * last > 0 && fmin(fabs(slip), fabs(last)) > small * speed;
        if (slides)
            witness->slip = fmax(witness->slip, fabs(impulse[n + row + 1] - impulse[row + 1] + copysign(mu * pressed, slip)) / size);
    }
    if (stride == 3 && !steps) check_turning_friction(impact, scale, small, u, impulse, witness);
}

// A copy in the witness; NULL where there is no memory.
static double *keep(carom_witness *witness, const double *values, size_t count) {
    double *kept = carom_arena_take(&witness->arena, count, sizeof *kept);
    if (kept) memcpy(kept, values, count * sizeof *kept);
    return kept;
}

// The contacts that acted, by a law's list of outcomes.
static void keep_word(const carom_members *members, int64_t member, carom_witness *witness) {
    int length;
    const int *word = carom_table_list(members->outcomes, CAROM_OUTCOME_WORD, member, &length);
    if (length < 0) length = 0;
    int *kept = carom_arena_take(&witness->arena, (size_t)length + 1, sizeof *kept);
    if (kept && length) memcpy(kept, word, (size_t)length * sizeof *kept);
    witness->word = kept;
    witness->word_length = length;
}

// Fills a witness from the player that has played its tape.
static carom_status examine(const carom_player *player, int64_t member, carom_witness *witness, carom_error *error) {
    const carom_impact *impact = player->impact;
    const carom_members *members = &player->members;
    const carom_rebound_options *rebound = &player->source->rebound;
    const carom_impact_data *data = carom_impact_get_data(impact);
    const size_t n = (size_t)witness->n, nv = (size_t)data->nv;
    double *v = keep(witness, members->v + (size_t)member * nv, nv), *rows = NULL;
    witness->v = v;
    for (size_t k = 0; v && k < nv; k++) v[k] += 0.0;
    witness->u_plus = keep(witness, members->u + (size_t)member * n, n);
    witness->total = keep(witness, members->impulse + (size_t)member * n, n);
    witness->path = members->path;
    witness->approximate = members->approximate;
    witness->rows = members->rows;
    if (members->rows) {
        witness->u = keep(witness, members->rows_u, (size_t)members->rows * n);
        witness->impulse = keep(witness, members->rows_impulse, (size_t)members->rows * n);
    } else {
        // From the start to the end at once.
        rows = carom_arena_take(&witness->arena, 4 * n, sizeof *rows);
        if (rows && witness->u_plus && witness->total) {
            carom_impact_contact_velocity(impact, data->velocity, rows);
            memcpy(rows + n, witness->u_plus, n * sizeof *rows);
            memcpy(rows + 3 * n, witness->total, n * sizeof *rows);
        }
        witness->rows = 2;
        witness->u = rows;
        witness->impulse = rows ? rows + 2 * n : NULL;
    }
    if (members->outcomes) keep_word(members, member, witness);
    if (player->uncertainty) witness->parameters = keep(witness, player->values, (size_t)carom_uncertainty_count(player->uncertainty));
    if (witness->arena.failed) return carom_fail_memory(error, "witness");
    const double energy = carom_impact_initial_energy(impact);
    witness->energy_ratio = energy > 0 ? carom_impact_kinetic_energy(impact, v) / energy : NAN;
    witness->terminated = members->outcomes ? carom_impact_terminated(impact, witness->u_plus) : members->verdict == CAROM_COMPLETE;
    const bool curved = data->tangent_dim == 2 && witness->path == CAROM_PATH_SOLUTION;
    const double allowed = curved ? SPATIAL_ALLOWANCES * player->source->tolerance : PLANAR_ALLOWANCE;
    const bool bounces = rebound->hypothesis != CAROM_HYPOTHESIS_NONE, reported = !isnan(witness->total[0]);
    for (int k = 0; k + 1 < witness->rows && reported; k++)
        check_piece(impact, bounces, allowed, witness->u + (size_t)k * n, witness->impulse + (size_t)k * n, witness);
    if (rebound->hypothesis == CAROM_HYPOTHESIS_STRONGE && energy > 0) witness->energy = fmax(0, witness->energy_ratio - 1);
    witness->verified = witness->terminated && witness->balance <= allowed && witness->cone <= allowed && witness->energy <= allowed &&
                        witness->opening <= allowed && witness->slip <= allowed;
    return CAROM_OK;
}

carom_status carom_witness_create(const carom_impact *impact, const carom_worst_options *options, const carom_tape *tape, int64_t member,
                                  carom_witness *witness, carom_error *error) {
    *witness = (carom_witness){.n = carom_impact_contact_size(impact)};
    carom_player player = {0};
    carom_member_source walks = {0};
    carom_status status = options->source ? CAROM_OK : carom_usual_members(&walks, error);
    if (!status)
        status = carom_player_create(impact, options->uncertainty, options->source ? options->source : &walks, true, NULL, &player, error);
    if (!status) status = carom_player_play(&player, tape, 0, 0, NULL, error);
    // A walk that has not ended is somewhere, too.
    const int64_t known = player.members.count ? player.members.count : player.members.v != NULL;
    if (!status && (member < 0 || member >= known))
        status = carom_fail(error, CAROM_BAD_INPUT, "member: %lld is not below %lld, the members of the tape", (long long)member,
                            (long long)known);
    if (!status) status = examine(&player, member, witness, error);
    carom_player_release(&player);
    carom_member_source_release(&walks);
    if (status) carom_witness_release(witness);
    return status;
}

double carom_witness_value(const carom_witness *witness, const carom_functional *functional) {
    const carom_outcome_point point = {witness->u_plus, witness->v, witness->total, witness->energy_ratio};
    return carom_functional_value(functional, &point);
}

void carom_witness_release(carom_witness *witness) { carom_arena_free(&witness->arena); }
