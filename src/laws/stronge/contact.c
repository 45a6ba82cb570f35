// SPDX-License-Identifier: Apache-2.0
// One contact with friction and restitution (Jia & Wang 2017, Algorithm 1): the problem in its own units and axes, and the course of the
// process. Curved slip is in stronge_taylor.c, phases and closed forms in stronge_phases.c, invariant directions in stronge_rays.c.
#include <math.h>
#include <string.h>

#include "laws/stronge/contact.h"

// Eigenvalues of B, and the Schur complement of w, below this share of the largest entry of W make it singular: their leading digits are
// then round-off of W, and energies of contact velocities, which need its inverse, know nothing of them.
#define SINGULAR 1e-12
// A tangential direction without motion may hold this share of coupling and slip, the round-off of Jacobians that leave it out.
#define NO_MOTION 1e-10
// How far an answer may pass the bound of the total normal impulse: round-off in badly conditioned contacts.
#define BOUND_SLACK 1e-6

#define LEAST_TOLERANCE 1e-15
#define MOST_TOLERANCE  1e-3

static const char *const status_names[] = {
    [CAROM_CONTACT_IMPACT] = "impact", [CAROM_CONTACT_NO_IMPACT] = "no-impact", [CAROM_CONTACT_TANGENTIAL] = "tangential"};

static const char *const course_names[] = {
    [CAROM_COURSE_NONE] = "none",
    [CAROM_COURSE_FRICTIONLESS] = "frictionless",
    [CAROM_COURSE_SLIP] = "slip",
    [CAROM_COURSE_SLIP_STICK] = "slip+stick",
    [CAROM_COURSE_SLIP_RESUME] = "slip+resume",
    [CAROM_COURSE_LINE] = "line",
    [CAROM_COURSE_LINE_STICK] = "line+stick",
    [CAROM_COURSE_LINE_RESUME] = "line+resume",
    [CAROM_COURSE_STICK] = "stick",
    [CAROM_COURSE_RESUME] = "resume",
};

const char *carom_contact_status_name(carom_contact_status status) { return status_names[status]; }
const char *carom_contact_course_name(carom_contact_course course) { return course_names[course]; }

carom_contact_options carom_contact_defaults(void) {
    return (carom_contact_options){.hypothesis = CAROM_RESTITUTION_STRONGE, .tolerance = 1e-12};
}

// --------------------------------------------------------------------------------------------------------------- frame

static bool is_finite_problem(const carom_contact_problem *q) {
    const double sum = q->tangential[0] + q->tangential[1] + q->tangential[2] + q->coupling[0] + q->coupling[1] + q->normal +
                       q->velocity.tangent[0] + q->velocity.tangent[1] + q->velocity.normal;
    return isfinite(sum);
}

static carom_status check_problem(const carom_contact_problem *q, carom_error *error) {
    if (!is_finite_problem(q)) return carom_fail(error, CAROM_BAD_INPUT, "single contact: W and v need finite numbers whose sum is finite");
    if (!(q->friction >= 0) || isinf(q->friction))
        return carom_fail(error, CAROM_BAD_INPUT, "single contact: friction %g is not a finite number >= 0", q->friction);
    if (!(q->restitution >= 0 && q->restitution <= 1))
        return carom_fail(error, CAROM_BAD_INPUT, "single contact: restitution %g is not between 0 and 1", q->restitution);
    if (!(q->normal > 0 && q->tangential[0] >= 0 && q->tangential[2] >= 0))
        return carom_fail(error, CAROM_BAD_INPUT,
                          "single contact: W is not positive definite: its diagonal is (%g, %g, %g) in the order tangents, "
                          "normal",
                          q->tangential[0], q->tangential[2], q->normal);
    return CAROM_OK;
}

// Eigenvalues and first eigenvector of B by one Jacobi rotation; exact where B is diagonal.
static void diagonalise(const double B[3], contact_frame *f) {
    double c = 1, s = 0, first = B[0], second = B[2];
    if (B[1] != 0) {
        const double ratio = (B[2] - B[0]) / (2 * B[1]);
        const double t = (ratio < 0 ? -1 : 1) / (fabs(ratio) + sqrt(1 + ratio * ratio));
        c = 1 / sqrt(1 + t * t);
        s = -t * c;
        first -= t * B[1];
        second += t * B[1];
    }
    const bool swaps = second > first;
    f->axis[0] = swaps ? -s : c;
    f->axis[1] = swaps ? c : s;
    f->lambda[0] = swaps ? second : first;
    f->lambda[1] = swaps ? first : second;
}

