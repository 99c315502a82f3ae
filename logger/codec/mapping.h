/* logger/codec/mapping.h - messages of robots with another protocol, described by a table of
 * rows (docs/robots/mapping.md).
 *
 * A row says which topics it reads, and the place, unit and names of each event member in the
 * payload. Further rows describe the messages that are sent to such robots.
 *
 * A table is made once, when a lab is read (config/mapping/mapping_file.h), which checks all
 * conditions stated here. It does not change later. Pure: no I/O, no clock, no allocation.
 */
#ifndef LOGGER_CODEC_MAPPING_H
#define LOGGER_CODEC_MAPPING_H

#include "base/errors/status.h"
#include "base/text/names.h"
#include "logger/message/codec.h"
#include "logger/message/event.h"
#include "logger/message/json_scan.h"
#include "logger/message/message.h"

enum {
    MAPPING_ROWS_MAX = 256,   /* per table; the same for rows to send */
    MAPPING_LEVELS_MAX = 16,  /* per topic */
    MAPPING_FIELDS_MAX = 40,  /* per row */
    MAPPING_SOURCES_MAX = 64, /* per row: fields and their addends; bits of a mask */
    MAPPING_NODES_MAX = 1024, /* nodes of all pointers of a row */
    MAPPING_DEPTH_MAX = 32,   /* nesting of a payload */
    MAPPING_COLUMNS_MAX = 4096,
    MAPPING_WORD_MAX = 64, /* bytes of a mapped word with its NUL */
    MAPPING_PARTS_MAX = 64 /* per template */
};

/* ---- topics ---- */

enum mapping_level_kind {
    MAPPING_LEVEL,       /* exactly this text */
    MAPPING_LEVEL_ANY,   /* "+" */
    MAPPING_LEVEL_NAMED, /* "{name}": like "+", but not empty */
    MAPPING_LEVEL_REST   /* "#", last: any number of levels, also none */
};

struct mapping_level {
    enum mapping_level_kind kind;
    const char *text; /* the word, or the name */
    size_t bytes;
};

/* Text of [bytes], not terminated. */
struct mapping_text {
    const char *at;
    size_t bytes;
};

/* Does the topic match? level[i] is the topic's text at level i, except for "#". */
bool mapping_topic_fits(const struct mapping_level *levels, size_t count, const char *topic,
                        struct mapping_text level[MAPPING_LEVELS_MAX]);

/* ---- values ---- */

enum mapping_origin {
    MAPPING_PATH,  /* a JSON pointer, RFC 6901 */
    MAPPING_AT,    /* a column, from 1 */
    MAPPING_TOPIC, /* a level of the topic */
    MAPPING_VALUE  /* a constant */
};

struct mapping_word {
    const char *from, *to; /* "OK", "done" */
};

/* The place of a value, and its conversion to the member: x scale + offset. */
struct mapping_source {
    enum mapping_origin origin;
    const char *place; /* for messages: "/pose/x", "column 2", "topic level {side}" */
    unsigned at;       /* MAPPING_AT: the column; MAPPING_TOPIC: the level, from 0 */
    double scale;      /* includes the unit's factor */
    double offset;
    bool numeric;    /* a unit, scale or offset is given, so a text is refused */
    bool iso8601;    /* a text in ISO 8601 */
    bool has_zone;   /* zone_s was given */
    int32_t zone_s;  /* zone of a time that names none, seconds east of Greenwich */
    bool quaternion; /* an object of x, y, z and w, read as heading, rad */
    bool optional;
    const struct mapping_word *map; /* [map_count]; NULL: the value is used unchanged */
    size_t map_count;
    const char *value; /* MAPPING_VALUE */
};

/* A tree of the members and items on the way to the values of a row. */
struct mapping_node {
    const char *token; /* from the pointer, with ~0 and ~1 resolved */
    size_t bytes;
    long index;            /* token as an array index; -1: it is not one */
    uint64_t leaves;       /* bit k: source k ends here */
    uint16_t first, next;  /* child and sibling, from 1; 0: none */
    uint16_t rank;         /* rank among its siblings, from 0; below MAPPING_SOURCES_MAX */
    uint16_t quoted_bytes; /* 0: none, because the token needs escapes */
    const char *quoted;    /* [quoted_bytes] token as a JSON name: "\"x\":" */
    /* The token is "[key=value]": it finds the item of a list whose member `key` has this
     * value. No key: it is none. */
    struct mapping_text key, value;
    bool of_pair; /* the value is "{pair}": the pair's id */
    bool selects; /* one of the children is such a token */
};

