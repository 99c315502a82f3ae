/* logger/codec/vda5050_order.c - orders: the legs that both vehicles of a pair must execute. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "logger/codec/vda5050_parts.h"

/* ---- legs ---- */

struct vda_step *vda_find_step(struct vda_vehicle *v, int64_t at, bool edge)
{
    for (size_t i = 0; i < v->step_count; i++) {
        if (v->step[i].at == at && v->step[i].edge == edge) {
            return &v->step[i];
        }
    }
    return NULL;
}

/* Returns the slot of this sequence id. If all slots are used, the lowest sequence id gives
 * way. */
static struct vda_step *add_step(struct vda_vehicle *v, int64_t at, bool edge)
{
    struct vda_step *known = vda_find_step(v, at, edge);
    if (known) {
        return known;
    }
    if (v->step_count < VDA_STEPS_MAX) {
        return &v->step[v->step_count++];
    }
    struct vda_step *first = &v->step[0];
    for (size_t i = 1; i < v->step_count; i++) {
        first = v->step[i].at < first->at ? &v->step[i] : first;
    }
    return first;
}

/* Tandem's own orders are "<command's id>@<number>". A long id is cut and gets a hash, so that
 * two ids never coincide. */
static void write_leg_id(const struct vda_run *run, const char *order_id, uint64_t order,
                         int64_t at, int rank, char out[EVENT_ID_MAX])
{
    const char *mark = strrchr(order_id, '@');
    char end[32];
    if (run->pair->repeated && mark) {
        (void)snprintf(out, EVENT_ID_MAX, "%.*s", (int)(mark - order_id), order_id);
        return;
    }
    if (rank < 0) {
        (void)snprintf(end, sizeof end, "/%lld", (long long)at);
    } else {
        (void)snprintf(end, sizeof end, "/%lld#%d", (long long)at, rank);
    }
    const int room = EVENT_ID_MAX - 1 - (int)strlen(end);
    if (strlen(order_id) <= (size_t)room) {
        (void)snprintf(out, EVENT_ID_MAX, "%.*s%s", room, order_id, end);
    } else {
        (void)snprintf(out, EVENT_ID_MAX, "%.*s~%08lx%s", room - 9, order_id,
                       (unsigned long)(order & 0xffffffffU), end);
    }
}

void vda_leg_id(const struct vda_run *run, int64_t at, int rank, char out[EVENT_ID_MAX])
{
    write_leg_id(run, run->v->order_id, run->v->order, at, rank, out);
}

struct vda_opened *vda_find_opened(struct vda_memory *memory, const char *id)
{
    const uint64_t hash = hash_text(id);
    const size_t used =
        memory->opened_next < VDA_OPENED_MAX ? memory->opened_next : VDA_OPENED_MAX;
    for (size_t i = 0; i < used; i++) {
        if (memory->opened[i].id == hash) {
            return &memory->opened[i];
        }
    }
    return NULL;
}

struct vda_opened *vda_add_opened(struct vda_memory *memory, const char *id)
{
    struct vda_opened *opened = &memory->opened[memory->opened_next++ % VDA_OPENED_MAX];
    *opened = (struct vda_opened){.id = hash_text(id)};
    return opened;
}

struct vda_action *vda_find_action(struct vda_vehicle *v, uint64_t action)
{
    const size_t used = v->action_next < VDA_ACTIONS_MAX ? v->action_next : VDA_ACTIONS_MAX;
    for (size_t i = 0; i < used; i++) {
        if (v->action[i].action == action) {
            return &v->action[i];
        }
    }
    return NULL;
}

struct vda_action *vda_add_action(struct vda_vehicle *v, uint64_t action)
{
    struct vda_action *a = vda_find_action(v, action);
    if (!a) {
        a = &v->action[v->action_next++ % VDA_ACTIONS_MAX];
        *a = (struct vda_action){.action = action, .at = -1, .started_us = LAB_TIME_NONE};
    }
    return a;
}

