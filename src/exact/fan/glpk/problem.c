// SPDX-License-Identifier: Apache-2.0
// Planes and speeds of an impact, and the functional of its outcome, in an order of the contacts that their own numbers decide.
#include "exact/fan/glpk/problem.h"

#include <math.h>
#include <stdlib.h>

// Numbers of contacts that differ by less, relative to the largest of their kind, do not order them: round-off would.
#define SAME_NUMBER 1e-9
// What a contact is told apart by.
enum { KEYS = 8 };

typedef struct contact_key {
    int contact;
    double key[KEYS];
    int forward;  // the sign with which its tangent is taken
} contact_key;

void fan_product(int dimension, mpq_t *functional, mpq_t *vector, mpq_t value, mpq_t scratch) {
    mpq_set_ui(value, 0, 1);
    for (int k = 0; k < dimension; k++) exact_rational_add_product(value, functional[k], vector[k], scratch);
}

// -------------------------------------------------------------------------------------------------------------- order

// Numbers of a contact that permutations of contacts and other signs of tangents leave alone. `forward` is the sign, in the plane, of the
// first of slip, coupling W_nt and use of friction for the functional that is not zero.
static void find_keys(const exact_data *data, const fan_problem *problem, int contact, contact_key *found) {
    const int d = data->dimension, stride = problem->stride;
    // u, W and the use for the functional, W c, of the contact's own rows.
    double u[3] = {0}, W[3][3] = {{0}}, use[3] = {0};
    mpq_t value, scratch;
    mpq_inits(value, scratch, NULL);
    for (int a = 0; a < stride; a++) {
        mpq_t *row = data->contact_rows + (stride * contact + a) * data->width;
        fan_product(d, row, data->start, value, scratch);
        u[a] = mpq_get_d(value);
        for (int k = 0; k < d; k++) {
            const double response = mpq_get_d(data->response[k * data->n + stride * contact + a]);
            use[a] += mpq_get_d(problem->target[k]) * response;
            for (int b = 0; b < stride; b++) W[b][a] += mpq_get_d(data->contact_rows[(stride * contact + b) * data->width + k]) * response;
        }
    }
    mpq_clears(value, scratch, NULL);
    const double signs[3] = {u[1], W[0][1], use[1]}, scales[3] = {fabs(u[0]) + fabs(u[1]), W[0][0] + W[1][1], fabs(use[0]) + fabs(use[1])};
    found->contact = contact;
    found->forward = 1;
    for (int i = 2; i >= 0 && stride == 2; i--)
        if (fabs(signs[i]) > SAME_NUMBER * scales[i]) found->forward = signs[i] > 0 ? 1 : -1;
    // In space lengths stand for signs.
    double along[3];
    for (int i = 0; i < 3; i++) along[i] = found->forward * signs[i];
    if (stride == 3) {
        along[0] = hypot(u[1], u[2]);
        along[1] = hypot(W[0][1], W[0][2]);
        along[2] = hypot(use[1], use[2]);
    }
    const double keys[KEYS] = {u[0],   along[0], mpq_get_d(data->friction[2 * contact + 1]), W[0][0], W[1][1] + W[2][2], along[1],
                               use[0], along[2]};
    for (int i = 0; i < KEYS; i++) found->key[i] = keys[i];
}

// Contacts by their keys: an insertion sort, whose comparisons allow for round-off.
static void order_contacts(const exact_data *data, const fan_problem *problem, contact_key order[]) {
    double scale[KEYS] = {0};
    for (int i = 0; i < data->contacts; i++) {
        find_keys(data, problem, i, &order[i]);
        for (int k = 0; k < KEYS; k++) scale[k] = fmax(scale[k], fabs(order[i].key[k]));
    }
    for (int i = 1; i < data->contacts; i++)
        for (int j = i; j > 0; j--) {
            int k = 0;
            while (k < KEYS && fabs(order[j].key[k] - order[j - 1].key[k]) <= SAME_NUMBER * scale[k]) k++;
            if (k == KEYS || order[j].key[k] > order[j - 1].key[k]) break;
            const contact_key swapped = order[j];
            order[j] = order[j - 1];
            order[j - 1] = swapped;
        }
}

// ------------------------------------------------------------------------------------------------------------- filling

