// SPDX-License-Identifier: Apache-2.0
// Search for worst cases: plain samples first, and then, for each functional, several lines of descent. In each line the tape of the best
// member so far is changed at random, and the change is kept where it does not lower the value. Lines that are behind end when a share of
// the budget is spent, so that the others have more of it.
#include "carom/worst.h"

#include <math.h>
#include <stdlib.h>

#include "carom/clock.h"
#include "reach/mutate.h"
#include "reach/player.h"
#include "reach/reach_internal.h"

// Room for lines, and how many begin. A line seldom leaves its basin, and the best plain walks begin in few of them: of the disks four
// lines may end a third short of what sixteen find. Walks in space are too few for so many.
enum { LINES = 16, PLANAR_LINES = 16, SPATIAL_LINES = 4 };
// Lines halve, to one, after equal shares of the budget, at most this large.
#define MOST_STAGE 0.25
// Changes that a line tries before the lines of all functionals are compared; plain walks of one block, and blocks between which the time
// is looked at.
enum { TURN = 64, BLOCK = 64, ROUND = 32 };
// Of a small number of evaluations fewer lines begin, with so many turns each.
enum { LEAST_TURNS = 8 };
// The share of plain walks in the budget, and the budget that `auto` stands for. Walks in space take a hundred times as long.
#define PLAIN_SHARE 0.25
enum { PLANAR_EVALUATIONS = 1 << 17, SPATIAL_EVALUATIONS = 1 << 13 };
#define MOST_EVALUATIONS 0x1p40
// Of carom_worst_raise.
enum { RAISING_EVALUATIONS = 1024 };
// A change that saves pieces may lower a line's value by this share of the scale of its functional: pieces that do nothing cost time, and
// changes of them are wasted. The best walk of all is kept.
#define FORGIVEN 1e-7
// Streams of the search are apart from those of plain walks.
static const int64_t FIRST_SEARCHED = (int64_t)1 << 42;

carom_worst_options carom_worst_defaults(void) { return (carom_worst_options){.seconds = NAN}; }

const carom_option carom_worst_rows[CAROM_WORST_ROWS] = {
    {"evaluations", CAROM_OPTION_INTEGER, offsetof(carom_worst_options, evaluations), 1, MOST_EVALUATIONS, "", "2^17, in space 2^13",
     "walks or samples for each expression, the plain ones included; the answer is then the same on every number of threads", NULL},
    {"seconds", CAROM_OPTION_REAL, offsetof(carom_worst_options, seconds), CAROM_POSITIVE, 1e9, "s", "none",
     "budget of time for each expression, in place of evaluations", NULL},
    {"seed", CAROM_OPTION_INTEGER, offsetof(carom_worst_options, seed), 0, CAROM_MOST_SEED, "", "0", "of plain samples and of the search",
     NULL},
};

// One line of descent.
typedef struct line {
    carom_tape tape;     // of its best walk
    carom_tape settled;  // the same when the turn began: others may take its end
    double value;
    int64_t stream;  // of its next change
} line;

// A plain walk that is the best of its block.
typedef struct plain {
    double value;
    int64_t index;
} plain;

// A walk of another functional's line that beats all of this functional's.
typedef struct offer {
    carom_tape tape;
    double value;   // -INFINITY: there is none
    int64_t order;  // of all changes of the round
} offer;

typedef struct worker {
    carom_player player;
    carom_tape child, recorded;
    offer *offers;  // [count] the best of the round
} worker;

// Plain walks in rounds of blocks, whose results are delivered in order.
typedef struct plain_walks {
    plain *slots;       // [slots x count] of the blocks on their way
    plain *leaders;     // [count x LINES] the best so far, the first one the best
    int64_t delivered;  // walks
    int64_t done;       // blocks before this round
} plain_walks;

typedef struct search {
    const carom_impact *impact;
    const carom_functional *functionals;
    int count;  // of functionals
    const carom_worst_options *options;
    const carom_control *control;
    const carom_member_source *source;
    bool once;        // one play gives all members that there are
    int64_t block;    // plays of a block of plain ones
    double deadline;  // by the monotonic clock [s]; infinite without a budget of time
    carom_worst *worst;
    worker *workers;
    plain_walks plain;
    line *lines;  // [count x LINES]
    int lived;    // lines of each functional that go on
} search;

// -------------------------------------------------------------------------------------------------------- plain walks

