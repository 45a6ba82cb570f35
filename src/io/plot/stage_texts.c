// SPDX-License-Identifier: Apache-2.0
// Texts of a stage's picture: labels of contacts, the key, the title.
#include <math.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/vector3.h"
#include "io/plot/stage_internal.h"

// On paper [mm]: margins, the longest bar of lengths, a row of the title.
#define MARGIN      4.0
#define LONGEST_BAR 20.0
#define TITLE_ROW   4.8
// A label so far from its contact is beside it.
#define NEAR 2.5
#define GAP  0.6  // between the line that leads there and the label

enum { TITLE_FONT = 10 };
enum { MOST_NAMES = 24, TEXT_SIZE = 320, MOST_FIXED = 5 };

// --------------------------------------------------------------------------------------------------------------- labels

// The least distance of a rectangle around (x, y) from a segment, probed at points of the segment; 0 where they meet.
static double clearance(double x, double y, double half_width, double half_height, const double segment[4]) {
    double least = INFINITY;
    for (int i = 0; i <= 8; i++) {
        const double share = i / 8.0, dx = fabs(segment[0] + share * (segment[2] - segment[0]) - x) - half_width,
                     dy = fabs(segment[1] + share * (segment[3] - segment[1]) - y) - half_height;
        least = fmin(least, hypot(fmax(dx, 0), fmax(dy, 0)));
    }
    return least;
}

