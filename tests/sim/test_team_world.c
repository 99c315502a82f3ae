/* short: TANDEM_RUNS=20 */
/* Two and three simulated robots share one place. A lab with a team in link mode commands them
 * over a network that is late, says things twice and loses some; robots restart, fall
 * silent, and the lab itself is killed and goes on from its state; people look after robots in
 * Error. Where the robots truly stand is known here, and nobody else is asked: no two of them
 * are ever in the place together, none is in it without its Lock. A thousand hand-overs of each
 * world; TANDEM_RUNS: as many, TANDEM_SEED: others. Then worlds in which that cannot be so, and
 * must be seen. */
#include "tests/support/check.h"
#include "tests/support/saved_lab.h"

#include "base/numbers/constants.h"
#include "base/numbers/hash.h"
#include "config/labfile/lab_file.h"
#include "logger/codec/codecs.h"
#include "logger/message/codec_native.h"
#include "twin/lab.h"
#include "twin/sim/robot/diffdrive.h"
#include "twin/sim/robot/robot_kinds.h"

enum {
    ROBOTS = 3,
    PERIOD_US = 25000,
    SECOND = 1000000,
    FLYING = 512,
    IDS = 16,
    HAND_OVERS = 1000
};
static const int64_t T0_US = INT64_C(1000000000);
static const int64_t GRANT_US = 1000; /* from the UnLock's arrival to the grant, at most */
/* The place, and what of a robot may not reach into it. */
static const double ZONE_M = 0.25;
static const double BODY_M = 0.1;

static const char LAB[] =
    "defaults: {mode: link, timeout_s: 8}\n"
    "pairs: {r1: {}, r2: {}%s}\n"
    "teams:\n"
    "  cell:\n"
    "    resources: {IB: {lease_s: %s, on_lost: %s}}\n"
    "    positions:\n"
    "      IB: {x_m: 0, y_m: 0}\n"
    "      SPos: {x_m: -0.5, y_m: 0, safe: true}\n"
    "      OB: {x_m: -0.9, y_m: 0, safe: true}\n"
    "    tasks: {Move: {to: position}, PickPrt: {op: go}, PlacePrt: {op: go}}\n"
    "    sequences:\n"
    "      cycle: [%s, Move: OB, PlacePrt, Repeat]\n"
    "    robots:\n"
    "      R1: {pair: r1, sequence: cycle}\n"
    "      R2: {pair: r2, sequence: cycle, positions: {SPos: {x_m: 0.5}, OB: {x_m: 0.9}}}\n"
    "%s";
static const char THIRD[] = "      R3: {pair: r3, sequence: cycle, positions: {SPos: {x_m: 0, "
                            "y_m: 0.5}, OB: {x_m: 0, y_m: 0.9}}}\n";
static const char GOOD[] = "Lock: IB, Move: IB, PickPrt, Move: SPos, UnLock: IB";
static const char EARLY[] = "Lock: IB, Move: IB, PickPrt, UnLock: IB, Move: SPos";
enum { PLACE_LOCK = 1, PLACE_UNLOCK = 5 }; /* of the good one's steps */
static const double homes[ROBOTS][3] = {
    {-0.9, 0.0, 0.0}, {0.9, 0.0, PI}, {0.0, 0.9, -PI / 2.0}};

/* Special rules of a scenario. */
struct rules {
    const char *name;
    size_t robots;
    unsigned hand_overs;
    uint64_t seed;
    const char *steps, *lease_s, *on_lost;
    bool lies;      /* reports "done" in the place, before it has left it */
    double calm_s;  /* mean time between two disturbances of each kind; 0: none */
    double loss;    /* share of replies that are lost for ever */
    double twice;   /* share of replies and commands that are sent twice */
    bool retained;  /* the broker keeps commands for robots that are down */
    bool must_fail; /* what the checks are for has to be seen here */
};

