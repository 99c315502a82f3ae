#include "service/sim/demo/demo_team.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "config/labfile/lab_file.h"
#include "service/mqtt/session.h"
#include "service/team/team_command.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/json_file.h"
#include "service/tool/lab_clock.h"
#include "service/tool/stop_signal.h"

enum { PAIRS_MAX = 12, POLL_US = 100 * 1000, LISTEN_MS = 5000 };

static const double APART_M = 1.0; /* m between robots whose position the file does not give */

/* ---- enough work -------------------------------------------------------------------------
 *
 * A duration is estimated from six laps or more. If robots keep emptying buffers, the buffers
 * are filled so often that each robot makes that many laps, and the simulated robots run faster
 * by the same factor. So the demo takes as long as before, and the later simulation uses
 * measured durations.
 */

enum { LAPS_ENOUGH = 6, TIMES_MAX = 12 };

static bool does_handle(const struct team_params *p, const struct team_robot_params *r,
                        uint16_t part)
{
    bool does = r->handles_all;
    for (uint32_t k = 0; k < r->handled_count; k++) {
        does = does || p->lists[r->first_handled + k] == part;
    }
    return does;
}

/* Returns whether a robot takes parts from buffers in a loop. */
static bool goes_round(const struct team_params *p, const struct team_robot_params *r)
{
    const struct team_sequence none = {.count = 0};
    const struct team_sequence *q =
        r->sequence == TEAM_NONE ? &none : &p->sequences[r->sequence];
    bool picks = false;
    bool again = false;
    for (uint32_t k = q->first; k < q->first + q->count; k++) {
        picks = picks || p->steps[k].kind == TEAM_STEP_TAKE;
        again = again || (p->steps[k].kind == TEAM_STEP_GOTO && p->steps[k].to == q->first);
    }
    return picks && again;
}

/* Returns how often the buffers must be filled; 1: as in the file. */
static unsigned count_times(const struct team_params *p)
{
    double least = LAPS_ENOUGH;
    for (size_t i = 0; i < p->robot_count; i++) {
        double parts = 0.0; /* parts are shared by the robots that can handle them */
        for (size_t b = 0; b < p->buffer_count; b++) {
            for (uint32_t k = 0; k < p->buffers[b].part_count; k++) {
                const uint16_t part = p->lists[p->buffers[b].first_part + k];
                size_t others = 0;
                for (size_t j = 0; j < p->robot_count; j++) {
                    others += does_handle(p, &p->robots[j], part);
                }
                parts += does_handle(p, &p->robots[i], part) ? 1.0 / (double)others : 0.0;
            }
        }
        if (!goes_round(p, &p->robots[i]) || !(parts > 0.0)) {
            return 1;
        }
        least = parts < least ? parts : least;
    }
    const double times = ceil(LAPS_ENOUGH / least);
    return times < TIMES_MAX ? (unsigned)times : TIMES_MAX;
}

/* In the printed lab file each buffer is one line, "NAME: [a, b]". */
static bool fill_buffers(struct team_file *file, unsigned times)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) {
        return false;
    }
    size_t indent = 0; /* indentation of "buffers:"; 0: not found */
    for (const char *line = file->text, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        const size_t own = strspn(line, " ");
        const char *open = memchr(line, '[', (size_t)(end - line));
        const char *close = memchr(line, ']', (size_t)(end - line));
        indent = strncmp(line + own, "buffers:", 8) == 0 ? own : own > indent ? indent : 0;
        if (indent > 0 && open && close && close > open + 1) {
            (void)fprintf(out, "%.*s", (int)(close - line), line);
            for (unsigned k = 1; k < times; k++) {
                (void)fprintf(out, ", %.*s", (int)(close - open - 1), open + 1);
            }
            line = close;
        }
        end += *end == '\n';
        (void)fprintf(out, "%.*s", (int)(end - line), line);
    }
    if (fclose(out) != 0) {
        free(text);
        return false;
    }
    free(file->text);
    file->text = text;
    return true;
}

/* ---- the stage ----------------------------------------------------------------------------
 */

