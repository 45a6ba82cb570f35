// SPDX-License-Identifier: Apache-2.0
// MuJoCo's own contact solver on the contacts of an impact.
//
// MuJoCo finds the bodies of a contact through its geoms. A copy of the model's struct gets a longer list of geoms' bodies, whose further
// entries stand for the places of our contacts: so contacts at sites and points need no geoms, and the model's own do not collide.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "mujoco/mujoco_internal.h"

// MuJoCo raises smaller coefficients of friction, also of frictionless contacts, to this.
#define LEAST_FRICTION mjMINMU

// Gaps below this share of the model's extent are closed: round-off of positions must not open one of two contacts that touch at once.
#define TOUCHING 1e-12

// A contact in its bodies' frames.
typedef struct soft_contact {
    double point[2][3];
    double gap;  // n.(p2 - p1) at the model's state
} soft_contact;

struct carom_model_simulator {
    carom_model *model;
    const carom_impact *impact;
    mjModel shadow;  // shares everything with the compiled model but options and the list of bodies
    mjData *data;
    int *bodies;    // [ngeom + 2 contacts]
    void *limited;  // flags [njnt + ntendon], of the type that MuJoCo's version has; NULL: all limits of the model act
    soft_contact *contacts;
    double *jacobian;    // [2 x 3 x nv]
    double *difference;  // [nv]
    double *no_damping;  // [nv] zeros
    double widening;     // of all gaps in this run [m]
    const carom_model_run *run;
    carom_model_end *end;
    const char *shortage;  // of room for contacts ("nconmax") or constraints ("njmax") in a run; NULL if there is none
};

// ------------------------------------------------------------------------------------------------------------ contacts

// The place of a contact on one of its bodies, at the present positions.
static void locate(const carom_model_simulator *s, int contact, int side, double point[3]) {
    const int body = s->model->touches[contact].body[side];
    mju_rotVecMat(point, s->contacts[contact].point[side], s->data->xmat + 9 * body);
    mju_addTo3(point, s->data->xpos + 3 * body);
}

// n.(p2 - p1), less that at the model's state.
static double measure_gap(const carom_model_simulator *s, int contact) {
    double first[3], second[3];
    locate(s, contact, 0, first);
    locate(s, contact, 1, second);
    mju_subFrom3(second, first);
    return mju_dot3(s->model->touches[contact].normal, second) - s->contacts[contact].gap;
}

// Gives MuJoCo one of our contacts at its present place.
static void add_contact(carom_model_simulator *s, int index, double gap) {
    const model_touch *touch = &s->model->touches[index];
    const carom_model_run *run = s->run;
    double first[3], second[3];
    locate(s, index, 0, first);
    locate(s, index, 1, second);
    const int geom = model_count(s->model->compiled->ngeom) + 2 * index;
    const double solimp[] = {run->solimp[0], run->solimp[1], run->solimp[2], 0.5, 2};
    mjContact contact = model_contact_of(geom, geom + 1);
    contact.dist = gap;
    contact.dim = touch->friction > 0 ? 3 : 1;
    mju_copy(contact.solref, run->solref, 2);
    mju_copy(contact.solimp, solimp, 5);
    for (int k = 0; k < 3; k++) contact.pos[k] = (first[k] + second[k]) / 2;
    for (int k = 0; k < 5; k++) contact.friction[k] = fmax(touch->friction, LEAST_FRICTION);
    mju_copy3(contact.frame, touch->normal);
    mju_copy3(contact.frame + 3, touch->tangent[0]);
    mju_cross(contact.frame + 6, touch->normal, touch->tangent[0]);
    if (mj_addContact(&s->shadow, s->data, &contact)) s->shortage = "nconmax";
}

// The velocities u = (J2 - J1) v of all contacts of the impact along their normals and tangents, and those that open joints at their stops
// and tendons at their limits, at the present positions. True when a contact still approaches.
static bool measure_velocities(carom_model_simulator *s) {
    const carom_impact_data *data = carom_impact_get_data(s->impact);
    const int nv = data->nv, stride = 1 + data->tangent_dim;
    const double *v = s->data->qvel;
    mju_zero(s->end->contact, data->contacts * stride);
    for (int i = 0; i < s->model->touch_count; i++) {
        const model_touch *touch = &s->model->touches[i];
        double relative[3], *u = s->end->contact + i * stride;
        for (int side = 0; side < 2; side++) {
            double point[3];
            locate(s, i, side, point);
            mj_jac(&s->shadow, s->data, s->jacobian + side * 3 * nv, NULL, point, touch->body[side]);
        }
        for (int k = 0; k < 3; k++) {
            mju_sub(s->difference, s->jacobian + (3 + k) * nv, s->jacobian + k * nv, nv);
            relative[k] = carom_dot(nv, s->difference, v);
        }
        u[0] = mju_dot3(touch->normal, relative);
        for (int k = 0; k < data->tangent_dim; k++) u[1 + k] = mju_dot3(touch->tangent[k], relative);
    }
    for (int i = 0; i < s->model->limit_count; i++) {
        model_fill_limit_row(&s->shadow, s->data, &s->model->limits[i], s->difference);
        s->end->contact[(s->model->touch_count + i) * stride] = carom_dot(nv, s->difference, v);
    }
    return carom_impact_min_normal(s->impact, s->end->contact) < s->run->approach_limit;
}

