// SPDX-License-Identifier: Apache-2.0
// Ranks by MPI. Messages are sent while the computation goes on, and a rank that waits leaves the processor to those that compute.
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "carom/clock.h"
#include "cli/ranks/ranks.h"

// MPI counts in int: longer messages travel in pieces.
enum { PIECE_BYTES = 1 << 30 };

// A rank that waits looks again at once for a while, since messages are near when samples are fast, and then from time to time.
#define EAGER_SECONDS 1e-3
enum { REST_NANOSECONDS = 100000 };

static carom_status send_message(void *user, int to, const carom_bytes *message, carom_error *error);
static carom_status receive_message(void *user, int from, carom_bytes *message, carom_error *error);

static struct {
    carom_ranks ranks;
    bool broken;           // a message was lost: the ranks cannot be brought together any more
    carom_bytes *leaving;  // the message on its way
    MPI_Request request;
} world = {.ranks = {0, 1, NULL, send_message, receive_message, false}, .request = MPI_REQUEST_NULL};

// MPI's own waiting would keep a core busy. Failures of MPI end the job: that is its default.
static void wait_for(MPI_Request *request) {
    const double eager = carom_clock_seconds() + EAGER_SECONDS;
    for (int done = 0;;) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done) return;
        const struct timespec rest = {0, REST_NANOSECONDS};
        if (carom_clock_seconds() < eager)
            sched_yield();
        else
            nanosleep(&rest, NULL);
    }
}

static int piece_size(size_t left) { return left < PIECE_BYTES ? (int)left : PIECE_BYTES; }

// Copies the message, so that the caller may go on while it travels.
static carom_status send_message(void *user, int to, const carom_bytes *message, carom_error *error) {
    (void)user;
    size_t size;
    const void *data = carom_bytes_data(message, &size);
    wait_for(&world.request);
    carom_bytes_clear(world.leaving);
    const carom_status status = carom_bytes_put(world.leaving, data, size, error);
    if (status) {
        world.broken = true;
        return status;
    }
    // The length goes first, then the message in pieces, of which the last may still be on its way.
    const uint64_t length = size;
    MPI_Send(&length, 1, MPI_UINT64_T, to, 0, MPI_COMM_WORLD);
    const char *left = carom_bytes_data(world.leaving, &size);
    for (const char *end = left + size; left < end; left += PIECE_BYTES) {
        wait_for(&world.request);
        MPI_Isend(left, piece_size((size_t)(end - left)), MPI_BYTE, to, 0, MPI_COMM_WORLD, &world.request);
        if (end - left <= PIECE_BYTES) break;
    }
    return CAROM_OK;
}

static carom_status receive_message(void *user, int from, carom_bytes *message, carom_error *error) {
    (void)user;
    uint64_t size;
    MPI_Request request;
    MPI_Irecv(&size, 1, MPI_UINT64_T, from, 0, MPI_COMM_WORLD, &request);
    wait_for(&request);
    char *data = carom_bytes_renew(message, size);
    if (!data) {
        world.broken = true;
        return carom_fail_memory(error, "message");
    }
    for (uint64_t done = 0; done < size; done += PIECE_BYTES) {
        MPI_Irecv(data + done, piece_size(size - done), MPI_BYTE, from, 0, MPI_COMM_WORLD, &request);
        wait_for(&request);
    }
    return CAROM_OK;
}

carom_status cli_ranks_start(carom_error *error) {
    // Processes that no launcher started need no MPI, whose start takes its time.
    static const char *const marks[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"};
    bool launched = false;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) launched = launched || getenv(marks[i]);
    if (!launched) return CAROM_OK;
    int served;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &served);
    MPI_Comm_rank(MPI_COMM_WORLD, &world.ranks.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world.ranks.count);
    return carom_bytes_create(&world.leaving, error);
}

carom_ranks *cli_ranks(void) { return world.ranks.count > 1 ? &world.ranks : NULL; }

bool cli_ranks_is_first(void) { return world.ranks.rank == 0 || world.broken; }

int cli_ranks_finish(int status) {
    int started;
    MPI_Initialized(&started);
    if (!started) return status;
    // Ranks that cannot be brought together again are ended; the others agree on the status of rank 0.
    if (world.broken) MPI_Abort(MPI_COMM_WORLD, status);
    wait_for(&world.request);
    MPI_Ibcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD, &world.request);
    wait_for(&world.request);
    carom_bytes_free(world.leaving);
    MPI_Finalize();
    return status;
}
