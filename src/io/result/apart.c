// SPDX-License-Identifier: Apache-2.0
// A result file that a child process reads. Parent and child are two ends of a socket: the parent sends a question of fixed size, the child
// a head of fixed size and as many bytes as the head says. The child ends when the parent does, or at the first answer it cannot send.
#define _XOPEN_SOURCE 700
#include "io/result/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "carom/clock.h"
#include "carom/impact.h"
#include "io/child.h"

enum {
    PATIENCE = 10,            // seconds for an answer, and one more for each
    SLOWEST = 10 << 20,       // bytes that a disk reads in a second
    NEEDED_MEMORY = 8 << 20,  // by libhdf5
    LONGEST_TOP = 1 << 20,
    MILLISECONDS_BETWEEN_POLLS = 50,
};

typedef enum question_kind { HAS, READ, TEXT } question_kind;

typedef struct question {
    question_kind kind;
    carom_stored_type type;
    char group[CAROM_STORED_NAME], name[CAROM_STORED_NAME];
} question;

// The size of what follows, and what it is.
typedef struct head {
    int64_t size;
    carom_stored_found found;
    carom_stored_extent extent;
} head;

// The head of the first message; a refusal's message follows, or the texts of the top, each with its final zero.
typedef struct top_head {
    int64_t size;
    carom_status status;
    int contact_count, tangent_dim, law_count;
    bool has_motion;
} top_head;

typedef enum loss { NOTHING, CRASHED, SILENT, STOPPED } loss;

struct carom_stored_apart {
    char *path;
    pid_t child;
    int socket;
    double patience;               // seconds without a byte
    const carom_control *control;  // of the caller
    loss lost;
};

// ----------------------------------------------------------------------------------------------------------- the child

