// SPDX-License-Identifier: Apache-2.0
// What the files of this room share: the model, guarded calls of MuJoCo, what is known before a model is compiled, and the parts of a
// freeze.
#ifndef CAROM_MUJOCO_INTERNAL_H
#define CAROM_MUJOCO_INTERNAL_H

#include <libxml/tree.h>

#include "carom/model.h"
#include "mujoco/compatible.h"

struct carom_model {
    mjModel *compiled;
    mjData *data;
    char *path;       // for messages
    char **warnings;  // of the last load, freeze or detection
    int warning_count;
    struct model_touch *touches;  // contacts of the last freeze or detection; names are not kept
    int touch_count;
    struct model_limit *limits;  // joints and tendons at their limits, which are its contacts after these
    int limit_count;
    bool drops_limits;            // that detection left some out that the state has
    double limit_restitution[2];  // of joints at their stops, and of tendons at their limits
    double *vertices;             // [nmeshvert x 3] of a URDF's meshes, in the frames of their geoms; NULL: single precision has to do
};

// ------------------------------------------------------------------------------------------------------ MuJoCo's calls

// Calls `call(argument)` with MuJoCo's error and warning handlers under our control: warnings are dropped, an error ends the call.
// Handlers are global to the process: the caller's are back when no thread is in a guarded call. A guarded call contains no other one.
// CAROM_BAD_INPUT with MuJoCo's message when it raised an error; what the call had allocated until then is lost.
// CAROM_OUT_OF_MEMORY where the message says so.
carom_status model_guard_call(void (*call)(void *argument), void *argument, carom_error *error);
// The same for a call that compiles a model: no other guarded call runs beside it.
carom_status model_guard_load(void (*call)(void *argument), void *argument, carom_error *error);
// Does this message of MuJoCo say that memory could not be allocated?
bool model_lacks_memory(const char *message);

// Adds one sentence to the model's warnings.
carom_status model_warn(carom_model *model, carom_error *error, const char *format, ...) CAROM_PRINTF(3, 4);
void model_clear_warnings(carom_model *model);

// --------------------------------------------------------------------------------------------------------- model files

// Refuses a pipe or a device, whose reading may never end, and a folder; what is not there is not refused.
carom_status model_check_regular(const char *path, carom_error *error);
// Reads a model file of less than 64 MiB; `*text` is freed by the caller, also after a failure.
carom_status model_read_text(const char *path, char **text, carom_error *error);
// The same for a file that may hold any bytes.
carom_status model_read_bytes(const char *path, char **bytes, size_t *size, carom_error *error);

// The document of a text, freed by the caller (xmlFreeDoc). Malformed XML is no error here, because MuJoCo may accept it, and its messages
// are better: the document then holds the elements that can be read, or is NULL. Reads no other file, expands no entity, prints nothing.
// CAROM_OUT_OF_MEMORY.
carom_status model_xml_parse(const char *text, xmlDoc **document, carom_error *error);

// The elements of a document, in the order of the text; NULL after the last one.
const xmlNode *model_xml_first(const xmlDoc *document);
const xmlNode *model_xml_next(const xmlNode *element);
// Takes an element out of its document, with what is inside it, and returns the one that followed.
const xmlNode *model_xml_remove(const xmlNode *element);
// Is this the element's name?
bool model_xml_is(const xmlNode *element, const char *name);
// The value of an attribute, owned by the document; NULL where it has an entity that the document defines.
const char *model_xml_value(const xmlAttr *attribute);
// The value of an element's attribute of this name; NULL where it has none.
const char *model_xml_attribute(const xmlNode *element, const char *name);
// Adds an element, and sets an attribute of one: to a text, or to at most 7 numbers. The document lacks what there is no memory for.
xmlNode *model_xml_add(xmlNode *parent, const char *name);
void model_xml_set(xmlNode *element, const char *name, const char *value);
void model_xml_set_numbers(xmlNode *element, const char *name, int count, const double *values);
// The text of a document, in UTF-8, freed by the caller.
carom_status model_xml_print(xmlDoc *document, char **text, carom_error *error);

// Refuses a model file, or a file that it includes, whose sizes would make MuJoCo abort the process for lack of memory, or that has a
// number which is none, or a negative friction.
carom_status model_check_sizes(const char *path, const xmlDoc *document, carom_error *error);

