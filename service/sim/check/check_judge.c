/* service/sim/check/check_judge.c - compares a robot's messages with the pages of the protocol,
 * rule by rule. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "base/numbers/hash.h"
#include "base/text/text.h"
#include "logger/message/codec_native.h"
#include "service/sim/check/check_parts.h"

static const double LATE_S = 0.5;              /* longest time to halt */
static const double ON_M = 0.1, ON_RAD = 0.35; /* largest coasting distance after a halt */
static const double LIKE = 1.6;                /* numbers this close have one unit */
static const double AWRY_RATIO = 0.35;         /* tolerance, ratio of the move */
static const double ECHO_S = 0.5;              /* "at once", network time included */
static const double CLOCKS_S = 2.0;            /* stamps of one clock, network included */
static const double LONG_S = 0.3;              /* least time to judge a clock's pace */

struct rule {
    const char *page, *text;
};

#include "service/sim/check/check_rules.def"

struct judge {
    const struct check_options *o;
    const struct check_received *h;
    struct check_findings *out;
    double pace; /* s per s, pace of the clock in replies; NaN: unknown */
};

__attribute__((format(printf, 5, 6))) static void
add_finding(struct judge *j, enum check_state state, const char *what, const struct rule *rule,
            const char *format, ...)
{
    if (j->out->count == CHECK_FINDINGS) {
        return;
    }
    struct check_finding *f = &j->out->finding[j->out->count++];
    f->state = state;
    f->what = what;
    f->rule = rule->text;
    f->document = rule->page;
    f->term[0] = '\0';
    TEXT_FORMAT(f->detail, sizeof f->detail, format);
}

