// SPDX-License-Identifier: Apache-2.0
// Is the velocity after a planar step unique, for every velocity before it and all caps? Then every method returns the one that Lemke's
// does.
//
// A contact is open or capped in slip (no unknowns), slips one way or the other (lam_n, with lam_t = -+mu lam_n, for the equation u'_n =
// 0), sticks (lam_n and lam_t, for u'_n = u'_t = 0), or sticks at its cap (lam_t, for u'_t = 0). Let A_S be the matrix of these unknowns
// and equations for a combination S of modes: rows of W, times the columns C_S that turn unknowns into impulses. Contacts with the same
// tangent row, up to a factor, always slide together; combinations in which they slip against each other are left out. Claim: v' is unique
// if
//   (1) det A_S >= 0 for every S, and
//   (2) W C_S x = 0 for every null vector x of every A_S.
// 1. Soften the law: lam_n = (o - u'_n / e) cut to [0, lmax], lam_t = -s mu lam_n with s = (q + u'_t / e) cut to [-1, 1]. The contact's o
// is
//    in [0, lmax], q in [-1, 1]; contacts with the same tangent share q and, with e in proportion to their tangents, s. Then
//    dlam = -D du', D having a block (a, 0; -s mu a, c) a contact with a, c >= 0. G(v') = v' - M^-1 J' lam has det DG = det(I + W D), which
//    is the sum over S of products of a and c times det A_S, where lam_t = -s mu lam_n of a contact that slips. det A_S is affine in each
//    s: contacts with the same tangent put multiples of one column into A_S. So it lies between the values at s = -1 and 1, which (1) makes
//    not negative, and the empty S adds 1: det DG >= 1, and so for convex combinations of derivatives at kinks. By Clarke's inverse
//    function theorem G is a local homeomorphism; it is proper, because lam is bounded; hence a homeomorphism (Hadamard).
// 2. Any solution of the step obeys a softened law exactly: o = lam_n, q the ratio of friction. Contacts that stick with the same tangent
//    may share their tangential impulse in proportion to mu lam_n for that, which changes neither J' lam nor v'.
// 3. Two solutions are then joined by a curve: let o and q go linearly from those of one to those of the other; the solution of the
// softened
//    step follows continuously. For e -> 0 limits of its points are solutions. Hence the velocities v' that solve the step are a connected
//    set: between two separate closed parts, points of the curves would have a limit in neither.
// 4. This set is a finite union of convex parts, one for each S (where contacts with the same tangent slip against each other, that tangent
//    is at rest, and they are found among those that stick). Within a part, lam differs by C_S x with A_S x = 0, and v' by M^-1 J' C_S x,
//    whose energy x' C_S' W C_S x / 2 is zero by (2). So each part is one point, and a connected set of them is one.
// A step without caps has all its solutions in common with one whose caps exceed their impulses. A cap of zero leaves the contact out.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "step/reduced.h"

// 5^m combinations, each an elimination of up to 2m unknowns: a millisecond for four contacts.
enum { MOST_CONTACTS = 4, MOST_UNKNOWNS = 2 * MOST_CONTACTS };

// Pivots below the first share of the largest entry are zero up to the round-off of W, above the second they are not; what has a pivot
// between is not decided.
#define ZERO_PIVOT     1e-13
#define DISTINCT_PIVOT 1e-9
// Tangent rows of unit size closer than this are the same up to round-off.
#define SAME_TANGENT 1e-13
// Of a null vector's image, where W has unit size.
#define ZERO_IMAGE 1e-11

typedef enum part { NONE, SLIP_FORWARD, SLIP_BACKWARD, STICK, CAPPED_STICK, PARTS } part;

// W and mu for speeds and impulses of unit size: W_ij / sqrt(W_ii W_jj), which changes no sign of a determinant.
typedef struct normalised {
    int contacts;
    double W[MOST_UNKNOWNS][MOST_UNKNOWNS];
    double friction[MOST_CONTACTS];
    int leader[MOST_CONTACTS];  // first contact with the same tangent
    int sense[MOST_CONTACTS];   // 1 or -1: along the leader's tangent or against it
} normalised;

// One combination of modes: the equation of each unknown, and the impulses (normal, tangential) of its contact for a unit of it.
typedef struct combination {
    const normalised *problem;
    int unknowns;
    int equation[MOST_UNKNOWNS];
    double impulse[MOST_UNKNOWNS][2];
} combination;

static void normalise(const carom_reduced_problem *problem, normalised *into) {
    const int rows = 2 * problem->contacts;
    double size[MOST_UNKNOWNS];
    for (int a = 0; a < rows; a++) {
        const double diagonal = problem->delassus[a * rows + a];
        // A contact without a tangent has zero rows.
        size[a] = diagonal > 0 ? sqrt(diagonal) : 1;
    }
    into->contacts = problem->contacts;
    for (int a = 0; a < rows; a++)
        for (int b = 0; b < rows; b++) into->W[a][b] = problem->delassus[a * rows + b] / (size[a] * size[b]);
    for (int i = 0; i < problem->contacts; i++) into->friction[i] = problem->friction[i] * size[2 * i + 1] / size[2 * i];
}