// ---------------------------------------------------------------------------------------------------------------- runs

// Positions of bodies from qpos, and the lengths of tendons where some are contacts.
static void update_positions(carom_model_simulator *s) {
    mj_kinematics(&s->shadow, s->data);
    mj_comPos(&s->shadow, s->data);
    if (s->model->limit_count) mj_tendon(&s->shadow, s->data);
}

// One run, where MuJoCo's errors are caught.
static void run_guarded(void *argument) {
    carom_model_simulator *s = argument;
    const carom_model_run *run = s->run;
    const mjModel *model = &s->shadow;
    const int nv = model_count(model->nv), movers = model_count(model->nmocap);
    mjData *data = s->data;

    // Start at the model's state, displaced; gaps are widened by the deepest one.
    mj_resetData(model, data);
    mju_copy(data->qpos, s->model->data->qpos, model_count(model->nq));
    mju_copy(data->qvel, s->model->data->qvel, nv);
    mju_copy(data->mocap_pos, s->model->data->mocap_pos, 3 * movers);
    mju_copy(data->mocap_quat, s->model->data->mocap_quat, 4 * movers);
    if (run->displacement) mj_integratePos(model, data->qpos, run->displacement, 1);
    if (run->kick) mju_addTo(data->qvel, run->kick, nv);
    update_positions(s);
    s->widening = 0;
    for (int i = 0; i < s->model->touch_count; i++) s->widening = fmax(s->widening, -measure_gap(s, i));

    bool approaches = measure_velocities(s);
    while (approaches && data->time < run->horizon && !s->shortage) {
        // mj_step with our contacts in place of those that collision detection finds.
        model_compute_inertia(model, data);
        mj_factorM(model, data);
        data->ncon = 0;
        for (int i = 0; i < s->model->touch_count; i++) {
            const double gap = measure_gap(s, i) + s->widening;
            if (!(gap > TOUCHING * model->stat.extent)) add_contact(s, i, gap);
        }
        mj_makeConstraint(model, data);
        mj_transmission(model, data);
        mj_projectConstraint(model, data);
        mj_fwdVelocity(model, data);
        mju_zero(data->qfrc_passive, nv);
        mj_fwdActuation(model, data);
        mj_fwdAcceleration(model, data);
        mj_fwdConstraint(model, data);
        mj_Euler(model, data);
        if (data->warning[mjWARN_CNSTRFULL].number) s->shortage = "njmax";
        update_positions(s);
        approaches = measure_velocities(s);
    }
    // The end: before the horizon when no contact approaches any more.
    mju_copy(s->end->velocity, data->qvel, nv);
    s->end->time = data->time;
    s->end->ended = !approaches;
}