/* A message on its way. */
struct flying {
    int64_t due_us;
    uint64_t order, step;
    bool to_lab, own; /* own: of the daemon itself, gone with it */
    uint16_t robot;
    enum side side;
    int qos;
    char rest[64];
    char payload[1024];
};

struct simulated_robot {
    struct diffdrive body;
    char boot[EVENT_BOOT_MAX];
    unsigned boots;
    int64_t down_until_us, silent_until_us; /* 0: up, connected */
    bool will_due;                          /* the broker is to say that it is gone */
    uint64_t taken[IDS];
    unsigned revoked_count;
    int64_t last_us[2]; /* of messages to and from the robot: their order is kept */
    int64_t telemetry_us, seq;
    char lied[EVENT_ID_MAX];
};

struct scenario {
    const struct rules *rules;
    struct lab_file file;
    struct lab_params params;
    struct lab *lab;
    struct simulated_robot machine[ROBOTS][SIDE_COUNT];
    struct flying flying[FLYING];
    size_t flying_count;
    uint64_t ordered, steps;
    struct random_source random;
    int64_t now_us, lab_down_until_us;
    int64_t error_us[ROBOTS];   /* in Error since; 0: it is not */
    int64_t arrived_us[ROBOTS]; /* the robot's last message */
    int64_t freed_us;           /* by an UnLock */
    uint16_t last_owner;
    struct simulated_robot *speaking;
    uint16_t speaking_robot;
    enum side speaking_side;
    /* what was seen */
    unsigned both, trespass, hand_overs, late, fences, reboots, kills, silences, resets,
        releases, errors;
    unsigned repeated, lost, alarms[TEAM_ALARM_COUNT];
    uint64_t fence;
    double far_off_m; /* most that a robot was from where it believes to be */
};

/* ---- the network ---- */

static struct flying *add_flying(struct scenario *w, int64_t due_us)
{
    CU_ASSERT_FATAL(w->flying_count < FLYING);
    struct flying *m = &w->flying[w->flying_count++];
    memset(m, 0, sizeof *m);
    m->due_us = due_us;
    m->order = w->ordered++;
    m->step = w->steps;
    return m;
}

static int64_t draw_due(struct scenario *w, struct simulated_robot *r, bool to_lab)
{
    int64_t due_us = w->now_us + 5000 + lab_us(random_exponential(&w->random, 0.02));
    if (r->silent_until_us > due_us) {
        due_us = r->silent_until_us + 1000;
    }
    due_us = due_us > r->last_us[to_lab] ? due_us : r->last_us[to_lab];
    r->last_us[to_lab] = due_us;
    return due_us;
}

/* The robot publishes it, or its last will does. */
static void publish_word(struct scenario *w, uint16_t robot, enum side side, const char *word,
                         int qos, const char *payload)
{
    struct simulated_robot *r = &w->machine[robot][side];
    if (qos == 0 && (r->silent_until_us != 0 || random_uniform(&w->random) < 0.2)) {
        return;
    }
    struct flying *m = add_flying(w, draw_due(w, r, true));
    m->to_lab = true;
    m->qos = qos;
    m->robot = robot;
    m->side = side;
    (void)snprintf(m->rest, sizeof m->rest, "r%d/%s/%s", robot + 1, side_name(side), word);
    (void)snprintf(m->payload, sizeof m->payload, "%s", payload);
}

static void publish_presence(struct scenario *w, uint16_t robot, enum side side, bool online)
{
    char text[128];
    (void)snprintf(text, sizeof text,
                   online ? "{\"state\":\"online\",\"boot\":\"%s\"}"
                          : "{\"state\":\"offline\"}",
                   w->machine[robot][side].boot);
    publish_word(w, robot, side, "connection", 1, text);
}

static void publish_event_of(struct scenario *w, enum event_kind kind, const char *word,
                             int qos, const void *part)
{
    char text[1000];
    struct json_writer out;
    json_write_start(&out, text, sizeof text - 1, NULL, NULL);
    native_write(&out, kind, part);
    CHECK("whole", json_write_end(&out));
    text[out.used] = '\0';
    publish_word(w, w->speaking_robot, w->speaking_side, word, qos, text);
}

