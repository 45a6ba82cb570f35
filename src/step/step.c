// SPDX-License-Identifier: Apache-2.0
// The impact step: its LCP (Halm & Posa, eq. 31 and eq. 75), and the map from the solution back to velocities and impulses.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "step/step_internal.h"

enum { STEPPER_COOKIE = 0x57e9 };

const char *const carom_selection_names[] = {
    [CAROM_SELECT_LEMKE] = "lemke", [CAROM_SELECT_ANY] = "any", [CAROM_SELECT_RANDOM] = "random", [CAROM_SELECT_ALL] = "all", NULL};
const char *const carom_selection_names_one[] = {
    [CAROM_SELECT_LEMKE] = "lemke", [CAROM_SELECT_ANY] = "any", [CAROM_SELECT_RANDOM] = "random", NULL};

const char *const carom_selection_names_solver[] = {[CAROM_SELECT_LEMKE] = "lemke", [CAROM_SELECT_ANY] = "any", NULL};

const char *carom_selection_name(carom_selection selection) { return carom_selection_names[selection]; }

carom_stepper_options carom_stepper_defaults(void) {
    return (carom_stepper_options){.kind = CAROM_STEP_SIMULTANEOUS,
                                   .cone_edges = CAROM_MIN_CONE_EDGES,
                                   .selection = CAROM_SELECT_LEMKE,
                                   .solver = &carom_lcp_lemke,
                                   .cookie = STEPPER_COOKIE};
}

carom_step_choice carom_step_choice_defaults(void) {
    return (carom_step_choice){.cone_edges = CAROM_MIN_CONE_EDGES, .selection = CAROM_SELECT_LEMKE, .solver = carom_lcp_lemke.name};
}

carom_status carom_step_choice_resolve(const carom_step_choice *choice, carom_step_kind kind, const carom_registry *registry,
                                       carom_stepper_options *options, carom_error *error) {
    *options = carom_stepper_defaults();
    options->kind = kind;
    options->selection = (carom_selection)choice->selection;
    options->solver = carom_registry_find(registry, CAROM_REGISTRY_SOLVERS, choice->solver);
    if (!options->solver) return carom_fail(error, CAROM_BAD_INPUT, "solver: there is no LCP solver '%.60s'", choice->solver);
    if (choice->cone_edges < CAROM_MIN_CONE_EDGES || choice->cone_edges > CAROM_MAX_CONE_EDGES)
        return carom_fail(error, CAROM_BAD_INPUT, "cone_edges: %lld is not between %d and %d", (long long)choice->cone_edges,
                          CAROM_MIN_CONE_EDGES, CAROM_MAX_CONE_EDGES);
    options->cone_edges = (int)choice->cone_edges;
    return CAROM_OK;
}

// --------------------------------------------------------------------------------------------------------- assembling W

// d_a . W_tt . d_b, or the mixed product with a normal row, for generalised force directions a and b: 0 is the normal, 1..k the cone edges.
static double delassus_product(const carom_stepper *s, int contact_a, int a, int contact_b, int b) {
    const size_t n = (size_t)carom_impact_contact_size(s->impact);
    const double *W = carom_impact_delassus(s->impact);
    const double unit = 1;
    const double *da = a ? s->directions + (a - 1) * s->dim : &unit, *db = b ? s->directions + (b - 1) * s->dim : &unit;
    const size_t row = (size_t)(carom_step_contact_row(s, contact_a) + (a ? 1 : 0)),
                 column = (size_t)(carom_step_contact_row(s, contact_b) + (b ? 1 : 0));
    double sum = 0;
    for (int p = 0; p < (a ? s->dim : 1); p++)
        for (int q = 0; q < (b ? s->dim : 1); q++) sum += da[p] * db[q] * W[(row + (size_t)p) * n + column + (size_t)q];
    return sum;
}

static void fill_delassus_blocks(const carom_stepper *s) {
    for (int i = 0; i < s->count; i++)
        for (int j = 0; j < s->count; j++)
            for (int a = 0; a <= s->edges; a++)
                for (int b = 0; b <= s->edges; b++)
                    s->W[(size_t)carom_step_force_index(s, i, a) * (size_t)s->size + (size_t)carom_step_force_index(s, j, b)] =
                        delassus_product(s, i, a, j, b);
}

