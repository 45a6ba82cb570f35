// SPDX-License-Identifier: Apache-2.0
// Versions of MuJoCo: what compatible.h promises, for 2.2.2 to 4.0.
#define _GNU_SOURCE  // dladdr
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mujoco/mujoco_internal.h"

// ------------------------------------------------------------------------------------------------------------- version

const char *carom_model_mujoco_version(void) { return mj_versionString(); }

carom_status model_check_version(carom_error *error) {
    if (mj_version() == mjVERSION_HEADER) return CAROM_OK;
    // Before 3.5.0 one digit stood for each part of a version, since then three do.
    const int number = mjVERSION_HEADER, base = number < 1000 ? 10 : 1000;
    return carom_fail(error, CAROM_UNSUPPORTED,
                      "carom was built with the headers of MuJoCo %d.%d.%d, but runs with the library of MuJoCo %s, whose structs may "
                      "differ: build it again, and see that no LD_LIBRARY_PATH leads to another library",
                      number / base / base, number / base % base, number % base, mj_versionString());
}

void model_advise_on_message(const char *message, char advice[MODEL_ADVICE_SIZE]) {
    // How MuJoCo speaks of elements, attributes and values that it does not know, and, before 3.0, of a range without `limited`.
    static const char *const unknown[] = {"Schema violation", "unrecognized", "invalid keyword", "autolimits"};
    advice[0] = '\0';
    if (strstr(message, "free joint can only be used on top level"))
        snprintf(
            advice, MODEL_ADVICE_SIZE,
            "; only what stands directly in <worldbody> can be free: move this <body> there, out of the other bodies and frames, or give "
            "it three slides and a ball joint in place of its free joint");
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        if (!strstr(message, unknown[i])) continue;
        snprintf(advice, MODEL_ADVICE_SIZE,
                 "; this carom is linked with MuJoCo %s: where the model needs a newer one, build carom with it, by 'make MUJOCO=pip' (the "
                 "Python wheel 'mujoco') or 'make MUJOCO=DIR' (an unpacked release)",
                 mj_versionString());
        return;
    }
}

// ------------------------------------------------------------------------------------------------------------- plugins

// Plugins came with 2.3. A wheel of MuJoCo has its own beside its library, a release in `bin/mujoco_plugin`.
#if mjVERSION_HEADER >= 231
static void load_all_plugins(void) {
    static const char *const places[] = {"plugin", "mujoco_plugin", "../bin/mujoco_plugin"};
    Dl_info library;
    if (!dladdr((void *)(uintptr_t)mj_loadXML, &library) || !library.dli_fname) return;
    const char *slash = strrchr(library.dli_fname, '/');
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char folder[4096];
        const int size = snprintf(folder, sizeof folder, "%.*s/%s", slash ? (int)(slash - library.dli_fname) : 1,
                                  slash ? library.dli_fname : ".", places[i]);
        if (size < (int)sizeof folder && access(folder, F_OK) == 0) mj_loadAllPluginLibraries(folder, NULL);
    }
}
#endif

void model_load_plugins(void) {
#if mjVERSION_HEADER >= 231
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_all_plugins);
#endif
}

// ------------------------------------------------------------------------------------------------------------ messages

// Since 2.3.3 these take a format.
void model_repeat_error(const char *message) {
#if mjVERSION_HEADER >= 233
    mju_error("%s", message);
#else
    mju_error(message);
#endif
}

void model_repeat_warning(const char *message) {
#if mjVERSION_HEADER >= 233
    mju_warning("%s", message);
#else
    mju_warning(message);
#endif
}

// Since 3.0 contacts and constraints share a memory, whose size replaces those that the model gives for each.
void model_describe_room(const mjModel *compiled, const char *size, char text[MODEL_ROOM_SIZE]) {
#if mjVERSION_HEADER >= 300
    (void)size;
    snprintf(text, MODEL_ROOM_SIZE, "the model's memory of %.0f bytes holds; add <size memory=\"...\"/> to it", (double)compiled->narena);
#else
    snprintf(text, MODEL_ROOM_SIZE, "%s = %d, the room that the model gives; add <size %s=\"...\"/> to it", size,
             !strcmp(size, "njmax") ? compiled->njmax : compiled->nconmax, size);
#endif
}