static void handle_reply(void *context, const struct robot_reply *reply)
{
    struct scenario *w = context;
    struct simulated_robot *r = w->speaking;
    struct event_reply e = {.status = reply->status,
                            .source_us = reply->end_us,
                            .source_start_us = reply->start_us,
                            .value_count = reply->value_count};
    (void)snprintf(e.id, sizeof e.id, "%s", reply->id);
    for (size_t i = 0; i < reply->value_count; i++) {
        (void)snprintf(e.values[i].name, sizeof e.values[i].name, "%s", reply->values[i].name);
        e.values[i].number = reply->values[i].number;
    }
    if (e.id[0] && strcmp(e.id, r->lied) == 0) {
        return;
    }
    if (random_uniform(&w->random) < w->rules->loss) {
        w->lost++;
        return;
    }
    publish_event_of(w, EVENT_REPLY, "reply", 1, &e);
    if (random_uniform(&w->random) < w->rules->twice) {
        publish_event_of(w, EVENT_REPLY, "reply", 1, &e);
    }
}

static bool is_inside(const struct simulated_robot *r)
{
    return hypot(r->body.plant.pose[0], r->body.plant.pose[1]) < ZONE_M + BODY_M;
}

/* The robot is asked to leave, and immediately reports that it has. */
static void send_lie(struct scenario *w, struct simulated_robot *r,
                     const struct event_command *c)
{
    struct robot_reply reply = {
        .status = REPLY_DONE, .start_us = w->now_us, .end_us = w->now_us};
    if (!w->rules->lies || w->speaking_side != SIDE_REAL || !is_inside(r) ||
        c->displacement_m < 0.2) {
        return;
    }
    (void)snprintf(reply.id, sizeof reply.id, "%s", c->id);
    robot_reply_pose(&reply, homes[w->speaking_robot][0], homes[w->speaking_robot][1], 0.0);
    handle_reply(w, &reply);
    (void)snprintf(r->lied, sizeof r->lied, "%s", c->id);
}

static void apply_command(struct scenario *w, struct simulated_robot *r, const struct flying *m)
{
    struct message message = {.t_us = w->now_us,
                              .topic = "t/p/command",
                              .payload = m->payload,
                              .stored_bytes = strlen(m->payload),
                              .payload_bytes = strlen(m->payload)};
    static struct event event;
    event.kind = EVENT_KIND_COUNT;
    (void)codec_native.decode("t", &message, codec_copy_event, &event);
    CHECK_INT("a command", event.kind, EVENT_COMMAND);
    const uint64_t hash = hash_text(event.command.id);
    for (size_t k = 0; k < IDS; k++) {
        if (r->taken[k] == hash) {
            w->repeated++;
            return;
        }
    }
    r->taken[r->revoked_count++ % IDS] = hash;
    event.command.raw = NULL;
    send_lie(w, r, &event.command);
    robot_command(&diffdrive_kind, &r->body, &event.command, handle_reply, w);
}

/* ---- the lab ---- */

static const struct team *team_of(const struct scenario *w)
{
    return team_live_team(lab_team(w->lab, 0), w->params.teams);
}

static void check_team(struct scenario *w, const struct team_effect *e)
{
    if (e->kind == TEAM_GRANT) {
        w->fences += e->fence <= w->fence;
        w->fence = e->fence;
        w->hand_overs += e->robot != w->last_owner && w->last_owner != TEAM_NONE;
        w->last_owner = e->robot;
        w->late += e->waited_us > 0 && w->freed_us != 0 && e->t_us - w->freed_us > GRANT_US;
    } else if (e->kind == TEAM_FREED && strcmp(e->why, "unlock") == 0) {
        w->late += e->t_us - w->arrived_us[e->robot] > GRANT_US;
        w->freed_us = e->t_us;
    } else if (e->kind == TEAM_FREED) {
        w->freed_us = 0;
    } else if (e->kind == TEAM_ERROR) {
        w->errors++;
    } else if (e->kind == TEAM_ALARM) {
        w->alarms[e->alarm]++;
    }
}