// The blocks that are the same for every impact: caps, sliding speeds, friction bounds.
static void fill_constant_blocks(const carom_stepper *s) {
    const size_t size = (size_t)s->size;
    const double *friction = carom_impact_get_data(s->impact)->friction;
    for (int i = 0; i < s->count; i++) {
        const size_t normal = (size_t)(s->normal + i), gamma = (size_t)(s->gamma + i);
        if (s->beta >= 0) {
            s->W[(size_t)(s->beta + i) * size + normal] = -1;
            s->W[normal * size + (size_t)(s->beta + i)] = 1;
        }
        s->W[gamma * size + normal] = friction[s->first + i];
        for (int a = 1; a <= s->edges; a++) {
            const size_t edge = (size_t)carom_step_force_index(s, i, a);
            s->W[gamma * size + edge] = -1;
            s->W[edge * size + gamma] = 1;
        }
    }
}

// ------------------------------------------------------------------------------------------------------------- lifetime

static bool enumerates(carom_selection selection) { return selection == CAROM_SELECT_RANDOM || selection == CAROM_SELECT_ALL; }

static carom_status check_options(const carom_impact *impact, const carom_stepper_options *options, carom_error *error) {
    const int contacts = carom_impact_get_data(impact)->contacts;
    if (options->cookie != STEPPER_COOKIE)
        return carom_fail(error, CAROM_BAD_INPUT, "stepper options were not made by carom_stepper_defaults");
    if (options->kind == CAROM_STEP_ONE_CONTACT && (options->contact < 0 || options->contact >= contacts))
        return carom_fail(error, CAROM_BAD_INPUT, "contact %d: the impact has contacts 0 to %d", options->contact, contacts - 1);
    if (options->kind == CAROM_STEP_NEWTON && enumerates(options->selection))
        return carom_fail(error, CAROM_BAD_INPUT, "selection: steps with Newton restitution are not enumerated; use lemke or any");
    return CAROM_OK;
}

static void lay_out(carom_stepper *s, const carom_stepper_options *options) {
    const carom_impact_data *data = carom_impact_get_data(s->impact);
    const bool one = options->kind == CAROM_STEP_ONE_CONTACT, capped = options->kind == CAROM_STEP_CAPPED;
    s->first = one ? options->contact : 0;
    s->count = one ? 1 : data->contacts;
    s->dim = data->tangent_dim;
    s->beta = capped ? 0 : -1;
    s->normal = capped ? s->count : 0;
    s->cone = s->normal + s->count;
    s->gamma = s->cone + s->edges * s->count;
    s->size = s->gamma + s->count;
}

static carom_status allocate_stepper(carom_stepper *s, carom_error *error) {
    if (s->size > CAROM_MAX_LCP)
        return carom_fail(error, CAROM_BAD_INPUT, "the step's LCP has %d variables: at most %d are supported", s->size, CAROM_MAX_LCP);
    const size_t size = (size_t)s->size, n = (size_t)carom_impact_contact_size(s->impact);
    s->directions = malloc((size_t)s->edges * (size_t)s->dim * sizeof(double));
    s->W = calloc(size * size, sizeof(double));
    s->w = calloc(size, sizeof(double));
    s->z = calloc(size, sizeof(double));
    s->u = malloc(n * sizeof(double));
    s->u_next = malloc(n * sizeof(double));
    s->v_next = malloc((size_t)carom_impact_get_data(s->impact)->nv * sizeof(double));
    if (s->directions && s->W && s->w && s->z && s->u && s->u_next && s->v_next) return CAROM_OK;
    return carom_fail_memory(error, "impact step");
}