// The side of row >= 0: of a plane that is known already, or of a new one.
static fan_side find_side(fan_problem *problem, mpq_t *row) {
    const int d = problem->dimension;
    mpq_t cross, scratch;
    mpq_inits(cross, scratch, NULL);
    fan_side side = {.plane = problem->plane_count, .sign = 1};
    for (int p = 0; p < problem->plane_count && side.plane == problem->plane_count; p++) {
        mpq_t *plane = problem->planes + p * d;
        int first = 0;
        while (!mpq_sgn(plane[first])) first++;
        // Parallel: row_k plane_first = row_first plane_k for all k.
        bool parallel = mpq_sgn(row[first]) != 0;
        for (int k = 0; k < d && parallel; k++) {
            mpq_mul(cross, row[k], plane[first]);
            mpq_mul(scratch, row[first], plane[k]);
            parallel = mpq_equal(cross, scratch);
        }
        if (parallel) side = (fan_side){.plane = p, .sign = mpq_sgn(row[first]) * mpq_sgn(plane[first])};
    }
    for (int k = 0; k < d && side.plane == problem->plane_count; k++) mpq_set(problem->planes[side.plane * d + k], row[k]);
    problem->plane_count += side.plane == problem->plane_count;
    mpq_clears(cross, scratch, NULL);
    return side;
}

// A slip or a friction, in the tangent plane: x / z and y / z along the two tangents.
typedef struct fan_direction {
    long x, y, z;
} fan_direction;

// W_B (n - mu (x t_1 + y t_2) / z) of a contact.
static uint64_t add_speed(fan_problem *problem, const exact_data *data, int contact, mpq_t mu, fan_direction friction) {
    mpq_t *speed = problem->speeds + problem->speed_count * problem->dimension;
    const long parts[2] = {friction.x, friction.y};
    double largest = 0;
    mpq_t factor, scratch;
    mpq_inits(factor, scratch, NULL);
    for (int k = 0; k < problem->dimension; k++) {
        mpq_t *row = data->response + k * data->n + problem->stride * contact;
        mpq_set(speed[k], row[0]);
        for (int p = 0; p + 1 < problem->stride; p++) {
            mpq_set_si(factor, -parts[p], (unsigned long)friction.z);
            mpq_canonicalize(factor);
            mpq_mul(factor, factor, mu);
            exact_rational_add_product(speed[k], factor, row[1 + p], scratch);
        }
        largest = fmax(largest, fabs(mpq_get_d(speed[k])) / problem->unit[k]);
    }
    mpq_clears(factor, scratch, NULL);
    // A force that moves nothing has no scale.
    problem->speed_factor[problem->speed_count] = largest > 0 ? 1 / largest : 0;
    return (uint64_t)1 << problem->speed_count++;
}

// Adds the side x t_1 + y t_2 >= 0 of a contact's slip to a sector; no side where the slip has no such part.
static void add_side(fan_problem *problem, const exact_data *data, const contact_key *key, long x, long y, fan_sector *sector) {
    mpq_t row[FAN_MOST_DIMENSION], scratch;
    mpq_init(scratch);
    bool slips = false;
    for (int k = 0; k < problem->dimension; k++) {
        mpq_init(row[k]);
        for (int p = 0; p + 1 < problem->stride; p++) {
            mpq_t *tangent = data->contact_rows + (problem->stride * key->contact + 1 + p) * data->width;
            mpq_set_si(scratch, p ? y : x, 1);
            mpq_mul(scratch, scratch, tangent[k]);
            mpq_add(row[k], row[k], scratch);
        }
        slips = slips || mpq_sgn(row[k]);
    }
    if (slips) sector->sides[sector->side_count++] = find_side(problem, row);
    for (int k = 0; k < problem->dimension; k++) mpq_clear(row[k]);
    mpq_clear(scratch);
}

