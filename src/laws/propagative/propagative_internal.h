// SPDX-License-Identifier: Apache-2.0
/// @file
/// The mirrors of an impact, and what the enumerations share.
#ifndef CAROM_PROPAGATIVE_INTERNAL_H
#define CAROM_PROPAGATIVE_INTERNAL_H

#include "carom/arena.h"
#include "carom/propagative.h"

#define PI 3.14159265358979323846

/// Unit normals u_i = w_i/|w_i| as vectors of R^rank whose products are those in the metric of M^-1, and the part of the momentum in their
/// span as a vector y of it, so that Euclidean distances are kinetic ones, also where normals are dependent or almost. The rate of contact
/// i is s_i = u_i.y, a reflection is y -= 2 s_i u_i with the impulse l_i = lambda_i |w_i| = -2 s_i (Seghete & Murphey, eq. 7). Letters are
/// mirrors.
struct carom_propagative {
    const carom_impact *impact;
    int contacts, mirrors;
    int *mirror_of;        // [contacts]
    int *contact_of;       // [mirrors], ascending
    double *length;        // [mirrors], |w_i|
    double *cosine;        // C [mirrors x mirrors], 1 on the diagonal
    double *eigenvectors;  // of C [mirrors x mirrors], as rows
    double *eigenvalues;   // of C [mirrors], ascending
    double *start;         // [mirrors], rates before the impact
    int rank;
    double *unit;      // [mirrors x rank]
    double *momentum;  // [rank], y before the impact
    double scale;      // |p-|
    double margin;
    double *weights;  // [contacts]
    bool unique;      // Coxeter's condition holds: all words lead to one outcome, whatever the momentum
    carom_arena arena;
};

/// s_i.
double propagative_rate(const carom_propagative *p, const double *momentum, int letter);
/// Letter i approaches.
bool propagative_approaches(const carom_propagative *p, const double *momentum, int letter);
/// No letter approaches.
bool propagative_is_feasible(const carom_propagative *p, const double *momentum);
/// A rate is so small that round-off of the data may decide on its sign, and too large to be round-off of zero.
bool propagative_is_marginal(const carom_propagative *p, const double *momentum);
/// Reflects the momentum across mirror `letter`; returns the impulse.
double propagative_reflect(const carom_propagative *p, double *momentum, int letter);
/// The two momenta are equal within the merge tolerance.
bool propagative_same(const carom_propagative *p, const double *a, const double *b);
/// A number by which equal momenta are found: those within the merge tolerance of each other have keys that differ by at most 1.
double propagative_key(const carom_propagative *p, const double *momentum);

/// Hands an outcome to `visit`: its word of letters, which becomes one of contacts, its counts, and the impulses of the word, which are
/// found by reflecting the velocity itself. Each reflection then keeps the energy to its own round-off, where the rates alone would
/// amplify it in a narrow cone.
/// @param outcome  with everything but witness and impulse
carom_status propagative_hand_on(const carom_propagative *p, carom_elastic_outcome outcome, int *word, carom_elastic_visit visit,
                                 void *user, carom_error *error);

/// One admissible word of letters by an order rule, as far as the limits let it go.
/// @param outcome  receives all but witness and impulse
/// @param word     receives [min_length] letters, to be freed in every case
carom_status propagative_spell(const carom_propagative *p, const carom_word_order *order, const carom_word_limits *limits,
                               const carom_control *control, carom_elastic_outcome *outcome, int **word, carom_verdict *verdict,
                               carom_error *error);

/// Room for `count` entries of `size` bytes, at least one, in an array that words fill.
carom_status propagative_resize(void **array, size_t count, size_t size, carom_error *error);

/// 0 <= z _|_ matrix z + w >= 0 by Lemke's method. `what` is named where it fails.
carom_status propagative_solve_lcp(int size, const double *matrix, const double *w, double *z, const char *what, carom_error *error);

/// Momenta by number, in the order in which they were added, found again within the merge tolerance. Zero but for `p` at first.
typedef struct propagative_places {
    const carom_propagative *p;
    int count, capacity;  // a power of two
    double *momenta;      // [capacity x rank]
    int64_t *cell;        // [capacity], where equal momenta are looked for
    int *chain;           // [capacity], the next momentum of the same bucket
    int *bucket;          // [capacity]
} propagative_places;

/// The number of a momentum equal to this one; or -1.
/// @param hidden  [count], momenta that are passed over; NULL: none
int propagative_places_find(const propagative_places *places, const double *momentum, const bool *hidden);
carom_status propagative_places_add(propagative_places *places, const double *momentum, int *index, carom_error *error);
void propagative_places_free(propagative_places *places);

/// The momentum [rank] after these normal impulses [contacts].
void propagative_momentum_after(const carom_propagative *p, const double *impulse, double *momentum);

/// The largest kinetic distance between two momenta, over |p-|: of all pairs, or a lower bound where there are too many.
double propagative_spread(const propagative_places *places);

/// Hands on the outcomes of both greedy orders and of `limits->draws` random ones, with the number of these orders that end there.
/// @param verdict  CAROM_INTERRUPTED, or CAROM_INCOMPLETE
carom_status propagative_sample_orders(const carom_propagative *p, const carom_word_limits *limits, const carom_control *control,
                                       carom_elastic_visit visit, void *user, carom_verdict *verdict, carom_error *error);

/// Each enumerates one kind of word set; the cone is not flat. At a limit they hand nothing on where the outcome is the same for all words,
/// and the graph never does.
carom_status propagative_enumerate_graph(const carom_propagative *p, const carom_word_limits *limits, const carom_control *control,
                                         carom_elastic_visit visit, void *user, carom_verdict *verdict, carom_error *error);
carom_status propagative_enumerate_minimal(const carom_propagative *p, carom_word_set set, const carom_word_limits *limits,
                                           const carom_control *control, carom_elastic_visit visit, void *user, carom_verdict *verdict,
                                           carom_error *error);

/// Computes `margin` and `weights`.
carom_status propagative_find_margin(carom_propagative *p, carom_error *error);

/// The wedge of two mirrors whose normals have this cosine: its angle acos(-c), the m = 2, 3, ... for which pi/m is nearest to it, and the
/// distance from that.
typedef struct propagative_wedge {
    double angle, order, defect;
} propagative_wedge;
propagative_wedge propagative_find_wedge(double cosine);

/// Coxeter's condition: all wedge angles are pi/m, and the normals are independent.
bool propagative_is_unique(const carom_propagative *p);

#endif