static void send_command(struct scenario *w, const struct effect *effect)
{
    static const char mark[] = "\"id\":\"";
    struct simulated_robot *r = &w->machine[effect->pair][effect->side];
    char text[1024];
    (void)snprintf(text, sizeof text, "%.*s", (int)effect->payload.bytes, effect->payload.text);
    const bool twice = random_uniform(&w->random) < w->rules->twice;
    for (int i = 0; i < 1 + twice; i++) {
        struct flying *m = add_flying(w, draw_due(w, r, false));
        m->qos = 1;
        m->robot = (uint16_t)effect->pair;
        m->side = effect->side;
        (void)snprintf(m->payload, sizeof m->payload, "%s", text);
    }
    const char *id = strstr(text, mark);
    CU_ASSERT_FATAL(id != NULL);
    id += sizeof mark - 1;
    struct flying *sent = add_flying(w, w->now_us + 2000);
    sent->to_lab = sent->own = true;
    (void)snprintf(sent->rest, sizeof sent->rest, "$lab/request");
    (void)snprintf(
        sent->payload, sizeof sent->payload,
        "{\"team\":\"cell\",\"op\":\"sent\",\"robot\":\"R%u\",\"id\":\"%.*s\",\"side\":\"%s\"}",
        effect->pair + 1, (int)strcspn(id, "\""), id, side_name(effect->side));
}

static void handle_effect(void *context, const struct effect *effect)
{
    struct scenario *w = context;
    if (effect->kind == EFFECT_COMMAND) {
        send_command(w, effect);
    } else if (effect->kind == EFFECT_TEAM) {
        check_team(w, effect->team.effect);
    }
}

static void step_event(void *context, const struct event *event)
{
    struct scenario *w = context;
    const struct effects fx = {handle_effect, w};
    lab_step(w->lab, event, &fx);
}

static void decode_message(struct scenario *w, const char *rest, const char *payload)
{
    struct message m = {.t_us = w->now_us,
                        .payload = payload,
                        .stored_bytes = strlen(payload),
                        .payload_bytes = strlen(payload)};
    struct codec_set set;
    (void)snprintf(m.topic, sizeof m.topic, "t/%s", rest);
    lab_codecs(w->lab, &set);
    w->steps++;
    CHECK(rest, codec_decode(&set, "t", &m, step_event, w) > 0);
}

static struct lab *make_lab(const struct scenario *w)
{
    void *memory = aligned_alloc(64, (lab_bytes(&w->params) + 63) / 64 * 64);
    CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
    return lab_init(memory, &w->params);
}

/* Killed: messages that it was about to send may be sent or not, and some time passes. */
static void kill_lab(struct scenario *w)
{
    const bool silenced = random_uniform(&w->random) < 0.5;
    w->kills++;
    for (size_t k = 0; k < w->flying_count;) {
        const struct flying *m = &w->flying[k];
        if (m->own || (silenced && !m->to_lab && m->step == w->steps)) {
            w->flying[k] = w->flying[--w->flying_count];
        } else {
            k++;
        }
    }
    w->lab_down_until_us =
        w->now_us + SECOND / 10 + lab_us(random_exponential(&w->random, 2.0));
}

static void start_lab(struct scenario *w)
{
    size_t bytes = 0;
    void *state = saved_lab(w->lab, &bytes);
    struct lab *next = make_lab(w);
    CHECK_INT("load", lab_load(next, state, bytes), STATUS_OK);
    free(state);
    free(w->lab);
    w->lab = next;
    w->lab_down_until_us = 0;
    decode_message(w, "$lab/start", "{}");
    decode_message(w, "$lab/session", "{\"resumed\":true,\"persistent\":true,\"away_s\":1}");
    const struct effects fx = {handle_effect, w};
    lab_repeat_commands(w->lab, &fx);
}

