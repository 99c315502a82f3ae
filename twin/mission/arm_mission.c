#include "twin/mission/arm_mission.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "logger/message/codec_native.h"

/* --- the check ------------------------------------------------------------------------ */

const char *arm_step_name(const struct arm_step *step)
{
    return step->kind == ARM_STEP_WAIT ? "wait" : names_text(&arm_op_names, step->op);
}

static bool gives_joints(const struct arm_step *step)
{
    return step->op == ARM_MOVEJ && step->request.present & 1U << EVENT_ARM_Q;
}

enum status arm_mission_check(const struct arm_mission_plan *plan, const double *from_q,
                              double *planned_s, struct err *err)
{
    double q[ARM_JOINTS];
    bool is_known = from_q != NULL;
    memcpy(q, from_q ? from_q : plan->start_q, sizeof q);
    for (size_t i = 0; i < plan->count; i++) {
        const struct arm_step *step = &plan->steps[i];
        char where[32];
        char detail[ARM_DETAIL_MAX];
        const char *bad = NULL;
        struct arm_move move;
        planned_s[i] = step->kind == ARM_STEP_WAIT ? step->wait_s : 0.0;
        if (step->kind == ARM_STEP_WAIT) {
            continue;
        }
        if (step->op == ARM_OUTPUT) {
            bad = arm_request_output(&step->request);
            if (bad) {
                (void)snprintf(where, sizeof where, "step %zu", i + 1);
                return err_set(err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, where,
                               "it would be refused, %s", bad);
            }
            continue;
        }
        if (!is_known && !gives_joints(step)) {
            planned_s[i] = nan("");
            continue;
        }
        if (!is_known) { /* from its target to itself: the target alone is checked */
            memcpy(q, step->request.q_rad, sizeof q);
        }
        const struct arm_rates rates = arm_request_rates(&step->request);
        const struct arm_fault fault = arm_request_plan(&plan->arm, q, step->op, &step->request,
                                                        &rates, &plan->bounds, &move, &bad);
        if (fault.refusal != ARM_ACCEPTED) {
            (void)snprintf(where, sizeof where, "step %zu, %s", i + 1,
                           names_text(&arm_op_names, step->op));
            arm_fault_text(&fault, bad, detail);
            return err_set(err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, where,
                           "it would be refused, %s", detail);
        }
        planned_s[i] = is_known ? move.duration_s : nan("");
        memcpy(q, move.to_q, sizeof q);
        is_known = true;
    }
    return STATUS_OK;
}

/* --- effects -------------------------------------------------------------------------- */

/* Context of one call. */
struct call {
    struct arm_mission *m;
    int64_t t_us;
    mission_sink *sink;
    void *context;
};

static PRINTF_LIKE(3, 4) void notify_user(const struct call *c, enum mission_level level,
                                          const char *format, ...)
{
    char text[MISSION_TEXT_MAX];
    TEXT_FORMAT(text, sizeof text, format);
    const struct mission_effect effect = {.kind = MISSION_MESSAGE,
                                          .t_us = c->t_us,
                                          .step = c->m->step,
                                          .layer = 2,
                                          .level = level,
                                          .text = text};
    c->sink(c->context, &effect);
}

static void end_mission(const struct call *c, enum l2_verdict verdict, enum mission_code code)
{
    const struct mission_effect effect = {.kind = MISSION_END,
                                          .t_us = c->t_us,
                                          .step = c->m->step,
                                          .verdict = verdict,
                                          .code = code};
    notify_user(c, verdict == L2_VERDICT_FAILED ? MISSION_ERROR : MISSION_ACK, "%s",
                l2_verdict_name(verdict));
    c->m->ended = true;
    c->m->id[0] = '\0';
    c->sink(c->context, &effect);
}

static void send_command(const struct call *c, enum arm_op op, const struct event_arm *request,
                         double planned_s)
{
    struct arm_mission *m = c->m;
    struct mission_effect effect = {.kind = MISSION_COMMAND, .t_us = c->t_us, .step = m->step};
    effect.command.source_us = c->t_us;
    effect.command.seq = -1;
    effect.command.arm = *request;
    (void)snprintf(effect.command.op, sizeof effect.command.op, "%s",
                   names_text(&arm_op_names, op));
    (void)snprintf(effect.command.id, sizeof effect.command.id, "%s-%u", m->run,
                   (unsigned)++m->command_count);
    memcpy(m->id, effect.command.id, sizeof m->id);
    m->planned_us = lab_us(isfinite(planned_s) ? planned_s : 0.0);
    m->until_us = c->t_us + m->plan->patience_us + m->planned_us;
    c->sink(c->context, &effect);
}

/* Begins the next step, or ends after the last. */
static void begin_step(const struct call *c)
{
    struct arm_mission *m = c->m;
    m->id[0] = '\0';
    m->step++;
    if (m->step > m->plan->count) {
        end_mission(c, L2_VERDICT_DONE, MISSION_CODE_NONE);
        return;
    }
    const struct arm_step *step = &m->plan->steps[m->step - 1];
    if (step->kind == ARM_STEP_WAIT) {
        m->until_us = c->t_us + lab_us(step->wait_s);
    } else {
        send_command(c, step->op, &step->request, m->planned_s[m->step - 1]);
    }
}

