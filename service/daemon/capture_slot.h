/* service/daemon/capture_slot.h - one capture and its two files (capturer.h). */
#ifndef SERVICE_DAEMON_CAPTURE_SLOT_H
#define SERVICE_DAEMON_CAPTURE_SLOT_H

#include "config/labfile/lab_file.h"
#include "logger/message/json_write.h"
#include "logger/storage/journal.h"

enum { CAPTURE_ID_MAX = 80 };

struct capture_slot {
    char id[CAPTURE_ID_MAX]; /* "r1-57-1795154400": pair, number of the event, seconds */
    char pair[EVENT_PAIR_MAX], trigger[CAPTURE_WORD_MAX];
    uint64_t n;
    int64_t t_us, from_us, until_us;
    char version[SIDE_COUNT][EVENT_VERSION_MAX]; /* of the programs at its begin; "": unknown */
    uint64_t bytes;                              /* of its lines; 0 until it was written */
    bool open;                                   /* not written yet */
    bool complete;                               /* written, and the journal had all of it */
    struct journal_position start; /* where the copy begins in the journal; file 0: unknown */
};

struct capture_path {
    char text[LAB_PATH_MAX + CAPTURE_ID_MAX + 32];
};

/* Returns "FOLDER/ID.END". */
struct capture_path capture_slot_path(const char *folder, const char *id, const char *end);
/* Writes the members of a capture as they are listed. */
void capture_slot_write(const struct capture_slot *slot, struct json_writer *w);
/* Stores ID.json, whole or not at all; false with errno. */
bool capture_slot_save(const struct capture_slot *slot, const char *folder);
/* Reads a file ID.json; false: it is none. */
bool capture_slot_load(struct capture_slot *slot, const char *folder, const char *name);
void capture_slot_unlink(const struct capture_slot *slot, const char *folder);

#endif
