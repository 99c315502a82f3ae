/* Checks that must hold, whatever was drawn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/lab_time.h"
#include "config/labfile/lab_file.h"
#include "logger/storage/store.h"
#include "service/daemon/inbox.h"
#include "service/replay/replay.h"
#include "service/replay/rows.h"
#include "tests/sim/daemon/simulation.h"

static const char *const pair_names[PAIRS] = {"r1", "r2", "o1"};

/* ---- while it runs ---- */

enum status __real_inbox_add(struct inbox *inbox, struct message *message,
                             enum inbox_kind kind);
enum status __wrap_inbox_add(struct inbox *inbox, struct message *message,
                             enum inbox_kind kind);
enum status __wrap_inbox_add(struct inbox *inbox, struct message *message, enum inbox_kind kind)
{
    const enum status status = __real_inbox_add(inbox, message, kind);
    const char *id = kind == INBOX_EVENT && broker_commands_pair(message->topic)
                         ? memmem(message->payload, message->stored_bytes, "\"id\":\"c", 7)
                         : NULL;
    if (status == STATUS_OK && id) {
        ledger_hand_over((int32_t)strtol(id + 7, NULL, 10));
    }
    return status;
}

/* At t_us the journal had the line that is the reason for this. */
static void add_unsynced(uint32_t command, enum unsynced_kind kind, int64_t t_us)
{
    if (t_us < world->synced_us || !disk_journal_is_dirty()) {
        return;
    }
    if (world->unsynced_count == UNSYNCED_MAX) {
        sim_fail("the ledger has no room for unsynced lines");
        return;
    }
    world->unsynced[world->unsynced_count++] = (struct unsynced){command, kind, t_us};
}

void ledger_hand_over(int32_t index)
{
    struct command *c = &world->commands[index];
    if (!c->handed) {
        c->handed = true;
        c->lost_power = false;
        c->handed_us = world->t_us;
        add_unsynced((uint32_t)index, UNSYNCED_HANDED, world->t_us);
    }
}

void ledger_sync(int64_t began_us)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < world->unsynced_count; i++) {
        if (world->unsynced[i].t_us >= began_us) {
            world->unsynced[left++] = world->unsynced[i];
        }
    }
    world->unsynced_count = left;
    world->synced_us = began_us;
}

/* A power cut removes unsynced lines of the last fsync_s. The next run does not know the
 * messages that were sent for these lines, and may send them once more. */
void ledger_fail_power(void)
{
    const double limit_s = world->temper.fsync_s + 2.5;
    for (uint32_t i = 0; i < world->unsynced_count; i++) {
        const struct unsynced *u = &world->unsynced[i];
        struct command *c = &world->commands[u->command];
        if (u->kind == UNSYNCED_HANDED) {
            c->handed = false;
            c->lost_power = world->temper.fsync_s > 0.0; /* else the broker has it still */
        } else if (u->kind == UNSYNCED_ENTRY) {
            c->n_published = 0;
        } else {
            c->published[u->kind - UNSYNCED_SENT_REAL]--;
        }
        /* While no daemon runs nothing is synced. */
        const int64_t since_us = u->t_us > world->run_us ? u->t_us : world->run_us;
        const double age_s = lab_s(world->t_us - since_us);
        if (age_s > limit_s && !disk_was_faulty(60 * SECOND_US) &&
            world->t_us - world->frozen_until_us > 60 * SECOND_US) {
            sim_fail("c%u: the journal was not synced for %.3f s before the power cut",
                     u->command, age_s);
        }
    }
    world->unsynced_count = 0;
}

static int find_pair(const char *name)
{
    for (int pair = 0; pair < PAIRS; pair++) {
        const size_t n = strlen(pair_names[pair]);
        if (strncmp(name, pair_names[pair], n) == 0 && (name[n] == '/' || name[n] == '\0')) {
            return pair;
        }
    }
    return -1;
}

/* Numbers begin at another hundred thousand after a power cut. */
static uint32_t *find_owner(int pair, uint32_t n)
{
    struct number *all = world->numbers[pair];
    uint32_t at = n % NUMBERS_MAX;
    while (all[at].n != n && all[at].n != 0) {
        at = (at + 1) % NUMBERS_MAX;
    }
    all[at].n = n;
    return &all[at].owner;
}

static void publish_entry(int pair, const char *json, int64_t sent_us)
{
    const char *id = strstr(json, "\"id\":\"c");
    const char *number = strstr(json, "\"n\":");
    const uint32_t n = number ? (uint32_t)strtoul(number + 4, NULL, 10) : 0;
    if (!id || n == 0) {
        sim_fail("an entry without id or number: %.200s", json);
        return;
    }
    const uint32_t index = (uint32_t)strtoul(id + 7, NULL, 10);
    uint32_t *owner = find_owner(pair, n);
    struct command *c = &world->commands[index];
    if (!(world->options.without & WITHOUT_NUMBERS)) {
        if (*owner != 0 && *owner != index + 1) {
            sim_fail("%s: number %u was c%u's entry, and is published for c%u",
                     pair_names[pair], n, *owner - 1, index);
        }
        if (c->n_published != 0 && c->n_published != n) {
            sim_fail("c%u was published as number %u, and as %u", index, c->n_published, n);
        }
    }
    *owner = index + 1;
    c->n_published = n;
    add_unsynced(index, UNSYNCED_ENTRY, sent_us);
}

