/* logger/codec/vda5050_state.c - states: the nodes that a vehicle has reached, its actions, and
 * its errors.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "base/numbers/iso_time.h"
#include "logger/codec/vda5050_parts.h"

struct velocity {
    double vx, vy, omega;
};

/* clang-format off */
static const struct vda_member members[] = {
    {"headerId", VDA_REAL, offsetof(struct vda_state, header)},
    {"timestamp", VDA_TEXT, offsetof(struct vda_state, timestamp)},
    {"version", VDA_TEXT, offsetof(struct vda_state, version)},
    {"orderId", VDA_TEXT, offsetof(struct vda_state, order)},
    {"lastNodeId", VDA_TEXT, offsetof(struct vda_state, last_node)},
    {"lastNodeSequenceId", VDA_WHOLE, offsetof(struct vda_state, last_at)},
    {"operatingMode", VDA_TEXT, offsetof(struct vda_state, mode)},
    {"driving", VDA_TRUTH, offsetof(struct vda_state, driving)},
    {"paused", VDA_TRUTH, offsetof(struct vda_state, paused)},
    {"nodeStates", VDA_PART, offsetof(struct vda_state, nodes)},
    {"edgeStates", VDA_PART, offsetof(struct vda_state, edges)},
    {"actionStates", VDA_PART, offsetof(struct vda_state, actions)},
    {"instantActionStates", VDA_PART, offsetof(struct vda_state, instant_actions)}, /* 3.0 */
    {"errors", VDA_PART, offsetof(struct vda_state, errors)},
    {"safetyState", VDA_PART, offsetof(struct vda_state, safety)},
    {"safetyStatus", VDA_PART, offsetof(struct vda_state, safety)}, /* 1.1 */
    {"agvPosition", VDA_PART, offsetof(struct vda_state, position)},
    {"mobileRobotPosition", VDA_PART, offsetof(struct vda_state, position)}, /* 3.0 */
    {"velocity", VDA_PART, offsetof(struct vda_state, velocity)},
    {"zoneRequests", VDA_PART, offsetof(struct vda_state, zones)}, /* 3.0 */
};
static const struct vda_member place_members[] = {
    {"x", VDA_REAL, offsetof(struct vda_place, x_m)},
    {"y", VDA_REAL, offsetof(struct vda_place, y_m)},
    {"theta", VDA_REAL, offsetof(struct vda_place, theta_rad)},
    {"positionInitialized", VDA_TRUTH, offsetof(struct vda_place, initialized)},
    {"localized", VDA_TRUTH, offsetof(struct vda_place, localized)}, /* 3.0 */
    {"mapId", VDA_TEXT, offsetof(struct vda_place, map)},
};
static const struct vda_member velocity_members[] = {
    {"vx", VDA_REAL, offsetof(struct velocity, vx)},
    {"vy", VDA_REAL, offsetof(struct velocity, vy)},
    {"omega", VDA_REAL, offsetof(struct velocity, omega)},
};
/* clang-format on */

static bool is_object(struct json_scan *part)
{
    return part->begin && json_scan_peek(part) == JSON_KIND_OBJECT;
}

static bool read_state(const struct vda_run *run, struct json_scan *s, struct vda_state *st)
{
    if (!vda_read(run, s, members, COUNT(members), st)) {
        return false;
    }
    st->stamp_us = vda_stamp(&st->timestamp);
    if (st->timestamp.at && st->stamp_us == LAB_TIME_NONE) {
        struct iso_time time;
        (void)iso_time_parse(st->timestamp.at, st->timestamp.bytes, &time);
        return vda_fail(run, FAULT_TIME_EXPECTED,
                        "timestamp: an ISO 8601 time was expected: %s", time.wanted);
    }
    st->placed = false;
    st->speed_mps = nan("");
    if (is_object(&st->position)) {
        if (!vda_read(run, &st->position, place_members, COUNT(place_members), &st->at)) {
            return false;
        }
        st->placed = isfinite(st->at.x_m) && isfinite(st->at.y_m);
    }
    return true;
}

