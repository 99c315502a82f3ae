/* service/wire/modbus_map.h - the meaning of an arm's registers. It is the map of UR's
 * controllers. Registers that UR leaves to users hold a program with which another controller
 * commands the arm, or streams set points to it. Pure. docs/modbus.md
 *
 * A word holds a signed number in two's complement; two words hold one of 32 bits, the high one
 * first.
 */
#ifndef SERVICE_WIRE_MODBUS_MAP_H
#define SERVICE_WIRE_MODBUS_MAP_H

#include "twin/sim/robot/arm6.h"

enum modbus_address {
    MODBUS_OUTPUTS = 1, /* bits; the next ones set and clear them */
    MODBUS_SET_OUTPUTS = 2,
    MODBUS_CLEAR_OUTPUTS = 3,
    MODBUS_COMMAND = 128, /* command counter: a changed value starts the command in … */
    MODBUS_OPERATION = 129,
    MODBUS_NUMBERS = 130, /* six numbers of 32 bits */
    MODBUS_SPEED = 142,
    MODBUS_TIME = 143,
    MODBUS_ACCEPTED = 144, /* counter of the last accepted command, and its result */
    MODBUS_PHASE = 145,
    MODBUS_REASON = 146,
    MODBUS_PROGRESS = 147,
    MODBUS_LAP = 148, /* two words */
    MODBUS_MODE = 150,
    MODBUS_WATCHDOG = 151,
    MODBUS_STREAM = 160, /* Q_COM: six numbers of 32 bits */
    MODBUS_STREAM_END = 172,
    MODBUS_Q_VP = 172,
    MODBUS_Q_SP = 184,
    MODBUS_GOAL = 196, /* Q_R of a streaming client: six numbers of 32 bits */
    MODBUS_GOAL_END = 208,
    MODBUS_FREE = 208, /* unused */
    MODBUS_FREE_END = 244,
    MODBUS_Q_M = 244, /* speed commands to the drives: six numbers of 32 bits */
    MODBUS_REGISTERS = 771,
    /* Coils: the bits of registers 0 to 3, the lowest first; from 260 on the registers of the
     * same addresses. */
    MODBUS_COILS_OF_IO = 64,
    MODBUS_STATE_COILS = 260,
    MODBUS_COILS = 266
};

enum { MODBUS_CARTESIAN = 1, MODBUS_IDEAL = 2, MODBUS_EXTERNAL = 4 }; /* bits of the mode */

/* The last accepted command and its result. */
struct modbus_program { /* all zero: none */
    uint16_t counter;
    char id[EVENT_ID_MAX]; /* id of its commands to the arm */
    enum arm6_phase phase;
    enum arm6_reason reason;
    double lap_s;
};

/* Write the arm's state and the last command's result into all registers that clients do not
 * own (modbus_is_shown()). NaN becomes 0; numbers are clipped to the range of the register. */
void modbus_map_show(const struct arm6_state *arm, const struct modbus_program *program,
                     uint16_t words[MODBUS_REGISTERS]);

/* Does the arm own the register, rather than a client? */
bool modbus_is_shown(unsigned address);

/* May a client write count registers, or coils, from this address on? The stream and the goal
 * only as a block of twelve. */
bool modbus_may_write(unsigned address, unsigned count);
bool modbus_may_write_coils(unsigned address, unsigned count);

/* Decode the command in registers 128 … 151, words[0] being 128, and start a program. If it is
 * invalid, program->phase is ARM6_REFUSED, and false is returned. */
bool modbus_map_command(const uint16_t words[], bool cartesian, struct modbus_program *program,
                        struct event_command *out);

/* Make a command of the mode in register 150; it does not belong to the program. */
void modbus_map_mode(uint16_t bits, struct event_command *out);

/* Does this id belong to a Modbus command? Registers show its answer. */
bool modbus_is_ours(const char *id);

/* Record the arm's answer to the program's command; arm is its state afterwards. Answers to
 * other commands are ignored. */
void modbus_map_answer(struct modbus_program *program, const struct arm6_state *arm,
                       const struct robot_reply *reply);

/* Decode six numbers of 32 bits in units of 1e-6. */
void modbus_map_numbers(const uint16_t words[12], double out[6]);

#endif
