/* service/sim/demo/demo_command.c - `tandem demo`: runs a broker, the daemon, a "real" robot,
 * its simulation and a driver as children, and shows what the daemon publishes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "service/list/colour.h"
#include "service/mqtt/session.h"
#include "service/sim/demo/demo_arms.h"
#include "service/sim/demo/demo_show.h"
#include "service/sim/demo/demo_stage.h"
#include "service/sim/demo/demo_team.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/lab_clock.h"
#include "service/tool/stop_signal.h"

enum {
    CLOSE_MS = 15000, /* wait for open commands: a reply, or their timeout of 10 s */
    POLL_US = 20 * 1000
};

/* Parameters of the two robots; they differ in everything that Tandem identifies. */
static const struct robot_truth {
    double angular_speed_radps, linear_speed_mps;
    const char *moves; /* motion of a kinematic robot, as options of `tandem robot` */
    const char *link;  /* its network and clock, as options */
} truths[SIDE_COUNT] = {
    {3.0, 0.9,
     "--angular-speed 3.0 --linear-speed 0.9 --t0 0.05 --ta 0.03 --tr 0.04 --noise 0.008",
     "--delay 0.010 --jitter 0.004 --clock-offset 0.8 --clock-drift 40 --seed 11"},
    {2.4, 1.2,
     "--angular-speed 2.4 --linear-speed 1.2 --t0 0.04 --ta 0.02 --tr 0.03 --noise 0.003",
     "--delay 0.004 --jitter 0.001 --clock-offset -0.3 --clock-drift -15 --seed 12"}};

struct demo {
    double for_s, interval_s;
    struct demo_stage stage;
    struct child *driver; /* NULL: none */
    struct demo_show show;
    struct demo_arms arms;
    struct session session;
};

static void drain_queue(struct demo *d)
{
    session_drain(&d->session, demo_show_receive, &d->show);
}

static bool robots_are_online(void *context)
{
    struct demo *d = context;
    drain_queue(d);
    return d->show.online[SIDE_REAL] && d->show.online[SIDE_VIRTUAL];
}

static bool write_files(struct demo *d)
{
    static const char moves[] =
        "    calibration:\n      publish_every: 1\n"
        "    parameters:\n      promote: auto\n      propose_every: 5\n";
    char vessels[256];
    (void)snprintf(vessels, sizeof vessels,
                   "    following:\n"
                   "      model: usv3\n"
                   "      real: iacquabot\n"
                   "      virtual: wamv\n"
                   "      limits: 200, 200, 120\n"
                   "      noise_sd: 0.0005, 0.0005, 0.0003\n"
                   "      pose_per_s2: 4\n"
                   "      window_s: %g\n",
                   d->show.window_s);
    return demo_stage_write(
               &d->stage, "lab.yaml",
               "# Made by tandem demo. Replay it here with: tandem replay -c lab.yaml "
               "journal\n"
               "name: demo\n"
               "broker:\n  port: %d\n"
               "http:\n  port: %d\n  token_file: token\n"
               "journal:\n  dir: journal\n"
               "store:\n  file: tandem.db\n"
               "checkpoint:\n  file: tandem.checkpoint\n"
               "pairs:\n  r1:\n    probe_interval_s: 1\n%s%s",
               d->stage.port, d->stage.http_port, d->show.arms ? "    arm: ur5\n" : "",
               d->show.vessels ? vessels : moves) &&
           (!d->show.vessels ||
            demo_stage_write(&d->stage, "vessels.yaml", "%s", demo_show_vessels)) &&
           (!d->show.arms ||
            demo_stage_write(&d->stage, "arms.yaml", "%s", demo_arms_parameters));
}

static bool start_robot(struct demo *d, enum side side)
{
    static const char vessel[] = "--kind usv3 --parameters vessels.yaml --telemetry-rate 50";
    static const char arm[] = "--kind arm6 --parameters arms.yaml --telemetry-rate 50";
    const struct robot_truth *t = &truths[side];
    const bool drives = !d->show.vessels && !d->show.arms;
    return demo_stage_start(&d->stage, side == SIDE_REAL ? "robot-real" : "robot-virtual",
                            "tandem robot --pair r1 --side %s --port %d %s %s%s",
                            side_name(side), d->stage.port, t->link,
                            d->show.vessels ? vessel
                            : d->show.arms  ? arm
                                            : t->moves,
                            drives ? " --telemetry-rate 20" : "") != NULL;
}

