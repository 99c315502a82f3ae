/* service/sim/mission/course_run.c - `tandem mission` of a vessel: reads its telemetry and
 * sends efforts. The commands of a vessel know only halt (docs/model/usv3.md): a course is
 * steered a few times a second, so efforts go straight to real/control, which is never sent
 * late. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "logger/message/codec_native.h"
#include "service/sim/mission/course_file.h"
#include "service/sim/mission/mission_files.h"
#include "service/tool/commands.h"
#include "service/tool/csv_tables.h"
#include "service/tool/json_file.h"
#include "service/tool/lab_clock.h"
#include "service/tool/stop_signal.h"

enum {
    STOP_MS = 3000,
    SILENCE_US = 2000 * 1000, /* without telemetry: the vessel cannot be steered */
    CONTROL_BYTES = 256
};

/* When the vessel was abeam of a way-point. */
struct passing {
    double t_s, off_m; /* since the begin; distance from the course */
};

struct course_run {
    struct course_file file;
    const struct mission_arguments *arguments;
    const struct lab_file *lab;
    const char *pair;
    struct session session;
    char telemetry_topic[MESSAGE_TOPIC_MAX], control_topic[MESSAGE_TOPIC_MAX];
    struct course_plan plan;
    struct course course;
    struct course_drive drive;
    bool begun, refused; /* refused: there is no course from where the vessel is */
    bool silent;
    bool stands;             /* the newest sample was no later than the one before */
    bool shared;             /* somebody else steers the vessel */
    size_t samples, efforts; /* telemetry received; efforts sent less those received */
    double start_s;
    int64_t sample_us; /* when the last sample of a later time came */
    int64_t begin_us, end_us;
    struct course_sample sample;
    double tau[EVENT_AXES_MAX]; /* a wrench, or the thrust of each thruster */
    bool has_effort;            /* tau is new */
    size_t passed;
    struct passing passings[COURSE_POINTS_MAX];
    uint64_t malformed;
};

static const char *pair_of(void *run)
{
    return ((struct course_run *)run)->file.pair;
}

/* --- the plan ------------------------------------------------------------------------- */

static const char *piece_name(const struct course_piece *piece)
{
    return piece->turn == 0 ? "line" : piece->turn > 0 ? "left" : "right";
}

static void write_piece(struct json_writer *w, const struct course_piece *p)
{
    JSON_WRITE_OBJECT(w, NULL, JSON("kind", piece_name(p)),
                      JSON_TWO(p->turn == 0 ? "from_m" : "centre_m", p->at.x_m, p->at.y_m),
                      JSON("heading_rad", p->heading_rad), JSON("length_m", p->length_m),
                      JSON_IF(p->turn != 0, JSON("radius_m", p->radius_m)));
}

static void write_plan(const void *what, struct json_writer *w)
{
    const struct course_run *r = what;
    JSON_WRITE(w, JSON("mission", r->file.name), JSON("vessel", r->plan.vessel->name),
               JSON("speed_mps", r->plan.speed_mps), JSON("length_m", r->course.length_m),
               JSON("duration_s", r->course.length_m / r->plan.speed_mps));
    JSON_LIST(w, "pieces", size_t i = 0; i < r->course.count; i++) {
        write_piece(w, &r->course.pieces[i]);
    }
}

static bool lay_course(struct course_run *r, const struct world_point *start)
{
    struct err err = {0};
    course_file_plan(&r->file, start, &r->plan);
    return course_make(&r->plan, &r->course, &err) == STATUS_OK ||
           complain("%s: %s: %s", r->arguments->mission_path, err.where, err.text);
}

static bool print_plan(void *run, const struct mission_arguments *a)
{
    struct course_run *r = run;
    r->arguments = a;
    if (!lay_course(r, r->file.has_start
                           ? &(struct world_point){r->file.start_m[0], r->file.start_m[1]}
                           : NULL)) {
        return false;
    }
    if (a->json) {
        json_file_print(stdout, write_plan, r);
        return true;
    }
    (void)printf("%4s  %-6s %10s %10s %9s %9s\n", "", "piece", "x m", "y m", "length m",
                 "radius m");
    for (size_t i = 0; i < r->course.count; i++) {
        const struct course_piece *p = &r->course.pieces[i];
        (void)printf("%4zu  %-6s %10.2f %10.2f %9.2f", i + 1, piece_name(p), p->at.x_m,
                     p->at.y_m, p->length_m);
        csv_tables_cell(stdout, 10, 2, 'f', p->turn == 0 ? (double)NAN : p->radius_m);
        (void)putchar('\n');
    }
    (void)printf("\ncourse %s of %s: %.1f m, %.0f s at %g m/s\n", r->file.name,
                 r->plan.vessel->name, r->course.length_m,
                 r->course.length_m / r->plan.speed_mps, r->plan.speed_mps);
    return true;
}