/* ---- time ---- */

static void deliver_flying(struct scenario *w, size_t k)
{
    struct flying m = w->flying[k];
    w->flying[k] = w->flying[--w->flying_count];
    struct simulated_robot *r = &w->machine[m.robot][m.side];
    const int64_t up_us = m.to_lab ? w->lab_down_until_us : r->down_until_us;
    if (up_us != 0) {
        if (m.qos > 0 && (m.to_lab || w->rules->retained)) {
            m.due_us = up_us + (m.to_lab ? 1 : 60000);
            *add_flying(w, m.due_us) = m; /* its place in the order, too */
        }
        return;
    }
    if (m.to_lab) {
        if (!m.own && m.side == SIDE_REAL) {
            w->arrived_us[m.robot] = w->now_us;
        }
        decode_message(w, m.rest, m.payload);
        return;
    }
    w->speaking = r;
    w->speaking_robot = m.robot;
    w->speaking_side = m.side;
    apply_command(w, r, &m);
}

/* All that happens until t, in its order. */
static void pass_time(struct scenario *w, int64_t t_us)
{
    for (;;) {
        size_t first = SIZE_MAX;
        for (size_t k = 0; k < w->flying_count; k++) {
            const struct flying *a = &w->flying[k];
            const struct flying *b = first == SIZE_MAX ? NULL : &w->flying[first];
            if (!b || a->due_us < b->due_us ||
                (a->due_us == b->due_us && a->order < b->order)) {
                first = k;
            }
        }
        const bool up = w->lab_down_until_us == 0;
        const int64_t begin_us = first == SIZE_MAX ? t_us : w->flying[first].due_us;
        if (!up && w->lab_down_until_us < t_us && w->lab_down_until_us <= begin_us) {
            w->now_us = w->lab_down_until_us > w->now_us ? w->lab_down_until_us : w->now_us;
            start_lab(w);
            continue;
        }
        const int64_t due_us = up ? lab_next_deadline(w->lab) : LAB_TIME_MAX;
        const int64_t next_us = first == SIZE_MAX ? LAB_TIME_MAX : w->flying[first].due_us;
        if (due_us >= t_us && next_us >= t_us) {
            w->now_us = t_us;
            return;
        }
        if (due_us < next_us) {
            const struct event tick = {
                .t_us = due_us + 1, .kind = EVENT_TICK, .side = SIDE_COUNT};
            w->now_us = due_us > w->now_us ? due_us : w->now_us;
            step_event(w, &tick);
        } else {
            w->now_us = next_us > w->now_us ? next_us : w->now_us;
            deliver_flying(w, first);
        }
    }
}

/* ---- robots ---- */

static void boot_robot(struct scenario *w, uint16_t robot, enum side side, const double pose[3])
{
    static const struct {
        const char *name;
        double value;
    } set[] = {{"linear_speed_mps", 0.5}, {"t0_s", 0.0}};
    struct simulated_robot *r = &w->machine[robot][side];
    const uint64_t seed =
        random_stream(w->rules->seed, 100 * r->boots + 10 * robot + side).state;
    struct robot_setup setup = {
        .seed = seed, .start_us = w->now_us, .period_us = PERIOD_US, .pose_count = 3};
    memcpy(setup.pose, pose, 3 * sizeof *pose);
    diffdrive_kind.init(&r->body, &setup);
    for (size_t i = 0; i < COUNT(set); i++) {
        char reason[ROBOT_REASON_MAX];
        CHECK_INT(set[i].name,
                  robot_set(&diffdrive_kind, &r->body, set[i].name, set[i].value, reason),
                  STATUS_OK);
    }
    memset(r->taken, 0, sizeof r->taken);
    r->down_until_us = 0;
    r->seq = 0;
    (void)snprintf(r->boot, sizeof r->boot, "%u-%d-%d", ++r->boots, robot, side);
    publish_presence(w, robot, side, true);
}

