// SPDX-License-Identifier: Apache-2.0
// The shapes of a model's geoms, where a motion puts them.
#include <math.h>
#include <string.h>

#include "carom/dense.h"
#include "mujoco/mujoco_internal.h"

// Geoms of the groups below this are those that MuJoCo's viewer shows before anyone asks for others.
enum { SHOWN_GROUPS = 3 };

// Points of a body without geoms nearer to its origin than this share of the model's extent are the origin.
#define AT_ORIGIN 1e-9

// Arguments and results of the guarded call.
typedef struct placing {
    const carom_model *model;
    const double *velocity;
    double time;
    mjData *data;  // to be deleted by the caller
} placing;

// Positions of all bodies after the motion, in data of their own, and the velocities of the trees there.
static void place_bodies(void *argument) {
    placing *p = argument;
    const mjModel *compiled = p->model->compiled;
    const mjData *state = p->model->data;
    p->data = mj_makeData(compiled);
    if (!p->data) return;
    mju_copy(p->data->qpos, state->qpos, model_count(compiled->nq));
    mju_copy(p->data->qvel, p->velocity ? p->velocity : state->qvel, model_count(compiled->nv));
    mju_copy(p->data->mocap_pos, state->mocap_pos, 3 * model_count(compiled->nmocap));
    mju_copy(p->data->mocap_quat, state->mocap_quat, 4 * model_count(compiled->nmocap));
    if (p->time != 0) mj_integratePos(compiled, p->data->qpos, p->data->qvel, p->time);
    mj_kinematics(compiled, p->data);
    mj_comPos(compiled, p->data);
    mj_comVel(compiled, p->data);
    mj_subtreeVel(compiled, p->data);
}

// Is the geom shown by MuJoCo's viewer?
static bool is_visible(const mjModel *compiled, int geom) {
    const int material = compiled->geom_matid[geom];
    const float alpha = material >= 0 ? compiled->mat_rgba[4 * material + 3] : compiled->geom_rgba[4 * geom + 3];
    return compiled->geom_group[geom] < SHOWN_GROUPS && alpha > 0;
}

static const char *copy_name(const carom_model *model, int type, int id, const char *kind, carom_arena *arena) {
    char *text = carom_arena_take(arena, MODEL_LABEL_SIZE, 1);
    if (text) model_write_name(model, type, id, kind, text, MODEL_LABEL_SIZE);
    return text;
}

// A mesh by the vertices and triangles of its convex hull, which MuJoCo computed where it needs it for collisions; else by all its
// vertices.
static void take_mesh(const mjModel *compiled, int mesh, carom_arena *arena, carom_solid *solid) {
    const float *from = compiled->mesh_vert + 3 * (size_t)compiled->mesh_vertadr[mesh];
    // The graph: numbers of vertices and faces, then the place of each vertex's edges, each vertex, the edges, and the faces.
    const int *graph = compiled->mesh_graphadr[mesh] >= 0 ? compiled->mesh_graph + compiled->mesh_graphadr[mesh] : NULL;
    const int count = graph ? graph[0] : compiled->mesh_vertnum[mesh];
    const int *vertices = graph ? graph + 2 + count : NULL, *faces = graph ? graph + 2 + 3 * count + 3 * graph[1] : NULL;
    double *vertex = carom_arena_take(arena, 3 * (size_t)count, sizeof *vertex);
    int *triangle = carom_arena_take(arena, graph ? 3 * (size_t)graph[1] : 0, sizeof *triangle);
    int *place = carom_arena_take(arena, (size_t)compiled->mesh_vertnum[mesh], sizeof *place);
    if (arena->failed) return;
    for (int i = 0; i < count; i++) {
        const int one = vertices ? vertices[i] : i;
        place[one] = i;
        for (int k = 0; k < 3; k++) vertex[3 * i + k] = (double)from[3 * one + k];
    }
    // Faces name the vertices of the mesh.
    for (int i = 0; graph && i < 3 * graph[1]; i++) triangle[i] = place[faces[i]];
    solid->kind = CAROM_SOLID_HULL;
    solid->vertices = count;
    solid->vertex = vertex;
    solid->triangles = graph ? graph[1] : 0;
    solid->triangle = triangle;
}

static void take_heights(const mjModel *compiled, int field, carom_arena *arena, carom_solid *solid) {
    const int rows = compiled->hfield_nrow[field], columns = compiled->hfield_ncol[field];
    const double *size = compiled->hfield_size + 4 * (size_t)field;
    double *height = carom_arena_take(arena, (size_t)rows * (size_t)columns, sizeof *height);
    if (arena->failed) return;
    for (int i = 0; i < rows * columns; i++) height[i] = size[2] * (double)compiled->hfield_data[compiled->hfield_adr[field] + i];
    solid->kind = CAROM_SOLID_HEIGHTS;
    for (int k = 0; k < 3; k++) solid->size[k] = k < 2 ? size[k] : 0;
    solid->rows = rows;
    solid->columns = columns;
    solid->height = height;
}

