/* twin/mission/course_mission.c - COURSE, the mission of a vessel: way-points in wind and
 * current, around discs (course_drive.h).
 *
 * Each sample of the real vessel's telemetry gives an effort, which leaves at once. The vessel
 * gets zero effort when telemetry stops or somebody halts it. docs/model/course.md.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "twin/mission/course_drive.h"
#include "twin/mission/map_json.h"
#include "twin/mission/mission_kind.h"
#include "twin/mission/mission_text.h"

struct course_text {
    struct course_plan course; /* its vessel is set by course_of() */
    struct course_limits limits;
    size_t vessel, actuation; /* enum course_actuation */
};

struct course_work {
    const struct course_text *plan; /* borrowed */
    struct course course;
    struct course_drive drive;
    bool begun, has_left; /* a sample has come; an effort was sent */
    bool quitting;
    size_t passed;  /* way-points that lie behind */
    double first_s; /* time of the first sample, by the vessel's clock */
    double pose[USV3_AXES];
    int64_t silent_us; /* when the mission ends without a sample of a later time */
    int64_t quit_us; /* when a cancelled one ends, however slow the vessel's clock is; 0: no */
    bool stands;     /* the newest sample was no later than the one before */
    int64_t report_us; /* when its state is reported again */
};

/* The vessel cannot be steered without telemetry. */
static const int64_t SILENCE_US = 2000000;
/* Twice the time that course_drive.c gives a vessel to come to rest. */
static const int64_t QUIT_US = 60000000;
static const int64_t REPORT_US = 1000000;

/* ---- the text ---- */

/* The ranges are those of mission files (service/sim/mission/course_file.c). */
static const struct mission_number number_rows[] = {
#define AT(member) offsetof(struct course_text, member)
    {"speed_mps", 0.001, 100.0, MISSION_NUMBER_REAL, AT(course.speed_mps),
     "a \"speed_mps\" of 0.001 to 100 was expected"},
    {"lookahead_m", 0.5, 1000.0, MISSION_NUMBER_REAL, AT(course.lookahead_m),
     "a \"lookahead_m\" of 0.5 to 1000 was expected"},
    {"turn_in_m", 0.1, 1000.0, MISSION_NUMBER_REAL, AT(course.turn_in_m),
     "a \"turn_in_m\" of 0.1 to 1000 was expected"},
    {"clearance_m", 0.0, 1000.0, MISSION_NUMBER_REAL, AT(course.clearance_m),
     "a \"clearance_m\" of 0 to 1000 was expected"},
    {"off_m", 0.1, 1000.0, MISSION_NUMBER_REAL, AT(limits.off_m),
     "an \"off_m\" of 0.1 to 1000 was expected"},
    {"patience_s", 1.0, 86400.0, MISSION_NUMBER_REAL, AT(limits.patience_s),
     "a \"patience_s\" of 1 to 86400 was expected"},
#undef AT
};

/* The text while it is read. points[0] is the start, at first. */
struct reading {
    struct course_text *text;
    bool has_map;
    size_t point_count;
};

static bool scan_vessel(struct json_scan *s, size_t *vessel)
{
    struct json_text text;
    char word[16] = "";
    if (!json_scan_text(s, &text)) {
        return false;
    }
    (void)json_text_copy(&text, word, sizeof word, false);
    const struct usv3_vessel *found = usv3_vessel_find(word);
    *vessel = found ? (size_t)(found - usv3_vessels) : 0;
    return found || json_scan_fail(s, FAULT_UNKNOWN_VALUE,
                                   "a \"vessel\" out of wamv iacquabot was expected");
}

static bool scan_member(struct json_scan *s, const struct json_text *key, struct reading *r)
{
    struct course_plan *plan = &r->text->course;
    if (json_text_is(key, "course_m") && r->point_count == 0) {
        return map_json_scan_points(s, &plan->points[1], COURSE_POINTS_MAX - 1,
                                    "a course of at most 63 way-points was expected",
                                    &r->point_count);
    }
    if (json_text_is(key, "start_m")) {
        plan->has_start = true;
        return map_json_scan_point(s, &plan->points[0]);
    }
    if (json_text_is(key, "vessel")) {
        return scan_vessel(s, &r->text->vessel);
    }
    if (json_text_is(key, "actuation")) {
        return mission_text_choice(s, &course_actuation_names, &r->text->actuation,
                                   "an \"actuation\" out of wrench allocated thrusters was "
                                   "expected");
    }
    if (json_text_is(key, "map")) {
        r->has_map = true;
        memset(&plan->map, 0, sizeof plan->map);
        return map_json_scan(s, &plan->map);
    }
    return mission_text_setting(s, key, number_rows, COUNT(number_rows), r->text);
}