// The best of one block of plain walks, for each functional.
static carom_status walk_block(void *user, int worker_index, int slot, int64_t block, carom_error *error) {
    search *run = user;
    carom_player *player = &run->workers[worker_index].player;
    carom_status status = CAROM_OK;
    plain *best = run->plain.slots + (size_t)slot * (size_t)run->count;
    for (int f = 0; f < run->count; f++) best[f] = (plain){-INFINITY, -1};
    for (int64_t k = 0; k < run->block && !status; k++) {
        const int64_t index = (run->plain.done + block) * run->block + k;
        status = carom_player_play(player, NULL, run->options->seed, index, NULL, error);
        for (int f = 0; f < run->count && !status; f++) {
            const double value = carom_player_value(player, &run->functionals[f], NULL);
            if (value > best[f].value) best[f] = (plain){value, index};
        }
    }
    return status;
}

// Among the leaders, which stay sorted.
static carom_status take_block(void *user, int slot, int64_t block, carom_error *error) {
    (void)block, (void)error;
    search *run = user;
    for (int f = 0; f < run->count; f++) {
        plain *leaders = run->plain.leaders + f * LINES, best = run->plain.slots[(size_t)slot * (size_t)run->count + (size_t)f];
        for (int i = 0; i < LINES; i++)
            if (best.value > leaders[i].value) {
                const plain displaced = leaders[i];
                leaders[i] = best;
                best = displaced;
            }
    }
    run->plain.delivered += run->block;
    return CAROM_OK;
}

// ------------------------------------------------------------------------------------------------------------- lines

// Offers a walk that was made for one functional to the others. Of equal offers the earliest counts, whoever made it.
static void offer_to_others(const search *run, worker *own, int made_for, int64_t order) {
    for (int f = 0; f < run->count; f++) {
        if (f == made_for) continue;
        offer *best = &own->offers[f];
        const double value = carom_player_value(&own->player, &run->functionals[f], NULL);
        if (!(value > run->worst[f].value) || !(value > best->value || (value == best->value && order < best->order))) continue;
        best->value = value;
        best->order = order;
        carom_tape_copy(&own->recorded, &best->tape);
    }
}

// Some changes of one line.
static carom_status take_turn(void *user, int worker_index, int slot, int64_t block, carom_error *error) {
    (void)slot;
    search *run = user;
    worker *own = &run->workers[worker_index];
    const int f = (int)(block / run->lived), first = f * LINES, index = first + (int)(block % run->lived);
    line *descent = &run->lines[index];
    const double scale = isfinite(run->worst[f].samples_value) ? fabs(run->worst[f].samples_value) : 0;
    for (int k = 0; k < TURN; k++) {
        carom_stream stream;
        carom_stream_start_use(&stream, (uint64_t)run->options->seed, (uint64_t)descent->stream, CAROM_STREAM_SEARCH);
        const carom_tape *mate = &run->lines[first + (int)(run->lived * carom_stream_uniform(&stream))].settled;
        carom_tape_mutate(run->impact, &descent->tape, mate, &stream, &own->child);
        const carom_status status =
            carom_player_play(&own->player, &own->child, run->options->seed, descent->stream, &own->recorded, error);
        descent->stream++;
        // A point where there is no such impact is no better one.
        if (status && status != CAROM_BAD_INPUT) return status;
        if (status) continue;
        if (own->player.members.verdict == CAROM_INTERRUPTED) break;
        const double value = carom_player_value(&own->player, &run->functionals[f], NULL);
        if (!own->recorded.failed) offer_to_others(run, own, f, block * TURN + k);
        // Changes that do not matter are kept as well, unless they make the walk longer.
        const int saved = carom_tape_pieces(&descent->tape) - carom_tape_pieces(&own->recorded);
        const bool better = value > descent->value || (saved >= 0 && value >= descent->value - FORGIVEN * saved * scale);
        if (better && !own->recorded.failed) {
            const carom_tape before = descent->tape;
            descent->tape = own->recorded;
            own->recorded = before;
            descent->value = value;
        }
    }
    return own->child.failed || own->recorded.failed ? carom_fail_memory(error, "worst cases") : CAROM_OK;
}

static carom_status count_turn(void *user, int slot, int64_t block, carom_error *error) {
    (void)slot, (void)error;
    search *run = user;
    run->worst[block / run->lived].evaluations += TURN;
    return CAROM_OK;
}

static int by_value(const void *a, const void *b) {
    const line *one = a, *other = b;
    return (one->value < other->value) - (one->value > other->value);
}