static void add_contact(fan_problem *problem, const exact_data *data, const contact_key *key, fan_contact *contact) {
    // Unit vectors with rational entries, in order of their angles, and the first one again.
    static const fan_direction fine[] = {{1, 0, 1},   {4, 3, 5},   {3, 4, 5},  {0, 1, 1},  {-3, 4, 5}, {-4, 3, 5}, {-1, 0, 1},
                                         {-4, -3, 5}, {-3, -4, 5}, {0, -1, 1}, {3, -4, 5}, {4, -3, 5}, {1, 0, 1}},
                               coarse[] = {{1, 0, 1}, {0, 1, 1}, {-1, 0, 1}, {0, -1, 1}, {1, 0, 1}};
    bool slips = false;
    for (int p = 1; p < problem->stride; p++)
        for (int k = 0; k < problem->dimension; k++)
            slips = slips || mpq_sgn(data->contact_rows[(problem->stride * key->contact + p) * data->width + k]);
    // Of an interval of friction both ends count: the speeds between are in the hull of theirs.
    mpq_t *least = &data->friction[2 * key->contact], *most = least + 1;
    const bool wide = !mpq_equal(*least, *most);
    // Without friction there is one speed, whatever the slip.
    if (!slips || !mpq_sgn(*most)) {
        contact->sector_count = 1;
        contact->sectors[0] = (fan_sector){.speeds = add_speed(problem, data, key->contact, *most, (fan_direction){0, 0, 1})};
        return;
    }
    if (problem->stride == 2) {
        contact->sector_count = 2;
        for (int i = 0; i < 2; i++) {
            const fan_direction e = {i ? -key->forward : key->forward, 0, 1};
            add_side(problem, data, key, e.x, 0, &contact->sectors[i]);
            contact->sectors[i].speeds = add_speed(problem, data, key->contact, *most, e);
            if (wide) contact->sectors[i].speeds |= add_speed(problem, data, key->contact, *least, e);
        }
        return;
    }
    const bool is_fine = data->contacts <= (wide ? 1 : FAN_FINE_CONTACTS);
    const fan_direction *directions = is_fine ? fine : coarse;
    contact->sector_count = is_fine ? 12 : 4;
    // At the least friction the chord between two directions will do: the arc beyond it is in the hull with the largest one.
    uint64_t speeds[FAN_MOST_SECTORS + 1];
    for (int i = 0; i < contact->sector_count; i++) {
        speeds[i] = add_speed(problem, data, key->contact, *most, directions[i]);
        if (wide) speeds[i] |= add_speed(problem, data, key->contact, *least, directions[i]);
    }
    speeds[contact->sector_count] = speeds[0];
    for (int i = 0; i < contact->sector_count; i++) {
        const fan_direction p = directions[i], q = directions[i + 1];
        fan_sector *sector = &contact->sectors[i];
        // The slip is left of p and right of q.
        add_side(problem, data, key, -p.y, p.x, sector);
        add_side(problem, data, key, q.y, -q.x, sector);
        // The tangents at p and q meet at (p + q) / (1 + p.q).
        const fan_direction tip = {p.x * q.z + q.x * p.z, p.y * q.z + q.y * p.z, p.z * q.z + p.x * q.x + p.y * q.y};
        sector->speeds = speeds[i] | speeds[i + 1] | add_speed(problem, data, key->contact, *most, tip);
    }
}

// c'y + offset = functional of u = C y and of v = rest + lift y + shift z.
static void set_target(fan_problem *problem, const exact_data *data, const carom_functional *functional) {
    mpq_t factor, share, scratch;
    mpq_inits(factor, share, scratch, NULL);
    for (int i = 0; i < functional->n; i++) {
        mpq_set_d(factor, functional->contact[i]);
        for (int k = 0; k < data->dimension; k++)
            exact_rational_add_product(problem->target[k], factor, data->contact_rows[i * data->width + k], scratch);
    }
    for (int j = 0; j < functional->nv; j++) {
        mpq_set_d(factor, functional->velocity[j]);
        for (int k = 0; k < data->dimension; k++)
            exact_rational_add_product(problem->target[k], factor, data->lift[j * data->dimension + k], scratch);
        for (int s = 0; s < data->starts; s++) {
            exact_rational_add_product(problem->offset[s], factor, data->rest[j], scratch);
            for (int k = 0; k < data->constants; k++) {
                mpq_t *z = &data->start[s * data->width + data->dimension + k];
                mpq_mul(share, factor, data->shift[j * data->constants + k]);
                exact_rational_add_product(problem->offset[s], share, *z, scratch);
            }
        }
    }
    for (int s = 0; s < data->starts; s++) {
        mpq_sub(factor, problem->offset[s], problem->offset[0]);
        problem->extra[s] = mpq_sgn(factor) ? nextafter(mpq_get_d(factor), INFINITY) : 0;
    }
    mpq_clears(factor, share, scratch, NULL);
}

