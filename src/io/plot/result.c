// SPDX-License-Identifier: Apache-2.0
// Pictures of result files: what each law's outcomes are drawn as, on which axes, into which files. Several files of the same contacts may
// share a picture, and several planes.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "carom/functional.h"
#include "carom/sets.h"
#include "carom/temporary.h"
#include "io/result/file.h"

enum {
    MANY_OUTCOMES = 50,  // a law with more is drawn as dots
    LABEL_SIZE = 256,
    SERIES_PER_LAW = 4,  // outcomes, hull, areas, paths
};

// Points in the plane of a picture.
typedef struct points {
    double *x, *y;
    int64_t count;
} points;

// One result file.
typedef struct source {
    carom_result *result;
    const char *path;
} source;

// The outcomes of one law.
typedef struct law_data {
    const carom_result *file;
    int index;  // of the law in its file
    double *u;  // [rows x n] contact velocities
    int64_t rows;
    double *v, *impulses, *energy;  // [rows x nv], [rows x n], [rows]: only where an axis has them
    bool sampled;                   // samples of a set
    bool passed;                    // what solutions of an exact set pass through
    bool uncertain;                 // outcomes of many draws of an uncertain impact
    double *states;                 // contact velocities after each impact, [.. x n], one path after the other
    int64_t *starts, paths;
    carom_polyhedra *pieces;  // of an exact set; NULL for other laws
    char certificate[CAROM_CERTIFICATE_SIZE];
    char label[LABEL_SIZE], path_label[LABEL_SIZE];
} law_data;

// What is drawn of a law on the axes of a panel.
typedef struct drawn_law {
    points outcomes, hull, areas, path;
} drawn_law;

// One plane.
typedef struct panel {
    carom_functional x, y;      // what the axes show
    const char *axis_texts[2];  // as they were written
    drawn_law *laws;            // [law_count]
    points start;               // where the paths begin
    char x_label[LABEL_SIZE], y_label[LABEL_SIZE];
    carom_plot_series *series;  // with the place of each in carom_plot_looks, and whether it is pale
    int *looks, count;
    bool *pale;
} panel;

// A picture under way: files, laws, panels, and the memory of all points.
typedef struct picture {
    source *files;  // the one asked for, then those laid over it
    int file_count;
    carom_axes axes;  // the contact velocities
    law_data *laws;
    int law_count;
    int *looks;           // [law_count] of the laws
    const bool *pale;     // [law_count] what the picture is not about
    bool start_is_drawn;  // it is that of one draw of an uncertain impact
    panel *panels;
    int panel_count;
    carom_arena memory;  // of files, laws and points
} picture;

// -------------------------------------------------------------------------------------------------------------- reading

// Opens the file asked for and those laid over it, which must have the same contacts, and so the same axes.
static carom_status open_files(picture *drawn, const char *path, const carom_plot_request *request, carom_error *error) {
    const char *const *overlays = request->overlays;
    int count = 1;
    while (overlays && overlays[count - 1]) count++;
    drawn->files = carom_arena_take(&drawn->memory, (size_t)count, sizeof *drawn->files);
    if (!drawn->files) return carom_fail_memory(error, path);
    for (int f = 0; f < count; f++) {
        source *opened = &drawn->files[f];
        opened->path = f ? overlays[f - 1] : path;
        const carom_status status = request->apart ? carom_result_open_apart(opened->path, NULL, &opened->result, error)
                                                   : carom_result_open(opened->path, &opened->result, error);
        if (status) return status;
        drawn->file_count++;
        const carom_result *first = drawn->files->result;
        const int contacts = carom_result_contacts(first);
        bool same = carom_result_contacts(opened->result) == contacts &&
                    carom_result_tangent_dim(opened->result) == carom_result_tangent_dim(first);
        for (int i = 0; i < contacts && same; i++)
            same = !strcmp(carom_result_contact_name(first, i), carom_result_contact_name(opened->result, i));
        if (!same) return carom_fail(error, CAROM_BAD_INPUT, "%s: its contacts are not those of %s", opened->path, path);
    }
    return CAROM_OK;
}