/* --- samples in, efforts out ---------------------------------------------------------- */

static void begin_course(struct course_run *r)
{
    const struct world_point here = {r->sample.pose[0], r->sample.pose[1]};
    r->refused = !lay_course(
        r, r->file.has_start ? &(struct world_point){r->file.start_m[0], r->file.start_m[1]}
                             : &here);
    course_drive_init(&r->drive, &r->plan, &r->course, &r->file.limits);
    r->begun = true;
    r->begin_us = r->sample_us = lab_clock_now_us();
    r->start_s = r->sample.t_s;
}

static void record_passings(struct course_run *r)
{
    const size_t shift = r->plan.has_start ? 1 : 0;
    const bool ended = r->drive.state != COURSE_DRIVING && r->drive.failure == COURSE_FINE;
    const size_t leads_to = r->course.pieces[r->drive.place.piece].point;
    const size_t behind = (ended ? r->course.point_count : leads_to) - shift;
    while (r->passed < behind) {
        struct passing *p = &r->passings[r->passed++];
        *p = (struct passing){r->sample.t_s - r->start_s, r->drive.place.across_m};
        if (!r->arguments->json && !r->arguments->quiet) {
            (void)printf("way-point %zu after %.1f s, %.2f m from the course\n", r->passed,
                         p->t_s, fabs(p->off_m));
            (void)fflush(stdout);
        }
    }
}

static size_t effort_count(const struct course_run *r)
{
    return r->file.actuation == COURSE_THRUSTERS ? r->plan.vessel->thruster_count
                                                 : (size_t)USV3_AXES;
}

static void steer_vessel(struct course_run *r)
{
    r->stands = !course_drive_step(&r->drive, &r->sample, r->tau);
    if (!r->stands) {
        r->sample_us = lab_clock_now_us();
    }
    if (r->file.actuation == COURSE_THRUSTERS) {
        memcpy(r->tau, r->drive.thrust_n, effort_count(r) * sizeof r->tau[0]);
    }
    record_passings(r);
    r->has_effort = true;
}

static void receive_sample(void *context, const struct event *event)
{
    struct course_run *r = context;
    const struct event_telemetry *t = &event->telemetry;
    if (event->kind != EVENT_TELEMETRY || t->nu_count != USV3_AXES ||
        t->pose_count != USV3_AXES || (!t->has_sim && t->source_us == LAB_TIME_NONE)) {
        r->malformed++;
        return;
    }
    r->sample.t_s = lab_s(t->has_sim ? t->sim_us : t->source_us);
    memcpy(r->sample.nu, t->nu, sizeof r->sample.nu);
    memcpy(r->sample.pose, t->pose, sizeof r->sample.pose);
    r->samples++;
    if (!r->begun && r->samples > 1) { /* others have had the time to send an effort */
        begin_course(r);
    }
    if (r->begun && !r->refused) {
        steer_vessel(r);
    }
}

/* An effort that this mission has not sent is somebody else's: before the begin the course is
 * refused. */
static void check_effort(struct course_run *r, const struct message *m)
{
    if (m->retained || r->shared) {
        return;
    }
    if (r->efforts > 0) {
        r->efforts--;
        return;
    }
    r->shared = true;
    r->refused = !r->begun;
    complain("mission: somebody else sends efforts to %s%s", r->control_topic,
             r->refused ? ": one mission at a time steers a vessel" : " too");
}

static void receive_message(void *context, const struct message *m)
{
    struct course_run *r = context;
    if (strcmp(m->topic, r->control_topic) == 0) {
        check_effort(r, m);
        return;
    }
    (void)codec_native.decode(r->lab->broker.prefix, m, receive_sample, r);
}

static void send_effort(struct course_run *r)
{
    char payload[CONTROL_BYTES];
    struct json_writer w;
    json_write_start(&w, payload, sizeof payload, NULL, NULL);
    JSON_OPEN(&w, NULL, JSON_SECONDS("t", lab_clock_now_us()),
              JSON_NUMBERS("tau", r->tau, effort_count(r)));
    json_write_close(&w);
    /* One that cannot leave now is useless later. */
    r->efforts +=
        json_write_end(&w) && mqtt_client_publish_now(r->session.client, r->control_topic,
                                                      payload, w.used) == STATUS_OK;
    r->has_effort = false;
}

static bool is_over(const struct course_run *r)
{
    return r->refused || r->silent || r->drive.state == COURSE_DONE ||
           r->drive.state == COURSE_FAILED;
}

