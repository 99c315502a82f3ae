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

/* Parses [SIDE_]version:TEXT. */
static bool parse_version(const char *text, struct split *out)
{
    const char *colon = strchr(text, ':');
    *out = (struct split){.kind = SPLIT_VERSION, .version = colon ? colon + 1 : ""};
    for (; out->side < SIDE_COUNT; out->side++) {
        const size_t bytes = strlen(side_name(out->side));
        if (strncmp(text, side_name(out->side), bytes) == 0 && text[bytes] == '_') {
            text += bytes + 1;
            break;
        }
    }
    return out->version[0] && strncmp(text, "version:", 8) == 0;
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
    if (parse_version(text, out)) {
        return true;
    }
    out->kind = SPLIT_TIME;
    out->t_us = iso_time_parse_asked(text, LAB_TIME_NONE);
    if (out->t_us == LAB_TIME_NONE) {
        return complain("--split %s: entry:N, change:N, version:TEXT, real_version:TEXT, "
                        "virtual_version:TEXT or a time was expected, such as "
                        "2026-11-20T06:00:00Z",
                        text);
    }
    return true;
}

/* ---- the cut ------------------------------------------------------------------------------
 */

/* The boundary between the halves. */
struct cut {
    uint64_t n; /* of the first entry behind it; 0: the time decides, or the version */
    int64_t t_us;
    enum side side;    /* whose versions decide; SIDE_COUNT: none does */
    uint32_t old, new; /* versions of the halves */
};

static enum status complain_version(const struct recorded_pair *whole, const char *id,
                                    enum side side, struct err *err)
{
    char list[128] = "";
    for (size_t i = 0; i < whole->version_count; i++) {
        if (side == SIDE_COUNT || whole->versions[i].side == side) {
            names_append_new(list, sizeof list, whole->versions[i].text);
        }
    }
    return err_set(err, STATUS_E_EMPTY, FAULT_NO_DATA, "--split", "%s has %s%sversions: %s", id,
                   side_name(side), side == SIDE_COUNT ? "" : " ",
                   list[0] ? utf8_tame(list) : "none");
}

/* Finds the version that was asked for, and the one before its first command. */
static enum status find_version(const struct recorded_pair *whole, const char *id,
                                const struct split *split, struct cut *cut, struct err *err)
{
    for (size_t k = 0; k < whole->version_count; k++) {
        const struct recorded_version *v = &whole->versions[k];
        if (strcmp(v->text, split->version) != 0 ||
            (split->side != SIDE_COUNT && split->side != v->side)) {
            continue;
        }
        if (cut->new > 0) {
            return err_set(err, STATUS_E_EMPTY, FAULT_NOT_APPLICABLE, "--split",
                           "both robots of %s have version %s: say real_version:… or "
                           "virtual_version:…",
                           id, split->version);
        }
        cut->side = v->side;
        cut->new = (uint32_t)k + 1;
    }
    if (cut->new == 0) {
        return complain_version(whole, id, split->side, err);
    }
    cut->old = cut->new; /* no command is before it */
    for (size_t i = 0; whole->commands[i].version[cut->side] != cut->new; i++) {
        cut->old = whole->commands[i].version[cut->side];
    }
    return STATUS_OK;
}

static enum status find_cut(const struct recorded_pair *whole, const char *id,
                            const struct split *split, struct cut *cut, struct err *err)
{
    *cut = (struct cut){.n = split->n, .t_us = split->t_us, .side = SIDE_COUNT};
    if (split->kind == SPLIT_VERSION) {
        return find_version(whole, id, split, cut, err);
    }
    if (split->kind == SPLIT_CHANGE) {
        size_t i = 0;
        while (i < whole->change_count && whole->changes[i].n != split->n) {
            i++;
        }
        if (i == whole->change_count) {
            return err_set(err, STATUS_E_EMPTY, FAULT_NO_DATA, "--split", "%s has %zu change%s",
                           id, whole->change_count, whole->change_count == 1 ? "" : "s");
        }
        *cut = (struct cut){.t_us = whole->changes[i].t_us, .side = SIDE_COUNT};
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

/* Finds the command that an alarm is about, or with any id the last one until then. An id may
 * come again. NULL: none. */
static const struct recorded_command *find_command(const struct recorded_pair *whole,
                                                   const struct recorded_alarm *alarm, bool any)
{
    for (size_t i = whole->count; i-- > 0;) {
        const struct recorded_command *c = &whole->commands[i];
        if (c->t_us <= alarm->t_us &&
            (any || (alarm->id[0] && strcmp(c->id, alarm->id) == 0))) {
            return c;
        }
    }
    return NULL;
}

/* Returns the half of a command: 0, 1, or 2 for neither. */
static size_t find_half(const struct cut *cut, const struct recorded_command *c)
{
    if (cut->side == SIDE_COUNT) {
        return is_before(cut, c->n, c->t_us) ? 0 : 1;
    }
    const uint32_t version = c->version[cut->side];
    return version == cut->new ? 1 : version == cut->old ? 0 : 2;
}

static size_t find_half_of_alarm(const struct recorded_pair *whole, const struct cut *cut,
                                 const struct recorded_alarm *alarm)
{
    const bool by_command = cut->n > 0 || cut->side != SIDE_COUNT;
    const struct recorded_command *c = by_command ? find_command(whole, alarm, false) : NULL;
    if (cut->side == SIDE_COUNT) {
        return is_before(cut, c ? c->n : 0, alarm->t_us) ? 0 : 1;
    }
    c = c ? c : find_command(whole, alarm, true);
    return c ? find_half(cut, c) : 2;
}

static void fill_halves(const struct recorded_pair *whole, const struct cut *cut,
                        struct recorded_pair *const halves[2])
{
    for (size_t i = 0; i < whole->count; i++) {
        const size_t which = find_half(cut, &whole->commands[i]);
        if (which < 2) {
            halves[which]->commands[halves[which]->count++] = whole->commands[i];
        }
    }
    for (size_t i = 0; i < whole->alarm_count; i++) {
        const struct recorded_alarm *alarm = &whole->alarms[i];
        const size_t which = find_half_of_alarm(whole, cut, alarm);
        if (which < 2) {
            halves[which]->state.alarms[alarm->type]++;
        }
    }
}

/* Makes room for the commands of a half, which has all versions. */
static bool make_half(const struct recorded_pair *whole, struct recorded_pair *half)
{
    const size_t bytes = whole->version_count * sizeof *half->versions;
    *half =
        (struct recorded_pair){.commands = malloc((whole->count + 1) * sizeof *half->commands),
                               .versions = malloc(bytes + 1),
                               .version_count = whole->version_count};
    if (half->versions && bytes > 0) {
        memcpy(half->versions, whole->versions, bytes);
    }
    return half->commands && half->versions;
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
    *a = *b = (struct recorded_pair){0};
    const enum status status = find_cut(whole, id, split, &cut, err);
    if (status != STATUS_OK) {
        return status;
    }
    const bool has_a = make_half(whole, a);
    const bool has_b = make_half(whole, b);
    if (!has_a || !has_b) {
        return err_no_memory(err, id, "out of memory");
    }
    fill_halves(whole, &cut, (struct recorded_pair *const[]){a, b});
    return a->count == 0   ? complain_empty(whole, id, "before the cut", err)
           : b->count == 0 ? complain_empty(whole, id, "behind the cut", err)
                           : STATUS_OK;
}
