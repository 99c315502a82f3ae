#include "service/evidence/two_recordings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/tool/commands.h"
#include "service/tool/lab_argument.h"

const char *two_recordings_name(const struct two_recordings *two, size_t which)
{
    const char *slash = strrchr(two->path[which], '/');
    return slash && slash[1] ? slash + 1 : two->path[which];
}

static int load_labs(struct two_recordings *two, const char *command, const char **labs,
                     size_t lab_count)
{
    for (size_t i = 0; i < lab_count; i++) {
        if (!lab_argument_load(command, labs[i], &two->labs[i])) {
            return EXIT_USAGE;
        }
        two->lab_count++;
    }
    return EXIT_FINE;
}

static int open_recording(struct two_recordings *two, size_t which)
{
    struct err err = {0};
    const size_t lab = which < two->lab_count ? which : two->lab_count - 1;
    const enum status status =
        recording_open(two->path[which], two->lab_count > 0 ? &two->labs[lab] : NULL, NULL,
                       &two->in[which], &err);
    if (status != STATUS_OK) {
        complain_err(&err);
    }
    return status == STATUS_OK                             ? EXIT_FINE
           : two->lab_count == 0 && status == STATUS_E_ARG ? EXIT_USAGE
                                                           : EXIT_FAILED;
}

/* ---- pairs --------------------------------------------------------------------------------
 */

static void list_ids(const struct recording *r, char *list, size_t size)
{
    list[0] = '\0';
    for (size_t i = 0; i < recording_pair_count(r) && i < 5; i++) {
        names_append(list, size, recording_pair_id(r, i));
    }
    if (recording_pair_count(r) > 5) {
        names_append(list, size, "…");
    }
    if (!list[0]) {
        (void)snprintf(list, size, "none");
    }
}

/* Adds a pair unless it has no command in either. */
static void add_pair(struct two_recordings *two, size_t a, size_t b)
{
    struct common_pair *pair = &two->pairs[two->count];
    const char *id_a = recording_pair_id(two->in[0], a);
    const char *id_b = recording_pair_id(two->in[1], b);
    *pair = (struct common_pair){.a = a, .b = b};
    (void)snprintf(pair->id, sizeof pair->id, "%s%s%s", id_a, strcmp(id_a, id_b) ? "=" : "",
                   strcmp(id_a, id_b) ? id_b : "");
    two->count +=
        recording_has_commands(two->in[0], a) || recording_has_commands(two->in[1], b);
}

static int complain_none(const struct two_recordings *two)
{
    char lists[2][256];
    list_ids(two->in[0], lists[0], sizeof lists[0]);
    list_ids(two->in[1], lists[1], sizeof lists[1]);
    return complain_exit(
        EXIT_FAILED, "no pair is in both: A has %s, B has %s; --pair %s=%s compares them",
        lists[0], lists[1],
        recording_pair_count(two->in[0]) ? recording_pair_id(two->in[0], 0) : "ID",
        recording_pair_count(two->in[1]) ? recording_pair_id(two->in[1], 0) : "ID");
}

static int find_asked(struct two_recordings *two, const char *asked)
{
    const size_t bytes = strcspn(asked, "=");
    char id[2][EVENT_PAIR_MAX];
    size_t at[2];
    (void)snprintf(id[0], sizeof id[0], "%.*s", (int)bytes, asked);
    (void)snprintf(id[1], sizeof id[1], "%s", asked[bytes] ? asked + bytes + 1 : id[0]);
    for (size_t which = 0; which < 2; which++) {
        at[which] = recording_find_pair(two->in[which], id[which]);
        if (at[which] == recording_pair_count(two->in[which])) {
            char list[256];
            list_ids(two->in[which], list, sizeof list);
            return complain_exit(EXIT_FAILED, "--pair %s: %s has %s", asked,
                                 two_recordings_name(two, which), list);
        }
    }
    add_pair(two, at[0], at[1]);
    return EXIT_FINE;
}

/* All pairs of A that B has, in A's order. */
static int find_common(struct two_recordings *two)
{
    bool in_both = false;
    for (size_t a = 0; a < recording_pair_count(two->in[0]); a++) {
        const size_t b = recording_find_pair(two->in[1], recording_pair_id(two->in[0], a));
        if (b < recording_pair_count(two->in[1])) {
            in_both = true;
            add_pair(two, a, b);
        }
    }
    return in_both ? EXIT_FINE : complain_none(two);
}

int two_recordings_open(struct two_recordings *two, const char *command, const char **labs,
                        size_t lab_count, const char *pair)
{
    int status = load_labs(two, command, labs, lab_count);
    status = status == EXIT_FINE ? open_recording(two, 0) : status;
    if (status == EXIT_FINE && !two->path[1]) {
        two->path[1] = two->path[0];
        two->in[1] = two->in[0];
    } else if (status == EXIT_FINE) {
        status = open_recording(two, 1);
    }
    if (status != EXIT_FINE) {
        return status;
    }
    two->pairs = malloc((recording_pair_count(two->in[0]) + 1) * sizeof *two->pairs);
    if (!two->pairs) {
        return complain_exit(EXIT_FAILED, "out of memory");
    }
    return pair ? find_asked(two, pair) : find_common(two);
}

void two_recordings_close(struct two_recordings *two)
{
    if (two->in[1] != two->in[0]) {
        recording_close(two->in[1]);
    }
    recording_close(two->in[0]);
    for (size_t i = 0; i < two->lab_count; i++) {
        lab_file_free(&two->labs[i]);
    }
    free(two->pairs);
}