// The text with every ${formula} replaced by its value; freed by the caller.
carom_status model_expand(const char *text, const carom_model_parameters *parameters, char **expanded, carom_error *error);

// A URDF without a link called 'world' has its root welded to the world. Writes how to change that, or an empty text for other files.
void model_advise_on_root(const xmlDoc *document, char advice[MODEL_ADVICE_SIZE]);

// Is this the well-formed document of a URDF?
bool model_is_urdf(const xmlDoc *document);
// Refuses a URDF that is a template of xacro, before files are sought under names that it would have changed.
carom_status model_check_template(const char *path, const xmlDoc *document, carom_error *error);

// Is this link of a URDF the child of a joint?
bool model_urdf_is_child(const xmlDoc *document, const char *link);

enum { MODEL_LABEL_SIZE = 128, MODEL_GEOM_NAME_SIZE = 48, MODEL_PAIR_NAME_SIZE = 120, MODEL_NOTES = 8 };

// The vectors of a keyframe as the file has them, qpos and qvel; NULL where it has none.
typedef struct model_keyframe {
    char *text[2];
} model_keyframe;

// A file in memory; what it holds belongs to it.
typedef struct model_file {
    char *name, *bytes;
    size_t size;
} model_file;

// A place and a quaternion, which geoms of a URDF's meshes have as numbers of their user: where the file puts them.
enum { MODEL_FRAME_SIZE = 7 };

// The points of a mesh as its file and its scale give them [count x 3].
typedef struct model_points {
    int count;
    double *point;
} model_points;

// What is changed in a model file, before and after MuJoCo compiles it.
typedef struct model_changes {
    xmlDoc *document;                            // borrowed
    const carom_ground *ground;                  // borrowed
    bool edited;                                 // the document differs from the file
    bool urdf;                                   // which was a URDF
    char name[MODEL_LABEL_SIZE];                 // of the new floor; empty: it has none
    char notes[MODEL_NOTES][MODEL_ADVICE_SIZE];  // warnings
    int note_count;
    model_keyframe *keyframes;  // of a model whose root is freed
    int keyframe_count;
    int joint;          // the new free joint's number, where there are keyframes
    model_file *files;  // that MuJoCo gets from memory, besides the model's text
    int file_count;
    model_points *meshes;  // of a URDF
    int mesh_count;
    int floor;  // afterwards: a floor that the model has besides; -1: none
} model_changes;

// Edits the document of a model file. To be freed by model_free_changes, also after a failure.
carom_status model_start_changes(const char *path, xmlDoc *document, const carom_model_options *options, model_changes *changes,
                                 carom_error *error);
// Adds a sentence to the warnings; beyond the last one it is dropped.
void model_add_note(model_changes *changes, const char *format, ...) CAROM_PRINTF(2, 3);
// Makes MJCF of a URDF, whose meshes have been found. Other documents stay.
carom_status model_translate_urdf(const char *path, model_changes *changes, carom_error *error);
// Starts the joints of a URDF that mimic others where these are.
void model_settle_mimics(const model_changes *changes, const mjModel *compiled, mjData *data);
// Gives a model of a URDF the vertices of its meshes in doubles.
carom_status model_refine_vertices(const model_changes *changes, carom_model *model, carom_error *error);
// Adds the floor that the options ask for.
void model_add_ground(model_changes *changes);
// Puts what included files hold in the place of the elements that include them, as MuJoCo does.
carom_status model_inline_includes(xmlDoc *document, const char *path, carom_error *error);
// Reads the files that an MJCF model names before MuJoCo does, and leaves out those that an impact does not need.
carom_status model_check_assets(const char *path, model_changes *changes, carom_error *error);
// Gives the meshes of a URDF the paths of their files, and leaves out its <visual> elements.
carom_status model_resolve_meshes(const char *path, model_changes *changes, carom_error *error);
// The name of a file in its folder.
const char *model_last_part(const char *path);
// Three factors from a text; those that it does not give, and all without a text, are 1.
void model_parse_scale(const char *text, double scale[3]);
// Refuses a mesh that is damaged, and, where its hull is needed, one that is flat. MuJoCo names what it does not know.
// @param content  the content type that the model gives; NULL: none
// @param kept  gets its scaled points, to be freed by the caller; NULL: not needed
carom_status model_check_mesh(const char *path, const char *content, const double scale[3], bool hull, model_points *kept,
                              carom_error *error);
