// SPDX-License-Identifier: Apache-2.0
// Which of the contacts found an impact takes: patterns of names, bodies of one robot, joints and tendons at their limits.
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mujoco/mujoco_internal.h"

// Names that an error offers in place of one that nothing has, and the least text that they share with it.
enum { OFFERED_NAMES = 4, SHARED_LETTERS = 3 };

// ------------------------------------------------------------------------------------------------------------- patterns

// A name with a bracket in it, which a pattern reads as a set of letters, still matches itself.
static bool matches(const char *pattern, const char *name) { return !strcmp(pattern, name) || !fnmatch(pattern, name, 0); }

static bool matches_any(const char *const *patterns, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (matches(patterns[i], name)) return true;
    return false;
}

model_fate model_judge_pair(const carom_model *model, const carom_detection *detection, const int geoms[2]) {
    const mjModel *compiled = model->compiled;
    bool wanted = detection->only_count == 0, excluded = false;
    int bodies[2];
    for (int side = 0; side < 2; side++) {
        bodies[side] = compiled->geom_bodyid[geoms[side]];
        char names[2][MODEL_LABEL_SIZE];
        model_write_name(model, mjOBJ_GEOM, geoms[side], "geom", names[0], MODEL_LABEL_SIZE);
        model_write_name(model, mjOBJ_BODY, bodies[side], "body", names[1], MODEL_LABEL_SIZE);
        for (int i = 0; i < 2; i++) {
            wanted = wanted || matches_any(detection->only, detection->only_count, names[i]);
            excluded = excluded || matches_any(detection->exclude, detection->exclude_count, names[i]);
        }
    }
    // A robot is a tree of bodies: all those below one child of the world.
    const int root = compiled->body_rootid[bodies[0]];
    if (detection->drop_self && root != 0 && root == compiled->body_rootid[bodies[1]]) return MODEL_OF_SELF;
    return excluded ? MODEL_EXCLUDED : wanted ? MODEL_KEPT : MODEL_UNWANTED;
}

model_fate model_judge_name(const carom_detection *detection, model_fate fate, const char *name) {
    if (fate > MODEL_UNWANTED) return fate;
    if (matches_any(detection->exclude, detection->exclude_count, name)) return MODEL_EXCLUDED;
    return matches_any(detection->only, detection->only_count, name) ? MODEL_KEPT : fate;
}

// Does a pattern fit a geom or its body?
static bool fits_side(const carom_model *model, const char *pattern, int geom) {
    char name[MODEL_LABEL_SIZE];
    model_write_name(model, mjOBJ_GEOM, geom, "geom", name, sizeof name);
    if (matches(pattern, name)) return true;
    model_write_name(model, mjOBJ_BODY, model->compiled->geom_bodyid[geom], "body", name, sizeof name);
    return matches(pattern, name);
}

int model_find_pair(const carom_model *model, const carom_detection *detection, const int geoms[2], model_coefficient coefficient) {
    for (int i = 0; i < detection->pair_count; i++) {
        const carom_contact_pair *pair = &detection->pairs[i];
        if (isnan(coefficient == MODEL_FRICTION ? pair->friction : pair->restitution)) continue;
        for (int side = 0; side < 2; side++)
            if (fits_side(model, pair->between[0], geoms[side]) && fits_side(model, pair->between[1], geoms[!side])) return i;
    }
    return -1;
}

void model_name_limit(const carom_model *model, const model_limit *limit, char name[MODEL_LABEL_SIZE]) {
    const bool tendon = limit->type == mjOBJ_TENDON;
    char own[MODEL_LABEL_SIZE - 8];
    model_write_name(model, limit->type, limit->id, tendon ? "tendon" : "joint", own, sizeof own);
    snprintf(name, MODEL_LABEL_SIZE, "%s:%s", tendon ? "TENDON" : "LIMIT", own);
}

int model_choose_limits(const carom_model *model, const carom_detection *detection, model_limit *limits, int count) {
    if (!detection) return count;
    const model_fate fate = detection->drop_stops ? MODEL_EXCLUDED : detection->only_count ? MODEL_UNWANTED : MODEL_KEPT;
    int kept = 0;
    for (int i = 0; i < count; i++) {
        char name[MODEL_LABEL_SIZE];
        model_name_limit(model, &limits[i], name);
        if (model_judge_name(detection, fate, name) == MODEL_KEPT) limits[kept++] = limits[i];
    }
    return kept;
}

