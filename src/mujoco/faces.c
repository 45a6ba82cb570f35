// SPDX-License-Identifier: Apache-2.0
// All corners of a mesh that stands on a plane, or on the face of a box. Versions of MuJoCo find one to four of them, and which ones
// depends on the order of the mesh's vertices; here every vertex of the hull that keeps the others from the plane is a contact.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/impact.h"
#include "mujoco/mujoco_internal.h"

enum { MOST_CORNERS = 32 };  // of one mesh; the lowest ones come first

// Vertices whose heights differ by less than this share of the mesh's radius, or of the margin, form one face.
#define FACE_TOLERANCE 1e-6
#define FACE_OF_MARGIN 1e-2

// Cosine of the angle between the normals of a contact and of the box's face that it is on: convex collision is exact to some 1e-4.
#define FACE_COSINE (1 - 1e-6)

// What a mesh stands on.
typedef struct flat_face {
    double origin[3];
    double axes[9];  // columns, of which the last is the normal
    double half[2];  // along the first two axes; infinite for planes
} flat_face;

// A vertex of a mesh above a plane.
typedef struct corner {
    double height;    // above the plane [m]
    double place[2];  // along the plane's axes [m]
    double point[3];  // in the world [m]
} corner;

static int compare_heights(const void *first, const void *second) {
    const corner *a = first, *b = second;
    return (a->height > b->height) - (a->height < b->height);
}

static flat_face take_plane(const mjData *data, int geom) {
    flat_face face = {.half = {HUGE_VAL, HUGE_VAL}};
    mju_copy3(face.origin, data->geom_xpos + 3 * geom);
    mju_copy(face.axes, data->geom_xmat + 9 * geom, 9);
    return face;
}

// The plane of a contact's first geom, or the face of a box that the normal leaves; false for other geoms and directions.
static bool find_face(const mjModel *compiled, const mjData *data, const mjContact *contact, flat_face *face) {
    const int geom = contact->geom1, type = compiled->geom_type[geom];
    *face = take_plane(data, geom);
    if (type != mjGEOM_BOX) return type == mjGEOM_PLANE;
    const double *axes = data->geom_xmat + 9 * geom, *size = compiled->geom_size + 3 * geom;
    double normal[3];
    mju_rotVecMatT(normal, contact->frame, axes);
    int up = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(normal[k]) > fabs(normal[up])) up = k;
    const int order[3] = {(up + 1) % 3, (up + 2) % 3, up};
    const double sign = normal[up] < 0 ? -1 : 1;
    for (int i = 0; i < 9; i++) face->axes[i] = (i % 3 == 2 ? sign : 1) * axes[3 * (i / 3) + order[i % 3]];
    for (int k = 0; k < 3; k++) face->origin[k] += size[up] * face->axes[3 * k + 2];
    for (int k = 0; k < 2; k++) face->half[k] = size[order[k]];
    return fabs(normal[up]) > FACE_COSINE;
}

// The vertices of a mesh's hull, or all where MuJoCo has none.
static const int *find_hull(const mjModel *compiled, int mesh, int *count) {
    // The graph begins with the numbers of vertices and faces, and the place of each vertex's edges; then it has the vertices.
    const int *graph = compiled->mesh_graphadr[mesh] >= 0 ? compiled->mesh_graph + compiled->mesh_graphadr[mesh] : NULL;
    *count = graph ? graph[0] : compiled->mesh_vertnum[mesh];
    return graph ? graph + 2 + *count : NULL;
}

// Where a vertex of a mesh is above a plane: in doubles, where they are known, and else in MuJoCo's floats.
static void place_vertex(const carom_model *model, const mjData *data, const flat_face *face, int geom, int index, corner *placed) {
    const mjModel *compiled = model->compiled;
    const size_t first = 3 * ((size_t)compiled->mesh_vertadr[compiled->geom_dataid[geom]] + (size_t)index);
    double local[3], above[3], along[3];
    for (size_t k = 0; k < 3; k++) local[k] = model->vertices ? model->vertices[first + k] : (double)compiled->mesh_vert[first + k];
    mju_rotVecMat(placed->point, local, data->geom_xmat + 9 * geom);
    mju_addTo3(placed->point, data->geom_xpos + 3 * geom);
    mju_sub3(above, placed->point, face->origin);
    mju_rotVecMatT(along, above, face->axes);
    placed->height = along[2];
    placed->place[0] = along[0];
    placed->place[1] = along[1];
}