// --------------------------------------------------------------------------------------------------------------- files

bool model_add_file(mjVFS *files, const char *path, const char *bytes, size_t size) {
#if mjVERSION_HEADER >= 320
    return !mj_addBufferVFS(files, path, bytes, (int)size);
#else
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (strlen(name) >= mjMAXVFSNAME || mj_makeEmptyFileVFS(files, name, (int)size)) return false;
    memcpy(files->filedata[mj_findFileVFS(files, name)], bytes, size);
    return true;
#endif
}

// ------------------------------------------------------------------------------------------------------------- physics

// Room for as many contacts as one impact may have, before merging.
void model_make_room(mjModel *compiled) {
#if mjVERSION_HEADER < 300
    enum { CONTACTS = 2048 };
    if (compiled->nconmax < CONTACTS) compiled->nconmax = CONTACTS;
#else
    (void)compiled;
#endif
}

// Since 3.4 a model may let bodies sleep, whose positions are then not computed.
void model_keep_awake(mjModel *compiled) {
#if mjVERSION_HEADER >= 340
    compiled->opt.enableflags &= ~mjENBL_SLEEP;
#else
    (void)compiled;
#endif
}

// Deformable bodies came with 3.0, the armature of tendons with 3.3.1, and the function that adds it to M with 3.3.3.
void model_compute_inertia(const mjModel *compiled, mjData *data) {
#if mjVERSION_HEADER >= 300
    mj_flex(compiled, data);
#endif
    mj_tendon(compiled, data);
#if mjVERSION_HEADER >= 333
    mj_makeM(compiled, data);
#else
    mj_crb(compiled, data);
#endif
}

void model_fill_mass(const mjModel *compiled, const mjData *data, double *mass) {
#if mjVERSION_HEADER >= 3010000
    mj_fullM(compiled, data, mass);
#else
    mj_fullM(compiled, mass, data->qM);
#endif
}

// Since 3.6 these rows are always sparse, and the model knows their pattern.
void model_fill_tendon_row(const mjModel *compiled, const mjData *data, int tendon, double *row) {
    const int nv = model_count(compiled->nv);
#if mjVERSION_HEADER >= 3006000
    model_copy_row(nv, data->ten_J, tendon, compiled->ten_J_rownnz, compiled->ten_J_rowadr, compiled->ten_J_colind, row);
#else
    const int *columns = mj_isSparse(compiled) ? data->ten_J_colind : NULL;
    model_copy_row(nv, data->ten_J, tendon, data->ten_J_rownnz, data->ten_J_rowadr, columns, row);
#endif
}

// Before 3.3.6 springs and dampers had one flag.
bool model_has_springs(const mjModel *compiled) {
#if mjVERSION_HEADER >= 336
    return !(compiled->opt.disableflags & mjDSBL_SPRING);
#else
    return !(compiled->opt.disableflags & mjDSBL_PASSIVE);
#endif
}

bool model_has_dampers(const mjModel *compiled) {
#if mjVERSION_HEADER >= 336
    return !(compiled->opt.disableflags & mjDSBL_DAMPER);
#else
    return !(compiled->opt.disableflags & mjDSBL_PASSIVE);
#endif
}

// Since 2.3.1 a tendon may be slack between two lengths.
bool model_is_tendon_stretched(const mjModel *compiled, const mjData *data, int tendon) {
#if mjVERSION_HEADER >= 231
    const double *rest = compiled->tendon_lengthspring + 2 * tendon;
    return data->ten_length[tendon] < rest[0] || data->ten_length[tendon] > rest[1] || rest[0] == rest[1];
#else
    (void)compiled;
    (void)data;
    (void)tendon;
    return true;
#endif
}

// Since 3.11 an actuator may have several controls and forces.
int model_count_actuators(const mjModel *compiled) {
#if mjVERSION_HEADER >= 3011000
    return model_count(compiled->nactuator);
#else
    return model_count(compiled->nu);
#endif
}

int model_find_control(const mjModel *compiled, int actuator) {
#if mjVERSION_HEADER >= 3011000
    return compiled->actuator_ctrlnum[actuator] == 1 ? compiled->actuator_ctrladr[actuator] : -1;
#else
    (void)compiled;
    return actuator;
#endif
}

