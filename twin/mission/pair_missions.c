#include "twin/mission/pair_missions.h"

#include <stdio.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "base/text/text.h"
#include "logger/message/codec_native.h"
#include "logger/message/message.h"
#include "logger/message/mission_request.h"
#include "twin/pair/pair_run.h"

static const char where[] = "mission";

_Static_assert((int)MISSION_ID_LENGTH_MAX < (int)MISSION_RUN_MAX,
               "ids of commands begin with the mission's");

size_t pair_missions_bytes(const struct pair_params *p)
{
    const size_t bytes =
        sizeof(struct pair_missions) + p->missions_max * sizeof(struct mission_text);
    return p->missions_max > 0 ? (bytes + 63) / 64 * 64 : 0;
}

/* ---- records ---- */

/* Returns the place of the newest mission with this number, or id; MISSIONS_KEPT: none. */
static size_t find_place(const struct pair_missions *m, uint64_t number, const char *id)
{
    size_t newest = MISSIONS_KEPT;
    for (size_t i = 0; i < MISSIONS_KEPT; i++) {
        const struct mission_record *r = &m->record[i];
        if (r->number > 0 && (id ? strcmp(r->id, id) == 0 : r->number == number) &&
            (newest == MISSIONS_KEPT || r->number > m->record[newest].number)) {
            newest = i;
        }
    }
    return newest;
}

const struct mission_record *pair_missions_running(const struct pair_missions *m)
{
    const size_t k = find_place(m, m->running, NULL);
    return k < MISSIONS_KEPT ? &m->record[k] : NULL;
}

const struct mission_record *pair_missions_find(const struct pair_missions *m, const char *id)
{
    const size_t k = find_place(m, 0, id);
    return k < MISSIONS_KEPT ? &m->record[k] : NULL;
}

static bool is_over(const struct mission_record *r)
{
    return r->state != MISSION_QUEUED && r->state != MISSION_RUNNING;
}

/* The place for a new record: that of the oldest refused mission if there are many of these,
 * so that they displace no other; else a free one, or that of the oldest that is over. */
static struct mission_record *find_room(struct pair_missions *m)
{
    struct mission_record *r = NULL;
    size_t refused = 0;
    for (size_t i = 0; i < MISSIONS_KEPT; i++) {
        refused += m->record[i].number > 0 && m->record[i].state == MISSION_REFUSED;
    }
    for (size_t i = 0; i < MISSIONS_KEPT; i++) {
        struct mission_record *other = &m->record[i];
        const bool fits = refused >= MISSIONS_REFUSED
                              ? other->number > 0 && other->state == MISSION_REFUSED
                              : other->number == 0 || is_over(other);
        r = fits && (!r || other->number < r->number) ? other : r;
    }
    return r;
}

static void fill_record(struct mission_record *r, const struct missions_run *run,
                        const char *id, const char *kind)
{
    memset(r, 0, sizeof *r);
    r->queued_us = run->t_us;
    r->began_us = LAB_TIME_NONE;
    r->ended_us = LAB_TIME_NONE;
    (void)snprintf(r->id, sizeof r->id, "%s", id);
    (void)snprintf(r->kind, sizeof r->kind, "%s", kind);
}

static struct mission_record *begin_record(struct missions_run *run, const char *id,
                                           const char *kind)
{
    struct mission_record *r = find_room(run->m);
    fill_record(r, run, id, kind);
    r->number = ++run->m->numbers;
    return r;
}

/* ---- status ---- */

/* Formats the payload text[EVENT_RAW_MAX]; returns its bytes, 0: it is longer. */
static size_t format_command(const struct event_command *c, char *text)
{
    struct json_writer w;
    json_write_start(&w, text, EVENT_RAW_MAX, NULL, NULL);
    native_write(&w, EVENT_COMMAND, c);
    return json_write_end(&w) ? w.used : 0;
}

static void write_command(struct json_writer *w, const struct event_command *c)
{
    if (c->raw) {
        json_write_raw(w, "command", c->raw, c->raw_bytes);
        return;
    }
    char text[EVENT_RAW_MAX];
    const size_t bytes = format_command(c, text);
    json_write_raw(w, "command", text, bytes);
}

