/* service/sim/robot/robot_command.c - `tandem robot`: turns options into a fleet of simulated
 * robots. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/number.h"
#include "config/machine/machine_file.h"
#include "config/options/option_file.h"
#include "logger/codec/codecs.h"
#include "service/arm/arm_links_file.h"
#include "service/mqtt/broker_arguments.h"
#include "service/mqtt/session.h"
#include "service/sim/check/check.h"
#include "config/labfile/map_file.h"
#include "service/sim/robot/fleet.h"
#include "service/sim/robot/robot_file.h"
#include "service/tool/commands.h"
#include "service/tool/lab_argument.h"
#include "service/tool/other_names.h"
#include "twin/sim/robot/robot_kinds.h"

/* Options that set a parameter; NaN: not given. */
enum { SPEED_ANGULAR, SPEED_LINEAR, DELAY_T0, DELAY_TA, DELAY_TR, NOISE, SHORTCUT_COUNT };

static const struct {
    const char *option, *parameter;
} shortcuts[SHORTCUT_COUNT] = {
    {"angular-speed", "angular_speed_radps"},
    {"linear-speed", "linear_speed_mps"},
    {"t0", "t0_s"},
    {"ta", "ta_s"},
    {"tr", "tr_s"},
    {"noise", "noise_s"},
};

struct given {
    const char *kind, *side, *mode, *parameter_file, *links_file, *map_file, *pose, *modbus,
        *rtde, *primary, *dashboard, *machine_file;
    double shortcut[SHORTCUT_COUNT];
    double period_s;
    bool list, without_password, allow_writes;
    const char *check, *go; /* --check: the robot to test, and the size of its move */
    const char *lab;        /* lab file with the robots' codec */
    struct check_options checked;
};

static bool find_kind(const struct given *g, struct fleet_options *o)
{
    o->kind = robot_kind_find(g->kind);
    if (o->kind) {
        return true;
    }
    struct edit_guess guess = {0};
    char meant[EDIT_GUESS_MAX];
    (void)fprintf(stderr, "tandem: --kind %s: one of", g->kind);
    for (size_t i = 0; i < robot_kind_count; i++) {
        (void)fprintf(stderr, "%s %s", i > 0 ? "," : "", robot_kinds[i]->name);
        other_names_try(&guess, g->kind, robot_kinds[i]->name);
    }
    (void)fprintf(stderr, " was expected%s\n", edit_guess_text(&guess, meant));
    return false;
}

static struct given given_defaults(void)
{
    struct given g = {.kind = "kinematic",
                      .mode = "observe",
                      .period_s = nan(""),
                      .go = "0.7,0.3",
                      .checked = {.timeout_s = 10.0, .retains = true}};
    for (size_t i = 0; i < SHORTCUT_COUNT; i++) {
        g.shortcut[i] = nan("");
    }
    return g;
}

static bool apply_shortcuts(const struct given *g, struct fleet_options *o)
{
    for (size_t i = 0; i < SHORTCUT_COUNT; i++) {
        const double value = g->shortcut[i];
        const int index = robot_parameter_find(o->kind, shortcuts[i].parameter);
        const struct robot_parameter *row = &o->kind->parameters[index < 0 ? 0 : index];
        if (!isnan(value) && index < 0) {
            return complain("--%s %g: a robot of kind %s has no %s", shortcuts[i].option, value,
                            o->kind->name, shortcuts[i].parameter);
        }
        if (!isnan(value) && !robot_value_fits(row, value)) {
            return complain("--%s %g: %g to %g was expected", shortcuts[i].option, value,
                            row->min, row->max);
        }
        for (size_t s = 0; s < SIDE_COUNT && !isnan(value); s++) {
            o->parameters[s][index] = value;
        }
    }
    return true;
}

/* Loads measured links of an arm, which replace the nominal ones. */
static bool load_links(const char *path, struct fleet_options *o)
{
    const int arm = robot_parameter_find(&arm6_kind, "arm");
    const int first = robot_parameter_find(&arm6_kind, "link1_x_m");
    for (size_t s = 0; s < SIDE_COUNT; s++) {
        struct arm_links file;
        struct err_list faults = {0};
        const size_t which = (size_t)o->parameters[s][arm];
        (void)arm_geometry_find(arm6_kind.parameters[arm].choices[which], &file.arm);
        if (o->sides[s] &&
            option_file_load(&arm_links_file, path, &file, &faults) != STATUS_OK) {
            err_list_print(&faults, stderr);
            return false;
        }
        if (o->sides[s]) {
            arm_geometry_corrections(&file.arm, &o->parameters[s][first]);
        }
    }
    return true;
}