double model_measure_mesh(const carom_model *model, const mjData *data, int plane, int geom) {
    int count;
    const int *hull = find_hull(model->compiled, model->compiled->geom_dataid[geom], &count);
    const flat_face face = take_plane(data, plane);
    double least = HUGE_VAL;
    for (int i = 0; i < count; i++) {
        corner placed;
        place_vertex(model, data, &face, geom, hull ? hull[i] : i, &placed);
        least = fmin(least, placed.height);
    }
    return least;
}

// The vertices of a mesh's hull below the margin, from the lowest on; to be freed. NULL where there is no memory.
static corner *find_below(const carom_model *model, const mjData *data, const flat_face *face, int geom, double margin, int *count) {
    int vertices;
    const int *hull = find_hull(model->compiled, model->compiled->geom_dataid[geom], &vertices);
    corner *below = malloc(((size_t)vertices + MOST_CORNERS) * sizeof *below);
    *count = 0;
    for (int i = 0; i < vertices && below; i++) {
        place_vertex(model, data, face, geom, hull ? hull[i] : i, &below[*count]);
        if (below[*count].height < margin) ++*count;
    }
    if (below) qsort(below, (size_t)*count, sizeof *below, compare_heights);
    return below;
}

// Of vertices in the order of their heights, those that are not above a convex combination of lower ones, into `kept` [MOST_CORNERS]: face
// by face the corners of the hull of what is kept so far and of the face, seen along the normal. Returns their number.
static int choose_corners(const corner *below, int count, double face, double apart, corner *kept) {
    int chosen = 0;
    double *places = malloc(2 * ((size_t)count + MOST_CORNERS) * sizeof *places);
    bool *corners = malloc((size_t)count + MOST_CORNERS);
    for (int first = 0, next; first < count && places && corners && chosen < MOST_CORNERS; first = next) {
        const int before = chosen;
        for (int i = 0; i < before; i++) memcpy(places + 2 * i, kept[i].place, sizeof kept[i].place);
        for (next = first; next < count && below[next].height <= below[first].height + face; next++)
            memcpy(places + 2 * (before + next - first), below[next].place, sizeof below[next].place);
        // A face of many corners is thinned until there is room for it.
        int added = 0;
        double distance = apart;
        for (;; distance *= 2) {
            if (carom_patch_corners(before + next - first, places, distance, corners, NULL)) break;
            added = 0;
            for (int i = first; i < next; i++) added += corners[before + i - first];
            if (before + added <= MOST_CORNERS) break;
        }
        for (int i = first; i < next && chosen < MOST_CORNERS; i++)
            if (corners[before + i - first]) kept[chosen++] = below[i];
    }
    free(places);
    free(corners);
    return chosen;
}

// The corner at `share` of the way from one to another.
static corner blend(const corner *from, const corner *to, double share) {
    corner between = {.height = from->height + share * (to->height - from->height)};
    for (int k = 0; k < 2; k++) between.place[k] = from->place[k] + share * (to->place[k] - from->place[k]);
    for (int k = 0; k < 3; k++) between.point[k] = from->point[k] + share * (to->point[k] - from->point[k]);
    return between;
}

// Puts corners of a convex polygon in their order around it.
static void order_around(corner *corners, int count) {
    double center[2] = {0}, angle[MOST_CORNERS];
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 2; k++) center[k] += corners[i].place[k] / count;
    for (int i = 0; i < count; i++) {
        const corner moved = corners[i];
        const double own = atan2(moved.place[1] - center[1], moved.place[0] - center[0]);
        int place = i;
        for (; place > 0 && angle[place - 1] > own; place--) {
            corners[place] = corners[place - 1];
            angle[place] = angle[place - 1];
        }
        corners[place] = moved;
        angle[place] = own;
    }
}

