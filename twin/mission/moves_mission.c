/* twin/mission/moves_mission.c - MOVES, the missions of an arm: a list of moves, waits and
 * outputs (arm_mission.h).
 */
#include <math.h>
#include <string.h>

#include "logger/message/codec_native.h"
#include "twin/mission/arm_mission.h"
#include "twin/mission/mission_kind.h"
#include "twin/mission/mission_text.h"

/* ---- the text ---- */

/* The ranges are those of mission files (service/sim/mission/moves_file.c). */
static const struct mission_number number_rows[] = {
#define AT(member) offsetof(struct arm_mission_plan, member)
    {"floor_m", -10.0, 10.0, MISSION_NUMBER_REAL, AT(bounds.floor_m),
     "a \"floor_m\" of -10 to 10 was expected"},
    {"clearance_m", 0.0, 1.0, MISSION_NUMBER_REAL, AT(bounds.clearance_m),
     "a \"clearance_m\" of 0 to 1 was expected"},
    {"patience_s", 0.1, 86400.0, MISSION_NUMBER_TIME, AT(patience_us),
     "a \"patience_s\" of 0.1 to 86400 was expected"},
#undef AT
};
static const struct mission_number wait_row = {"wait_s",
                                               0.001,
                                               86400.0,
                                               MISSION_NUMBER_REAL,
                                               offsetof(struct arm_step, wait_s),
                                               "a \"wait_s\" of 0.001 to 86400 was expected"};

#define GIVEN(member) (1U << (member))
#define RATES                                                                                  \
    (GIVEN(EVENT_ARM_V_RADPS) | GIVEN(EVENT_ARM_A_RADPS2) | GIVEN(EVENT_ARM_V_MPS) |           \
     GIVEN(EVENT_ARM_A_MPS2) | GIVEN(EVENT_ARM_TIME_S))
#define TARGET (GIVEN(EVENT_ARM_Q) | GIVEN(EVENT_ARM_POSE))

static const struct step_row {
    const char *name; /* of the member */
    enum arm_op op;
    uint32_t members;
} step_rows[] = {
    {"movej", ARM_MOVEJ, TARGET | RATES},
    {"movel", ARM_MOVEL, TARGET | RATES},
    {"movec", ARM_MOVEC, TARGET | GIVEN(EVENT_ARM_VIA) | GIVEN(EVENT_ARM_TURNS) | RATES},
    {"output", ARM_OUTPUT, GIVEN(EVENT_ARM_PIN) | GIVEN(EVENT_ARM_ON)},
};

static bool is_within(const double *numbers, size_t count, double limit)
{
    bool fine = true;
    for (size_t i = 0; i < count; i++) {
        fine = fine && fabs(numbers[i]) <= limit;
    }
    return fine;
}

/* A duration has to stay a time, so rates and sizes are bounded. */
static bool check_request(struct json_scan *s, const struct event_arm *r)
{
    const double rates[] = {r->v_radps, r->a_radps2, r->v_mps, r->a_mps2, r->time_s, r->turns};
    static const enum event_arm_member members[] = {EVENT_ARM_V_RADPS, EVENT_ARM_A_RADPS2,
                                                    EVENT_ARM_V_MPS,   EVENT_ARM_A_MPS2,
                                                    EVENT_ARM_TIME_S,  EVENT_ARM_TURNS};
    bool fine = is_within(r->q_rad, r->q_count, 1000.0) &&
                is_within(r->pose, r->pose_count, 1000.0) &&
                is_within(r->via, r->via_count, 1000.0);
    for (size_t i = 0; i < COUNT(rates); i++) {
        fine = fine &&
               (!(r->present & GIVEN(members[i])) || (rates[i] >= 1e-4 && rates[i] <= 1000.0));
    }
    return fine || json_scan_fail(s, FAULT_OUT_OF_RANGE,
                                  "rates of 0.0001 to 1000 and a target of -1000 to 1000 "
                                  "were expected");
}

/* A misspelt member would be missed. */
static bool check_members(struct json_scan *s, struct event *e, const struct payload_seen *seen)
{
    return seen->stray_count == 0
               ? native_arm_kind.check(s, e, seen)
               : json_scan_fail(s, FAULT_UNKNOWN_KEY,
                                "a member of this command to an arm was expected");
}

