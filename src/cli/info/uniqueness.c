// SPDX-License-Identifier: Apache-2.0
// The parts of `carom info` that say how predictable an impact is: in the impact inclusion, and in the propagative model.
#include <inttypes.h>
#include <math.h>

#include "carom/json.h"
#include "cli/info/info.h"

// `info` stays quick: momenta that it visits, and numbers that they hold.
enum { MOST_STATES = 20000, MOST_STATE_NUMBERS = 1 << 20 };
// Pairs of contacts that the text lists: without --full, and with it.
enum { SHOWN_PAIRS = 3, FULL_PAIRS = 20 };

carom_status cli_info_uniqueness(const carom_impact *impact, carom_uniqueness **uniqueness, carom_error *error) {
    *uniqueness = NULL;
    carom_propagative *propagative;
    carom_status status = carom_propagative_create(impact, &propagative, error);
    if (status) return status;
    carom_word_limits limits = carom_word_limits_defaults();
    const int64_t affordable = MOST_STATE_NUMBERS / carom_impact_get_data(impact)->contacts;
    // A state holds a number for each contact.
    limits.max_states = affordable < MOST_STATES ? affordable : MOST_STATES;
    status = carom_propagative_uniqueness(propagative, &limits, NULL, uniqueness, error);
    carom_propagative_free(propagative);
    return status;
}

// ---------------------------------------------------------------------------------------------------------------- JSON

json_t *cli_first_step_json(const carom_first_step *first) {
    json_t *unique = first->verdict == CAROM_FIRST_STEP_UNDECIDED ? json_null() : json_boolean(first->verdict == CAROM_FIRST_STEP_ONE);
    return json_pack("{s:o, s:o, s:i, s:i, s:i}", "unique", unique, "by", carom_json_text(first->by), "caps_tried", first->sets,
                     "caps_with_several", first->several, "most_velocities", first->most);
}

json_t *cli_uniqueness_json(const carom_uniqueness *u) {
    // A scene with two contacts has the closed form of its words.
    json_t *pair = json_null();
    if (u->has_pair)
        pair = json_pack("{s:o, s:o, s:[I, I], s:I, s:o, s:o}", "cosine", carom_json_real(u->pair.cosine), "wedge_angle",
                         carom_json_real(u->pair.wedge_angle), "word_lengths", (json_int_t)u->pair.length[0], (json_int_t)u->pair.length[1],
                         "length_bound", (json_int_t)u->pair.bound, "xi", carom_json_real(u->pair.difference), "xi_bound",
                         carom_json_real(u->pair.difference_bound));
    return json_pack("{s:s, s:o, s:b, s:o, s:o, s:o, s:I, s:o, s:b, s:I, s:o, s:o}", "verdict", carom_uniqueness_name(u->verdict), "margin",
                     carom_json_real(u->margin), "jammed", u->verdict == CAROM_UNIQUE_JAMMED, "cosines", json_null(), "wedge_angles",
                     json_null(), "coxeter", json_null(), "outcomes", (json_int_t)u->outcomes, "minimal_outcomes",
                     u->minimal < 0 ? json_null() : json_integer(u->minimal), "complete", u->complete, "orders", (json_int_t)u->sampled,
                     "xi", carom_json_real(u->difference), "two_contacts", pair);
}

int cli_uniqueness_matrices(const carom_uniqueness *u, const char *field, carom_json_large *matrices) {
    const int m = u->contacts;
    matrices[0] = (carom_json_large){field, "cosines", u->cosine, m, m};
    matrices[1] = (carom_json_large){field, "wedge_angles", u->wedge_angle, m, m};
    matrices[2] = (carom_json_large){field, "coxeter", u->order, m, m};
    return 3;
}

// ---------------------------------------------------------------------------------------------------------------- text

void cli_print_first_step(const carom_first_step *first) {
    static const char *const answers[] = {[CAROM_FIRST_STEP_ONE] = "holds where tried",
                                          [CAROM_FIRST_STEP_SEVERAL] = "fails",
                                          [CAROM_FIRST_STEP_UNDECIDED] = "is not decided"};
    printf("this impact, inelastic with friction: one velocity for given caps of a step (Assumption 6) %s\n  %s\n", answers[first->verdict],
           first->by);
}

void cli_print_uniqueness(const carom_uniqueness *u, const char *const *names, bool full) {
    printf("the same contacts without friction, in single elastic impacts (law propagative):\n  %s\n",
           carom_uniqueness_sentence(u->verdict));
    printf("  margin %.6g", u->margin);
    if (u->verdict != CAROM_UNIQUE_JAMMED && u->complete)
        printf(", %" PRId64 " outcome%s, xi = %.6g", u->outcomes, u->outcomes == 1 ? "" : "s", u->difference);
    else if (u->verdict != CAROM_UNIQUE_JAMMED)
        printf(", sampled: at least %" PRId64 " outcome%s, found in %" PRId64 " orders; xi at least %.6g", u->outcomes,
               u->outcomes == 1 ? "" : "s", u->sampled, u->difference);
    putchar('\n');
    // Pairs of contacts, whose wedge angles decide: at pi / m the order does not matter.
    const int pairs = u->contacts * (u->contacts - 1) / 2, most = full ? FULL_PAIRS : SHOWN_PAIRS;
    if (!full && pairs > most) {
        printf("  cosines and wedge angles of %d pairs of contacts: --full or --json\n", pairs);
        return;
    }
    int shown = 0;
    for (int i = 0; i < u->contacts; i++)
        for (int j = i + 1; j < u->contacts && shown < most; j++, shown++) {
            const int at = i * u->contacts + j;
            printf("  %s, %s: cosine %.9g, wedge angle %.6g deg", names[i], names[j], u->cosine[at], u->wedge_angle[at] * 180 / acos(-1.0));
            if (u->defect[at] <= CAROM_UNIQUE_TOLERANCE && isfinite(u->order[at])) printf(" = pi/%.0f", u->order[at]);
            putchar('\n');
        }
}