// A geom at its place.
static void take_geom(const placing *p, int geom, carom_arena *arena, carom_solid *solid) {
    static const carom_solid_kind kinds[] = {
        [mjGEOM_PLANE] = CAROM_SOLID_PLANE,         [mjGEOM_SPHERE] = CAROM_SOLID_SPHERE,     [mjGEOM_CAPSULE] = CAROM_SOLID_CAPSULE,
        [mjGEOM_ELLIPSOID] = CAROM_SOLID_ELLIPSOID, [mjGEOM_CYLINDER] = CAROM_SOLID_CYLINDER, [mjGEOM_BOX] = CAROM_SOLID_BOX};
    const mjModel *compiled = p->model->compiled;
    const int type = compiled->geom_type[geom], body = compiled->geom_bodyid[geom];
    *solid = (carom_solid){.name = copy_name(p->model, mjOBJ_GEOM, geom, "geom", arena),
                           .body = copy_name(p->model, mjOBJ_BODY, body, "body", arena),
                           .body_index = body,
                           .fixed = model_weld(compiled, body) == 0};
    mju_copy3(solid->size, compiled->geom_size + 3 * geom);
    mju_copy3(solid->position, p->data->geom_xpos + 3 * geom);
    mju_copy(solid->rotation, p->data->geom_xmat + 9 * geom, 9);
    if (type == mjGEOM_HFIELD)
        take_heights(compiled, compiled->geom_dataid[geom], arena, solid);
    else if (type >= mjGEOM_MESH)  // a mesh, or a shape of later versions that comes with one
        take_mesh(compiled, compiled->geom_dataid[geom], arena, solid);
    else
        solid->kind = kinds[type];
}

// A body without geoms: segments from its origin to its centre of mass, its sites and its children, and a point where there are none.
static void take_skeleton(const placing *p, int body, carom_arena *arena, carom_solids *solids) {
    const mjModel *compiled = p->model->compiled;
    const double *origin = p->data->xpos + 3 * body;
    const int sites = model_count(compiled->nsite), bodies = model_count(compiled->nbody);
    const char *name = copy_name(p->model, mjOBJ_BODY, body, "body", arena);
    bool any = false;
    for (int i = 0; i <= sites + bodies; i++) {
        const double *end = i == sites + bodies ? p->data->xipos + 3 * body
                            : i < sites         ? p->data->site_xpos + 3 * i
                                                : p->data->xpos + 3 * (i - sites);
        const int parent = i == sites + bodies ? body : i < sites ? compiled->site_bodyid[i] : compiled->body_parentid[i - sites];
        double along[3], quaternion[4];
        mju_sub3(along, end, origin);
        const double length = mju_normalize3(along);
        const bool counts = parent == body && length > AT_ORIGIN * compiled->stat.extent;
        // The point comes last, if nothing else is there.
        if (!counts && (any || i < sites + bodies)) continue;
        any = true;
        carom_solid *solid = &solids->solid[solids->count++];
        *solid = (carom_solid){.kind = counts ? CAROM_SOLID_CAPSULE : CAROM_SOLID_SPHERE,
                               .name = "",
                               .body = name,
                               .body_index = body,
                               .fixed = model_weld(compiled, body) == 0,
                               .size = {0, counts ? 0.5 * length : 0, 0}};
        mju_copy3(solid->position, origin);
        if (counts) mju_addToScl3(solid->position, along, 0.5 * length);
        mju_quatZ2Vec(quaternion, along);
        mju_quat2Mat(solid->rotation, quaternion);
    }
}

carom_status carom_model_solids(const carom_model *model, const double *velocity, double time, carom_arena *arena, carom_solids *solids,
                                carom_error *error) {
    *solids = (carom_solids){0};
    const mjModel *compiled = model->compiled;
    const int geoms = model_count(compiled->ngeom), bodies = model_count(compiled->nbody);
    if (velocity && !carom_all_finite((size_t)compiled->nv, velocity))
        return carom_fail(error, CAROM_BAD_INPUT, "carom_model_solids: a velocity is not finite");
    if (!isfinite(time)) return carom_fail(error, CAROM_BAD_INPUT, "carom_model_solids: the time is not finite");
    placing p = {model, velocity, time, NULL};
    carom_status status = model_guard_call(place_bodies, &p, error);
    if (!status && !p.data) status = carom_fail_memory(error, model->path);

    // What is shown of each body: its visible geoms, else all of them; bodies without any by a skeleton, whose segments are not more than
    // sites, bodies and one for each body.
    int *visible = carom_arena_take(arena, (size_t)bodies, sizeof *visible);
    const size_t most = (size_t)geoms + (size_t)compiled->nsite + 2 * (size_t)bodies;
    solids->solid = carom_arena_take(arena, most, sizeof *solids->solid);
    solids->tree = carom_arena_take(arena, (size_t)bodies, sizeof *solids->tree);
    if (!status && arena->failed) status = carom_fail_memory(error, model->path);
    for (int g = 0; !status && g < geoms; g++) visible[compiled->geom_bodyid[g]] += is_visible(compiled, g);
    for (int body = 0; !status && body < bodies; body++) {
        const int first = compiled->body_geomadr[body];
        for (int g = first; g < first + compiled->body_geomnum[body]; g++)
            if (is_visible(compiled, g) || !visible[body]) take_geom(&p, g, arena, &solids->solid[solids->count++]);
        if (body && !compiled->body_geomnum[body]) take_skeleton(&p, body, arena, solids);
    }

    // The trees of joints, by the children of the world that have any.
    for (int body = 0; !status && body < bodies; body++) visible[body] = 0;
    for (int body = 1; !status && body < bodies; body++) visible[compiled->body_rootid[body]] |= compiled->body_dofnum[body] > 0;
    for (int body = 1; !status && body < bodies; body++) {
        if (!visible[body]) continue;
        carom_solid_tree *tree = &solids->tree[solids->trees++];
        tree->name = copy_name(model, mjOBJ_BODY, body, "body", arena);
        mju_copy3(tree->center, p.data->subtree_com + 3 * body);
        mju_copy3(tree->velocity, p.data->subtree_linvel + 3 * body);
    }
    if (!status) solids->left_out = model_count_soft_parts(compiled);
    if (!status && arena->failed) status = carom_fail_memory(error, model->path);
    if (status) *solids = (carom_solids){0};
    mj_deleteData(p.data);
    return status;
}