// ----------------------------------------------------------------------------------------------------- unknown patterns

// The names that a pattern may mean, one after the other: of bodies, geoms, joints and tendons at limits, and of the contacts found.
typedef struct name_list {
    const carom_model *model;
    const char *const *found;
    int found_count;
    bool touching;  // bodies and geoms alone
    int next;
} name_list;

static bool next_name(name_list *list, char name[MODEL_LABEL_SIZE]) {
    const mjModel *compiled = list->model->compiled;
    const int bodies = model_count(compiled->nbody), geoms = model_count(compiled->ngeom);
    const int joints = model_count(compiled->njnt), tendons = model_count(compiled->ntendon);
    int index = list->next++;
    if (index < bodies) {
        model_write_name(list->model, mjOBJ_BODY, index, "body", name, MODEL_LABEL_SIZE);
        return true;
    }
    index -= bodies;
    if (index < geoms) {
        model_write_name(list->model, mjOBJ_GEOM, index, "geom", name, MODEL_LABEL_SIZE);
        return true;
    }
    index -= geoms;
    if (list->touching) return false;
    if (index < joints + tendons) {
        const bool tendon = index >= joints;
        model_name_limit(list->model, &(model_limit){tendon ? mjOBJ_TENDON : mjOBJ_JOINT, tendon ? index - joints : index, 1}, name);
        return true;
    }
    index -= joints + tendons;
    if (index >= list->found_count) return false;
    snprintf(name, MODEL_LABEL_SIZE, "%s", list->found[index]);
    return true;
}

// Letters of the longest text that two names share.
static int count_shared(const char *a, const char *b) {
    int best = 0;
    for (const char *p = a; *p; p++) {
        for (const char *q = b; *q; q++) {
            int length = 0;
            while (p[length] && p[length] == q[length] && !strchr("*?[]", p[length])) length++;
            if (length > best) best = length;
        }
    }
    return best;
}

// Refuses a pattern that no name has, with the names that share most with it.
// @param key   of the pattern and ": ", or nothing
// @param what  the names are of
static carom_status check_pattern(name_list list, const char *key, const char *what, const char *pattern, carom_error *error) {
    char offered[OFFERED_NAMES][MODEL_LABEL_SIZE], name[MODEL_LABEL_SIZE];
    int shared[OFFERED_NAMES], count = 0;
    while (next_name(&list, name)) {
        if (matches(pattern, name)) return CAROM_OK;
        // Keep the best ones, in the order of what they share; of equal ones the first.
        const int letters = count_shared(pattern, name);
        bool known = letters < SHARED_LETTERS;
        for (int i = 0; i < count; i++) known = known || !strcmp(offered[i], name);
        int place = count;
        while (place > 0 && shared[place - 1] < letters) place--;
        if (known || place == OFFERED_NAMES) continue;
        if (count < OFFERED_NAMES) count++;
        for (int i = count - 1; i > place; i--) {
            shared[i] = shared[i - 1];
            memcpy(offered[i], offered[i - 1], MODEL_LABEL_SIZE);
        }
        shared[place] = letters;
        memcpy(offered[place], name, MODEL_LABEL_SIZE);
    }
    char near[OFFERED_NAMES * (MODEL_LABEL_SIZE + 4)] = "";
    size_t used = 0;
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(near + used, sizeof near - used, "%s'%s'", i ? ", " : "; near names: ", offered[i]);
    return carom_fail(error, CAROM_BAD_INPUT, "%s'%.60s' is no %s of the model%s", key, pattern, what, near);
}

carom_status model_check_patterns(const carom_model *model, const carom_detection *detection, const char *const *found, int found_count,
                                  carom_error *error) {
    static const char any[] = "body, geom or contact";
    const name_list list = {.model = model, .found = found, .found_count = found_count};
    carom_status status = CAROM_OK;
    for (int i = 0; i < detection->only_count && !status; i++) status = check_pattern(list, "only: ", any, detection->only[i], error);
    for (int i = 0; i < detection->exclude_count && !status; i++)
        status = check_pattern(list, "exclude: ", any, detection->exclude[i], error);
    return status;
}

carom_status carom_model_check_pattern(const carom_model *model, const char *pattern, carom_error *error) {
    return check_pattern((name_list){.model = model, .touching = true}, "", "body or geom", pattern, error);
}