/* effect: what has just happened; NULL: the mission's own state changed. */
static void emit_status(const struct missions_run *run, const struct mission_record *r,
                        const struct mission_effect *effect)
{
    char text[MISSION_REPORT_MAX];
    struct json_writer w;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    json_write_object(&w, NULL);
    json_write_seconds(&w, "t", run->t_us);
    pair_missions_write(&w, run->m, r);
    if (effect && effect->kind == MISSION_COMMAND) {
        write_command(&w, &effect->command);
    } else if (effect && effect->kind == MISSION_ANSWER && run->reply) {
        json_write_raw(&w, "reply", run->reply->payload.text, run->reply->payload.bytes);
    } else if (effect && effect->kind == MISSION_MESSAGE) {
        JSON_WRITE_OBJECT(&w, "message", JSON("layer", effect->layer),
                          JSON("level", mission_level_name(effect->level)),
                          JSON("text", effect->text));
    }
    json_write_close(&w);
    if (json_write_end(&w)) {
        const struct effect out = {.kind = EFFECT_MISSION,
                                   .pair = run->pair->index,
                                   .t_us = run->t_us,
                                   .side = SIDE_COUNT,
                                   .payload = {.text = text, .bytes = w.used}};
        run->fx->emit(run->fx->context, &out);
    }
}

static void set_state(struct missions_run *run, struct mission_record *r,
                      enum mission_state state)
{
    r->state = (uint8_t)state;
    r->began_us = state == MISSION_RUNNING ? run->t_us : r->began_us;
    r->ended_us = is_over(r) ? run->t_us : LAB_TIME_NONE;
    run->m->count[state]++;
    run->m->version++;
}

static void forget_text(struct missions_run *run, uint64_t number)
{
    for (size_t i = 0; i < run->p->missions_max; i++) {
        struct mission_text *text = &run->m->waiting[i];
        text->number = text->number == number ? 0 : text->number;
    }
}

static PRINTF_LIKE(4, 5) void refuse(struct missions_run *run, struct mission_record *r,
                                     enum fault fault, const char *format, ...)
{
    TEXT_FORMAT(r->detail, sizeof r->detail, format);
    (void)snprintf(r->code, sizeof r->code, "%s", fault_name(fault));
    set_state(run, r, MISSION_REFUSED);
    emit_status(run, r, NULL);
}

/* ---- the running mission ---- */

static const struct mission_kind *running_kind(const struct pair_missions *m)
{
    const struct mission_record *r = pair_missions_running(m);
    return r ? mission_kind_find(r->kind) : NULL;
}

size_t pair_missions_memory(const struct pair_params *p)
{
    const struct grid_place place = live_map_place(&p->live_map);
    const bool live = live_map_wanted(&p->live_map) && !p->costmap;
    return p->missions_max == 0 ? 0
           : p->costmap         ? grid_search_bytes(p->costmap->width * p->costmap->height)
           : live               ? mission_costmap_bytes(&p->live_map) +
                        grid_search_bytes(place.width * place.height)
                  : 0;
}

void pair_missions_rebind(struct pair_missions *m, const struct mission_place *place)
{
    const struct mission_kind *kind = running_kind(m);
    if (kind) {
        kind->rebind(m->work, m->plan, place);
    }
}

int64_t pair_missions_deadline(const struct pair_missions *m)
{
    const struct mission_kind *kind = running_kind(m);
    return kind ? kind->next_us(m->work) : m->begin_us > 0 ? m->begin_us : LAB_TIME_MAX;
}

/* The command is sent behind the pair's step, because that may still be in progress. */
static void queue_command(struct missions_run *run, const struct event_command *c)
{
    if (run->out_count == MISSIONS_OUT) {
        return; /* the mission's patience ends it */
    }
    char *raw = run->out[run->out_count].raw;
    size_t bytes = c->raw_bytes;
    if (c->raw && bytes <= EVENT_RAW_MAX) {
        memcpy(raw, c->raw, bytes);
    } else {
        bytes = format_command(c, raw);
    }
    run->out[run->out_count].bytes = bytes;
    run->out_count += bytes > 0;
}

static void end_mission(struct missions_run *run, struct mission_record *r,
                        const struct mission_effect *effect)
{
    const enum mission_state state = effect->verdict == L2_VERDICT_DONE   ? MISSION_DONE
                                     : effect->verdict == L2_VERDICT_QUIT ? MISSION_CANCELLED
                                                                          : MISSION_FAILED;
    if (state == MISSION_FAILED) {
        (void)snprintf(r->code, sizeof r->code, "%s", mission_code_name(effect->code));
        run->m->failed[effect->code]++;
    } else {
        r->detail[0] = '\0';
    }
    set_state(run, r, state);
    emit_status(run, r, effect);
    run->m->running = 0;
}