// The best offer for each functional takes the place of its worst line.
static carom_status take_offers(search *run, int workers, carom_error *error) {
    bool failed = false;
    for (int f = 0; f < run->count; f++) {
        offer *best = &run->workers[0].offers[f];
        for (int i = 1; i < workers; i++) {
            offer *other = &run->workers[i].offers[f];
            if (other->value > best->value || (other->value == best->value && other->order < best->order)) best = other;
        }
        line *lines = run->lines + f * LINES, *worst = lines;
        double most = lines[0].value;
        for (int i = 1; i < run->lived; i++) {
            if (lines[i].value < worst->value) worst = &lines[i];
            most = fmax(most, lines[i].value);
        }
        if (best->value > most) {
            carom_tape_copy(&best->tape, &worst->tape);
            worst->value = best->value;
        }
        for (int i = 0; i < workers; i++) {
            failed = failed || run->workers[i].offers[f].tape.failed;
            run->workers[i].offers[f].value = -INFINITY;
        }
        failed = failed || worst->tape.failed;
    }
    return failed ? carom_fail_memory(error, "worst cases") : CAROM_OK;
}

// Brings the lines of each functional into order, and notes how far the best one is.
static void compare_lines(search *run, bool ends) {
    for (int f = 0; f < run->count; f++) {
        carom_worst *worst = &run->worst[f];
        line *lines = run->lines + f * LINES;
        int best = 0;
        for (int i = 0; i < run->lived; i++) {
            if (lines[i].value > lines[best].value) best = i;
            carom_tape_copy(&lines[i].tape, &lines[i].settled);
        }
        if (lines[best].value > worst->value) {
            worst->value = lines[best].value;
            carom_tape_copy(&lines[best].tape, &worst->tape);
        }
        const int64_t noted = worst->grown ? worst->growth[worst->grown - 1].evaluations : 0;
        if (worst->grown < CAROM_WORST_MOST_GROWTH && (worst->evaluations >= 2 * noted || (ends && worst->evaluations > noted)))
            worst->growth[worst->grown++] = (carom_worst_growth){worst->evaluations, worst->value};
    }
}

// ------------------------------------------------------------------------------------------------------------- search

static bool is_over(void *user) {
    const search *run = user;
    return carom_clock_seconds() >= run->deadline || carom_control_cancelled(run->control);
}

static bool is_cancelled(void *user) { return carom_control_cancelled(((const search *)user)->control); }

static void report(const search *run, double share) {
    enum { WHOLE = 1000 };
    if (run->control && run->control->progress) run->control->progress(run->control->user, (int64_t)fmax(1, WHOLE * fmin(share, 1)), WHOLE);
}

// The share of the budget of the search, which has begun after the plain walks, that is spent.
static double spent(const search *run, double begun, int64_t evaluations) {
    if (isfinite(run->deadline)) return (carom_clock_seconds() - begun) / (run->deadline - begun);
    return (double)(run->worst[0].evaluations - run->plain.delivered) / fmax(1, (double)(evaluations - run->plain.delivered));
}

static carom_status prepare(search *run, int workers, carom_arena *arena, carom_error *error) {
    run->workers = carom_arena_take(arena, (size_t)workers, sizeof *run->workers);
    run->plain.slots = carom_arena_take(arena, (size_t)carom_loop_slots(workers) * (size_t)run->count, sizeof *run->plain.slots);
    run->plain.leaders = carom_arena_take(arena, (size_t)run->count * LINES, sizeof *run->plain.leaders);
    run->lines = carom_arena_take(arena, (size_t)run->count * LINES, sizeof *run->lines);
    if (arena->failed) return carom_fail_memory(error, "worst cases");
    for (int i = 0; i < run->count * LINES; i++) run->plain.leaders[i] = (plain){-INFINITY, -1};
    carom_status status = CAROM_OK;
    for (int i = 0; i < workers && !status; i++) {
        run->workers[i].offers = carom_arena_take(arena, (size_t)run->count, sizeof *run->workers[i].offers);
        if (arena->failed) return carom_fail_memory(error, "worst cases");
        for (int f = 0; f < run->count; f++) run->workers[i].offers[f].value = -INFINITY;
        status =
            carom_player_create(run->impact, run->options->uncertainty, run->source, false, run->control, &run->workers[i].player, error);
    }
    return status;
}

static void release(search *run, int workers) {
    for (int i = 0; run->workers && i < workers; i++) {
        worker *own = &run->workers[i];
        carom_player_release(&own->player);
        carom_tape_release(&own->child);
        carom_tape_release(&own->recorded);
        for (int f = 0; own->offers && f < run->count; f++) carom_tape_release(&own->offers[f].tape);
    }
    for (int i = 0; run->lines && i < run->count * LINES; i++) {
        carom_tape_release(&run->lines[i].tape);
        carom_tape_release(&run->lines[i].settled);
    }
}