// Into own axes and units; divided, because the reciprocal of a tiny unit is infinite.
static void rotate_in(const contact_frame *f, const double v[2], double unit, double own[2]) {
    const double x = v[0] / unit, y = v[1] / unit;
    own[0] = f->axis[0] * x + f->axis[1] * y;
    own[1] = f->axis[0] * y - f->axis[1] * x;
}

static void rotate_out(const contact_frame *f, const double own[2], double scale, double v[2]) {
    v[0] = (f->axis[0] * own[0] - f->axis[1] * own[1]) * scale + 0.0;
    v[1] = (f->axis[1] * own[0] + f->axis[0] * own[1]) * scale + 0.0;
}

// A mechanism that moves in a plane, or on a line, has no motion along some tangent: there it gets the other direction's inverse mass,
// which without slip and coupling never matters.
static bool complete_directions(contact_frame *f) {
    for (int i = 0; i < 2; i++) {
        if (f->lambda[i] > SINGULAR) continue;
        if (fabs(f->d[i]) > NO_MOTION || fabs(f->slip[i]) > NO_MOTION) return false;
        f->d[i] = f->slip[i] = 0;
        f->lambda[i] = i == 1 && f->lambda[0] > SINGULAR ? f->lambda[0] : f->w;
    }
    return true;
}

carom_status contact_frame_make(const carom_contact_problem *q, contact_frame *f, carom_error *error) {
    const carom_status status = check_problem(q, error);
    if (status) return status;
    const carom_contact_vector *v = &q->velocity;
    const double fastest = fmax(fmax(fabs(v->tangent[0]), fabs(v->tangent[1])), fabs(v->normal));
    f->velocity_unit = fastest > 0 ? fastest : 1;
    f->mass_unit = (q->tangential[0] + q->tangential[2] + q->normal) / 3;
    double B[3];
    for (int i = 0; i < 3; i++) B[i] = q->tangential[i] / f->mass_unit;
    diagonalise(B, f);
    rotate_in(f, q->coupling, f->mass_unit, f->d);
    rotate_in(f, v->tangent, f->velocity_unit, f->slip);
    f->normal = v->normal / f->velocity_unit;
    f->w = q->normal / f->mass_unit;
    f->mu = q->friction;
    f->e = q->restitution;
    const bool complete = complete_directions(f);
    f->schur = f->w - f->d[0] * f->d[0] / f->lambda[0] - f->d[1] * f->d[1] / f->lambda[1];
    f->may_jam = f->w * f->w <= f->mu * f->mu * (f->d[0] * f->d[0] + f->d[1] * f->d[1]);
    if (complete && f->lambda[1] > SINGULAR && f->schur > SINGULAR * f->w) return CAROM_OK;
    return carom_fail(
        error, CAROM_BAD_INPUT,
        "single contact: W is not positive definite: its tangential block has the eigenvalues %g and %g 1/kg, and the normal direction "
        "keeps %g 1/kg when the tangents are held",
        f->lambda[0] * f->mass_unit, f->lambda[1] * f->mass_unit, f->schur * f->mass_unit);
}

// -------------------------------------------------------------------------------------------------------------- states

// v = v- + W I in the caller's units and axes.
static void write_state(const contact_frame *f, const double tangential[2], double impulse, carom_contact_vector *velocity,
                        carom_contact_vector *total) {
    const double unit = f->velocity_unit / f->mass_unit;
    double slip[2], normal = f->normal + f->w * impulse;
    for (int i = 0; i < 2; i++) {
        slip[i] = f->slip[i] + f->lambda[i] * tangential[i] + f->d[i] * impulse;
        normal += f->d[i] * tangential[i];
    }
    rotate_out(f, slip, f->velocity_unit, velocity->tangent);
    rotate_out(f, tangential, unit, total->tangent);
    velocity->normal = normal * f->velocity_unit + 0.0;
    total->normal = impulse * unit;
}

void contact_trace(const contact_process *p) {
    if (!p->options->trace) return;
    carom_contact_state state;
    write_state(p->frame, p->tangential, p->impulse, &state.velocity, &state.impulse);
    p->options->trace(p->options->user, &state);
}

// -------------------------------------------------------------------------------------------------------------- course

static double length_of(const double v[2]) { return sqrt(v[0] * v[0] + v[1] * v[1]); }

