#include "service/engine/ownership.h"

#include <string.h>

ENUM_NAMES(ownership_state, OWNERSHIP_STATE_COUNT, "following", "taking", "refilling", "owning",
           "asking", "lost", "handing_over", "stopped");
ENUM_NAMES(ownership_alarm, OWNERSHIP_ALARM_COUNT, "quiet", "taken_from_us",
           "database_went_back", "lines_differ", "not_durable", "no_follower");

/* One step: what it is about, and what comes of it. */
struct step {
    struct ownership *o;
    const struct ownership_params *params;
    const struct ownership_event *event;
    struct ownership_actions *actions;
};

static bool is_same_lease(const struct fence_lease *a, const struct fence_lease *b)
{
    return strcmp(a->text, b->text) == 0;
}

static size_t count_lines(int64_t n)
{
    return n < 0 ? 0 : n > FENCE_LINES_MAX ? FENCE_LINES_MAX : (size_t)n;
}

enum status ownership_init(struct ownership *ownership, const struct ownership_params *params,
                           int64_t own_n)
{
    if (params->renew_us <= 0 || params->safe_us <= params->renew_us ||
        params->take_us <= params->safe_us || params->follow_us <= 0 || own_n < 0) {
        return STATUS_E_ARG;
    }
    *ownership = (struct ownership){.state = OWNERSHIP_FOLLOWING,
                                    .n = own_n,
                                    .durable = true,
                                    .t_us = LAB_TIME_NONE,
                                    .success_lab_us = LAB_TIME_NONE,
                                    .reading_us = LAB_TIME_MAX,
                                    .hurry = true};
    return STATUS_OK;
}

/* --- requests ---------------------------------------------------------------------------- */

static void send_request(struct step *s, const struct fence_request *request)
{
    s->o->request = *request;
    s->o->running = true;
    s->o->hurry = false;
    s->o->started_us = s->event->boot_us;
    s->actions->request = *request;
}

static void request_write(struct step *s, size_t lines, enum fence_source source)
{
    const int64_t t_us = s->event->lab_us > s->o->t_us ? s->event->lab_us : s->o->t_us;
    send_request(s, &(struct fence_request){.statement = FENCE_WRITE,
                                            .lease = s->o->lease,
                                            .n = s->o->n,
                                            .t_us = t_us,
                                            .lines = lines,
                                            .source = source});
}

static void request_follow(struct step *s)
{
    send_request(s, &(struct fence_request){.statement = FENCE_FOLLOW, .n = s->event->own_n});
}

static void request_ask(struct step *s)
{
    send_request(s, &(struct fence_request){.statement = FENCE_ASK,
                                            .lease = s->o->lease,
                                            .next = s->o->asked,
                                            .n = s->o->n,
                                            .lines = s->o->doubt,
                                            .source = s->o->doubt_source,
                                            .refill = s->o->resume == OWNERSHIP_REFILLING});
}

/* Requests the statement that the state needs next. None runs now. */
static void request_next(struct step *s)
{
    struct ownership *o = s->o;
    const int64_t now_us = s->event->boot_us;
    const bool is_due = o->hurry || now_us - o->started_us >= s->params->follow_us;
    const bool must_renew = now_us - o->success_us >= s->params->renew_us;
    switch (o->state) {
    case OWNERSHIP_FOLLOWING:
        if (is_due) {
            request_follow(s);
        }
        break;
    case OWNERSHIP_TAKING:
        if (must_renew) {
            request_write(s, 0, FENCE_WAITING);
        } else if (is_due) {
            request_follow(s);
        }
        break;
    case OWNERSHIP_REFILLING:
        request_write(s, count_lines(s->event->own_n - o->n), FENCE_OWN_LINES);
        break;
    case OWNERSHIP_OWNING:
        if (s->event->waiting > 0 || must_renew) {
            request_write(s, count_lines((int64_t)s->event->waiting), FENCE_WAITING);
        }
        break;
    case OWNERSHIP_HANDING_OVER:
        if (s->event->waiting > 0) {
            request_write(s, count_lines((int64_t)s->event->waiting), FENCE_WAITING);
        } else {
            o->yielding = true;
            send_request(s,
                         &(struct fence_request){.statement = FENCE_YIELD, .lease = o->lease});
        }
        break;
    case OWNERSHIP_ASKING:
        if (is_due) {
            request_ask(s);
        }
        break;
    case OWNERSHIP_LOST:
    case OWNERSHIP_STOPPED:
    case OWNERSHIP_STATE_COUNT:
    default:
        break;
    }
}

/* --- changes of state -------------------------------------------------------------------- */

static void lose_lease(struct step *s, enum ownership_alarm alarm)
{
    s->o->state = OWNERSHIP_LOST;
    s->actions->close_mqtt = true;
    s->actions->roll_back = true;
    s->actions->alarm = alarm;
}

static void stop_for_good(struct step *s)
{
    s->o->state = OWNERSHIP_STOPPED;
    s->actions->close_mqtt = true;
    s->actions->alarm = OWNERSHIP_LINES_DIFFER;
}