// Plain walks until their share of the budget is spent.
static carom_status walk_plainly(search *run, double start, int64_t evaluations, const carom_control *inner, int workers,
                                 carom_error *error) {
    const bool timed = isfinite(run->deadline);
    const double whole = run->deadline;
    // As with evaluations: all functionals share the plain walks, and each has three times as many of its own.
    if (timed) run->deadline = start + PLAIN_SHARE / (PLAIN_SHARE + run->count * (1 - PLAIN_SHARE)) * (whole - start);
    const double wanted = run->once ? 1 : timed ? MOST_EVALUATIONS : fmax(PLAIN_SHARE * (double)evaluations, 1);
    const int64_t blocks = (int64_t)ceil(wanted / (double)run->block);
    carom_status status = CAROM_OK;
    // However short the time is, some walks are made.
    plain_walks *walks = &run->plain;
    for (walks->done = 0; walks->done < blocks && !status && (walks->done == 0 || !is_over(run));
         walks->done = walks->delivered / run->block) {
        const carom_loop loop = {walks->done + ROUND < blocks ? ROUND : blocks - walks->done, run, walk_block, take_block, NULL, NULL};
        const carom_control first = {.threads = inner->threads, .cancelled = is_cancelled, .user = run};
        int64_t delivered;
        status = carom_loop_run(&loop, walks->done ? inner : &first, workers, &delivered, error);
        if (delivered < loop.blocks) break;
        report(run, timed ? PLAIN_SHARE * (carom_clock_seconds() - start) / (run->deadline - start)
                          : (double)walks->delivered / (double)evaluations);
    }
    run->deadline = whole;
    for (int f = 0; f < run->count; f++) {
        run->worst[f].samples_value = walks->leaders[f * LINES].value;
        run->worst[f].samples = run->worst[f].evaluations = walks->delivered;
    }
    return status;
}

// Each line begins with the tape of one of the best plain walks. A walk that has ended before does so again, whoever asks to stop.
static carom_status begin_lines(search *run, carom_error *error) {
    carom_player *player = &run->workers[0].player;
    carom_status status = CAROM_OK;
    carom_player_watch(player, NULL);
    for (int i = 0; i < run->count * LINES && !status; i++) {
        line *descent = &run->lines[i];
        descent->value = -INFINITY;
        descent->stream = FIRST_SEARCHED * (1 + i);
        // Fewer blocks than lines: the best walk again.
        const plain *own = &run->plain.leaders[i], *leader = own->index >= 0 ? own : &run->plain.leaders[i - i % LINES];
        if (leader->index < 0) continue;
        status = carom_player_play(player, NULL, run->options->seed, leader->index, &descent->tape, error);
        if (status) break;
        descent->value = leader->value;
        if (descent->tape.failed) status = carom_fail_memory(error, "worst cases");
    }
    carom_player_watch(player, run->control);
    return status;
}

// The lines go on until the budget is spent.
static carom_status descend(search *run, int64_t evaluations, const carom_control *inner, int workers, carom_error *error) {
    const double begun = carom_clock_seconds();
    if (!isfinite(run->deadline)) {
        const double most = (double)(evaluations - run->plain.delivered) / (LEAST_TURNS * TURN);
        run->lived = (int)fmax(1, fmin(run->lived, most));
    }
    const int first = run->lived;
    int stages = 1;
    while (first >> stages) stages++;
    const double stage_share = fmin(MOST_STAGE, 1.0 / stages);
    carom_status status = CAROM_OK;
    compare_lines(run, false);
    while (!status && !run->once && !is_over(run) && (isfinite(run->deadline) || run->worst[0].evaluations < evaluations)) {
        const double share = spent(run, begun, evaluations);
        report(run, PLAIN_SHARE + (1 - PLAIN_SHARE) * share);
        int lived = first;
        for (int stage = 1; lived > 1 && share >= stage * stage_share; stage++) lived /= 2;
        if (lived < run->lived) {
            for (int f = 0; f < run->count; f++) qsort(run->lines + f * LINES, (size_t)run->lived, sizeof *run->lines, by_value);
            run->lived = lived;
        }
        const carom_loop loop = {(int64_t)run->count * run->lived, run, take_turn, count_turn, NULL, NULL};
        int64_t delivered;
        status = carom_loop_run(&loop, inner, workers, &delivered, error);
        if (!status) status = take_offers(run, workers, error);
        if (!status) compare_lines(run, false);
    }
    if (!status) compare_lines(run, true);
    return status;
}