// Reads the outcomes of all laws of all files.
static carom_status read_laws(picture *drawn, carom_error *error) {
    int count = 0;
    for (int f = 0; f < drawn->file_count; f++) count += carom_result_laws(drawn->files[f].result);
    drawn->laws = carom_arena_take(&drawn->memory, (size_t)count, sizeof *drawn->laws);
    if (!drawn->laws) return carom_fail_memory(error, drawn->files->path);
    for (int f = 0; f < drawn->file_count; f++)
        for (int i = 0; i < carom_result_laws(drawn->files[f].result); i++) {
            const carom_result *file = drawn->files[f].result;
            const char *name = carom_result_law_name(file, i);
            law_data *law = &drawn->laws[drawn->law_count++];
            law->file = file;
            law->index = i;
            law->passed = !strcmp(name, CAROM_REACHED_NAME);
            // Samples have a column that numbers them.
            law->sampled = carom_result_has_dataset(file, name, carom_sample_columns[0].name);
            law->uncertain = carom_result_has_column(file, i, "draw");
            carom_status status = carom_result_read_contact_velocities(file, i, &law->u, &law->rows, error);
            if (!status) status = carom_result_read_polyhedra(file, i, &law->pieces, law->certificate, error);
            if (!status) status = carom_result_read_series(file, i, "path", &law->states, &law->starts, &law->paths, error);
            // A path is a whole number of states.
            for (int64_t k = 0; k < law->paths && !status; k++)
                if ((law->starts[k + 1] - law->starts[k]) % drawn->axes.count)
                    status = carom_result_refuse(file, error, "the paths of %s do not fit its contacts", name);
            if (status) return status;
        }
    return CAROM_OK;
}

// ----------------------------------------------------------------------------------------------------------------- axes

static carom_status make_points(picture *drawn, points *made, int64_t room, carom_error *error) {
    made->x = carom_arena_take(&drawn->memory, (size_t)room, sizeof(double));
    made->y = carom_arena_take(&drawn->memory, (size_t)room, sizeof(double));
    return drawn->memory.failed ? carom_fail_memory(error, "points of the picture") : CAROM_OK;
}

static void add_point(points *set, double x, double y) {
    set->x[set->count] = x;
    set->y[set->count++] = y;
}

// The two contact velocities that show most, in the order of the axes.
static carom_status choose_axes(picture *drawn, panel *made, carom_error *error) {
    const carom_axes *axes = &drawn->axes;
    double *ranges = carom_arena_take(&drawn->memory, 2 * (size_t)axes->count, sizeof *ranges);
    if (!ranges) return carom_fail_memory(error, "axes");
    // The ranges of all outcomes of all laws.
    for (int i = 0; i < axes->count; i++) {
        double *range = ranges + 2 * i;
        range[0] = INFINITY;
        range[1] = -INFINITY;
        for (const law_data *law = drawn->laws; law < drawn->laws + drawn->law_count; law++)
            for (int64_t row = 0; row < law->rows; row++) {
                const double velocity = law->u[row * axes->count + axes->places[i]];
                range[0] = fmin(range[0], velocity);
                range[1] = fmax(range[1], velocity);
            }
    }
    int places[2];
    carom_plot_choose_axes(axes->contacts, axes->count, ranges, places);
    carom_functional *chosen[2] = {&made->x, &made->y};
    for (int k = 0; k < 2; k++) {
        const int best = places[k];
        *chosen[k] = (carom_functional){.n = axes->count, .contact = calloc((size_t)axes->count, sizeof(double)), .unit = "m/s"};
        if (!chosen[k]->contact) return carom_fail_memory(error, "axes");
        made->axis_texts[k] = axes->names[best];
        chosen[k]->contact[axes->places[best]] = 1;
    }
    return CAROM_OK;
}

// The axes that a text names, X,Y.
static carom_status read_axes(picture *drawn, const char *key, const char *text, panel *made, carom_error *error) {
    carom_functional named[2];
    int count;
    carom_error inner;
    const carom_quantities quantities = carom_result_quantities(drawn->files->result);
    const carom_status status =
        carom_functional_read_list(&quantities, text, 2, 2, named, made->axis_texts, &count, &drawn->memory, &inner);
    if (status) return carom_fail(error, status, "%s: %s", key, inner.message);
    made->x = named[0];
    made->y = named[1];
    return CAROM_OK;
}

