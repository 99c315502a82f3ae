/* service/wire/modbus_map.h - what the registers of an arm mean: the map of UR's controllers,
 * and in the registers that UR leaves to its user a program by which another controller
 * commands the arm, or streams set points to it. Pure.  docs/modbus.md
 *
 * A word holds a signed number in two's complement, two words one of 32 bits, the high one
 * first.
 */
#ifndef SERVICE_WIRE_MODBUS_MAP_H
#define SERVICE_WIRE_MODBUS_MAP_H

#include "twin/sim/robot/arm6.h"

enum modbus_address {
    MODBUS_OUTPUTS = 1, /* bits; the next ones set and clear such */
    MODBUS_SET_OUTPUTS = 2,
    MODBUS_CLEAR_OUTPUTS = 3,
    MODBUS_COMMAND = 128, /* the counter: another value than before begins the command in … */
    MODBUS_OPERATION = 129,
    MODBUS_NUMBERS = 130, /* six of 32 bits */
    MODBUS_SPEED = 142,
    MODBUS_TIME = 143,
    MODBUS_ACCEPTED = 144, /* the counter of the command last taken, and what became of it */
    MODBUS_PHASE = 145,
    MODBUS_REASON = 146,
    MODBUS_PROGRESS = 147,
    MODBUS_LAP = 148, /* two words */
    MODBUS_MODE = 150,
    MODBUS_WATCHDOG = 151,
    MODBUS_STREAM = 160, /* Q_COM: six of 32 bits */
    MODBUS_STREAM_END = 172,
    MODBUS_Q_VP = 172,
    MODBUS_Q_SP = 184,
    MODBUS_GOAL = 196, /* Q_R of who streams: six of 32 bits */
    MODBUS_GOAL_END = 208,
    MODBUS_FREE = 208, /* nobody's */
    MODBUS_FREE_END = 256,
    MODBUS_REGISTERS = 771,
    /* Coils: the bits of registers 0 to 3, the lowest first; from 260 on what the registers of
     * these addresses say. */
    MODBUS_COILS_OF_IO = 64,
    MODBUS_STATE_COILS = 260,
    MODBUS_COILS = 266
};

enum { MODBUS_CARTESIAN = 1, MODBUS_IDEAL = 2, MODBUS_EXTERNAL = 4 }; /* bits of the mode */

/* What became of the command last taken. */
struct modbus_program { /* all zero: there was none */
    uint16_t counter;
    char id[EVENT_ID_MAX]; /* that its commands to the arm bear */
    enum arm6_phase phase;
    enum arm6_reason reason;
    double lap_s;
};

/* Write what the arm shows, and what became of the last command, into all of UR's registers and
 * those of ours that are not a client's (modbus_is_shown()). What is no number is 0, what has
 * no room the largest that has. */
void modbus_map_show(const struct arm6_state *arm, const struct modbus_program *program,
                     uint16_t words[MODBUS_REGISTERS]);

/* Is the register the arm's, not a client's? */
bool modbus_is_shown(unsigned address);

/* May a client write count registers, or coils, from this address on? The stream and the goal
 * only all twelve at once. */
bool modbus_may_write(unsigned address, unsigned count);
bool modbus_may_write_coils(unsigned address, unsigned count);

/* The command that registers 128 … 151 ask for, words[0] being 128, and the program then. Where
 * they say nothing that is one, program->phase is ARM6_REFUSED, and false is returned. */
bool modbus_map_command(const uint16_t words[], bool cartesian, struct modbus_program *program,
                        struct event_command *out);

/* The mode in register 150 as a command; it is no part of the program. */
void modbus_map_mode(uint16_t bits, struct event_command *out);

/* Is this the id of something that came by Modbus? Its answer is told by registers. */
bool modbus_is_ours(const char *id);

/* The arm's answer to the program's command; arm is what it shows after that. Answers to
 * others are left alone. */
void modbus_map_answer(struct modbus_program *program, const struct arm6_state *arm,
                       const struct robot_reply *reply);

/* Six numbers of 32 bits in 1e-6. */
void modbus_map_numbers(const uint16_t words[12], double out[6]);

#endif