static carom_status check_options(const carom_worst_options *options, int count, carom_error *error) {
    if (count < 1) return carom_fail(error, CAROM_BAD_INPUT, "there is no functional to search for");
    if (options->evaluations < 0 || (double)options->evaluations > MOST_EVALUATIONS)
        return carom_fail(error, CAROM_BAD_INPUT, "evaluations: %lld is not between 1 and 2^40", (long long)options->evaluations);
    if (!isnan(options->seconds) && !(options->seconds > 0))
        return carom_fail(error, CAROM_BAD_INPUT, "seconds: %g is not positive", options->seconds);
    if (options->seed < 0) return carom_fail(error, CAROM_BAD_INPUT, "seed: %lld is below the least value 0", (long long)options->seed);
    return options->source ? carom_reach_check_restitution(&options->source->rebound, options->uncertainty, error) : CAROM_OK;
}

// Which of the members of its tape has the value of a functional, and whether these are all that there are.
static carom_status name_members(search *run, carom_error *error) {
    carom_player *player = &run->workers[0].player;
    carom_status status = CAROM_OK;
    carom_player_watch(player, NULL);
    for (int f = 0; f < run->count && !status; f++) {
        carom_worst *worst = &run->worst[f];
        if (isinf(worst->value)) continue;
        status = carom_player_play(player, &worst->tape, 0, 0, NULL, error);
        carom_player_value(player, &run->functionals[f], &worst->member);
        worst->members = player->members.count;
        worst->complete = run->once && player->members.verdict == CAROM_COMPLETE;
    }
    return status;
}

carom_status carom_worst_search(const carom_impact *impact, const carom_functional *functionals, int count,
                                const carom_worst_options *options, const carom_control *control, carom_worst *worst,
                                carom_verdict *verdict, carom_error *error) {
    for (int f = 0; f < count; f++) worst[f] = (carom_worst){.value = -INFINITY, .samples_value = -INFINITY};
    *verdict = CAROM_COMPLETE;
    carom_status status = check_options(options, count, error);
    if (status) return status;
    carom_member_source walks = {0};
    if (!options->source) status = carom_usual_members(&walks, error);
    if (status) return status;
    const bool planar = carom_impact_get_data(impact)->tangent_dim == 1;
    const int64_t usual = planar ? PLANAR_EVALUATIONS : SPATIAL_EVALUATIONS;
    const int64_t evaluations = options->evaluations ? options->evaluations : usual;
    const int workers = carom_control_workers(control);
    const double start = carom_clock_seconds();
    // All functionals are searched at once, and have the time of all.
    search run = {.impact = impact,
                  .functionals = functionals,
                  .count = count,
                  .options = options,
                  .control = control,
                  .source = options->source ? options->source : &walks,
                  .deadline = isnan(options->seconds) ? INFINITY : start + count * options->seconds,
                  .worst = worst,
                  .lived = planar ? PLANAR_LINES : SPATIAL_LINES};
    run.once = !run.source->kind->draws && !(options->uncertainty && carom_uncertainty_dimension(options->uncertainty));
    run.block = run.once ? 1 : BLOCK;
    const carom_control inner = {.threads = control ? control->threads : 0, .cancelled = is_over, .user = &run};
    carom_arena arena = {0};
    status = prepare(&run, workers, &arena, error);
    if (!status) status = walk_plainly(&run, start, evaluations, &inner, workers, error);
    if (!status) status = begin_lines(&run, error);
    if (!status) status = descend(&run, evaluations, &inner, workers, error);
    if (!status) status = name_members(&run, error);
    if (carom_control_cancelled(control)) *verdict = CAROM_INTERRUPTED;
    for (int f = 0; f < count && !status; f++)
        if (worst[f].tape.failed) status = carom_fail_memory(error, "worst cases");
    release(&run, workers);
    carom_member_source_release(&walks);
    carom_arena_free(&arena);
    return status;
}

void carom_worst_release(carom_worst *worst) { carom_tape_release(&worst->tape); }

carom_status carom_worst_raise(const carom_impact *impact, const carom_functional *functional, const carom_control *control, double *inner,
                               bool *raised, carom_error *error) {
    carom_worst_options options = carom_worst_defaults();
    options.evaluations = RAISING_EVALUATIONS;
    carom_worst found;
    carom_verdict verdict;
    const carom_status status = carom_worst_search(impact, functional, 1, &options, control, &found, &verdict, error);
    *raised = !status && found.value > *inner;
    if (*raised) *inner = found.value;
    carom_worst_release(&found);
    return status;
}
