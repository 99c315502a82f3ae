/* Any bytes as a parameter set: as the values in use that a person gives (a list, a file), and
 * as a message to a simulator. No crash, refusals with an error, and values that a simulator
 * accepts are within its own ranges. The first line says which: "list", "file", or a robot
 * kind. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "service/identify/parameters_in_use.h"
#include "service/sim/robot/fleet_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_current(const char *text)
{
    static struct estimate estimate = {
        .p = 2, .name = {"surge_mass_kg", "yaw_drag"}, .symbol = {"d1", ""}};
    const struct parameters_in_use_form form = {"usv3", {&estimate}, true};
    struct reference_values current;
    struct err err = {0};
    const enum status status = parameters_in_use_parse(text, &form, &current, &err);
    assert(status == STATUS_OK || (err.text[0] != '\0' && err.where[0] != '\0'));
    assert(status == STATUS_OK || status == STATUS_E_PARSE || status == STATUS_E_IO);
}

static void fuzz_current_file(const char *text, size_t bytes)
{
    char path[32];
    const int fd = memfd_create("parameters", MFD_CLOEXEC);
    assert(fd >= 0);
    const ssize_t wrote = bytes > 0 ? write(fd, text, bytes) : 0;
    assert(wrote == (ssize_t)bytes);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    fuzz_current(path);
    (void)close(fd);
}

static void fuzz_simulator(const struct robot_kind *kind, char *text, size_t bytes)
{
    char pairs[1][EVENT_PAIR_MAX] = {"r1"};
    struct fleet_robot robot = {.side = SIDE_VIRTUAL, .memory = calloc(1, kind->bytes)};
    struct fleet fleet = {.options = {.broker = {.prefix = "tandem/v1"},
                                      .kind = kind,
                                      .pair_count = 1,
                                      .sides = {[SIDE_VIRTUAL] = true}},
                          .robot_count = 1,
                          .robots = &robot,
                          .pairs = pairs};
    struct message message = {.topic = "tandem/v1/r1/virtual/parameters",
                              .payload = text,
                              .payload_bytes = bytes,
                              .stored_bytes = bytes};
    assert(robot.memory);
    TAILQ_INIT(&fleet.outgoing_queue);
    robot_presets(kind, robot.parameters);
    const struct robot_setup setup = {.parameters = robot.parameters,
                                      .period_us = kind->period_us};
    kind->init(robot.memory, &setup);
    fleet_receive(&fleet, &message);
    for (size_t i = 0; i < kind->parameter_count; i++) {
        assert(
            robot_value_fits(&kind->parameters[i], robot_get_parameter(kind, robot.memory, i)));
    }
    /* The message is answered once, or its sender gets an error. */
    assert(bytes == 0 ||
           fleet.outgoing_count + fleet.counts.malformed + fleet.counts.dropped == 1);
    struct outgoing *out = TAILQ_FIRST(&fleet.outgoing_queue);
    free(out);
    free(robot.memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *nowhere;
    if (!nowhere) { /* complaints of the simulator, thousands a second */
        nowhere = fopen("/dev/null", "w");
        stderr = nowhere ? nowhere : stderr;
    }
    char *text = malloc(size + 1);
    assert(text);
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    char *rest = strchr(text, '\n');
    if (rest) {
        *rest++ = '\0';
        if (strcmp(text, "list") == 0 && strchr(rest, '=')) {
            fuzz_current(rest);
        } else if (strcmp(text, "file") == 0) {
            fuzz_current_file(rest, size - (size_t)(rest - text));
        } else if (robot_kind_find(text)) {
            fuzz_simulator(robot_kind_find(text), rest, size - (size_t)(rest - text));
        }
    }
    free(text);
    return 0;
}
