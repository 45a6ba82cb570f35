// SPDX-License-Identifier: Apache-2.0
// Pictures of `carom simulate`: those of the integrator.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "carom/temporary.h"
#include "cli/simulate/simulate.h"

enum { MOST_TIMES = 100 };

// `--times T,T,...`: a list of times from 0 on.
static carom_status parse_times(cli_motion_pictures *pictures, const char *text, carom_error *error) {
    pictures->times = calloc(MOST_TIMES, sizeof *pictures->times);
    char *copy = strdup(text), *rest = NULL;
    carom_status status = pictures->times && copy ? CAROM_OK : carom_fail_memory(error, "--times");
    for (char *word = status ? NULL : strtok_r(copy, ",", &rest); word && !status; word = strtok_r(NULL, ",", &rest)) {
        double *time = &pictures->times[pictures->time_count];
        if (pictures->time_count == MOST_TIMES)
            status = carom_fail(error, CAROM_BAD_INPUT, "--times: there may be at most %d times", MOST_TIMES);
        else if (!carom_parse_number(word, time) || *time < 0)
            status = carom_fail(error, CAROM_BAD_INPUT, "--times: '%.60s' is not a time of 0 or more", word);
        else
            pictures->time_count++;
    }
    if (!status && !pictures->time_count) status = carom_fail(error, CAROM_BAD_INPUT, "--times: '%.60s' has no time", text);
    free(copy);
    return status;
}

// `--views NAME,NAME,...`, each once.
static carom_status parse_views(cli_motion_pictures *pictures, const char *text, carom_error *error) {
    while (*text) {
        const size_t length = strcspn(text, ",");
        const carom_view *view = NULL;
        for (int i = 0; i < CAROM_VIEWS && !view; i++)
            if (strlen(carom_views[i].name) == length && !strncmp(carom_views[i].name, text, length)) view = &carom_views[i];
        if (!view)
            return carom_fail(error, CAROM_BAD_INPUT, "--views: '%.*s' is not one of: side, front, top, 3d",
                              (int)(length < 60 ? length : 60), text);
        for (int i = 0; i < pictures->view_count; i++)
            if (pictures->view[i].name == view->name)
                return carom_fail(error, CAROM_BAD_INPUT, "--views: '%s' stands there twice", view->name);
        pictures->view[pictures->view_count++] = *view;
        text += length + (text[length] == ',');
    }
    return pictures->view_count ? CAROM_OK : carom_fail(error, CAROM_BAD_INPUT, "--views: names no view");
}