/* Finds both ends of an edge, if they are known. */
static bool find_ends(struct vda_vehicle *v, const struct vda_step *edge,
                      const struct vda_step **a, const struct vda_step **b)
{
    *a = vda_find_step(v, edge->at - 1, false);
    *b = vda_find_step(v, edge->at + 1, false);
    return *a && *b && isfinite((*a)->x_m) && isfinite((*b)->x_m);
}

double vda_turn_of(const struct vda_run *run, const struct vda_step *edge)
{
    struct vda_vehicle *v = run->v;
    const struct vda_step *a = NULL;
    const struct vda_step *b = NULL;
    const struct vda_step *before = vda_find_step(v, edge->at - 3, false);
    if (!find_ends(v, edge, &a, &b)) {
        return 0.0;
    }
    const bool turned = before && isfinite(before->x_m);
    const double from_rad =
        turned ? atan2(a->y_m - before->y_m, a->x_m - before->x_m) : v->heading_rad;
    return remainder(atan2(b->y_m - a->y_m, b->x_m - a->x_m) - from_rad, 2.0 * acos(-1.0));
}

/* Computes the motion along an edge: its length (or the distance of its ends) and the turn
 * against the previous edge. False if the length is unknown. */
static bool size_edge(const struct vda_run *run, const struct vda_step *edge,
                      struct event_command *c)
{
    const struct vda_step *a = NULL;
    const struct vda_step *b = NULL;
    c->displacement_m = edge->length_m;
    if (find_ends(run->v, edge, &a, &b)) {
        const double way_m = hypot(b->x_m - a->x_m, b->y_m - a->y_m);
        c->displacement_m = isfinite(edge->length_m) ? edge->length_m : way_m;
        c->rotation_rad = vda_options(run->pair->options)->turns == VDA_TURNS_ON_SPOT
                              ? vda_turn_of(run, edge)
                              : 0.0;
    }
    const bool sized = isfinite(c->displacement_m);
    c->displacement_m = sized ? c->displacement_m : 0.0;
    return sized;
}

/* An edge belongs to the base only with both its nodes. A start that is no longer known was
 * reached long ago. */
static bool is_released(struct vda_vehicle *v, const struct vda_step *edge)
{
    const struct vda_step *start = vda_find_step(v, edge->at - 1, false);
    const struct vda_step *end = vda_find_step(v, edge->at + 1, false);
    return edge->released && (!start || start->released) && end && end->released;
}

void vda_open_edge(const struct vda_run *run, int64_t at)
{
    const struct vda_step *edge = vda_find_step(run->v, at, true);
    char id[EVENT_ID_MAX];
    struct event e;
    if (!edge || !is_released(run->v, edge) || run->pair->repeated) {
        return;
    }
    vda_leg_id(run, at, -1, id);
    if (vda_find_opened(run->memory, id)) {
        return;
    }
    codec_begin_event(&e, run->pair, run->message, EVENT_COMMAND, SIDE_COUNT);
    (void)snprintf(e.command.op, sizeof e.command.op, "go");
    memcpy(e.command.id, id, sizeof e.command.id);
    vda_add_opened(run->memory, id)->unsized = !size_edge(run, edge, &e.command);
    codec_emit(run->pair, &e, run->sink);
}

void vda_reply(const struct vda_run *run, const char *id, struct event_reply reply)
{
    struct vda_opened *opened = vda_find_opened(run->memory, id);
    struct event e;
    if (!opened || opened->answered[run->side]) {
        return;
    }
    opened->answered[run->side] = true;
    codec_begin_event(&e, run->pair, run->message, EVENT_REPLY, run->side);
    e.reply = reply;
    e.reply.commands = -1;
    e.reply.uncalibrated = reply.uncalibrated || opened->unsized;
    (void)snprintf(e.reply.id, sizeof e.reply.id, "%s", id);
    codec_emit(run->pair, &e, run->sink);
}

void vda_close(const struct vda_run *run, enum reply_status status, const char *why)
{
    const struct vda_vehicle *v = run->v;
    char id[EVENT_ID_MAX];
    struct event_reply reply = {.status = status,
                                .source_us = LAB_TIME_NONE,
                                .source_start_us = LAB_TIME_NONE,
                                .uncalibrated = true};
    (void)snprintf(reply.detail, sizeof reply.detail, "%s", why);
    if (v->replaced.open && status == REPLY_HALTED) {
        vda_reply_replaced(run, v->replaced.end, reply);
    }
    if (!v->ordered) {
        return;
    }
    const int64_t stood = v->last >= 0 ? v->last : v->origin >= 0 ? v->origin : 0;
    vda_leg_id(run, stood + 1, -1, id);
    vda_reply(run, id, reply);
}