carom_status stage_draw_labels(carom_paper *p, stage_panel *v, bool numbered, carom_error *error) {
    const carom_stage *stage = v->stage;
    const size_t count = (size_t)stage->contacts;
    double(*at)[2] = carom_arena_take(&p->arena, count, sizeof *at), (*taken)[4] = carom_arena_take(&p->arena, count, sizeof *taken);
    bool *done = carom_arena_take(&p->arena, count, sizeof *done);
    if (p->arena.failed) return carom_fail_memory(error, "a picture");
    int labels = 0;
    for (size_t i = 0; i < count; i++) {
        done[i] = !stage_is_drawn(&stage->contact[i]);
        if (!done[i]) stage_place(v, stage->contact[i].point, at[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (done[i]) continue;
        char text[TEXT_SIZE] = "";
        size_t used = 0;
        for (size_t k = i; k < count; k++) {
            if (done[k] || !(hypot(at[k][0] - at[i][0], at[k][1] - at[i][1]) < 1)) continue;
            done[k] = true;
            if (used > sizeof text - 60) continue;
            used += (size_t)(numbered ? snprintf(text + used, sizeof text - used, "%s%zu", used ? "," : "", k + 1)
                                      : snprintf(text + used, sizeof text - used, "%s%.40s", used ? ", " : "", stage->contact[k].name));
        }
        const double half_width = 0.5 * CAROM_KEY_CHARACTER * (double)strlen(text), half_height = 0.5 * CAROM_KEY_FONT * CAROM_PAPER_POINT;
        double best[2] = {at[i][0], at[i][1]}, best_score = -INFINITY;
        for (int c = 0; c < 48; c++) {
            const double angle = 6.283185307179586 * (c % 16) / 16, reach = 1.6 + 1.4 * (c / 16);
            // Around a rectangle, so that in its corners the text is beside and below at once.
            const double x = at[i][0] + (reach + half_width) * fmax(-1, fmin(1, 1.5 * cos(angle)));
            const double y = at[i][1] + (reach + half_height) * fmax(-1, fmin(1, 1.5 * sin(angle)));
            if (x - half_width < 0.5 || x + half_width > p->size.width - 0.5 || y - half_height < 0.5) continue;
            double room = 3;
            for (int k = 0; k < v->segments; k++) room = fmin(room, clearance(x, y, half_width, half_height, v->segment[k]));
            for (size_t k = 0; k < count; k++) {
                const double dot[4] = {at[k][0], at[k][1], at[k][0], at[k][1]};
                if (stage_is_drawn(&stage->contact[k])) room = fmin(room, clearance(x, y, half_width, half_height, dot));
            }
            for (int k = 0; k < labels; k++) {
                const double dx = fabs(x - taken[k][0]) - half_width - taken[k][2], dy = fabs(y - taken[k][1]) - half_height - taken[k][3];
                room = fmin(room, dx > 0 || dy > 0 ? hypot(fmax(dx, 0), fmax(dy, 0)) : -3);
            }
            double apart = 1;
            for (int k = 0; k < v->lines && apart > 0; k++) apart = fmin(apart, clearance(x, y, half_width, half_height, v->line[k]));
            const double score = room + apart - 0.4 * reach;
            if (score <= best_score) continue;
            best_score = score;
            best[0] = x;
            best[1] = y;
        }
        taken[labels][0] = best[0];
        taken[labels][1] = best[1];
        taken[labels][2] = half_width;
        taken[labels++][3] = half_height;
        // A thin line leads from a contact to a label that is not beside it.
        const double dot[4] = {at[i][0], at[i][1], at[i][0], at[i][1]};
        if (clearance(best[0], best[1], half_width, half_height, dot) > NEAR)
            carom_paper_line(p, at[i][0], at[i][1], fmax(best[0] - half_width - GAP, fmin(best[0] + half_width + GAP, at[i][0])),
                             fmax(best[1] - half_height, fmin(best[1] + half_height, at[i][1])), STAGE_INK, 0.6);
        carom_paper_text(p, best[0], best[1], 0, CAROM_KEY_FONT, text);
    }
    return CAROM_OK;
}

// ------------------------------------------------------------------------------------------------------------------ key

// Adds an entry; its text is to be printed into the room of TEXT_SIZE that this returns.
static char *add_entry(stage_key *key, stage_sample sample, double width) {
    char *text = key->texts + TEXT_SIZE * key->count;
    key->samples[key->count] = sample;
    key->entries[key->count++] = (carom_key_entry){width, text};
    return text;
}

carom_status stage_list_key(carom_paper *p, const carom_stage *stage, const stage_scales *s, bool numbered, stage_key *key,
                            carom_error *error) {
    int drawn = 0;
    bool rubs = false;
    for (int i = 0; i < stage->contacts; i++) {
        drawn += stage_is_drawn(&stage->contact[i]);
        rubs = rubs || (stage_is_drawn(&stage->contact[i]) && stage->contact[i].friction > 0);
    }
    const size_t room = (size_t)stage->outcomes + MOST_NAMES + MOST_FIXED;
    *key = (stage_key){.entries = carom_arena_take(&p->arena, room, sizeof *key->entries),
                       .samples = carom_arena_take(&p->arena, room, sizeof *key->samples),
                       .texts = carom_arena_take(&p->arena, room, TEXT_SIZE),
                       .colours = carom_arena_take(&p->arena, room, sizeof *key->colours)};
    if (p->arena.failed) return carom_fail_memory(error, "a picture");
    snprintf(add_entry(key, STAGE_SAMPLE_SCALE, LONGEST_BAR), TEXT_SIZE, "0.0000 m");
    if (drawn)
        snprintf(add_entry(key, rubs ? STAGE_SAMPLE_CONE : STAGE_SAMPLE_CONTACT, 7), TEXT_SIZE, "contact, normal%s",
                 rubs ? ", friction cone" : "");
    // Numbers and units stay together: U+00A0 is a blank at which no line ends.
    if (s->contact > 0)
        snprintf(add_entry(key, STAGE_SAMPLE_VELOCITY, 7), TEXT_SIZE, "contact velocity before (longest %.3g\u00a0m/s)", s->contact);
    if (s->centre > 0)
        snprintf(add_entry(key, STAGE_SAMPLE_CENTRE, 7), TEXT_SIZE, "centre of mass, velocity%s (longest %.3g\u00a0m/s)",
                 drawn ? " before" : "", s->centre);
    for (int k = 0; k < stage->outcomes; k++) {
        const carom_stage_outcome *outcome = &stage->outcome[k];
        char pose[64] = "", longest[64] = "";
        if (outcome->ghost.count)
            snprintf(pose, sizeof pose, ", pose %.2g\u00a0s later%s", outcome->time, outcome->dashed ? " (dashed)" : "");
        if (!k && s->impulse > 0) snprintf(longest, sizeof longest, " (longest of all %.3g\u00a0N\u00a0s)", s->impulse);
        key->colours[key->count] = carom_plot_looks[outcome->look].colour;
        snprintf(add_entry(key, STAGE_SAMPLE_OUTCOME, 14), TEXT_SIZE, "%.80s: impulse%s, velocity after%s", outcome->label, longest, pose);
    }
    for (int i = 0; i < stage->contacts && numbered && drawn <= MOST_NAMES; i++)
        if (stage_is_drawn(&stage->contact[i]))
            snprintf(add_entry(key, STAGE_SAMPLE_NONE, 0), TEXT_SIZE, "%d %.100s", i + 1, stage->contact[i].name);
    return CAROM_OK;
}

double stage_measure_key(const carom_paper *p, const stage_key *key) {
    return CAROM_KEY_ROW * carom_key_flow(key->count, key->entries, MARGIN, p->size.width - MARGIN, NULL, NULL) + 2;
}

static void draw_sample(const stage_key *key, int index, double x, double y) {
    carom_paper *p = key->paper;
    const double start[2] = {x, y}, end[2] = {x + key->entries[index].sample, y}, contact[2] = {x + 1, y};
    switch (key->samples[index]) {
    case STAGE_SAMPLE_SCALE:
        carom_paper_line(p, start[0], y, end[0], y, STAGE_INK, 1.4);
        for (int i = 0; i < 2; i++) carom_paper_line(p, i ? end[0] : x, y - 0.7, i ? end[0] : x, y + 0.7, STAGE_INK, 1.4);
        break;
    case STAGE_SAMPLE_CONE:
        carom_paper_shape(p, 3, (const double[6]){x + 1, y, x + 5, y + 1.5, x + 5, y - 1.5}, CAROM_CONE_FILL, CAROM_CONE_RIM, 0.8);
        // fall through
    case STAGE_SAMPLE_CONTACT:
        carom_paper_arrow(p, contact, (const double[2]){x + 6.4, y}, STAGE_NORMAL, 1);
        carom_paper_dot(p, x + 1, y, 0.85, STAGE_INK, 0xffffff, 0.8);
        break;
    case STAGE_SAMPLE_VELOCITY: carom_paper_arrow(p, start, end, STAGE_INK, 1.8); break;
    case STAGE_SAMPLE_CENTRE:
        carom_paper_arrow(p, contact, end, STAGE_CENTRE, 1.8);
        carom_paper_dot(p, x + 1, y, 0.7, 0xffffff, STAGE_CENTRE, 1);
        break;
    case STAGE_SAMPLE_OUTCOME:
        carom_paper_arrow(p, start, (const double[2]){x + 6.4, y}, key->colours[index], 5);
        carom_paper_arrow(p, (const double[2]){x + 7.4, y}, end, key->colours[index], 1.8);
        break;
    case STAGE_SAMPLE_NONE: break;
    }
}

// A carom_key_visitor that draws the key.
static void draw_entry(void *user, int index, double x, int row, const char *line) {
    const stage_key *key = user;
    const double y = key->top - CAROM_KEY_ROW * (row + 0.5);
    if (line)
        carom_paper_text(key->paper, x, y, -1, CAROM_KEY_FONT, line);
    else
        draw_sample(key, index, x, y);
}

void stage_draw_key(carom_paper *p, stage_key *key, double scale) {
    key->top = stage_measure_key(p, key) - 1;
    key->paper = p;
    // The bar of lengths as it is at this scale.
    char text[32];
    const double bar = carom_round_down(LONGEST_BAR / scale);
    snprintf(text, sizeof text, "%g m", bar);
    key->entries[0] = (carom_key_entry){bar * scale, text};
    carom_key_flow(key->count, key->entries, MARGIN, p->size.width - MARGIN, draw_entry, key);
}

// ---------------------------------------------------------------------------------------------------------------- title

// Letters of the title are wider than those of the key.
static int flow_title(const carom_paper *p, const char *title, carom_key_visitor *visit, void *user) {
    return carom_key_flow(1, &(carom_key_entry){0, title}, 0, (p->size.width - 2 * MARGIN) * CAROM_KEY_FONT / TITLE_FONT, visit, user);
}

double stage_measure_title(const carom_paper *p, const char *title) { return TITLE_ROW * flow_title(p, title, NULL, NULL) + 2; }

// A carom_key_visitor that draws a line in the middle.
static void draw_title_line(void *user, int index, double x, int row, const char *line) {
    (void)index, (void)x;
    carom_paper *p = user;
    if (line) carom_paper_text(p, 0.5 * p->size.width, p->size.height - 1.5 - TITLE_ROW * (row + 0.5), 0, TITLE_FONT, line);
}

void stage_draw_title(carom_paper *p, const char *title) { flow_title(p, title, draw_title_line, p); }
