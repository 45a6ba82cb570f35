// SPDX-License-Identifier: Apache-2.0
/// @file
/// The mirrors of an impact, and what the enumerations share.
#ifndef CAROM_PROPAGATIVE_INTERNAL_H
#define CAROM_PROPAGATIVE_INTERNAL_H

#include "carom/propagative.h"

/// Everything is in unit normals: rates s_i = <p, w_i>/|w_i| and impulses l_i = lambda_i |w_i|, so that p = p- + sum_i l_i w_i/|w_i| and a
/// reflection is s -= 2 s_i C[i], l_i -= 2 s_i (Seghete & Murphey, eq. 7). Letters are mirrors.
struct carom_propagative {
    const carom_impact *impact;
    int contacts, mirrors;
    int *mirror_of;   // [contacts]
    int *contact_of;  // [mirrors], ascending
    double *length;   // [mirrors], |w_i|
    double *cosine;   // C [mirrors x mirrors], 1 on the diagonal
    double *start;    // [mirrors], rates before the impact
    double scale;     // |p-|
    double margin;
    double *weights;  // [contacts]
};

/// Letter i approaches at these rates.
bool propagative_approaches(const carom_propagative *p, const double *rates, int letter);
/// No letter approaches.
bool propagative_is_feasible(const carom_propagative *p, const double *rates);
/// A rate is so small that round-off of the data may decide on its sign, and too large to be round-off of zero.
bool propagative_is_marginal(const carom_propagative *p, const double *rates);
/// Reflects the rates across mirror `letter`; returns the impulse.
double propagative_reflect(const carom_propagative *p, double *rates, int letter);
/// Two momenta are one, by their rates.
bool propagative_same(const carom_propagative *p, const double *a, const double *b);
/// A number that momenta within the merge tolerance of each other share to within 1: where to look for equal ones.
double propagative_key(const carom_propagative *p, const double *rates);

/// Impulses of contacts [contacts] in N s, from those of mirrors.
void propagative_spread(const carom_propagative *p, const double *mirror_impulse, double *impulse);
/// Replaces the letters of a word by contacts.
void propagative_spell(const carom_propagative *p, int *word, int64_t length);

/// Each enumerates one kind of word set; the cone is not flat.
carom_status propagative_enumerate_graph(const carom_propagative *p, const carom_word_limits *limits, const carom_control *control,
                                         carom_elastic_visit visit, void *user, carom_verdict *verdict, carom_error *error);
carom_status propagative_enumerate_minimal(const carom_propagative *p, carom_word_set set, const carom_word_limits *limits,
                                           const carom_control *control, carom_elastic_visit visit, void *user, carom_verdict *verdict,
                                           carom_error *error);

/// Computes `margin` and `weights`.
carom_status propagative_find_margin(carom_propagative *p, carom_error *error);

#endif