/* Reads parameter file and map, and reports all faults of both. */
static bool read_files(const struct given *g, struct fleet_options *o)
{
    struct err_list errors = {0};
    bool fine = true;
    if (g->parameter_file) {
        struct robot_file file = {.kind = o->kind};
        memcpy(file.values, o->parameters, sizeof file.values);
        fine = option_file_load(&robot_file, g->parameter_file, &file, &errors) == STATUS_OK;
        memcpy(o->parameters, file.values, sizeof file.values);
    }
    err_list_print(&errors, stderr);
    if (g->links_file && o->kind != &arm6_kind) {
        return complain("--links %s: a robot of kind arm6 was expected", g->links_file);
    }
    fine = fine && (!g->links_file || load_links(g->links_file, o));
    if (g->map_file) {
        struct err_list faults = {0};
        o->world = calloc(1, sizeof *o->world);
        fine = o->world &&
               option_file_load(&map_file, g->map_file, o->world, &faults) == STATUS_OK && fine;
        err_list_print(&faults, stderr);
    }
    return fine;
}

/* Loads a machine that replaces the kind's own: the only one of its file. */
static bool read_machine(const struct given *g, struct fleet_options *o,
                         struct machine_file **file)
{
    char reason[512];
    if (machine_file_load(g->machine_file, false, file) != STATUS_OK) {
        return complain("out of memory");
    }
    if (machine_file_count(*file, MACHINE_ERROR) + machine_file_count(*file, MACHINE_WARNING) >
        0) {
        (void)machine_file_print_diagnostics(*file, stderr);
    }
    if (machine_file_count(*file, MACHINE_ERROR) > 0 || (*file)->count != 1) {
        return complain("--machine %s: one machine without errors was expected",
                        g->machine_file);
    }
    if (!robot_accepts_machine(o->kind, (*file)->machines[0], reason, sizeof reason)) {
        return complain("--machine %s: %s", g->machine_file, reason);
    }
    o->machine = (*file)->machines[0];
    return true;
}

static bool read_pose(const char *text, struct fleet_options *o)
{
    const size_t count = o->kind->pose_count > 0 ? o->kind->pose_count : 3;
    const char *at = text;
    for (size_t i = 0; i < count; i++) {
        const char *end = number_scan(at, at + strlen(at), &o->pose[i]);
        if (end == at || !(fabs(o->pose[i]) <= 1e6) || *end != (i + 1 < count ? ',' : '\0')) {
            return complain("--pose %s: %s was expected", text,
                            count == 3 ? "X,Y,PSI in m and rad" : "Q1,...,Q6 in rad");
        }
        at = end + 1;
    }
    o->pose_count = count;
    return true;
}

static bool name_sides(const struct given *g, struct fleet_options *o)
{
    const bool both = g->side ? strcmp(g->side, "both") == 0 : o->pair_count > 1;
    o->sides[SIDE_REAL] = both || !g->side || strcmp(g->side, "real") == 0;
    o->sides[SIDE_VIRTUAL] = both || (g->side && strcmp(g->side, "virtual") == 0);
    o->link = strcmp(g->mode, "link") == 0;
    /* leaves room for the number of the last pair */
    return session_names_fit(o->broker.prefix, o->pair, o->pair_count > 1 ? 5 : 0);
}

static bool set_period(const struct given *g, struct fleet_options *o)
{
    o->period_s = isnan(g->period_s) ? lab_s(o->kind->period_us) : g->period_s;
    const double real_s = o->period_s / o->pace;
    if (!(real_s >= 1e-4)) {
        return complain("--pace %g: a period would last %g s, 0.0001 s or more was expected",
                        o->pace, real_s);
    }
    return true;
}

/* Before anything starts: may each server listen where it should? */
static bool check_places(const struct given *g, const struct fleet_options *o)
{
    const struct {
        const char *option;
        const struct tcp_listen *listen;
    } servers[] = {{"modbus", &o->modbus.listen},
                   {"rtde", &o->rtde},
                   {"primary", &o->primary},
                   {"dashboard", &o->dashboard}};
    for (size_t i = 0; i < COUNT(servers); i++) {
        struct err err = {0};
        const struct tcp_listen *listen = servers[i].listen;
        if (!listen->where || tcp_listen_check(listen, servers[i].option, &err) == STATUS_OK) {
            continue;
        }
        if (err.fault == FAULT_UNSAFE_ADDRESS && g->without_password) {
            return complain("--%s %s: beyond loopback it lets anybody move the arm; 127.0.0.1, "
                            "or --allow-writes was expected",
                            servers[i].option, listen->where);
        }
        return complain("--%s %s: %s", servers[i].option, err.where, err.text);
    }
    return true;
}