// Moments are sparse since 3.2.5.
bool model_get_actuator(const mjModel *compiled, const mjData *data, int actuator, double *force, double *gradient) {
    const int nv = model_count(compiled->nv);
#if mjVERSION_HEADER >= 3011000
    const int output = compiled->actuator_outadr[actuator];
    if (compiled->actuator_outnum[actuator] != 1) return false;
#else
    const int output = actuator;
#endif
#if mjVERSION_HEADER >= 325
    model_copy_row(nv, data->actuator_moment, output, data->moment_rownnz, data->moment_rowadr, data->moment_colind, gradient);
#else
    model_copy_row(nv, data->actuator_moment, output, NULL, NULL, NULL, gradient);
#endif
    *force = data->actuator_force[output];
    return true;
}

// Delays came with 3.5.
bool model_has_delays(const mjModel *compiled) {
    (void)compiled;
#if mjVERSION_HEADER >= 3005000
    for (int i = 0; i < model_count_actuators(compiled); i++)
        if (compiled->actuator_historyadr[i] >= 0) return true;
#endif
    return false;
}

bool model_holds_activation(const mjModel *compiled, int actuator) {
    const int type = compiled->actuator_dyntype[actuator];
    bool known = type == mjDYN_NONE || type == mjDYN_INTEGRATOR || type == mjDYN_FILTER || type == mjDYN_MUSCLE;
#if mjVERSION_HEADER >= 300
    known = known || type == mjDYN_FILTEREXACT;
#endif
    return !known;
}

// Until 2.3.0 the last actuators have the activations, one each.
int model_find_activation(const mjModel *compiled, int actuator) {
#if mjVERSION_HEADER >= 300
    return compiled->actuator_actadr[actuator] < 0 ? -1 : compiled->actuator_actadr[actuator] + compiled->actuator_actnum[actuator] - 1;
#else
    const int place = actuator - (compiled->nu - compiled->na);
    return place < 0 ? -1 : place;
#endif
}

void model_advance_activations(const mjModel *compiled, mjData *data, double duration) {
    for (int i = 0; i < model_count_actuators(compiled); i++) {
        const int last = model_find_activation(compiled, i);
#if mjVERSION_HEADER >= 300
        const int count = compiled->actuator_actnum[i];
        const bool exact = compiled->actuator_dyntype[i] == mjDYN_FILTEREXACT;
#else
        const int count = 1;
        const bool exact = false;
#endif
        if (last < 0 || model_holds_activation(compiled, i)) continue;
        for (int k = last - count + 1; k <= last; k++) {
            const double tau = fmax(mjMINVAL, compiled->actuator_dynprm[i * mjNDYN]);
            data->act[k] += data->act_dot[k] * (exact ? tau * (1 - exp(-duration / tau)) : duration);
            const double *range = compiled->actuator_actrange + 2 * i;
            if (compiled->actuator_actlimited[i]) data->act[k] = fmin(fmax(data->act[k], range[0]), range[1]);
        }
    }
}

// Such geoms came with 3.11.
bool model_has_adhesion(const mjModel *compiled) {
    bool has = false;
#if mjVERSION_HEADER >= 3011000
    for (int i = 0; i < compiled->ngeom; i++) has = has || compiled->geom_adhesion[i] != 0;
    for (int i = 0; i < compiled->npair; i++) has = has || compiled->pair_adhesion[i] != 0;
#endif
    (void)compiled;
    return has;
}

// Plugins came with 2.3, deformable bodies with 3.0.
bool model_has_foreign_parts(const mjModel *compiled) {
    bool has = false;
#if mjVERSION_HEADER >= 300
    has = compiled->nflex > 0;
#endif
#if mjVERSION_HEADER >= 231
    for (int i = 0; i < compiled->nbody; i++) has = has || compiled->body_plugin[i] >= 0;
    for (int i = 0; i < model_count_actuators(compiled); i++) has = has || compiled->actuator_plugin[i] >= 0;
#endif
    (void)compiled;
    return has;
}

