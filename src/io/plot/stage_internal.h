// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the files of a stage's picture share: views on paper, scales, and the texts around them.
#ifndef CAROM_IO_STAGE_INTERNAL_H
#define CAROM_IO_STAGE_INTERNAL_H

#include "carom/stage.h"
#include "io/plot/key.h"
#include "io/plot/paper.h"

/// Colours of bodies' outlines and of velocities before the impact, of contacts and of centres of mass.
#define STAGE_INK    0x30343a
#define STAGE_CENTRE 0x4f6fa5
#define STAGE_NORMAL 0x808080

/// What arrows are drawn at: the longest velocity and impulse, and metres of the drawing for each unit.
typedef struct stage_scales {
    double extent;             ///< of the largest view [m]
    double velocity, impulse;  ///< longest
    double contact, centre;    ///< longest velocities before the impact, of contacts and of centres of mass
    double per_velocity, per_impulse;
    double cone, normal;  ///< lengths of friction cones and normals [m]
    int trees;            ///< whose velocities are drawn
} stage_scales;

/// A rectangle that grows with what it is to hold: least x and y, greatest x and y.
typedef struct stage_frame {
    double low[2], high[2];
} stage_frame;

/// A view on the paper.
typedef struct stage_panel {
    const carom_stage *stage;
    const carom_view *view;
    carom_stage_drawing drawing;
    carom_outline *ghost[CAROM_STAGE_OUTCOMES];  ///< [solids of the outcome]
    double *ground;                              ///< [solids x corners x 3]; of planes
    int *ground_corners;                         ///< [solids]
    stage_frame bounds;                          ///< [m]
    double scale, left, bottom;                  ///< mm for a metre, and where the corner of the bounds is [mm]
    /// What labels keep away from: arrows and cones, and lines of bodies, as segments on the paper.
    double (*segment)[4], (*line)[4];
    int segments, lines, line_room;
} stage_panel;

/// Has the contact a place?
bool stage_is_drawn(const carom_stage_contact *contact);
/// Where a point of space is on the paper.
void stage_place(const stage_panel *panel, const double point[3], double at[2]);

/// Names of contacts, or their numbers. Contacts that are seen at one place have one label, which goes where it is farthest from arrows,
/// cones and other labels, near its contact; within the paper.
carom_status stage_draw_labels(carom_paper *paper, stage_panel *panel, bool numbered, carom_error *error);

/// What an entry of the key shows beside its text.
typedef enum stage_sample {
    STAGE_SAMPLE_SCALE,
    STAGE_SAMPLE_CONTACT,
    STAGE_SAMPLE_CONE,
    STAGE_SAMPLE_VELOCITY,
    STAGE_SAMPLE_CENTRE,
    STAGE_SAMPLE_OUTCOME,
    STAGE_SAMPLE_NONE,
} stage_sample;

/// The key of a picture.
typedef struct stage_key {
    int count;
    carom_key_entry *entries;
    stage_sample *samples;  ///< [count]
    char *texts;            ///< of the entries
    unsigned *colours;      ///< [count] of outcomes
    double top;             ///< of the key as it is drawn [mm]
    carom_paper *paper;     ///< that it is drawn on
} stage_key;

/// @param numbered  contacts have numbers, and the key their names
carom_status stage_list_key(carom_paper *paper, const carom_stage *stage, const stage_scales *scales, bool numbered, stage_key *key,
                            carom_error *error);
/// Height of the key on the paper [mm].
double stage_measure_key(const carom_paper *paper, const stage_key *key);
/// Draws the key at the lower edge of the paper, with a bar for lengths.
/// @param scale  millimetres for a metre
void stage_draw_key(carom_paper *paper, stage_key *key, double scale);
/// Height of the title [mm]; draws it at the upper edge.
double stage_measure_title(const carom_paper *paper, const char *title);
void stage_draw_title(carom_paper *paper, const char *title);

#endif