static void emit_effort(const struct missions_run *run, const struct mission_effect *effect)
{
    char text[512];
    const size_t bytes = JSON_FORMAT(text, sizeof text, JSON_SECONDS("t", run->t_us),
                                     JSON_NUMBERS("tau", effect->effort, effect->effort_count));
    const struct effect out = {.kind = EFFECT_CONTROL,
                               .pair = run->pair->index,
                               .t_us = run->t_us,
                               .side = SIDE_REAL,
                               .payload = {.text = text, .bytes = bytes}};
    if (bytes > 0) {
        run->fx->emit(run->fx->context, &out);
    }
}

static void apply_effect(void *context, const struct mission_effect *effect)
{
    struct missions_run *run = context;
    const size_t k = find_place(run->m, run->m->running, NULL);
    struct mission_record *r = &run->m->record[k];
    if (k == MISSIONS_KEPT) {
        return;
    }
    r->step = effect->step;
    run->m->version++;
    if (effect->kind == MISSION_EFFORT) {
        emit_effort(run, effect);
        return;
    }
    if (effect->kind == MISSION_END) {
        end_mission(run, r, effect);
        return;
    }
    if (effect->kind == MISSION_COMMAND) {
        queue_command(run, &effect->command);
    } else if (effect->kind == MISSION_MESSAGE && effect->level == MISSION_ERROR &&
               strcmp(effect->text, l2_verdict_name(L2_VERDICT_FAILED)) != 0) {
        (void)snprintf(r->detail, sizeof r->detail, "%s", effect->text);
    }
    emit_status(run, r, effect);
}

static void step_mission(struct missions_run *run, struct mission_input input)
{
    const struct mission_kind *kind = running_kind(run->m);
    if (kind) {
        input.t_us = run->t_us;
        kind->step(run->m->work, &input, apply_effect, run);
    }
}

void pair_missions_observe(struct missions_run *run, const struct event *event)
{
    if (event->kind == EVENT_TELEMETRY && event->side == SIDE_REAL && !event->retained) {
        step_mission(run, (struct mission_input){.kind = MISSION_INPUT_SAMPLE,
                                                 .sample = &event->telemetry});
    } else if (event->kind == EVENT_COMMAND && pair_link_overtakes(event->command.op)) {
        step_mission(run, (struct mission_input){.kind = MISSION_INPUT_HALT});
    }
}

void pair_missions_reply(struct missions_run *run, const struct effect *effect)
{
    struct message message = {.t_us = run->t_us,
                              .topic = "t/p/real/reply",
                              .payload = effect->payload.text,
                              .stored_bytes = effect->payload.bytes,
                              .payload_bytes = effect->payload.bytes};
    struct event event = {.kind = EVENT_KIND_COUNT};
    (void)codec_native.decode("t", &message, codec_copy_event, &event);
    if (event.kind == EVENT_REPLY) {
        run->reply = effect;
        step_mission(run,
                     (struct mission_input){.kind = MISSION_INPUT_REPLY,
                                            .reply = &event.reply,
                                            .unanswered = pair_link_is_unanswered(effect)});
        run->reply = NULL;
    }
}

/* ---- the queue ---- */

size_t pair_missions_waiting(const struct pair_missions *m, const struct pair_params *p)
{
    size_t count = 0;
    for (size_t i = 0; i < p->missions_max; i++) {
        count += m->waiting[i].number > 0;
    }
    return count;
}

/* The text of the mission that has waited longest; NULL: none waits. */
static struct mission_text *first_waiting(struct missions_run *run)
{
    struct mission_text *first = NULL;
    for (size_t i = 0; i < run->p->missions_max; i++) {
        struct mission_text *text = &run->m->waiting[i];
        if (text->number > 0 && (!first || text->number < first->number)) {
            first = text;
        }
    }
    return first;
}

/* Finds a command that the robot has not answered; NULL: it is free. A twin that lags behind
 * holds nobody up. */
static const struct pair_slot *find_command(const struct missions_run *run)
{
    for (int k = -1; pair_next_open(run->pair, &k);) {
        const struct pair_slot *slot = pair_look_slot(run->pair, k);
        if (!pair_slot_through(slot, slot->expected[SIDE_REAL] ? SIDE_REAL : SIDE_VIRTUAL)) {
            return slot;
        }
    }
    return NULL;
}

