// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pictures of a mechanism at an impact: bodies, contacts, velocities, and what laws make of them. In libcarom-io.
#ifndef CAROM_STAGE_H
#define CAROM_STAGE_H

#include "carom/outline.h"
#include "carom/plot.h"

CAROM_API_BEGIN

/// A contact to be drawn.
typedef struct carom_stage_contact {
    const char *name;
    double point[3];     ///< [m]; one with NaN, a joint at its stop, is not drawn
    double normal[3];    ///< unit, from the first body to the second
    double tangent[3];   ///< unit; of a planar scene, whose cone is a wedge along it
    double friction;     ///< the cone of forces on the second body has the half angle atan(friction)
    double velocity[3];  ///< before the impact, of the second body against the first [m/s]
} carom_stage_contact;

/// What a law makes of the impact.
typedef struct carom_stage_outcome {
    const char *label;       ///< in the key: the law, and which of its outcomes
    int look;                ///< of the law, in carom_plot_looks
    bool dashed;             ///< the outline of its pose: for a second outcome of one law
    const double *impulse;   ///< [contacts x 3] on the second body [N s]; NaN where it is not known
    const double *velocity;  ///< [contacts x 3] after the impact, of the second body against the first [m/s]
    carom_solids ghost;      ///< the solids after a short time; nothing of it is drawn where nothing moved
    double time;             ///< that time [s]
} carom_stage_outcome;

enum { CAROM_STAGE_VIEWS = 4, CAROM_STAGE_OUTCOMES = 9 };

/// A picture. Everything is borrowed.
typedef struct carom_stage {
    const char *title;
    int views;
    carom_view view[CAROM_STAGE_VIEWS];  ///< side by side, at one scale
    bool planar;                         ///< cones are wedges
    carom_solids solids;                 ///< at the impact; the centres of mass of its trees with their velocities, too
    int contacts;
    const carom_stage_contact *contact;
    int outcomes;
    carom_stage_outcome outcome[CAROM_STAGE_OUTCOMES];
    carom_plot_size size;  ///< all zero: a page
} carom_stage;

/// A drawing of one view: what is seen in which order. Arrays belong to the arena of the call.
typedef struct carom_stage_drawing {
    carom_outline *outline;  ///< [solids] without corners for planes
    int *order;              ///< [solids] as they are drawn, planes first
} carom_stage_drawing;

/// @param index  of the view
carom_status carom_stage_draw(const carom_stage *stage, int index, carom_arena *arena, carom_stage_drawing *drawing, carom_error *error);

/// Draws the stage with gnuplot, PNG, SVG or PDF by the ending of the name. Arrows of velocities have one scale, and so do those of
/// impulses; the key says how much the longest is. With more than six contacts, or long names, contacts are numbered, and the key has their
/// names, of up to 24. Ground that no solid shows is drawn where a contact's first body is the world, see carom_stage_add_ground.
/// @return as carom_plot_write; CAROM_BAD_INPUT where nothing is there to be drawn
carom_status carom_stage_write(const carom_stage *stage, const char *path, carom_error *error);

CAROM_API_END

#endif