// vz' while the slip has the direction s.
static double normal_rate(const contact_frame *f, const double s[2]) { return f->w - f->mu * (f->d[0] * s[0] + f->d[1] * s[1]); }

static void run_frictionless(contact_process *p) {
    const contact_frame *f = p->frame;
    p->result->course = CAROM_COURSE_FRICTIONLESS;
    contact_run_segment(p, &(contact_segment){.slip_rate = {f->d[0], f->d[1]}, .normal_rate = f->w, .length = INFINITY});
}

// Slides along the direction s at the rate at which its speed changes.
static void run_straight(contact_process *p, const double s[2], double rate, double length) {
    const contact_frame *f = p->frame;
    contact_run_segment(p, &(contact_segment){.slip_rate = {rate * s[0], rate * s[1]},
                                              .normal_rate = normal_rate(f, s),
                                              .tangential_rate = {-f->mu * s[0], -f->mu * s[1]},
                                              .speed_rate = rate,
                                              .friction = f->mu,
                                              .length = length});
}

static void run_stick(contact_process *p) {
    const contact_frame *f = p->frame;
    p->result->sticks = true;
    contact_run_segment(p, &(contact_segment){.normal_rate = f->schur,
                                              .tangential_rate = {-f->d[0] / f->lambda[0], -f->d[1] / f->lambda[1]},
                                              .length = INFINITY});
}

// Without slip: sticks, or slides on in the one direction in which friction cannot hold it.
void contact_leave_rest(contact_process *p) {
    const contact_frame *f = p->frame;
    // gamma = gamma- + B It + Iz d holds throughout: no slip says what It is, and what drifted away is taken back.
    for (int i = 0; i < 2; i++) {
        p->slip[i] = 0;
        p->tangential[i] = -(f->slip[i] + p->impulse * f->d[i]) / f->lambda[i];
    }
    contact_note(p, 's');
    // Behind each course stand the one that goes on with stick, and the one that resumes.
    carom_contact_course *course = &p->result->course;
    *course = *course == CAROM_COURSE_NONE ? CAROM_COURSE_STICK : *course + 1;
    double s[2];
    const double rate = contact_centrifugal_ray(f, s);
    if (rate > 0) {
        ++*course;
        run_straight(p, s, rate, INFINITY);
    } else {
        run_stick(p);
    }
}

// On an invariant ray: straight to rest, or to the end.
void contact_run_line(contact_process *p, const double s[2]) {
    const double speed = length_of(p->slip);
    double a[2];
    contact_drive(p->frame, s, a);
    const double rate = s[0] * a[0] + s[1] * a[1];
    for (int i = 0; i < 2; i++) p->slip[i] = speed * s[i];
    run_straight(p, s, rate, rate < 0 ? -speed / rate : INFINITY);
    if (!p->over) contact_leave_rest(p);
}

// Is the slip on an invariant ray, up to the distance that counts as none? Then `s` is the ray's direction.
static bool find_line(const contact_process *p, double speed, double s[2]) {
    for (int i = 0; i < 2; i++) s[i] = p->slip[i] / speed;
    return contact_snap_to_ray(p->frame, p->snap / speed, s);
}

static bool run_slip(contact_process *p) {
    double s[2], speed = length_of(p->slip);
    bool line = find_line(p, speed, s);
    p->result->course = line ? CAROM_COURSE_LINE : CAROM_COURSE_SLIP;
    if (line) contact_note(p, 'l');
    while (!line && !p->over) {
        if (p->result->steps == CONTACT_MOST_STEPS) return false;
        contact_step(p);
        speed = length_of(p->slip);
        if (p->over || speed <= p->snap) break;
        line = find_line(p, speed, s);
    }
    if (p->over) return true;
    if (line)
        contact_run_line(p, s);
    else
        contact_leave_rest(p);
    return true;
}

static bool run(contact_process *p) {
    contact_trace(p);
    if (p->frame->mu == 0) {
        run_frictionless(p);
        return true;
    }
    if (length_of(p->slip) > p->snap) return run_slip(p);
    contact_leave_rest(p);
    return true;
}

// -------------------------------------------------------------------------------------------------------------- answer

// Orders that were fastest at the tolerance on random contacts (benchmarks/stronge.c).
static int choose_order(double tolerance) {
    if (tolerance >= 1e-6) return 8;
    if (tolerance >= 1e-10) return 12;
    return tolerance >= 1e-13 ? 16 : 20;
}

