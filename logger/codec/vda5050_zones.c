/* logger/codec/vda5050_zones.c - zones that a vehicle must be admitted to (VDA 5050 3.0, type
 * RELEASE).
 *
 * In link mode the zones are resources of the vehicle's team, with the same names. All requests
 * in one state become one Lock; a request that is no longer listed becomes its UnLock. The twin
 * occupies no real zone, so all its requests are granted.
 */
#include <stdio.h>
#include <string.h>

#include "logger/codec/vda5050_parts.h"

/* After this time a lost answer is requested again. */
static const int64_t AGAIN_US = 5000000;

struct zone_request {
    struct json_text id, type, zone, status;
};

static bool read_request(const struct vda_run *run, struct json_scan *list,
                         struct zone_request *q)
{
    static const struct vda_member members[] = {
        {"requestId", VDA_TEXT, offsetof(struct zone_request, id)},
        {"requestType", VDA_TEXT, offsetof(struct zone_request, type)},
        {"zoneId", VDA_TEXT, offsetof(struct zone_request, zone)},
        {"requestStatus", VDA_TEXT, offsetof(struct zone_request, status)},
    };
    char text[VDA_REQUEST_MAX];
    if (!vda_read(run, list, members, COUNT(members), q)) {
        return false;
    }
    if (!q->id.at || !q->zone.at) {
        return vda_fail(run, FAULT_MISSING_KEY,
                        "zoneRequests: requestId and zoneId were expected");
    }
    return (json_text_copy(&q->id, text, sizeof text, false) < sizeof text &&
            json_text_copy(&q->zone, text, EVENT_TEAM_NAME_MAX, false) < EVENT_TEAM_NAME_MAX) ||
           vda_fail(run, FAULT_TOO_LONG,
                    "zoneRequests: a requestId of at most %d bytes and a zoneId of at "
                    "most %d were expected",
                    VDA_REQUEST_MAX - 1, EVENT_TEAM_NAME_MAX - 1);
}

/* A list with a fault has no effect at all. */
static bool check_requests(const struct vda_run *run, struct json_scan list)
{
    struct zone_request q;
    size_t count = 0;
    for (bool any = vda_enter(&list); any && vda_next(&list); count++) {
        if (!read_request(run, &list, &q)) {
            return false;
        }
    }
    return count <= VDA_ZONES_MAX ||
           vda_fail(run, FAULT_TOO_MANY, "zoneRequests: at most %d were expected",
                    VDA_ZONES_MAX);
}

/* ---- requests to the team ---- */

static void begin_ask(const struct vda_run *run, struct event *e, enum team_op op)
{
    codec_begin_event(e, run->pair, run->message, EVENT_TEAM, SIDE_COUNT);
    (void)snprintf(e->pair, sizeof e->pair, "%s", run->pair->team);
    (void)snprintf(e->team.robot, sizeof e->team.robot, "%s", run->pair->robot);
    e->team.op = op;
}

static void add_place(struct event_team *ask, const char *name, int64_t fence)
{
    memcpy(ask->resources[ask->resource_count], name, EVENT_TEAM_NAME_MAX);
    ask->fences[ask->resource_count++] = fence;
}

/* Names a Lock by our own number, because vehicles reuse the ids of their requests. */
static void name_lock(const struct vda_vehicle *v, uint64_t lock, char out[EVENT_ID_MAX])
{
    size_t k = 0;
    while (k < v->zone_count && v->zone[k].lock != lock) {
        k++;
    }
    (void)snprintf(out, EVENT_ID_MAX, "%.24s#%llu", k < v->zone_count ? v->zone[k].name : "",
                   (unsigned long long)lock);
}

/* Requests all zones of a Lock unchanged. The team answers a repeated request again. */
static void ask_lock(const struct vda_run *run, uint64_t lock)
{
    struct vda_vehicle *v = run->v;
    struct event e;
    begin_ask(run, &e, TEAM_OP_LOCK);
    name_lock(v, lock, e.team.id);
    for (size_t k = 0; k < v->zone_count; k++) {
        if (v->zone[k].lock == lock) {
            v->zone[k].asked_us = run->message->t_us;
            add_place(&e.team, v->zone[k].name, -1);
        }
    }
    codec_emit(run->pair, &e, run->sink);
}

static void ask_unlock(const struct vda_run *run, const struct vda_zone *z)
{
    struct event e;
    begin_ask(run, &e, TEAM_OP_UNLOCK);
    add_place(&e.team, z->name, z->fence);
    codec_emit(run->pair, &e, run->sink);
}

/* True if the answer was lost, or half of the lease has passed. */
static bool is_due(const struct vda_run *run, const struct vda_zone *z)
{
    const int64_t t_us = run->message->t_us;
    const bool again = z->waits && t_us - z->asked_us >= AGAIN_US;
    return again || (z->phase == VDA_ZONE_GRANTED && z->expiry_us != LAB_TIME_MAX &&
                     t_us - z->granted_us > (z->expiry_us - z->granted_us) / 2);
}

