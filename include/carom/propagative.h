// SPDX-License-Identifier: Apache-2.0
/// @file
/// The propagative model of simultaneous impact (Seghete & Murphey): an impact of several contacts is a finite string of impacts of single
/// contacts, whose order the rigid model does not tell. All words, all outcomes, and when they are one.
///
/// Terms: a *word* is a sequence of contacts, applied from left to right; a letter reflects the momentum across its contact's normal in the
/// metric of M^-1. A momentum is *feasible* when no contact approaches. Frictionless: tangents and friction of the impact are not used.
#ifndef CAROM_PROPAGATIVE_H
#define CAROM_PROPAGATIVE_H

#include "carom/impact.h"

CAROM_API_BEGIN

/// The reflections of one impact with its pre-impact momentum. Immutable, so that threads may share it.
/// Contacts with the same normal (to 1e-12, after scaling) are one mirror, for which the first of them stands.
typedef struct carom_propagative carom_propagative;

/// A contact approaches when its normalised rate <p, w_i> / |w_i| is below minus this share of |p-| = sqrt(2 K(v-)).
#define CAROM_WORD_RATE_TOLERANCE 1e-12
/// Momenta whose kinetic coordinates differ by no more than this share of |p-| are one.
#define CAROM_WORD_MERGE_TOLERANCE 1e-9

/// @param impact  borrowed as long as the handle lives
/// Cost: one LCP of size contacts + 1.
carom_status carom_propagative_create(const carom_impact *impact, carom_propagative **propagative, carom_error *error);
void carom_propagative_free(carom_propagative *propagative);
const carom_impact *carom_propagative_impact(const carom_propagative *propagative);

/// The contact that stands for this one: itself, unless an earlier one has the same normal.
int carom_propagative_stands_for(const carom_propagative *propagative, int contact);
/// max over |c| <= 1 of min_i <c, w_i> / |w_i|, the margin of the cone of feasible momenta. Greater than zero: every admissible word ends,
/// in any order, after at most about 2/margin letters. Not greater than CAROM_JAMMED_MARGIN: the cone is flat.
double carom_propagative_margin(const carom_propagative *propagative);
/// [contacts], convex weights of the point of least norm among the combinations of unit normals; its norm is the margin. Where the cone is
/// flat, they combine the normals to zero: the certificate.
const double *carom_propagative_weights(const carom_propagative *propagative);

/// Two opposed normals with cosine -1 + 1e-12 have this margin, sqrt((1 + cosine) / 2).
#define CAROM_JAMMED_MARGIN 7.1e-7
/// The cone of feasible momenta is flat: elastic words need not end.
bool carom_propagative_is_jammed(const carom_propagative *propagative);

// --------------------------------------------------------------------------------------------------------------- words

typedef enum carom_word_set {
    CAROM_WORDS_ADMISSIBLE,  ///< every letter approaches when its turn comes; the word ends at the first feasible momentum
    CAROM_WORDS_MINIMAL,     ///< admissible, and no proper subsequence (letters deleted anywhere) ends at a feasible momentum
    CAROM_WORDS_LITERAL,     ///< minimal, but not admissible: Definition 1 as printed. Impulses may pull. For comparison only
} carom_word_set;

/// Names of the word sets, NULL-terminated.
extern const char *const carom_word_set_names[];

/// One elastic outcome with the words that end there.
typedef struct carom_elastic_outcome {
    const double *impulse;  ///< [contacts], accumulated normal impulses of the witness [N s]
    /// Words; INT64_MAX for that many or more. Where the enumeration is not complete, a lower bound, or of admissible words the orders that
    /// were followed and end here. CAROM_NO_INTEGER: not counted, in a complete enumeration whose words are too many and all lead here.
    int64_t count;
    int64_t min_length, max_length;  ///< letters of the shortest and the longest word that is known
    const int *witness;              ///< [min_length], the shortest word, the first in the order of contacts among several
    bool marginal;                   ///< a rate between the tolerances was met: the words are not certain, the outcome is to about 1e-9
} carom_elastic_outcome;

/// Receives one outcome; pointers are borrowed during the call. An error ends the enumeration.
typedef carom_status (*carom_elastic_visit)(void *user, const carom_elastic_outcome *outcome, carom_error *error);

/// Where an enumeration stops.
typedef struct carom_word_limits {
    int64_t max_states;  ///< distinct momenta of the admissible words, or unfinished words of one length of the others
    int64_t max_length;  ///< letters of an admissible word
    int64_t draws;       ///< random orders that are followed where the admissible words pass these limits
    uint64_t seed;       ///< of these orders
} carom_word_limits;

