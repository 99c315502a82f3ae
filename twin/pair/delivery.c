#include "twin/pair/delivery.h"

#include <string.h>

#include "base/numbers/hash.h"
#include "twin/pair/pair_thresholds.def"

enum {
    PACKET_IDS = 65535,        /* 1 .. 65535, then 1 again */
    IN_FLIGHT_MAX = 1000,      /* MQTT_CLIENT_RECEIVE_MAX */
    AHEAD_MAX = PACKET_IDS / 2 /* a larger distance means behind */
};

/* Returns a number of chains that leaves most chains empty, because every new message is
 * searched for. */
static size_t heads_for(uint32_t max)
{
    size_t heads = 1;
    while (heads < (size_t)4 * max) {
        heads *= 2;
    }
    return heads;
}

size_t delivery_bytes(uint32_t max)
{
    return (sizeof(struct delivery_memory) + max * sizeof(struct delivery_item) +
            heads_for(max) * sizeof(uint32_t) + 63) /
           64 * 64;
}

void delivery_init(struct delivery_memory *m, uint32_t max, int64_t remember_us)
{
    memset(m, 0, delivery_bytes(max));
    m->max = max;
    m->heads = (uint32_t)heads_for(max);
    m->remember_us = remember_us;
    m->connected_us = LAB_TIME_NONE;
    m->acknowledged_us = LAB_TIME_NONE;
    m->place = (uint64_t)2 * PACKET_IDS;
}

/* ---- the ring -----------------------------------------------------------------------------
 */

static uint32_t *head_of(struct delivery_memory *m, uint64_t hash)
{
    uint32_t *heads = (void *)(m->item + m->max);
    return &heads[hash & (m->heads - 1)];
}

/* Finds the newest item with this hash. If place is not 0, it must have this place or, if exact
 * is false, the same number in this session. NULL: none. */
static const struct delivery_item *find_item(const struct delivery_memory *m, uint64_t hash,
                                             uint64_t place, bool exact)
{
    const uint32_t *heads = (const void *)(m->item + m->max);
    for (uint32_t k = heads[hash & (m->heads - 1)]; k != 0; k = m->item[k - 1].next) {
        const struct delivery_item *item = &m->item[k - 1];
        if (item->hash == hash && (place == 0 || item->place == place ||
                                   (!exact && item->place >= m->session_place &&
                                    item->place % PACKET_IDS == place % PACKET_IDS))) {
            return item;
        }
    }
    return NULL;
}

static void forget_oldest(struct delivery_memory *m, uint32_t oldest, int64_t t_us)
{
    const struct delivery_item *item = &m->item[oldest];
    uint32_t *link = head_of(m, item->hash);
    while (*link != oldest + 1) {
        link = &m->item[*link - 1].next;
    }
    *link = item->next;
    m->forgotten_early += t_us - item->t_us < m->remember_us;
}

size_t delivery_used_bytes(const struct delivery_memory *m)
{
    const uint64_t used = m->count < m->max ? m->count : m->max;
    return sizeof *m + used * sizeof m->item[0];
}

void delivery_index(struct delivery_memory *m)
{
    const uint64_t used = m->count < m->max ? m->count : m->max;
    memset(m->item + m->max, 0, m->heads * sizeof(uint32_t));
    for (uint64_t n = m->count - used; n < m->count; n++) {
        const uint32_t k = (uint32_t)(n % m->max);
        uint32_t *head = head_of(m, m->item[k].hash);
        m->item[k].next = *head;
        *head = k + 1;
    }
}

/* An item this close to being overwritten is forgotten soon. */
enum { SOON = 8 };

static void add_item(struct delivery_memory *m, uint64_t hash, uint64_t place, int64_t t_us)
{
    const uint32_t k = (uint32_t)(m->count % m->max);
    if (m->count >= m->max) {
        forget_oldest(m, k, t_us);
        __builtin_prefetch(head_of(m, m->item[(k + SOON) % m->max].hash));
    }
    m->count++;
    uint32_t *head = head_of(m, hash);
    m->item[k] =
        (struct delivery_item){.hash = hash, .place = place, .t_us = t_us, .next = *head};
    *head = k + 1;
}