static void send_telemetry(struct scenario *w, struct simulated_robot *r)
{
    struct event_telemetry t = {.source_us = w->now_us, .seq = r->seq++, .pose_count = 3};
    (void)snprintf(t.boot, sizeof t.boot, "%s", r->boot);
    memcpy(t.pose, r->body.plant.pose, sizeof r->body.plant.pose);
    if (w->now_us >= r->telemetry_us) {
        r->telemetry_us = w->now_us + SECOND / 2;
        publish_event_of(w, EVENT_TELEMETRY, "telemetry", 0, &t);
    }
}

/* Is it time for what happens every so often? */
static bool draw_chance(struct scenario *w)
{
    return w->rules->calm_s > 0.0 &&
           random_uniform(&w->random) < PERIOD_US * 1e-6 / w->rules->calm_s;
}

static void disturb_robot(struct scenario *w, uint16_t robot, enum side side)
{
    struct simulated_robot *r = &w->machine[robot][side];
    if (r->silent_until_us != 0 && w->now_us >= r->silent_until_us) {
        r->silent_until_us = 0;
        r->will_due = false;
        publish_presence(w, robot, side, true);
    } else if (r->silent_until_us == 0 && draw_chance(w)) {
        publish_presence(w, robot, side,
                         false); /* its last will: published first, because it must not wait */
        r->silent_until_us = w->now_us + lab_us(random_between(&w->random, 0.5, 8.0));
        w->silences++;
    }
    if (r->silent_until_us == 0 && draw_chance(w)) {
        publish_presence(w, robot, side, false);
        r->down_until_us = w->now_us + 2 * SECOND;
        w->reboots++;
    }
}

static void step_robot(struct scenario *w, uint16_t robot, enum side side)
{
    struct simulated_robot *r = &w->machine[robot][side];
    if (r->down_until_us != 0) {
        double pose[3];
        memcpy(pose, r->body.plant.pose, sizeof pose);
        if (w->now_us >= r->down_until_us) {
            boot_robot(w, robot, side, pose);
        }
        return;
    }
    w->speaking = r;
    w->speaking_robot = robot;
    w->speaking_side = side;
    diffdrive_kind.step(&r->body, handle_reply, w);
    if (side == SIDE_REAL) {
        send_telemetry(w, r);
    }
    w->far_off_m = fmax(w->far_off_m, hypot(r->body.plant.pose[0] - r->body.odometry[0],
                                            r->body.plant.pose[1] - r->body.odometry[1]));
    disturb_robot(w, robot, side);
}

/* ---- people ---- */

static void send_request(struct scenario *w, const char *op, uint16_t robot, uint64_t fence)
{
    char text[256];
    if (robot == TEAM_NONE) {
        (void)snprintf(text, sizeof text,
                       "{\"team\":\"cell\",\"op\":\"%s\",\"resource\":\"IB\",\"fence\":%llu,"
                       "\"reason\":\"seen\"}",
                       op, (unsigned long long)fence);
    } else {
        (void)snprintf(text, sizeof text, "{\"team\":\"cell\",\"op\":\"%s\",\"robot\":\"R%d\"}",
                       op, robot + 1);
        w->arrived_us[robot] = w->now_us;
    }
    decode_message(w, "$lab/request", text);
}

/* A person goes to the robot: it repeats its step, or it is carried home, its place is freed,
 * and it continues after the steps that needed the place. */