/* allowed: bits of enum event_arm_member. */
static bool scan_request(struct json_scan *s, uint32_t allowed, struct event_arm *request)
{
    struct payload_kind kind = native_arm_kind;
    struct event e = {.kind = EVENT_COMMAND};
    struct json_scan inner = *s;
    size_t bytes = 0;
    kind.check = check_members;
    if (!json_scan_skip(s, &inner.begin, &bytes)) {
        return false;
    }
    inner.end = inner.begin + bytes;
    if (!payload_scan_more(&inner, &e, &kind)) {
        s->at = inner.at;
        return json_scan_fail(s, inner.fault, inner.error);
    }
    *request = e.command.arm;
    return (request->present & ~allowed) == 0 ||
           json_scan_fail(s, FAULT_UNKNOWN_KEY,
                          "a member of this command to an arm was expected");
}

static bool scan_step(struct json_scan *s, const struct json_text *key, struct arm_step *step)
{
    if (json_text_is(key, wait_row.name)) {
        step->kind = ARM_STEP_WAIT;
        return mission_text_number(s, &wait_row, step);
    }
    for (size_t i = 0; i < COUNT(step_rows); i++) {
        if (json_text_is(key, step_rows[i].name)) {
            step->kind = ARM_STEP_COMMAND;
            step->op = step_rows[i].op;
            return scan_request(s, step_rows[i].members, &step->request) &&
                   check_request(s, &step->request);
        }
    }
    return json_scan_fail(s, FAULT_UNKNOWN_KEY,
                          "movej, movel, movec, output or wait_s was expected");
}

static bool scan_steps(struct json_scan *s, struct arm_mission_plan *plan)
{
    struct json_text key;
    (void)json_scan_enter(s, JSON_KIND_ARRAY);
    while (json_scan_next_item(s)) {
        size_t members = 0;
        if (plan->count == ARM_STEPS_MAX) {
            return json_scan_fail(s, FAULT_TOO_MANY, "at most 64 steps were expected");
        }
        (void)json_scan_enter(s, JSON_KIND_OBJECT);
        while (json_scan_next_member(s, &key)) {
            if (members++ > 0 || !scan_step(s, &key, &plan->steps[plan->count])) {
                break;
            }
        }
        if (members != 1) {
            return json_scan_fail(s, FAULT_CONFLICTING_KEYS,
                                  "steps of one member were expected: movej, movel, movec, "
                                  "output or wait_s");
        }
        plan->count++;
    }
    return !s->error;
}

static bool scan_arm_name(struct json_scan *s, struct arm_geometry *arm)
{
    struct json_text text;
    char name[PAIR_ARM_MAX] = "";
    if (!json_scan_text(s, &text)) {
        return false;
    }
    (void)json_text_copy(&text, name, sizeof name, false);
    return arm_geometry_find(name, arm) ||
           json_scan_fail(s, FAULT_UNKNOWN_VALUE,
                          "an \"arm\" out of ur5 ur5e paper was expected");
}

static bool scan_joints(struct json_scan *s, double q[ARM_JOINTS])
{
    size_t count = 0;
    (void)json_scan_enter(s, JSON_KIND_ARRAY);
    while (json_scan_next_item(s)) {
        double value = 0.0;
        if (json_scan_number(s, &value) && count < ARM_JOINTS) {
            q[count] = value;
        }
        count++;
    }
    return !s->error && ((count == ARM_JOINTS && is_within(q, ARM_JOINTS, 1000.0)) ||
                         json_scan_fail(s, FAULT_WRONG_COUNT,
                                        "a \"start_q_rad\" of 6 joint angles was expected"));
}

static bool scan_plan(struct json_scan *s, struct arm_mission_plan *plan)
{
    struct json_text key;
    (void)json_scan_enter(s, JSON_KIND_OBJECT);
    while (json_scan_next_member(s, &key)) {
        bool fine = false;
        if (json_text_is(&key, "steps") && plan->count == 0) {
            fine = scan_steps(s, plan);
        } else if (json_text_is(&key, "arm")) {
            fine = scan_arm_name(s, &plan->arm);
        } else if (json_text_is(&key, "start_q_rad")) {
            plan->has_start = true;
            fine = scan_joints(s, plan->start_q);
        } else {
            fine = mission_text_setting(s, &key, number_rows, COUNT(number_rows), plan);
        }
        if (!fine) {
            return false;
        }
    }
    return !s->error && (plan->count > 0 ||
                         json_scan_fail(s, FAULT_MISSING_KEY, "MOVES need their \"steps\""));
}

