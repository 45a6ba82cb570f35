// SPDX-License-Identifier: Apache-2.0
// All corners of a mesh that stands on a plane. Versions of MuJoCo find three or four of them, and which ones depends on the order of the
// mesh's vertices; here every vertex of the hull that keeps the others from the plane is a contact.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/impact.h"
#include "mujoco/mujoco_internal.h"

enum { MOST_CORNERS = 32 };  // of one mesh; the lowest ones come first

// Vertices whose heights differ by less than this share of the mesh's radius, or of the margin, form one face.
#define FACE_TOLERANCE 1e-6
#define FACE_OF_MARGIN 1e-2

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

// The vertices of a mesh's hull below the margin, from the lowest on; to be freed. NULL where there is no memory.
static corner *find_below(const mjModel *compiled, const mjData *data, const mjContact *contact, double margin, int *count) {
    const int plane = contact->geom1, geom = contact->geom2, mesh = compiled->geom_dataid[geom];
    const float *from = compiled->mesh_vert + 3 * (size_t)compiled->mesh_vertadr[mesh];
    // The graph begins with the numbers of vertices and faces, and the place of each vertex's edges; then it has the vertices.
    const int *graph = compiled->mesh_graphadr[mesh] >= 0 ? compiled->mesh_graph + compiled->mesh_graphadr[mesh] : NULL;
    const int vertices = graph ? graph[0] : compiled->mesh_vertnum[mesh];
    corner *below = malloc(((size_t)vertices + MOST_CORNERS) * sizeof *below);
    *count = 0;
    for (int i = 0; i < vertices && below; i++) {
        const float *vertex = from + 3 * (graph ? graph[2 + vertices + i] : i);
        const double local[3] = {(double)vertex[0], (double)vertex[1], (double)vertex[2]};
        corner *found = &below[*count];
        double above[3], along[3];
        mju_rotVecMat(found->point, local, data->geom_xmat + 9 * geom);
        mju_addTo3(found->point, data->geom_xpos + 3 * geom);
        mju_sub3(above, found->point, data->geom_xpos + 3 * plane);
        mju_rotVecMatT(along, above, data->geom_xmat + 9 * plane);
        found->height = along[2];
        found->place[0] = along[0];
        found->place[1] = along[1];
        if (found->height < margin) ++*count;
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

// Do two corners come in the wrong order: along the plane's first axis, and then along the second?
static bool comes_after(const corner *a, const corner *b, double apart) {
    const double along = a->place[0] - b->place[0];
    return fabs(along) > apart ? along > 0 : a->place[1] > b->place[1];
}

// The contacts of a plane and a mesh, in the place of those that MuJoCo found from number `first` on; `*next` is the first of the next
// pair.
static void complete_pair(const mjModel *compiled, mjData *data, int first, double margin, int *next) {
    const mjContact like = data->contact[first];
    int found = first;
    while (found < data->ncon && data->contact[found].geom1 == like.geom1 && data->contact[found].geom2 == like.geom2) found++;
    *next = found;
    found -= first;
    const double radius = compiled->geom_rbound[like.geom2], apart = FACE_TOLERANCE * radius;
    int count;
    corner kept[MOST_CORNERS], *below = find_below(compiled, data, &like, margin, &count);
    if (!below) return;
    const int chosen = choose_corners(below, count, fmax(apart, FACE_OF_MARGIN * margin), apart, kept);
    free(below);
    if (!chosen) return;
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

void model_complete_faces(const mjModel *compiled, mjData *data, double margin) {
    for (int i = 0, next; i < data->ncon; i = next) {
        const mjContact *contact = &data->contact[i];
        next = i + 1;
        if (!model_touches_flex(contact) && compiled->geom_type[contact->geom1] == mjGEOM_PLANE &&
            compiled->geom_type[contact->geom2] == mjGEOM_MESH)
            complete_pair(compiled, data, i, margin, &next);
    }
}
