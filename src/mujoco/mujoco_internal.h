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
};

// ------------------------------------------------------------------------------------------------------ MuJoCo's calls

// Calls `call(argument)` with MuJoCo's error and warning handlers under our control: warnings are dropped, an error ends the call.
// Handlers are global to the process, so that one guarded call runs at a time; the caller's handlers are back when this returns.
// CAROM_BAD_INPUT with MuJoCo's message when it raised an error; what the call had allocated until then is lost.
// CAROM_OUT_OF_MEMORY where the message says so.
carom_status model_guard_call(void (*call)(void *argument), void *argument, carom_error *error);
// Does this message of MuJoCo say that memory could not be allocated?
bool model_lacks_memory(const char *message);

// Adds one sentence to the model's warnings.
carom_status model_warn(carom_model *model, carom_error *error, const char *format, ...) CAROM_PRINTF(3, 4);
void model_clear_warnings(carom_model *model);

// --------------------------------------------------------------------------------------------------------- model files

// Refuses a pipe or a device, whose reading may never end; what is not there is not refused.
carom_status model_check_regular(const char *path, carom_error *error);
// Reads a model file of less than 64 MiB; `*text` is freed by the caller, also after a failure.
carom_status model_read_text(const char *path, char **text, carom_error *error);

// The document of a text, freed by the caller (xmlFreeDoc). Malformed XML is no error here, because MuJoCo may accept it, and its messages
// are better: the document then holds the elements that can be read, or is NULL. Reads no other file, expands no entity, prints nothing.
// CAROM_OUT_OF_MEMORY.
carom_status model_xml_parse(const char *text, xmlDoc **document, carom_error *error);

// The elements of a document, in the order of the text; NULL after the last one.
const xmlNode *model_xml_first(const xmlDoc *document);
const xmlNode *model_xml_next(const xmlNode *element);
// Is this the element's name?
bool model_xml_is(const xmlNode *element, const char *name);
// The value of an attribute, owned by the document; NULL where it has an entity that the document defines.
const char *model_xml_value(const xmlAttr *attribute);

// Refuses a model file, or a file that it includes, whose sizes would make MuJoCo abort the process for lack of memory.
carom_status model_check_sizes(const char *path, const xmlDoc *document, carom_error *error);

// The text with every ${formula} replaced by its value; freed by the caller.
carom_status model_expand(const char *text, const carom_model_parameters *parameters, char **expanded, carom_error *error);

// A URDF without a link called 'world' has its root welded to the world. Writes how to change that, or an empty text for other files.
void model_advise_on_root(const xmlDoc *document, char advice[MODEL_ADVICE_SIZE]);

// ----------------------------------------------------------------------------------------------------- parts of a freeze

enum { MODEL_LABEL_SIZE = 128 };

// A contact located on the model at its state: a point on each of two bodies, and orthonormal directions, all in world axes.
typedef struct model_touch {
    const char *name;  // NULL: the impact's default
    int body[2];       // 0 is the world
    double point[2][3];
    double normal[3];  // from the first body to the second
    double tangent[2][3];
    double friction, restitution;
} model_touch;

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
carom_status model_freeze_touches(carom_model *model, const model_touch *touches, int count, int tangent_dim, model_idle_rule rule,
                                  carom_impact **impact, carom_error *error);

// Whether the model leaves on what an mjDSBL_ bit switches off, and constraints as a whole.
bool model_is_enabled(const carom_model *model, int disable_bit);

// A joint or a tendon at or beyond its limit, a contact without friction: what opens it is sign times the rate of the joint's position, or
// of the tendon's length.
typedef struct model_limit {
    int type;  // mjOBJ_JOINT or mjOBJ_TENDON
    int id;
    double sign;  // +1 at the lower limit, -1 at the upper one
} model_limit;

// Joints, then tendons at their limits, into `limits` ([njnt + ntendon], may be NULL); returns their number. Needs tendons' lengths.
int model_find_limits(const carom_model *model, model_limit *limits);

// The row of a limit, [nv], at the positions of `data`: the velocity that opens it is row . v. Needs tendons' Jacobians.
void model_fill_limit_row(const mjModel *compiled, const mjData *data, const model_limit *limit, double *row);

// What the entries of a limit's row are measured by: those of a tendon by its coefficients, or by the Jacobians of the places on its path.
// @param jacobian  workspace, [3 x nv]
double model_scale_limit_row(const mjModel *compiled, const mjData *data, const model_limit *limit, double *jacobian);

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