// The panels: those of X:Y,X:Y, or one.
static carom_status make_panels(picture *drawn, const carom_plot_request *request, carom_error *error) {
    const char *text = request->panels;
    int count = 1;
    for (const char *c = text; c && *c; c++) count += *c == ',';
    if (text && request->axes) return carom_fail(error, CAROM_BAD_INPUT, "panels have their own axes: give axes or panels");
    if (count > CAROM_PLOT_PANELS)
        return carom_fail(error, CAROM_BAD_INPUT, "panels: a picture has %d at most, not %d", CAROM_PLOT_PANELS, count);
    drawn->panels = carom_arena_take(&drawn->memory, (size_t)count, sizeof *drawn->panels);
    if (!drawn->panels) return carom_fail_memory(error, "panels");
    carom_status status = CAROM_OK;
    for (int k = 0; k < count && !status; k++) {
        panel *made = &drawn->panels[drawn->panel_count++];
        made->laws = carom_arena_take(&drawn->memory, (size_t)drawn->law_count, sizeof *made->laws);
        if (!made->laws) return carom_fail_memory(error, "panels");
        status = make_points(drawn, &made->start, 1, error);
        if (status) break;
        if (!text) {
            status = request->axes ? read_axes(drawn, "axes", request->axes, made, error) : choose_axes(drawn, made, error);
            continue;
        }
        // X:Y is the list X,Y.
        const size_t length = strcspn(text, ",");
        char *pair = carom_arena_take(&drawn->memory, length + 1, 1), *colon;
        if (!pair) return carom_fail_memory(error, "panels");
        memcpy(pair, text, length);
        if (!(colon = strchr(pair, ':')) || colon == pair || !colon[1])
            return carom_fail(error, CAROM_BAD_INPUT, "panels: '%.60s' is not of the form X:Y, such as Jn.A:Jn.B", pair);
        *colon = ',';
        status = read_axes(drawn, "panels", pair, made, error);
        text += length + 1;
    }
    return status;
}

// Reads what else the axes have of the outcomes of a law.
static carom_status complete_law(picture *drawn, law_data *law, carom_error *error) {
    const carom_result *file = law->file;
    const char *name = carom_result_law_name(file, law->index);
    const int nv = drawn->panels->x.nv;
    int64_t rows = law->rows;
    int width = nv;
    carom_status status = CAROM_OK;
    bool velocities = false, impulses = false, energy = false;
    for (const panel *on = drawn->panels; on < drawn->panels + drawn->panel_count; on++) {
        velocities = velocities || on->x.has_velocity || on->y.has_velocity;
        impulses = impulses || on->x.has_impulse || on->y.has_impulse;
        energy = energy || on->x.energy != 0 || on->y.energy != 0;
    }
    if (law->pieces && (energy || impulses))
        return carom_fail(error, CAROM_BAD_INPUT, "axes: %s is a set of velocities: impulses and K make no polygons of its pieces", name);
    // Velocities of another file must be those of the first.
    const carom_quantities own = carom_result_quantities(file), first = carom_result_quantities(drawn->files->result);
    bool same = own.nv == first.nv && !own.velocity_names == !first.velocity_names;
    for (int i = 0; i < own.nv && own.velocity_names && same; i++) same = !strcmp(own.velocity_names[i], first.velocity_names[i]);
    if (!same && velocities)
        return carom_fail(error, CAROM_BAD_INPUT, "axes: a file laid over %s has velocities of other joints", drawn->files->path);
    if (velocities) status = carom_result_read_reals(file, law->index, "v_plus", &law->v, &rows, &width, error);
    if (!status && width != nv)
        status = carom_result_refuse(file, error, "the outcomes of %s do not fit the velocities of the impact", name);
    if (!status && rows == law->rows && impulses) status = carom_result_read_impulses(file, law->index, &law->impulses, &rows, error);
    if (!status && rows == law->rows && energy)
        status = carom_result_read_reals(file, law->index, "energy_ratio", &law->energy, &rows, &width, error);
    if (!status && rows != law->rows)
        status = carom_result_refuse(file, error, "the outcomes of %s have columns of different lengths", name);
    return status;
}

// ---------------------------------------------------------------------------------------------------------------- points

// Adds the point of an outcome.
static void add_outcome(const panel *on, points *set, const carom_outcome_point *outcome) {
    add_point(set, carom_functional_value(&on->x, outcome), carom_functional_value(&on->y, outcome));
}

// Outcomes have more than contact velocities where the axes need it.
static carom_outcome_point outcome_of(const picture *drawn, const law_data *law, int64_t row) {
    const int64_t n = drawn->axes.count;
    return (carom_outcome_point){.u = law->u + row * n,
                                 .v = law->v ? law->v + row * drawn->panels->x.nv : NULL,
                                 .impulse = law->impulses ? law->impulses + row * n : NULL,
                                 .energy_ratio = law->energy ? law->energy[row] : (double)NAN};
}