/* ---- telemetry ---- */

static void turn_velocity(const struct vda_run *run, const struct velocity *u, double theta_rad,
                          double nu[3])
{
    const uint8_t frame = vda_options(run->pair->options)->velocity_frame;
    nu[0] = frame == VDA_FRAME_SPEED ? hypot(u->vx, u->vy) : u->vx;
    nu[1] = frame == VDA_FRAME_SPEED ? 0.0 : u->vy;
    nu[2] = u->omega;
    if (frame == VDA_FRAME_WORLD) {
        nu[0] = cos(theta_rad) * u->vx + sin(theta_rad) * u->vy;
        nu[1] = cos(theta_rad) * u->vy - sin(theta_rad) * u->vx;
    }
}

/* States and visualizations count their header ids separately, so neither can serve as seq. */
static void emit_sample(const struct vda_run *run, struct vda_state *st)
{
    struct velocity u = {nan(""), nan(""), nan("")};
    struct event e;
    const struct vda_place *at = &st->at;
    codec_begin_event(&e, run->pair, run->message, EVENT_TELEMETRY, run->side);
    struct event_telemetry *t = &e.telemetry;
    t->source_us = st->stamp_us;
    t->pose[0] = at->x_m;
    t->pose[1] = at->y_m;
    t->pose[2] = at->theta_rad;
    t->pose_count = isfinite(at->theta_rad) ? 3 : 2;
    if (is_object(&st->velocity) &&
        !vda_read(run, &st->velocity, velocity_members, COUNT(velocity_members), &u)) {
        return;
    }
    const bool turnable = vda_options(run->pair->options)->velocity_frame != VDA_FRAME_WORLD ||
                          isfinite(at->theta_rad);
    st->speed_mps = hypot(u.vx, u.vy);
    if (isfinite(u.vx) && isfinite(u.vy) && isfinite(u.omega) && turnable) {
        turn_velocity(run, &u, at->theta_rad, t->nu);
        t->nu_count = 3;
    }
    codec_emit(run->pair, &e, run->sink);
}

void vda_receive_visualization(const struct vda_run *run, struct json_scan *s)
{
    struct vda_state st;
    int64_t missing = 0; /* at QoS 0, and nobody waits for them */
    if (!read_state(run, s, &st)) {
        return;
    }
    if (st.stamp_us != LAB_TIME_NONE &&
        vda_is_new(run, &run->v->visualization, st.header, st.stamp_us, &missing) &&
        st.placed) {
        emit_sample(run, &st);
        vda_watch_turn(run, &st);
    }
}

/* ---- errors ---- */

static void emit_fault(const struct vda_run *run, struct event_fault fault)
{
    struct event e;
    codec_begin_event(&e, run->pair, run->message, EVENT_FAULT, run->side);
    e.fault = fault;
    codec_emit(run->pair, &e, run->sink);
}

struct reference {
    struct json_text key, value;
    char name[32], text[VDA_NAME_MAX];
};

struct error {
    struct json_text type, level;
    struct json_scan references;
    size_t count;
    struct reference reference[16];
};

static void insert_reference(struct error *e, const struct reference *r)
{
    size_t k = e->count++;
    while (k > 0 && strcmp(e->reference[k - 1].name, r->name) > 0) {
        e->reference[k] = e->reference[k - 1];
        k--;
    }
    e->reference[k] = *r;
}

