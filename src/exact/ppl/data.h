// SPDX-License-Identifier: Apache-2.0
/// @file
/// The rational data of an impact, in coordinates y of its contact space.
#ifndef CAROM_EXACT_PPL_DATA_H
#define CAROM_EXACT_PPL_DATA_H

#include "carom/exact.h"
#include "exact/ppl/rational.h"

/// Most contacts, for 4^m - 1 cells; and most rows of J: two for each in the plane, three in space.
/// Most coordinates of a polyhedron: y, what no impulse changes, and what each contact owes.
enum {
    EXACT_MOST_CONTACTS = CAROM_EXACT_MOST_CONTACTS,
    EXACT_MOST_ROWS = 3 * EXACT_MOST_CONTACTS,
    EXACT_MOST_CONSTANTS = 8,
    EXACT_MOST_COORDINATES = 3 * EXACT_MOST_CONTACTS + EXACT_MOST_CONSTANTS
};

/// With J = [Jn_1; Jt_1; Jn_2; ...] of n rows, two or three for each contact, and rank d: d independent rows B of it give the coordinates y
/// = B v. Then J v = C y for every v that the impact can reach, y changes by W_B lambda under an impulse lambda, and
/// v = rest + lift y + shift z. No impulse changes z: there are such coordinates where v- is not one velocity but any of a polytope, whose
/// points may differ by more than y. With restitution, the normal impulses R_i >= 0 [N s] that contacts with e_i > 0 still owe are further
/// coordinates, after y and z.
typedef struct exact_data {
    int contacts, n, nv, dimension;
    int stride;     ///< rows of J for each contact: 1 + tangents
    int edges;      ///< corners of the polygon of friction directions, in order around it: 2 in the plane, none for round cones
    int constants;  ///< of z
    int width;      ///< coordinates in all: y, z, and one for each contact that may owe an impulse
    int starts;     ///< vertices of the polytope of v-; 1: a point
    int owed[EXACT_MOST_CONTACTS];  ///< index of R_i among the coordinates; -1 for a contact without restitution
    int basis[EXACT_MOST_ROWS];     ///< [dimension] rows of J that y consists of
    mpq_t *contact_rows;            ///< C [n x width], zero in the columns of z and R
    mpq_t *response;                ///< W_B [dimension x n]: B M^-1 J'
    mpq_t *metric;                  ///< [dimension x dimension] (B M^-1 B')^-1: y'(metric)y/2 is the energy that the impact can change
    mpq_t *edge;                    ///< these corners d [edges x tangents], of length 1
    mpq_t *friction;                ///< [contacts x 2] its least and its largest value
    mpq_t *restitution;             ///< e [contacts]: zero where the inclusion is inelastic
    mpq_t *start;                   ///< y, z and R before the impact [starts x width]; R = 0
    mpq_t *rest;                    ///< [nv]
    mpq_t *lift;                    ///< [nv x dimension]
    mpq_t *shift;                   ///< [nv x constants]
    exact_rationals rationals;      ///< all of these arrays
    double change;                  ///< largest change of a number that was rounded, over the scale of its column; 0: all are exact
} exact_data;

/// Numbers that the impact has as text are taken exactly. Others are rounded to a grid, absolute in each column of J, in M and W
/// (relative to the diagonal), in mu and in J v; the rank is that of the rounded numbers. A coefficient of restitution without text is the
/// shortest decimal of its double.
/// @param impact  of at most EXACT_MOST_CONTACTS contacts
/// @param options whose hypothesis, restitution, start and friction are read
/// @param fault   receives one sentence on data that are no impact in rationals, such as a W that is not positive semidefinite; NULL
///                otherwise. Then `*data` is NULL.
/// @return CAROM_BAD_INPUT for a text that is no number or does not fit its double
carom_status exact_data_create(const carom_impact *impact, const carom_exact_options *options, exact_data **data, const char **fault,
                               carom_error *error);
void exact_data_free(exact_data *data);
/// The friction of some contact is any of an interval, not of one number.
bool exact_data_varies(const exact_data *data);
/// No contact owes anything, ever.
bool exact_data_is_inelastic(const exact_data *data);
/// The largest y' (metric) y of the start, twice the energy that the impact can change: at a vertex, since energy is convex.
void exact_data_start_energy(const exact_data *data, mpq_t largest);

#endif