/* Only a single arm can serve Modbus and RTDE. */
static bool set_servers(const struct given *g, struct fleet_options *o)
{
    const bool one = o->pair_count == 1 && !(o->sides[SIDE_REAL] && o->sides[SIDE_VIRTUAL]);
    if ((g->modbus || g->rtde) && (o->kind != &arm6_kind || !one)) {
        return complain("--%s %s: one robot of kind arm6 was expected, of one side",
                        g->modbus ? "modbus" : "rtde", g->modbus ? g->modbus : g->rtde);
    }
    o->modbus.listen = (struct tcp_listen){g->modbus, MODBUS_PORT, g->without_password};
    o->modbus.remote_writes = g->allow_writes;
    o->rtde = (struct tcp_listen){g->rtde, RTDE_PORT, g->without_password};
    o->rtde_writes = g->allow_writes;
    o->primary = (struct tcp_listen){g->primary, 30001, g->without_password && g->allow_writes};
    o->dashboard = (struct tcp_listen){g->dashboard, 29999, o->primary.without_password};
    if ((g->primary || g->dashboard) && !g->rtde) {
        return complain("--%s: --rtde was expected beside it",
                        g->primary ? "primary" : "dashboard");
    }
    return check_places(g, o);
}

static void list_ports(const struct robot_kind *kind)
{
    for (size_t k = 0; k < kind->port_count; k++) {
        const struct robot_port *p = &kind->ports[k];
        (void)printf("%s  %-26s %s, %s: %s\n", k == 0 ? "  ports of --machine:\n" : "", p->name,
                     p->input ? "input" : "output",
                     p->type == EXPRESSION_TRUTH ? "truth" : "number", p->help);
    }
}

static const char *kind_name(size_t i)
{
    return i < robot_kind_count ? robot_kinds[i]->name : NULL;
}

static const struct argument_words kind_words = {"kind", kind_name};

static int list_kinds(void)
{
    for (size_t i = 0; i < robot_kind_count; i++) {
        const struct robot_kind *kind = robot_kinds[i];
        (void)printf("%s%s: %s\n  obeys %s; period %g s\n", i > 0 ? "\n" : "", kind->name,
                     kind->purpose, kind->operations, lab_s(kind->period_us));
        for (size_t k = 0; k < kind->parameter_count; k++) {
            const struct robot_parameter *p = &kind->parameters[k];
            (void)printf("  %-26s ", p->name);
            for (int c = 0; p->choices && c <= (int)p->max; c++) {
                (void)printf("%s%s", c > 0 ? "|" : "", p->choices[c]);
            }
            if (p->choices) {
                (void)printf(" (%s)", p->choices[(int)p->preset]);
            } else {
                (void)printf("%g .. %g%s%s (%g)", p->min, p->max, p->unit[0] ? " " : "",
                             p->unit, p->preset);
            }
            (void)printf("  %s\n", p->help);
        }
        list_ports(kind);
    }
    return EXIT_FINE;
}

/* Parses PAIR/SIDE, and the size of a move. */
static bool read_check(struct given *g, const struct fleet_options *o)
{
    struct check_options *c = &g->checked;
    const char *slash = strrchr(g->check, '/');
    const char *at = g->go;
    double *const sizes[] = {&c->rotation_rad, &c->displacement_m};
    const size_t bytes = slash ? (size_t)(slash - g->check) : 0;
    for (c->side = SIDE_REAL; slash && c->side < SIDE_COUNT; c->side++) {
        if (strcmp(slash + 1, side_name(c->side)) == 0) {
            break;
        }
    }
    if (!slash || bytes == 0 || bytes >= sizeof c->pair || c->side == SIDE_COUNT) {
        return complain("--check %s: PAIR/real or PAIR/virtual was expected", g->check);
    }
    memcpy(c->pair, g->check, bytes);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        const char *end = number_scan(at, at + strlen(at), sizes[i]);
        if (end == at || !(*sizes[i] >= 0.05 && *sizes[i] <= (i == 0 ? 1.5 : 100.0)) ||
            *end != (i == 0 ? ',' : '\0')) {
            return complain("--go %s: RAD,M was expected, 0.05 to 1.5 rad and 0.05 to 100 m",
                            g->go);
        }
        at = end + 1;
    }
    c->broker = broker_arguments_options(&o->broker, NULL);
    c->link = strcmp(g->mode, "link") == 0;
    return session_names_fit(o->broker.prefix, c->pair, 0);
}