static void help_robot(struct scenario *w, uint16_t robot)
{
    struct team_robot_view view;
    struct team_resource_view place;
    struct simulated_robot *r = &w->machine[robot][SIDE_REAL];
    team_robot(team_of(w), robot, &view);
    team_resource(team_of(w), 0, &place);
    const bool in_error = view.phase == TEAM_PHASE_ERROR;
    w->error_us[robot] = !in_error                 ? 0
                         : w->error_us[robot] != 0 ? w->error_us[robot]
                                                   : w->now_us;
    if (!in_error || w->now_us - w->error_us[robot] < 3 * SECOND || r->body.is_working ||
        r->down_until_us != 0 || r->silent_until_us != 0) {
        return;
    }
    const bool within =
        view.step && view.step->place > PLACE_LOCK && view.step->place <= PLACE_UNLOCK;
    if (view.held_count > 0 && random_uniform(&w->random) < 0.3 &&
        diffdrive_kind.place(&r->body, homes[robot]) == STATUS_OK) {
        send_request(w, "release", TEAM_NONE, place.held[0].fence);
        w->releases++;
    } else if (view.held_count == 0 && within) {
        send_request(w, "skip", robot, 0);
    } else {
        send_request(w, "reset", robot, 0);
        w->resets++;
    }
    w->error_us[robot] = 0;
}

/* ---- the truth ---- */

static void check_place(struct scenario *w)
{
    struct team_resource_view place;
    unsigned inside = 0;
    team_resource(team_of(w), 0, &place);
    for (uint16_t k = 0; k < w->rules->robots; k++) {
        if (is_inside(&w->machine[k][SIDE_REAL])) {
            const bool holds = place.held_count == 1 && place.held[0].robot == k;
            if (!holds && !w->rules->must_fail && w->trespass == 0) {
                (void)printf("%s: %.3f s: R%d in the place of %d\n", w->rules->name,
                             lab_s(w->now_us - T0_US), k + 1,
                             place.held_count ? place.held[0].robot + 1 : 0);
            }
            inside++;
            w->trespass += !holds;
        }
    }
    w->both += inside > 1;
}

/* ---- worlds ---- */

static void open_scenario(struct scenario *w, const struct rules *rules)
{
    char text[4096];
    struct err_list errors = {0};
    const bool third = rules->robots > 2;
    memset(w, 0, sizeof *w);
    w->rules = rules;
    w->random = random_stream(rules->seed, 7);
    w->last_owner = TEAM_NONE;
    w->now_us = T0_US;
    (void)snprintf(text, sizeof text, LAB, third ? ", r3: {}" : "", rules->lease_s,
                   rules->on_lost, rules->steps, third ? THIRD : "");
    CHECK_INT(rules->name, lab_file_parse(text, strlen(text), "lab.yaml", &w->file, &errors),
              STATUS_OK);
    err_list_print(&errors, stdout);
    w->params = lab_file_params(&w->file);
    CU_ASSERT_FATAL(w->params.team_count == 1);
    w->lab = make_lab(w);
    for (uint16_t k = 0; k < rules->robots; k++) {
        boot_robot(w, k, SIDE_REAL, homes[k]);
        boot_robot(w, k, SIDE_VIRTUAL, homes[k]);
    }
    decode_message(w, "$lab/start", "{}");
    decode_message(w, "$lab/session", "{\"resumed\":false,\"persistent\":true,\"away_s\":0}");
    decode_message(w, "$lab/request", "{\"team\":\"cell\",\"op\":\"start\",\"id\":\"s1\"}");
}

static void close_scenario(struct scenario *w)
{
    free(w->lab);
    lab_file_free(&w->file);
}

static void run_scenario(struct scenario *w)
{
    const int64_t patience_us = (int64_t)w->rules->hand_overs * 120 * SECOND;
    while (w->hand_overs < w->rules->hand_overs && w->now_us - T0_US < patience_us) {
        pass_time(w, w->now_us + PERIOD_US);
        for (uint16_t k = 0; k < w->rules->robots; k++) {
            step_robot(w, k, SIDE_REAL);
            step_robot(w, k, SIDE_VIRTUAL);
        }
        check_place(w);
        if (w->lab_down_until_us == 0 && draw_chance(w)) {
            kill_lab(w);
        }
        for (uint16_t k = 0; w->lab_down_until_us == 0 && k < w->rules->robots; k++) {
            help_robot(w, k);
        }
        if (w->rules->must_fail && w->both > 0 && w->trespass > 0) {
            return; /* seen */
        }
    }
}