/* Writes the file's lab for this stage. */
static bool write_lab(struct demo_stage *stage, struct lab_file *lab)
{
    char path[2 * PATH_MAX];
    (void)snprintf(lab->broker.host, sizeof lab->broker.host, "127.0.0.1");
    lab->broker.port = (uint16_t)stage->port;
    lab->broker.tls.enabled = false;
    lab->broker.username[0] = '\0';
    (void)snprintf(lab->broker.prefix, sizeof lab->broker.prefix, "tandem/v1");
    lab->http.enabled = true;
    (void)snprintf(lab->http.bind, sizeof lab->http.bind, "127.0.0.1");
    lab->http.port = (uint16_t)stage->http_port;
    lab->http.tls_certificate[0] = '\0';
    (void)snprintf(lab->http.token_file, sizeof lab->http.token_file, "token");
    (void)snprintf(lab->journal.dir, sizeof lab->journal.dir, "journal");
    (void)snprintf(lab->store.file, sizeof lab->store.file, "tandem.db");
    (void)snprintf(lab->checkpoint.file, sizeof lab->checkpoint.file, "tandem.checkpoint");
    (void)snprintf(path, sizeof path, "%s/lab.yaml", stage->dir);
    FILE *file = fopen(path, "we");
    if (!file) {
        return demo_stage_complain(path, "cannot be written");
    }
    lab_file_print(lab, file);
    return fclose(file) == 0 || demo_stage_complain(path, "cannot be written");
}

static const struct team_position *step_position(const struct team_params *p, uint16_t robot,
                                                 const struct team_step *step)
{
    const bool moves = step->kind == TEAM_STEP_TASK && p->tasks[step->task].to_position;
    return moves ? team_position(p, robot, step->arg) : NULL;
}

/* Finds the pose at the end of the robot's sequence, so that its first cycle begins like the
 * others; else a free position. */
static void find_start(const struct team_params *p, uint16_t robot, double pose[3])
{
    const struct team_position *at = NULL;
    const struct team_position *before = NULL;
    const uint16_t sequence = p->robots[robot].sequence;
    const struct team_sequence none = {.count = 0};
    const struct team_sequence *q = sequence == TEAM_NONE ? &none : &p->sequences[sequence];
    for (uint32_t k = q->first; k < q->first + q->count; k++) {
        const struct team_position *to = step_position(p, robot, &p->steps[k]);
        before = to ? at : before;
        at = to ? to : at;
    }
    for (size_t k = 0; !at && k < p->position_count; k++) {
        const struct team_position *own = team_position(p, robot, p->positions[k].name);
        at = own && own->safe ? own : NULL;
    }
    if (at) {
        pose[0] = at->x_m;
        pose[1] = at->y_m;
        pose[2] = isfinite(at->heading_rad) ? at->heading_rad
                  : before ? atan2(at->y_m - before->y_m, at->x_m - before->x_m)
                           : 0.0;
    }
}

static bool start_robot(struct demo_stage *stage, const struct team_params *p, uint16_t robot,
                        unsigned pace)
{
    double pose[3] = {0.0, APART_M * robot, 0.0};
    find_start(p, robot, pose);
    return demo_stage_start(stage, p->robots[robot].name,
                            "tandem robot --kind diffdrive --mode link --side both --pair %s "
                            "--port %d --pose=%g,%g,%g --telemetry-rate 5 --delay 0.005 "
                            "--jitter 0.002 --seed %u --pace %u",
                            p->robots[robot].pair, stage->port, pose[0], pose[1], pose[2],
                            11U + robot, pace) != NULL;
}

struct online {
    struct session session;
    size_t count; /* "online" messages received */
    size_t wanted;
};

static void count_online(void *context, const struct message *m)
{
    struct online *o = context;
    json_t *document = json_loadb(m->payload, m->stored_bytes, 0, NULL);
    o->count += strcmp(json_file_text(document, "state"), "online") == 0;
    json_decref(document);
}

/* A command to a robot that has not subscribed yet would be lost. */
static bool robots_are_online(void *context)
{
    struct online *o = context;
    session_drain(&o->session, count_online, o);
    return o->count >= o->wanted;
}

static bool start_robots(struct demo_stage *stage, const struct team_params *p, unsigned pace)
{
    static const struct mqtt_client_topic topics[] = {{"tandem/v1/+/+/connection", 1}};
    struct online *online = calloc(1, sizeof *online);
    bool started = online && demo_stage_listen(stage, topics, COUNT(topics), &online->session);
    for (size_t i = 0; started && i < p->robot_count; i++) {
        if (p->robots[i].pair[0]) {
            started = start_robot(stage, p, (uint16_t)i, pace);
            online->wanted += SIDE_COUNT;
        }
    }
    started = started && demo_stage_wait(stage, "a robot", robots_are_online, online);
    if (online) {
        session_close(&online->session, LISTEN_MS);
    }
    free(online);
    return started;
}