static bool has_contacts_only(const carom_functional *axis) { return !axis->has_velocity && !axis->has_impulse && axis->energy == 0; }

// Everything that is drawn of a law on a panel.
static carom_status place_law(picture *drawn, const law_data *law, panel *on, carom_error *error) {
    drawn_law *made = &on->laws[law - drawn->laws];
    const int n = drawn->axes.count;
    // The outcomes; velocities that are not finite cannot be drawn.
    points *outcomes = &made->outcomes;
    carom_status status = make_points(drawn, outcomes, law->rows, error);
    for (int64_t row = 0; row < law->rows && !status; row++) {
        const carom_outcome_point outcome = outcome_of(drawn, law, row);
        add_outcome(on, outcomes, &outcome);
        const int64_t last = outcomes->count - 1;
        if (!isfinite(outcomes->x[last]) || !isfinite(outcomes->y[last])) outcomes->count--;
    }

    // The convex hull of samples.
    if (!status && law->sampled) {
        int64_t vertices = 0, *hull = carom_arena_take(&drawn->memory, (size_t)outcomes->count, sizeof *hull);
        status = hull ? carom_hull_plane(outcomes->x, outcomes->y, outcomes->count, hull, &vertices, error)
                      : carom_fail_memory(error, "convex hull");
        if (!status) status = make_points(drawn, &made->hull, vertices, error);
        for (int64_t i = 0; i < vertices && !status; i++) add_point(&made->hull, outcomes->x[hull[i]], outcomes->y[hull[i]]);
    }

    // The projections of an exact set's pieces: their outlines, closed, with a NaN after each. The first room is for all of them: each has
    // at most all its vertices, the first of them again, and a NaN. The second is for the vertices of any one.
    const int pieces = law->pieces ? law->pieces->count : 0;
    int64_t room = 0, most = 0;
    for (int k = 0; k < pieces; k++) {
        const int vertices = law->pieces->pieces[k].vertices;
        room += vertices + 2;
        most = vertices > most ? vertices : most;
    }
    points corners = {0};
    int64_t *outline = carom_arena_take(&drawn->memory, (size_t)most, sizeof *outline);
    if (!status) status = make_points(drawn, &made->areas, room, error);
    if (!status) status = make_points(drawn, &corners, most, error);
    for (int k = 0; k < pieces && !status; k++) {
        const carom_piece *piece = &law->pieces->pieces[k];
        int64_t count;
        corners.count = 0;
        for (int i = 0; i < piece->vertices; i++)
            add_outcome(on, &corners,
                        &(carom_outcome_point){.u = piece->contact_velocity + i * n, .v = piece->velocity + i * law->pieces->nv});
        status = carom_hull_plane(corners.x, corners.y, corners.count, outline, &count, error);
        for (int64_t i = 0; i <= count && !status; i++)
            add_point(&made->areas, corners.x[outline[i % count]], corners.y[outline[i % count]]);
        add_point(&made->areas, NAN, NAN);
    }

    // All paths in one series, with a NaN between them: where the axes are contact velocities, which is all that paths have.
    const bool traced = has_contacts_only(&on->x) && has_contacts_only(&on->y);
    if (!traced) return status;
    if (!status && law->paths) status = make_points(drawn, &made->path, law->starts[law->paths] / n + law->paths, error);
    for (int64_t i = 0; i < law->paths && !status; i++) {
        const double *state = law->states + law->starts[i], *end = law->states + law->starts[i + 1];
        if (state == end) continue;
        if (!on->start.count) {
            add_outcome(on, &on->start, &(carom_outcome_point){.u = state});
            drawn->start_is_drawn = law->uncertain;
        }
        // Paths from many draws lie across each other, and their outcomes say enough. Those of samples are of the first few only.
        if (law->uncertain && !law->sampled) break;
        for (; state < end; state += n) add_outcome(on, &made->path, &(carom_outcome_point){.u = state});
        add_point(&made->path, NAN, NAN);
    }
    return status;
}

// --------------------------------------------------------------------------------------------------------------- series