static bool send_all(int socket, const void *bytes, size_t size) {
    for (const char *rest = bytes; size;) {
        const ssize_t count = send(socket, rest, size, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        rest += count;
        size -= (size_t)count;
    }
    return true;
}

// Waits for ever: the parent may compute between its questions.
static bool receive_question(int socket, question *asked) {
    char *rest = (char *)asked;
    for (size_t size = sizeof *asked; size;) {
        const ssize_t count = recv(socket, rest, size, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        rest += count;
        size -= (size_t)count;
    }
    return true;
}

// libhdf5 does not say that it lacked memory: is there none left for what it needs beside the values?
static bool lacks_memory(void) {
    void *volatile room = malloc(NEEDED_MEMORY);
    const bool lacks = !room;
    free(room);
    return lacks;
}

static bool send_top(int socket, carom_status status, const carom_error *error, const carom_stored_top *top) {
    char *texts = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&texts, &size);
    if (!stream) return false;
    if (status) fwrite(error->message, 1, strlen(error->message) + 1, stream);
    if (!status) fwrite(top->scene_name[0], 1, strlen(top->scene_name[0]) + 1, stream);
    for (int i = 0; i < top->contact_count; i++) fwrite(top->contacts[i], 1, strlen(top->contacts[i]) + 1, stream);
    for (int i = 0; i < top->law_count; i++) fwrite(top->laws[i], 1, strlen(top->laws[i]) + 1, stream);
    if (fclose(stream)) return false;
    const top_head sent = {(int64_t)size, status, top->contact_count, top->tangent_dim, top->law_count, top->has_motion};
    return send_all(socket, &sent, sizeof sent) && send_all(socket, texts, size);
}

// Opens the file and answers until the parent closes its end. Never returns: the parent's exit handlers are not this process's.
static _Noreturn void serve(int socket, const char *path, int64_t file_size) {
    carom_child_limit(file_size);
    carom_error error = {0};
    carom_stored *stored;
    carom_stored_top top;
    carom_status status = carom_stored_open(path, file_size, &stored, &top, &error);
    if (status && lacks_memory()) status = carom_fail_memory(&error, path);
    bool sent = send_top(socket, status, &error, &top);
    question asked;
    while (!status && sent && receive_question(socket, &asked)) {
        head answer = {.found = CAROM_STORED_MISSING};
        void *values = NULL;
        char text[CAROM_STORED_TEXT];
        switch (asked.kind) {
        case HAS:
            if (carom_stored_has(stored, asked.group, asked.name)) answer.found = CAROM_STORED_READ;
            break;
        case READ:
            answer.found = carom_stored_read(stored, asked.group, asked.name, asked.type, &values, &answer.extent);
            if (answer.found == CAROM_STORED_READ) answer.size = answer.extent.lines * answer.extent.width * carom_stored_entry(asked.type);
            if (answer.found != CAROM_STORED_READ && lacks_memory()) answer.found = CAROM_STORED_NO_MEMORY;
            break;
        case TEXT:
            if (!carom_stored_text(stored, asked.group, asked.name, text)) break;
            answer.found = CAROM_STORED_READ;
            answer.size = (int64_t)strlen(text);
            break;
        }
        sent = send_all(socket, &answer, sizeof answer) && send_all(socket, asked.kind == TEXT ? text : values, (size_t)answer.size);
        free(values);
    }
    _exit(0);
}

// ---------------------------------------------------------------------------------------------------------- the parent

// Receives as many bytes, unless the child is gone or says nothing for too long, or the caller asks to stop.
static bool receive(carom_stored_apart *apart, void *bytes, size_t size) {
    char *rest = bytes;
    double since = carom_clock_seconds();
    while (size && !apart->lost) {
        struct pollfd ready = {.fd = apart->socket, .events = POLLIN};
        if (carom_control_cancelled(apart->control)) apart->lost = STOPPED;
        if (apart->lost) break;
        const int polled = poll(&ready, 1, MILLISECONDS_BETWEEN_POLLS);
        if (polled == 0 && carom_clock_seconds() - since > apart->patience) apart->lost = SILENT;
        if (polled == 0 || (polled < 0 && errno == EINTR)) continue;
        if (polled < 0) break;
        const ssize_t count = recv(apart->socket, rest, size, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        rest += count;
        size -= (size_t)count;
        since = carom_clock_seconds();
    }
    if (size && !apart->lost) apart->lost = CRASHED;
    return !size;
}

// Asks, and receives the head of the answer; a head that cannot be true counts as a crash.
static bool ask(carom_stored_apart *apart, question_kind kind, carom_stored_type type, const char *group, const char *name, head *answer) {
    question asked = {.kind = kind, .type = type};
    *answer = (head){.found = CAROM_STORED_LOST};
    if (apart->lost) return false;
    snprintf(asked.group, sizeof asked.group, "%s", group);
    snprintf(asked.name, sizeof asked.name, "%s", name);
    if (!send_all(apart->socket, &asked, sizeof asked)) apart->lost = CRASHED;
    head got;
    if (apart->lost || !receive(apart, &got, sizeof got)) return false;
    const carom_stored_extent extent = got.extent;
    bool sound = got.found <= CAROM_STORED_NO_MEMORY && got.size >= 0;
    if (kind == READ && got.found == CAROM_STORED_READ)
        sound = sound && extent.width >= 1 && extent.lines >= 0 && extent.lines <= INT64_MAX / 8 / extent.width &&
                got.size == extent.lines * extent.width * carom_stored_entry(type);
    else
        sound = sound && got.size < CAROM_STORED_TEXT;
    if (!sound) apart->lost = CRASHED;
    if (sound) *answer = got;
    return sound;
}

// Of a lost child the answer is yes, so that whoever reads the dataset learns of the loss.
bool carom_stored_apart_has(carom_stored_apart *apart, const char *group, const char *name) {
    head answer;
    return !ask(apart, HAS, CAROM_STORED_REALS, group, name, &answer) || answer.found == CAROM_STORED_READ;
}

carom_stored_found carom_stored_apart_read(carom_stored_apart *apart, const char *group, const char *name, carom_stored_type type,
                                           void **values, carom_stored_extent *extent) {
    head answer;
    *values = NULL;
    *extent = (carom_stored_extent){0};
    if (!ask(apart, READ, type, group, name, &answer) || answer.found != CAROM_STORED_READ) return answer.found;
    *values = malloc((size_t)answer.size + 1);
    if (!*values) {
        // What the child sends now would be taken for its next answer.
        apart->lost = CRASHED;
        return CAROM_STORED_NO_MEMORY;
    }
    if (receive(apart, *values, (size_t)answer.size)) {
        *extent = answer.extent;
        return CAROM_STORED_READ;
    }
    free(*values);
    *values = NULL;
    return CAROM_STORED_LOST;
}

bool carom_stored_apart_text(carom_stored_apart *apart, const char *group, const char *name, char text[CAROM_STORED_TEXT]) {
    head answer;
    if (!ask(apart, TEXT, CAROM_STORED_REALS, group, name, &answer) || answer.found != CAROM_STORED_READ) return false;
    const bool received = receive(apart, text, (size_t)answer.size);
    text[received ? answer.size : 0] = '\0';
    return received;
}

carom_status carom_stored_apart_explain(const carom_stored_apart *apart, carom_error *error) {
    if (!apart->lost) return CAROM_OK;
    if (apart->lost == STOPPED) return carom_fail(error, CAROM_IO_FAILED, "%s: the caller stopped the reading", apart->path);
    return carom_fail(error, CAROM_BAD_INPUT, "%s: not a carom result file: it is damaged, and libhdf5 %s on it", apart->path,
                      apart->lost == SILENT ? "does not end" : "crashes");
}

// Cuts `count` texts out of a block of texts; false where it has fewer.
static bool cut_texts(const char **next, const char *end, int count, char ***texts) {
    *texts = calloc((size_t)count + 1, sizeof **texts);
    for (int i = 0; i < count && *texts; i++) {
        const char *zero = memchr(*next, '\0', (size_t)(end - *next));
        if (!zero || !((*texts)[i] = strdup(*next))) return false;
        *next = zero + 1;
    }
    return *texts != NULL;
}

// The first message: the top of the file, or why it is refused.
static carom_status receive_top(carom_stored_apart *apart, carom_stored_top *top, carom_error *error) {
    top_head got = {0};
    char *block = NULL;
    bool sound = receive(apart, &got, sizeof got) && got.size > 0 && got.size <= LONGEST_TOP && got.contact_count >= 0 &&
                 got.contact_count <= CAROM_MAX_CONTACTS && got.law_count >= 0 && got.law_count <= CAROM_STORED_MOST_LAWS;
    if (sound) block = malloc((size_t)got.size);
    if (sound && !block) return carom_fail_memory(error, apart->path);
    sound = sound && receive(apart, block, (size_t)got.size) && block[got.size - 1] == '\0';
    if (!sound && !apart->lost) apart->lost = CRASHED;
    carom_status status = carom_stored_apart_explain(apart, error);
    if (sound && got.status) status = carom_fail(error, got.status, "%s", block);
    if (!status) {
        const char *next = block, *end = block + got.size;
        *top = (carom_stored_top){.contact_count = got.contact_count, .law_count = got.law_count, .tangent_dim = got.tangent_dim};
        top->has_motion = got.has_motion;
        if (!cut_texts(&next, end, 1, &top->scene_name) || !cut_texts(&next, end, got.contact_count, &top->contacts) ||
            !cut_texts(&next, end, got.law_count, &top->laws))
            status = carom_fail_memory(error, apart->path);
    }
    free(block);
    return status;
}

carom_status carom_stored_apart_open(const char *path, int64_t file_size, const carom_control *control, carom_stored_apart **apart,
                                     carom_stored_top *top, carom_error *error) {
    *apart = NULL;
    *top = (carom_stored_top){0};
    carom_stored_apart *made = calloc(1, sizeof *made);
    int ends[2] = {-1, -1};
    if (made) *made = (carom_stored_apart){.path = strdup(path), .child = -1, .socket = -1, .control = control};
    if (!made || !made->path) {
        carom_stored_apart_close(made);
        return carom_fail_memory(error, path);
    }
    made->patience = PATIENCE + (double)file_size / SLOWEST;
    carom_status status = CAROM_OK;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) status = carom_fail_system(error, errno, "%s: no socket to read it through", path);
    if (!status) {
        made->socket = ends[0];
        for (int i = 0; i < 2; i++) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        made->child = fork();
        if (made->child == 0) {
            close(ends[0]);
            serve(ends[1], path, file_size);
        }
        if (made->child < 0) status = carom_fail(error, CAROM_OUT_OF_MEMORY, "%s: no process to read it: %s", path, strerror(errno));
        close(ends[1]);
    }
    if (!status) status = receive_top(made, top, error);
    if (status) {
        carom_stored_top_release(top);
        carom_stored_apart_close(made);
    } else {
        *apart = made;
    }
    return status;
}

void carom_stored_apart_close(carom_stored_apart *apart) {
    if (!apart) return;
    // Children of later files hold this socket, too: its closing does not reach the child before they end.
    if (apart->child > 0) kill(apart->child, SIGKILL);
    while (apart->child > 0 && waitpid(apart->child, NULL, 0) < 0 && errno == EINTR) continue;
    if (apart->socket >= 0) close(apart->socket);
    free(apart->path);
    free(apart);
}
