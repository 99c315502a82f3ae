/* Faults that are planted in the daemon's calls, to show that the simulation finds them. */
#include <stdlib.h>
#include <string.h>

#include "base/numbers/lab_time.h"
#include "logger/storage/journal.h"
#include "logger/storage/store.h"
#include "logger/storage/store_queue.h"
#include "service/daemon/inbox.h"
#include "service/mqtt/mqtt_client.h"
#include "service/replay/rows.h"
#include "tests/sim/daemon/simulation.h"

static bool is_planted(enum plant plant)
{
    return world->options.plant == plant && schedule_runs();
}

/* Each line is written when the next one comes: it is acknowledged before. */
static char *held;
static size_t held_bytes;
static int64_t held_us;

enum status __real_journal_append(struct journal *journal, const char *line, size_t bytes,
                                  int64_t t_us, struct journal_position *after);
enum status __wrap_journal_append(struct journal *journal, const char *line, size_t bytes,
                                  int64_t t_us, struct journal_position *after);
enum status __wrap_journal_append(struct journal *journal, const char *line, size_t bytes,
                                  int64_t t_us, struct journal_position *after)
{
    if (!is_planted(PLANT_EARLY_ACK)) {
        return __real_journal_append(journal, line, bytes, t_us, after);
    }
    struct journal_position end = journal_end(journal);
    if (held) {
        (void)!__real_journal_append(journal, held, held_bytes, held_us, &end);
    }
    char *copy = realloc(held, bytes);
    if (!copy) {
        abort();
    }
    held = copy;
    memcpy(held, line, bytes);
    held_bytes = bytes;
    held_us = t_us;
    end.offset += bytes;
    *after = end;
    return STATUS_OK;
}

enum status __real_journal_sync(struct journal *journal, int64_t now_us);
enum status __wrap_journal_sync(struct journal *journal, int64_t now_us);
enum status __wrap_journal_sync(struct journal *journal, int64_t now_us)
{
    const bool skips = is_planted(PLANT_NO_SYNC) && now_us == LAB_TIME_MAX;
    return skips ? STATUS_OK : __real_journal_sync(journal, now_us);
}

bool __real_store_queue_covers(struct store_queue *queue, uint64_t pushed);
bool __wrap_store_queue_covers(struct store_queue *queue, uint64_t pushed);
bool __wrap_store_queue_covers(struct store_queue *queue, uint64_t pushed)
{
    return is_planted(PLANT_CHECKPOINT) || __real_store_queue_covers(queue, pushed);
}

enum status __real_store_commit(struct store *store, struct err *err);
enum status __wrap_store_commit(struct store *store, struct err *err);
enum status __wrap_store_commit(struct store *store, struct err *err)
{
    const enum status status = __real_store_commit(store, err);
    if (status != STATUS_OK && is_planted(PLANT_COMMIT)) {
        store_rollback(store);
        return STATUS_OK;
    }
    return status;
}

enum status __real_mqtt_client_publish_once(struct mqtt_client *client, const char *topic,
                                            const void *payload, size_t bytes);
enum status __wrap_mqtt_client_publish_once(struct mqtt_client *client, const char *topic,
                                            const void *payload, size_t bytes);
enum status __wrap_mqtt_client_publish_once(struct mqtt_client *client, const char *topic,
                                            const void *payload, size_t bytes)
{
    return is_planted(PLANT_SENT_TWICE)
               ? mqtt_client_publish(client, topic, payload, bytes, 1, false)
               : __real_mqtt_client_publish_once(client, topic, payload, bytes);
}

void __real_row_of_entry(struct record_row *out, const struct entry *entry, const char *pair);
void __wrap_row_of_entry(struct record_row *out, const struct entry *entry, const char *pair);
void __wrap_row_of_entry(struct record_row *out, const struct entry *entry, const char *pair)
{
    static struct entry other; /* the row borrows its texts */
    if (is_planted(PLANT_NUMBER) && entry->n > 1 && chance(0.01)) {
        other = *entry;
        other.n--;
        entry = &other;
    }
    __real_row_of_entry(out, entry, pair);
}

void __real_inbox_destroy(struct inbox *inbox);
void __wrap_inbox_destroy(struct inbox *inbox);
void __wrap_inbox_destroy(struct inbox *inbox)
{
    if (!is_planted(PLANT_LEAK)) {
        __real_inbox_destroy(inbox);
    }
}