/// 100,000 momenta or words; 1,000,000 letters; 1000 random orders, seed 0.
carom_word_limits carom_word_limits_defaults(void);

/// All outcomes of a word set, in the order of their witnesses: shorter first, then by contacts.
/// Admissible words are enumerated on the graph of distinct momenta, so that their number may be astronomic. At a limit, one word is enough
/// where the outcome is unique for all velocities (CAROM_UNIQUE_ALWAYS): all words have its length then. The enumeration is complete, and
/// the outcome has that word and no count.
/// Other admissible words are sampled at a limit: the outcomes are those of both greedy orders and of `draws` random ones.
/// @param verdict  CAROM_COMPLETE; CAROM_INCOMPLETE at a limit; CAROM_INTERRUPTED
/// @return CAROM_BAD_INPUT where the cone is flat: words need not end
carom_status carom_propagative_enumerate(const carom_propagative *propagative, carom_word_set set, const carom_word_limits *limits,
                                         const carom_control *control, carom_elastic_visit visit, void *user, carom_verdict *verdict,
                                         carom_error *error);

typedef enum carom_word_order_kind {
    CAROM_ORDER_ARGMIN,  ///< the contact that approaches fastest, by normalised rates; of rates within the merge tolerance the first
                         ///< contact
    CAROM_ORDER_ARGMAX,  ///< the approaching contact that approaches slowest, with the same rule for ties
    CAROM_ORDER_FIRST,   ///< the first approaching contact
    CAROM_ORDER_RANDOM,  ///< any approaching contact, each as likely
    CAROM_ORDER_GIVEN,   ///< a list, gone through again and again; contacts that do not approach are passed over
} carom_word_order_kind;

typedef struct carom_word_order {
    carom_word_order_kind kind;
    uint64_t seed;  ///< of a random order, which draws from stream (seed, index)
    uint64_t index;
    const int *list;  ///< [count], contacts of a given order, any of them any number of times
    int count;
} carom_word_order;

/// One admissible word by an order rule; `visit` receives its end, with count 1.
/// @param verdict  CAROM_COMPLETE; CAROM_BUDGET_SPENT after limits->max_length letters; CAROM_INCOMPLETE when only contacts that a given
///                 order does not name approach; CAROM_INTERRUPTED
carom_status carom_propagative_follow(const carom_propagative *propagative, const carom_word_order *order, const carom_word_limits *limits,
                                      const carom_control *control, carom_elastic_visit visit, void *user, carom_verdict *verdict,
                                      carom_error *error);

// ------------------------------------------------------------------------------------------------- plastic and inelastic

typedef enum carom_plastic_kind {
    CAROM_PLASTIC_UNILATERAL,  ///< metric projection on the cone of feasible momenta: contacts only push
    CAROM_PLASTIC_BILATERAL,   ///< all contacts stop, eq. (11): impulses may pull
} carom_plastic_kind;

extern const char *const carom_plastic_kind_names[];

/// The plastic outcome's normal impulses, [contacts]: one LCP, or a pseudo-inverse.
/// @param adhesive  an impulse pulls by more than round-off; never for the unilateral kind
carom_status carom_propagative_plastic(const carom_propagative *propagative, carom_plastic_kind kind, double *impulse, bool *adhesive,
                                       carom_error *error);

/// The impulses of an inelastic outcome, [contacts]: the momentum on the segment from the plastic to the elastic outcome whose energetic
/// coefficient of restitution R = sqrt(1 - (E(p-) - E(p+)) / (E(p-) - E(plastic))) is `restitution`. May be written over `elastic`.
void carom_propagative_blend(const carom_propagative *propagative, double restitution, const double *plastic, const double *elastic,
                             double *impulse);

/// v+ [nv] after these normal impulses.
carom_status carom_propagative_velocity(const carom_propagative *propagative, const double *impulse, double *velocity, carom_error *error);

// ------------------------------------------------------------------------------------------------------------- the law

/// Options of the law `propagative`.
typedef struct carom_propagative_options {
    double restitution;        ///< R, energetic coefficient of the whole impact, in [0, 1]: 1 elastic, 0 plastic
    int plastic;               ///< a carom_plastic_kind
    int words;                 ///< a carom_word_set
    const char *order;         ///< one outcome: "argmin", "argmax", "random", or contacts with commas; NULL: every order
    int64_t seed;              ///< of the order `random` and of sampled orders: 0 to CAROM_MOST_SEED
    carom_word_limits limits;  ///< max_states from 1 to 1e8, max_length from 1 to 1e9, draws from 1 to 1e7; its seed is not used
} carom_propagative_options;

