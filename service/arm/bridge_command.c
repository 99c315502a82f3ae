/* service/arm/bridge_command.c - `tandem bridge`: connects a real robot with another protocol
 * to MQTT. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "service/arm/bridge.h"
#include "service/arm/controller.h"
#include "service/mqtt/session.h"
#include "service/tool/commands.h"
#include "service/wire/rtde.h"

enum { HOST_MAX = 256 };

/* Parses "HOST", "HOST:PORT" or "[ADDRESS]:PORT" into host[HOST_MAX] and *port. */
static bool read_place(const char *text, char *host, int *port)
{
    const bool v6 = text[0] == '[';
    const char *close = v6 ? strchr(text, ']') : NULL;
    const char *colon = v6 ? (close && close[1] == ':' ? close + 1 : NULL) : strrchr(text, ':');
    if (!v6 && colon && strchr(text, ':') != colon) {
        colon = NULL; /* an IPv6 address without brackets */
    }
    const char *begin = v6 ? text + 1 : text;
    const size_t bytes = v6      ? (close ? (size_t)(close - begin) : 0)
                         : colon ? (size_t)(colon - begin)
                                 : strlen(begin);
    const bool ends = !v6 || (close && (close[1] == '\0' || colon));
    char *end = NULL;
    const long number = colon ? strtol(colon + 1, &end, 10) : RTDE_PORT;
    const bool digits = !colon || (colon[1] >= '0' && colon[1] <= '9' && *end == '\0');
    if (bytes < 1 || bytes >= HOST_MAX || !ends || !digits || number < 1 || number > 65535) {
        return complain("--ur %s: HOST or HOST:PORT was expected", text);
    }
    memcpy(host, begin, bytes);
    host[bytes] = '\0';
    *port = (int)number;
    return true;
}

static const char description[] =
    "  Connects to the RTDE interface of a Universal Robots controller (port 30004), where\n"
    "  nothing needs to be installed, and publishes the messages of a real robot: telemetry,\n"
    "  connection, and each move as a command and its reply, with start and end by the\n"
    "  controller's clock. The virtual robot repeats each move after the real one. Moves that\n"
    "  are slowed by the speed slider, interrupted or stopped do not calibrate, nor do moves\n"
    "  along other paths than a line of joints or of the tool. It reconnects by itself to the\n"
    "  controller and the broker.\n"
    "  Without --drive the bridge only reads. With it the robot carries out the commands of "
    "the\n"
    "  pair, by a program that the bridge starts on the controller (ports 30001, 29999).\n";

/* An option that would do nothing is an error: who gives --floor expects one. */
static bool check_drive(const struct bridge_options *o, const char *mode, const char *commands)
{
    const char *alone = mode                 ? "mode"
                        : o->arm             ? "arm"
                        : !isnan(o->floor_m) ? "floor"
                        : o->primary_port    ? "primary-port"
                        : o->dashboard_port  ? "dashboard-port"
                                             : NULL;
    if (!o->drive && alone) {
        return complain("bridge: --%s: it is for --drive, which was not given", alone);
    }
    if (o->drive && commands) {
        return complain(
            "bridge: --commands %s: it is for a bridge that only reads, but --drive "
            "was given (it answers each command)",
            commands);
    }
    return true;
}

static void set_presets(struct bridge_options *o)
{
    o->arm = o->arm ? o->arm : "ur5e";
    o->floor_m = isnan(o->floor_m) ? -(double)INFINITY : o->floor_m;
    o->primary_port = o->primary_port ? o->primary_port : CONTROLLER_PRIMARY_PORT;
    o->dashboard_port = o->dashboard_port ? o->dashboard_port : CONTROLLER_DASHBOARD_PORT;
}

int command_bridge(int argc, char **argv)
{
    char host[HOST_MAX];
    const char *place = NULL;
    const char *commands = NULL;
    const char *mode = NULL;
    struct broker_group broker;
    struct bridge_options o = {.broker = broker_arguments_defaults(),
                               .pair = "r1",
                               .host = host,
                               .floor_m = (double)NAN,
                               .rate_hz = 125.0,
                               .telemetry_hz = 25.0,
                               .timeout_s = 60.0};
    /* clang-format off */
    const struct argument rows[] = {
        {"ur", 0, ARGUMENT_TEXT, &place, 0, 0, "HOST[:PORT]", "the robot's controller (needed; port 30004)"},
        {"pair", 0, ARGUMENT_TEXT, &o.pair, 0, 0, "ID", "the pair of the real robot (r1)"},
        {"commands", 0, ARGUMENT_TEXT, &commands, 0, 0, "seen|received",
         "publish each move as a command when it was seen, or answer those of PAIR/command (seen)"},
        {"drive", 0, ARGUMENT_FLAG, &o.drive, 0, 0, NULL,
         "the robot carries out the pair's commands; not a safety function (it only reads)"},
        {"mode", 0, ARGUMENT_TEXT, &mode, 0, 0, "observe|link",
         "of the pair: with --drive, where its commands come from (observe)"},
        {"arm", 0, ARGUMENT_TEXT, &o.arm, 0, 0, "ur5|ur5e",
         "with --drive: its size, to check commands by (ur5e)"},
        {"floor", 0, ARGUMENT_REAL, &o.floor_m, -10, 10, "M",
         "with --drive: no part of the arm goes below this height over its base (no floor)"},
        {"primary-port", 0, ARGUMENT_INTEGER, &o.primary_port, 1, 65535, "PORT",
         "with --drive: where programs are started (30001)"},
        {"dashboard-port", 0, ARGUMENT_INTEGER, &o.dashboard_port, 1, 65535, "PORT",
         "with --drive: the dashboard (29999)"},
        {"rate", 0, ARGUMENT_REAL, &o.rate_hz, 10, 500, "HZ", "samples asked of the controller (125)"},
        {"telemetry-rate", 0, ARGUMENT_REAL, &o.telemetry_hz, 0, 500, "HZ", "samples published, at most (25)"},
        {"timeout", 0, ARGUMENT_REAL, &o.timeout_s, 0.1, 86400, "S",
         "a command received longer ago is not answered any more (60)"},
        {"for", 0, ARGUMENT_REAL, &o.for_s, 0, 1e9, "S", "end by itself (runs until a signal)"},
    };
    /* clang-format on */
    const struct arguments arguments = {
        .command = "bridge",
        .operands = "",
        .description = description,
        .examples =
            "  tandem bridge --ur 192.168.0.10 --pair arm\n"
            "  tandem bridge --ur 127.0.0.1:30004 --pair arm --telemetry-rate 125\n"
            "  tandem bridge --ur 192.168.0.10 --pair arm --drive --arm ur5e --floor 0\n",
        .exit_status = "there was never a connection to the broker, or to the controller",
        ARGUMENT_ROWS(rows),
        .more = &broker.group};
    broker_arguments_group(&o.broker, &broker);
    const int exit_status = arguments_parse(&arguments, argc, argv);
    if (exit_status != ARGUMENTS_PARSED) {
        return exit_status;
    }
    if (!place) {
        return complain_exit(EXIT_USAGE,
                             "bridge: --ur HOST is wanted, see 'tandem bridge --help'");
    }
    if (!read_place(place, host, &o.port) || !session_names_fit(o.broker.prefix, o.pair, 0)) {
        return EXIT_USAGE;
    }
    if (!check_drive(&o, mode, commands)) {
        return EXIT_USAGE;
    }
    o.commanded = o.drive || (commands && strcmp(commands, "received") == 0);
    o.link = mode && strcmp(mode, "link") == 0;
    set_presets(&o);
    return bridge_run(&o);
}