/* ---- replaced orders ---- */

void vda_reply_replaced(const struct vda_run *run, int64_t to, struct event_reply reply)
{
    struct vda_replaced *replaced = &run->v->replaced;
    const bool bounded = reply.bounded;
    for (int64_t q = replaced->last + 1; q < to; q += 2) {
        char id[EVENT_ID_MAX];
        write_leg_id(run, replaced->order_id, replaced->order, q, -1, id);
        reply.bounded = reply.status == REPLY_DONE && (bounded || q != to - 1);
        vda_reply(run, id, reply);
    }
    replaced->last = to;
    replaced->open = to < replaced->end;
}

void vda_leave_order(const struct vda_run *run)
{
    struct vda_vehicle *v = run->v;
    struct event_reply halted = {.status = REPLY_HALTED,
                                 .source_us = LAB_TIME_NONE,
                                 .source_start_us = LAB_TIME_NONE,
                                 .uncalibrated = true,
                                 .detail = "another order"};
    const struct vda_step *end = NULL;
    for (size_t i = 0; i < v->step_count; i++) {
        const struct vda_step *step = &v->step[i];
        end = !step->edge && step->released && (!end || step->at > end->at) ? step : end;
    }
    const int64_t stood = v->last >= 0 ? v->last : v->origin;
    if (!v->ordered || !end || stood >= end->at) {
        return; /* already completed */
    }
    if (v->replaced.open) { /* no state has arrived since */
        vda_reply_replaced(run, v->replaced.end, halted);
    }
    v->replaced = (struct vda_replaced){.open = true,
                                        .trusted = v->accepted && !v->cancelled,
                                        .order = v->order,
                                        .end_node = end->id,
                                        .last = stood,
                                        .end = end->at};
    memcpy(v->replaced.order_id, v->order_id, sizeof v->replaced.order_id);
}

/* ---- an order ---- */

struct order {
    struct json_text id;
    int64_t update;
    struct json_scan nodes, edges;
};

struct step { /* a node or edge */
    struct json_text id;
    int64_t at;
    int8_t released;
    double length_m;
    struct json_scan position, actions;
};

struct position {
    double x_m, y_m;
};

static const struct vda_member step_members[] = {
    {"nodeId", VDA_TEXT, offsetof(struct step, id)},
    {"edgeId", VDA_TEXT, offsetof(struct step, id)},
    {"sequenceId", VDA_WHOLE, offsetof(struct step, at)},
    {"released", VDA_TRUTH, offsetof(struct step, released)},
    {"length", VDA_REAL, offsetof(struct step, length_m)},
    {"nodePosition", VDA_PART, offsetof(struct step, position)},
    {"actions", VDA_PART, offsetof(struct step, actions)},
};

static bool read_step(const struct vda_run *run, struct json_scan *list, const char *what,
                      struct step *step)
{
    if (!vda_read(run, list, step_members, COUNT(step_members), step)) {
        return false;
    }
    return (step->at >= 0 && step->released >= 0) ||
           vda_fail(run, FAULT_MISSING_KEY, "%s: sequenceId and released were expected", what);
}

/* Checks every step of the list. *out: the last released sequence id; -1: none. */
static bool check_steps(const struct vda_run *run, struct json_scan list, const char *what,
                        int64_t *base)
{
    struct step step;
    *base = -1;
    for (bool any = vda_enter(&list); any && vda_next(&list);) {
        if (!read_step(run, &list, what, &step)) {
            return false;
        }
        *base = step.released && step.at > *base ? step.at : *base;
    }
    return true;
}

/* Steps beyond the base that the new order lacks were the previous horizon: remove them. */
static void drop_horizon(struct vda_vehicle *v, int64_t base)
{
    size_t count = 0;
    for (size_t i = 0; i < v->step_count; i++) {
        if (v->step[i].at <= base) {
            v->step[count++] = v->step[i];
        }
    }
    v->step_count = count;
}