// Damping that is not linear came with 4.0, and the flag with 2.3.1.
void model_switch_off_damping(mjModel *shadow, double *zeros) {
    shadow->dof_damping = zeros;
#if mjVERSION_HEADER >= 231
    shadow->opt.disableflags |= mjDSBL_EULERDAMP;
#endif
}

// Since 3.0 the bits of bodies choose the pairs, too.
void model_gather_bits(mjModel *compiled) {
    (void)compiled;
#if mjVERSION_HEADER >= 300
    for (int i = 0; i < compiled->nbody; i++) compiled->body_contype[i] = compiled->body_conaffinity[i] = 0;
    for (int i = 0; i < compiled->ngeom; i++) {
        compiled->body_contype[compiled->geom_bodyid[i]] |= compiled->geom_contype[i];
        compiled->body_conaffinity[compiled->geom_bodyid[i]] |= compiled->geom_conaffinity[i];
    }
#endif
}

// A pair of geoms has the larger of their margins, since 3.5 their sum. Since 3.0 bodies have margins, too, which choose the pairs.
void model_set_margins(mjModel *compiled, double margin) {
#if mjVERSION_HEADER >= 3005000
    const double share = margin / 2;
#else
    const double share = margin;
#endif
    for (int i = 0; i < compiled->ngeom; i++) compiled->geom_margin[i] = share;
    for (int i = 0; i < compiled->npair; i++) compiled->pair_margin[i] = margin;
#if mjVERSION_HEADER >= 300
    for (int i = 0; i < compiled->nbody; i++) compiled->body_margin[i] = share;
#endif
    mju_zero(compiled->geom_gap, model_count(compiled->ngeom));
    mju_zero(compiled->pair_gap, model_count(compiled->npair));
}

// Points of two boxes closer than this share of the second box's radius along one of its axes count as equal there.
#define ORDER_TOLERANCE 1e-9

// Of two contacts of the same boxes, does the first come after the second? The axis of the second box along which they touch does not
// count. Along the first of its other axes contacts come upwards, and along the last one downwards: the order of 2.2.2 for most states.
static bool comes_after(const mjModel *compiled, const mjData *data, const mjContact *first, const mjContact *second) {
    const int box = first->geom2;
    double difference[3], apart[3], normal[3];
    mju_sub3(difference, first->pos, second->pos);
    mju_rotVecMatT(apart, difference, data->geom_xmat + 9 * box);
    mju_rotVecMatT(normal, first->frame, data->geom_xmat + 9 * box);
    int across = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(normal[k]) > fabs(normal[across])) across = k;
    const int up = across == 0 ? 1 : 0, down = across == 2 ? 1 : 2;
    if (fabs(apart[up]) > ORDER_TOLERANCE * compiled->geom_rbound[box]) return apart[up] > 0;
    return apart[down] < -ORDER_TOLERANCE * compiled->geom_rbound[box];
}

// Sine of the angle of edges that count as parallel.
#define PARALLEL_EDGES 1e-9

// How far two boxes are apart along a unit vector from the first to the second, below zero where they overlap: no two of their points are
// nearer along it.
static double measure_separation(const mjModel *compiled, const mjData *data, int first_box, int second_box, const double along[3]) {
    const int boxes[2] = {first_box, second_box};
    double between[3];
    mju_sub3(between, data->geom_xpos + 3 * second_box, data->geom_xpos + 3 * first_box);
    double separation = mju_dot3(along, between);
    for (int side = 0; side < 2; side++) {
        double direction[3];
        mju_rotVecMatT(direction, along, data->geom_xmat + 9 * boxes[side]);
        for (int k = 0; k < 3; k++) separation -= compiled->geom_size[3 * boxes[side] + k] * fabs(direction[k]);
    }
    return separation;
}

// Share of a box's radius by which round-off may move a contact out of it.
#define OUTSIDE_TOLERANCE 1e-6

// A contact lies halfway between two surfaces, so no farther outside either box than these are apart.
static bool lies_at_box(const mjModel *compiled, const mjData *data, const mjContact *contact, int box) {
    double from[3], place[3];
    mju_sub3(from, contact->pos, data->geom_xpos + 3 * box);
    mju_rotVecMatT(place, from, data->geom_xmat + 9 * box);
    const double most = fabs(contact->dist) + OUTSIDE_TOLERANCE * compiled->geom_rbound[box];
    for (int k = 0; k < 3; k++)
        if (fabs(place[k]) > compiled->geom_size[3 * box + k] + most) return false;
    return true;
}

