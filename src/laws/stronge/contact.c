// SPDX-License-Identifier: Apache-2.0
// One contact with friction and restitution (Jia & Wang 2017, Algorithm 1): the problem in its own units and axes, and the course of the
// process. Curved slip is in taylor.c, phases and closed forms in phases.c, invariant directions in rays.c.
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

static carom_status check_problem(const carom_contact_problem *problem, carom_error *error) {
    // A sum is finite only when all of its terms are.
    const double *B = problem->tangential;
    const carom_contact_vector *v = &problem->velocity;
    const double sum =
        B[0] + B[1] + B[2] + problem->coupling[0] + problem->coupling[1] + problem->normal + v->tangent[0] + v->tangent[1] + v->normal;
    if (!isfinite(sum)) return carom_fail(error, CAROM_BAD_INPUT, "single contact: W and v need finite numbers whose sum is finite");
    if (!(problem->friction >= 0) || isinf(problem->friction))
        return carom_fail(error, CAROM_BAD_INPUT, "single contact: friction %g is not a finite number >= 0", problem->friction);
    if (!(problem->restitution >= 0 && problem->restitution <= 1))
        return carom_fail(error, CAROM_BAD_INPUT, "single contact: restitution %g is not between 0 and 1", problem->restitution);
    if (!(problem->normal > 0 && B[0] >= 0 && B[2] >= 0))
        return carom_fail(error, CAROM_BAD_INPUT,
                          "single contact: W is not positive definite: its diagonal is (%g, %g, %g) in the order tangents, normal", B[0],
                          B[2], problem->normal);
    return CAROM_OK;
}

// Into own axes and units; divided, because the reciprocal of a tiny unit is infinite.
static void rotate_in(const contact_frame *frame, const double v[2], double unit, double own[2]) {
    const double x = v[0] / unit, y = v[1] / unit;
    own[0] = frame->axis[0] * x + frame->axis[1] * y;
    own[1] = frame->axis[0] * y - frame->axis[1] * x;
}

static void rotate_out(const contact_frame *frame, const double own[2], double scale, double v[2]) {
    v[0] = (frame->axis[0] * own[0] - frame->axis[1] * own[1]) * scale + 0.0;
    v[1] = (frame->axis[1] * own[0] + frame->axis[0] * own[1]) * scale + 0.0;
}

carom_status contact_frame_make(const carom_contact_problem *problem, contact_frame *frame, carom_error *error) {
    const carom_status status = check_problem(problem, error);
    if (status) return status;
    // Own units.
    const carom_contact_vector *v = &problem->velocity;
    const double fastest = fmax(fmax(fabs(v->tangent[0]), fabs(v->tangent[1])), fabs(v->normal));
    frame->velocity_unit = fastest > 0 ? fastest : 1;
    frame->mass_unit = (problem->tangential[0] + problem->tangential[2] + problem->normal) / 3;
    double B[3];
    for (int i = 0; i < 3; i++) B[i] = problem->tangential[i] / frame->mass_unit;

    // Own axes: eigenvalues and first eigenvector of B by one Jacobi rotation; exact where B is diagonal.
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
    frame->axis[0] = swaps ? -s : c;
    frame->axis[1] = swaps ? c : s;
    frame->lambda[0] = swaps ? second : first;
    frame->lambda[1] = swaps ? first : second;

    // Everything else in them.
    rotate_in(frame, problem->coupling, frame->mass_unit, frame->d);
    rotate_in(frame, v->tangent, frame->velocity_unit, frame->slip);
    frame->normal = v->normal / frame->velocity_unit;
    frame->w = problem->normal / frame->mass_unit;
    frame->mu = problem->friction;
    frame->e = problem->restitution;

    // A mechanism that moves in a plane, or on a line, has no motion along some tangent: there it gets the other direction's inverse mass,
    // which without slip and coupling never matters.
    bool complete = true;
    for (int i = 0; i < 2 && complete; i++) {
        if (frame->lambda[i] > SINGULAR) continue;
        complete = fabs(frame->d[i]) <= NO_MOTION && fabs(frame->slip[i]) <= NO_MOTION;
        if (!complete) break;
        frame->d[i] = frame->slip[i] = 0;
        frame->lambda[i] = i == 1 && frame->lambda[0] > SINGULAR ? frame->lambda[0] : frame->w;
    }
    // W is positive definite when B and the Schur complement of B in W are.
    frame->schur = frame->w - frame->d[0] * frame->d[0] / frame->lambda[0] - frame->d[1] * frame->d[1] / frame->lambda[1];
    frame->may_jam = frame->w * frame->w <= frame->mu * frame->mu * (frame->d[0] * frame->d[0] + frame->d[1] * frame->d[1]);
    if (complete && frame->lambda[1] > SINGULAR && frame->schur > SINGULAR * frame->w) return CAROM_OK;
    return carom_fail(
        error, CAROM_BAD_INPUT,
        "single contact: W is not positive definite: its tangential block has the eigenvalues %g and %g 1/kg, and the normal direction "
        "keeps %g 1/kg when the tangents are held",
        frame->lambda[0] * frame->mass_unit, frame->lambda[1] * frame->mass_unit, frame->schur * frame->mass_unit);
}