/* References are sorted by name, because the same error may list them in any order. */
static bool read_error(const struct vda_run *run, struct json_scan *list, struct error *e)
{
    static const struct vda_member error_members[] = {
        {"errorType", VDA_TEXT, offsetof(struct error, type)},
        {"errorLevel", VDA_TEXT, offsetof(struct error, level)},
        {"errorReferences", VDA_PART, offsetof(struct error, references)},
    };
    static const struct vda_member reference_members[] = {
        {"referenceKey", VDA_TEXT, offsetof(struct reference, key)},
        {"referenceValue", VDA_TEXT, offsetof(struct reference, value)},
    };
    e->count = 0;
    if (!vda_read(run, list, error_members, COUNT(error_members), e)) {
        return false;
    }
    for (bool any = vda_enter(&e->references); any && vda_next(&e->references);) {
        struct reference r;
        if (!vda_read(run, &e->references, reference_members, COUNT(reference_members), &r)) {
            return false;
        }
        vda_copy(&r.key, r.name, sizeof r.name);
        vda_copy(&r.value, r.text, sizeof r.text);
        if (e->count < COUNT(e->reference)) {
            insert_reference(e, &r);
        }
    }
    return true;
}

static uint64_t hash_error(const struct error *e)
{
    uint64_t hash = vda_hash(&e->type);
    for (size_t i = 0; i < e->count; i++) {
        const uint64_t value = vda_hash(&e->reference[i].value);
        hash = hash_bytes(hash, e->reference[i].name, strlen(e->reference[i].name) + 1);
        hash = hash_bytes(hash, &value, sizeof value);
    }
    return hash;
}

/* Lists the references that fit as a whole. Returns the orderId among them. */
static const struct reference *write_about(const struct error *e, char *about, size_t size)
{
    const struct reference *order = NULL;
    size_t used = 0;
    about[0] = '\0';
    for (size_t i = 0; i < e->count; i++) {
        const struct reference *r = &e->reference[i];
        const int n = snprintf(about + used, size - used, "%s%s %s", used > 0 ? ", " : "",
                               r->name, r->text);
        if (n < 0 || (size_t)n >= size - used) {
            about[used] = '\0';
        } else {
            used += (size_t)n;
        }
        order = strcmp(r->name, "orderId") == 0 ? r : order;
    }
    return order;
}

/* Versions write noOrderToCancel and NO_ORDER_TO_CANCEL. */
static bool is_nothing_to_cancel(const char *type)
{
    static const char name[] = "noordertocancel";
    size_t n = 0;
    for (; *type && n < sizeof name; type++) {
        const char lower = (char)(*type >= 'A' && *type <= 'Z' ? *type - 'A' + 'a' : *type);
        if (lower != '_' && lower != ' ' && lower != name[n++]) {
            return false;
        }
    }
    return n == sizeof name - 1;
}

/* An error may be the only answer to a cancelOrder that the vehicle does not carry out. */
static void end_cancel(const struct vda_run *run, const struct error *e, const char *type)
{
    const bool nothing = is_nothing_to_cancel(type);
    struct event_reply reply = {.status = nothing ? REPLY_IGNORED : REPLY_ERROR,
                                .source_us = LAB_TIME_NONE,
                                .source_start_us = LAB_TIME_NONE};
    (void)snprintf(reply.detail, sizeof reply.detail, "%s", type);
    for (size_t i = 0; i < e->count; i++) {
        const struct vda_action *a =
            strcmp(e->reference[i].name, "actionId") == 0
                ? vda_find_action(run->v, vda_hash(&e->reference[i].value))
                : NULL;
        if (a && strcmp(a->op, "cancelOrder") == 0 && (nothing || a->status[0] == '\0')) {
            run->v->cancelled = false;
            if (a->id[0]) {
                vda_reply(run, a->id, reply);
            }
        }
    }
}

/* An error that references an order not yet accepted refuses that order. */
static void emit_error(const struct vda_run *run, const struct error *e)
{
    struct vda_vehicle *v = run->v;
    struct event_fault fault = {.kind = FAULT_ERROR};
    vda_copy(&e->level, fault.level, sizeof fault.level);
    vda_copy(&e->type, fault.detail, sizeof fault.detail);
    const struct reference *order = write_about(e, fault.about, sizeof fault.about);
    const bool refused =
        order && v->ordered && !v->accepted && vda_hash(&order->value) == v->order;
    emit_fault(run, fault);
    end_cancel(run, e, fault.detail);
    if (refused) {
        vda_close(run, REPLY_IGNORED, fault.detail);
        v->ordered = false;
    }
}