static bool scan_course(struct json_scan *s, struct reading *r)
{
    struct json_text key;
    (void)json_scan_enter(s, JSON_KIND_OBJECT);
    while (json_scan_next_member(s, &key)) {
        if (!scan_member(s, &key, r)) {
            return false;
        }
    }
    return !s->error && (r->point_count > 0 ||
                         json_scan_fail(s, FAULT_MISSING_KEY,
                                        "a COURSE needs its way-points, \"course_m\""));
}

static enum status parse_plan(const struct mission_kind *kind, const char *text, size_t bytes,
                              const struct pair_params *p, void *into, struct err *err)
{
    struct course_text *t = into;
    struct course_plan *plan = &t->course;
    struct reading r = {.text = t};
    struct course course;
    struct err found = {0};
    struct json_scan s;
    (void)kind;
    *t = (struct course_text){
        .course = {.lookahead_m = 6.0, .turn_in_m = 4.0, .clearance_m = 2.0},
        .limits = {.off_m = 5.0, .patience_s = 60.0},
        .actuation = COURSE_ALLOCATED};
    json_scan_start(&s, text, bytes, JSON_SCAN_DEPTH_MAX);
    if (!scan_course(&s, &r) || !json_scan_finish(&s)) {
        return mission_text_fault(&s, err);
    }
    plan->point_count = r.point_count + plan->has_start;
    if (!plan->has_start) {
        memmove(&plan->points[0], &plan->points[1], r.point_count * sizeof plan->points[0]);
    }
    if (!r.has_map && p->costmap) {
        return err_set(err, STATUS_E_PARSE, FAULT_NEEDS_KEY, mission_text_where,
                       "the map of %s has cells, and a course goes around circles only: send a "
                       "\"map\" of circles",
                       p->id);
    }
    if (!r.has_map && p->world) {
        plan->map = *p->world;
    }
    plan->vessel = &usv3_vessels[t->vessel];
    if (!(plan->speed_mps > 0.0)) {
        plan->speed_mps = course_usual_speed_mps(plan->vessel);
    }
    if (course_make(plan, &course, &found) != STATUS_OK) {
        return err_set(err, STATUS_E_PARSE, found.fault, mission_text_where, "%s: %s",
                       found.where, found.text);
    }
    return STATUS_OK;
}

/* ---- the work ---- */

struct course_run {
    struct course_work *w;
    int64_t t_us;
    mission_sink *sink;
    void *context;
};

/* Way-points of the message, without the start. */
static size_t count_points(const struct course_work *w)
{
    return w->plan->course.point_count - w->plan->course.has_start;
}

static struct mission_effect effect_of(const struct course_run *r,
                                       enum mission_effect_kind kind)
{
    const size_t all = count_points(r->w);
    const size_t step = r->w->passed + 1 < all ? r->w->passed + 1 : all;
    return (struct mission_effect){
        .kind = kind, .t_us = r->t_us, .step = r->w->begun ? (unsigned)step : 0, .layer = 1};
}

static void send_message(const struct course_run *r, enum mission_level level, const char *text)
{
    struct mission_effect e = effect_of(r, MISSION_MESSAGE);
    e.level = level;
    e.text = text;
    r->sink(r->context, &e);
}

static void send_effort(const struct course_run *r, const double tau[USV3_AXES])
{
    struct mission_effect e = effect_of(r, MISSION_EFFORT);
    const bool thrusts = r->w->plan->actuation == COURSE_THRUSTERS;
    e.effort = thrusts ? r->w->drive.thrust_n : tau;
    e.effort_count = thrusts ? r->w->drive.vessel->thruster_count : (size_t)USV3_AXES;
    r->w->has_left = true;
    r->sink(r->context, &e);
}

/* why: for people; "" if nothing failed. */
static void end_work(const struct course_run *r, enum l2_verdict verdict,
                     enum mission_code code, const char *why)
{
    if (verdict == L2_VERDICT_FAILED) {
        send_message(r, MISSION_ERROR, why);
    }
    struct mission_effect e = effect_of(r, MISSION_END);
    e.verdict = verdict;
    e.code = code;
    r->sink(r->context, &e);
}

/* Ends the mission at once, without a sample. */
static void stop_work(const struct course_run *r, enum mission_code code, const char *why)
{
    static const double none[USV3_AXES] = {0.0};
    if (r->w->has_left) {
        memset(r->w->drive.thrust_n, 0, sizeof r->w->drive.thrust_n);
        send_effort(r, none);
    }
    end_work(r, r->w->quitting ? L2_VERDICT_QUIT : L2_VERDICT_FAILED, code, why);
}