// -------------------------------------------------------------------------------------------------------------- states

// v = v- + W I in the caller's units and axes.
static void write_state(const contact_frame *frame, const double tangential[2], double impulse, carom_contact_vector *velocity,
                        carom_contact_vector *total) {
    // gamma = gamma- + B It + Iz d, vz = vz- + d.It + w Iz, with B diagonal.
    const double unit = frame->velocity_unit / frame->mass_unit;
    double slip[2], normal = frame->normal + frame->w * impulse;
    for (int i = 0; i < 2; i++) {
        slip[i] = frame->slip[i] + frame->lambda[i] * tangential[i] + frame->d[i] * impulse;
        normal += frame->d[i] * tangential[i];
    }
    rotate_out(frame, slip, frame->velocity_unit, velocity->tangent);
    rotate_out(frame, tangential, unit, total->tangent);
    velocity->normal = normal * frame->velocity_unit + 0.0;
    total->normal = impulse * unit;
}

void contact_trace(const contact_process *process) {
    if (!process->options->trace) return;
    carom_contact_state state;
    write_state(process->frame, process->tangential, process->impulse, &state.velocity, &state.impulse);
    process->options->trace(process->options->user, &state);
}

void contact_write_result(const contact_process *process) {
    const contact_frame *frame = process->frame;
    carom_contact_result *result = process->result;
    carom_contact_vector velocity;
    const double unit = frame->velocity_unit / frame->mass_unit, energy = frame->velocity_unit * unit;
    write_state(frame, process->tangential, process->impulse, &result->velocity, &result->impulse);
    // Stick is zero slip, whatever round-off says.
    if (result->sticks) result->velocity.tangent[0] = result->velocity.tangent[1] = 0;
    write_state(frame, process->first_compression, process->first_compression[2], &velocity, &result->compression);
    for (size_t i = 0; result->events[i]; i++) result->event_impulse[i] *= unit;
    result->compression_work = process->compression_work * energy;
    result->restitution_work = process->restitution_work * energy;
    result->friction_work = process->friction_work * energy;
}

// -------------------------------------------------------------------------------------------------------------- course

static double length_of(const double v[2]) { return sqrt(v[0] * v[0] + v[1] * v[1]); }

// vz' while the slip has the direction s.
static double normal_rate(const contact_frame *frame, const double s[2]) {
    return frame->w - frame->mu * (frame->d[0] * s[0] + frame->d[1] * s[1]);
}

// Slides along the direction s at the rate at which its speed changes.
static void run_straight(contact_process *process, const double s[2], double rate, double length) {
    const contact_frame *frame = process->frame;
    contact_run_segment(process, &(contact_segment){.slip_rate = {rate * s[0], rate * s[1]},
                                                    .normal_rate = normal_rate(frame, s),
                                                    .tangential_rate = {-frame->mu * s[0], -frame->mu * s[1]},
                                                    .speed_rate = rate,
                                                    .friction = frame->mu,
                                                    .length = length});
}

void contact_leave_rest(contact_process *process) {
    const contact_frame *frame = process->frame;
    // gamma = gamma- + B It + Iz d holds throughout: zero slip determines It, and what drifted away is taken back.
    for (int i = 0; i < 2; i++) {
        process->slip[i] = 0;
        process->tangential[i] = -(frame->slip[i] + process->impulse * frame->d[i]) / frame->lambda[i];
    }
    contact_note(process, 's');
    // Each course is followed in its enumeration by the one that goes on with stick, and that by the one that resumes.
    carom_contact_course *course = &process->result->course;
    *course = *course == CAROM_COURSE_NONE ? CAROM_COURSE_STICK : *course + 1;
    double s[2];
    const double rate = contact_centrifugal_ray(frame, s);
    if (rate > 0) {
        ++*course;
        run_straight(process, s, rate, INFINITY);
    } else {
        process->result->sticks = true;
        contact_run_segment(process,
                            &(contact_segment){.normal_rate = frame->schur,
                                               .tangential_rate = {-frame->d[0] / frame->lambda[0], -frame->d[1] / frame->lambda[1]},
                                               .length = INFINITY});
    }
}

void contact_run_line(contact_process *process, const double s[2]) {
    // The rate of the slip speed is s.a; a negative one brings the contact to rest after the impulse -speed/rate.
    const double speed = length_of(process->slip);
    double a[2];
    contact_drive(process->frame, s, a);
    const double rate = s[0] * a[0] + s[1] * a[1];
    for (int i = 0; i < 2; i++) process->slip[i] = speed * s[i];
    run_straight(process, s, rate, rate < 0 ? -speed / rate : INFINITY);
    if (!process->over) contact_leave_rest(process);
}