/// Elastic, admissible words in every order, a unilateral plastic outcome, the limits of carom_word_limits_defaults.
carom_propagative_options carom_propagative_defaults(void);

// --------------------------------------------------------------------------------------------------------- uniqueness

/// Two contacts in closed form: reflections in a plane wedge.
typedef struct carom_two_contacts {
    double cosine;       ///< c between the normals in the metric of M^-1
    double wedge_angle;  ///< alpha = acos(-c) [rad]
    int64_t length[2];   ///< letters of the word that starts with the first, the second contact; 0 where that one does not approach
    int64_t bound;       ///< ceil(pi / alpha): no admissible word is longer when both approach
    double difference;   ///< kinetic distance of the two outcomes over |p-|, xi, where both approach; otherwise 0
    double
        difference_bound;  ///< 2 |sin(m alpha)| for m letters each: no momentum with words of these lengths has a larger xi; NaN otherwise
} carom_two_contacts;

/// @param cosine   c, in (-1, 1)
/// @param rates    normalised rates of the two contacts, over |p-|
/// @return CAROM_BAD_INPUT when c is not inside (-1, 1) by 1e-12
carom_status carom_two_contacts_solve(double cosine, const double rates[2], carom_two_contacts *result, carom_error *error);

/// X(constant, name, sentence)
#define CAROM_UNIQUENESS_LIST(X)                                                                                                           \
    X(CAROM_UNIQUE_ALWAYS, "unique-always", "every order gives the same outcome, for every pre-impact velocity")                           \
    X(CAROM_UNIQUE_HERE, "unique", "every order gives the same outcome, for this velocity")                                                \
    X(CAROM_UNIQUE_MINIMAL, "unique-minimal", "orders differ, but all minimal words give one outcome")                                     \
    X(CAROM_UNIQUE_NOT, "multiple", "the outcome depends on the order")                                                                    \
    X(CAROM_UNIQUE_UNKNOWN, "unknown", "the words are too many to enumerate, and the orders that were followed give one outcome")          \
    X(CAROM_UNIQUE_JAMMED, "jammed", "the cone of feasible momenta is flat: elastic words need not end")

#define CAROM_ENUM_ENTRY(constant, name, sentence) constant,
typedef enum carom_uniqueness_verdict { CAROM_UNIQUENESS_LIST(CAROM_ENUM_ENTRY) } carom_uniqueness_verdict;
#undef CAROM_ENUM_ENTRY

const char *carom_uniqueness_name(carom_uniqueness_verdict verdict);
const char *carom_uniqueness_sentence(carom_uniqueness_verdict verdict);

/// Defects of wedge angles below this count as pi/m exactly [rad].
#define CAROM_UNIQUE_TOLERANCE 1e-9

/// How predictable an impact is. Matrices are [contacts x contacts], row-major.
typedef struct carom_uniqueness {
    carom_uniqueness_verdict verdict;
    int contacts;
    double *cosine;       ///< c_ij of the normals in the metric of M^-1
    double *wedge_angle;  ///< acos(-c_ij) [rad]; 0 on the diagonal
    double *defect;       ///< distance of the wedge angle from the nearest pi/m, m = 2, 3, ... [rad]; 0 on the diagonal
    double *order;        ///< that m; 1 on the diagonal
    double margin;        ///< carom_propagative_margin
    int64_t outcomes;     ///< distinct outcomes of the admissible words that were found; 0 where jammed
    int64_t sampled;      ///< orders that were followed because the words are too many; 0 where all outcomes were found
    int64_t minimal;      ///< distinct outcomes of the minimal words; -1 where it was not asked for or not finished
    double difference;    ///< xi: largest kinetic distance between two admissible outcomes over |p-|, or a lower bound; NaN where jammed
    bool complete;        ///< all admissible outcomes were found
    bool has_pair;        ///< there are exactly two distinct normals, and they are not opposed: `pair` is filled
    carom_two_contacts pair;
} carom_uniqueness;

/// Coxeter's condition for all velocities: every wedge angle is pi/m, and the normals are independent. Otherwise the words of this impact.
/// Cost: two enumerations within `limits`.
carom_status carom_propagative_uniqueness(const carom_propagative *propagative, const carom_word_limits *limits,
                                          const carom_control *control, carom_uniqueness **uniqueness, carom_error *error);
void carom_uniqueness_free(carom_uniqueness *uniqueness);

CAROM_API_END

#endif