/* Marks an id as used. Was it, or does another id have the same bits? */
static bool mark_used(struct pair_missions *m, const char *id)
{
    uint64_t hash = hash_text(id);
    bool used = true;
    for (int i = 0; i < 3; i++, hash >>= 21) {
        uint8_t *byte = &m->used[hash / 8 % MISSIONS_USED];
        const uint8_t bit = (uint8_t)(1U << hash % 8);
        used = used && (*byte & bit);
        *byte |= bit;
    }
    return used;
}

/* The ids of commands depend on the mission's own id only, so that every recording with its
 * message gives the same. An id that may have been used before gets the mission's number
 * behind a character that no mission's id has. */
static void name_run(struct pair_missions *m, struct mission_record *r)
{
    char id[MISSION_RUN_MAX] = "";
    memcpy(id, r->id, sizeof id - 1);
    if (mark_used(m, id)) {
        (void)snprintf(r->run, sizeof r->run, "%.19s~%llu", id, (unsigned long long)r->number);
    } else {
        memcpy(r->run, id, sizeof r->run);
    }
}

static void begin_mission(struct missions_run *run, struct mission_text *text)
{
    struct pair_missions *m = run->m;
    struct mission_record *r = &m->record[find_place(m, text->number, NULL)];
    struct err err = {0};
    text->number = 0;
    if (pair_missions_check(run->p, r->kind, text->json, text->bytes, m->plan, &err) !=
        STATUS_OK) {
        refuse(run, r, err.fault, "%s", err.text);
        return;
    }
    memset(m->work, 0, sizeof m->work);
    m->running = r->number;
    set_state(run, r, MISSION_RUNNING);
    name_run(m, r);
    mission_kind_find(r->kind)->rebind(m->work, m->plan, &run->place);
    mission_kind_find(r->kind)->begin(m->work, m->plan, r->run, run->t_us, apply_effect, run);
    m->begin_us = m->running == 0 ? run->t_us + MISSIONS_PAUSE_US : 0;
}

void pair_missions_advance(struct missions_run *run)
{
    if (pair_missions_deadline(run->m) <= run->t_us) {
        step_mission(run, (struct mission_input){.kind = MISSION_INPUT_TICK});
    }
    if (run->m->begin_us <= run->t_us) {
        run->m->begin_us = 0;
    }
    struct mission_text *first = first_waiting(run);
    while (first && run->m->running == 0 && run->m->begin_us == 0 && run->out_count == 0 &&
           !find_command(run)) {
        begin_mission(run, first);
        first = first_waiting(run);
    }
}

static void interrupt_mission(struct missions_run *run, struct mission_record *r)
{
    (void)snprintf(r->detail, sizeof r->detail, "the daemon started again: nothing is resumed");
    (void)snprintf(r->code, sizeof r->code, "%s", mission_code_name(MISSION_INTERRUPTED));
    run->m->failed[MISSION_INTERRUPTED]++;
    set_state(run, r, MISSION_FAILED);
    emit_status(run, r, NULL);
}

void pair_missions_stop(struct pair_missions *m, const struct pair_params *p)
{
    for (size_t i = 0; i < p->missions_max; i++) {
        m->waiting[i].number = 0;
    }
    m->running = 0;
    m->begin_us = 0;
}

void pair_missions_interrupt(struct missions_run *run)
{
    pair_missions_stop(run->m, run->p);
    for (size_t i = 0; i < MISSIONS_KEPT; i++) {
        if (run->m->record[i].number > 0 && !is_over(&run->m->record[i])) {
            interrupt_mission(run, &run->m->record[i]);
        }
    }
}

void pair_missions_repeat(const struct missions_run *run)
{
    for (size_t i = 0; i < MISSIONS_KEPT; i++) {
        const struct mission_record *r = &run->m->record[i];
        if (r->number > 0 && r->ended_us == run->t_us &&
            strcmp(r->code, mission_code_name(MISSION_INTERRUPTED)) == 0) {
            emit_status(run, r, NULL);
        }
    }
}

/* ---- requests ---- */