// Is row b a multiple of row a? The factor's sign; 0 if it is none.
static int sense_of(int nv, const double *a, const double *b) {
    const double a_size = carom_max_abs((size_t)nv, a), b_size = carom_max_abs((size_t)nv, b);
    if (!(a_size > 0 && b_size > 0)) return 0;
    double difference = 0, sum = 0;
    for (int k = 0; k < nv; k++) {
        difference = fmax(difference, fabs(a[k] / a_size - b[k] / b_size));
        sum = fmax(sum, fabs(a[k] / a_size + b[k] / b_size));
    }
    return difference <= SAME_TANGENT ? 1 : sum <= SAME_TANGENT ? -1 : 0;
}

// In contact space tangential velocities are free of each other.
static void find_leaders(const carom_impact *impact, int first, normalised *into) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    for (int i = 0; i < into->contacts; i++) {
        into->leader[i] = i;
        into->sense[i] = 1;
        for (int j = 0; j < i && carom_impact_has_system(impact) && into->leader[i] == i; j++) {
            const double *rows = data->tangent + (size_t)first * (size_t)data->nv;
            const int sense = sense_of(data->nv, rows + j * data->nv, rows + i * data->nv);
            if (!sense) continue;
            into->leader[i] = into->leader[j];
            into->sense[i] = sense * into->sense[j];
        }
    }
}

static void add_unknown(combination *c, int equation, double normal, double tangent) {
    c->equation[c->unknowns] = equation;
    c->impulse[c->unknowns][0] = normal;
    c->impulse[c->unknowns++][1] = tangent;
}

// A unit of slip is an impulse of unit size, so that steep cones do not pass for singular ones.
static void add_contact(combination *c, int contact, part p) {
    const double mu = c->problem->friction[contact], size = 1 + mu;
    if (p == SLIP_FORWARD) add_unknown(c, 2 * contact, 1 / size, -mu / size);
    if (p == SLIP_BACKWARD) add_unknown(c, 2 * contact, 1 / size, mu / size);
    if (p == STICK) add_unknown(c, 2 * contact, 1, 0);
    if (p == STICK || p == CAPPED_STICK) add_unknown(c, 2 * contact + 1, 0, 1);
}

// Velocity change along row `row` of contact space by a unit of an unknown.
static double reply(const combination *c, int row, int unknown) {
    const int contact = c->equation[unknown] / 2;
    const double *W = c->problem->W[row], *impulse = c->impulse[unknown];
    return W[2 * contact] * impulse[0] + W[2 * contact + 1] * impulse[1];
}

static bool is_positive(int n, double *A) {
    int exchanges[MOST_UNKNOWNS];
    if (!carom_lu_factor(n, A, exchanges)) return false;
    bool positive = true;
    for (int k = 0; k < n; k++) positive ^= (A[k * n + k] < 0) ^ (exchanges[k] != k);
    return positive;
}

static int rank_of(int n, const double *A, double tolerance, double *null_vectors) {
    double copy[MOST_UNKNOWNS * MOST_UNKNOWNS], zero[MOST_UNKNOWNS] = {0};
    int exchanges[MOST_UNKNOWNS];
    memcpy(copy, A, (size_t)(n * n) * sizeof *copy);
    return carom_solve_general(n, copy, zero, tolerance, null_vectors, exchanges);
}

// Condition (2) for one null vector.
static bool is_still(const combination *c, const double *x) {
    const double size = carom_max_abs((size_t)c->unknowns, x);
    for (int row = 0; row < 2 * c->problem->contacts; row++) {
        double sum = 0;
        for (int b = 0; b < c->unknowns; b++) sum += reply(c, row, b) * x[b];
        if (fabs(sum) > ZERO_IMAGE * size) return false;
    }
    return true;
}

static bool passes(const combination *c) {
    const int n = c->unknowns;
    double A[MOST_UNKNOWNS * MOST_UNKNOWNS], null_vectors[MOST_UNKNOWNS * MOST_UNKNOWNS];
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) A[a * n + b] = reply(c, c->equation[a], b);
    const int rank = rank_of(n, A, ZERO_PIVOT, null_vectors);
    if (rank_of(n, A, DISTINCT_PIVOT, null_vectors) != rank) return false;
    if (rank == n) return is_positive(n, A);
    for (int k = 0; k < n - rank; k++)
        if (!is_still(c, null_vectors + k * n)) return false;
    return true;
}

// Do two contacts with the same tangent slip against each other?
static bool is_torn(const normalised *problem, const part *parts) {
    int slip[MOST_CONTACTS] = {0};
    for (int i = 0; i < problem->contacts; i++) {
        if (parts[i] != SLIP_FORWARD && parts[i] != SLIP_BACKWARD) continue;
        const int own = problem->sense[i] * (parts[i] == SLIP_FORWARD ? 1 : -1);
        int *shared = &slip[problem->leader[i]];
        if (*shared == -own) return true;
        *shared = own;
    }
    return false;
}

bool carom_reduced_prove_unique(const carom_reduced_problem *problem, const carom_impact *impact, int first) {
    if (problem->contacts > MOST_CONTACTS) return false;
    normalised scaled;
    normalise(problem, &scaled);
    find_leaders(impact, first, &scaled);
    int combinations = 1;
    for (int i = 0; i < problem->contacts; i++) combinations *= PARTS;
    for (int code = 0; code < combinations; code++) {
        combination c = {.problem = &scaled};
        part parts[MOST_CONTACTS] = {NONE};
        for (int i = 0, rest = code; i < problem->contacts; i++, rest /= PARTS) parts[i] = (part)(rest % PARTS);
        if (is_torn(&scaled, parts)) continue;
        for (int i = 0; i < problem->contacts; i++) add_contact(&c, i, parts[i]);
        if (!passes(&c)) return false;
    }
    return true;
}
