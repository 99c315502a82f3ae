/* service/wire/rtde.h - UR's Real-Time Data Exchange: frames, fields, recipes. No I/O.
 *
 * A frame is u16 length (header included), u8 type, payload, all big-endian. A recipe is a list
 * of fields that one side wants or sends; a data frame holds their values one after another.
 * Source: Universal Robots, "Real-Time Data Exchange (RTDE) guide"; also the behaviour of UR's
 * own Python client (RTDE_Python_Client_Library, BSD-3).
 */
#ifndef SERVICE_WIRE_RTDE_H
#define SERVICE_WIRE_RTDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    RTDE_PORT = 30004,
    RTDE_HEADER = 3,
    RTDE_FRAME_MAX = 4096, /* longer ones are invalid: UR's lists of names end at 2048 bytes */
    RTDE_ITEMS_MAX = 128,  /* fields of one recipe */
    RTDE_REGISTERS = 48,   /* integers and doubles, in each direction */
    RTDE_BIT_REGISTERS = 64, /* bits with names of their own … */
    RTDE_BIT_REGISTER_FIRST = 64 /* … from this number on; lower ones come as two words */,
    RTDE_PROGRAM_FIRST = 24, /* output integers of the program of `tandem bridge --drive` */
    RTDE_PROGRAM_COUNT = 5,
    RTDE_VERSION_MAX = 2
};

enum rtde_frame_type {
    RTDE_VERSION = 'V',    /* u16 version -> u8 accepted */
    RTDE_CONTROLLER = 'v', /* -> 4 u32: major, minor, bug fix, build */
    RTDE_TEXT = 'M',       /* a message for people */
    RTDE_DATA = 'U',       /* (version 2: u8 recipe), values */
    RTDE_OUTPUTS = 'O',    /* (version 2: f64 Hz), names -> (version 2: u8 recipe), types */
    RTDE_INPUTS = 'I',     /* names -> u8 recipe, types */
    RTDE_START = 'S',      /* -> u8 accepted */
    RTDE_PAUSE = 'P'       /* -> u8 accepted */
};

struct rtde_frame { /* borrowed */
    uint8_t type;
    const uint8_t *payload;
    size_t bytes;
};

/* Find the first frame in bytes[count]. Returns its length, 0 while it is incomplete, -1 when
 * its length is invalid. */
ssize_t rtde_frame_next(const uint8_t *bytes, size_t count, struct rtde_frame *out);

/* Outgoing frames, one after another; a frame without room sets overflow. */
struct rtde_out {
    uint8_t *bytes; /* [room] */
    size_t room, used;
    bool overflow;
};

/* Append a frame of payload[bytes]. */
void rtde_frame_write(struct rtde_out *out, uint8_t type, const void *payload, size_t bytes);

/* --- fields ------------------------------------------------------------------------------ */

enum rtde_type {
    RTDE_DOUBLE,
    RTDE_UINT64,
    RTDE_UINT32,
    RTDE_INT32,
    RTDE_VECTOR3D,
    RTDE_VECTOR6D,
    RTDE_VECTOR6INT32,
    RTDE_UINT8,
    RTDE_BOOL,
    RTDE_TYPE_COUNT
};
/* "DOUBLE" … */
extern const char *const rtde_type_names[RTDE_TYPE_COUNT];

/* A member for a value of each type. */
#define RTDE_MEMBER_DOUBLE(name)       double name;
#define RTDE_MEMBER_UINT64(name)       uint64_t name;
#define RTDE_MEMBER_UINT32(name)       uint32_t name;
#define RTDE_MEMBER_INT32(name)        int32_t name;
#define RTDE_MEMBER_VECTOR3D(name)     double name[3];
#define RTDE_MEMBER_VECTOR6D(name)     double name[6];
#define RTDE_MEMBER_VECTOR6INT32(name) int32_t name[6];
#define RTDE_MEMBER_UINT8(name)        uint8_t name;
#define RTDE_MEMBER_BOOL(name)         uint8_t name;

#define VALUE(type, name) RTDE_MEMBER_##type(name)

/* Inputs: a client may send them to a controller. */
struct rtde_inputs {
#define REGISTERS(type, name, member, count, first) RTDE_MEMBER_##type(member[count])
#include "service/wire/rtde_inputs.def"
#undef REGISTERS
};

/* Outputs: a controller sends them. */
struct rtde_outputs {
#define REGISTERS(...)
#define OUTPUT_REGISTERS(...)
#include "service/wire/rtde_outputs.def"
#undef REGISTERS
#undef OUTPUT_REGISTERS
    struct rtde_inputs in;  /* as clients wrote them */
    struct rtde_inputs out; /* registers for clients, under the same members */
};
#undef VALUE

/* Values of robot_mode, safety_mode, runtime_state and joint_mode, as UR numbers them. */
enum {
    RTDE_ROBOT_POWER_OFF = 3,
    RTDE_ROBOT_RUNNING = 7,
    RTDE_SAFETY_NORMAL = 1,
    RTDE_SAFETY_REDUCED = 2,
    RTDE_SAFETY_PROTECTIVE_STOP = 3,
    RTDE_RUNTIME_STOPPED = 1,
    RTDE_RUNTIME_PLAYING = 2,
    RTDE_JOINT_RUNNING = 253
};
/* "protective stop" …; NULL: the robot may move. */
const char *rtde_safety_stop(int32_t safety_mode);

/* "power off" …, what a robot that does not run is doing. */
const char *rtde_robot_mode_text(int32_t robot_mode);

/* A row of a table of fields. */
struct rtde_field {
    const char *name;
    enum rtde_type type;
    size_t at;     /* offset in its struct */
    int registers; /* > 0: number of registers, "name_<first>" and on */
    int first;
};

struct rtde_table {
    const struct rtde_field *fields;
    size_t count;
};
extern const struct rtde_table rtde_output_table; /* of struct rtde_outputs */
extern const struct rtde_table rtde_input_table;  /* of struct rtde_inputs */

/* --- recipes ----------------------------------------------------------------------------- */

struct rtde_item {
    enum rtde_type type;
    size_t at; /* offset in the struct; distinct for each variable */
};

struct rtde_recipe {
    size_t count;
    struct rtde_item item[RTDE_ITEMS_MAX];
    size_t bytes; /* size of its values in a data frame */
};

/* Find the variable of this name[bytes]; false when there is none. */
bool rtde_find(const struct rtde_table *table, const char *name, size_t bytes,
               struct rtde_item *out);

/* Add an item; recipe->count < RTDE_ITEMS_MAX. */
void rtde_recipe_add(struct rtde_recipe *recipe, const struct rtde_item *item);

/* Split names[bytes] at their commas, and find each. types[room]: the controller's answer,
 * "DOUBLE,NOT_FOUND", terminated. False for an unknown name, too many names, or too little room
 * for types. */
bool rtde_recipe_read(const struct rtde_table *table, const char *names, size_t bytes,
                      struct rtde_recipe *out, char *types, size_t room);

/* values: the table's struct. pack() writes recipe->bytes to out, unpack() reads as many. */
void rtde_pack(const struct rtde_recipe *recipe, const void *values, uint8_t *out);
void rtde_unpack(const struct rtde_recipe *recipe, const uint8_t *in, void *values);

/* Numbers in wire format. */
void rtde_write_u16(uint8_t *out, uint16_t value);
void rtde_write_u32(uint8_t *out, uint32_t value);
void rtde_write_double(uint8_t *out, double value);
uint16_t rtde_get_u16(const uint8_t *in);
double rtde_get_double(const uint8_t *in);

#endif