static bool has_error(const struct vda_vehicle *v, uint64_t hash)
{
    bool has = false;
    for (size_t i = 0; i < v->error_count; i++) {
        has = has || v->error[i] == hash;
    }
    return has;
}

static bool apply_errors(const struct vda_run *run, struct json_scan list)
{
    uint64_t now[VDA_ERRORS_MAX];
    size_t count = 0;
    for (bool any = vda_enter(&list); any && vda_next(&list);) {
        struct error e;
        if (!read_error(run, &list, &e)) {
            return false;
        }
        const uint64_t hash = hash_error(&e);
        bool reported = has_error(run->v, hash);
        for (size_t i = 0; i < count; i++) {
            reported = reported || now[i] == hash;
        }
        if (!reported) {
            emit_error(run, &e);
        }
        if (count < VDA_ERRORS_MAX) {
            now[count++] = hash;
        }
    }
    memcpy(run->v->error, now, count * sizeof now[0]);
    run->v->error_count = count;
    return true;
}

struct safety {
    struct json_text estop, active;
};

static bool apply_estop(const struct vda_run *run, struct json_scan part)
{
    static const struct vda_member safety_members[] = {
        {"eStop", VDA_TEXT, offsetof(struct safety, estop)},
        {"activeEmergencyStop", VDA_TEXT, offsetof(struct safety, active)}, /* 3.0 */
    };
    struct safety safety;
    struct event_fault fault = {.kind = FAULT_ESTOP};
    char word[VDA_WORD_MAX];
    if (!is_object(&part)) {
        return true;
    }
    if (!vda_read(run, &part, safety_members, COUNT(safety_members), &safety)) {
        return false;
    }
    vda_copy(safety.estop.at ? &safety.estop : &safety.active, word, sizeof word);
    if (word[0] && strcmp(word, run->v->estop) != 0) {
        if (strcmp(word, "NONE") != 0) {
            (void)snprintf(fault.detail, sizeof fault.detail, "%s", word);
            emit_fault(run, fault);
        }
        memcpy(run->v->estop, word, sizeof word);
    }
    return true;
}

static void apply_mode(const struct vda_run *run, const struct json_text *mode)
{
    struct event_fault fault = {.kind = FAULT_MODE};
    char word[VDA_WORD_MAX];
    vda_copy(mode, word, sizeof word);
    if (word[0] && strcmp(word, run->v->mode) != 0) {
        (void)snprintf(fault.detail, sizeof fault.detail, "%s -> %s", run->v->mode, word);
        if (run->v->mode[0]) {
            emit_fault(run, fault);
        }
        memcpy(run->v->mode, word, sizeof word);
    }
}

/* ---- nodes ---- */

struct node_state {
    struct json_text id;
    int64_t at;
};

/* Is the node still to come? A vehicle reports a reached node by no longer listing it. */
static bool is_ahead(const struct vda_run *run, struct json_scan list, uint64_t id, int64_t at)
{
    static const struct vda_member node_members[] = {
        {"nodeId", VDA_TEXT, offsetof(struct node_state, id)},
        {"sequenceId", VDA_WHOLE, offsetof(struct node_state, at)},
    };
    for (bool any = vda_enter(&list); any && vda_next(&list);) {
        struct node_state n;
        if (!vda_read(run, &list, node_members, COUNT(node_members), &n)) {
            return true;
        }
        if (n.at == at && vda_hash(&n.id) == id) {
            return true;
        }
    }
    return false;
}

/* Emits replies for the edges up to the node `at`. If states were lost, or one state skips
 * nodes, the end of an edge is only known as "at this time or before". */