static enum status parse_plan(const struct mission_kind *kind, const char *text, size_t bytes,
                              const struct pair_params *p, void *into, struct err *err)
{
    struct arm_mission_plan *plan = into;
    double planned_s[ARM_STEPS_MAX];
    struct err found = {0};
    struct json_scan s;
    (void)kind;
    plan->patience_us = 60000000;
    (void)arm_geometry_find(p->arm, &plan->arm);
    json_scan_start(&s, text, bytes, JSON_SCAN_DEPTH_MAX);
    if (!scan_plan(&s, plan) || !json_scan_finish(&s)) {
        return mission_text_fault(&s, err);
    }
    if (arm_mission_check(plan, plan->has_start ? plan->start_q : NULL, planned_s, &found) !=
        STATUS_OK) {
        return err_set(err, STATUS_E_PARSE, found.fault, mission_text_where, "%s: %s",
                       found.where, found.text);
    }
    return STATUS_OK;
}

/* ---- the work ---- */

static void begin_work(void *work, const void *plan, const char *run, int64_t t_us,
                       mission_sink *sink, void *context)
{
    arm_mission_init(work, plan, run);
    arm_mission_start(work, t_us, sink, context);
}

static void step_work(void *work, const struct mission_input *input, mission_sink *sink,
                      void *context)
{
    switch (input->kind) {
    case MISSION_INPUT_REPLY:
        arm_mission_reply(work, input->reply, input->t_us, sink, context);
        break;
    case MISSION_INPUT_TICK:
        arm_mission_tick(work, input->t_us, sink, context);
        break;
    case MISSION_INPUT_QUIT:
        arm_mission_quit(work, input->t_us, sink, context);
        break;
    case MISSION_INPUT_SAMPLE: /* replies say where the arm is */
        if (input->sample->paused == 1) {
            arm_mission_pause(work, input->t_us);
        }
        break;
    case MISSION_INPUT_HALT:
        break;
    }
}

static int64_t next_work_us(const void *work)
{
    return arm_mission_next_us(work);
}

static void rebind_work(void *work, void *plan, const struct mission_place *place)
{
    (void)place;
    ((struct arm_mission *)work)->plan = plan;
}

static const char *step_state(const struct arm_mission *m, size_t step)
{
    return step < m->step   ? "done"
           : step > m->step ? "waiting"
           : m->ended       ? "stopped"
                            : "running";
}

static void report_work(const void *work, const void *from, struct json_writer *w)
{
    const struct arm_mission *m = work;
    const struct arm_mission_plan *plan = from;
    JSON_WRITE(w, JSON("steps", plan->count));
    json_write_axes(w, "q_rad", m->pose, m->step > 0 ? ARM_JOINTS : 0); /* else not asked yet */
    JSON_LIST(w, "moves", size_t i = 0; i < plan->count; i++) {
        JSON_WRITE_OBJECT(w, NULL, JSON("op", arm_step_name(&plan->steps[i])),
                          JSON("state", step_state(m, i + 1)),
                          JSON("duration_s", m->planned_s[i]));
    }
}

/* ---- the row ---- */

_Static_assert(sizeof(struct arm_mission_plan) <= MISSION_PLAN_BYTES, "room for the plan");
_Static_assert(sizeof(struct arm_mission) <= MISSION_WORK_BYTES, "room for the work");

const struct mission_kind mission_moves = {
    .name = "MOVES",
    .help = "Carries out moves, waits and outputs, one after another.",
    .robot = MISSION_ARM,
    .plan_bytes = sizeof(struct arm_mission_plan),
    .work_bytes = sizeof(struct arm_mission),
    .parse = parse_plan,
    .begin = begin_work,
    .step = step_work,
    .next_us = next_work_us,
    .rebind = rebind_work,
    .report = report_work};
