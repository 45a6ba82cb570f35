// SPDX-License-Identifier: Apache-2.0
// What the files of a model in motion share: mechanism.c creates it, terms.c has its forces, touches.c what it touches.
#ifndef CAROM_MUJOCO_MECHANISM_H
#define CAROM_MUJOCO_MECHANISM_H

#include "carom/mechanism.h"
#include "mujoco/mujoco_internal.h"

typedef struct model_mechanism {
    carom_mechanism base;
    const carom_model *model;
    carom_detection detection;
    bool filters;       // the detection leaves contacts out
    bool *takes_limit;  // [njnt + ntendon]
    bool has_fields;    // geoms that are height fields
    bool is_listed;     // contacts are those of the list, not detected
    model_plane_contacts listed;
    int rows;  // of the controls; 0: none are given
    double *times, *controls;
    carom_arena arena;
} model_mechanism;

// What one thread computes with.
typedef struct mechanism_work {
    const model_mechanism *mechanism;
    mjModel *compiled;
    mjData *data;
    double margin;
    // What detection found, with room for `touch_room` touches and `equation_room` equations.
    int count, touch_room, equations, equation_room;
    carom_touch *touches, *idle;  // idle ones penetrate, and no motion changes their gap
    int idle_count;
    int (*bodies)[2];
    int *order;  // of MuJoCo's contacts
    double *normal, *tangent;
    double *residual, *equation;
    double *rows, *first, *second;  // [3 x nv]
    carom_arena arena, equation_arena;
} mechanism_work;

// Positions of bodies, tendons and actuators, and the mass matrix, at the data's qpos.
void model_compute_motion(mechanism_work *work);

// The members of carom_mechanism.
void model_evaluate_terms(void *opened, double time, const double *position, const double *velocity, carom_mechanism_terms *terms);
void model_advance_position(const void *self, const double *position, const double *velocity, double duration, double *moved);
carom_status model_detect_touches(void *opened, const double *position, double margin, carom_touches *touches, carom_error *error);
void model_name_touch(const void *self, const carom_touch *touch, char *name, size_t size);
void model_advise_on_overlap(const void *self, const carom_touch *touch, char *text, size_t size);
void model_activate(void *opened, const double *activation);
void model_advance_activation(void *opened, double duration, double *activation);

// Room for so many touches, beside those found before. CAROM_OUT_OF_MEMORY.
carom_status model_make_touch_room(mechanism_work *work, int touches, carom_error *error);

// Copies the controls over time, checked against the actuators' ranges.
carom_status model_take_controls(model_mechanism *mechanism, const carom_model_control *control, carom_error *error);
// Puts the controls at a time into the data.
void model_set_controls(mechanism_work *work, double time);

#endif
