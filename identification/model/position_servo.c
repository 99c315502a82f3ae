/* identification/model/position_servo.c - a servo that is commanded to positions. */
#include "identification/model/models.h"

static const char help[] =
    "  a servo that is commanded to positions (SO-101, Dynamixel, hobby and industrial "
    "servos):\n"
    "  natural frequency, damping, position gain, dead band, droop and delay, from commanded "
    "and\n"
    "  measured positions (rad) over time. Limits of speed and acceleration, gravity by angle "
    "and\n"
    "  play are found where the data ask for them. A command holds until the next one; rows "
    "may\n"
    "  lack one of the two. Several files are fitted together.\n"
    "  roles:   t command position; columns t_s command_rad position_rad are found by "
    "themselves;\n"
    "           position=NAME:deg reads degrees.\n"
    "  example: tandem identify --model position_servo --validate prbs.csv chirp.csv\n";

static const char *const roles[] = {"t", "command", "position", NULL};

const struct model_row position_servo_row = {
    .name = "position_servo",
    .words = "a position-commanded servo",
    .help = help,
    .data = MODEL_OF_SERVOS,
    .roles = roles,
};