// 2.2.2 finds contacts of two boxes where there are none: where edges of boxes that are apart pass each other, points on other edges, as
// deep as the boxes are wide; and where faces touch, sometimes a corner of one box that lies beside the other.
static bool is_false_contact(const mjModel *compiled, const mjData *data, const mjContact *contact) {
    if (model_touches_flex(contact) || compiled->geom_type[contact->geom1] != mjGEOM_BOX ||
        compiled->geom_type[contact->geom2] != mjGEOM_BOX)
        return false;
    if (contact->dist < 0 && measure_separation(compiled, data, contact->geom1, contact->geom2, contact->frame) > 0) return true;
    return !lies_at_box(compiled, data, contact, contact->geom1) || !lies_at_box(compiled, data, contact, contact->geom2);
}

static void drop_false_contacts(const mjModel *compiled, mjData *data) {
    int kept = 0;
    for (int i = 0; i < data->ncon; i++) {
        if (is_false_contact(compiled, data, &data->contact[i])) continue;
        if (kept < i) data->contact[kept] = data->contact[i];
        kept++;
    }
    data->ncon = kept;
}

// Since 3.12 the points of two boxes come in the order in which they lie around their polygon. Before, corners came along the axes of
// their box, from one that round-off chose. Here they have one order.
void model_tidy_contacts(const mjModel *compiled, mjData *data) {
    drop_false_contacts(compiled, data);
    // Insertion, which keeps the order of contacts that are not of the same two boxes.
    for (int i = 1; i < data->ncon; i++) {
        const mjContact moved = data->contact[i];
        if (model_touches_flex(&moved) || compiled->geom_type[moved.geom1] != mjGEOM_BOX || compiled->geom_type[moved.geom2] != mjGEOM_BOX)
            continue;
        int place = i;
        for (; place > 0; place--) {
            const mjContact *before = &data->contact[place - 1];
            if (before->geom1 != moved.geom1 || before->geom2 != moved.geom2 || !comes_after(compiled, data, before, &moved)) break;
            data->contact[place] = *before;
        }
        data->contact[place] = moved;
    }
}

// The largest separation along the normals of faces and of pairs of edges: exact where two boxes touch, a lower bound where they are apart.
static double measure_boxes(const mjModel *compiled, const mjData *data, int first_box, int second_box) {
    double axes[2][9], largest = -HUGE_VAL;
    mju_transpose(axes[0], data->geom_xmat + 9 * first_box, 3, 3);
    mju_transpose(axes[1], data->geom_xmat + 9 * second_box, 3, 3);
    for (int i = 0; i < 15; i++) {
        double along[3];
        if (i < 6)
            mju_copy3(along, axes[i / 3] + 3 * (i % 3));
        else
            mju_cross(along, axes[0] + 3 * ((i - 6) / 3), axes[1] + 3 * (i % 3));
        // Parallel edges have no common normal; normals of faces stand for it.
        if (mju_norm3(along) < PARALLEL_EDGES) continue;
        mju_normalize3(along);
        for (int side = 0; side < 2; side++) {
            largest = fmax(largest, measure_separation(compiled, data, first_box, second_box, along));
            mju_scl3(along, along, -1);
        }
    }
    return largest;
}

// MuJoCo takes two geoms in the order of their types. Two boxes are measured here: 2.2.2 misses some, and is wrong by half for others.
// Since 3.5 its functions write less than a whole contact.
double model_measure_distance(const mjModel *compiled, mjData *data, int first_geom, int second_geom, double margin) {
#if mjVERSION_HEADER >= 3005000
    mjPreContact contacts[mjMAXCONPAIR];
#else
    mjContact contacts[mjMAXCONPAIR];
#endif
    if (compiled->geom_type[first_geom] == mjGEOM_BOX && compiled->geom_type[second_geom] == mjGEOM_BOX) {
        const double distance = measure_boxes(compiled, data, first_geom, second_geom);
        return distance < margin ? distance : HUGE_VAL;
    }
    const bool ordered = compiled->geom_type[first_geom] <= compiled->geom_type[second_geom];
    const int geoms[2] = {ordered ? first_geom : second_geom, ordered ? second_geom : first_geom};
    const mjfCollision collide = mjCOLLISIONFUNC[compiled->geom_type[geoms[0]]][compiled->geom_type[geoms[1]]];
    const int count = collide(compiled, data, contacts, geoms[0], geoms[1], margin);
    double least = HUGE_VAL;
    for (int i = 0; i < count; i++) least = fmin(least, contacts[i].dist);
    return least;
}

