// SPDX-License-Identifier: Apache-2.0
// What the subcommands print and write: messages, directories, JSON.
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "carom/dense.h"
#include "carom/file.h"
#include "carom/json.h"
#include "carom/temporary.h"
#include "carom/utf8.h"
#include "cli/cli_internal.h"
#include "cli/ranks/ranks.h"

// The command whose answer is to be one JSON document, as long as nothing of the document is printed.
static const cli_command *owes_json;
// When the command began.
static double started;

void cli_expect_answer(const cli_command *command, bool json) {
    owes_json = json ? command : NULL;
    started = carom_clock_seconds();
    cli_print_whole(json);
}

int cli_report(const carom_error *error) {
    // A reader that has seen enough, as `head`, is told nothing; the answer is not done.
    if (error->status == CAROM_IO_FAILED && error->system_error == EPIPE) return EXIT_INCOMPLETE;
    if (cli_ranks_is_first()) fprintf(stderr, "carom: %s\n", error->message);
    // Lack of memory and our own bugs are not the fault of the input.
    const bool could_not_finish = error->status == CAROM_OUT_OF_MEMORY || error->status == CAROM_INTERNAL;
    if (!could_not_finish) return EXIT_BAD_INPUT;
    // A computation that could not finish has an answer: that it did not. There may be no memory for jansson.
    if (owes_json && cli_ranks_is_first())
        printf("{\"schema\": \"carom.%s/1\", \"complete\": false, \"verdict\": \"%s\"}\n", owes_json->name,
               carom_status_name(error->status));
    owes_json = NULL;
    return EXIT_INCOMPLETE;
}

// Sentences of the document's `caveats`; NULL: none so far.
static json_t *caveats;

void cli_say(const char *kind, const char *path, const char *format, ...) {
    if (!cli_ranks_is_first()) return;
    char sentence[CAROM_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    fprintf(stderr, "carom: %s: %s%s%s\n", kind, path ? path : "", path ? ": " : "", sentence);
    if (!owes_json) return;
    if (!caveats) caveats = json_array();
    json_array_append_new(caveats, carom_json_text(sentence));
}

void cli_warn(const carom_scene *scene) {
    if (carom_scene_uncertainty(scene))
        cli_say("note", carom_scene_path(scene), "'uncertain' is not used here: the answer is for the numbers that the scene gives");
    cli_warn_uncertain(scene);
}

void cli_warn_uncertain(const carom_scene *scene) {
    for (int i = 0; i < carom_scene_notes(scene); i++) cli_say("note", carom_scene_path(scene), "%s", carom_scene_get_note(scene, i));
    for (int i = 0; i < carom_scene_warnings(scene); i++) cli_say("warning", NULL, "%s", carom_scene_warning(scene, i));
}

carom_given cli_given_by(const cli_arguments *arguments, const carom_scene *scene) {
    carom_given given = {carom_scene_impact(scene), carom_scene_uncertainty(scene), cli_given(arguments, "restitution")};
    const char *text;
    for (int i = 0; i < carom_scene_settings_count(scene); i++)
        given.restitution = given.restitution || !strcmp(carom_scene_get_setting(scene, i, &text), "restitution");
    return given;
}

void cli_say_unused(const cli_arguments *arguments, const carom_scene *scene, const carom_law *const *laws, const int *unused, int count) {
    // Other states in which no contact approaches are a warning of the scene.
    char rest[CAROM_MESSAGE_SIZE];
    carom_error error;
    const carom_impact *impact = carom_scene_impact(scene);
    if (carom_impact_velocity_scale(impact) == 0 && !carom_impact_describe_rest(impact, rest, &error))
        cli_say("note", carom_scene_path(scene), "%s", rest);
    const carom_given given = cli_given_by(arguments, scene);
    carom_caveats sentences;
    carom_law_caveats(&given, laws, unused, count, CAROM_SPELL_FLAGS, &sentences);
    for (int i = 0; i < sentences.count; i++) cli_say("note", carom_scene_path(scene), "%s", sentences.text[i]);
}

void cli_say_unused_by(const cli_arguments *arguments, const carom_scene *scene, const carom_law *law, const void *options) {
    const carom_given given = cli_given_by(arguments, scene);
    const int unused = carom_law_unused(law, options, &given);
    cli_say_unused(arguments, scene, &law, &unused, 1);
}

double cli_shown(const carom_impact *impact, double velocity) {
    // Four digits below the tolerance of termination.
    const double round_off = 1e-4 * CAROM_TERMINATION_TOLERANCE * carom_impact_velocity_scale(impact);
    return fabs(velocity) <= round_off ? 0 : velocity;
}

double cli_shown_of(const carom_impact *impact, const carom_functional *functional, double value) {
    double largest = 0;
    for (int i = 0; i < functional->n; i++) largest = fmax(largest, fabs(functional->contact[i]));
    for (int i = 0; i < functional->nv; i++) largest = fmax(largest, fabs(functional->velocity[i]));
    return largest > 0 && cli_shown(impact, value / largest) == 0 ? 0 : value;
}

char *cli_join_path(const char *directory, const char *name) {
    const size_t length = strlen(directory), size = length + strlen(name) + 2;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s%s%s", directory, length && directory[length - 1] == '/' ? "" : "/", name);
    return path;
}

carom_status cli_make_directory(const char *path, bool *made, carom_error *error) {
    // A directory that is there already is fine, anything else of that name is not.
    struct stat about;
    *made = false;
    if (!stat(path, &about) && S_ISDIR(about.st_mode)) return CAROM_OK;
    const carom_status status = carom_check_ending(path, "", "a directory", error);
    if (status) return status;
    *made = !mkdir(path, 0777);
    if (*made) return CAROM_OK;
    return carom_fail(error, CAROM_IO_FAILED, "%s: the directory cannot be made (%s)", path, strerror(errno == EEXIST ? ENOTDIR : errno));
}

carom_status cli_read_json(const char *path, json_t **document, carom_error *error) {
    *document = NULL;
    char *bytes;
    size_t size;
    json_error_t wrong;
    const carom_status status = carom_file_read(path, CAROM_MAX_FILE_SIZE, &bytes, &size, error);
    if (status) return status;
    *document = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &wrong);
    free(bytes);
    if (*document) return CAROM_OK;
    if (json_error_code(&wrong) == json_error_out_of_memory) return carom_fail_memory(error, path);
    return carom_fail(error, CAROM_BAD_INPUT, "%s:%d: %s", path, wrong.line, wrong.text);
}

