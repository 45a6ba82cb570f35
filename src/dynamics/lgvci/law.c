// SPDX-License-Identifier: Apache-2.0
// Impacts that a law decides: those of several points at once, and all of them where the scene names a law. The body is the impact's
// system, with the velocity of its center (inertial frame) and its angular velocity (body frame) as coordinates.
#include <string.h>

#include "carom/dense.h"
#include "dynamics/lgvci/lgvci.h"

enum { VELOCITIES = 6 };

// Speeds of contacts that differ by less than this share of the body's scale of speeds are equal: a body that lands flat has such
// round-off.
#define EQUAL_SPEEDS 1e-9

carom_status lgvci_law_create(const lgvci *run, const carom_motion_call *call, lgvci_law *law, carom_error *error) {
    const lgvci_options *options = call->options;
    const carom_law_settings *settings = call->settings;
    // The law that the options name; `auto` is the one under `impact`. Without either, Moreau's without friction.
    const char *name = strcmp(options->law, "auto") ? options->law : settings && settings->law ? settings->law : "none";
    *law = (lgvci_law){.named = strcmp(name, "none") != 0, .friction = options->friction, .seed = options->seed};
    if (!law->named) name = "moreau";
    law->law = carom_law_find(call->registry, name);
    char phrase[CAROM_SUGGESTION_SIZE];
    if (!law->law)
        return carom_fail(error, CAROM_BAD_INPUT, "law: there is no law '%.60s'%s", name,
                          carom_registry_suggest(call->registry, CAROM_REGISTRY_LAWS, name, phrase));
    law->restitution = isnan(options->restitution) && !law->named ? 1 : options->restitution;
    // Options that the law would ignore are refused.
    if (!law->named && law->friction > 0)
        return carom_fail(error, CAROM_BAD_INPUT, "friction: without a law the plane is smooth; name one, for example stronge");

    // Every point that may touch at once has its rows.
    const int features = carom_body_features(run->body);
    law->most = features < CAROM_MAX_CONTACTS ? features : CAROM_MAX_CONTACTS;
    law->options = carom_arena_take(&law->memory, 1, law->law->options_size);
    law->contacts = carom_arena_take(&law->memory, (size_t)law->most, sizeof *law->contacts);
    law->rows = carom_arena_take(&law->memory, (size_t)law->most * (3 * VELOCITIES + 2), sizeof *law->rows);
    if (law->memory.failed) return carom_fail_memory(error, "contacts");
    // The law's own defaults, then the scene's options, then the restitution that the integrator's options give.
    law->law->defaults(law->options);
    carom_status status = settings ? settings->apply(settings->user, law->law, law->options, error) : CAROM_OK;
    if (!status && law->restitution > 0 && !carom_law_bounces(law->law, law->options))
        status = carom_fail(error, CAROM_BAD_INPUT, "restitution: law %s has none, its impacts are inelastic", law->law->name);
    if (!status && !isnan(law->restitution))
        status = carom_motion_set_option(law->law, law->options, "restitution", law->restitution, error);
    return status;
}

void lgvci_law_release(lgvci_law *law) { carom_arena_free(&law->memory); }

// The row of the speed of a body point along a direction d of the inertial frame: (d, rho x R'd).
static void fill_row(const double attitude[9], const double direction[3], const double rho[3], double row[VELOCITIES]) {
    double turned[3];
    carom_multiply3_transposed(attitude, direction, turned);
    memcpy(row, direction, 3 * sizeof *row);
    carom_cross3(rho, turned, row + 3);
}