carom_status carom_model_simulator_run(carom_model_simulator *simulator, const carom_model_run *run, carom_model_end *end,
                                       carom_error *error) {
    const struct {
        const char *name;
        double value, most;
    } fields[] = {{"timestep", run->timestep, 1e6}, {"solref[0]", run->solref[0], 1e6}, {"solref[1]", run->solref[1], 1e6},
                  {"solimp[0]", run->solimp[0], 1}, {"solimp[1]", run->solimp[1], 1},   {"solimp[2]", run->solimp[2], 1e6},
                  {"horizon", run->horizon, 1e6}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (!(fields[i].value > 0) || !(fields[i].value <= fields[i].most))
            return carom_fail(error, CAROM_BAD_INPUT, "%s: %g is not in (0, %g]", fields[i].name, fields[i].value, fields[i].most);
    if (!(run->approach_limit <= 0)) return carom_fail(error, CAROM_BAD_INPUT, "approach_limit: %g is above 0", run->approach_limit);

    simulator->run = run;
    simulator->end = end;
    simulator->shortage = NULL;
    simulator->shadow.opt.timestep = run->timestep;
    simulator->shadow.opt.cone = run->elliptic ? mjCONE_ELLIPTIC : mjCONE_PYRAMIDAL;
    const carom_status status = model_guard_call(run_guarded, simulator, error);
    if (status) return status;
    const char *path = simulator->model->path;
    if (simulator->shortage) {
        char room[MODEL_ROOM_SIZE];
        model_describe_room(simulator->model->compiled, simulator->shortage, room);
        return carom_fail(error, CAROM_BAD_INPUT, "%s: there are more %s than %s", path,
                          !strcmp(simulator->shortage, "njmax") ? "constraints" : "contacts", room);
    }
    if (!carom_all_finite((size_t)simulator->shadow.nv, end->velocity))
        return carom_fail(error, CAROM_BAD_INPUT, "%s: MuJoCo's simulation diverges at time step %g s", path, run->timestep);
    return CAROM_OK;
}

// ------------------------------------------------------------------------------------------------------------ creation

// A guarded call: places the model in its start.
static void prepare(void *argument) {
    carom_model_simulator *s = argument;
    s->data = mj_makeData(&s->shadow);
    if (!s->data) return;
    mj_copyData(s->data, &s->shadow, s->model->data);
    update_positions(s);
}

// Limits that the state has reached and the impact leaves out do not act.
static carom_status release_limits(carom_model_simulator *s, carom_error *error) {
    const carom_model *model = s->model;
    const size_t joints = (size_t)s->shadow.njnt, tendons = (size_t)s->shadow.ntendon;
    if (!model->drops_limits) return CAROM_OK;
    model_limit *reached = calloc(joints + tendons + 1, sizeof *reached);
    const size_t flag = sizeof *s->shadow.jnt_limited;
    s->limited = calloc(joints + tendons + 1, flag);
    if (!reached || !s->limited) {
        free(reached);
        return carom_fail_memory(error, model->path);
    }
    memcpy(s->limited, s->shadow.jnt_limited, joints * flag);
    memcpy((char *)s->limited + joints * flag, s->shadow.tendon_limited, tendons * flag);
    s->shadow.jnt_limited = s->limited;
    s->shadow.tendon_limited = s->shadow.jnt_limited + joints;
    const int count = model_find_limits(model, reached);
    for (int i = 0; i < count; i++) {
        bool kept = false;
        for (int k = 0; k < model->limit_count; k++)
            kept = kept || (model->limits[k].type == reached[i].type && model->limits[k].id == reached[i].id);
        if (!kept) (reached[i].type == mjOBJ_TENDON ? s->shadow.tendon_limited : s->shadow.jnt_limited)[reached[i].id] = 0;
    }
    free(reached);
    return CAROM_OK;
}

carom_status carom_model_simulator_create(carom_model *model, const carom_impact *impact, carom_model_simulator **simulator,
                                          carom_error *error) {
    *simulator = NULL;
    const mjModel *compiled = model->compiled;
    const carom_impact_data *data = carom_impact_get_data(impact);
    if (!model->touches || data->contacts != model->touch_count + model->limit_count || data->nv != compiled->nv)
        return carom_fail(error, CAROM_BAD_INPUT, "%s: the impact is not the one that the model gave last", model->path);
    carom_model_simulator *created = calloc(1, sizeof *created);
    if (!created) return carom_fail_memory(error, model->path);
    const size_t contacts = (size_t)model->touch_count, nv = (size_t)compiled->nv;
    created->model = model;
    created->impact = impact;
    created->shadow = *compiled;
    created->bodies = calloc((size_t)compiled->ngeom + 2 * contacts + 1, sizeof *created->bodies);
    created->contacts = calloc(contacts + 1, sizeof *created->contacts);
    created->jacobian = calloc(6 * nv, sizeof *created->jacobian);
    created->difference = calloc(nv, sizeof *created->difference);
    created->no_damping = calloc(nv, sizeof *created->no_damping);
    const bool complete = created->bodies && created->contacts && created->jacobian && created->difference && created->no_damping;
    carom_status status = complete ? CAROM_OK : carom_fail_memory(error, model->path);
    // An impact has no bounded forces, and soft contacts take so long that these would hide what the contacts do. A model that switches
    // contacts off still has those of the impact.
    if (!status) model_switch_off_forces(&created->shadow, created->no_damping);
    created->shadow.opt.disableflags &= ~(mjDSBL_CONTACT | mjDSBL_CONSTRAINT);
    if (!status) status = release_limits(created, error);
    if (!status) status = model_guard_call(prepare, created, error);
    if (!status && !created->data) status = carom_fail_memory(error, model->path);
    if (status) {
        carom_model_simulator_free(created);
        return status;
    }
    // Points of the contacts in their bodies' frames, and the bodies of the geoms that stand for them.
    for (int i = 0; i < compiled->ngeom; i++) created->bodies[i] = compiled->geom_bodyid[i];
    for (int i = 0; i < model->touch_count; i++) {
        const model_touch *touch = &model->touches[i];
        for (int side = 0; side < 2; side++) {
            const int body = touch->body[side];
            double arm[3];
            created->bodies[compiled->ngeom + 2 * i + side] = body;
            mju_sub3(arm, touch->point[side], created->data->xpos + 3 * body);
            mju_rotVecMatT(created->contacts[i].point[side], arm, created->data->xmat + 9 * body);
        }
        created->contacts[i].gap = measure_gap(created, i);
    }
    created->shadow.geom_bodyid = created->bodies;
    *simulator = created;
    return CAROM_OK;
}

void carom_model_simulator_free(carom_model_simulator *simulator) {
    if (!simulator) return;
    if (simulator->data) mj_deleteData(simulator->data);
    free(simulator->bodies);
    free(simulator->limited);
    free(simulator->contacts);
    free(simulator->jacobian);
    free(simulator->difference);
    free(simulator->no_damping);
    free(simulator);
}