void cli_print_word(const char *text) {
    bool plain = *text, shown = true;
    for (const char *c = text; *c;) {
        unsigned long code;
        const int length = carom_utf8_decode(c, &code);
        shown = shown && length && carom_utf8_is_shown(code);
        plain = plain && (isalnum((unsigned char)*c) || strchr("_./+:@%=,-", *c));
        c += length ? length : 1;
    }
    // What begins with a dash would be an option.
    if (*text == '-') fputs("./", stdout);
    if (plain) {
        fputs(text, stdout);
        return;
    }
    // Within '...' every character but ' stands for itself; within $'...' bytes that no terminal shows have numbers.
    fputs(shown ? "'" : "$'", stdout);
    for (const char *c = text; *c; c++)
        if (*c == '\'')
            fputs(shown ? "'\\''" : "\\'", stdout);
        else if (!shown && (*c == '\\' || (unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f))
            printf("\\%03o", (unsigned char)*c);
        else
            putchar(*c);
    putchar('\'');
}

int cli_print_large_json(json_t *document, const carom_json_large *matrices, int count, int status) {
    carom_error error;
    // How far the computation got. Answers that know more than done or not have said it.
    if (document && !json_object_get(document, "verdict"))
        json_object_set_new(document, "verdict", json_string(carom_verdict_name(status == EXIT_DONE ? CAROM_COMPLETE : CAROM_INCOMPLETE)));
    // What was said on the way stands before what the document says itself.
    json_t *own = json_object_get(document, "caveats");
    if (document && caveats && own) json_array_extend(caveats, own);
    if (document && (caveats || !own)) json_object_set_new(document, "caveats", caveats ? caveats : json_array());
    if (document) caveats = NULL;
    // The time of the whole, scene and files included.
    if (json_object_get(document, "seconds")) json_object_set_new(document, "seconds", json_real(carom_clock_seconds() - started));
    // What fails half-way through the document has no other one after it.
    if (document) owes_json = NULL;
    const carom_status written = carom_json_write_large(stdout, document, matrices, count, &error);
    json_decref(document);
    if (written && cli_output_failure()) error.system_error = cli_output_failure();
    return written ? cli_report(&error) : status;
}

int cli_print_json(json_t *document, int status) { return cli_print_large_json(document, NULL, 0, status); }

carom_status cli_read_zoom(const cli_arguments *arguments, bool *all, carom_error *error) {
    const char *zoom = cli_value(arguments, "zoom");
    *all = zoom && !strcmp(zoom, "all");
    return !zoom || *all || !strcmp(zoom, "set") ? CAROM_OK : carom_fail(error, CAROM_BAD_INPUT, "--zoom: '%.60s' is not set or all", zoom);
}

void cli_note_file(void *files, const char *path) { json_array_append_new(files, carom_json_text(path)); }

bool cli_describe_entry(const carom_registry *registry, carom_registry_kind kind, int index, const char **name, const char **summary) {
    const void *entry = carom_registry_entry(registry, kind, index);
    const carom_law *law = entry;
    const carom_integrator *integrator = entry;
    const carom_lcp_solver *solver = entry;
    const bool is_law = kind == CAROM_REGISTRY_LAWS, is_integrator = kind == CAROM_REGISTRY_INTEGRATORS;
    *name = is_law ? law->name : is_integrator ? integrator->name : solver->name;
    *summary = is_law ? law->summary : is_integrator ? integrator->summary : solver->summary;
    return is_law || is_integrator || carom_lcp_available(solver);
}

int cli_list(const carom_registry *registry, carom_registry_kind kind) {
    const char *name, *summary;
    for (int i = 0; i < carom_registry_count(registry, kind); i++)
        // Solvers have longer names.
        if (cli_describe_entry(registry, kind, i, &name, &summary))
            printf("%-*s  %s\n", kind == CAROM_REGISTRY_SOLVERS ? 28 : 16, name, summary);
    return EXIT_DONE;
}

json_t *cli_extent_json(const carom_extent *extent) {
    if (!extent->outcomes) return json_null();
    return json_pack("{s:o, s:o}", "normal", carom_json_matrix(extent->normal, extent->sizes.contacts, 2), "tangent",
                     carom_json_matrix(extent->tangent, extent->sizes.tangents, 2));
}

bool cli_add_caveat(json_t *document, const char *sentence) {
    json_t *list = json_object_get(document, "caveats");
    if (!list) json_object_set_new(document, "caveats", list = json_array());
    if (*sentence) json_array_append_new(list, carom_json_text(sentence));
    return *sentence;
}

void cli_add_contact_velocity(json_t *object, const carom_impact *impact, const double *u) {
    const int n = carom_impact_contact_size(impact), stride = 1 + carom_impact_get_data(impact)->tangent_dim;
    // Every stride-th entry is a normal velocity.
    json_t *normal = json_array(), *tangent = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(i % stride ? tangent : normal, carom_json_real(u[i]));
    json_object_set_new(object, "normal_velocity", normal);
    json_object_set_new(object, "tangent_velocity", tangent);
}

json_t *cli_joints_json(const carom_impact_data *data) {
    if (!data->velocity_names) return json_null();
    json_t *joints = json_array();
    for (int i = 0; i < data->nv; i++) json_array_append_new(joints, carom_json_text(data->velocity_names[i]));
    return joints;
}

carom_status cli_find_support(const carom_scene *scene, bool bounces, carom_uncertain_support *support, carom_exact_start *start,
                              carom_error *error) {
    *support = (carom_uncertain_support){0};
    const carom_uncertainty *uncertainty = carom_scene_uncertainty(scene);
    if (!uncertainty) return CAROM_OK;
    const char *key = carom_uncertainty_moves(uncertainty)                ? "qpos"
                      : bounces && carom_uncertainty_bounces(uncertainty) ? "restitution"
                                                                          : NULL;
    if (key)
        return carom_fail(error, CAROM_UNSUPPORTED,
                          "%s: uncertain.%s: exact sets and bounds know uncertain velocities and friction only: sample it (`carom sample`)",
                          carom_scene_path(scene), key);
    carom_error inner;
    const carom_status status = carom_uncertainty_support(uncertainty, support, &inner);
    *start = (carom_exact_start){.count = support->vertices, .vertices = support->velocity};
    return status ? carom_fail(error, status, "%s: %s", carom_scene_path(scene), inner.message) : CAROM_OK;
}

json_t *cli_parameters_json(const carom_uncertainty *uncertainty) {
    json_t *names = json_array();
    for (int i = 0; i < carom_uncertainty_count(uncertainty); i++)
        json_array_append_new(names, carom_json_text(carom_uncertainty_parameters(uncertainty)[i].name));
    return names;
}

void cli_print_parameters(const carom_uncertainty *uncertainty) {
    enum { SHOWN = 12 };
    const int count = carom_uncertainty_count(uncertainty);
    putchar(':');
    for (int i = 0; i < count && i < SHOWN; i++) printf("%s %s", i ? "," : "", carom_uncertainty_parameters(uncertainty)[i].name);
    printf("%s\n", count > SHOWN ? ", ..." : count ? "" : " nothing");
}

void cli_add_result(json_t *document, const carom_table *result) {
    json_t *row = carom_json_row(result, 0, NULL);
    json_object_update(document, row);
    json_decref(row);
}

void cli_print_findings(const carom_table *result, int first) {
    for (int i = first; i < carom_table_columns(result); i++) {
        const carom_column *column = carom_table_column(result, i);
        if (column->type == CAROM_COLUMN_BOOLEAN && *carom_table_integer_column(result, i)) printf("%s: %s\n", column->name, column->doc);
        if (column->type == CAROM_COLUMN_CHOICE && *carom_table_integer_column(result, i) >= 0)
            printf("%s: %s\n", column->name, column->flags[*carom_table_integer_column(result, i)]);
    }
}