// The same for points, [count x 3].
carom_status model_check_points(const char *name, int count, const double *points, const double scale[3], bool hull, carom_error *error);
// Is this a mesh that MuJoCo cannot read as a whole, and that can be converted: STL in words, COLLADA, or OBJ of several objects?
bool model_needs_conversion(const char *path);
// Such a mesh as binary STL; `*bytes` is freed by the caller.
carom_status model_convert_mesh(const char *path, char **bytes, size_t *size, carom_error *error);
// Finishes what XML cannot say, in the compiled model.
carom_status model_finish_changes(const char *path, model_changes *changes, mjModel *compiled, carom_error *error);
void model_free_changes(model_changes *changes);

// ----------------------------------------------------------------------------------------------------- parts of a freeze

// A contact located on the model at its state: a point on each of two bodies, and orthonormal directions, all in world axes.
typedef struct model_touch {
    const char *name;  // NULL: the impact's default
    int body[2];       // 0 is the world
    int geom[2];       // -1: the place is no geom
    double point[2][3];
    double meeting[3];  // the place that is shown: halfway between the two, or the one that is known
    double normal[3];   // from the first body to the second
    double tangent[2][3];
    double friction, restitution;
    double gap;  // between the surfaces, < 0 where they penetrate; NaN: not known
} model_touch;

// Entries of a Jacobian below this, relative to the largest, are rounding errors of zero.
#define MODEL_ZERO_TOLERANCE 1e-12

// What happens to a contact whose distance no motion of the model changes.
typedef enum model_idle_rule { MODEL_REFUSE_IDLE, MODEL_DROP_IDLE } model_idle_rule;

// "contact 'A'", or "contact number 1" for one without a name.
void model_label_contact(char label[MODEL_LABEL_SIZE], const char *name, int index);

// A unit vector along `vector`; false when its length is zero or not finite.
bool model_normalise(const double vector[3], double unit[3]);

// 1 when two contacts are of the same bodies, -1 when the first of one is the second of the other, 0 when they are not. Bodies welded
// together count as one.
int model_compare_bodies(const carom_model *model, const model_touch *a, const model_touch *b);

// Finds the points of a contact that the caller described, and its directions. Needs the positions of the current state.
carom_status model_locate_contact(const carom_model *model, const carom_model_contact *contact, int index, model_touch *touch,
                                  carom_error *error);

// Positions, tendon lengths and the mass matrix at the current state.
carom_status model_prepare_freeze(carom_model *model, carom_error *error);

// The impact of these contacts and of the joints and tendons at their limits, after model_prepare_freeze.
// @param detection  which of the limits; NULL: all
carom_status model_freeze_touches(carom_model *model, const model_touch *touches, int count, int tangent_dim, model_idle_rule rule,
                                  const carom_detection *detection, carom_impact **impact, carom_error *error);

// Whether the model leaves on what an mjDSBL_ bit switches off, and constraints as a whole.
bool model_is_enabled(const carom_model *model, int disable_bit);

// A joint or a tendon at or beyond its limit, a contact without friction: what opens it is sign times the rate of the joint's position, or
// of the tendon's length.
typedef struct model_limit {
    int type;  // mjOBJ_JOINT or mjOBJ_TENDON
    int id;
    double sign;  // +1 at the lower limit, -1 at the upper one
} model_limit;

// One end of a limit's range.
typedef struct model_limit_end {
    bool exists;
    double distance;  // of the value from it, negative beyond [m or rad; of tendons over joints what their coefficients give]
    double width;     // of the range
} model_limit_end;

// How far a joint or a tendon is from the end of its range that the limit's sign tells: MuJoCo's limits act from their margin on. The limit
// of a ball joint is on its angle of rotation, and has an upper end only. Needs tendons' lengths.
model_limit_end model_measure_limit(const mjModel *compiled, const mjData *data, const model_limit *limit);

// Joints, then tendons at their limits, into `limits` ([njnt + ntendon], may be NULL); returns their number. Needs tendons' lengths.
int model_find_limits(const carom_model *model, model_limit *limits);

// The row of a limit, [nv], at the positions of `data`: the velocity that opens it is row . v. Needs tendons' Jacobians.
void model_fill_limit_row(const mjModel *compiled, const mjData *data, const model_limit *limit, double *row);