/* ---- rows ---- */

enum mapping_type {
    MAPPING_PLAIN,  /* char[size] */
    MAPPING_NAME,   /* by names: enum or bool */
    MAPPING_TIME,   /* seconds to int64_t microseconds */
    MAPPING_SIM,    /* the same, with a bool that is set if it is present */
    MAPPING_REAL,   /* double */
    MAPPING_WHOLE,  /* int64_t, 0 or more */
    MAPPING_AXIS,   /* one of double[EVENT_AXES_MAX], with a size_t for their number */
    MAPPING_TARGET, /* an axis (`at`) of where a move ends; it gives the sizes of the move */
    MAPPING_NAMED   /* a number or text among a reply's values */
};

enum mapping_quantity { MAPPING_NUMBER, MAPPING_SECONDS, MAPPING_RADIANS, MAPPING_METRES };

/* A member that a row can fill. Axes share one name: "pose" for "pose.0". */
struct mapping_member {
    enum event_kind kind;
    const char *name;
    enum mapping_type type;
    enum mapping_quantity quantity;
    bool required;
    size_t at, size, flag_at;
    const struct names *names;
};

/* The table, [mapping_member_count] rows, grouped by kind. */
extern const struct mapping_member mapping_members[];
extern const size_t mapping_member_count;

/* Finds "status", "pose.2", "values.x_m"; *axis is the number behind the dot. NULL if the kind
 * has no such member. */
const struct mapping_member *mapping_member_find(enum event_kind kind, const char *name,
                                                 size_t *axis);

/* Returns the name of a value, without "values.". */
static inline const char *mapping_value_name(const char *field)
{
    return field + sizeof "values." - 1;
}

struct mapping_field {
    const char *name; /* as in the table: "pose.0", "values.x_m"; see mapping_value_name() */
    const struct mapping_member *member;
    size_t axis;
    uint64_t place;       /* native_value_place() of a value */
    size_t source, count; /* its sources, which are added up */
};

/* MAPPING_SPARKPLUG: metrics, converted to JSON (sparkplug_rows.h) */
enum mapping_format {
    MAPPING_JSON,
    MAPPING_WORDS,
    MAPPING_CSV,
    MAPPING_SPARKPLUG,
    MAPPING_FORMAT_COUNT
};

static inline bool mapping_is_json(enum mapping_format format)
{
    return format == MAPPING_JSON || format == MAPPING_SPARKPLUG;
}

struct mapping_row {
    const struct mapping_level *levels; /* [level_count] */
    size_t level_count;
    enum event_kind kind; /* command, reply, telemetry or connection */
    const char *pair;     /* NULL: see pair_level; neither: the table's pair */
    bool by_item;         /* by items [key={pair}]: a message without one is not the pair's */
    int pair_level, side_level;       /* topic level; -1: none */
    enum side side;                   /* SIDE_COUNT: see side_level, or a command to both */
    const struct mapping_word *sides; /* [side_count] the robots' words for the sides */
    size_t side_count;
    enum mapping_format format;
    const char *separator; /* "": white space */
    size_t columns;        /* required number; 0: any */
    bool comma;            /* numbers in texts have a decimal comma */
    /* Is the payload for this row? A regular expression that must match from the beginning;
     * NULL: always. The function belongs to the caller, because libc's regex may allocate. */
    bool (*fits)(const void *only, const char *payload, size_t bytes);
    const void *only;
    const struct mapping_source *sources; /* [source_count] */
    size_t source_count;
    const struct mapping_field *fields; /* [field_count] */
    size_t field_count;
    const struct mapping_node *nodes; /* nodes[0] is the root */
    size_t node_count;
};

/* ---- values found in a message ---- */

struct mapping_found {
    enum json_kind kind;   /* JSON_KIND_NONE: absent; a column is a text */
    struct json_text text; /* the literal text, for anything but a string */
    double number;
};

struct mapping_finding {
    struct mapping_found found[MAPPING_SOURCES_MAX]; /* index: source */
    bool of_pair;                                    /* an item of the pair was found */
    size_t columns;                                  /* number of columns in the message */
    char fault[160];                                 /* description of the fault */
};

/* Receives remarks about a message that was read, for whoever writes a table. */
struct mapping_hints {
    void (*give)(void *context, const char *text);
    void *context;
};

/* The last pose that a robot reported: x, y, heading. */
struct mapping_pose {
    int64_t count; /* known axes; 0: none */
    double axis[3];
};