// Cuts a convex polygon of corners, at most MOST_CORNERS, at the four edges of a box's face. Returns the number of corners left; 0 where
// there is no room.
static int cut_at_edges(const flat_face *face, corner *corners, int count) {
    order_around(corners, count);
    for (int edge = 0; edge < 4; edge++) {
        const int axis = edge / 2, side = edge % 2 ? 1 : -1;
        corner left[2 * MOST_CORNERS];
        int kept = 0;
        for (int i = 0; i < count; i++) {
            const corner *from = &corners[i], *to = &corners[(i + 1) % count];
            const double beyond = side * from->place[axis] - face->half[axis], next = side * to->place[axis] - face->half[axis];
            if (beyond <= 0) left[kept++] = *from;
            if ((beyond > 0) != (next > 0)) left[kept++] = blend(from, to, beyond / (beyond - next));
        }
        if (kept > MOST_CORNERS) return 0;
        memcpy(corners, left, (size_t)kept * sizeof *left);
        count = kept;
    }
    return count;
}

// Do two corners come in the wrong order? It is that of a box that stands along the plane's axes: rows along the first, from row to row
// along the second.
static bool comes_after(const corner *a, const corner *b, double apart) {
    const double across = a->place[1] - b->place[1];
    return fabs(across) > apart ? across > 0 : a->place[0] > b->place[0];
}

// The contacts of a plane, or of the face of a box, and a mesh, in the place of those that MuJoCo found from number `first` on; `*next` is
// the first of the next pair. Those of a mesh that leans over the edges of a box stay.
static void complete_pair(const carom_model *model, const mjModel *compiled, mjData *data, int first, double margin, int *next) {
    mjContact like = data->contact[first];
    int found = first;
    while (found < data->ncon && data->contact[found].geom1 == like.geom1 && data->contact[found].geom2 == like.geom2) found++;
    *next = found;
    found -= first;
    const double radius = compiled->geom_rbound[like.geom2], apart = FACE_TOLERANCE * radius;
    flat_face face;
    int count;
    if (!find_face(compiled, data, &like, &face)) return;
    corner kept[MOST_CORNERS], *below = find_below(model, data, &face, like.geom2, margin, &count);
    if (!below) return;
    const double thickness = fmax(apart, FACE_OF_MARGIN * margin);
    int chosen = choose_corners(below, count, thickness, apart, kept);
    free(below);
    bool inside = true, level = true;
    for (int i = 0; i < chosen; i++) {
        level = level && fabs(kept[i].height - kept[0].height) <= thickness;
        for (int k = 0; k < 2; k++) inside = inside && fabs(kept[i].place[k]) <= face.half[k] + apart;
    }
    if (!inside) chosen = level ? cut_at_edges(&face, kept, chosen) : 0;
    if (!chosen) return;
    for (int k = 0; k < 9; k++) like.frame[k] = face.axes[3 * (k % 3) + (k / 3 + 2) % 3];
    // Contacts that become more are added at the end, and then move to their place.
    for (int i = found; i < chosen; i++)
        if (mj_addContact(compiled, data, &like)) return;
    const int more = chosen - found, others = data->ncon - (more > 0 ? more : 0) - first - found;
    mjContact *after = data->contact + first + found;
    memmove(after + more, after, (size_t)others * sizeof *after);
    if (more < 0) data->ncon += more;
    for (int i = 0; i < chosen; i++) {
        const corner moved = kept[i];
        int place = i;
        for (; place > 0 && comes_after(&kept[place - 1], &moved, apart); place--) kept[place] = kept[place - 1];
        kept[place] = moved;
    }
    for (int i = 0; i < chosen; i++) {
        mjContact *contact = &data->contact[first + i];
        *contact = like;
        contact->dist = kept[i].height;
        mju_addScl3(contact->pos, kept[i].point, like.frame, -kept[i].height / 2);
    }
    *next = first + chosen;
}

