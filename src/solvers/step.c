// SPDX-License-Identifier: Apache-2.0
// The impact step: its LCP (Halm & Posa, eq. 31 and eq. 75), and the map from the solution back to velocities and impulses.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"
#include "carom/solvers.h"

enum { STEPPER_COOKIE = 0x57e9 };

// Violations of the friction cone and of caps beyond this share of 1 + ||w||_inf are not round-off of an LCP solution whose residual has
// the same scale; nor are energy gains beyond this share of the energy that the impulses move.
#define PHYSICAL_TOLERANCE 1e-9

struct carom_stepper {
    const carom_impact *impact;
    carom_step_kind kind;
    carom_selection selection;
    const carom_lcp_solver *solver;
    carom_lcp *lcp;
    int first, count;               // contacts that take part
    int edges, dim;                 // k; tangent_dim
    int size;                       // of the LCP
    int beta, normal, cone, gamma;  // where each block starts; beta is -1 when there are no caps
    double *directions;             // [edges x dim]
    double *W;                      // [size x size]
    double *w, *z;                  // [size]
    double *u, *u_next;             // [n] contact velocities
    double *v_next;                 // [nv]
};

const char *const carom_selection_names[] = {[CAROM_SELECT_LEMKE] = "lemke", [CAROM_SELECT_ANY] = "any", NULL};

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

static carom_status refuse_solver(const char *name, const carom_registry *registry, carom_error *error) {
    char known[512] = "";
    for (int i = 0; i < carom_registry_count(registry, CAROM_REGISTRY_SOLVERS); i++) {
        const carom_lcp_solver *solver = carom_registry_entry(registry, CAROM_REGISTRY_SOLVERS, i);
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", solver->name);
    }
    return carom_fail(error, CAROM_BAD_INPUT, "solver: '%.60s' is not one of: %s", name, known);
}

carom_status carom_step_choice_resolve(const carom_step_choice *choice, carom_step_kind kind, const carom_registry *registry,
                                       carom_stepper_options *options, carom_error *error) {
    *options = carom_stepper_defaults();
    options->kind = kind;
    options->selection = (carom_selection)choice->selection;
    options->solver = carom_registry_find(registry, CAROM_REGISTRY_SOLVERS, choice->solver);
    if (!options->solver) return refuse_solver(choice->solver, registry, error);
    if (choice->cone_edges < CAROM_MIN_CONE_EDGES || choice->cone_edges > CAROM_MAX_CONE_EDGES)
        return carom_fail(error, CAROM_BAD_INPUT, "cone_edges: %lld is not between %d and %d", (long long)choice->cone_edges,
                          CAROM_MIN_CONE_EDGES, CAROM_MAX_CONE_EDGES);
    options->cone_edges = (int)choice->cone_edges;
    return CAROM_OK;
}

// --------------------------------------------------------------------------------------------------------- assembling W

// Row of contact space where contact i of the step stands.
static int contact_row(const carom_stepper *s, int i) { return (s->first + i) * (1 + s->dim); }

// d_a . W_tt . d_b, or the mixed product with a normal row, for generalised force directions a and b: 0 is the normal, 1..k the cone edges.
static double delassus_product(const carom_stepper *s, int contact_a, int a, int contact_b, int b) {
    const size_t n = (size_t)carom_impact_contact_size(s->impact);
    const double *W = carom_impact_delassus(s->impact);
    const double unit = 1;
    const double *da = a ? s->directions + (a - 1) * s->dim : &unit, *db = b ? s->directions + (b - 1) * s->dim : &unit;
    const size_t row = (size_t)(contact_row(s, contact_a) + (a ? 1 : 0)), column = (size_t)(contact_row(s, contact_b) + (b ? 1 : 0));
    double sum = 0;
    for (int p = 0; p < (a ? s->dim : 1); p++)
        for (int q = 0; q < (b ? s->dim : 1); q++) sum += da[p] * db[q] * W[(row + (size_t)p) * n + column + (size_t)q];
    return sum;
}

// Index in z of force direction a of contact i.
static int force_index(const carom_stepper *s, int i, int a) { return a ? s->cone + i * s->edges + a - 1 : s->normal + i; }

static void fill_delassus_blocks(const carom_stepper *s) {
    for (int i = 0; i < s->count; i++)
        for (int j = 0; j < s->count; j++)
            for (int a = 0; a <= s->edges; a++)
                for (int b = 0; b <= s->edges; b++)
                    s->W[(size_t)force_index(s, i, a) * (size_t)s->size + (size_t)force_index(s, j, b)] = delassus_product(s, i, a, j, b);
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
            const size_t edge = (size_t)force_index(s, i, a);
            s->W[gamma * size + edge] = -1;
            s->W[edge * size + gamma] = 1;
        }
    }
}

// ------------------------------------------------------------------------------------------------------------- lifetime