/* A finding of each state about `what`, by this rule, in the words of a format. */
#define RIGHT(j, what, rule, ...) add_finding(j, CHECK_RIGHT, what, &rule_##rule, __VA_ARGS__)
#define MISSING(j, what, rule, ...)                                                            \
    add_finding(j, CHECK_MISSING, what, &rule_##rule, __VA_ARGS__)
#define WRONG(j, what, rule, ...) add_finding(j, CHECK_WRONG, what, &rule_##rule, __VA_ARGS__)
#define UNTRIED(j, what, rule, ...)                                                            \
    add_finding(j, CHECK_UNTRIED, what, &rule_##rule, __VA_ARGS__)

/* ---- units --------------------------------------------------------------------------------
 */

struct unit {
    double factor;
    const char *name;
};

static const struct unit time_units[] = {{1.0, "s"}, {1e3, "ms"}, {1e6, "us"}, {1e9, "ns"}};
static const struct unit distance_units[] = {{1.0, "m"}, {100.0, "cm"}, {1000.0, "mm"}};
static const struct unit angle_units[] = {{1.0, "rad"}, {180.0 / PI, "degrees"}};

/* Finds the unit that explains this ratio of a number to its due value; NULL: none. */
static const struct unit *find_unit(const struct unit *units, size_t count, double ratio)
{
    for (size_t i = 0; i < count; i++) {
        if (ratio > units[i].factor / LIKE && ratio < units[i].factor * LIKE) {
            return &units[i];
        }
    }
    return NULL;
}

/* ---- presence -----------------------------------------------------------------------------
 */

static void judge_presence(struct judge *j)
{
    const struct check_received *h = j->h;
    const char *boot = h->connection.boot[0] ? h->connection.boot : h->boot;
    if (!h->has_connection && h->malformed[WORD_CONNECTION] == 0) {
        MISSING(j, "connection", retained, "the %s robot publishes none",
                side_name(j->o->side));
    } else if (h->has_connection && !h->connection.online) {
        WRONG(j, "connection", retained, "it publishes offline");
    } else if (h->has_connection && !h->connection_retained && j->o->retains) {
        WRONG(j, "connection", retained,
              "online, but not retained: later clients do not receive it");
    } else if (h->has_connection) {
        RIGHT(j, "connection", retained, "online%s",
              h->connection_retained ? ", retained" : "");
    }
    if (!boot[0]) {
        MISSING(j, "boot", boot,
                "no mark in connection or telemetry: a restart cannot be detected");
    } else if (h->boot[0] && h->connection.boot[0] &&
               strcmp(h->boot, h->connection.boot) != 0) {
        WRONG(j, "boot", boot, "\"%s\" in its connection, \"%s\" in telemetry",
              h->connection.boot, h->boot);
    } else {
        RIGHT(j, "boot", boot, "\"%s\"", boot);
    }
}

static void judge_messages(struct judge *j)
{
    static const char *const retained[CHECK_WORD_COUNT] = {
        "reply.retained", "telemetry.retained", "echo.retained", "parameters.retained", ""};
    for (size_t k = 0; k < CHECK_WORD_COUNT; k++) {
        if (j->h->retained[k] > 0) {
            WRONG(j, retained[k], retain, "the broker sends an old %s to every new client",
                  names_text(&check_word_names, k));
        }
        if (j->h->malformed[k] > 0) {
            WRONG(j, "malformed", form, "%s (%zu times)", j->h->fault[k], j->h->malformed[k]);
        }
    }
}

/* ---- one reply for each command -----------------------------------------------------------
 */

static bool is_received(const struct judge *j, enum check_talk talk)
{
    return j->h->asked[talk].count > 0;
}

static const struct event_reply *reply_to(const struct judge *j, enum check_talk talk)
{
    return &j->h->asked[talk].replies[0].reply;
}

static const char *status_of(const struct judge *j, enum check_talk talk)
{
    return names_text(&reply_status_names, reply_to(j, talk)->status);
}

static void judge_counts(struct judge *j)
{
    size_t fine = 0;
    size_t asked = 0;
    for (size_t i = 0; i < TALK_COUNT; i++) {
        const struct check_asked *a = &j->h->asked[i];
        asked += a->sent_us != LAB_TIME_NONE;
        fine += a->sent_us != LAB_TIME_NONE && a->count == 1;
        if (a->sent_us != LAB_TIME_NONE && a->count == 0) {
            WRONG(j, "reply", one, "none to \"%s\" within %g s",
                  names_text(&check_talk_names, i), j->o->timeout_s);
        } else if (a->count > 1) {
            WRONG(j, "reply.twice", one, "%zu to \"%s\": %s, then %s", a->count,
                  names_text(&check_talk_names, i),
                  names_text(&reply_status_names, a->replies[0].reply.status),
                  names_text(&reply_status_names, a->replies[1].reply.status));
        }
    }
    if (fine == asked) {
        RIGHT(j, "reply", one, "one to each of %zu commands", asked);
    }
}

static void judge_ids(struct judge *j)
{
    size_t without = 0;
    size_t lossy = 0;
    size_t all = 0;
    for (size_t i = 0; i < TALK_COUNT; i++) {
        for (size_t k = 0; k < j->h->asked[i].count && k < CHECK_REPLIES; k++) {
            without += !j->h->asked[i].replies[k].reply.id[0];
            lossy += j->h->asked[i].replies[k].qos == 0;
            all++;
        }
    }
    if (j->h->strangers > 0) {
        WRONG(j, "reply.id", ids,
              "%zu replies to \"%s\" and the like, which is no command of this check",
              j->h->strangers, j->h->stranger);
    } else if (without > 0) {
        MISSING(j, "reply.id", ids,
                "%zu of %zu replies have none: they count as answers to the oldest command",
                without, all);
    } else if (all > 0) {
        RIGHT(j, "reply.id", ids, "that of its command");
    }
    if (lossy > 0) {
        MISSING(j, "reply.qos", qos,
                "%zu of %zu replies came with QoS 0: one that is lost is a timeout", lossy,
                all);
    } else if (all > 0) {
        RIGHT(j, "reply.qos", qos, "1");
    }
}

/* ---- clocks -------------------------------------------------------------------------------
 */

struct stamps { /* First and last stamp of one kind of messages. */
    size_t count, without;
    int64_t source_us[2], at_us[2];
};

static void add_stamp(struct stamps *s, int64_t source_us, int64_t at_us)
{
    if (source_us == LAB_TIME_NONE) {
        s->without++;
        return;
    }
    if (s->count++ == 0) {
        s->source_us[0] = source_us;
        s->at_us[0] = at_us;
    }
    s->source_us[1] = source_us;
    s->at_us[1] = at_us;
}

/* Returns the seconds per second of a clock; NaN with a finding for another unit. */
static double judge_pace(struct judge *j, const char *what, const struct stamps *s)
{
    const double own_s = lab_s(s->source_us[1] - s->source_us[0]);
    const double ours_s = lab_s(s->at_us[1] - s->at_us[0]);
    if (s->count < 2 || ours_s < LONG_S) {
        return nan("");
    }
    const struct unit *unit = find_unit(time_units, COUNT(time_units), own_s / ours_s);
    if (unit && unit->factor > 1.0) {
        WRONG(j, what, clock, "%g in %.3g s: are these %s? seconds were expected", own_s,
              ours_s, unit->name);
        return nan("");
    }
    if (!unit) {
        WRONG(j, what, sim, "the clock went on by %g s in %.3g s", own_s, ours_s);
        return nan("");
    }
    return own_s / ours_s;
}

static struct stamps stamps_of_replies(const struct judge *j)
{
    struct stamps s = {0};
    for (size_t i = 0; i < TALK_COUNT; i++) {
        /* A command that was not executed has no duration in some protocols. */
        if (is_received(j, (enum check_talk)i) &&
            (!j->o->foreign || reply_to(j, (enum check_talk)i)->status == REPLY_DONE)) {
            add_stamp(&s, reply_to(j, (enum check_talk)i)->source_us,
                      j->h->asked[i].replies[0].at_us);
        }
    }
    return s;
}

/* Judges both stamps of a move and its duration. */
static void judge_motion(struct judge *j)
{
    const struct check_asked *a = &j->h->asked[TALK_GO];
    const struct event_reply *r = &a->replies[0].reply;
    if (a->count == 0 || r->source_us == LAB_TIME_NONE) {
        return;
    }
    if (r->source_start_us == LAB_TIME_NONE) {
        MISSING(j, "reply.t_start", start,
                "without it the lap counts, the network's way with it");
        return;
    }
    const double motion_s = lab_s(r->source_us - r->source_start_us);
    const double lap_s = lab_s(a->replies[0].at_us - a->sent_us);
    if (isnan(j->pace)) {
        return; /* in a unit of its own, or unknown */
    }
    if (motion_s < 0.0 || motion_s > lap_s * 1.05 + 0.05) {
        WRONG(j, "reply.t_start", start,
              "t - t_start is %.3f s, and the reply came after %.3f s", motion_s, lap_s);
    } else {
        RIGHT(j, "reply.t_start", start, "the move took %.3f s of %.3f s until the reply",
              motion_s, lap_s);
    }
}

static void judge_stamps(struct judge *j)
{
    const struct stamps s = stamps_of_replies(j);
    if (s.count + s.without == 0) {
        return;
    }
    if (s.without > 0) {
        MISSING(j, "reply.t", end,
                "%zu of %zu replies have none: laps bear the network's delays", s.without,
                s.count + s.without);
        j->pace = nan("");
    } else {
        j->pace = judge_pace(j, "reply.t", &s);
    }
    if (!isnan(j->pace)) {
        const bool unix_epoch = llabs(s.source_us[1] - s.at_us[1]) < INT64_C(86400000000);
        RIGHT(j, "reply.t", end, "in seconds, %s",
              unix_epoch ? "since the Unix epoch" : "from an origin of its own");
    }
    judge_motion(j);
}

/* Compares the stamps of one kind of message with those of replies. */
static void judge_same_clock(struct judge *j, const char *what, const struct stamps *s)
{
    const struct stamps replies = stamps_of_replies(j);
    const double apart_s =
        lab_s((s->source_us[1] - s->at_us[1]) - (replies.source_us[1] - replies.at_us[1]));
    if (s->count > 0 && replies.count > 0 && !isnan(j->pace) && fabs(apart_s) > CLOCKS_S) {
        WRONG(j, what, clock, "another clock than that of the replies, %g s apart", apart_s);
    }
}

/* Judges one answer to a probe; whole: its stamps are in seconds. */
static void judge_echo(struct judge *j, const struct check_probe *p, bool whole)
{
    const double stay_s = lab_s(p->echo.source_us - p->echo.source_received_us);
    const double round_s = lab_s(p->at_us - p->sent_us);
    if (p->count > 1) {
        WRONG(j, "echo", echo, "%zu answers to one probe", p->count);
    } else if (round_s > ECHO_S) {
        WRONG(j, "echo", echo, "after %.3f s", round_s);
    } else if (whole && (stay_s < 0.0 || stay_s > round_s * 1.05 + 0.001)) {
        WRONG(j, "echo", echo, "t - t_received is %g s of %.3f s there and back", stay_s,
              round_s);
    }
}

static void judge_echoes(struct judge *j)
{
    const struct check_probe *last = NULL;
    const size_t before = j->out->count;
    struct stamps s = {0};
    for (size_t i = 0; i < CHECK_PROBES; i++) {
        const struct check_probe *p = &j->h->probes[i];
        if (p->count > 0) {
            add_stamp(&s, p->echo.source_us, p->at_us);
            last = p;
        }
    }
    if (!last && j->h->malformed[WORD_ECHO] == 0) {
        MISSING(j, "echo", echo,
                "no answer to a probe: its clock is known by its stamps alone");
    }
    if (!last) {
        return;
    }
    const bool whole = !isnan(judge_pace(j, "echo.t", &s));
    if (whole) {
        judge_same_clock(j, "echo.t", &s);
    }
    for (size_t i = 0; i < CHECK_PROBES; i++) {
        if (j->h->probes[i].count > 0) {
            judge_echo(j, &j->h->probes[i], whole);
        }
    }
    if (j->out->count == before) {
        RIGHT(j, "echo", echo, "after %.1f ms", 1e3 * lab_s(last->at_us - last->sent_us));
    }
}

/* ---- the destination ----------------------------------------------------------------- */

struct place {
    double x, y, psi;
};

static bool find_place(const struct judge *j, enum check_talk talk, struct place *p)
{
    const struct event_reply *r = reply_to(j, talk);
    *p = (struct place){native_reply_number(r, "x_m"), native_reply_number(r, "y_m"),
                        native_reply_number(r, "psi_rad")};
    return is_received(j, talk) && isfinite(p->x) && isfinite(p->y) && isfinite(p->psi);
}

/* Returns the unit of a turn by a_rad that reads as `turned`, per rad; 0 with a finding. */
static double judge_turn(struct judge *j, const char *what, double turned, double a_rad)
{
    for (size_t i = 0; i < COUNT(angle_units); i++) {
        const double one = angle_units[i].factor;
        for (int sign = 1; sign >= -1; sign -= 2) {
            const double off = remainder(turned - sign * a_rad * one, 2.0 * PI * one);
            if (fabs(off) > AWRY_RATIO * a_rad * one || fabs(turned) > 4.1 * PI * one) {
                continue;
            }
            if (i > 0) {
                WRONG(j, what, units, "%g for a turn by %g rad: are these %s?", turned, a_rad,
                      angle_units[i].name);
            } else if (sign < 0) {
                WRONG(j, what, units,
                      "%g for a turn by %g rad: is clockwise counted as positive?", turned,
                      a_rad);
            }
            return sign * one;
        }
    }
    WRONG(j, what, go, "it turned by %.3g where %.3g rad were asked%s", turned, a_rad,
          find_unit(&angle_units[1], 1, a_rad / turned) ? ": are radians read as degrees?"
                                                        : "");
    return 0.0;
}

static void judge_distance(struct judge *j, const char *what, const struct place *from,
                           const struct place *to, double unit_rad)
{
    const double asked_m = j->o->displacement_m;
    const double dx = to->x - from->x;
    const double dy = to->y - from->y;
    const double distance_m = hypot(dx, dy);
    const struct unit *unit =
        find_unit(distance_units, COUNT(distance_units), distance_m / asked_m);
    const struct unit *small =
        find_unit(&distance_units[1], COUNT(distance_units) - 1, asked_m / distance_m);
    if (!unit) {
        WRONG(j, what, go, "it came %.3g m far where %.3g m were asked%s%s", distance_m,
              asked_m, small ? ": are metres read as " : "", small ? small->name : "");
    } else if (unit->factor > 1.0) {
        WRONG(j, what, units, "%g for %g m: are these %s?", distance_m, asked_m, unit->name);
    } else if (unit_rad > 0.0 || unit_rad < 0.0) {
        const double psi = to->psi / unit_rad;
        const double along = (dx * cos(psi) + dy * sin(psi)) / distance_m;
        if (along < 0.8) {
            WRONG(j, what, go, "it went %.0f degrees off its heading psi",
                  acos(along) * 180.0 / PI);
        }
    }
}

/* Judges a move by two reported poses. */
static void judge_places(struct judge *j, const char *what, const struct place *from,
                         const struct place *to)
{
    const size_t before = j->out->count;
    const double turned = to->psi - from->psi;
    if (!(hypot(to->x - from->x, to->y - from->y) > 0.0) && !(fabs(turned) > 0.0)) {
        WRONG(j, what, go, "the place did not change over the move");
        return;
    }
    const double unit_rad = judge_turn(j, what, turned, j->o->rotation_rad);
    judge_distance(j, what, from, to, unit_rad);
    if (j->out->count == before) {
        RIGHT(j, what, go, "turned by %.3f rad, went %.3f m", remainder(turned, 2.0 * PI),
              hypot(to->x - from->x, to->y - from->y));
    }
}

/* Names the values that are compared with the other robot's, and what is not. */
static void judge_compared(struct judge *j)
{
    const struct event_reply *r = reply_to(j, TALK_GO);
    char names[CHECK_DETAIL - 100] = "";
    if (!is_received(j, TALK_GO)) {
        return;
    }
    for (size_t i = 0; i < r->value_count; i++) {
        names_append(names, sizeof names, r->values[i].name);
    }
    add_finding(j, r->outside[0] ? CHECK_MISSING : CHECK_RIGHT, "values.compared",
                &rule_compared, "compared: status%s%s%s%s", names[0] ? ", " : "", names,
                r->outside[0] ? "; outside `values` and not compared: " : "", r->outside);
}

static void judge_move(struct judge *j)
{
    struct place from;
    struct place to;
    if (!is_received(j, TALK_GO)) {
        return;
    }
    const enum reply_status status = reply_to(j, TALK_GO)->status;
    if ((status == REPLY_ERROR || status == REPLY_IGNORED) &&
        reply_to(j, TALK_WHERE)->status == status) {
        MISSING(j, "go", done, "it does not go: every `go` gets `%s`", status_of(j, TALK_GO));
    } else if (status != REPLY_DONE) {
        WRONG(j, "go", done, "a move was answered `%s`", status_of(j, TALK_GO));
    } else if (!find_place(j, TALK_GO, &to) || !find_place(j, TALK_WHERE, &from)) {
        MISSING(j, "values", done,
                "x_m, y_m and psi_rad are not among the %zu values: replies are compared "
                "by status alone",
                reply_to(j, TALK_GO)->value_count);
    } else {
        judge_places(j, "values", &from, &to);
    }
}

/* ---- while it is busy ---------------------------------------------------------------- */

static void judge_second(struct judge *j)
{
    const struct check_asked *a = &j->h->asked[TALK_SECOND];
    const struct check_asked *first = &j->h->asked[TALK_LONG];
    if (a->count == 0 || first->count == 0) {
        return;
    }
    if (first->replies[0].at_us < a->sent_us) {
        UNTRIED(j, "busy", busy, "the move before was over: ask for a longer one (--go)");
    } else if (reply_to(j, TALK_SECOND)->status == REPLY_IGNORED) {
        RIGHT(j, "busy", busy, "a second go is `ignored`");
    } else if (a->replies[0].at_us < first->replies[0].at_us) {
        WRONG(j, "busy", busy,
              "a second go was answered `%s` before the first, which was at work",
              status_of(j, TALK_SECOND));
    } else {
        RIGHT(j, "busy", busy, "a second go waits for the first, and was `%s`",
              status_of(j, TALK_SECOND));
    }
}

/* Compares the pose at rest with the pose reported at the halt. */
static void judge_standstill(struct judge *j)
{
    struct place halted;
    struct place after;
    if (find_place(j, TALK_LONG, &halted) && find_place(j, TALK_AFTER, &after) &&
        reply_to(j, TALK_LONG)->status == REPLY_HALTED) {
        const double moved_m = hypot(after.x - halted.x, after.y - halted.y);
        const double turn_rad = fabs(remainder(after.psi - halted.psi, 2.0 * PI));
        if (moved_m > ON_M || turn_rad > ON_RAD) {
            WRONG(j, "halt.stop", halt,
                  "half a second after `halted` it stood %.3g m and %.3g rad further on",
                  moved_m, turn_rad);
        }
    }
}

static void judge_halt(struct judge *j)
{
    const struct check_asked *move = &j->h->asked[TALK_LONG];
    const struct check_asked *halt = &j->h->asked[TALK_HALT];
    const size_t before = j->out->count;
    if (move->count == 0 || halt->count == 0) {
        return;
    }
    const double late_s = lab_s(move->replies[0].at_us - halt->sent_us);
    const double own_s = lab_s(halt->replies[0].at_us - halt->sent_us);
    if (late_s < 0.0) {
        UNTRIED(j, "halt", halt, "the move was over before: ask for a longer one (--go)");
        return;
    }
    if (late_s > LATE_S || own_s > LATE_S) {
        WRONG(j, "halt.late", halt, "the move ended %.2f s after the halt",
              late_s > own_s ? late_s : own_s);
    }
    if (reply_to(j, TALK_LONG)->status != REPLY_HALTED) {
        WRONG(j, "halt", order, "the halted move was answered `%s`", status_of(j, TALK_LONG));
    } else if (reply_to(j, TALK_HALT)->status != REPLY_DONE) {
        WRONG(j, "halt", order, "the halt was answered `%s`", status_of(j, TALK_HALT));
    } else if (halt->replies[0].at_us < move->replies[0].at_us) {
        WRONG(j, "halt", order, "the halt was answered first");
    }
    judge_standstill(j);
    if (j->out->count == before) {
        RIGHT(j, "halt", order, "after %.0f ms", 1e3 * own_s);
    }
}

static void judge_rest(struct judge *j)
{
    if (is_received(j, TALK_IDLE)) {
        const enum reply_status status = reply_to(j, TALK_IDLE)->status;
        const bool fine = status == REPLY_IGNORED || status == REPLY_DONE ||
                          (status == REPLY_ERROR && j->o->idle_fails);
        add_finding(j, fine ? CHECK_RIGHT : CHECK_WRONG, "halt.idle", &rule_idle, "`%s`",
                    status_of(j, TALK_IDLE));
    }
    if (is_received(j, TALK_WORD)) {
        RIGHT(j, "word", word, "an unknown word gets `%s`", status_of(j, TALK_WORD));
    }
}

/* ---- telemetry ----------------------------------------------------------------------------
 */

static struct place place_of(const struct check_sample *s)
{
    return (struct place){s->t.pose[0], s->t.pose[1], s->t.pose[2]};
}

/* Returns the last sample before t_us, else the first one after it; NULL: none. */
static const struct check_sample *sample_at(const struct check_received *h, int64_t t_us)
{
    const struct check_sample *found = NULL;
    for (size_t i = 0; i < h->sample_count; i++) {
        if (!found || h->samples[i].at_us <= t_us) {
            found = &h->samples[i];
        }
    }
    return found;
}

/* Integrates velocities over the move. Samples are few, so only a wrong unit is reported.
 * timed: use their own stamps, which the network does not delay. */
static void judge_speeds(struct judge *j, bool timed)
{
    const struct check_asked *a = &j->h->asked[TALK_GO];
    double distance_m = 0.0;
    double turn = 0.0;
    size_t count = 0;
    for (size_t i = 1; a->count > 0 && i < j->h->sample_count; i++) {
        const struct check_sample *s = &j->h->samples[i];
        if (s->at_us > a->sent_us && s->at_us <= a->replies[0].at_us && s->t.nu_count >= 2) {
            const struct check_sample *before = &j->h->samples[i - 1];
            const double dt_s = timed ? lab_s(s->t.source_us - before->t.source_us)
                                      : lab_s(s->at_us - before->at_us);
            distance_m += dt_s * s->t.nu[0];
            turn += dt_s * s->t.nu[s->t.nu_count < 3 ? 1 : 2];
            count++;
        }
    }
    if (count < 5) {
        return;
    }
    const struct unit *unit =
        find_unit(distance_units, COUNT(distance_units), distance_m / j->o->displacement_m);
    const struct unit *angle =
        find_unit(angle_units, COUNT(angle_units), turn / j->o->rotation_rad);
    if (unit && unit->factor > 1.0) {
        WRONG(j, "telemetry.nu", units, "summed up, %g for %g m: are these %s/s?", distance_m,
              j->o->displacement_m, unit->name);
    } else if (angle && angle->factor > 1.0) {
        WRONG(j, "telemetry.nu", units, "summed up, %g for %g rad: are these %s/s?", turn,
              j->o->rotation_rad, angle->name);
    } else if (unit && angle) {
        RIGHT(j, "telemetry.nu", axes, "summed up, %.3f m and %.3f rad", distance_m, turn);
    }
}

static void judge_counting(struct judge *j)
{
    size_t without = 0;
    size_t odd = 0;
    for (size_t i = 0; i < j->h->sample_count; i++) {
        without += j->h->samples[i].t.seq < 0;
        odd += i > 0 && j->h->samples[i].t.seq >= 0 &&
               j->h->samples[i].t.seq <= j->h->samples[i - 1].t.seq;
    }
    if (without > 0) {
        MISSING(j, "telemetry.seq", seq, "%zu samples have none: losses cannot be detected",
                without);
    } else if (odd > 0) {
        WRONG(j, "telemetry.seq", seq, "%zu times it did not count up", odd);
    } else {
        RIGHT(j, "telemetry.seq", seq, "counts up");
    }
}

static void judge_telemetry(struct judge *j)
{
    const struct check_received *h = j->h;
    const struct check_asked *a = &h->asked[TALK_GO];
    struct stamps s = {0};
    for (size_t i = 0; i < h->sample_count; i++) {
        add_stamp(&s, h->samples[i].t.source_us, h->samples[i].at_us);
    }
    if (h->sample_count == 0) {
        if (h->malformed[WORD_TELEMETRY] == 0) {
            MISSING(j, "telemetry", axes,
                    "none: its dynamics cannot be identified, nor a twin follow it");
        }
        return;
    }
    judge_counting(j);
    if (check_efforts_are_late(h)) {
        WRONG(j, "telemetry.tau", acts, "efforts are reported one sample late");
    }
    const bool timed = s.without == 0 && !isnan(judge_pace(j, "telemetry.t", &s));
    if (s.without > 0) {
        MISSING(j, "telemetry.t", stamp, "%zu samples have none", s.without);
    } else if (timed) {
        judge_same_clock(j, "telemetry.t", &s);
    }
    if (a->count > 0 && reply_to(j, TALK_GO)->status == REPLY_DONE) {
        const struct check_sample *from = sample_at(h, a->sent_us);
        const struct check_sample *to = sample_at(h, a->replies[0].at_us);
        if (from < to && from->t.pose_count == 3 && to->t.pose_count == 3) {
            const struct place begin = place_of(from);
            const struct place end = place_of(to);
            judge_places(j, "telemetry.pose", &begin, &end);
        }
        judge_speeds(j, timed);
    }
}

/* ---- parameters ---------------------------------------------------------------------------
 */

static bool is_applied(const struct event_ack *a, const char *name)
{
    for (size_t i = 0; i < a->applied && i < EVENT_APPLIED_MAX; i++) {
        if (a->applied_hash[i] == hash_text(name)) {
            return true;
        }
    }
    return false;
}

static void judge_parameters(struct judge *j)
{
    const struct event_ack *a = &j->h->set.ack;
    const bool has_form = a->form < PARAMETERS_FORM_COUNT;
    if (j->o->side != SIDE_VIRTUAL || j->h->malformed[WORD_ACK] > 0) {
        return;
    }
    if (j->h->set.count == 0) {
        MISSING(j, "parameters", ack,
                "no answer to version %d: nothing of it counts as the simulator's",
                CHECK_SET_VERSION);
        return;
    }
    if (is_applied(a, CHECK_NO_PARAMETER)) {
        WRONG(j, "parameters", ack, "it reports that it applied " CHECK_NO_PARAMETER);
    } else if (a->applied + a->refused < CHECK_SET_NAMES) {
        WRONG(j, "parameters", ack, "of %d names %u are applied and %u refused: the others?",
              CHECK_SET_NAMES, a->applied, a->refused);
    } else if (a->applied == 0) {
        MISSING(j, "parameters", ack, "it applies none (%s)", a->reason);
    } else {
        RIGHT(j, "parameters", ack, "%u applied, %u refused (%s)", a->applied, a->refused,
              a->reason);
    }
    add_finding(j, has_form ? CHECK_RIGHT : CHECK_MISSING, "parameters.form", &rule_adjust,
                "%s",
                has_form ? names_text(&parameter_form_names, (size_t)a->form)
                         : "not given; absolute is assumed");
    if (j->h->restored.count == 0) {
        WRONG(j, "parameters.own", own,
              "no answer to what was in force before (version 0: its own)");
    } else {
        RIGHT(j, "parameters.own", own, "version %lld is back",
              (long long)j->h->restored.ack.version);
    }
}

void check_judge(const struct check_options *o, const struct check_received *h,
                 struct check_findings *out)
{
    struct judge j = {.o = o, .h = h, .out = out, .pace = nan("")};
    out->count = 0;
    judge_presence(&j);
    judge_messages(&j);
    judge_counts(&j);
    judge_ids(&j);
    judge_stamps(&j);
    judge_echoes(&j);
    judge_move(&j);
    judge_compared(&j);
    judge_second(&j);
    judge_halt(&j);
    judge_rest(&j);
    judge_telemetry(&j);
    judge_parameters(&j);
}