static void begin_work(void *work, const void *plan, const char *run, int64_t t_us,
                       mission_sink *sink, void *context)
{
    struct course_work *w = work;
    const struct course_run r = {w, t_us, sink, context};
    (void)run; /* it names commands, and a vessel gets none */
    w->plan = plan;
    w->silent_us = t_us + SILENCE_US;
    send_message(&r, MISSION_ACK, "waits for telemetry of the vessel");
}

static void rebind_work(void *work, void *plan, const struct mission_place *place)
{
    struct course_work *w = work;
    (void)place;
    w->plan = plan;
    w->drive.course = &w->course;
    w->drive.vessel = &usv3_vessels[w->plan->vessel];
    w->drive.params.model = &usv3_model;
}

/* Lays the course, from where the vessel is if the message has no start. */
static bool lay_course(const struct course_run *r, const struct course_sample *sample)
{
    struct course_work *w = r->w;
    struct course_plan plan = w->plan->course;
    struct err err = {0};
    char text[MISSION_TEXT_MAX];
    plan.vessel = &usv3_vessels[w->plan->vessel];
    if (!plan.has_start) {
        memmove(&plan.points[1], &plan.points[0], plan.point_count * sizeof plan.points[0]);
        plan.points[0] = (struct world_point){sample->pose[0], sample->pose[1]};
        plan.point_count++;
        plan.has_start = true;
    }
    if (course_make(&plan, &w->course, &err) != STATUS_OK) {
        (void)snprintf(text, sizeof text, "%.60s: %.190s", err.where, err.text);
        end_work(r, L2_VERDICT_FAILED, MISSION_NO_ROUTE, text);
        return false;
    }
    course_drive_init(&w->drive, &plan, &w->course, &w->plan->limits);
    w->begun = true;
    w->first_s = sample->t_s;
    send_message(r, MISSION_ACK, "under way");
    return true;
}

static void report_passings(const struct course_run *r, const struct course_sample *sample)
{
    struct course_work *w = r->w;
    const bool arrived = w->drive.state != COURSE_DRIVING && w->drive.failure == COURSE_FINE;
    const size_t leads_to = w->course.pieces[w->drive.place.piece].point;
    const size_t behind = arrived ? count_points(w) : leads_to - 1; /* points[0] is the start */
    while (w->passed < behind) {
        char text[MISSION_TEXT_MAX];
        w->passed++;
        (void)snprintf(text, sizeof text,
                       "way-point %zu of %zu after %.1f s, %.2f m from the course", w->passed,
                       count_points(w), sample->t_s - w->first_s,
                       fabs(w->drive.place.across_m));
        send_message(r, MISSION_ACK, text);
    }
}

static enum mission_code code_of(enum course_failure failure)
{
    return failure == COURSE_OFF     ? MISSION_OFF_COURSE
           : failure == COURSE_STUCK ? MISSION_NO_WAY
                                     : MISSION_NO_TELEMETRY;
}

static void steer_vessel(const struct course_run *r, const struct course_sample *sample)
{
    struct course_work *w = r->w;
    double tau[USV3_AXES];
    memcpy(w->pose, sample->pose, sizeof w->pose);
    if (!w->begun && !lay_course(r, sample)) {
        return;
    }
    if (w->quitting) {
        course_drive_quit(&w->drive);
    }
    w->stands = !course_drive_step(&w->drive, sample, tau);
    if (!w->stands) {
        w->silent_us = r->t_us + SILENCE_US;
        report_passings(r, sample);
        send_effort(r, tau);
    }
    if (r->t_us >= w->report_us) {
        const struct mission_effect state = effect_of(r, MISSION_ANSWER);
        w->report_us = r->t_us + REPORT_US;
        r->sink(r->context, &state);
    }
    if (w->drive.state == COURSE_DONE) {
        end_work(r, L2_VERDICT_DONE, MISSION_CODE_NONE, "");
    } else if (w->drive.state == COURSE_FAILED) {
        end_work(r, w->drive.failure == COURSE_QUIT ? L2_VERDICT_QUIT : L2_VERDICT_FAILED,
                 code_of(w->drive.failure), course_failure_name(w->drive.failure));
    }
}