// What the key says of a law.
static void label_law(law_data *law) {
    const char *name = carom_result_law_name(law->file, law->index);
    // Samples may have been taken with paths or without, and only the first of them have one.
    long long count = law->rows, paths = 0;
    for (int64_t i = 0; i < law->paths; i++) paths += law->starts[i + 1] > law->starts[i];
    const char *plural = count == 1 ? "" : "s";
    if (law->pieces) {
        // What is drawn of an exact computation may be the set, a part of it, or more than it.
        const bool exact = !strcmp(law->certificate, "exact"), inner = !strcmp(law->certificate, "inner");
        const char *claim = exact ? "the set" : inner ? "certified inner set" : "certified outer set";
        const int pieces = law->pieces->count;
        if (law->passed) {
            snprintf(law->label, LABEL_SIZE, "passed through by solutions (%d piece%s)", pieces, pieces == 1 ? "" : "s");
            return;
        }
        // Spatial sets are those for linearised cones.
        char friction[LABEL_SIZE] = "";
        const bool linearised =
            carom_result_read_attribute(law->file, law->index, "friction", friction, sizeof friction) && !strncmp(friction, "for ", 4);
        snprintf(law->label, LABEL_SIZE, "%s (%s%s%.100s, %d piece%s)", name, claim, linearised ? " " : "", linearised ? friction : "",
                 pieces, pieces == 1 ? "" : "s");
    } else if (law->sampled) {
        char solver[LABEL_SIZE] = "", approximate[LABEL_SIZE] = "";
        const char *walk = carom_sampler_names[CAROM_SAMPLER_WALK];
        carom_result_read_attribute(law->file, law->index, "solver", solver, sizeof solver);
        const char *noun = strcmp(solver, walk) ? "sample" : walk;
        // Files of older versions do not say how many may lie outside the set.
        const bool known = carom_result_read_attribute(law->file, law->index, "approximate", approximate, sizeof approximate);
        const long long outside = known ? strtoll(approximate, NULL, 10) : -1;
        // Of an uncertain impact they are of many sets.
        if (law->uncertain)
            snprintf(law->label, LABEL_SIZE, "%s (uncertain impact: %lld %s%s of a union of sets)", name, count, noun, plural);
        else if (outside < 0)
            snprintf(law->label, LABEL_SIZE, "%s (%lld %s%s)", name, count, noun, plural);
        else if (!outside)
            snprintf(law->label, LABEL_SIZE, "%s (inner approximation, %lld %s%s)", name, count, noun, plural);
        else
            snprintf(law->label, LABEL_SIZE, "%s (%lld %s%s, %lld may lie outside)", name, count, noun, plural, outside);
        snprintf(law->path_label, LABEL_SIZE, "%lld of the samples, step by step", paths);
    } else if (paths && !law->uncertain) {
        snprintf(law->label, LABEL_SIZE, "%s (%lld outcome%s, impact by impact)", name, count, plural);
    } else if (count != 1) {
        snprintf(law->label, LABEL_SIZE, law->uncertain ? "%s (uncertain impact: %lld outcomes)" : "%s (%lld outcomes)", name, count);
    } else {
        snprintf(law->label, LABEL_SIZE, "%s", name);
    }
}

// Adds what is drawn of a law, or of none.
static void add_series(const picture *drawn, panel *on, int law, const char *label, carom_plot_style style, const points *set) {
    if (!set->count) return;
    on->looks[on->count] = law < 0 ? 0 : drawn->looks[law];
    on->pale[on->count] = drawn->pale && law >= 0 && drawn->pale[law];
    on->series[on->count++] = (carom_plot_series){label, style, set->count, set->x, set->y};
}