carom_status fan_problem_create(const exact_data *data, const carom_functional *functional, fan_problem **problem, carom_error *error) {
    *problem = NULL;
    fan_problem *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "bound");
    const int d = data->dimension;
    made->dimension = d;
    made->contacts = data->contacts;
    made->stride = data->n / data->contacts;
    made->starts = data->starts;
    made->offset = exact_rationals_take(&made->rationals, (size_t)data->starts);
    made->planes = exact_rationals_take(&made->rationals, (size_t)(FAN_MOST_PLANES * d));
    made->speeds = exact_rationals_take(&made->rationals, (size_t)(FAN_MOST_SPEEDS * d));
    made->start = exact_rationals_take(&made->rationals, (size_t)(data->starts * d));
    made->target = exact_rationals_take(&made->rationals, (size_t)d);
    made->delassus = calloc((size_t)(d * d + 1), sizeof *made->delassus);
    if (made->rationals.failed || !made->delassus) {
        fan_problem_free(made);
        return carom_fail_memory(error, "bound");
    }
    for (int k = 0; k < data->starts * d; k++) mpq_set(made->start[k], data->start[k / d * data->width + k % d]);
    for (int k = 0; k < d; k++)
        for (int l = 0; l < d; l++) made->delassus[k * d + l] = mpq_get_d(data->response[k * data->n + data->basis[l]]);
    for (int k = 0; k < d; k++) made->unit[k] = sqrt(made->delassus[k * d + k]);
    set_target(made, data, functional);

    // |c|_W^2 = c'W_BB c, where doubles might cancel, and R^2, the largest y'(metric)y of the starts.
    mpq_t square, radius, product, scratch;
    mpq_inits(square, radius, product, scratch, NULL);
    for (int k = 0; k < d; k++)
        for (int l = 0; l < d; l++) {
            mpq_mul(product, made->target[k], made->target[l]);
            exact_rational_add_product(square, product, data->response[k * data->n + data->basis[l]], scratch);
        }
    made->target_norm = sqrt(mpq_get_d(square));
    exact_data_start_energy(data, square);
    exact_rational_above_root(radius, square);
    made->energy_radius = nextafter(mpq_get_d(radius), INFINITY);
    mpq_clears(square, radius, product, scratch, NULL);

    // All normals first, then tangents, contact by contact.
    contact_key order[EXACT_MOST_CONTACTS];
    order_contacts(data, made, order);
    for (int i = 0; i < data->contacts; i++)
        made->contact[i].normal = find_side(made, data->contact_rows + made->stride * order[i].contact * data->width);
    for (int i = 0; i < data->contacts; i++) add_contact(made, data, &order[i], &made->contact[i]);
    *problem = made;
    return CAROM_OK;
}

void fan_problem_free(fan_problem *problem) {
    if (!problem) return;
    exact_rationals_free(&problem->rationals);
    free(problem->delassus);
    free(problem);
}

// --------------------------------------------------------------------------------------------------------------- signs

// The sign of a side where planes have these signs.
static int sign_of(fan_side side, uint64_t positive, uint64_t negative) {
    const int sign = (int)(positive >> side.plane & 1) - (int)(negative >> side.plane & 1);
    return side.sign * sign;
}

static bool is_closing(const fan_problem *problem, uint64_t positive, uint64_t negative) {
    bool closing = false;
    for (int i = 0; i < problem->contacts; i++) closing = closing || sign_of(problem->contact[i].normal, positive, negative) < 0;
    return closing;
}

uint64_t fan_active_speeds(const fan_problem *problem, uint64_t positive, uint64_t negative) {
    uint64_t speeds = 0;
    if (!is_closing(problem, positive, negative)) return 0;
    for (int i = 0; i < problem->contacts; i++) {
        const fan_contact *contact = &problem->contact[i];
        if (sign_of(contact->normal, positive, negative) > 0) continue;
        for (int k = 0; k < contact->sector_count; k++) {
            const fan_sector *sector = &contact->sectors[k];
            bool holds = true;
            for (int side = 0; side < sector->side_count; side++) holds = holds && sign_of(sector->sides[side], positive, negative) >= 0;
            if (holds) speeds |= sector->speeds;
        }
    }
    return speeds;
}

bool fan_is_end(const fan_problem *problem, uint64_t positive, uint64_t negative) { return !is_closing(problem, positive, negative); }