static bool watch_broker(struct demo *d)
{
    static const struct mqtt_client_topic topics[] = {
        {"tandem/v1/+/entry", 1},       {"tandem/v1/+/alarm", 1},
        {"tandem/v1/+/calibration", 1}, {"tandem/v1/+/change", 1},
        {"tandem/v1/+/command", 1},     {"tandem/v1/r1/+/connection", 1},
        {"tandem/v1/+/fidelity", 0}};
    return demo_stage_listen(&d->stage, topics, COUNT(topics), &d->session);
}

static bool start_driver(struct demo *d)
{
    d->driver = demo_stage_start(
        &d->stage, "driver", "tandem drive --pair r1 --port %d --interval %.3f --turn-max 2.5",
        d->stage.port, d->interval_s);
    return d->driver != NULL;
}

/* --- running the demo ----------------------------------------------------------------- */

static void announce_demo(const struct demo *d)
{
    (void)printf(
        "%s\n"
        "  page     http://127.0.0.1:%d/ (for a browser)\n"
        "  token    %s, which the page asks for before it changes anything\n"
        "  API      http://127.0.0.1:%d/api/v1/pairs/r1/%s\n"
        "  MQTT     127.0.0.1:%d, topics tandem/v1/r1/#\n"
        "  files    %s\n"
        "%s\n",
        d->show.vessels
            ? "Tandem makes a simulated WAM-V move as a real vessel, an IAcquaBot, does."
        : d->show.arms
            ? "Tandem makes a simulated arm take the times that a real one, a UR5, does."
            : "Tandem compares a real and a virtual robot, command by command.",
        d->stage.http_port, d->stage.token, d->stage.http_port,
        d->show.vessels ? "fidelity" : "entries", d->stage.port, d->stage.dir,
        d->for_s > 0.0 ? "" : "Ctrl-C ends it.\n");
    (void)fflush(stdout);
}

/* False when the daemon refuses a request. */
static bool drive_vessels(struct demo *d)
{
    return !demo_show_drive(&d->show, d->session.client) ||
           demo_stage_ask(&d->stage, "PUT /api/v1/pairs/r1/following", "{\"active\":true}") ||
           demo_stage_complain("the daemon", "does not follow");
}

static void show_until_end(struct demo *d)
{
    const int64_t end_us =
        d->for_s > 0.0 ? lab_clock_monotonic_us() + lab_us(d->for_s) : LAB_TIME_MAX;
    while (!stop_signal_raised() && lab_clock_monotonic_us() < end_us) {
        drain_queue(d);
        if (!demo_stage_runs(&d->stage) || (d->show.vessels && !drive_vessels(d))) {
            d->stage.failed = true;
            return;
        }
        if (d->show.arms) {
            demo_arms_drive(&d->arms, d->show.entries, d->interval_s, d->session.client);
        }
        lab_clock_sleep_until_us(lab_clock_monotonic_us() + POLL_US);
    }
}

/* The driver is gone; wait until the daemon has closed its commands. */
static void wait_closed(struct demo *d)
{
    const int64_t until_us = lab_clock_monotonic_us() + (int64_t)CLOSE_MS * 1000;
    drain_queue(d);
    while (d->show.entries < d->show.commands && lab_clock_monotonic_us() < until_us &&
           demo_stage_runs(&d->stage)) {
        lab_clock_sleep_until_us(lab_clock_monotonic_us() + POLL_US);
        drain_queue(d);
    }
    lab_clock_sleep_until_us(lab_clock_monotonic_us() + 5 * (int64_t)POLL_US);
    drain_queue(d); /* the calibration after the last entry */
}

static void stop_all(struct demo *d)
{
    if (d->driver) {
        demo_stage_stop(&d->stage, d->driver);
    }
    if (d->session.client && !d->stage.failed) {
        wait_closed(d);
    }
    session_close(&d->session, 1000);
    demo_stage_end(&d->stage);
}

static int conclude_demo(struct demo *d, bool started)
{
    if (started && !demo_show_summary(&d->show) && !d->stage.failed) {
        d->stage.failed = !demo_stage_complain(d->show.vessels ? "no gap" : "no entry",
                                               "the daemon has compared nothing");
    }
    return demo_stage_conclude(&d->stage);
}

static bool prepare_demo(struct demo *d)
{
    d->show.colour = colour_wanted(stdout);
    d->show.open_s = d->for_s > 0.0 ? fmin(20.0, d->for_s / 3.0) : 20.0;
    d->show.window_s = d->for_s > 0.0 ? fmin(10.0, fmax(1.0, d->for_s / 4.0)) : 10.0;
    for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
        const double ratio = demo_arms_speed_ratios[side];
        d->show.truth[side][DEMO_ANGULAR] =
            d->show.arms ? ratio : truths[side].angular_speed_radps;
        d->show.truth[side][DEMO_LINEAR] = d->show.arms ? ratio : truths[side].linear_speed_mps;
        for (int i = 0; i < DEMO_SPEED_COUNT; i++) {
            d->show.fits[side][i].value = nan("");
        }
    }
    memcpy(d->show.own, d->show.truth[SIDE_VIRTUAL], sizeof d->show.own);
    return demo_stage_prepare(&d->stage);
}