carom_status carom_stepper_create(const carom_impact *impact, const carom_stepper_options *options, carom_stepper **stepper,
                                  carom_error *error) {
    *stepper = NULL;
    carom_status status = check_options(impact, options, error);
    if (status) return status;
    carom_stepper *s = calloc(1, sizeof *s);
    if (!s) return carom_fail_memory(error, "impact step");
    s->impact = impact;
    s->kind = options->kind;
    s->solver = options->solver;
    s->selection = options->selection == CAROM_SELECT_LEMKE && !s->solver->canonical ? CAROM_SELECT_ANY : options->selection;
    s->restitution = options->restitution ? options->restitution : carom_impact_get_data(impact)->restitution;
    status = carom_impact_cone_edges(impact, options->cone_edges, &s->edges, error);
    if (!status) {
        lay_out(s, options);
        status = allocate_stepper(s, error);
    }
    if (!status) {
        const size_t n = (size_t)carom_impact_contact_size(impact);
        s->least_mass = 1 / carom_max_abs(n * n, carom_impact_delassus(impact));
        carom_cone_directions(s->dim, s->edges, s->directions);
        fill_delassus_blocks(s);
        fill_constant_blocks(s);
        status = carom_lcp_create(s->solver, s->size, s->W, &s->lcp, error);
    }
    if (!status && enumerates(s->selection)) status = carom_step_modes_create(s, &s->modes, error);
    if (status)
        carom_stepper_free(s);
    else
        *stepper = s;
    return status;
}

void carom_stepper_free(carom_stepper *stepper) {
    if (!stepper) return;
    carom_lcp_free(stepper->lcp);
    carom_step_modes_free(stepper->modes);
    free(stepper->directions);
    free(stepper->W);
    free(stepper->w);
    free(stepper->z);
    free(stepper->u);
    free(stepper->u_next);
    free(stepper->v_next);
    free(stepper);
}

carom_selection carom_stepper_selection(const carom_stepper *stepper) { return stepper->selection; }
const carom_lcp_solver *carom_stepper_solver(const carom_stepper *stepper) { return stepper->solver; }
int carom_stepper_lcp_size(const carom_stepper *stepper) { return stepper->size; }
const double *carom_stepper_lcp_matrix(const carom_stepper *stepper) { return stepper->W; }

// -------------------------------------------------------------------------------------------------------------- solving

// s->w from the contact velocity s->u: rows of beta hold the caps, of gamma zero.
static void fill_vector(carom_stepper *s, const double *lmax) {
    double *w = s->w;
    for (int i = 0; i < s->count; i++) {
        const double *ui = s->u + carom_step_contact_row(s, i);
        if (s->beta >= 0) w[s->beta + i] = lmax[i];
        // Newton's law asks for complementarity of lam_n and Jn v+ + e Jn v-.
        w[s->normal + i] = s->kind == CAROM_STEP_NEWTON ? (1 + s->restitution[s->first + i]) * ui[0] : ui[0];
        for (int a = 1; a <= s->edges; a++)
            w[carom_step_force_index(s, i, a)] = carom_dot(s->dim, s->directions + (a - 1) * s->dim, ui + 1);
        w[s->gamma + i] = 0;
    }
}

void carom_step_start(carom_stepper *s, const double *v, const double *lmax) {
    carom_impact_contact_velocity(s->impact, v, s->u);
    fill_vector(s, lmax);
}

void carom_stepper_lcp_vector(carom_stepper *stepper, const double *v, const double *lmax, double *w) {
    carom_step_start(stepper, v, lmax);
    memcpy(w, stepper->w, (size_t)stepper->size * sizeof *w);
}

void carom_step_start_contact(carom_stepper *s, const double *u, const double *lmax) {
    memcpy(s->u, u, (size_t)carom_impact_contact_size(s->impact) * sizeof *u);
    fill_vector(s, lmax);
}

void carom_step_collect_impulse(const carom_stepper *s, const double *z, double *impulse) {
    memset(impulse, 0, (size_t)carom_impact_contact_size(s->impact) * sizeof *impulse);
    for (int i = 0; i < s->count; i++) {
        double *contact = impulse + carom_step_contact_row(s, i);
        contact[0] = z[s->normal + i];
        for (int a = 1; a <= s->edges; a++)
            for (int p = 0; p < s->dim; p++) contact[1 + p] += s->directions[(a - 1) * s->dim + p] * z[carom_step_force_index(s, i, a)];
    }
}