static void receive_sample(const struct course_run *r, const struct event_telemetry *t)
{
    struct course_sample sample;
    if (t->nu_count != USV3_AXES || t->pose_count != USV3_AXES ||
        (!t->has_sim && t->source_us == LAB_TIME_NONE)) {
        return;
    }
    sample.t_s = lab_s(t->has_sim ? t->sim_us : t->source_us);
    memcpy(sample.nu, t->nu, sizeof sample.nu);
    memcpy(sample.pose, t->pose, sizeof sample.pose);
    steer_vessel(r, &sample);
}

static void step_work(void *work, const struct mission_input *input, mission_sink *sink,
                      void *context)
{
    struct course_work *w = work;
    const struct course_run r = {w, input->t_us, sink, context};
    switch (input->kind) {
    case MISSION_INPUT_SAMPLE:
        receive_sample(&r, input->sample);
        break;
    case MISSION_INPUT_TICK:
        stop_work(&r, MISSION_NO_TELEMETRY,
                  w->stands ? "the times of the telemetry have stood still for 2 s"
                  : w->begun
                      ? "no telemetry for 2 s"
                      : "no telemetry within 2 s: t, nu and pose with three numbers each "
                        "were expected, at 4 Hz or more");
        break;
    case MISSION_INPUT_HALT:
        stop_work(&r, MISSION_HALTED, "somebody halted the vessel");
        break;
    case MISSION_INPUT_QUIT:
        w->quitting = true;
        w->quit_us = input->t_us + QUIT_US;
        if (!w->begun) {
            stop_work(&r, MISSION_CODE_NONE, "");
        }
        break;
    case MISSION_INPUT_REPLY: /* a vessel is steered without commands */
        break;
    }
}

static int64_t next_work_us(const void *work)
{
    const struct course_work *w = work;
    return w->quitting && w->quit_us < w->silent_us ? w->quit_us : w->silent_us;
}

/* ---- the report ---- */

/* The page draws arcs as chords of at most 30 degrees; more points than this help nobody. */
static const double CHORD_RAD = 0.5235987755982988;
enum { SHOWN_MAX = 256 };

/* The course from the vessel's place on. */
static void write_path(struct json_writer *w, const struct course_work *work)
{
    size_t shown = 0;
    json_write_array(w, "path_m");
    for (size_t k = work->drive.place.piece; work->begun && k < work->course.count; k++) {
        const struct course_piece *p = &work->course.pieces[k];
        const double turn_rad = p->turn == 0 ? 0.0 : p->length_m / p->radius_m;
        const size_t parts = 1 + (size_t)(turn_rad / CHORD_RAD);
        for (size_t i = 1; i <= parts && shown < SHOWN_MAX; i++, shown++) {
            const struct world_point at =
                course_point(p, p->length_m * (double)i / (double)parts);
            json_write_two(w, NULL, at.x_m, at.y_m);
        }
    }
    json_write_close(w);
}

static void report_work(const void *work, const void *from, struct json_writer *w)
{
    const struct course_work *m = work;
    const struct course_text *plan = from;
    const struct course_drive *d = &m->drive;
    JSON_WRITE(w, JSON("steps", count_points(m)));
    if (m->begun) {
        json_write_axes(w, "pose", m->pose, USV3_AXES);
    }
    write_path(w, m);
    JSON_WRITE(w, JSON_OBJECT("course", JSON("vessel", usv3_vessels[plan->vessel].name),
                              JSON("speed_mps", plan->course.speed_mps),
                              JSON("state", !m->begun                    ? "waiting"
                                            : d->state == COURSE_DRIVING ? "driving"
                                            : d->state == COURSE_BRAKING ? "braking"
                                                                         : "at rest"),
                              JSON("length_m", m->course.length_m),
                              JSON("way_m", d->passed_m + d->place.along_m),
                              JSON("off_m", d->place.across_m),
                              JSON("rms_m", course_drive_rms_m(d)), JSON("largest_m", d->off_m),
                              JSON("anywhere_m", d->largest_m)));
}

/* ---- the row ---- */

_Static_assert(sizeof(struct course_text) <= MISSION_PLAN_BYTES, "room for the plan");
_Static_assert(sizeof(struct course_work) <= MISSION_WORK_BYTES, "room for the work");

const struct mission_kind mission_course = {
    .name = "COURSE",
    .help = "Steers a vessel along course_m, in wind and current, around the discs of the map.",
    .robot = MISSION_VESSEL,
    .plan_bytes = sizeof(struct course_text),
    .work_bytes = sizeof(struct course_work),
    .parse = parse_plan,
    .begin = begin_work,
    .step = step_work,
    .next_us = next_work_us,
    .rebind = rebind_work,
    .report = report_work};