// What solutions pass through first, then paths of samples, exact sets, samples over them and their hulls, then paths of other laws, and
// their outcomes on top.
static void collect_series(const picture *drawn, panel *on) {
    const law_data *laws = drawn->laws;
    const drawn_law *made = on->laws;
    const int count = drawn->law_count;
    for (int i = 0; i < count; i++)
        if (laws[i].passed) add_series(drawn, on, i, laws[i].label, CAROM_PLOT_GROUND, &made[i].areas);
    for (int i = 0; i < count; i++)
        if (laws[i].sampled) add_series(drawn, on, i, laws[i].path_label, CAROM_PLOT_TRACES, &made[i].path);
    // The first on top: an outer set follows the inner one that it encloses.
    for (int i = count; i-- > 0;)
        if (!laws[i].passed) add_series(drawn, on, i, laws[i].label, CAROM_PLOT_AREAS, &made[i].areas);
    for (int i = 0; i < count; i++)
        if (!laws[i].pieces && laws[i].sampled) add_series(drawn, on, i, laws[i].label, CAROM_PLOT_DOTS, &made[i].outcomes);
    bool labelled = false;
    for (int i = 0; i < count; i++) {
        add_series(drawn, on, i, labelled ? "" : "convex hull, not the set", CAROM_PLOT_DASHES, &made[i].hull);
        labelled = labelled || made[i].hull.count;
    }
    for (int i = 0; i < count; i++) {
        if (laws[i].sampled) continue;
        add_series(drawn, on, i, "", CAROM_PLOT_PATH, &made[i].path);
        if (!laws[i].pieces)
            add_series(drawn, on, i, laws[i].label, laws[i].rows > MANY_OUTCOMES ? CAROM_PLOT_DOTS : CAROM_PLOT_MARKS, &made[i].outcomes);
    }
    add_series(drawn, on, -1, drawn->start_is_drawn ? "before the impact, in the first draw" : "before the impact", CAROM_PLOT_START,
               &on->start);
}

// ---------------------------------------------------------------------------------------------------------------- files

// The output where it names a picture, otherwise PREFIX-Jn.A-Jn.B.png, or PREFIX-panels.png. NULL when out of memory.
static char *picture_path(picture *drawn, const carom_plot_request *request) {
    const bool many = drawn->panel_count > 1;
    const char *x = drawn->panels->axis_texts[0], *y = drawn->panels->axis_texts[1];
    const char *output = request->output, *start = output ? output : drawn->files->path, *dot = strrchr(start, '.');
    const bool named =
        output && (request->axes || (dot && (!strcasecmp(dot, ".png") || !strcasecmp(dot, ".svg") || !strcasecmp(dot, ".pdf"))));
    // The name of the result file loses its ending.
    const bool shorter = !output && dot && dot > start && !strchr(dot, '/');
    const size_t prefix = shorter ? (size_t)(dot - start) : strlen(start), size = prefix + strlen(x) + strlen(y) + sizeof "-panels.png";
    char *path = carom_arena_take(&drawn->memory, size, 1);
    if (path && named) memcpy(path, output, prefix);
    if (!path || named) return path;
    snprintf(path, size, many ? "%.*s-panels.png" : "%.*s-%s-%s.png", (int)prefix, start, x, y);
    // Contact names may hold what file names may not.
    for (char *c = path + prefix; *c; c++)
        if (*c == '/' || (unsigned char)*c < 0x20) *c = '_';
    return path;
}

// A quantity and its unit, where it has one.
static void write_label(const carom_functional *axis, const char *text, char label[LABEL_SIZE]) {
    const bool ratio = !strcmp(text, "K");
    if (*axis->unit)
        snprintf(label, LABEL_SIZE, "%s  [%s]", text, axis->unit);
    else
        snprintf(label, LABEL_SIZE, "%s%s", text, ratio ? "  (kinetic energy after / before)" : "");
}

static void release_picture(picture *drawn) {
    for (int i = 0; i < drawn->law_count; i++) {
        carom_polyhedra_free(drawn->laws[i].pieces);
        free(drawn->laws[i].u);
        free(drawn->laws[i].v);
        free(drawn->laws[i].impulses);
        free(drawn->laws[i].energy);
        free(drawn->laws[i].states);
        free(drawn->laws[i].starts);
    }
    for (int f = 0; f < drawn->file_count; f++) carom_result_close(drawn->files[f].result);
    for (int k = 0; k < drawn->panel_count; k++) {
        carom_functional_release(&drawn->panels[k].x);
        carom_functional_release(&drawn->panels[k].y);
    }
    carom_axes_free(&drawn->axes);
    carom_arena_free(&drawn->memory);
}

