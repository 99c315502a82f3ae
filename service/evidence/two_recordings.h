/* service/evidence/two_recordings.h - the two recordings of a comparison or gate, and the pairs
 * that are in both. */
#ifndef SERVICE_EVIDENCE_TWO_RECORDINGS_H
#define SERVICE_EVIDENCE_TWO_RECORDINGS_H

#include "service/evidence/recording.h"

struct common_pair {
    size_t a, b;                 /* places in the recordings */
    char id[2 * EVENT_PAIR_MAX]; /* "r1"; "r1=r2" if the ids differ */
};

struct two_recordings {
    struct recording *in[2]; /* the same twice: one recording is split */
    const char *path[2];
    struct lab_file labs[2];
    size_t lab_count;
    struct common_pair *pairs; /* [count] those with commands in A or B */
    size_t count;
};

/* Read both, and find their common pairs. labs[lab_count]: paths of lab files, at most two.
 * pair: "ID", "ID=ID", or NULL for all. Returns EXIT_FINE, or another exit status; faults go to
 * stderr, as those of this command. Close it in any case. */
int two_recordings_open(struct two_recordings *two, const char *command, const char **labs,
                        size_t lab_count, const char *pair);
void two_recordings_close(struct two_recordings *two);

/* The last part of the path, for documents. */
const char *two_recordings_name(const struct two_recordings *two, size_t which);

#endif