static void merge_node(const struct vda_run *run, struct step *step)
{
    static const struct vda_member members[] = {
        {"x", VDA_REAL, offsetof(struct position, x_m)},
        {"y", VDA_REAL, offsetof(struct position, y_m)},
    };
    struct position p = {nan(""), nan("")};
    if (step->position.begin && json_scan_peek(&step->position) == JSON_KIND_OBJECT) {
        (void)vda_read(run, &step->position, members, COUNT(members), &p);
    }
    struct vda_step *node = add_step(run->v, step->at, false);
    *node = (struct vda_step){.at = step->at,
                              .id = vda_hash(&step->id),
                              .x_m = isfinite(p.y_m) ? p.x_m : nan(""),
                              .y_m = p.y_m,
                              .released = step->released == 1};
    vda_copy(&step->id, node->name, sizeof node->name);
    run->v->origin = run->v->origin < 0 ? step->at : run->v->origin;
}

struct action_head {
    struct json_text id, type, blocking;
};

static const struct vda_member action_members[] = {
    {"actionId", VDA_TEXT, offsetof(struct action_head, id)},
    {"actionType", VDA_TEXT, offsetof(struct action_head, type)},
    {"blockingType", VDA_TEXT, offsetof(struct action_head, blocking)},
};

static void add_order_actions(const struct vda_run *run, struct json_scan list, int64_t at)
{
    int rank = 0;
    for (bool any = vda_enter(&list); any && vda_next(&list); rank++) {
        struct action_head head;
        if (!vda_read(run, &list, action_members, COUNT(action_members), &head)) {
            return;
        }
        char id[EVENT_ID_MAX];
        vda_leg_id(run, at, rank, id);
        struct vda_action *a = vda_add_action(run->v, vda_hash(&head.id));
        if (strcmp(a->id, id) != 0) { /* a master may use an action's id again */
            *a = (struct vda_action){.action = a->action, .started_us = LAB_TIME_NONE};
        }
        memcpy(a->id, id, sizeof a->id);
        vda_copy(&head.type, a->op, sizeof a->op);
        a->at = at;
        a->blocks = !head.blocking.at || (!json_text_is(&head.blocking, "NONE") &&
                                          !json_text_is(&head.blocking, "SINGLE"));
    }
}

/* False: it is released, but one of its nodes is not. */
static bool merge_edge(const struct vda_run *run, const struct step *step)
{
    struct vda_step *edge = add_step(run->v, step->at, true);
    *edge = (struct vda_step){.at = step->at,
                              .edge = true,
                              .length_m = step->length_m,
                              .released = step->released == 1};
    const bool dropped =
        run->v->step_count == VDA_STEPS_MAX && !vda_find_step(run->v, step->at + 1, false);
    return !edge->released || dropped || is_released(run->v, edge);
}

static void merge_nodes(const struct vda_run *run, struct json_scan list)
{
    struct step step;
    for (bool any = vda_enter(&list); any && vda_next(&list);) {
        if (!vda_read(run, &list, step_members, COUNT(step_members), &step)) {
            return;
        }
        merge_node(run, &step);
        add_order_actions(run, step.actions, step.at);
    }
}

/* Reports the first edge that is released without its nodes. It counts as not released. */
static void merge_edges(const struct vda_run *run, struct json_scan list)
{
    struct step step;
    bool fine = true;
    for (bool any = vda_enter(&list); any && vda_next(&list);) {
        if (!vda_read(run, &list, step_members, COUNT(step_members), &step)) {
            return;
        }
        if (!merge_edge(run, &step) && fine) {
            char name[VDA_NAME_MAX];
            vda_copy(&step.id, name, sizeof name);
            fine = vda_fail(run, FAULT_INCONSISTENT,
                            "edge '%s' is released: both its nodes were expected to be", name);
        }
        add_order_actions(run, step.actions, step.at);
    }
}