// What the entries of a limit's row are measured by: those of a tendon by its coefficients, or by the Jacobians of the places on its path.
// @param jacobian  workspace, [3 x nv]
double model_scale_limit_row(const mjModel *compiled, const mjData *data, const model_limit *limit, double *jacobian);

// What becomes of a contact found. The first that applies to one of several equal contacts is that of them all.
typedef enum model_fate { MODEL_KEPT, MODEL_UNWANTED, MODEL_EXCLUDED, MODEL_OF_SELF, MODEL_FATES } model_fate;

// By the names of its geoms and their bodies, and by whether they are of one robot.
model_fate model_judge_pair(const carom_model *model, const carom_detection *detection, const int geoms[2]);
// Then by its own name.
// The first pair of the detection that fits these geoms and gives a coefficient; -1 where none does.
typedef enum model_coefficient { MODEL_FRICTION, MODEL_RESTITUTION } model_coefficient;
int model_find_pair(const carom_model *model, const carom_detection *detection, const int geoms[2], model_coefficient coefficient);
model_fate model_judge_name(const carom_detection *detection, model_fate fate, const char *name);
// The name of a limit as a contact.
void model_name_limit(const carom_model *model, const model_limit *limit, char name[MODEL_LABEL_SIZE]);
// Leaves the limits that the detection keeps, in their order; returns their number. NULL keeps all.
int model_choose_limits(const carom_model *model, const carom_detection *detection, model_limit *limits, int count);
// Refuses a pattern that no body, geom, joint's stop or contact found is called by, and says near names.
carom_status model_check_patterns(const carom_model *model, const carom_detection *detection, const char *const *found, int found_count,
                                  carom_error *error);

// The height of a mesh above a plane, at the places of the data [m].
double model_measure_mesh(const carom_model *model, const mjData *data, int plane, int geom);
// After collision detection with this margin [m]: a mesh on a plane touches it with all corners of its face, not only with those that
// MuJoCo finds.
// @param compiled  the model's, or a copy
void model_complete_faces(const carom_model *model, const mjModel *compiled, mjData *data, double margin);

// One warning for each two flat faces that have one contact, for which MuJoCo found no corners.
carom_status model_warn_of_faces(carom_model *model, const model_touch *touches, int count, carom_error *error);

// Fills the data's contacts with those closer than the margin [m], which replaces all margins and gaps of the model.
carom_status model_find_contacts(carom_model *model, double margin, carom_error *error);

// A contact that collision detection found: its place, the friction of its geoms unless the detection has one, and the default tangents.
// CAROM_BAD_INPUT for what impacts do not have: deformable bodies, belts, anisotropic friction.
carom_status model_read_contact(const carom_model *model, const carom_detection *detection, const mjContact *contact, model_touch *touch,
                                carom_error *error);
// Contacts are named after the geoms of the bodies that can move, with a colon between two of them.
void model_name_pair(const carom_model *model, const int geoms[2], char name[MODEL_PAIR_NAME_SIZE]);

// Leaves the contacts of one pair in the data, found with a margin just above its distance, which `*pair` gets. False where MuJoCo finds
// none.
bool model_narrow_to_pair(carom_model *model, mjContact *pair);

// The impact of the contacts that the data holds, after model_prepare_freeze.
carom_status model_freeze_found(carom_model *model, const carom_detection *detection, carom_impact **impact, carom_error *error);

// The pairs of geoms nearest to each other of those that may collide and that the detection takes (NULL: all), by their distance: a
// contact for each, at least `least` apart [m]. Needs positions of the current state. Returns their number, at most MODEL_NEAREST.
enum { MODEL_NEAREST = 64 };
int model_find_nearest(carom_model *model, const carom_detection *detection, double least, mjContact nearest[MODEL_NEAREST]);

// Takes the state of a keyframe.
carom_status model_set_keyframe(carom_model *model, int key, carom_error *error);

// Adds a speed along gravity [m/s] to the joint that carries the robot up and down, the one that carom_model_lower moves.
carom_status model_push_down(carom_model *model, double speed, carom_error *error);

// A geom's name, or that of its body.
void model_name_geom(const carom_model *model, int geom, char name[MODEL_GEOM_NAME_SIZE]);