/* Returns how many were stored since, including itself. */
static uint64_t age_of(const struct delivery_memory *m, const struct delivery_item *item)
{
    const uint64_t newest = (m->count - 1) % m->max;
    return (newest + m->max - (uint64_t)(item - m->item)) % m->max + 1;
}

static bool is_remembered(const struct delivery_memory *m, const struct delivery_item *item,
                          int64_t t_us)
{
    return item && t_us - item->t_us <= m->remember_us;
}

/* ---- the order of the broker's packet ids ------------------------------------------------ */

/* The broker's numbers have another meaning from here on. */
static void start_numbers(struct delivery_memory *m)
{
    m->place = (m->place / PACKET_IDS + 2) * PACKET_IDS;
    m->placed = false;
    m->last = 0;
}

void delivery_connect(struct delivery_memory *m, const struct event *event)
{
    m->connections++;
    m->connected_us = event->t_us;
    m->quiet_us = event->t_us;
    m->acknowledged_us = event->session.unsure_us == LAB_TIME_NONE
                             ? LAB_TIME_NONE
                             : event->t_us - event->session.unsure_us;
    m->onward = false;
    m->last = 0;
    if (!event->session.resumed) {
        start_numbers(m);
        m->counting = false;
        m->unordered = false;
        m->session_from = m->count;
        m->session_place = m->place;
    }
}

static uint64_t place_of(const struct delivery_memory *m, uint16_t packet_id)
{
    const uint64_t ahead =
        (packet_id + (uint64_t)PACKET_IDS - m->place % PACKET_IDS) % PACKET_IDS;
    return ahead <= AHEAD_MAX ? m->place + ahead : m->place + ahead - PACKET_IDS;
}

static void place_first(struct delivery_memory *m, const struct event *event)
{
    m->place += event->packet_id;
    m->placed = true;
    m->onward = true;
    m->at = m->place;
    m->last = m->place;
    m->last_us = event->t_us;
}

/* Detects a counting broker: its numbers rise although earlier ones are acknowledged, or exceed
 * the possible unacknowledged ones. Such a broker never gives a number to two close
 * messages. */
static void detect_counting(struct delivery_memory *m, const struct event *event)
{
    const bool rises = m->last > 0 && event->t_us - m->last_us >= ACKNOWLEDGED_US;
    m->counting = m->counting || rises || event->packet_id > IN_FLIGHT_MAX;
}

void delivery_record(struct delivery_memory *m, const struct event *event)
{
    m->at = 0;
    m->rewound = false;
    if (event->packet_id == 0 || m->connections == 0 || m->unordered) {
        return;
    }
    const bool drained = event->t_us - m->quiet_us >= DRAINED_US;
    m->quiet_us = event->t_us;
    if (!m->placed) {
        place_first(m, event);
        return;
    }
    const uint64_t at = place_of(m, event->packet_id);
    if (at == m->last && event->t_us == m->last_us) {
        m->at = at; /* another event of the same message */
        return;
    }
    if (!event->dup && m->last > 0 && at <= m->last) {
        m->counting = false;
        m->unordered = true; /* within one connection the numbers of a counting broker rise */
        return;
    }
    m->at = at;
    if (!event->dup) {
        detect_counting(m, event);
        m->last = at;
        m->last_us = event->t_us;
    }
    if (at > m->place) {
        m->place = at;
        m->onward = m->onward || !event->dup;
    } else if (!event->dup && !m->onward && (event->retained || drained)) {
        start_numbers(m); /* behind all waiting messages */
        place_first(m, event);
    } else {
        m->rewound = !event->dup && !m->onward;
    }
}

/* ---- repeated messages
 * -------------------------------------------------------------------- */

/* A client repeats a message whose acknowledgement it did not get, also if the broker was away
 * meanwhile. */
static bool is_sent_again(const struct delivery_memory *m, const struct event *event,
                          const struct delivery_item *seen)
{
    if (event->kind != EVENT_COMMAND || event->command.id[0] == '\0' || !seen) {
        return false;
    }
    const bool waited = !event->dup && m->connected_us != LAB_TIME_NONE &&
                        seen->t_us < m->connected_us && is_remembered(m, seen, event->t_us) &&
                        event->t_us - m->connected_us < RESENT_WITHIN_US;
    return waited || event->t_us - seen->t_us < RESENT_WITHIN_US;
}