static void announce_team(const struct demo_stage *stage, const struct team_params *p,
                          unsigned times)
{
    (void)printf("Team %s at work: %zu robots, each real and simulated, and %zu place%s or "
                 "tool%s to share.\n"
                 "  page     http://127.0.0.1:%d/#/team/%s (for a browser)\n"
                 "  token    %s, which the page asks for before it changes anything\n"
                 "  API      http://127.0.0.1:%d/api/v1/teams/%s\n"
                 "  MQTT     127.0.0.1:%d, topics tandem/v1/%s/#\n"
                 "  files    %s\n\n",
                 p->name, p->robot_count, p->resource_count, p->resource_count == 1 ? "" : "s",
                 p->resource_count == 1 ? "" : "s", stage->http_port, p->name, stage->token,
                 stage->http_port, p->name, stage->port, p->name, stage->dir);
    if (times > 1) {
        (void)printf("Its buffers hold what the file says %u times over, and the simulated "
                     "robots work at %u times their pace, so that each duration can be "
                     "estimated from six laps.\n\n",
                     times, times);
    }
    (void)fflush(stdout);
}

/* Runs an action of `tandem team`, as a user would. */
static int run_action(int (*action)(int argc, char **argv), char **words)
{
    int count = 0;
    while (words[count]) {
        count++;
    }
    return action(count, words);
}

static int follow_work(const struct demo_stage *stage, const struct team_params *p,
                       double for_s)
{
    char lab[2 * PATH_MAX], name[EVENT_PAIR_MAX], timeout[32];
    (void)snprintf(lab, sizeof lab, "%s/lab.yaml", stage->dir);
    (void)snprintf(name, sizeof name, "%s", p->name);
    (void)snprintf(timeout, sizeof timeout, "--timeout=%g", for_s > 0.0 ? for_s : 86400.0);
    char run[] = "run", config[] = "-c", stop[] = "--stop";
    char *words[] = {run, config, lab, stop, timeout, name, NULL};
    return run_action(team_run_command, words);
}

static int print_prediction(const struct demo_stage *stage)
{
    char lab[2 * PATH_MAX], journal[2 * PATH_MAX];
    (void)snprintf(lab, sizeof lab, "%s/lab.yaml", stage->dir);
    (void)snprintf(journal, sizeof journal, "%s/journal", stage->dir);
    char simulate[] = "simulate", from[] = "--from";
    char *words[] = {simulate, from, journal, lab, NULL};
    (void)printf("\nThe same work in simulation, with measured durations if there are six "
                 "laps, else with those of the file:\n");
    (void)fflush(stdout);
    return run_action(team_simulate_command, words);
}

static bool check_lab(const char *file, const struct lab_params *params)
{
    if (params->team_count == 0) {
        return demo_stage_complain(file, "it has no 'teams:'; see config/examples/class3.yaml");
    }
    if (params->pair_count > PAIRS_MAX) {
        return demo_stage_complain(file, "a demo shows at most 12 pairs");
    }
    return true;
}

static int run_work(struct demo_stage *stage, const struct team_params *p, unsigned times,
                    double for_s)
{
    const bool started = demo_stage_serve(stage) && start_robots(stage, p, times);
    int status = EXIT_FAILED;
    stage->failed = !started && !stop_signal_raised();
    if (started) {
        announce_team(stage, p, times);
        status = follow_work(stage, p, for_s);
    }
    const bool ended = status == EXIT_FINE;
    if (status == EXIT_AS_ASKED) { /* the time is over, or Ctrl-C */
        status = EXIT_FINE;
    }
    if (ended) {
        status = print_prediction(stage);
    }
    while (ended && for_s <= 0.0 && !stop_signal_raised() && demo_stage_runs(stage)) {
        static bool printed;
        if (!printed) {
            printed = true;
            (void)printf("The page still shows it. Ctrl-C ends it.\n");
            (void)fflush(stdout);
        }
        lab_clock_sleep_until_us(lab_clock_monotonic_us() + POLL_US);
    }
    demo_stage_end(stage);
    return status;
}

int demo_team_run(struct demo_stage *stage, const char *path, double for_s)
{
    struct lab_file lab = {0};
    struct err_list errors = {0};
    int status = EXIT_USAGE;
    stop_signal_install();
    if (lab_file_load(path, &lab, &errors) == STATUS_OK) {
        const struct lab_params params = lab_file_params(&lab);
        if (check_lab(path, &params)) {
            const unsigned times = params.team_count == 1 ? count_times(&params.teams[0]) : 1;
            status = demo_stage_prepare(stage) &&
                             (times == 1 || fill_buffers(&lab.teams, times)) &&
                             write_lab(stage, &lab)
                         ? run_work(stage, &params.teams[0], times, for_s)
                         : EXIT_FAILED;
            (void)demo_stage_conclude(stage);
        }
    }
    err_list_print(&errors, stderr);
    lab_file_free(&lab);
    return status;
}