static carom_status check_options(const carom_impact *impact, const carom_stepper_options *options, carom_error *error) {
    const int contacts = carom_impact_get_data(impact)->contacts;
    if (options->cookie != STEPPER_COOKIE)
        return carom_fail(error, CAROM_BAD_INPUT, "stepper options were not made by carom_stepper_defaults");
    if (options->kind == CAROM_STEP_ONE_CONTACT && (options->contact < 0 || options->contact >= contacts))
        return carom_fail(error, CAROM_BAD_INPUT, "contact %d: the impact has contacts 0 to %d", options->contact, contacts - 1);
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
    s->selection = options->solver->canonical ? options->selection : CAROM_SELECT_ANY;
    status = carom_impact_cone_edges(impact, options->cone_edges, &s->edges, error);
    if (!status) {
        lay_out(s, options);
        status = allocate_stepper(s, error);
    }
    if (!status) {
        carom_cone_directions(s->dim, s->edges, s->directions);
        fill_delassus_blocks(s);
        fill_constant_blocks(s);
        status = carom_lcp_create(s->solver, s->size, s->W, &s->lcp, error);
    }
    if (status)
        carom_stepper_free(s);
    else
        *stepper = s;
    return status;
}

void carom_stepper_free(carom_stepper *stepper) {
    if (!stepper) return;
    carom_lcp_free(stepper->lcp);
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

// w from the contact velocity u: rows of beta hold the caps, of gamma zero.
static void fill_vector(const carom_stepper *s, const double *u, const double *lmax, double *w) {
    for (int i = 0; i < s->count; i++) {
        const double *ui = u + contact_row(s, i);
        if (s->beta >= 0) w[s->beta + i] = lmax[i];
        w[s->normal + i] = ui[0];
        for (int a = 1; a <= s->edges; a++) w[force_index(s, i, a)] = carom_dot(s->dim, s->directions + (a - 1) * s->dim, ui + 1);
        w[s->gamma + i] = 0;
    }
}

void carom_stepper_lcp_vector(const carom_stepper *stepper, const double *v, const double *lmax, double *w) {
    carom_impact_contact_velocity(stepper->impact, v, stepper->u);
    fill_vector(stepper, stepper->u, lmax, w);
}

// Contact-major impulses: lam_n, then lam_t = D lam_D.
static void collect_impulse(const carom_stepper *s, const double *z, double *impulse) {
    memset(impulse, 0, (size_t)carom_impact_contact_size(s->impact) * sizeof *impulse);
    for (int i = 0; i < s->count; i++) {
        double *contact = impulse + contact_row(s, i);
        contact[0] = z[s->normal + i];
        for (int a = 1; a <= s->edges; a++)
            for (int p = 0; p < s->dim; p++) contact[1 + p] += s->directions[(a - 1) * s->dim + p] * z[force_index(s, i, a)];
    }
}

// The friction cone and the caps, from the impulses alone.
static bool obeys_friction_law(const carom_stepper *s, const double *lmax, const double *impulse, double tolerance) {
    const double *friction = carom_impact_get_data(s->impact)->friction;
    for (int i = 0; i < s->count; i++) {
        const double *contact = impulse + contact_row(s, i);
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

// Turns a verified z into impulses and the next velocity, and checks the physics. False leaves the outputs to the caller.
static bool accept(const carom_stepper *s, const double *v, const double *lmax, double *impulse, carom_step_info *info) {
    collect_impulse(s, s->z, impulse);
    carom_impact_apply(s->impact, v, impulse, s->v_next);
    carom_impact_contact_velocity(s->impact, s->v_next, s->u_next);
    info->energy_change = energy_change(s, impulse);
    const double tolerance = PHYSICAL_TOLERANCE * (1 + carom_max_abs((size_t)s->size, s->w));
    const double largest = carom_max_abs((size_t)carom_impact_contact_size(s->impact), impulse);
    return obeys_friction_law(s, lmax, impulse, tolerance) && info->energy_change <= tolerance * largest;
}

void carom_stepper_solve(carom_stepper *stepper, const double *v, const double *lmax, double *v_next, double *impulse,
                         carom_step_info *info) {
    carom_stepper *s = stepper;
    const size_t nv = (size_t)carom_impact_get_data(s->impact)->nv;
    carom_stepper_lcp_vector(s, v, lmax, s->w);
    carom_lcp_info lcp;
    carom_lcp_solve(s->lcp, s->w, s->z, &lcp);
    *info = (carom_step_info){lcp.verdict, lcp.residual, lcp.pivots, lcp.fallbacks, 0};
    if (info->verdict == CAROM_COMPLETE && !accept(s, v, lmax, impulse, info)) info->verdict = CAROM_UNVERIFIED;
    if (info->verdict == CAROM_COMPLETE) {
        memcpy(v_next, s->v_next, nv * sizeof *v_next);
        return;
    }
    info->energy_change = 0;
    memset(impulse, 0, (size_t)carom_impact_contact_size(s->impact) * sizeof *impulse);
    if (v_next != v) memcpy(v_next, v, nv * sizeof *v_next);
}