// The friction cone and the caps, from the impulses alone.
static bool obeys_friction_law(const carom_stepper *s, const double *lmax, const double *impulse, double tolerance) {
    const double *friction = carom_impact_get_data(s->impact)->friction;
    for (int i = 0; i < s->count; i++) {
        const double *contact = impulse + carom_step_contact_row(s, i);
        const double tangential = s->dim == 1 ? fabs(contact[1]) : hypot(contact[1], contact[2]);
        if (contact[0] < 0) return false;
        if (s->beta >= 0 && contact[0] > lmax[i] + tolerance) return false;
        if (tangential > friction[s->first + i] * contact[0] + tolerance) return false;
    }
    return true;
}

// K(v_next) - K(v) = impulse'(u + u_next)/2.
static double energy_change(const carom_stepper *s, const double *impulse) {
    double change = 0;
    for (int c = 0; c < carom_impact_contact_size(s->impact); c++) change += 0.5 * impulse[c] * (s->u[c] + s->u_next[c]);
    return change;
}

// Share of the impact's contact velocity that is round-off of J v. A step from rest, as Algorithm 2's closing step of a contact that has
// stopped, sees nothing else, and what energy it seems to gain is of that size.
#define ROUND_OFF_SPEED 1e-13

// The physical checks, from s->u, s->u_next and the impulse.
static void judge(const carom_stepper *s, const double *lmax, const double *impulse, carom_step_info *info) {
    info->energy_change = energy_change(s, impulse);
    const size_t n = (size_t)carom_impact_contact_size(s->impact);
    const double speed = carom_max_abs(n, s->u);
    const double largest = carom_max_abs(n, impulse), tolerance = CAROM_PHYSICAL_TOLERANCE * fmax(largest, speed * s->least_mass);
    const double round_off = (double)n * largest * ROUND_OFF_SPEED * carom_impact_velocity_scale(s->impact);
    // Newton's law of restitution may add energy where there is friction.
    const bool gains = s->kind != CAROM_STEP_NEWTON && info->energy_change > tolerance * speed + round_off;
    if (!obeys_friction_law(s, lmax, impulse, tolerance) || gains) info->verdict = CAROM_UNVERIFIED;
}

void carom_step_accept(carom_stepper *s, const double *v, const double *lmax, double *impulse, carom_step_info *info) {
    carom_step_collect_impulse(s, s->z, impulse);
    carom_impact_apply(s->impact, v, impulse, s->v_next);
    carom_impact_contact_velocity(s->impact, s->v_next, s->u_next);
    judge(s, lmax, impulse, info);
}

void carom_stepper_solve_contact(carom_stepper *stepper, const double *u, const double *lmax, double *u_next, double *impulse,
                                 carom_step_info *info) {
    carom_stepper *s = stepper;
    const int n = carom_impact_contact_size(s->impact);
    carom_step_start_contact(s, u, lmax);
    carom_lcp_info lcp;
    carom_lcp_solve(s->lcp, s->w, s->z, &lcp);
    *info = (carom_step_info){lcp.verdict, lcp.residual, lcp.pivots, lcp.fallbacks, 0};
    carom_step_collect_impulse(s, s->z, impulse);
    const double *W = carom_impact_delassus(s->impact);
    for (int r = 0; r < n; r++) {
        s->u_next[r] = s->u[r];
        for (int c = 0; c < n; c++) s->u_next[r] += W[r * n + c] * impulse[c];
    }
    if (info->verdict == CAROM_COMPLETE) judge(s, lmax, impulse, info);
    memcpy(u_next, info->verdict == CAROM_COMPLETE ? s->u_next : s->u, (size_t)n * sizeof *u_next);
    if (info->verdict != CAROM_COMPLETE) memset(impulse, 0, (size_t)n * sizeof *impulse);
}

static void leave_unsolved(const carom_stepper *s, const double *v, double *v_next, double *impulse, carom_step_info *info) {
    info->energy_change = 0;
    memset(impulse, 0, (size_t)carom_impact_contact_size(s->impact) * sizeof *impulse);
    if (v_next != v) memcpy(v_next, v, (size_t)carom_impact_get_data(s->impact)->nv * sizeof *v_next);
}