/* The pair that a message is decoded for. */
struct mapping_receiver {
    const char *pair;
    bool republished; /* commands and replies are published again: they get a native payload */
    struct mapping_pose *poses;        /* [SIDE_COUNT] updated; NULL: not known */
    const struct mapping_hints *hints; /* NULL: nobody wants any */
};

/* Finds the values that the nodes lead to in a JSON text. False, with *fault, if it is not
 * JSON. Other found[] are not changed. to: NULL if no pointer depends on the pair. */
bool mapping_find_json(const struct mapping_node *nodes, const char *text, size_t bytes,
                       const struct mapping_receiver *to, struct mapping_finding *out);

/* Finds the sources' columns in a text. False, with *fault, if it is not UTF-8. */
bool mapping_find_columns(const struct mapping_source *sources, size_t count,
                          const char *separator, const char *text, size_t bytes,
                          struct mapping_finding *out);

/* ---- outgoing messages ---- */

enum mapping_part_kind {
    MAPPING_LITERAL,
    MAPPING_PAIR,
    MAPPING_SIDE,   /* the robots' word for the side */
    MAPPING_FILLED, /* a source's value as text */
    MAPPING_QUOTED, /* as JSON: a number, or a quoted text */
    MAPPING_INNER   /* as JSON within existing quotes */
};

struct mapping_part {
    enum mapping_part_kind kind;
    const char *text; /* MAPPING_LITERAL: [bytes] */
    size_t bytes;
    size_t source;
};

/* A message to a robot, made of the native payload. A source's pointer leads into the native
 * payload. The conversion is inverse: (x - offset) / scale, and from `to` to `from`. */
struct mapping_send {
    enum codec_kind kind;
    enum side side;                   /* SIDE_COUNT: either */
    const char *op;                   /* a command's operation; NULL: any */
    const struct mapping_part *topic; /* [topic_count] */
    size_t topic_count;
    const struct mapping_part *text; /* [text_count] */
    size_t text_count;
    const struct mapping_word *sides; /* [side_count] */
    size_t side_count;
    const struct mapping_source *sources; /* [source_count] all MAPPING_PATH */
    const int *digits;                    /* [source_count] decimals; -1: as needed */
    size_t source_count;
    const struct mapping_node *nodes;
    size_t node_count;
};

struct mapping {
    const struct mapping_row *rows; /* [row_count] */
    size_t row_count;
    const struct mapping_send *sends; /* [send_count] */
    size_t send_count;
    uint64_t hash; /* hash of the table's text */
};

enum mapping_outcome {
    MAPPING_NOBODY, /* no row has this topic */
    MAPPING_PASSED, /* rows have this topic, but for other payloads */
    MAPPING_DECODED /* one event, possibly EVENT_MALFORMED */
};

/* Decodes a message to this pair with the first matching row. */
enum mapping_outcome mapping_decode(const struct mapping *mapping,
                                    const struct mapping_receiver *to,
                                    const struct message *message, event_emit *emit,
                                    void *context);

/* Updates the pose of the event's side from its telemetry or reply. */
void mapping_pose_update(struct mapping_pose *poses, const struct event *event);

/* Computes the sizes of a move to a target: bit k of given says that target[k] is one (x, y,
 * heading). x alone is a place on an axis, x and y are a point to turn to and drive to, a
 * heading is turned to. Returns why it is impossible; NULL: it is not. */
const char *mapping_pose_move(const struct mapping_pose *poses, unsigned given,
                              const double target[3], double *rotation_rad,
                              double *displacement_m);

/* Encodes an outgoing message with the first matching row; the topic is complete.
 * MAPPING_NOBODY: no row. MAPPING_PASSED: a row matches but cannot express the message, because
 * a word is not in its map or a text is not allowed in a topic or line. */
enum mapping_outcome mapping_encode(const struct mapping *mapping, const struct codec_out *out,
                                    struct codec_message *message);

/* Writes the MQTT filter of a row's topic; pair replaces {pair}. */
void mapping_row_filter(const struct mapping_row *row, const char *pair,
                        char filter[MESSAGE_TOPIC_MAX]);

/* Does the same for an outgoing topic, with '+' for members of the payload. */
void mapping_send_filter(const struct mapping_send *send, const char *pair, enum side side,
                         char filter[MESSAGE_TOPIC_MAX]);

/* Are messages under this topic a stream of samples, none of which anybody waits for? */
bool mapping_is_sample(const struct mapping *mapping, const char *topic);

#endif