/* The steps before the first command are checked from where the arm is. */
static void check_from(const struct call *c, const double *q)
{
    struct arm_mission *m = c->m;
    struct err err = {0};
    if (arm_mission_check(m->plan, q, m->planned_s, &err) == STATUS_OK) {
        begin_step(c);
        return;
    }
    notify_user(c, MISSION_ERROR, "%s from where the arm is: %s", err.where, err.text);
    end_mission(c, L2_VERDICT_FAILED, MISSION_NO_ROUTE);
}

/* --- inputs --------------------------------------------------------------------------- */

void arm_mission_init(struct arm_mission *m, const struct arm_mission_plan *plan,
                      const char *run)
{
    *m = (struct arm_mission){.plan = plan, .until_us = LAB_TIME_MAX};
    (void)snprintf(m->run, sizeof m->run, "%s", run);
}

void arm_mission_start(struct arm_mission *m, int64_t t_us, mission_sink *sink, void *context)
{
    const struct call c = {m, t_us, sink, context};
    if (m->plan->has_start) {
        memcpy(m->pose, m->plan->start_q, sizeof m->pose);
        check_from(&c, m->plan->start_q);
    } else {
        send_command(&c, ARM_STOPJ, &(struct event_arm){0}, 0.0);
    }
}

static bool read_joints(const struct event_reply *reply, double q[ARM_JOINTS])
{
    static const char *const names[ARM_JOINTS] = {"q1_rad", "q2_rad", "q3_rad",
                                                  "q4_rad", "q5_rad", "q6_rad"};
    double read[ARM_JOINTS];
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        read[i] = native_reply_number(reply, names[i]);
        if (!isfinite(read[i])) {
            return false;
        }
    }
    memcpy(q, read, sizeof read);
    return true;
}

void arm_mission_reply(struct arm_mission *m, const struct event_reply *reply, int64_t t_us,
                       mission_sink *sink, void *context)
{
    const struct call c = {m, t_us, sink, context};
    if (m->ended || !m->id[0] || strcmp(reply->id, m->id) != 0) {
        return;
    }
    const bool joints = read_joints(reply, m->pose);
    const struct mission_effect answer = {.kind = MISSION_ANSWER,
                                          .t_us = t_us,
                                          .step = m->step,
                                          .pose = {m->pose[0], m->pose[1], m->pose[2]}};
    sink(context, &answer);
    if (m->quitting) {
        end_mission(&c, L2_VERDICT_QUIT, MISSION_CODE_NONE);
    } else if (m->step == 0 &&
               (reply->status == REPLY_DONE || reply->status == REPLY_IGNORED) && joints) {
        check_from(&c, m->pose);
    } else if (m->step > 0 && reply->status == REPLY_DONE) {
        begin_step(&c);
    } else if (m->step == 0) {
        notify_user(&c, MISSION_ERROR,
                    "the arm did not say where it is (%s): q1_rad to q6_rad were expected in "
                    "its reply to a stopj, or start_q_rad in the file",
                    reply_status_name(reply->status));
        end_mission(&c, L2_VERDICT_FAILED, mission_code_of(reply->status));
    } else {
        notify_user(&c, MISSION_ERROR, "step %u, %s: %s", m->step,
                    names_text(&arm_op_names, m->plan->steps[m->step - 1].op),
                    reply_status_name(reply->status));
        end_mission(&c, L2_VERDICT_FAILED, mission_code_of(reply->status));
    }
}

void arm_mission_tick(struct arm_mission *m, int64_t t_us, mission_sink *sink, void *context)
{
    const struct call c = {m, t_us, sink, context};
    if (m->ended || t_us < m->until_us) {
        return;
    }
    if (!m->id[0]) { /* a wait is over */
        begin_step(&c);
        return;
    }
    notify_user(&c, MISSION_ERROR, "step %u: no reply in time", m->step);
    if (!m->quitting) { /* its reply is not awaited */
        send_command(&c, ARM_HALT, &(struct event_arm){0}, 0.0);
    }
    end_mission(&c, m->quitting ? L2_VERDICT_QUIT : L2_VERDICT_FAILED, MISSION_NO_REPLY);
}

void arm_mission_quit(struct arm_mission *m, int64_t t_us, mission_sink *sink, void *context)
{
    const struct call c = {m, t_us, sink, context};
    if (!m->ended && !m->quitting) {
        m->quitting = true;
        send_command(&c, ARM_HALT, &(struct event_arm){0}, 0.0);
    }
}

void arm_mission_pause(struct arm_mission *m, int64_t t_us)
{
    if (m->id[0]) {
        m->until_us = t_us + m->plan->patience_us + m->planned_us;
    }
}

int64_t arm_mission_next_us(const struct arm_mission *m)
{
    return m->ended ? LAB_TIME_MAX : m->until_us;
}
