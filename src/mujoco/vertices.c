// SPDX-License-Identifier: Apache-2.0
// The vertices of a URDF's meshes in doubles.
//
// MuJoCo moves meshes into frames of their own and keeps floats, which its versions round in their own ways: contacts at a mesh's corners
// would differ by 1e-8 of its size. The file's points, put into the same frames, take the place of the floats next to them.
#include <math.h>
#include <stdlib.h>

#include "mujoco/mujoco_internal.h"

// A vertex is a point of the file where they differ by less than this share of the mesh's largest coordinate: far above round-off of
// floats.
#define SAME_POINT 1e-6

// Points are sorted along this direction, in which the faces of no usual mesh lie.
static const double oblique[3] = {0.62, 0.53, 0.58};

// A point of the file in the frame of the geom.
typedef struct placed_point {
    double key;  // along the direction
    double place[3];
} placed_point;

static int compare_keys(const void *first, const void *second) {
    const placed_point *a = first, *b = second;
    return (a->key > b->key) - (a->key < b->key);
}

// A guarded call: the places of the geoms.
static void compute_places(void *argument) {
    const carom_model *model = argument;
    mj_kinematics(model->compiled, model->data);
}

// The file's points in the frame that MuJoCo puts the geom into, in the order of their keys. This is not always the frame that the compiled
// model has: turns of less than 1e-6 or so are left out. Returns the points' largest coordinate in the file.
static double place_points(const model_points *points, const carom_model *model, int geom, placed_point *placed) {
    const mjModel *compiled = model->compiled;
    const double *given = compiled->geom_user + (size_t)geom * (size_t)compiled->nuser_geom;
    const int body = compiled->geom_bodyid[geom];
    double largest = 0;
    for (int i = 0; i < points->count; i++) {
        double moved[3], world[3];
        mju_rotVecQuat(moved, points->point + 3 * i, given + 3);
        mju_addTo3(moved, given);
        mju_rotVecMat(world, moved, model->data->xmat + 9 * body);
        mju_addTo3(world, model->data->xpos + 3 * body);
        mju_subFrom3(world, model->data->geom_xpos + 3 * geom);
        mju_rotVecMatT(placed[i].place, world, model->data->geom_xmat + 9 * geom);
        placed[i].key = mju_dot3(placed[i].place, oblique);
        for (int k = 0; k < 3; k++) largest = fmax(largest, fabs(points->point[3 * i + k]));
    }
    qsort(placed, (size_t)points->count, sizeof *placed, compare_keys);
    return largest;
}

// Puts the nearest point within the distance in the place of a vertex, which stays where there is none.
static void refine_vertex(const placed_point *placed, int count, double distance, double vertex[3]) {
    const double key = mju_dot3(vertex, oblique), width = distance * mju_norm3(oblique);
    int first = 0;
    for (int end = count; first < end;) {
        const int middle = first + (end - first) / 2;
        if (placed[middle].key < key - width)
            first = middle + 1;
        else
            end = middle;
    }
    const double *nearest = NULL;
    for (int i = first; i < count && placed[i].key <= key + width; i++) {
        double apart[3];
        mju_sub3(apart, placed[i].place, vertex);
        const double length = mju_norm3(apart);
        if (length > distance) continue;
        distance = length;
        nearest = placed[i].place;
    }
    if (nearest) mju_copy3(vertex, nearest);
}

// The number of the mesh's points among the changes', with which its name begins; -1 for one that the geom shares with an earlier one.
static int find_points(const model_changes *changes, const mjModel *compiled, int geom) {
    const int mesh = compiled->geom_dataid[geom];
    if (compiled->geom_type[geom] != mjGEOM_MESH || mesh < 0 || compiled->nuser_geom < MODEL_FRAME_SIZE) return -1;
    for (int i = 0; i < geom; i++)
        if (compiled->geom_type[i] == mjGEOM_MESH && compiled->geom_dataid[i] == mesh) return -1;
    const char *name = mj_id2name(compiled, mjOBJ_MESH, mesh);
    const long number = name ? strtol(name, NULL, 10) : -1;
    return number < changes->mesh_count ? (int)number : -1;
}

carom_status model_refine_vertices(const model_changes *changes, carom_model *model, carom_error *error) {
    const mjModel *compiled = model->compiled;
    const size_t total = (size_t)compiled->nmeshvert;
    if (!changes->mesh_count || !total) return CAROM_OK;
    model->vertices = malloc(3 * total * sizeof *model->vertices);
    if (!model->vertices) return carom_fail_memory(error, model->path);
    const carom_status status = model_guard_call(compute_places, model, error);
    if (status) return status;
    for (size_t i = 0; i < 3 * total; i++) model->vertices[i] = (double)compiled->mesh_vert[i];
    for (int geom = 0; geom < compiled->ngeom; geom++) {
        const int number = find_points(changes, compiled, geom);
        if (number < 0) continue;
        const model_points *points = &changes->meshes[number];
        placed_point *placed = malloc((size_t)points->count * sizeof *placed);
        if (!placed) return carom_fail_memory(error, model->path);
        const double distance = SAME_POINT * place_points(points, model, geom, placed);
        const int mesh = compiled->geom_dataid[geom];
        double *vertex = model->vertices + 3 * (size_t)compiled->mesh_vertadr[mesh];
        for (int i = 0; i < compiled->mesh_vertnum[mesh]; i++) refine_vertex(placed, points->count, distance, vertex + 3 * i);
        free(placed);
    }
    return CAROM_OK;
}