bool model_can_collide(int first_type, int second_type) {
    const bool ordered = first_type <= second_type;
    return mjCOLLISIONFUNC[ordered ? first_type : second_type][ordered ? second_type : first_type] != NULL;
}

model_precision model_set_precision(mjModel *compiled, model_precision precision) {
#if mjVERSION_HEADER >= 320
    double *tolerance = &compiled->opt.ccd_tolerance;
    int *iterations = &compiled->opt.ccd_iterations;
#else
    double *tolerance = &compiled->opt.mpr_tolerance;
    int *iterations = &compiled->opt.mpr_iterations;
#endif
    const model_precision before = {*tolerance, *iterations};
    *tolerance = precision.tolerance;
    *iterations = precision.iterations;
    return before;
}

// Before 3.0 the bodies counted from 1 in signatures.
bool model_excludes(const mjModel *compiled, int exclude, int first_body, int second_body) {
#if mjVERSION_HEADER >= 300
    const int first = first_body, second = second_body;
#else
    const int first = first_body + 1, second = second_body + 1;
#endif
    const int signature = compiled->exclude_signature[exclude];
    return signature == (first << 16) + second || signature == (second << 16) + first;
}

double model_cast_ray(const mjModel *compiled, const mjData *data, int geom, const double from[3], const double along[3]) {
    const int type = compiled->geom_type[geom];
    const double *place = data->geom_xpos + 3 * geom, *rotation = data->geom_xmat + 9 * geom, *size = compiled->geom_size + 3 * geom;
#if mjVERSION_HEADER >= 3005000
    if (type == mjGEOM_MESH) return mj_rayMesh(compiled, data, geom, from, along, NULL);
    if (type == mjGEOM_HFIELD) return mj_rayHfield(compiled, data, geom, from, along, NULL);
    return mju_rayGeom(place, rotation, size, from, along, type, NULL);
#else
    if (type == mjGEOM_MESH) return mj_rayMesh(compiled, data, geom, from, along);
    if (type == mjGEOM_HFIELD) return mj_rayHfield(compiled, data, geom, from, along);
    return mju_rayGeom(place, rotation, size, from, along, type);
#endif
}

bool model_touches_flex(const mjContact *contact) { return contact->geom1 < 0 || contact->geom2 < 0; }

int model_count_soft_parts(const mjModel *compiled) {
#if mjVERSION_HEADER >= 300
    return model_count(compiled->nskin) + model_count(compiled->nflex);
#else
    return model_count(compiled->nskin);
#endif
}

// Such geoms came with 3.11.
bool model_touches_belt(const mjModel *compiled, const mjContact *contact) {
#if mjVERSION_HEADER >= 3011000
    return mju_norm(compiled->geom_surfacevel + 6 * contact->geom1, 6) > 0 ||
           mju_norm(compiled->geom_surfacevel + 6 * contact->geom2, 6) > 0;
#else
    (void)compiled;
    (void)contact;
    return false;
#endif
}

mjContact model_contact_of(int first_geom, int second_geom) {
    mjContact contact = {.geom1 = first_geom, .geom2 = second_geom, .efc_address = -1};
#if mjVERSION_HEADER >= 300
    contact.geom[0] = first_geom;
    contact.geom[1] = second_geom;
    for (int side = 0; side < 2; side++) contact.flex[side] = contact.elem[side] = contact.vert[side] = -1;
#endif
    return contact;
}

// Since 3.12 a body that only a user moves is the first of its own, where it was welded to the world.
int model_weld(const mjModel *compiled, int body) {
    const int first = compiled->body_weldid[body];
    return compiled->body_mocapid[first] >= 0 ? 0 : first;
}
