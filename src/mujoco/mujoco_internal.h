// SPDX-License-Identifier: Apache-2.0
// What the files of this room share: the model, guarded calls of MuJoCo, what is known before a model is compiled, and the parts of a
// freeze.
#ifndef CAROM_MUJOCO_INTERNAL_H
#define CAROM_MUJOCO_INTERNAL_H

#include <libxml/tree.h>
#include <mujoco/mujoco.h>

#include "carom/model.h"

struct carom_model {
    mjModel *compiled;
    mjData *data;
    char *path;       // for messages
    char **warnings;  // of the last load, freeze or detection
    int warning_count;
    struct model_touch *touches;  // contacts of the last freeze or detection, without joints at their stops; names are not kept
    int touch_count;
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

enum { MODEL_ADVICE_SIZE = 512 };

// A URDF without a link called 'world' has its root welded to the world. Writes how to change that, or an empty text for other files.
void model_advise_on_root(const xmlDoc *document, char advice[MODEL_ADVICE_SIZE]);

// ----------------------------------------------------------------------------------------------------- parts of a freeze

enum { MODEL_LABEL_SIZE = 128 };

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

// Positions, tendon lengths and the mass matrix at the current state, and the check of what cannot take part in an impact.
carom_status model_prepare_freeze(carom_model *model, carom_error *error);

// The impact of these contacts and of the joints at their stops, after model_prepare_freeze.
carom_status model_freeze_touches(carom_model *model, const model_touch *touches, int count, int tangent_dim, model_idle_rule rule,
                                  carom_impact **impact, carom_error *error);

// Whether the model leaves on what an mjDSBL_ bit switches off, and constraints as a whole.
bool model_is_enabled(const carom_model *model, int disable_bit);

// Refuses what takes part in an impact and is not modelled: joints and tendons with dry friction, tendons at their limits.
carom_status model_check_constraints(const carom_model *model, carom_error *error);

// A joint at or beyond its stop, as a contact without friction: the velocity that opens it is sum row[i] v[dof + i].
typedef struct model_limit {
    int joint;
    int dof, dofs;
    double row[3];
} model_limit;

// Joints at their stops, into `limits` ([njnt], may be NULL); returns their number.
int model_find_limits(const carom_model *model, model_limit *limits);

// Warns of joints that are close to a stop but not at it: a state rounded to a few digits is the usual reason.
carom_status model_warn_of_near_limits(carom_model *model, carom_error *error);

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