/* The new lease refuses whatever was sent under the old one and may still run. */
static void begin_asking(struct step *s, size_t doubt, enum fence_source source)
{
    struct ownership *o = s->o;
    o->resume = o->state;
    o->state = OWNERSHIP_ASKING;
    o->asked = s->event->fresh;
    o->doubt = doubt;
    o->doubt_source = source;
    o->hurry = true;
}

static void begin_following(struct step *s)
{
    s->o->state = OWNERSHIP_FOLLOWING;
    s->o->watched = (struct fence_row){.epoch = -1};
    s->o->reading_us = LAB_TIME_MAX;
    s->o->hurry = true;
}

/* Notes whether commits wait for a standby, and raises the alarm when they no longer do. */
static void set_durable(struct step *s, bool durable)
{
    if (s->o->durable && !durable) {
        s->actions->alarm = OWNERSHIP_NOT_DURABLE;
    }
    s->o->durable = durable;
}

/* The lines of a write are durable. */
static void add_durable(struct step *s, size_t lines, enum fence_source source)
{
    struct ownership *o = s->o;
    o->n += (int64_t)lines;
    if (source == FENCE_OWN_LINES) {
        if (o->n >= s->event->own_n) {
            begin_asking(s, 0, FENCE_WAITING); /* it also ends the state `refill` of the row */
            o->resume = OWNERSHIP_TAKING;
        }
        return;
    }
    s->actions->durable = lines;
    if (source == FENCE_TAKE_LINE && lines > 0) {
        o->state = OWNERSHIP_OWNING;
        o->was_owner = true;
        s->actions->open_mqtt = true;
    }
}

/* --- results ------------------------------------------------------------------------------ */

/* Follows what others do to the row. True: it may be taken. */
static bool watch_row(struct step *s)
{
    struct ownership *o = s->o;
    const struct fence_row *row = &s->event->result.row;
    const int64_t now_us = s->event->boot_us;
    if (o->reading_us == LAB_TIME_MAX || now_us - o->read_us > s->params->safe_us) {
        /* After a pause the owner gets its time again: the database may have paused, too. */
        o->reading_us = now_us;
        o->watched_us = now_us;
    }
    o->read_us = now_us;
    if (!is_same_lease(&row->lease, &o->watched.lease) || row->beat != o->watched.beat ||
        row->epoch != o->watched.epoch) {
        o->watched_us = now_us;
    }
    o->watched = *row;
    if (row->epoch > o->epoch) {
        o->was_owner = false;
    } else if (row->epoch < o->epoch || row->n < o->n) {
        s->actions->alarm = OWNERSHIP_WENT_BACK;
        /* Whoever owned in the state that is gone may still send for a while. */
        o->reading_us = now_us;
        o->watched_us = now_us;
    }
    o->epoch = row->epoch;
    o->n = row->n;
    /* A row that went back to `released` may have an owner, for safe_us at most. */
    if (row->released && now_us - o->reading_us >= s->params->safe_us &&
        !is_same_lease(&row->lease, &o->yielded)) {
        return true;
    }
    /* The last owner has all lines that were durable; a follower that is ahead may lack some.
     */
    const bool is_second = s->event->own_n > row->n && !o->was_owner;
    return now_us - o->watched_us >= s->params->take_us * (is_second ? 2 : 1);
}

static void finish_follow(struct step *s)
{
    struct ownership *o = s->o;
    const struct fence_result *result = &s->event->result;
    if (result->answer != FENCE_ROW) {
        o->reading_us = LAB_TIME_MAX;
        return;
    }
    set_durable(s, result->durable);
    if (!result->durable) {
        o->reading_us = LAB_TIME_MAX; /* what it read may go away again */
        return;
    }
    if (!result->same) {
        stop_for_good(s);
        return;
    }
    o->hurry = s->event->own_n < result->row.n;
    if (o->state == OWNERSHIP_FOLLOWING) {
        if (watch_row(s)) {
            send_request(s, &(struct fence_request){.statement = FENCE_TAKE,
                                                    .lease = result->row.lease,
                                                    .next = s->event->fresh,
                                                    .beat = result->row.beat,
                                                    .refill = s->event->own_n > o->n});
        }
    } else if (s->event->own_n == o->n) {
        request_write(s, 1, FENCE_TAKE_LINE);
    }
}

static void finish_take(struct step *s)
{
    struct ownership *o = s->o;
    const struct fence_result *result = &s->event->result;
    if (result->answer != FENCE_ROW) {
        /* If it was stored after all, nobody uses this lease: it is a row that does not change.
         */
        begin_following(s);
        return;
    }
    o->lease = o->request.next;
    o->yielded = (struct fence_lease){""};
    o->epoch = result->row.epoch;
    o->n = result->row.n;
    o->t_us = result->row.t_us;
    o->yielding = false;
    o->success_lab_us = LAB_TIME_NONE;
    o->success_us = o->started_us;
    o->hurry = true;
    o->state = o->request.refill ? OWNERSHIP_REFILLING : OWNERSHIP_TAKING;
    set_durable(s, result->durable);
    if (!result->durable) {
        begin_asking(s, 0, FENCE_WAITING);
    }
}