// What each panel shows of the laws, with their looks.
static carom_status make_series(picture *drawn, const carom_plot_request *request, carom_error *error) {
    const int count = drawn->law_count;
    const char **names = carom_arena_take(&drawn->memory, (size_t)count, sizeof *names);
    bool *pale = carom_arena_take(&drawn->memory, (size_t)count, sizeof *pale), found = !request->focus;
    drawn->looks = carom_arena_take(&drawn->memory, (size_t)count, sizeof *drawn->looks);
    if (drawn->memory.failed) return carom_fail_memory(error, "picture");
    for (int i = 0; i < count; i++) {
        names[i] = carom_result_law_name(drawn->laws[i].file, drawn->laws[i].index);
        pale[i] = request->focus && strcmp(names[i], request->focus) && !drawn->laws[i].passed;
        found = found || !strcmp(names[i], request->focus);
    }
    if (!found) return carom_fail(error, CAROM_BAD_INPUT, "focus: %s holds no outcomes of '%.60s'", drawn->files->path, request->focus);
    carom_plot_assign_looks(count, names, drawn->looks);
    drawn->pale = pale;
    const size_t most = (size_t)count * SERIES_PER_LAW + 1;
    for (panel *on = drawn->panels; on < drawn->panels + drawn->panel_count; on++) {
        on->series = carom_arena_take(&drawn->memory, most, sizeof *on->series);
        on->looks = carom_arena_take(&drawn->memory, most, sizeof *on->looks);
        on->pale = carom_arena_take(&drawn->memory, most, sizeof *on->pale);
        if (drawn->memory.failed) return carom_fail_memory(error, "picture");
        collect_series(drawn, on);
        write_label(&on->x, on->axis_texts[0], on->x_label);
        write_label(&on->y, on->axis_texts[1], on->y_label);
    }
    return CAROM_OK;
}

carom_status carom_plot_result(const char *result_path, const carom_plot_request *request, carom_plot_report report, void *user,
                               carom_error *error) {
    picture drawn = {0};
    char title[LABEL_SIZE], *path = NULL;

    // The data: files, their laws, and the points of each law on the axes of each panel.
    const char *output = request->output;
    carom_status status = output ? carom_check_ending(output, ".png .svg .pdf", "a picture, or the start of its name", error) : CAROM_OK;
    if (!status) status = open_files(&drawn, result_path, request, error);
    const carom_result *first = status ? NULL : drawn.files->result;
    if (!status)
        status = carom_axes_create(carom_result_contacts(first), carom_result_tangent_dim(first), carom_result_contact_names(first),
                                   &drawn.axes, error);
    if (!status) status = read_laws(&drawn, error);
    if (!status) status = make_panels(&drawn, request, error);
    for (int i = 0; i < drawn.law_count && !status; i++) {
        label_law(&drawn.laws[i]);
        status = complete_law(&drawn, &drawn.laws[i], error);
        for (int k = 0; k < drawn.panel_count && !status; k++) status = place_law(&drawn, &drawn.laws[i], &drawn.panels[k], error);
    }
    for (int f = 0; f < drawn.file_count && !status; f++) status = carom_result_check(drawn.files[f].result, error);
    int64_t rows = 0;
    for (int i = 0; i < drawn.law_count; i++) rows += drawn.laws[i].rows;
    if (!status && !rows)
        status = carom_fail(error, CAROM_BAD_INPUT, "%s: there is nothing to draw: it holds no outcomes (`--keep extent` leaves them out)",
                            result_path);

    // The picture of them.
    if (!status) status = make_series(&drawn, request, error);
    carom_plot plots[CAROM_PLOT_PANELS];
    const int *looks[CAROM_PLOT_PANELS];
    bool contacts = true;
    for (int k = 0; k < drawn.panel_count && !status; k++) {
        const panel *on = &drawn.panels[k];
        contacts = contacts && has_contacts_only(&on->x) && has_contacts_only(&on->y);
        looks[k] = on->looks;
        plots[k] = (carom_plot){.title = title,
                                .x_label = on->x_label,
                                .y_label = on->y_label,
                                .series = on->series,
                                .series_count = on->count,
                                .pale = on->pale,
                                .zoom = !request->all,
                                .dark = request->dark,
                                .size = request->size};
    }
    if (!status) {
        snprintf(title, LABEL_SIZE, "%s: %s after the impact", carom_result_scene_name(first),
                 contacts ? "contact velocities" : "outcomes");
        path = picture_path(&drawn, request);
        if (!path) status = carom_fail_memory(error, "picture");
    }

    // Its file, and an SVG beside a PNG where it is asked for.
    const char *ending = path ? strrchr(path, '.') : NULL;
    const int files = request->svg && ending && !strcasecmp(ending, ".png") ? 2 : 1;
    for (int i = 0; i < files && !status; i++) {
        if (i) memcpy(path + strlen(path) - 4, ".svg", 4);
        status = carom_plot_write_panels(drawn.panel_count, plots, looks, path, error);
        if (!status && report) report(user, path);
    }

    release_picture(&drawn);
    return status;
}