// `--coordinates NAME,NAME,...`
static carom_status parse_coordinates(cli_motion *motion, const char *text, carom_error *error) {
    cli_motion_pictures *pictures = &motion->pictures;
    char *rest = NULL;
    pictures->coordinate_text = strdup(text);
    pictures->coordinates = calloc(strlen(text) + 1, sizeof *pictures->coordinates);
    if (!pictures->coordinate_text || !pictures->coordinates) return carom_fail_memory(error, "--coordinates");
    for (char *word = strtok_r(pictures->coordinate_text, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        pictures->coordinates[pictures->coordinate_count++] = word;
    carom_error inner;
    if (!pictures->coordinate_count) return carom_fail(error, CAROM_BAD_INPUT, "--coordinates: names no coordinate");
    const carom_status status =
        carom_motion_check_coordinates(motion->request.motion, pictures->coordinates, pictures->coordinate_count, &inner);
    return status ? carom_fail(error, status, "--%s", inner.message) : CAROM_OK;
}

// `--window A:B`, two times.
static carom_status parse_window(cli_motion_pictures *pictures, const char *text, carom_error *error) {
    const char *colon = strchr(text, ':');
    char first[64] = "";
    if (colon && (size_t)(colon - text) < sizeof first) memcpy(first, text, (size_t)(colon - text));
    pictures->windowed = true;
    if (carom_parse_number(first, &pictures->window[0]) && carom_parse_number(colon + 1, &pictures->window[1]) &&
        pictures->window[0] < pictures->window[1])
        return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "--window: '%.60s' is not A:B with times A < B", text);
}

carom_status cli_pictures_parse(cli_motion *motion, carom_error *error) {
    const cli_arguments *arguments = motion->arguments;
    const carom_integrator *one = motion->request.integrator;
    cli_motion_pictures *pictures = &motion->pictures;
    const char *prefix = cli_value(arguments, "figures"), *film = cli_value(arguments, "animate"), *times = cli_value(arguments, "times");
    const char *window = cli_value(arguments, "window"), *views = cli_value(arguments, "views"), *size = cli_value(arguments, "size");
    const char *coordinates = cli_value(arguments, "coordinates");
    if (!prefix && (times || size || coordinates))
        return carom_fail(error, CAROM_BAD_INPUT, "--%s belongs to --figures", times ? "times" : size ? "size" : "coordinates");
    if (!prefix && !film && (window || views))
        return carom_fail(error, CAROM_BAD_INPUT, "--%s belongs to --figures or --animate", window ? "window" : "views");
    if (prefix && !one->figures) return carom_fail(error, CAROM_UNSUPPORTED, "--figures: the integrator '%s' has no pictures", one->name);
    carom_status status = prefix ? carom_check_ending(prefix, "", "the start of pictures' names", error) : CAROM_OK;
    if (!status && times) status = parse_times(pictures, times, error);
    if (!status && views) status = parse_views(pictures, views, error);
    if (!status && coordinates) status = parse_coordinates(motion, coordinates, error);
    if (!status && window) status = parse_window(pictures, window, error);
    carom_error inner;
    if (!status && size && carom_plot_parse_size(size, &pictures->size, &inner))
        status = carom_fail(error, CAROM_BAD_INPUT, "--size: %s", inner.message);
    if (status || !film) return status;
    status = carom_animation_create(film, &pictures->animation, &inner);
    return status ? carom_fail(error, status, "--animate: %s", inner.message) : CAROM_OK;
}

void cli_pictures_free(cli_motion_pictures *pictures) {
    carom_animation_free(pictures->animation);
    free(pictures->times);
    free(pictures->coordinates);
    free(pictures->coordinate_text);
}

// The path PREFIX-NAME.png; to be freed, and to be added to `files` when it is there.
static char *name_picture(const cli_motion *motion, const char *name) {
    const char *prefix = cli_value(motion->arguments, "figures");
    const size_t size = strlen(prefix) + strlen(name) + 8;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s-%s.png", prefix, name);
    return path;
}

// A receiver of the integrator's pictures.
static carom_status write_figure(void *user, const char *name, const carom_plot *picture, carom_error *error) {
    cli_motion *motion = user;
    char *path = name_picture(motion, name);
    if (!path) return carom_fail_memory(error, "figure");
    carom_plot sized = *picture;
    sized.size = motion->pictures.size;
    const carom_status status = carom_plot_write(&sized, path, error);
    if (!status) json_array_append_new(motion->files, carom_json_text(path));
    free(path);
    return status;
}

// Snapshots in the views that are asked for, of a model from the side at least.
static carom_status draw_views(cli_motion *motion, int64_t first, int64_t count, carom_error *error) {
    const cli_motion_pictures *pictures = &motion->pictures;
    const bool usual = !pictures->view_count && carom_scene_model(motion->scene);
    const int views = usual ? 1 : pictures->view_count;
    carom_status status = CAROM_OK;
    for (int i = 0; i < views && !status; i++) {
        const carom_view *view = usual ? &carom_views[0] : &pictures->view[i];
        char name[32];
        snprintf(name, sizeof name, "view-%s", view->name);
        char *path = name_picture(motion, name);
        status = path ? cli_view_snapshots(motion, view, first, count, path, error) : carom_fail_memory(error, "figure");
        if (!status) json_array_append_new(motion->files, carom_json_text(path));
        free(path);
    }
    return status;
}

carom_status cli_pictures_draw(cli_motion *motion, carom_error *error) {
    const cli_motion_pictures *pictures = &motion->pictures;
    const double *times = carom_motion_times(motion->states);
    const int64_t rows = carom_table_rows(motion->states);
    int64_t first = 0, last = rows - 1;
    if (pictures->windowed) {
        while (first < rows && times[first] < pictures->window[0]) first++;
        while (last >= first && times[last] > pictures->window[1]) last--;
        if (first > last)
            return carom_fail(error, CAROM_BAD_INPUT, "--window: no state was recorded from %g s to %g s; the last is at %g s",
                              pictures->window[0], pictures->window[1], times[rows - 1]);
    }
    const carom_figures figures = {.title = carom_scene_name(motion->scene),
                                   .motion = motion->request.motion,
                                   .states = motion->states,
                                   .window = pictures->windowed ? pictures->window : NULL,
                                   .times = pictures->times,
                                   .time_count = pictures->time_count,
                                   .coordinates = pictures->coordinates,
                                   .coordinate_count = pictures->coordinate_count,
                                   .answer = &motion->answer,
                                   .ensemble = motion->ensemble.members ? &motion->ensemble : NULL,
                                   .convergence = motion->convergence,
                                   .orders = motion->orders,
                                   .user = motion,
                                   .receive = write_figure};
    const bool draws = cli_given(motion->arguments, "figures");
    carom_status status = draws ? motion->request.integrator->figures(&figures, error) : CAROM_OK;
    if (!status && draws) status = draw_views(motion, first, last - first + 1, error);
    if (status || !pictures->animation) return status;
    const carom_view *view = pictures->view_count ? &pictures->view[0] : &carom_views[0];
    status = cli_view_animate(motion, view, first, last - first + 1, pictures->animation, error);
    const char *film = cli_value(motion->arguments, "animate");
    if (!status && !pictures->cut_short) json_array_append_new(motion->files, carom_json_text(film));
    return status;
}