static void finish_write(struct step *s)
{
    struct ownership *o = s->o;
    const struct fence_result *result = &s->event->result;
    if (result->answer == FENCE_ROW) {
        set_durable(s, result->durable);
    }
    if (result->answer != FENCE_ROW || !result->durable) {
        begin_asking(s, o->request.lines, o->request.source);
        return;
    }
    o->success_us = o->started_us;
    o->success_lab_us = o->request.t_us;
    o->t_us = o->request.t_us;
    o->hurry = true;
    add_durable(s, o->request.lines, o->request.source);
}

static void finish_ask(struct step *s)
{
    struct ownership *o = s->o;
    const struct fence_result *result = &s->event->result;
    if (result->answer == FENCE_FAILED) {
        return;
    }
    if (result->answer == FENCE_NO_ROW) {
        lose_lease(s, result->row.epoch > o->epoch ? OWNERSHIP_TAKEN_FROM_US
                                                   : OWNERSHIP_WENT_BACK);
        return;
    }
    set_durable(s, result->durable);
    if (!result->durable) {
        return; /* once a commit waits for a standby, all before it are there, too */
    }
    const int64_t missing = result->row.n - o->n;
    if (missing < 0) {
        lose_lease(s, OWNERSHIP_WENT_BACK);
        return;
    }
    if (missing > 0 && (missing != (int64_t)o->doubt || !result->same)) {
        stop_for_good(s);
        return;
    }
    o->lease = o->asked;
    o->success_us = o->started_us;
    o->t_us = result->row.t_us > o->t_us ? result->row.t_us : o->t_us;
    o->state = o->resume;
    o->hurry = true;
    if (missing > 0) {
        add_durable(s, o->doubt, o->doubt_source);
    }
}

static void finish_statement(struct step *s)
{
    s->o->running = false;
    switch (s->o->request.statement) {
    case FENCE_FOLLOW:
        finish_follow(s);
        break;
    case FENCE_TAKE:
        finish_take(s);
        break;
    case FENCE_ASK:
        finish_ask(s);
        break;
    case FENCE_WRITE:
        finish_write(s);
        break;
    case FENCE_YIELD:
        /* Nothing depends on its answer: nothing was sent since, and nothing will be. */
        s->o->yielded = s->o->lease;
        lose_lease(s, OWNERSHIP_QUIET);
        break;
    case FENCE_NONE:
    default:
        break;
    }
}

static void hand_over(struct step *s)
{
    if (s->o->state != OWNERSHIP_OWNING) {
        return;
    }
    if (s->event->follower_n < s->o->n - FENCE_LINES_MAX) {
        s->actions->alarm = OWNERSHIP_NO_FOLLOWER;
        return;
    }
    s->o->state = OWNERSHIP_HANDING_OVER;
    s->actions->close_mqtt = true;
}

void ownership_step(struct ownership *ownership, const struct ownership_params *params,
                    const struct ownership_event *event, struct ownership_actions *actions)
{
    struct step s = {ownership, params, event, actions};
    *actions = (struct ownership_actions){0};
    if (event->kind == OWNERSHIP_RESULT && ownership->running) {
        finish_statement(&s);
    } else if (event->kind == OWNERSHIP_ROLLED_BACK && ownership->state == OWNERSHIP_LOST) {
        begin_following(&s);
    } else if (event->kind == OWNERSHIP_HAND_OVER) {
        hand_over(&s);
    }
    /* Lines that have become durable leave the caller's queue first: see event->waiting. */
    if (!ownership->running && actions->durable == 0) {
        request_next(&s);
    }
}

void ownership_shorten(struct ownership *ownership, size_t lines)
{
    ownership->request.lines = lines;
}

/* --- questions ---------------------------------------------------------------------------- */

static bool holds_lease(const struct ownership *o, const struct ownership_params *params,
                        int64_t boot_us)
{
    const enum ownership_state state = o->state == OWNERSHIP_ASKING ? o->resume : o->state;
    return (state == OWNERSHIP_OWNING || (state == OWNERSHIP_HANDING_OVER && !o->yielding)) &&
           boot_us - o->success_us < params->safe_us;
}

bool ownership_may_send(const struct ownership *ownership,
                        const struct ownership_params *params, int64_t boot_us,
                        int64_t deadline_us)
{
    return holds_lease(ownership, params, boot_us) && deadline_us <= ownership->success_lab_us;
}

bool ownership_may_connect(const struct ownership *ownership,
                           const struct ownership_params *params, int64_t boot_us)
{
    return holds_lease(ownership, params, boot_us) &&
           ownership->state != OWNERSHIP_HANDING_OVER &&
           !(ownership->state == OWNERSHIP_ASKING &&
             ownership->resume == OWNERSHIP_HANDING_OVER);
}