/* Requests all waiting zones in one Lock, once the previous Lock is granted: a robot of a team
 * waits for one Lock at a time. */
static void ask_team(const struct vda_run *run)
{
    struct vda_vehicle *v = run->v;
    const uint64_t next = run->memory->locks + 1;
    bool wanted = false;
    bool waits = false;
    for (size_t k = 0; k < v->zone_count; k++) {
        const struct vda_zone *z = &v->zone[k];
        waits = waits || z->phase == VDA_ZONE_ASKED;
        if (z->lock > 0 && z->listed && is_due(run, z)) {
            ask_lock(run, z->lock);
        }
    }
    for (size_t k = 0; !waits && k < v->zone_count; k++) {
        struct vda_zone *z = &v->zone[k];
        if (z->phase == VDA_ZONE_WANTED) {
            z->phase = VDA_ZONE_ASKED;
            z->lock = next;
            wanted = true;
        }
    }
    if (wanted) {
        run->memory->locks = next;
        ask_lock(run, next);
    }
}

/* ---- answers ---- */

static void write_answer(struct json_writer *w, const struct vda_zone *z, const char *grant)
{
    JSON_OPEN(w, NULL, JSON("requestId", z->request), JSON("grantType", grant));
    if (z->phase == VDA_ZONE_GRANTED && z->expiry_us != LAB_TIME_MAX) {
        vda_write_stamp(w, "leaseExpiry", z->expiry_us);
    }
    json_write_close(w);
}

static void begin_answers(struct json_writer *w, const struct codec_pair *pair, enum side side,
                          int64_t t_us)
{
    struct vda_memory *memory = pair->state;
    json_write_object(w, NULL);
    vda_write_header(w, pair, side, t_us, &memory->vehicle[side].sent_responses);
    json_write_array(w, "responses");
}

/* Answers a zone that is not for the team to decide. */
static void answer_plainly(const struct vda_run *run, struct vda_zone *z)
{
    const struct codec_sink *sink = run->sink;
    char topic[MESSAGE_TOPIC_MAX];
    char text[1024];
    struct json_writer w;
    z->asked_us = run->message->t_us;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    begin_answers(&w, run->pair, run->side, run->message->t_us);
    write_answer(&w, z, z->granted ? "GRANTED" : "REJECTED");
    json_write_close(&w);
    json_write_close(&w);
    if (sink->send && json_write_end(&w) &&
        vda_write_topic(run->pair, run->side, "responses", topic)) {
        sink->send(sink->send_context, run->pair->id, topic, text, w.used);
    }
}

/* Applies the answer to one zone; false: no change. */
static bool apply_answer(struct vda_zone *z, const struct codec_answer *a, int64_t t_us)
{
    size_t k = 0;
    while (k < a->count && strcmp(a->resource[k].name, z->name) != 0) {
        k++;
    }
    if (k == a->count && a->count > 0) {
        return false;
    }
    if (k < a->count && strcmp(a->grant, "GRANTED") == 0) {
        z->phase = VDA_ZONE_GRANTED;
        z->fence = a->resource[k].fence;
        z->granted_us = t_us;
        z->expiry_us = a->resource[k].expiry_us;
    } else if (strcmp(a->grant, "QUEUED") != 0) {
        z->phase = VDA_ZONE_OVER;
    }
    return true;
}

bool vda_encode_answer(const struct codec_out *out, struct codec_message *message)
{
    struct vda_memory *memory = out->to->state;
    struct vda_vehicle *v = &memory->vehicle[out->side];
    const struct codec_answer *a = out->answer;
    struct json_writer w;
    size_t count = 0;
    json_write_start(&w, message->room, sizeof message->room, NULL, NULL);
    begin_answers(&w, out->to, out->side, out->t_us);
    for (size_t k = 0; k < v->zone_count; k++) {
        struct vda_zone *z = &v->zone[k];
        char id[EVENT_ID_MAX];
        name_lock(v, z->lock, id);
        if (z->lock > 0 && z->phase != VDA_ZONE_LEFT && strcmp(id, a->id) == 0 &&
            apply_answer(z, a, out->t_us)) {
            write_answer(&w, z, a->grant);
            count++;
        }
    }
    json_write_close(&w);
    json_write_close(&w);
    v->sent_responses -= count == 0;
    message->payload = message->room;
    message->bytes = w.used;
    return json_write_end(&w) && count > 0 &&
           vda_write_topic(out->to, out->side, "responses", message->topic);
}

/* ---- requests in a state ---- */

static bool is_word(const struct json_text *text, const char *word)
{
    return text->at && json_text_is(text, word);
}

/* Finds a request by its id. After a restart the vehicle may have forgotten its request and
 * still occupy the zone; then the previous request for the same zone is found. */