static void emit_reached(const struct vda_run *run, const struct vda_state *st, int64_t at,
                         bool gap)
{
    struct vda_vehicle *v = run->v;
    const bool whole = at - v->last == 2;
    const bool paused = v->paused_us != 0 || v->stopped_us != LAB_TIME_NONE;
    const bool stopped = (v->stood && st->driving == 1) || vda_has_stop(run, st, at - 1);
    for (int64_t q = v->last + 1; q < at; q += 2) {
        const struct vda_step *end = vda_find_step(v, q + 1, false);
        const bool bounded = gap || (!whole && q != at - 1);
        const bool timed = whole && !paused && !stopped && !bounded && !v->vague;
        struct event_reply reply = {.status = REPLY_DONE,
                                    .source_us = st->stamp_us,
                                    .source_start_us = timed ? v->departed_us : LAB_TIME_NONE,
                                    .bounded = bounded,
                                    .uncalibrated = !timed || v->departed_us == LAB_TIME_NONE,
                                    .paused_us = v->paused_us};
        char id[EVENT_ID_MAX];
        (void)snprintf(reply.detail, sizeof reply.detail, "%s", end ? end->name : "");
        vda_leg_id(run, q, -1, id);
        vda_open_edge(run, q);
        vda_reply(run, id, reply);
    }
}

static void apply_nodes(const struct vda_run *run, const struct vda_state *st, bool gap)
{
    struct vda_vehicle *v = run->v;
    const uint64_t id = vda_hash(&st->last_node);
    const struct vda_step *node = vda_find_step(v, st->last_at, false);
    const bool reached = node && node->id == id && node->released && st->last_at > v->last &&
                         !is_ahead(run, st->nodes, id, st->last_at);
    if (reached) {
        if (v->last < 0 && st->last_at > v->origin) { /* the state at the first node was lost */
            v->last = v->origin;
            v->vague = true;
        }
        if (v->last >= 0) {
            emit_reached(run, st, st->last_at, gap);
        }
        v->last = st->last_at;
        v->departed_us = LAB_TIME_NONE;
        v->stopped_us = LAB_TIME_NONE;
        v->paused_us = 0;
        v->stood = false;
        v->vague = gap;
        v->against = false;
        vda_open_edge(run, v->last + 1);
    }
    vda_update_motion(run, st, gap);
}

/* ---- an order that another one has replaced ---- */

/* The vehicle still executes it: emit its edges up to the present node. */
static void emit_progress(const struct vda_run *run, const struct vda_state *st, bool gap)
{
    struct vda_replaced *replaced = &run->v->replaced;
    const int64_t at = st->last_at < replaced->end ? st->last_at : replaced->end;
    if (at > replaced->last && (at - replaced->last) % 2 == 0 &&
        !is_ahead(run, st->nodes, vda_hash(&st->last_node), st->last_at)) {
        vda_reply_replaced(run, at,
                           (struct event_reply){.status = REPLY_DONE,
                                                .source_us = st->stamp_us,
                                                .source_start_us = LAB_TIME_NONE,
                                                .uncalibrated = true,
                                                .bounded = gap});
    }
}

/* The first state that names another order shows how the previous one ended, even if its own
 * last states were lost. A vehicle accepts a new order only after the previous one is completed
 * or cancelled. */
static void close_replaced(const struct vda_run *run, const struct vda_state *st)
{
    struct vda_replaced *replaced = &run->v->replaced;
    const bool done = replaced->trusted && vda_hash(&st->last_node) == replaced->end_node;
    struct event_reply reply = {.status = done ? REPLY_DONE : REPLY_HALTED,
                                .source_us = done ? st->stamp_us : LAB_TIME_NONE,
                                .source_start_us = LAB_TIME_NONE,
                                .uncalibrated = true,
                                .bounded = true};
    (void)snprintf(reply.detail, sizeof reply.detail, "%s", done ? "" : "another order");
    vda_reply_replaced(run, replaced->end, reply);
}

