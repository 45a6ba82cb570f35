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