void model_complete_faces(const carom_model *model, const mjModel *compiled, mjData *data, double margin) {
    for (int i = 0, next; i < data->ncon; i = next) {
        const mjContact *contact = &data->contact[i];
        next = i + 1;
        if (!model_touches_flex(contact) && compiled->geom_type[contact->geom2] == mjGEOM_MESH)
            complete_pair(model, compiled, data, i, margin, &next);
    }
}

// ------------------------------------------------------------------------------------------------------- faces with one point

// Directions that differ by less than this angle are one [rad].
#define SAME_DIRECTION 1e-3

// Are there vertices of a mesh's hull that span a face across a direction of its own axes?
static bool mesh_has_face(const mjModel *compiled, int geom, const double direction[3]) {
    const int mesh = compiled->geom_dataid[geom];
    const float *from = compiled->mesh_vert + 3 * (size_t)compiled->mesh_vertadr[mesh];
    const double level = SAME_DIRECTION * compiled->geom_rbound[geom];
    double top = -INFINITY, first[3] = {0}, side[3] = {0}, widest = 0, area = 0;
    // The farthest vertex; of those beside it the one that is farthest from that; and then the largest triangle on the two.
    for (int pass = 0; pass < 3; pass++)
        for (int i = 0; i < compiled->mesh_vertnum[mesh]; i++) {
            const double vertex[3] = {(double)from[3 * i], (double)from[3 * i + 1], (double)from[3 * i + 2]};
            const double height = mju_dot3(vertex, direction);
            double apart[3], across[3];
            mju_sub3(apart, vertex, first);
            mju_cross(across, apart, side);
            if (!pass && height > top) {
                top = height;
                mju_copy3(first, vertex);
            } else if (pass == 1 && height > top - level && mju_norm3(apart) > widest) {
                widest = mju_norm3(apart);
                mju_copy3(side, apart);
            } else if (pass == 2 && height > top - level) {
                area = fmax(area, mju_norm3(across));
            }
        }
    return widest > 10 * level && area > 10 * level * widest;
}

// Does a geom end in a flat face along a direction of the world?
static bool has_face(const mjModel *compiled, const mjData *data, int geom, const double direction[3], double sign) {
    double local[3];
    mju_rotVecMatT(local, direction, data->geom_xmat + 9 * geom);
    mju_scl3(local, local, sign);
    const double aligned = cos(SAME_DIRECTION);
    switch (compiled->geom_type[geom]) {
    case mjGEOM_BOX: return fabs(local[0]) > aligned || fabs(local[1]) > aligned || fabs(local[2]) > aligned;
    case mjGEOM_CYLINDER: return fabs(local[2]) > aligned;
    case mjGEOM_MESH: return mesh_has_face(compiled, geom, local);
    default: return false;
    }
}

carom_status model_warn_of_faces(carom_model *model, const model_touch *touches, int count, carom_error *error) {
    for (int i = 0; i < count; i++) {
        const int *geoms = touches[i].geom;
        const mjModel *compiled = model->compiled;
        bool alone =
            geoms[0] >= 0 && geoms[1] >= 0 && !(compiled->geom_type[geoms[0]] == mjGEOM_BOX && compiled->geom_type[geoms[1]] == mjGEOM_BOX);
        for (int k = 0; k < count && alone; k++) alone = k == i || touches[k].geom[0] != geoms[0] || touches[k].geom[1] != geoms[1];
        if (!alone || !has_face(compiled, model->data, geoms[0], touches[i].normal, 1) ||
            !has_face(compiled, model->data, geoms[1], touches[i].normal, -1))
            continue;
        char pair[MODEL_PAIR_NAME_SIZE];
        model_name_pair(model, geoms, pair);
        const carom_status status =
            model_warn(model, error,
                       "two flat faces meet in '%s', and this version of MuJoCo finds one point there: their corners may go through each "
                       "other; a floor that is a plane, or boxes in place of meshes and cylinders, have all corners",
                       pair);
        if (status) return status;
    }
    return CAROM_OK;
}