static void apply_replaced(const struct vda_run *run, const struct vda_state *st, bool gap)
{
    struct vda_vehicle *v = run->v;
    const uint64_t order = vda_hash(&st->order);
    if (v->ordered && v->accepted && order != v->order) { /* it executes another order now */
        vda_leave_order(run);
        v->ordered = false;
    }
    if (v->replaced.open && order == v->replaced.order) {
        emit_progress(run, st, gap);
    } else if (v->replaced.open) {
        close_replaced(run, st);
    }
}

/* ---- actions ---- */

static void emit_instant(const struct vda_run *run, const struct vda_state *st,
                         const struct vda_action *a)
{
    struct event e;
    struct event_reply halted = {.source_us = st->stamp_us, .source_start_us = LAB_TIME_NONE};
    const bool finished = strcmp(a->status, "FINISHED") == 0;
    if (finished && strcmp(a->op, "cancelOrder") == 0) {
        vda_close(run, REPLY_HALTED, "cancelOrder");
    } else if (strcmp(a->status, "FAILED") == 0 && strcmp(a->op, "cancelOrder") == 0) {
        run->v->cancelled = false;
    }
    codec_begin_event(&e, run->pair, run->message, EVENT_NOTE, run->side);
    e.note.kind = NOTE_INSTANT;
    e.note.source_us = st->stamp_us;
    memcpy(e.note.detail, a->op, sizeof a->op);
    (void)snprintf(e.note.status, sizeof e.note.status, "%.15s", a->status);
    codec_emit(run->pair, &e, run->sink);
    /* Tandem's own halt gets a reply, too. Other instant actions have no leg with this id. */
    if (finished || strcmp(a->status, "FAILED") == 0) {
        halted.status = finished ? REPLY_DONE : REPLY_ERROR;
        if (a->id[0]) {
            vda_reply(run, a->id, halted);
        }
    }
}

static void open_action(const struct vda_run *run, const struct vda_action *a)
{
    struct event e;
    if (run->pair->repeated || vda_find_opened(run->memory, a->id)) {
        return;
    }
    codec_begin_event(&e, run->pair, run->message, EVENT_COMMAND, SIDE_COUNT);
    memcpy(e.command.id, a->id, sizeof e.command.id);
    (void)snprintf(e.command.op, sizeof e.command.op, "%.15s", a->op);
    (void)vda_add_opened(run->memory, a->id);
    codec_emit(run->pair, &e, run->sink);
}

static void emit_action(const struct vda_run *run, const struct vda_state *st,
                        struct vda_action *a)
{
    const bool works =
        strcmp(a->status, "RUNNING") == 0 || strcmp(a->status, "INITIALIZING") == 0;
    const bool finished = strcmp(a->status, "FINISHED") == 0;
    const bool ended = finished || strcmp(a->status, "FAILED") == 0;
    if (works || ended) {
        open_action(run, a);
    }
    if (works && a->started_us == LAB_TIME_NONE) {
        a->started_us = st->stamp_us;
    }
    if (ended) {
        vda_reply(run, a->id,
                  (struct event_reply){.status = finished ? REPLY_DONE : REPLY_ERROR,
                                       .source_us = st->stamp_us,
                                       .source_start_us = a->started_us});
    }
}

static void apply_actions(const struct vda_run *run, const struct vda_state *st,
                          struct json_scan list)
{
    struct vda_action_state reported;
    for (bool any = vda_enter(&list); any && vda_next_action(run, &list, &reported);) {
        char status[VDA_WORD_MAX];
        struct vda_action *a = vda_add_action(run->v, vda_hash(&reported.id));
        vda_copy(&reported.status, status, sizeof status);
        if (strcmp(status, a->status) == 0) {
            continue;
        }
        memcpy(a->status, status, sizeof status);
        const bool instant = a->id[0] == '\0' || a->instant;
        if (instant && reported.type.at) {
            vda_copy(&reported.type, a->op, sizeof a->op);
        }
        if (instant) {
            emit_instant(run, st, a);
        } else {
            emit_action(run, st, a);
        }
    }
}