enum status pair_missions_check(const struct pair_params *p, const char *kind_name,
                                const char *text, size_t bytes, void *plan, struct err *err)
{
    const struct mission_kind *kind = mission_kind_find(kind_name);
    const bool wheels = p->kind == PAIR_DIFFDRIVE || p->kind == PAIR_GENERIC;
    const enum mission_robot robot = pair_is_arm(p)         ? MISSION_ARM
                                     : wheels               ? MISSION_WHEELS
                                     : p->kind == PAIR_USV3 ? MISSION_VESSEL
                                                            : MISSION_ROBOT_COUNT;
    if (!kind) {
        char names[128] = "";
        for (size_t i = 0; i < mission_kind_count; i++) {
            names_append(names, sizeof names, mission_kinds[i]->name);
        }
        return err_set(err, STATUS_E_PARSE, FAULT_UNKNOWN_VALUE, where,
                       "a \"kind\" out of %s was expected", names);
    }
    if (kind->robot != robot) {
        return err_set(err, STATUS_E_PARSE, FAULT_NOT_APPLICABLE, where,
                       "%s is a mission for %s, and %s is none", kind->name,
                       mission_robot_name(kind->robot), p->id);
    }
    if (bytes > MISSION_JSON_MAX) {
        return err_set(err, STATUS_E_PARSE, FAULT_TOO_LARGE, where,
                       "a text of at most %d bytes was expected", MISSION_JSON_MAX);
    }
    memset(plan, 0, MISSION_PLAN_BYTES);
    return kind->parse(kind, text, bytes, p, plan, err);
}

uint64_t pair_missions_content(const char *text, size_t bytes)
{
    return hash_bytes(HASH_START, text, bytes);
}

/* A free place for the text; NULL: all wait for their turn. */
static struct mission_text *free_text(struct missions_run *run)
{
    struct mission_text *found = NULL;
    for (size_t i = run->p->missions_max; i-- > 0;) {
        found = run->m->waiting[i].number == 0 ? &run->m->waiting[i] : found;
    }
    return found;
}

/* Finds the mission whose command this is; NULL: it is a user's. */
static const struct mission_record *find_sender(const struct pair_missions *m, const char *id)
{
    for (size_t i = 0; i < MISSIONS_KEPT; i++) {
        const struct mission_record *r = &m->record[i];
        const size_t n = strlen(r->run);
        if (r->number > 0 && n > 0 && strncmp(id, r->run, n) == 0 && id[n] == '-' &&
            id[n + 1 + strspn(id + n + 1, "0123456789")] == '\0') {
            return r;
        }
    }
    return NULL;
}

/* Is somebody else the robot's owner? */
static bool is_owned(struct missions_run *run, struct mission_record *r)
{
    const struct pair_slot *open = find_command(run);
    if (run->team) {
        refuse(run, r, FAULT_OWNED, "team %s owns %s: give the team a job", run->team,
               run->p->id);
        return true;
    }
    const struct mission_record *sender = open ? find_sender(run->m, open->id) : NULL;
    if (run->m->running == 0 && !first_waiting(run) && sender) {
        refuse(run, r, FAULT_OWNED,
               "command %s of mission %s is still under way: wait for its end, or halt it",
               open->id, sender->id);
        return true;
    }
    if (run->m->running == 0 && !first_waiting(run) && open) {
        refuse(run, r, FAULT_OWNED,
               "a user owns %s: command %s is under way; wait for its end, or halt it",
               run->p->id, open->id);
        return true;
    }
    return false;
}

static void accept_mission(struct missions_run *run, const struct event_mission *e)
{
    _Alignas(max_align_t) unsigned char plan[MISSION_PLAN_BYTES];
    struct mission_record *r = begin_record(run, e->id, e->kind);
    struct mission_text *text = free_text(run);
    struct err err = {0};
    r->content = pair_missions_content(e->raw, e->raw_bytes);
    (void)snprintf(r->by, sizeof r->by, "%s", e->by);
    if (pair_missions_check(run->p, e->kind, e->raw, e->raw_bytes, plan, &err) != STATUS_OK) {
        refuse(run, r, err.fault, "%s", err.text);
    } else if (is_owned(run, r)) {
        return;
    } else if (!text) {
        refuse(run, r, FAULT_TOO_MANY, "%u missions wait already (missions_max)",
               (unsigned)run->p->missions_max);
    } else {
        text->number = r->number;
        text->bytes = e->raw_bytes;
        memcpy(text->json, e->raw, e->raw_bytes);
        set_state(run, r, MISSION_QUEUED);
        emit_status(run, r, NULL);
    }
}