/* The broker has sent this message before in this session. Packet ids do not show whether it
 * was the known one: that one has none, or this broker's are useless. */
static bool may_be_it(const struct delivery_memory *m, const struct delivery_item *seen)
{
    const uint64_t age = age_of(m, seen);
    return age <= DELIVERY_MIN && m->count - age >= m->session_from &&
           (m->unordered || seen->place == 0);
}

/* Finds the same bytes under the same number: at the same place, or at an earlier turn of the
 * numbers if the broker was restored from its save and repeats them. The broker sends a message
 * without acknowledgement again however long the machine was suspended, so the age of that
 * place does not matter. */
static const struct delivery_item *find_same(const struct delivery_memory *m,
                                             const struct event *event)
{
    const bool earlier = m->at > 0 && !m->onward;
    const struct delivery_item *item =
        m->at > 0 ? find_item(m, event->hash, m->at, !earlier) : NULL;
    const bool unacknowledged = item && event->dup && item->place == m->at;
    return unacknowledged || is_remembered(m, item, event->t_us) ? item : NULL;
}

static enum delivery compare_message(const struct delivery_memory *m, const struct event *event)
{
    const bool has_id =
        (event->kind == EVENT_COMMAND ? event->command.id : event->reply.id)[0] != '\0';
    const struct delivery_item *seen = find_item(m, event->hash, 0, true);
    if (is_sent_again(m, event, seen)) {
        return DELIVERY_AGAIN;
    }
    if (!seen || (!event->dup && m->at == 0)) {
        return DELIVERY_NEW;
    }
    if (event->packet_id == 0 || m->connections == 0) { /* a journal without packet ids */
        return event->dup && age_of(m, seen) <= DELIVERY_MIN ? DELIVERY_AGAIN : DELIVERY_NEW;
    }
    const struct delivery_item *same = find_same(m, event);
    if (same && event->dup && m->counting && same->place == m->at &&
        same->t_us >= m->acknowledged_us) {
        return DELIVERY_AGAIN;
    }
    if (same || (event->dup && may_be_it(m, seen))) {
        return has_id ? DELIVERY_AGAIN : DELIVERY_AMBIGUOUS;
    }
    return DELIVERY_NEW;
}

enum delivery delivery_judge(struct delivery_memory *m, const struct event *event)
{
    const enum delivery found = compare_message(m, event);
    if (found == DELIVERY_NEW && m->rewound) {
        /* A broker that lost unsaved state gives the same numbers to other messages. */
        start_numbers(m);
        place_first(m, event);
    }
    if (found != DELIVERY_AGAIN) {
        add_item(m, event->hash, m->at, event->t_us);
    }
    return found;
}

bool delivery_knows(const struct delivery_memory *m, const struct event *event)
{
    return is_remembered(m, find_item(m, event->hash, 0, true), event->t_us);
}

/* ---- commands by their ids ----------------------------------------------------------------
 */

static uint64_t id_hash(const char *pair, const char *id)
{
    return hash_bytes(hash_bytes(HASH_START, pair, strlen(pair) + 1), id, strlen(id));
}

const struct delivery_outcome *delivery_find_id(const struct delivery_memory *m,
                                                const char *pair, const char *id, int64_t t_us)
{
    const struct delivery_item *item = find_item(m, id_hash(pair, id), 0, true);
    return is_remembered(m, item, t_us) ? &item->outcome : NULL;
}

void delivery_add_id(struct delivery_memory *m, const char *pair, const char *id, int64_t t_us)
{
    add_item(m, id_hash(pair, id), 0, t_us);
}

void delivery_end_id(struct delivery_memory *m, const char *pair, const char *id,
                     struct delivery_outcome outcome)
{
    const struct delivery_item *item = find_item(m, id_hash(pair, id), 0, true);
    if (item) {
        m->item[item - m->item].outcome = outcome;
    }
}