static struct vda_zone *find_request(struct vda_vehicle *v, const char *id, const char *zone)
{
    for (size_t k = 0; k < v->zone_count; k++) {
        struct vda_zone *z = &v->zone[k];
        const bool known = strcmp(z->request, id) == 0 && z->phase != VDA_ZONE_LEFT;
        const bool forgotten = z->epoch != v->epoch &&
                               (z->phase == VDA_ZONE_ASKED || z->phase == VDA_ZONE_GRANTED);
        if (strcmp(z->name, zone) == 0 && (known || forgotten)) {
            return z;
        }
    }
    return NULL;
}

/* Chooses who decides a new request. */
static void begin_request(const struct vda_run *run, struct vda_zone *z, bool access)
{
    const struct codec_pair *pair = run->pair;
    z->plain = !access || !pair->team || run->side != pair->active_side;
    if (!access || (pair->team && run->side != pair->active_side)) {
        z->granted = access;
        answer_plainly(run, z);
    } else if (!pair->team) {
        vda_contradict(run, z->name, "asks for a zone, and is in no team that has it");
    }
}

static void apply_request(const struct vda_run *run, const struct zone_request *q)
{
    struct vda_vehicle *v = run->v;
    char id[VDA_REQUEST_MAX];
    char zone[EVENT_TEAM_NAME_MAX];
    const bool waits = !q->status.at || is_word(&q->status, "REQUESTED");
    vda_copy(&q->id, id, sizeof id);
    vda_copy(&q->zone, zone, sizeof zone);
    struct vda_zone *z = find_request(v, id, zone);
    const bool fresh = !z;
    if (!z && v->zone_count == VDA_ZONES_MAX) {
        return; /* no room: the vehicle repeats its request */
    }
    if (!z) {
        z = &v->zone[v->zone_count++];
        memset(z, 0, sizeof *z);
        memcpy(z->name, zone, sizeof zone);
    }
    memcpy(z->request, id, sizeof id);
    z->listed = true;
    z->waits = waits;
    z->epoch = v->epoch;
    if (fresh) {
        begin_request(run, z, !q->type.at || is_word(&q->type, "ACCESS"));
        z->phase = z->plain ? VDA_ZONE_OVER : VDA_ZONE_WANTED;
    } else if (z->plain && waits && (z->granted || run->pair->team) &&
               run->message->t_us - z->asked_us >= AGAIN_US) {
        answer_plainly(run, z);
    }
}

/* A restarted vehicle has not said that it left the zone, so the lock stays. */
static void leave_zone(const struct vda_run *run, struct vda_zone *z)
{
    const bool held = z->phase == VDA_ZONE_GRANTED;
    if (z->listed || z->phase == VDA_ZONE_ASKED || (held && z->epoch != run->v->epoch)) {
        return;
    }
    if (held) {
        ask_unlock(run, z);
    }
    z->phase = VDA_ZONE_LEFT;
}

/* All zones of a Lock are retained until none of them is requested or held. */
static bool is_retained(const struct vda_vehicle *v, const struct vda_zone *z)
{
    bool retained = z->phase != VDA_ZONE_LEFT;
    for (size_t k = 0; k < v->zone_count; k++) {
        const struct vda_zone *other = &v->zone[k];
        retained = retained ||
                   (z->lock > 0 && other->lock == z->lock && other->phase != VDA_ZONE_LEFT);
    }
    return retained;
}

static void drop_zones(struct vda_vehicle *v)
{
    bool retained[VDA_ZONES_MAX];
    size_t count = 0;
    for (size_t k = 0; k < v->zone_count; k++) {
        retained[k] = is_retained(v, &v->zone[k]);
    }
    for (size_t k = 0; k < v->zone_count; k++) {
        if (retained[k]) {
            v->zone[count++] = v->zone[k];
        }
    }
    v->zone_count = count;
}

/* A vehicle may be silent between states, so its leases are renewed meanwhile. */
static void renew_leases(const struct vda_run *run)
{
    struct event e;
    bool leased = false;
    for (size_t k = 0; k < run->v->zone_count; k++) {
        const struct vda_zone *z = &run->v->zone[k];
        leased = leased || (z->phase == VDA_ZONE_GRANTED && z->expiry_us != LAB_TIME_MAX);
    }
    if (leased) {
        begin_ask(run, &e, TEAM_OP_ALIVE);
        codec_emit(run->pair, &e, run->sink);
    }
}

void vda_receive_zones(const struct vda_run *run, struct json_scan list)
{
    struct vda_vehicle *v = run->v;
    struct zone_request q;
    if (!list.begin || !run->pair->repeated || !check_requests(run, list)) {
        return;
    }
    for (size_t k = 0; k < v->zone_count; k++) {
        v->zone[k].listed = false;
    }
    for (bool any = vda_enter(&list); any && vda_next(&list);) {
        if (read_request(run, &list, &q)) {
            apply_request(run, &q);
        }
    }
    for (size_t k = 0; k < v->zone_count; k++) {
        leave_zone(run, &v->zone[k]);
    }
    drop_zones(v);
    if (run->pair->team && run->side == run->pair->active_side) {
        renew_leases(run);
        ask_team(run);
    }
}