// True when the slip is on an invariant ray, up to the distance that counts as zero. Then `s` is the ray's direction.
static bool find_line(const contact_process *process, double speed, double s[2]) {
    for (int i = 0; i < 2; i++) s[i] = process->slip[i] / speed;
    return contact_snap_to_ray(process->frame, process->snap / speed, s);
}

// From curved slip to the end. False when the integration takes too many steps.
static bool run_slip(contact_process *process) {
    double s[2], speed = length_of(process->slip);
    bool line = find_line(process, speed, s);
    process->result->course = line ? CAROM_COURSE_LINE : CAROM_COURSE_SLIP;
    if (line) contact_note(process, 'l');
    // Step by step until the impact is over, slip is zero, or a ray is reached.
    while (!line && !process->over) {
        if (process->result->steps == CONTACT_MOST_STEPS) return false;
        contact_step(process);
        speed = length_of(process->slip);
        if (process->over || speed <= process->snap) break;
        line = find_line(process, speed, s);
    }
    if (process->over) return true;
    if (line)
        contact_run_line(process, s);
    else
        contact_leave_rest(process);
    return true;
}

// -------------------------------------------------------------------------------------------------------------- answer

contact_process contact_process_start(const contact_frame *frame, const carom_contact_options *options, carom_contact_result *result) {
    // Orders that were fastest at the tolerance on random contacts (benchmarks/peers/stronge.c).
    const double tolerance = options->tolerance;
    const int order = tolerance >= 1e-6 ? 8 : tolerance >= 1e-10 ? 12 : tolerance >= 1e-13 ? 16 : 20;
    return (contact_process){.frame = frame,
                             .options = options,
                             .result = result,
                             .slip = {frame->slip[0], frame->slip[1]},
                             .normal = frame->normal,
                             .snap = tolerance,
                             .order = order};
}

carom_status carom_contact_solve(const carom_contact_problem *problem, const carom_contact_options *options, carom_contact_result *result,
                                 carom_error *error) {
    *result = (carom_contact_result){.status = CAROM_CONTACT_NO_IMPACT, .velocity = problem->velocity};
    if (!(options->tolerance >= LEAST_TOLERANCE && options->tolerance <= MOST_TOLERANCE))
        return carom_fail(error, CAROM_BAD_INPUT, "tolerance: %g is not between %g and %g", options->tolerance, LEAST_TOLERANCE,
                          MOST_TOLERANCE);
    contact_frame frame;
    const carom_status status = contact_frame_make(problem, &frame, error);
    if (status) return status;

    // Does the contact collide? At an approach speed of zero it may still jam: the limit of small speeds is then an impact, if wanted.
    const double speed = length_of(frame.slip), s[2] = {frame.slip[0] / speed, frame.slip[1] / speed};
    result->may_jam = frame.may_jam;
    result->jams = speed > 0 && frame.mu > 0 && normal_rate(&frame, s) < 0;
    if (!(frame.normal < 0)) {
        const bool tangential = frame.normal == 0 && result->jams;
        result->status = tangential ? CAROM_CONTACT_TANGENTIAL : CAROM_CONTACT_NO_IMPACT;
        if (!tangential || !options->tangential) return CAROM_OK;
    }
    result->status = CAROM_CONTACT_IMPACT;

    // The course: closed forms without friction, from zero slip and on rays; otherwise integration.
    bool ends = true;
    contact_process process = contact_process_start(&frame, options, result);
    contact_trace(&process);
    if (frame.mu == 0) {
        result->course = CAROM_COURSE_FRICTIONLESS;
        contact_run_segment(&process,
                            &(contact_segment){.slip_rate = {frame.d[0], frame.d[1]}, .normal_rate = frame.w, .length = INFINITY});
    } else if (speed > process.snap) {
        ends = run_slip(&process);
    } else {
        contact_leave_rest(&process);
    }

    // (vz - mu |gamma|)' = q'Wq >= ws with q = (-mu s, 1): the last compression ends by a/ws, a = |vz-| + mu |gamma-|, and the impact by
    // (1 + e) times that, whatever the hypothesis.
    const double bound = (1 + frame.e) * (fabs(frame.normal) + frame.mu * speed) / frame.schur;
    if (ends && process.impulse <= bound * (1 + BOUND_SLACK)) {
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
    // The block of W at this contact, whose rows are the normal, then the tangents.
    *problem = (carom_contact_problem){.normal = W[0], .friction = data->friction[contact], .restitution = data->restitution[contact]};
    problem->velocity.normal = u[at];
    for (size_t i = 0; i < dim; i++) {
        problem->coupling[i] = W[1 + i];
        problem->velocity.tangent[i] = u[at + 1 + i];
        for (size_t k = 0; k <= i; k++) problem->tangential[i + k] = W[(1 + i) * n + 1 + k];
    }
}