/* Uses the broker of the lab file, and the codec of its pair. */
static int check_by_lab(struct given *g)
{
    struct lab_file lab;
    struct check_options *c = &g->checked;
    struct codec_pair foreign = {.repeated = true, .active_side = SIDE_REAL};
    if (!lab_argument_load("robot", g->lab, &lab)) {
        return EXIT_USAGE;
    }
    size_t i = 0;
    while (i < lab.pair_count && strcmp(lab.pairs[i].id, c->pair) != 0) {
        i++;
    }
    const struct pair_params *pair = &lab.pairs[i < lab.pair_count ? i : 0];
    const struct codec *codec = codec_find(pair->codec);
    int exit_status = EXIT_USAGE;
    c->broker = broker_client_options(&lab.broker, NULL);
    c->link = pair->mode == PAIR_LINK;
    if (i == lab.pair_count) {
        complain("robot: the lab has no pair '%s'", c->pair);
    } else if (!codec->receive) {
        exit_status = check_robot(c);
    } else if (!c->link) {
        complain("robot: pairs.%s.mode: link was expected: another program commands a robot "
                 "whose codec is %s",
                 c->pair, codec->name);
    } else if ((foreign.state = calloc(1, codec->state_bytes + 1))) {
        foreign.codec = codec;
        foreign.prefix = lab.broker.prefix;
        foreign.id = pair->id;
        foreign.options = &pair->speaks;
        c->foreign = &foreign;
        c->retains = codec != &codec_sparkplug;
        c->idle_fails = codec == &codec_vda5050;
        exit_status = check_robot(c);
    }
    free(foreign.state);
    lab_file_free(&lab);
    return exit_status;
}

static int run_robot(struct given *g, struct fleet_options *o)
{
    if (g->check && read_check(g, o)) {
        return g->lab ? check_by_lab(g) : check_robot(&g->checked);
    }
    if (g->check || g->lab) {
        if (!g->check) {
            complain("robot: --config is for --check PAIR/SIDE");
        }
        return EXIT_USAGE;
    }
    if (g->list) {
        return list_kinds();
    }
    if (!find_kind(g, o) || !name_sides(g, o) || !set_period(g, o) ||
        (g->pose && !read_pose(g->pose, o)) || !set_servers(g, o)) {
        return EXIT_USAGE;
    }
    if (strlen(o->version) >= EVENT_VERSION_MAX) {
        return complain_exit(EXIT_USAGE, "--program-version: at most 64 bytes were expected");
    }
    for (size_t s = 0; s < SIDE_COUNT; s++) {
        robot_presets(o->kind, o->parameters[s]);
    }
    struct machine_file *machines = NULL;
    const bool fine = read_files(g, o) && apply_shortcuts(g, o) &&
                      (!g->machine_file || read_machine(g, o, &machines));
    const int exit_status = fine ? fleet_run(o) : EXIT_USAGE;
    machine_file_free(machines);
    free(o->world);
    return exit_status;
}

static const char *const description =
    "  Receives commands and answers each exactly once, with start and end on its own clock.\n"
    "  The kinematic robot executes up to 16 commands one after the other; a move lasts\n"
    "  t0 + [rotation](ta + |rotation|/angular speed) + [displacement](tr +\n"
    "  |displacement|/linear speed). The diffdrive robot is the lab's: two networked state\n"
    "  machines, wheels, encoders and a lidar. The arm6 robot moves six joints and its tool.\n"
    "  Robots also answer clock probes, publish online and offline, telemetry and the states\n"
    "  of their machines. They apply PAIR/SIDE/control if the kind has efforts. The virtual\n"
    "  side applies PAIR/virtual/parameters and pose.\n"
    "  --machine: a machine from a file replaces the diffdrive robot's own. At a fault the\n"
    "  robot stops, answers with the fault in words, and restarts with the next command.\n"
    "  --count: one connection serves all robots; its last will is the first robot's.\n"
    "  --check simulates no robot. It tests one that is on the broker: it sends moves, a\n"
    "  second command while the robot moves, halts, probes and, on the virtual side,\n"
    "  parameters (then the previous ones again), and compares the answers with\n"
    "  docs/protocol.md, point by point. In observe mode PAIR/command moves both robots of\n"
    "  the pair. With -c LAB.yaml it uses the lab's broker and the pair's codec, and reports\n"
    "  faults in the terms of that protocol.\n";