static void drive_course(struct course_run *r)
{
    const int64_t first_us = lab_clock_now_us() + lab_us(r->arguments->connect_s);
    while (!is_over(r)) {
        const int64_t until_us = r->begun ? r->sample_us + SILENCE_US : first_us;
        mission_wait(&r->session, until_us);
        session_drain(&r->session, receive_message, r);
        if (r->has_effort) {
            send_effort(r);
        }
        if (stop_signal_raised()) {
            course_drive_quit(&r->drive);
            r->silent = !r->begun;
        }
        r->silent = r->silent ||
                    lab_clock_now_us() >= (r->begun ? r->sample_us + SILENCE_US : first_us);
    }
    memset(r->tau, 0, sizeof r->tau);
    if (r->begun) {
        send_effort(r);
    }
    r->end_us = lab_clock_now_us();
}

/* --- the report ----------------------------------------------------------------------- */

static const char *verdict_word(const struct course_run *r)
{
    return r->drive.failure == COURSE_QUIT             ? "quit"
           : r->begun && r->drive.state == COURSE_DONE ? "done"
                                                       : "failed";
}

static const char *failure_text(const struct course_run *r)
{
    return r->silent && r->stands  ? "the times of the telemetry have stood still for 2 s"
           : r->silent && r->begun ? "no telemetry for 2 s"
                                   : course_failure_name(r->drive.failure);
}

static void write_report(const void *what, struct json_writer *w)
{
    const struct course_run *r = what;
    JSON_WRITE(w, JSON("mission", r->file.name), JSON("pair", r->pair),
               JSON("vessel", r->plan.vessel->name), JSON("verdict", verdict_word(r)),
               JSON_IF(failure_text(r)[0], JSON("reason", failure_text(r))),
               JSON_SECONDS("t", r->begin_us), JSON("duration_s", r->sample.t_s - r->start_s),
               JSON("length_m", r->course.length_m),
               JSON_OBJECT("off_course", JSON("rms_m", course_drive_rms_m(&r->drive)),
                           JSON("largest_m", r->drive.off_m),
                           JSON("anywhere_m", r->drive.largest_m)));
    json_write_axes(w, "pose", r->sample.pose, USV3_AXES);
    JSON_LIST(w, "way_points", size_t i = 0; i < r->passed; i++) {
        JSON_WRITE_OBJECT(w, NULL, JSON("after_s", r->passings[i].t_s),
                          JSON("off_m", r->passings[i].off_m));
    }
}

static void print_report(const struct course_run *r)
{
    const struct course_plan *plan = &r->plan;
    (void)printf("\ncourse %s on %s: %s, %zu of %zu way-points in %.1f s", r->file.name,
                 r->pair, verdict_word(r), r->passed,
                 plan->point_count - (plan->has_start ? 1 : 0), r->sample.t_s - r->start_s);
    if (isfinite(course_drive_rms_m(&r->drive))) {
        (void)printf(
            "; from 20 m behind each turn %.3f m (rms) from the course, at most %.3f m",
            course_drive_rms_m(&r->drive), r->drive.off_m);
    }
    (void)printf(", in turns at most %.2f m\n", r->drive.largest_m);
    if (failure_text(r)[0]) {
        complain("mission: way-point %zu was not reached: %s", r->passed + 1, failure_text(r));
    }
}

static bool carry_out(void *run, const struct mission_arguments *a, const struct lab_file *lab,
                      const char *pair)
{
    struct course_run *r = run;
    const struct mqtt_client_topic topics[] = {{r->telemetry_topic, 0}, {r->control_topic, 0}};
    r->arguments = a;
    r->lab = lab;
    r->pair = pair;
    session_topic(r->telemetry_topic, lab->broker.prefix, pair, "real/telemetry");
    session_topic(r->control_topic, lab->broker.prefix, pair, "real/control");
    const bool connected =
        mission_connect(&r->session, lab, pair, topics, COUNT(topics), a->connect_s);
    if (connected) {
        drive_course(r);
    }
    session_close(&r->session, STOP_MS);
    if (!connected || r->refused) {
        return false;
    }
    if (!r->begun) {
        return complain(
            "mission: no vessel reports at %s within %g s (%" PRIu64
            " other messages): nu and pose with three numbers each were expected, at "
            "4 Hz or more; tandem robot needs --kind usv3 --telemetry-rate 10",
            r->telemetry_topic, a->connect_s, r->malformed);
    }
    if (a->json) {
        json_file_print(stdout, write_report, r);
    } else {
        print_report(r);
    }
    return r->drive.state == COURSE_DONE && !r->silent;
}

const struct mission_file_row mission_file_course = {.kind = MISSION_FILE_VESSEL,
                                                     .name = "vessel",
                                                     .bytes = sizeof(struct course_run),
                                                     .file = &course_file,
                                                     .needs_link = false,
                                                     .pair = pair_of,
                                                     .print_plan = print_plan,
                                                     .carry_out = carry_out};