// Keeps the corners of patches: of the contacts of two bodies in one plane those on the convex hull, as far as they are not closer than
// `distance` to one that is kept. `*count` falls; the order stays.
carom_status model_merge_patches(const carom_model *model, model_touch *touches, int *count, double distance, carom_error *error);

// Warns of joints and tendons that are close to a limit but not at it: a state rounded to a few digits is the usual reason.
carom_status model_warn_of_near_limits(carom_model *model, carom_error *error);

// Row number `index` of one of MuJoCo's matrices, [nv]: with `columns` a sparse one, whose rows have `lengths` entries from `starts` on.
void model_copy_row(int nv, const double *matrix, int index, const int *lengths, const int *starts, const int *columns, double *row);

// Whether joints or tendons have frictionloss, and whether there are actuators, that the model does not disable.
bool model_has_friction(const carom_model *model);
bool model_has_actuators(const carom_model *model);
// One warning of the forces that the model has and an impact leaves out.
carom_status model_warn_of_forces(carom_model *model, carom_error *error);
// Switches off gravity, actuators and frictionloss in a copy of a model, and the damping that mj_Euler treats. Springs, dampers, fluids and
// gravity compensation are qfrc_passive, which the caller sets to zero.
// @param zeros  replace the damping of joints, [nv], as long as the copy is used
void model_switch_off_forces(mjModel *shadow, double *zeros);

// The name of an object of MuJoCo as messages and contacts show it: printable ASCII without blanks and commas, cut to fit; `kind` and its
// number where it has none.
void model_write_name(const carom_model *model, int type, int id, const char *kind, char *name, size_t size);

// Writes "; did you mean 'NAME'?" where the name of an object of this type is near, otherwise nothing. Returns `text`.
const char *model_suggest(const carom_model *model, int type, int count, const char *name, char text[CAROM_SUGGESTION_SIZE]);

// The name of a velocity, cut to fit.
typedef char model_velocity_name[CAROM_MAX_NAME + 1];

// Names every velocity by its joint, distinct: NAME for a slide or a hinge, NAME.wx and so on for a ball joint, NAME.x to NAME.wz for a
// free one.
// @param names  [nv]
// @param turns  [nv], the velocity is an angular one
void model_name_velocities(const carom_model *model, model_velocity_name *names, bool *turns);

// Where contacts are, whose arrays the arena holds; it has failed where there is no memory. A touch that is NULL has no place.
void model_describe_touches(const carom_model *model, const model_touch *const *touches, int count, int tangent_dim, carom_arena *arena,
                            carom_contact_geometry *geometry);

// A sphere about a point of a body above a plane fixed in the world; its radius is zero where the point itself touches. It lies at
// c - r n, so that the gap is n.c - r - offset.
typedef struct model_plane_contact {
    int body;
    double point[3];  // the center c, in the body's frame
    double radius;
    double normal[3], tangent[2][3], offset;
} model_plane_contact;

// Listed contacts in their order, a capsule's two ends following each other.
typedef struct model_plane_contacts {
    int count;
    model_plane_contact *contact;
    const char **names;
    double *friction, *restitution;
} model_plane_contacts;

// Places the contacts of a list, with names of their own where they have none, into an arena. CAROM_UNSUPPORTED for contacts between two
// places, and at other geoms than spheres and capsules.
carom_status model_place_contacts(const carom_model *model, const carom_model_contact *contacts, int count, carom_arena *arena,
                                  model_plane_contacts *placed, carom_error *error);

// The motions that the active equality constraints C v = 0 leave: P = 1 - sum_i motion_i' force_i, see project.c.
typedef struct model_projector {
    int nv, rank;     // rank 0: nothing is constrained, and nothing changes
    double *force;    // [rank x nv]
    double *motion;   // [rank x nv], M-orthonormal, force_i . motion_j = 1 for i = j, else 0
    int *constraint;  // [rank], the equality constraint that each comes from
} model_projector;

// @param mass   M at the current state, [nv x nv]
// @param arena  holds its arrays
carom_status model_projector_create(carom_model *model, const double *mass, carom_arena *arena, model_projector *projector,
                                    carom_error *error);
// row = row P.
void model_project_row(const model_projector *projector, double *row);
// v = P v. CAROM_BAD_INPUT naming the constraint when v breaks it by more than round-off of what people type.
carom_status model_project_velocity(const carom_model *model, const model_projector *projector, const double *mass, double *v,
                                    carom_error *error);

#endif
