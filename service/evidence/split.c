#include "service/evidence/split.h"

#include <stdlib.h>
#include <string.h>

#include "base/numbers/iso_time.h"
#include "base/text/utf8.h"
#include "logger/message/message.h"
#include "service/tool/commands.h"

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
    out->kind = SPLIT_VERSION;
    if (strncmp(text, "version:", 8) == 0 && text[8]) {
        out->version = text + 8;
        return true;
    }
    out->kind = SPLIT_TIME;
    out->t_us = iso_time_parse_asked(text, LAB_TIME_NONE);
    if (out->t_us == LAB_TIME_NONE) {
        return complain("--split %s: entry:N, change:N, version:TEXT or a time was expected, "
                        "such as 2026-11-20T06:00:00Z",
                        text);
    }
    return true;
}

/* ---- the cut ------------------------------------------------------------------------------
 */

/* An entry, or a time. */
struct cut {
    uint64_t n; /* of the first entry behind it; 0: the time decides */
    int64_t t_us;
};

/* Finds the entry by which a robot had this version first; 0: none. */
static uint64_t find_version(const struct recorded_pair *whole, const char *version)
{
    for (size_t i = 0; i < whole->version_count; i++) {
        if (strcmp(whole->versions[i].text, version) == 0) {
            return whole->versions[i].n;
        }
    }
    return 0;
}

static enum status complain_version(const struct recorded_pair *whole, const char *id,
                                    struct err *err)
{
    char list[128] = "";
    for (size_t i = 0; i < whole->version_count; i++) {
        names_append_new(list, sizeof list, whole->versions[i].text);
    }
    return err_set(err, STATUS_E_EMPTY, FAULT_NO_DATA, "--split", "%s has versions: %s", id,
                   list[0] ? utf8_tame(list) : "none");
}

static enum status find_cut(const struct recorded_pair *whole, const char *id,
                            const struct split *split, struct cut *cut, struct err *err)
{
    *cut = (struct cut){split->n, split->t_us};
    if (split->kind == SPLIT_CHANGE) {
        size_t i = 0;
        while (i < whole->change_count && whole->changes[i].n != split->n) {
            i++;
        }
        if (i == whole->change_count) {
            return err_set(err, STATUS_E_EMPTY, FAULT_NO_DATA, "--split", "%s has %zu change%s",
                           id, whole->change_count, whole->change_count == 1 ? "" : "s");
        }
        *cut = (struct cut){0, whole->changes[i].t_us};
    }
    if (split->kind == SPLIT_VERSION) {
        cut->n = find_version(whole, split->version);
    }
    if (split->kind == SPLIT_VERSION && cut->n == 0) {
        return complain_version(whole, id, err);
    }
    for (size_t i = whole->count; cut->n > 0 && i-- > 0;) {
        cut->t_us = whole->commands[i].n >= cut->n ? whole->commands[i].t_us : cut->t_us;
    }
    return STATUS_OK;
}

static bool is_before(const struct cut *cut, uint64_t n, int64_t t_us)
{
    return cut->n > 0 && n > 0 ? n < cut->n : t_us < cut->t_us;
}

/* ---- the halves ---------------------------------------------------------------------------
 */

/* Returns the number of the entry that an alarm is about; 0: of none. An id may come again. */
static uint64_t find_entry(const struct recorded_pair *whole,
                           const struct recorded_alarm *alarm)
{
    for (size_t i = whole->count; alarm->id[0] && i-- > 0;) {
        const struct recorded_command *c = &whole->commands[i];
        if (c->t_us <= alarm->t_us && strcmp(c->id, alarm->id) == 0) {
            return c->n;
        }
    }
    return 0;
}

static void fill_halves(const struct recorded_pair *whole, const struct cut *cut,
                        struct recorded_pair *a, struct recorded_pair *b)
{
    for (size_t i = 0; i < whole->count; i++) {
        const struct recorded_command *c = &whole->commands[i];
        struct recorded_pair *half = is_before(cut, c->n, c->t_us) ? a : b;
        half->commands[half->count++] = *c;
    }
    for (size_t i = 0; i < whole->alarm_count; i++) {
        const struct recorded_alarm *alarm = &whole->alarms[i];
        const uint64_t n = cut->n > 0 ? find_entry(whole, alarm) : 0;
        struct recorded_pair *half = is_before(cut, n, alarm->t_us) ? a : b;
        half->state.alarms[alarm->type]++;
    }
    for (size_t i = 0; i < whole->version_count; i++) {
        const struct recorded_version *v = &whole->versions[i];
        if (is_before(cut, v->n, v->t_us)) {
            memcpy(a->state.version[v->side], v->text, sizeof v->text);
        }
        memcpy(b->state.version[v->side], v->text, sizeof v->text);
    }
}

/* A half without commands would compare as a result. whole: has commands. */
static enum status complain_empty(const struct recorded_pair *whole, const char *id,
                                  const char *which, struct err *err)
{
    char since[28];
    char until[28];
    const struct recorded_command *first = &whole->commands[0];
    const struct recorded_command *last = &whole->commands[whole->count - 1];
    message_format_time(first->t_us, since);
    message_format_time(last->t_us, until);
    return err_set(err, STATUS_E_EMPTY, FAULT_NO_DATA, "--split",
                   "%s has entries %llu to %llu, of %s to %s: none is %s", id,
                   (unsigned long long)first->n, (unsigned long long)last->n, since, until,
                   which);
}

enum status split_pair(const struct recorded_pair *whole, const char *id,
                       const struct split *split, struct recorded_pair *a,
                       struct recorded_pair *b, struct err *err)
{
    struct cut cut;
    const size_t bytes = (whole->count + 1) * sizeof *whole->commands;
    enum status status = find_cut(whole, id, split, &cut, err);
    *a = *b = (struct recorded_pair){0};
    if (status != STATUS_OK) {
        return status;
    }
    a->commands = malloc(bytes);
    b->commands = malloc(bytes);
    if (!a->commands || !b->commands) {
        status = err_no_memory(err, id, "out of memory");
    } else {
        fill_halves(whole, &cut, a, b);
        status = a->count == 0   ? complain_empty(whole, id, "before the cut", err)
                 : b->count == 0 ? complain_empty(whole, id, "behind the cut", err)
                                 : STATUS_OK;
    }
    return status;
}