void ledger_daemon_publishes(const char *topic, const char *payload, int64_t sent_us)
{
    const char *rest = topic + strlen("tandem/v1/");
    const int pair = find_pair(rest);
    const char *what = pair >= 0 ? strchr(rest, '/') + 1 : "";
    if (strcmp(what, "entry") == 0) {
        publish_entry(pair, payload, sent_us);
    }
    const int side = strcmp(what, "real/command") == 0      ? 0
                     : strcmp(what, "virtual/command") == 0 ? 1
                                                            : -1;
    const char *id = side >= 0 ? strstr(payload, "\"id\":\"c") : NULL;
    if (id) {
        const uint32_t index = (uint32_t)strtoul(id + 7, NULL, 10);
        struct command *c = &world->commands[index];
        c->published[side]++;
        add_unsynced(index, side == 0 ? UNSYNCED_SENT_REAL : UNSYNCED_SENT_VIRTUAL, sent_us);
        if (c->published[side] > 1) {
            sim_fail("c%u was sent to the %s robot %u times", index, side ? "virtual" : "real",
                     c->published[side]);
        }
    }
}

/* ---- at the end: the store, the journal replayed ---- */

struct lines {
    char **line;
    size_t count, room;
};

static void add_line(struct lines *l, const struct store_row *row)
{
    char *text = NULL;
    if (l->count == l->room) {
        l->room = l->room ? 2 * l->room : 1024;
        l->line = realloc(l->line, l->room * sizeof *l->line);
    }
    if (!l->line || asprintf(&text, "%d %s %llu %lld %s %s %.*s", row->kind, row->pair,
                             (unsigned long long)row->n, (long long)row->t_us, row->id,
                             row->type, (int)row->json_bytes, row->json) < 0) {
        abort();
    }
    l->line[l->count++] = text;
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_lines(struct lines *l)
{
    for (size_t i = 0; i < l->count; i++) {
        free(l->line[i]);
    }
    free(l->line);
}

static void count_entry(const struct store_row *row)
{
    const uint32_t index = row->id[0] == 'c' ? (uint32_t)strtoul(row->id + 1, NULL, 10) : 0;
    const int pair = find_pair(row->pair);
    if (pair < 0 || row->id[0] != 'c' || index >= world->command_count ||
        world->commands[index].pair != pair) {
        sim_fail("an entry without a command: %s %s", row->pair, row->id);
        return;
    }
    struct command *c = &world->commands[index];
    c->entries++;
    c->n = (uint32_t)row->n;
    world->entries++;
    const uint32_t owner = *find_owner(pair, (uint32_t)row->n);
    if (!(world->options.without & WITHOUT_NUMBERS) && owner != 0 && owner != index + 1) {
        sim_fail("%s: number %u is c%u's entry in the store, and was published for c%u",
                 row->pair, c->n, index, owner - 1);
    }
}

static bool add_row(void *context, const struct store_row *row)
{
    struct lines *lines = context;
    if (row->kind == STORE_ENTRIES) {
        count_entry(row);
    }
    if (strcmp(row->pair, "$lab") != 0) { /* of the daemon itself: no replay knows them */
        add_line(lines, row);
    }
    return true;
}

static const enum store_kind kinds[] = {STORE_ENTRIES, STORE_ALARMS, STORE_CHANGES};

/* All rows, those too that were made again from the journal. */
static void read_store(const char *path, struct lines *lines)
{
    struct store_reader *reader = NULL;
    struct err err = {0};
    enum status status = store_reader_open(&(struct store_params){.path = path}, &reader, &err);
    for (size_t k = 0; status == STATUS_OK && k < COUNT(kinds); k++) {
        char cursor[STORE_CURSOR_MAX] = "";
        char next[STORE_CURSOR_MAX];
        const struct store_query query = {.kind = kinds[k],
                                          .since_us = INT64_MIN,
                                          .until_us = INT64_MAX,
                                          .limit = STORE_PAGE_MAX,
                                          .cursor = cursor};
        do {
            status = store_query(reader, &query, add_row, lines, next, &err);
            memcpy(cursor, next, sizeof cursor);
        } while (status == STATUS_OK && next[0] != '\0');
    }
    if (status != STATUS_OK) {
        sim_fail("the store cannot be read: %s: %s", err.where, err.text);
    }
    store_reader_close(reader);
}

struct replaying {
    struct lines lines;
    struct lab_params params;
};

static void add_effect(void *context, const struct effect *effect)
{
    struct replaying *r = context;
    const char *pair = lab_name(&r->params, effect->pair);
    struct record_row record;
    struct large_row large;
    if (effect->kind == EFFECT_ENTRY) {
        row_of_entry(&record, effect->entry, pair);
        add_line(&r->lines, &record.row);
    } else if (effect->kind == EFFECT_ALARM) {
        row_of_alarm(&record, effect->alarm, pair);
        add_line(&r->lines, &record.row);
    } else if (effect->kind == EFFECT_CHANGE) {
        row_of_change(&large, effect->change, pair);
        add_line(&r->lines, &large.row);
    }
}

static void replay_journal(const struct lab_file *lab, struct replaying *out)
{
    static const struct journal_position beginning = {0, 0};
    const struct effects effects = {add_effect, out};
    struct journal_reader *reader = NULL;
    struct replay *replay = NULL;
    struct journal_line line;
    struct err err = {0};
    int64_t last_us = LAB_TIME_NONE;
    out->params = lab_file_params(lab);
    if (replay_create(lab, &effects, &replay) != STATUS_OK ||
        journal_reader_open_directory(lab->journal.dir, beginning, &reader, &err) !=
            STATUS_OK) {
        sim_fail("the journal cannot be replayed: %s", err.text);
        return;
    }
    while (journal_reader_next(reader, &line, &err) == STATUS_OK) {
        const int64_t t_us = journal_line_us(line.text, line.bytes);
        if (t_us != LAB_TIME_NONE) {
            if (t_us < last_us && !(world->options.without & WITHOUT_CLOCK)) {
                sim_fail("the journal's time goes back by %.6f s", lab_s(last_us - t_us));
            }
            last_us = t_us;
        }
        (void)!replay_line(replay, &line, &err);
    }
    replay_end(replay);
    journal_reader_close(reader);
    replay_destroy(replay);
}

/* A record that both have, and otherwise: from where they part. */
static void report_difference(const char *stored, const char *replayed)
{
    size_t same = 0;
    while (stored[same] != '\0' && stored[same] == replayed[same]) {
        same++;
    }
    const size_t from = same > 30 ? same - 30 : 0;
    sim_fail("%.60s…: the store has %.80s, the replay %.80s", stored, stored + from,
             replayed + from);
}

/* "kind pair n t id", which identifies records of both. */
static size_t key_bytes(const char *line)
{
    size_t n = 0;
    for (int words = 0; words < 5 && line[n] != '\0'; n++) {
        words += line[n] == ' ';
    }
    return n;
}

static void compare_store(struct lines *store, struct lines *replay)
{
    size_t a = 0;
    size_t b = 0;
    qsort(store->line, store->count, sizeof *store->line, compare_lines);
    qsort(replay->line, replay->count, sizeof *replay->line, compare_lines);
    while (a < store->count || b < replay->count) {
        const char *one = a < store->count ? store->line[a] : NULL;
        const char *two = b < replay->count ? replay->line[b] : NULL;
        const bool like = one && two && strncmp(one, two, key_bytes(one)) == 0;
        const int order = !one ? 1 : !two ? -1 : like ? 0 : strcmp(one, two);
        if (like && strcmp(one, two) != 0) {
            report_difference(one, two);
        } else if (order != 0) {
            sim_fail("in the %s alone: %.200s", order < 0 ? "store" : "replay",
                     order < 0 ? one : two);
        }
        a += order <= 0;
        b += order >= 0;
    }
}

static void judge_commands(void)
{
    for (uint32_t i = 0; i < world->command_count; i++) {
        const struct command *c = &world->commands[i];
        const bool may_lack = c->forgotten || c->lost_power;
        if (c->accepted && c->entries == 0 && !may_lack) {
            sim_fail("c%u of %s was acknowledged and has no entry (received at %.3f s%s)", i,
                     pair_names[c->pair], (double)c->handed_us / SECOND_US,
                     c->handed ? "" : ": never");
        }
        if (c->entries > 1) {
            sim_fail("c%u of %s has %u entries", i, pair_names[c->pair], c->entries);
        }
    }
}

void ledger_judge(const char *lab_path)
{
    struct lab_file lab = {0};
    struct err_list errors = {0};
    struct lines stored = {0};
    struct replaying replayed = {0};
    if (lab_file_load(lab_path, &lab, &errors) != STATUS_OK) {
        sim_fail("the lab file: %s", errors.items[0].text);
        return;
    }
    read_store(lab.store.file, &stored);
    replay_journal(&lab, &replayed);
    judge_commands();
    compare_store(&stored, &replayed.lines);
    free_lines(&stored);
    free_lines(&replayed.lines);
    lab_file_free(&lab);
}