static void cancel_mission(struct missions_run *run, struct mission_record *r)
{
    if (r->state == MISSION_QUEUED) {
        forget_text(run, r->number);
        set_state(run, r, MISSION_CANCELLED);
        emit_status(run, r, NULL);
    } else if (r->state == MISSION_RUNNING && !r->cancelling) {
        r->cancelling = true;
        step_mission(run, (struct mission_input){.kind = MISSION_INPUT_QUIT});
    } else {
        emit_status(run, r, NULL);
    }
}

/* A refused id may be used again, because nothing was done. */
static void apply_request(struct missions_run *run, const struct event_mission *e)
{
    const size_t k = find_place(run->m, 0, e->id);
    struct mission_record *known = k < MISSIONS_KEPT ? &run->m->record[k] : NULL;
    if (e->cancel == 1 && known) {
        cancel_mission(run, known);
    } else if (e->cancel == 1) {
        struct mission_record none;
        fill_record(&none, run, e->id, "");
        refuse(run, &none, FAULT_UNKNOWN_NAME, "%s remembers no mission of this id",
               run->p->id);
    } else if (!known || known->state == MISSION_REFUSED) {
        accept_mission(run, e);
    } else if (known->content == pair_missions_content(e->raw, e->raw_bytes)) {
        run->m->repeated++;
        emit_status(run, known, NULL);
    } else {
        struct mission_record other = *known;
        other.state = MISSION_REFUSED;
        (void)snprintf(other.code, sizeof other.code, "%s", fault_name(FAULT_DUPLICATE_NAME));
        (void)snprintf(other.detail, sizeof other.detail,
                       "this id is that of another mission: use a new one");
        run->m->count[MISSION_REFUSED]++;
        emit_status(run, &other, NULL);
    }
}

void pair_missions_apply(struct missions_run *run, const struct event *event)
{
    if (event->kind == EVENT_MISSION) {
        apply_request(run, &event->mission);
    } else { /* it is no mission, so that nothing is remembered */
        struct mission_record none;
        fill_record(&none, run, event->malformed.id, "");
        refuse(run, &none, event->malformed.fault, "%s", event->malformed.detail);
    }
    pair_missions_advance(run);
}

/* ---- reading ---- */

void pair_missions_write(struct json_writer *w, const struct pair_missions *m,
                         const struct mission_record *r)
{
    const struct mission_kind *kind = r->number == m->running ? running_kind(m) : NULL;
    JSON_WRITE(w, JSON("id", r->id), JSON_IF(r->kind[0], JSON("kind", r->kind)),
               JSON("state", mission_state_name((enum mission_state)r->state)),
               JSON_IF(r->cancelling && !is_over(r), JSON_BOOL("cancelling", true)),
               JSON_IF(r->by[0], JSON("by", r->by)), JSON_IF(r->code[0], JSON("code", r->code)),
               JSON_IF(r->detail[0], JSON("detail", r->detail)),
               JSON_SECONDS("queued_t", r->queued_us), JSON_SECONDS("began_t", r->began_us),
               JSON_SECONDS("ended_t", r->ended_us), JSON("step", r->step));
    if (kind) {
        kind->report(m->work, m->plan, w);
    }
}

void pair_missions_write_all(struct json_writer *w, const struct pair_missions *m,
                             const struct pair_params *p)
{
    uint64_t below = UINT64_MAX;
    json_write_int(w, "missions_max", p->missions_max);
    JSON_WRITE(w, JSON_COUNTS("counts", &mission_state_names, m->count),
               JSON("repeated", m->repeated), JSON("commands_refused", m->commands_refused));
    json_write_array(w, "missions");
    for (const struct mission_record *r = m->record; r;) {
        r = NULL;
        for (size_t i = 0; i < MISSIONS_KEPT; i++) {
            const struct mission_record *other = &m->record[i];
            if (other->number > 0 && other->number < below &&
                (!r || other->number > r->number)) {
                r = other;
            }
        }
        if (r) {
            below = r->number;
            json_write_object(w, NULL);
            pair_missions_write(w, m, r);
            json_write_close(w);
        }
    }
    json_write_close(w);
}

ENUM_NAMES(mission_state, MISSION_STATE_COUNT, MISSION_STATES(NAMES_TEXT));