static void print_scenario(const struct scenario *w)
{
    (void)printf("%s: %u hand-overs in %.0f s, %u reboots, %u silences, %u kills of the lab, "
                 "%u replies lost, %u "
                 "commands known again, %u errors, %u resets, %u releases, %u leases ended, %u "
                 "stale; both in "
                 "the place %u, without Lock %u, late %u; astray %.4f m\n",
                 w->rules->name, w->hand_overs, lab_s(w->now_us - T0_US), w->reboots,
                 w->silences, w->kills, w->lost, w->repeated, w->errors, w->resets, w->releases,
                 w->alarms[TEAM_ALARM_LEASE_EXPIRED], w->alarms[TEAM_ALARM_STALE_FENCE],
                 w->both, w->trespass, w->late, w->far_off_m);
}

static void check_world(const struct rules *rules)
{
    static struct scenario w;
    open_scenario(&w, rules);
    run_scenario(&w);
    print_scenario(&w);
    if (rules->must_fail) {
        CHECK(rules->name, w.both > 0 && w.trespass > 0);
    } else {
        CHECK_INT(rules->name, w.both, 0);
        CHECK_INT(rules->name, w.trespass, 0);
        CHECK_INT(rules->name, w.late, 0);
        CHECK_INT(rules->name, w.fences, 0);
        CHECK(rules->name, w.hand_overs >= rules->hand_overs);
        CHECK(rules->name, w.far_off_m < 0.05);
    }
    close_scenario(&w);
}

static void test_right(void)
{
    const unsigned n = (unsigned)check_runs(HAND_OVERS, 1000000);
    const uint64_t seed = check_seed(1);
    const struct rules rows[] = {
        {.name = "two, calm",
         .robots = 2,
         .hand_overs = n / 10,
         .steps = GOOD,
         .lease_s = "0",
         .on_lost = "hold"},
        {.name = "two",
         .robots = 2,
         .hand_overs = n,
         .steps = GOOD,
         .lease_s = "3",
         .on_lost = "hold",
         .calm_s = 60.0,
         .loss = 0.01,
         .twice = 0.05},
        {.name = "three",
         .robots = 3,
         .hand_overs = n,
         .steps = GOOD,
         .lease_s = "3",
         .on_lost = "hold",
         .calm_s = 60.0,
         .loss = 0.01,
         .twice = 0.05},
        {.name = "two, commands queued for robots that are down",
         .robots = 2,
         .hand_overs = n,
         .steps = GOOD,
         .lease_s = "3",
         .on_lost = "hold",
         .calm_s = 60.0,
         .loss = 0.01,
         .twice = 0.05,
         .retained = true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rules rules = rows[i];
        rules.seed = 100 * seed + i;
        check_world(&rules);
    }
}

static void test_wrong(void)
{
    const uint64_t seed = check_seed(1);
    static const struct rules rows[] = {
        {.name = "a robot that lies",
         .robots = 2,
         .hand_overs = 200,
         .steps = GOOD,
         .lease_s = "0",
         .on_lost = "hold",
         .lies = true,
         .must_fail = true},
        {.name = "a sequence that unlocks too early",
         .robots = 2,
         .hand_overs = 200,
         .steps = EARLY,
         .lease_s = "0",
         .on_lost = "hold",
         .must_fail = true},
        {.name = "a place that is revoked from silent robots",
         .robots = 2,
         .hand_overs = 500,
         .steps = GOOD,
         .lease_s = "1",
         .on_lost = "release",
         .calm_s = 30.0,
         .must_fail = true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rules rules = rows[i];
        rules.seed = 100 * seed + 50 + i;
        check_world(&rules);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("robots that share a place", NULL, NULL);
    CU_add_test(suite, "right worlds", test_right);
    CU_add_test(suite, "wrong worlds", test_wrong);
    return check_run();
}
