// SPDX-License-Identifier: Apache-2.0
// Tapes: the random numbers of a walk, each with the decision that it is for, so that a change of one leaves the meaning of the others.
#include "reach/numbers.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 256, MOST_PIECES = INT32_MAX };

// Room for so many numbers.
static bool widen(carom_tape *tape, int64_t count) {
    if (count <= tape->capacity) return true;
    const int64_t doubled = tape->capacity ? 2 * tape->capacity : FIRST_CAPACITY, capacity = count > doubled ? count : doubled;
    carom_tape_number *larger = realloc(tape->numbers, (size_t)capacity * sizeof *larger);
    if (!larger) {
        tape->failed = true;
        return false;
    }
    tape->numbers = larger;
    tape->capacity = capacity;
    return true;
}

void carom_tape_add(carom_tape *tape, carom_tape_number number) {
    if (widen(tape, tape->count + 1)) tape->numbers[tape->count++] = number;
}

void carom_tape_copy(const carom_tape *tape, carom_tape *copy) {
    copy->count = 0;
    if (!tape->count || !widen(copy, tape->count)) return;
    memcpy(copy->numbers, tape->numbers, (size_t)tape->count * sizeof *tape->numbers);
    copy->count = tape->count;
}

void carom_tape_release(carom_tape *tape) {
    free(tape->numbers);
    *tape = (carom_tape){0};
}

void carom_numbers_turn_to(carom_numbers *numbers, int64_t piece) {
    numbers->piece = (int)(piece < MOST_PIECES ? piece : MOST_PIECES);
    const carom_tape *played = numbers->played;
    if (!played) return;
    // What this piece did not ask for is passed over.
    while (numbers->next < played->count && played->numbers[numbers->next].piece < numbers->piece) numbers->next++;
    for (numbers->end = numbers->next; numbers->end < played->count && played->numbers[numbers->end].piece == numbers->piece;)
        numbers->end++;
}

// Takes the next number that the tape has for a decision on this piece; false where it has none.
static bool find(carom_numbers *numbers, int32_t what, double *value) {
    int64_t k = numbers->next;
    while (k < numbers->end && numbers->played->numbers[k].what != what) k++;
    if (k == numbers->end) return false;
    *value = numbers->played->numbers[k].value;
    numbers->next = k + 1;
    return true;
}

double carom_numbers_play(carom_numbers *numbers, carom_tape_decision decision, int contact) {
    const int32_t what = (int32_t)decision * numbers->contacts + contact;
    double value;
    if (!find(numbers, what, &value)) value = carom_stream_uniform(&numbers->stream);
    if (numbers->recorded) carom_tape_add(numbers->recorded, (carom_tape_number){numbers->piece, what, value});
    return value;
}

double carom_numbers_prefer(carom_numbers *numbers, carom_tape_decision decision, int contact, double other) {
    const int32_t what = (int32_t)decision * numbers->contacts + contact;
    double value;
    if (!find(numbers, what, &value)) value = other;
    if (numbers->recorded) carom_tape_add(numbers->recorded, (carom_tape_number){numbers->piece, what, value});
    return value;
}