static const char *const examples =
    "  tandem robot --side real --linear-speed 0.18 --clock-offset 0.8\n"
    "  tandem robot --side virtual --telemetry-rate 20\n"
    "  tandem robot --kind diffdrive --side both --gain-mismatch 0.03\n"
    "  tandem robot --kind diffdrive --count 100\n"
    "  tandem robot --kind diffdrive --machine config/machines/drive.yaml\n"
    "  tandem robot --kind arm6 --side both --telemetry-rate 25\n"
    "  tandem robot --check r1/real\n"
    "  tandem robot --check amr1/real -c lab.yaml\n";

static struct fleet_options fleet_defaults(void)
{
    return (struct fleet_options){.broker = broker_arguments_defaults(),
                                  .pair = "r1",
                                  .pair_count = 1,
                                  .pace = 1.0,
                                  .version = "",
                                  .seed = 1,
                                  .machines_hz = 2.0};
}

int command_robot(int argc, char **argv)
{
    struct given g = given_defaults();
    struct broker_group broker;
    struct fleet_options o = fleet_defaults();
    /* clang-format off */
    const struct argument rows[] = {
        {"kind", 0, ARGUMENT_TEXT, &g.kind, 0, 0, "KIND", "which robot, see --list (kinematic)"},
        {"list", 0, ARGUMENT_FLAG, &g.list, 0, 0, NULL, "print the kinds with their parameters and end"},
        {"pair", 0, ARGUMENT_TEXT, &o.pair, 0, 0, "ID", "pair of the robot (r1)"},
        {"side", 0, ARGUMENT_TEXT, &g.side, 0, 0, "real|virtual|both", "which of the two (real; with --count both)"},
        {"count", 0, ARGUMENT_INTEGER, &o.pair_count, 1, FLEET_PAIRS_MAX, "N", "robots of pairs r1, r2 ... (1)"},
        {"mode", 0, ARGUMENT_TEXT, &g.mode, 0, 0, "observe|link", "listen to PAIR[/SIDE]/command (observe)"},
        {"parameters", 0, ARGUMENT_TEXT, &g.parameter_file, 0, 0, "FILE",
         "YAML: the kind's parameters, and those of real: and virtual:"},
        {"links", 0, ARGUMENT_TEXT, &g.links_file, 0, 0, "FILE",
         "an arm's links: identify --json, calibration.conf of a UR, ROS' ur_calibration (nominal)"},
        {"map", 0, ARGUMENT_TEXT, &g.map_file, 0, 0, "FILE", "YAML: bounds and obstacles (an empty plane)"},
        {"machine", 0, ARGUMENT_TEXT, &g.machine_file, 0, 0, "FILE", "a machine of your own drives it, see --list"},
        {"pose", 0, ARGUMENT_TEXT, &g.pose, 0, 0, "X,Y,PSI",
         "where it begins, m and rad (0,0,0); an arm: Q1,...,Q6 in rad"},
        {"angular-speed", 0, ARGUMENT_REAL, &g.shortcut[SPEED_ANGULAR], 1e-3, 1e3, "RAD/S",
         "while turning; the kind's, as for the next five"},
        {"linear-speed", 0, ARGUMENT_REAL, &g.shortcut[SPEED_LINEAR], 1e-3, 1e3, "M/S", "while driving"},
        {"t0", 0, ARGUMENT_REAL, &g.shortcut[DELAY_T0], 0, 3600, "S", "of every command"},
        {"ta", 0, ARGUMENT_REAL, &g.shortcut[DELAY_TA], 0, 3600, "S", "before each rotation"},
        {"tr", 0, ARGUMENT_REAL, &g.shortcut[DELAY_TR], 0, 3600, "S", "before each displacement"},
        {"noise", 0, ARGUMENT_REAL, &g.shortcut[NOISE], 0, 3600, "S", "standard deviation of a lap"},
        {"gain-mismatch", 0, ARGUMENT_REAL, &o.mismatch_ratio, 0, 0.5, "R",
         "standard deviation of a motor's gain (0)"},
        {"period", 0, ARGUMENT_REAL, &g.period_s, 1e-4, 10, "S", "of a step (the kind's)"},
        {"pace", 0, ARGUMENT_REAL, &o.pace, 0.01, 100, "X", "simulated time per real time (1)"},
        {"delay", 0, ARGUMENT_REAL, &o.delay_s, 0, 3600, "S", "transport delay of the robot's messages (0)"},
        {"jitter", 0, ARGUMENT_REAL, &o.jitter_s, 0, 3600, "S", "mean of the exponential part of it (0)"},
        {"clock-offset", 0, ARGUMENT_REAL, &o.clock_offset_s, -1e9, 1e9, "S", "of the robot's clock (0)"},
        {"clock-drift", 0, ARGUMENT_REAL, &o.clock_drift_ppm, -1e5, 1e5, "PPM", "of the robot's clock (0)"},
        {"loss", 0, ARGUMENT_REAL, &o.loss_ratio, 0, 1, "P", "share of replies that get lost (0)"},
        {"duplicate", 0, ARGUMENT_REAL, &o.duplicate_ratio, 0, 1, "P", "ratio of replies sent twice (0)"},
        {"reboot", 0, ARGUMENT_REAL, &o.reboot_s, 2, 1e9, "S", "restart this often, for 1.5 s each (never)"},
        {"telemetry-rate", 0, ARGUMENT_REAL, &o.telemetry_hz, 0, 1000, "HZ", "samples of velocity and pose (0)"},
        {"machines-rate", 0, ARGUMENT_REAL, &o.machines_hz, 0, 50, "HZ", "highest rate of its state machines (2)"},
        {"modbus", 0, ARGUMENT_TEXT, &g.modbus, 0, 0, "HOST[:PORT]",
         "an arm's registers over Modbus TCP, as UR's controllers have them (off; port 1502)"},
        {"rtde", 0, ARGUMENT_TEXT, &g.rtde, 0, 0, "HOST[:PORT]", "an arm speaks UR's RTDE (off; port 30004)"},
        {"primary", 0, ARGUMENT_TEXT, &g.primary, 0, 0, "HOST[:PORT]",
         "with --rtde: tandem bridge --drive may command the arm (off; port 30001)"},
        {"dashboard", 0, ARGUMENT_TEXT, &g.dashboard, 0, 0, "HOST[:PORT]", "and asks its dashboard (off; port 29999)"},
        {"without-password", 0, ARGUMENT_FLAG, &g.without_password, 0, 0, NULL,
         "listen beyond loopback, too, without a password"},
        {"allow-writes", 0, ARGUMENT_FLAG, &g.allow_writes, 0, 0, NULL,
         "beyond loopback: whoever can reach the port may also move the arm"},
        {"program-version", 0, ARGUMENT_TEXT, &o.version, 0, 0, "TEXT", "in its connection, at most 64 bytes (none)"},
        {"seed", 0, ARGUMENT_INTEGER, &o.seed, 0, 2147483647, "N", "of noise, jitter and loss (1)"},
        {"for", 0, ARGUMENT_REAL, &o.for_s, 0, 1e9, "S", "end by itself (runs until a signal)"},
        {"check", 0, ARGUMENT_TEXT, &g.check, 0, 0, "PAIR/SIDE", "test another robot against the protocol; it moves"},
        {"config", 'c', ARGUMENT_TEXT, &g.lab, 0, 0, "LAB.yaml", "with --check: lab file with its codec and broker"},
        {"go", 0, ARGUMENT_TEXT, &g.go, 0, 0, "RAD,M", "so far, with --check (0.7,0.3)"},
        {"timeout", 0, ARGUMENT_REAL, &g.checked.timeout_s, 0.1, 3600, "S", "for its replies, with --check (10)"},
        {"json", 0, ARGUMENT_FLAG, &g.checked.json, 0, 0, NULL, "what --check found as one JSON object"},
    };
    const struct arguments arguments = {
        .command = "robot", .operands = "", .description = description, .examples = examples,
        .exit_status = "there was never a connection to the broker",
        .exit_as_asked = "--check found something wrong",
        ARGUMENT_ROWS(rows), .more = &broker.group, .words = &kind_words, .word_count = 1};
    /* clang-format on */
    broker_arguments_group(&o.broker, &broker);
    const int exit_status = arguments_parse(&arguments, argc, argv);
    return exit_status == ARGUMENTS_PARSED ? run_robot(&g, &o) : exit_status;
}