// The touching points as an impact.
static carom_status create_impact(const lgvci *run, const lgvci_law *law, const carom_body_state *state, int count, carom_impact **impact,
                                  carom_error *error) {
    double mass[VELOCITIES * VELOCITIES] = {0}, velocity[VELOCITIES], tangents[6];
    double *normal = law->rows, *tangent = normal + VELOCITIES * count, *friction = tangent + 2 * VELOCITIES * count;
    double *restitution = friction + count;
    // M = (m I, J), v = (gamma/m, J^-1 Pi).
    for (int i = 0; i < 3; i++) {
        mass[(VELOCITIES + 1) * i] = run->mass;
        memcpy(mass + VELOCITIES * (3 + i) + 3, run->inertia + 3 * i, 3 * sizeof *mass);
        velocity[i] = state->momentum[i] / run->mass;
    }
    carom_multiply3(run->inverse, state->angular_momentum, velocity + 3);
    carom_complete_frame3(run->normal, tangents);
    for (int i = 0; i < count; i++) {
        const double *rho = law->contacts[i].rho;
        fill_row(state->attitude, run->normal, rho, normal + VELOCITIES * i);
        for (int k = 0; k < 2; k++) fill_row(state->attitude, tangents + 3 * k, rho, tangent + VELOCITIES * (2 * i + k));
        friction[i] = law->friction;
        restitution[i] = isnan(law->restitution) ? 0 : law->restitution;
    }
    const carom_impact_data data = {.nv = VELOCITIES,
                                    .contacts = count,
                                    .tangent_dim = 2,
                                    .mass = mass,
                                    .normal = normal,
                                    .tangent = tangent,
                                    .friction = friction,
                                    .restitution = restitution,
                                    .velocity = velocity};
    return carom_impact_create(&data, impact, error);
}

// The energy that Newton's law without friction leaves is a condition on the impulse as a whole: lam.(u+ + e u-) = 0. A solver of LCPs
// meets it up to its tolerance, the factor s = -(1 + e) u-.lam / lam.W lam of the impulse up to rounding.
static void meet_energy(const lgvci *run, double restitution, const carom_body_state *before, carom_body_state *after) {
    double linear[3], angular[3], Omega[3], turned[3];
    for (int i = 0; i < 3; i++) {
        linear[i] = after->momentum[i] - before->momentum[i];
        angular[i] = after->angular_momentum[i] - before->angular_momentum[i];
    }
    carom_multiply3(run->inverse, before->angular_momentum, Omega);
    carom_multiply3(run->inverse, angular, turned);
    const double power = carom_dot3(before->momentum, linear) / run->mass + carom_dot3(Omega, angular);
    const double work = carom_dot3(linear, linear) / run->mass + carom_dot3(angular, turned);
    if (!(work > 0)) return;
    const double factor = -(1 + restitution) * power / work;
    for (int i = 0; i < 3; i++) {
        after->momentum[i] = before->momentum[i] + factor * linear[i];
        after->angular_momentum[i] = before->angular_momentum[i] + factor * angular[i];
    }
}

carom_status lgvci_law_apply(const lgvci *run, const carom_motion_call *call, lgvci_law *law, int64_t index, int count,
                             carom_body_state *state, bool *solved, carom_error *error) {
    *solved = false;
    carom_impact *impact = NULL;
    carom_answer answer = {0};
    // Every impact has random numbers of its own.
    carom_status status =
        law->named ? carom_motion_set_option(law->law, law->options, "seed", (double)(law->seed + index), error) : CAROM_OK;
    if (!status) status = create_impact(run, law, state, count, &impact, error);
    if (!status && count > 1 && law->law->applies && !law->law->applies(impact)) {
        // The law takes one contact: the fastest, which becomes the first. Of equally fast ones the first of the body.
        double *speeds = law->rows;
        for (int i = 0; i < count; i++) speeds[i] = law->contacts[i].speed;
        const int fastest = carom_first_least(count, speeds, EQUAL_SPEEDS * lgvci_speed_scale(run, state));
        const lgvci_contact first = law->contacts[fastest];
        law->contacts[fastest] = law->contacts[0];
        law->contacts[0] = first;
        law->singly = true;
        carom_impact_free(impact);
        impact = NULL;
        status = create_impact(run, law, state, 1, &impact, error);
    }
    const carom_law_call question = {impact, law->options, call->registry, call->control, NULL, NULL};
    if (!status) status = carom_law_resolve(law->law, &question, &answer, error);
    if (!status && carom_table_rows(answer.outcomes) > 0 && carom_answer_complete(&answer)) {
        // The momenta of its first outcome.
        const double *v = carom_table_real_column(answer.outcomes, CAROM_OUTCOME_VELOCITY);
        const carom_body_state before = *state;
        for (int i = 0; i < 3; i++) state->momentum[i] = run->mass * v[i];
        carom_multiply3(run->inertia, v + 3, state->angular_momentum);
        if (!law->named) meet_energy(run, law->restitution, &before, state);
        *solved = true;
    }
    if (!status) carom_answer_free(&answer);
    carom_impact_free(impact);
    return status;
}