static void begin_order(const struct vda_run *run, const struct order *o)
{
    struct vda_vehicle *v = run->v;
    vda_leave_order(run);
    v->ordered = true;
    v->cancelled = false;
    v->accepted = false;
    v->order = vda_hash(&o->id);
    vda_copy(&o->id, v->order_id, sizeof v->order_id);
    v->origin = -1;
    v->last = -1;
    v->step_count = 0;
    v->departed_us = LAB_TIME_NONE;
    v->stopped_us = LAB_TIME_NONE;
    v->paused_us = 0;
    v->stood = false;
    v->vague = false;
    for (size_t i = 0; i < VDA_ACTIONS_MAX; i++) {
        v->action[i].at = -1;
    }
}

void vda_receive_order(const struct vda_run *run, struct json_scan *s)
{
    static const struct vda_member members[] = {
        {"orderId", VDA_TEXT, offsetof(struct order, id)},
        {"orderUpdateId", VDA_WHOLE, offsetof(struct order, update)},
        {"nodes", VDA_PART, offsetof(struct order, nodes)},
        {"edges", VDA_PART, offsetof(struct order, edges)},
    };
    struct vda_vehicle *v = run->v;
    struct order o;
    int64_t base = -1;
    int64_t edges = -1;
    if (!vda_read(run, s, members, COUNT(members), &o)) {
        return;
    }
    if (!o.id.at || o.update < 0) {
        (void)vda_fail(run, FAULT_MISSING_KEY, "orderId and orderUpdateId were expected");
        return;
    }
    const bool same = v->ordered && v->order == vda_hash(&o.id);
    if (same && o.update <= v->update) {
        return; /* a repetition */
    }
    if (!check_steps(run, o.nodes, "nodes", &base) ||
        !check_steps(run, o.edges, "edges", &edges)) {
        return;
    }
    if (base < 0) {
        (void)vda_fail(run, FAULT_UNEXPECTED_VALUE, "nodes: the first one is to be released");
        return;
    }
    if (!same) {
        begin_order(run, &o);
    }
    v->update = o.update;
    drop_horizon(v, base);
    merge_nodes(run, o.nodes);
    merge_edges(run, o.edges);
    if (run->side == SIDE_REAL && vda_options(run->pair->options)->mirror &&
        !run->pair->repeated) {
        vda_mirror(run, "order", (struct json_scan){.begin = NULL},
                   &run->memory->vehicle[SIDE_VIRTUAL].sent_orders);
    }
    vda_open_edge(run, (v->last >= 0 ? v->last : v->origin) + 1);
}

/* ---- instant actions ---- */

/* Version 2.1 calls the list `actions`, version 2.0 `instantActions`. */
struct instant {
    struct json_scan actions, old;
};

void vda_receive_instant_actions(const struct vda_run *run, struct json_scan *s)
{
    static const struct vda_member members[] = {
        {"actions", VDA_PART, offsetof(struct instant, actions)},
        {"instantActions", VDA_PART, offsetof(struct instant, old)},
    };
    struct instant i;
    bool changed = false;
    if (!vda_read(run, s, members, COUNT(members), &i)) {
        return;
    }
    const struct json_scan whole = i.actions.begin ? i.actions : i.old;
    struct json_scan list = whole;
    if (!list.begin) {
        (void)vda_fail(run, FAULT_MISSING_KEY, "'actions', or 'instantActions', is missing");
        return;
    }
    for (bool any = vda_enter(&list); any && vda_next(&list);) {
        struct action_head head;
        if (!vda_read(run, &list, action_members, COUNT(action_members), &head)) {
            return;
        }
        const uint64_t id = vda_hash(&head.id);
        changed = changed || !vda_find_action(run->v, id);
        struct vda_action *a = vda_add_action(run->v, id);
        vda_copy(&head.type, a->op, sizeof a->op);
        run->v->cancelled = run->v->cancelled || strcmp(a->op, "cancelOrder") == 0;
    }
    if (changed && run->side == SIDE_REAL && vda_options(run->pair->options)->mirror &&
        !run->pair->repeated) {
        vda_mirror(run, "instantActions", whole,
                   &run->memory->vehicle[SIDE_VIRTUAL].sent_actions);
    }
}