static int run_demo(struct demo *d)
{
    if (!prepare_demo(d)) {
        return EXIT_FAILED;
    }
    stop_signal_install();
    bool started = write_files(d) && demo_stage_serve(&d->stage) && start_robot(d, SIDE_REAL) &&
                   start_robot(d, SIDE_VIRTUAL) && watch_broker(d) &&
                   demo_stage_wait(&d->stage, "a robot", robots_are_online, d);
    if (started) {
        announce_demo(d);
        started = d->show.vessels || d->show.arms || start_driver(d);
    }
    d->stage.failed = !started && !stop_signal_raised();
    if (started) {
        show_until_end(d);
    }
    stop_all(d);
    return conclude_demo(d, started);
}

static const char description[] =
    "  Starts a mosquitto of its own and the daemon on free loopback ports, a driver, and\n"
    "  a \"real\" and a virtual robot that differ in speed, delay, jitter and clock. Prints\n"
    "  each command with its laps, lag and verdict, and the speeds found so far with their\n"
    "  95 % intervals. At the end, or after Ctrl-C, it stops them all and compares the\n"
    "  speeds with the true ones.\n"
    "  --kind usv3: the robots are vessels under way, a \"real\" IAcquaBot and the simulator\n"
    "  of a WAM-V. For 20 s the simulator gets the real one's efforts, then Tandem makes it\n"
    "  follow. It prints the distance between the vessels before and after that.\n"
    "  --kind arm6: the robots are arms of six joints; the \"real\" one starts late and is\n"
    "  slower. Tandem calibrates the times and sends them to the simulator. It prints the\n"
    "  distance between the tools, in mm, before and after that.\n"
    "  --team FILE: each robot of a team is a real and a simulated diffdrive. They do their\n"
    "  work and wait for each other at places that they share. It prints what each robot\n"
    "  does, and at the end the duration and its prediction from travel times.\n";

int command_demo(int argc, char **argv)
{
    const char *kind = "kinematic";
    const char *team = NULL;
    struct demo d = {.interval_s = 0.1};
    /* clang-format off */
    const struct argument rows[] = {
        {"kind", 0, ARGUMENT_TEXT, &kind, 0, 0, "kinematic|usv3|arm6",
         "robots or arms whose laps are compared, or vessels of which one follows the other (kinematic)"},
        {"team", 0, ARGUMENT_TEXT, &team, 0, 0, "FILE",
         "instead: the team of a lab file at work, each robot a diffdrive (none)"},
        {"for", 0, ARGUMENT_REAL, &d.for_s, 0, 1e9, "S", "end after this time (runs until Ctrl-C)"},
        {"interval", 0, ARGUMENT_REAL, &d.interval_s, 0, 3600, "S", "pause between two commands (0.1)"},
        {"dir", 0, ARGUMENT_TEXT, &d.stage.asked_dir, 0, 0, "DIR",
         "keep journal, store and logs there (a new one in /tmp)"},
        {"keep", 0, ARGUMENT_FLAG, &d.stage.retain, 0, 0, NULL, "do not remove that new one at the end"},
        {"port", 'p', ARGUMENT_INTEGER, &d.stage.port, 1, 65535, "N", "of the broker (any free one)"},
        {"http-port", 0, ARGUMENT_INTEGER, &d.stage.http_port, 1, 65535, "N", "of the daemon (any free one)"},
    };
    /* clang-format on */
    const struct arguments arguments = {
        .command = "demo",
        .operands = "",
        .description = description,
        .examples = "  tandem demo --for 30\n  tandem demo --kind usv3 --for 60\n  tandem demo "
                    "--kind arm6 --for 40\n  tandem demo --team config/examples/class3.yaml\n  "
                    "tandem demo --dir /tmp/demo --http-port 8420\n",
        .exit_status = "a part of it failed, or nothing was compared",
        ARGUMENT_ROWS(rows)};
    int exit_status = arguments_parse(&arguments, argc, argv);
    if (exit_status != ARGUMENTS_PARSED) {
        return exit_status;
    }
    if (team) {
        return demo_team_run(&d.stage, team, d.for_s);
    }
    d.show.vessels = strcmp(kind, "usv3") == 0;
    d.show.arms = strcmp(kind, "arm6") == 0;
    return run_demo(&d);
}