contact_process contact_process_start(const contact_frame *frame, const carom_contact_options *options, carom_contact_result *result) {
    return (contact_process){.frame = frame,
                             .options = options,
                             .result = result,
                             .slip = {frame->slip[0], frame->slip[1]},
                             .normal = frame->normal,
                             .snap = options->tolerance,
                             .order = choose_order(options->tolerance)};
}

// (vz - mu |gamma|)' = q'Wq >= ws with q = (-mu s, 1): the last compression ends by a/ws, a = |vz-| + mu |gamma-|, and the impact by (1 +
// e) times that, whatever the hypothesis.
static bool keeps_bound(const contact_process *p) {
    const contact_frame *f = p->frame;
    const double bound = (1 + f->e) * (fabs(f->normal) + f->mu * length_of(f->slip)) / f->schur;
    return p->impulse <= bound * (1 + BOUND_SLACK);
}

void contact_write_result(const contact_process *p) {
    const contact_frame *f = p->frame;
    carom_contact_result *result = p->result;
    carom_contact_vector velocity;
    const double unit = f->velocity_unit / f->mass_unit, energy = f->velocity_unit * unit;
    write_state(f, p->tangential, p->impulse, &result->velocity, &result->impulse);
    if (result->sticks) result->velocity.tangent[0] = result->velocity.tangent[1] = 0;
    write_state(f, p->first_compression, p->first_compression[2], &velocity, &result->compression);
    for (size_t i = 0; result->events[i]; i++) result->event_impulse[i] *= unit;
    result->compression_work = p->compression_work * energy;
    result->restitution_work = p->restitution_work * energy;
    result->friction_work = p->friction_work * energy;
}

// Does the contact collide? Fills status and flags.
static bool collides(const contact_frame *f, const carom_contact_options *options, carom_contact_result *result) {
    const double speed = length_of(f->slip);
    const double s[2] = {f->slip[0] / speed, f->slip[1] / speed};
    result->may_jam = f->may_jam;
    result->jams = speed > 0 && f->mu > 0 && normal_rate(f, s) < 0;
    if (f->normal < 0) return true;
    const bool tangential = f->normal == 0 && result->jams;
    result->status = tangential ? CAROM_CONTACT_TANGENTIAL : CAROM_CONTACT_NO_IMPACT;
    return tangential && options->tangential;
}

carom_status carom_contact_solve(const carom_contact_problem *problem, const carom_contact_options *options, carom_contact_result *result,
                                 carom_error *error) {
    *result = (carom_contact_result){.status = CAROM_CONTACT_NO_IMPACT, .velocity = problem->velocity};
    if (!(options->tolerance >= LEAST_TOLERANCE && options->tolerance <= MOST_TOLERANCE))
        return carom_fail(error, CAROM_BAD_INPUT, "tolerance: %g is not between %g and %g", options->tolerance, LEAST_TOLERANCE,
                          MOST_TOLERANCE);
    contact_frame frame;
    const carom_status status = contact_frame_make(problem, &frame, error);
    if (status || !collides(&frame, options, result)) return status;
    result->status = CAROM_CONTACT_IMPACT;
    contact_process process = contact_process_start(&frame, options, result);
    if (run(&process) && keeps_bound(&process)) {
        contact_write_result(&process);
        return CAROM_OK;
    }
    *result = (carom_contact_result){.status = CAROM_CONTACT_NO_IMPACT, .velocity = problem->velocity};
    return carom_fail(error, CAROM_INTERNAL, "single contact: the integration did not end where the theory says that it must");
}

void carom_contact_extract(const carom_impact *impact, int contact, const double *u, carom_contact_problem *problem) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const size_t n = (size_t)carom_impact_contact_size(impact), dim = (size_t)data->tangent_dim, at = (size_t)contact * (1 + dim);
    const double *W = carom_impact_delassus(impact) + at * n + at;
    *problem = (carom_contact_problem){.normal = W[0], .friction = data->friction[contact], .restitution = data->restitution[contact]};
    problem->velocity.normal = u[at];
    for (size_t i = 0; i < dim; i++) {
        problem->coupling[i] = W[1 + i];
        problem->velocity.tangent[i] = u[at + 1 + i];
        for (size_t k = 0; k <= i; k++) problem->tangential[i + k] = W[(1 + i) * n + 1 + k];
    }
}