/* ---- a state ---- */

static void emit_note(const struct vda_run *run, enum note_kind kind, int64_t count,
                      int64_t source_us)
{
    struct event e;
    codec_begin_event(&e, run->pair, run->message, EVENT_NOTE, run->side);
    e.note.kind = kind;
    e.note.count = count;
    e.note.source_us = source_us;
    if (kind == NOTE_ACCEPTED) {
        (void)snprintf(e.note.id, sizeof e.note.id, "%.47s", run->v->order_id);
    }
    codec_emit(run->pair, &e, run->sink);
}

/* Records where an order of Tandem's would begin. */
static void update_place(struct vda_vehicle *v, const struct vda_state *st)
{
    if (st->placed) {
        v->x_m = st->at.x_m;
        v->y_m = st->at.y_m;
        v->theta_rad = isfinite(st->at.theta_rad) ? st->at.theta_rad : v->theta_rad;
        vda_copy(&st->at.map, v->map, sizeof v->map);
    }
    vda_copy(&st->last_node, v->node_name, sizeof v->node_name);
}

static bool is_empty(struct json_scan list)
{
    return !vda_enter(&list) || !vda_next(&list);
}

void vda_receive_state(const struct vda_run *run, struct json_scan *s)
{
    struct vda_vehicle *v = run->v;
    struct vda_state st;
    int64_t missing = 0;
    if (!read_state(run, s, &st)) {
        return;
    }
    if (!st.order.at || !st.last_node.at || st.last_at < 0 || st.driving < 0 ||
        st.stamp_us == LAB_TIME_NONE) {
        (void)vda_fail(run, FAULT_MISSING_KEY,
                       "orderId, lastNodeId, lastNodeSequenceId, driving and timestamp were "
                       "expected");
        return;
    }
    if (!vda_is_new(run, &v->state, st.header, st.stamp_us, &missing)) {
        emit_note(run, NOTE_STALE, (int64_t)st.header, LAB_TIME_NONE);
        return;
    }
    const bool gap = missing > 0;
    if (gap) {
        emit_note(run, NOTE_MISSING, missing, LAB_TIME_NONE);
    }
    update_place(v, &st);
    vda_update_version(v, &st.version);
    if (st.placed &&
        (st.at.initialized == 1 || (st.at.initialized < 0 && st.at.localized == 1))) {
        emit_sample(run, &st);
    }
    if (!apply_errors(run, st.errors) || !apply_estop(run, st.safety)) {
        return;
    }
    apply_mode(run, &st.mode);
    vda_receive_zones(run, st.zones);
    const bool replaced = v->replaced.open || run->pair->repeated;
    apply_replaced(run, &st, gap);
    if (!v->ordered || vda_hash(&st.order) != v->order || v->step_count == 0) {
        v->heading_rad =
            st.placed && isfinite(st.at.theta_rad) ? st.at.theta_rad : v->heading_rad;
        if (replaced) { /* it may be cancelled nevertheless */
            apply_actions(run, &st, st.actions);
            apply_actions(run, &st, st.instant_actions);
        }
        return;
    }
    if (!v->accepted) {
        v->accepted = true;
        emit_note(run, NOTE_ACCEPTED, 0, st.stamp_us);
    }
    apply_nodes(run, &st, gap);
    if (st.placed) {
        vda_watch_turn(run, &st);
    }
    apply_actions(run, &st, st.actions);
    apply_actions(run, &st, st.instant_actions);
    if (st.placed && isfinite(st.at.theta_rad) && st.driving == 0 && is_empty(st.edges)) {
        v->heading_rad = st.at.theta_rad;
    }
}
