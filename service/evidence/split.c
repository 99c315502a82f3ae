#include "service/evidence/split.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/iso_time.h"

/* Parses the whole number after a word. */
static bool parse_count(const char *text, const char *word, uint64_t *n)
{
    const size_t bytes = strlen(word);
    if (strncmp(text, word, bytes) != 0 || text[bytes] < '1' || text[bytes] > '9') {
        return false;
    }
    char *end = NULL;
    *n = strtoull(text + bytes, &end, 10);
    return *end == '\0';
}

bool split_parse(const char *text, struct split *out)
{
    *out = (struct split){.kind = SPLIT_ENTRY};
    if (parse_count(text, "entry:", &out->n)) {
        return true;
    }
    out->kind = SPLIT_CHANGE;
    if (parse_count(text, "change:", &out->n)) {
        return true;
    }
    out->kind = SPLIT_TIME;
    out->t_us = iso_time_parse_asked(text, LAB_TIME_NONE);
    if (out->t_us == LAB_TIME_NONE) {
        (void)fprintf(stderr,
                      "tandem: --split %s: entry:N, change:N or a time was expected, such as "
                      "2026-11-20T06:00:00Z\n",
                      text);
        return false;
    }
    return true;
}

/* Finds the place of the cut: the time of the change or of the entry. */
static enum status find_cut(const struct recorded_pair *whole, const char *id,
                            const struct split *split, int64_t *t_us, struct err *err)
{
    *t_us = split->t_us;
    if (split->kind == SPLIT_ENTRY) {
        *t_us = INT64_MAX;
        for (size_t i = 0; i < whole->count; i++) {
            *t_us = whole->commands[i].n == split->n ? whole->commands[i].t_us : *t_us;
        }
    } else if (split->kind == SPLIT_CHANGE) {
        size_t i = 0;
        while (i < whole->change_count && whole->changes[i].n != split->n) {
            i++;
        }
        if (i == whole->change_count) {
            return err_set(err, STATUS_E_EMPTY, FAULT_NO_DATA, "--split", "%s has %zu change%s",
                           id, whole->change_count, whole->change_count == 1 ? "" : "s");
        }
        *t_us = whole->changes[i].t_us;
    }
    return STATUS_OK;
}

static bool is_before(const struct split *split, uint64_t n, int64_t t_us, int64_t cut_us)
{
    return split->kind == SPLIT_ENTRY && n > 0 ? n < split->n : t_us < cut_us;
}

/* Returns the number of the entry that an alarm is about; 0: of none. */
static uint64_t find_entry(const struct recorded_pair *whole, const char *id)
{
    for (size_t i = 0; i < whole->count && id[0]; i++) {
        if (strcmp(whole->commands[i].id, id) == 0) {
            return whole->commands[i].n;
        }
    }
    return 0;
}

enum status split_pair(const struct recorded_pair *whole, const char *id,
                       const struct split *split, struct recorded_pair *a,
                       struct recorded_pair *b, struct err *err)
{
    int64_t cut_us = 0;
    const enum status status = find_cut(whole, id, split, &cut_us, err);
    if (status != STATUS_OK) {
        return status;
    }
    const size_t bytes = (whole->count + 1) * sizeof *whole->commands;
    *a = (struct recorded_pair){.commands = malloc(bytes)};
    *b = (struct recorded_pair){.commands = malloc(bytes)};
    if (!a->commands || !b->commands) {
        recorded_pair_free(a);
        recorded_pair_free(b);
        return err_no_memory(err, id, "out of memory");
    }
    for (size_t i = 0; i < whole->count; i++) {
        const struct recorded_command *c = &whole->commands[i];
        struct recorded_pair *half = is_before(split, c->n, c->t_us, cut_us) ? a : b;
        half->commands[half->count++] = *c;
    }
    for (size_t i = 0; i < whole->alarm_count; i++) {
        const struct recorded_alarm *alarm = &whole->alarms[i];
        const uint64_t n = split->kind == SPLIT_ENTRY ? find_entry(whole, alarm->id) : 0;
        struct recorded_pair *half = is_before(split, n, alarm->t_us, cut_us) ? a : b;
        half->state.alarms[alarm->type]++;
    }
    return STATUS_OK;
}