// The solution into s->v_next and `impulse`, verified.
static void find_by_lcp(carom_stepper *s, const double *v, const double *lmax, double *impulse, carom_step_info *info) {
    carom_step_start(s, v, lmax);
    carom_lcp_info lcp;
    carom_lcp_solve(s->lcp, s->w, s->z, &lcp);
    *info = (carom_step_info){lcp.verdict, lcp.residual, lcp.pivots, lcp.fallbacks, 0};
    if (info->verdict == CAROM_COMPLETE) carom_step_accept(s, v, lmax, impulse, info);
}

static void solve_lcp(carom_stepper *s, const double *v, const double *lmax, double *v_next, double *impulse, carom_step_info *info) {
    find_by_lcp(s, v, lmax, impulse, info);
    if (info->verdict == CAROM_COMPLETE)
        memcpy(v_next, s->v_next, (size_t)carom_impact_get_data(s->impact)->nv * sizeof *v_next);
    else
        leave_unsolved(s, v, v_next, impulse, info);
}

// One of the distinct solutions, each as likely. Where none is found, the modes were singular, and the LCP solver has the say: a fallback.
static void solve_random(carom_stepper *s, const double *v, const double *lmax, double *v_next, double *impulse, carom_step_info *info) {
    const carom_status status = carom_step_modes_search(s, v, lmax, NULL, NULL);
    const int count = carom_step_modes_count(s->modes);
    if (status || carom_control_cancelled(s->control)) {
        *info = (carom_step_info){.verdict = status ? CAROM_UNVERIFIED : CAROM_INTERRUPTED};
        leave_unsolved(s, v, v_next, impulse, info);
        return;
    }
    if (!count) {
        solve_lcp(s, v, lmax, v_next, impulse, info);
        info->fallbacks++;
        return;
    }
    const double draw = s->stream && count > 1 ? carom_stream_uniform(s->stream) : 0;
    const double *chosen_v, *chosen_impulse;
    *info = *carom_step_modes_solution(s, (int)(draw * count), &chosen_v, &chosen_impulse);
    memcpy(v_next, chosen_v, (size_t)carom_impact_get_data(s->impact)->nv * sizeof *v_next);
    memcpy(impulse, chosen_impulse, (size_t)carom_impact_contact_size(s->impact) * sizeof *impulse);
}

void carom_stepper_watch(carom_stepper *stepper, const carom_control *control) { stepper->control = control; }

void carom_stepper_set_stream(carom_stepper *stepper, carom_stream *stream) { stepper->stream = stream; }

void carom_stepper_solve(carom_stepper *stepper, const double *v, const double *lmax, double *v_next, double *impulse,
                         carom_step_info *info) {
    if (stepper->selection == CAROM_SELECT_RANDOM)
        solve_random(stepper, v, lmax, v_next, impulse, info);
    else
        solve_lcp(stepper, v, lmax, v_next, impulse, info);
}

// Adds the LCP solver's solution where the modes have missed it.
static carom_status add_lcp_solution(carom_stepper *s, const double *v, const double *lmax, bool *complete, carom_error *error) {
    double *impulse = malloc((size_t)carom_impact_contact_size(s->impact) * sizeof *impulse);
    if (!impulse) return carom_fail_memory(error, "enumeration");
    carom_step_info info;
    bool added = false;
    carom_status status = CAROM_OK;
    find_by_lcp(s, v, lmax, impulse, &info);
    if (info.verdict == CAROM_COMPLETE) status = carom_step_modes_add(s, v, impulse, &info, &added, error);
    *complete = *complete && !added;
    free(impulse);
    return status;
}

carom_status carom_stepper_enumerate(carom_stepper *stepper, const double *v, const double *lmax, carom_step_visit visit, void *user,
                                     bool *complete, carom_error *error) {
    *complete = true;
    if (!stepper->modes)
        return carom_fail(error, CAROM_BAD_INPUT, "selection: a stepper enumerates when it was made with `random` or `all`");
    carom_status status = carom_step_modes_search(stepper, v, lmax, complete, error);
    if (!status && !carom_control_cancelled(stepper->control)) status = add_lcp_solution(stepper, v, lmax, complete, error);
    for (int i = 0; !status && i < carom_step_modes_count(stepper->modes); i++) {
        const double *v_next, *impulse;
        const carom_step_info *info = carom_step_modes_solution(stepper, i, &v_next, &impulse);
        status = visit(user, v_next, impulse, info, error);
    }
    return status;
}
