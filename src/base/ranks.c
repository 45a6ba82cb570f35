// SPDX-License-Identifier: Apache-2.0
// Agreement between ranks: every rank tells rank 0 how it fares, and rank 0 tells all what holds.
// All agreements exchange the same messages, so that a rank that fails early meets the others at whichever they come to next.
#include "base/ranks.h"

// What a rank says of itself, and rank 0 of all.
typedef struct vote {
    carom_error error;  // its status: CAROM_OK when nothing failed
    int64_t value;
} vote;

// A message with one vote.
static carom_status send_vote(const carom_ranks *ranks, int to, const vote *sent, carom_bytes *message, carom_error *error) {
    carom_bytes_clear(message);
    const carom_status status = carom_bytes_put(message, sent, sizeof *sent, error);
    return status ? status : ranks->send(ranks->user, to, message, error);
}

// Waits for the vote of a rank.
static carom_status receive_vote(const carom_ranks *ranks, int from, vote *received, carom_bytes *message, carom_error *error) {
    const carom_status status = ranks->receive(ranks->user, from, message, error);
    return status ? status : carom_bytes_take(message, received, sizeof *received, error);
}

// The lowest rank that failed speaks for all, so that every rank reports the same sentence.
carom_status carom_ranks_agree_least(carom_ranks *ranks, carom_status status, int64_t *value, carom_error *error) {
    if (!ranks || ranks->count < 2 || ranks->ended) return status;
    // A rank that failed votes with its error; the value of a rank that failed does not matter, because all fail.
    vote all = {.value = *value};
    if (status && error) all.error = *error;
    all.error.status = status;
    carom_bytes *message;
    carom_status sent = carom_bytes_create(&message, error);
    if (ranks->rank) {
        if (!sent) sent = send_vote(ranks, 0, &all, message, error);
        if (!sent) sent = receive_vote(ranks, 0, &all, message, error);
    } else {
        // Rank 0 hears every rank, merges their votes into the first failure and the least value, and tells all.
        for (int rank = 1; rank < ranks->count && !sent; rank++) {
            vote one;
            sent = receive_vote(ranks, rank, &one, message, error);
            if (!sent && !all.error.status) all.error = one.error;
            if (!sent && one.value < all.value) all.value = one.value;
        }
        for (int rank = 1; rank < ranks->count && !sent; rank++) sent = send_vote(ranks, rank, &all, message, error);
    }
    carom_bytes_free(message);
    // After a failure no rank sends any more: a later agreement would wait for a rank that has left.
    ranks->ended = sent || all.error.status;
    if (sent) return sent;
    *value = all.value;
    if (all.error.status && error) *error = all.error;
    return all.error.status;
}

// An agreement on the status alone.
carom_status carom_ranks_agree(carom_ranks *ranks, carom_status status, carom_error *error) {
    int64_t nothing = 0;
    return carom_ranks_agree_least(ranks, status, &nothing, error);
}
