/* logger/codec/mapping.h - messages of robots that speak another way, by a table of rows
 * (docs/robots/mapping.md): which topics, where in the payload each member of an event stands,
 * in which unit and under which names; and what goes out to such robots.
 *
 * A table is made once, when a lab is read (config/mapping/mapping_file.h), which checks what
 * is promised here; nothing is changed later. Pure: no I/O, no clock, no allocation.
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
    MAPPING_ROWS_MAX = 256,   /* of a table, and as many to send */
    MAPPING_LEVELS_MAX = 16,  /* of a topic */
    MAPPING_FIELDS_MAX = 40,  /* of a row */
    MAPPING_SOURCES_MAX = 64, /* of a row: fields and what is added to them; bits of a mask */
    MAPPING_NODES_MAX = 1024, /* of the pointers of a row */
    MAPPING_DEPTH_MAX = 32,   /* of a payload */
    MAPPING_COLUMNS_MAX = 4096,
    MAPPING_WORD_MAX = 64, /* bytes of a word of a map with its NUL */
    MAPPING_PARTS_MAX = 64 /* of a template */
};

/* ---- topics ---- */

enum mapping_level_kind {
    MAPPING_LEVEL,       /* this text */
    MAPPING_LEVEL_ANY,   /* "+" */
    MAPPING_LEVEL_NAMED, /* "{name}": as "+", not empty */
    MAPPING_LEVEL_REST   /* "#", the last: any number of levels, none too */
};

struct mapping_level {
    enum mapping_level_kind kind;
    const char *text; /* the word, or the name */
    size_t bytes;
};

/* [bytes] not terminated. */
struct mapping_text {
    const char *at;
    size_t bytes;
};

/* Does the topic fit? level[i] is what stands for level i, of all but "#". */
bool mapping_topic_fits(const struct mapping_level *levels, size_t count, const char *topic,
                        struct mapping_text level[MAPPING_LEVELS_MAX]);

/* ---- values ---- */

enum mapping_origin {
    MAPPING_PATH,  /* a JSON pointer, RFC 6901 */
    MAPPING_AT,    /* a column, from 1 */
    MAPPING_TOPIC, /* a level of the topic */
    MAPPING_VALUE  /* always the same */
};

struct mapping_word {
    const char *from, *to; /* "OK", "done" */
};

/* Where a value stands, and what makes it the member's: x scale + offset. */
struct mapping_source {
    enum mapping_origin origin;
    const char *place; /* for people: "/pose/x", "column 2", "topic level {side}" */
    unsigned at;       /* MAPPING_AT: the column; MAPPING_TOPIC: the level, from 0 */
    double scale;      /* of the unit too */
    double offset;
    bool numeric;    /* a unit, scale or offset is given: no text may stand there */
    bool iso8601;    /* a text, ISO 8601 with its offset */
    bool quaternion; /* an object of x, y, z and w: its heading, rad */
    bool optional;
    const struct mapping_word *map; /* [map_count]; NULL: the value as it is */
    size_t map_count;
    const char *value; /* MAPPING_VALUE */
};

/* Members and items of a document that lie on the way to a value, as a tree. */
struct mapping_node {
    const char *token; /* of the pointer, its ~0 and ~1 resolved */
    size_t bytes;
    long index;            /* as that of an array; -1: it is none */
    uint64_t leaves;       /* sources that end here */
    uint16_t first, next;  /* child and sibling, from 1; 0: none */
    uint16_t rank;         /* among its siblings, from 0; below MAPPING_SOURCES_MAX */
    uint16_t quoted_bytes; /* 0: none, it needs escapes */
    const char *quoted;    /* [quoted_bytes] as a name of JSON: "\"x\":" */
};

/* ---- rows ---- */

enum mapping_type {
    MAPPING_PLAIN, /* char[size] */
    MAPPING_NAME,  /* by names: enum or bool */
    MAPPING_TIME,  /* seconds to int64_t microseconds */
    MAPPING_SIM,   /* the same, and a bool that tells of it */
    MAPPING_REAL,  /* double */
    MAPPING_WHOLE, /* int64_t, 0 or more */
    MAPPING_AXIS,  /* one of double[EVENT_AXES_MAX], and a size_t that tells how many */
    MAPPING_NAMED  /* a number or a text among a reply's values */
};

enum mapping_quantity { MAPPING_NUMBER, MAPPING_SECONDS, MAPPING_RADIANS, MAPPING_METRES };

/* A member that a row can fill. Axes stand under their common name: "pose" of "pose.0". */
struct mapping_member {
    enum event_kind kind;
    const char *name;
    enum mapping_type type;
    enum mapping_quantity quantity;
    bool required;
    size_t at, size, flag_at;
    const struct names *names;
};

/* The table, [mapping_member_count] rows: those of a kind stand together. */
extern const struct mapping_member mapping_members[];
extern const size_t mapping_member_count;

/* By name: "status", "pose.2", "values.x_m"; *axis is the number behind the dot. NULL when the
 * kind has no such member. */
const struct mapping_member *mapping_member_find(enum event_kind kind, const char *name,
                                                 size_t *axis);

/* The name of a value: what stands behind "values.". */
static inline const char *mapping_value_name(const char *field)
{
    return field + sizeof "values." - 1;
}

struct mapping_field {
    const char *name; /* as it is written: "pose.0", "values.x_m"; see mapping_value_name() */
    const struct mapping_member *member;
    size_t axis;
    uint64_t place;       /* of a value: native_value_place() */
    size_t source, count; /* its sources: their sum */
};

/* MAPPING_SPARKPLUG: metrics, which are put as JSON (sparkplug_rows.h) */
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
    enum event_kind kind;             /* command, reply, telemetry or connection */
    const char *pair;                 /* NULL: pair_level; both not: that of the table */
    int pair_level, side_level;       /* -1: none */
    enum side side;                   /* SIDE_COUNT: side_level, or a command's */
    const struct mapping_word *sides; /* [side_count] what they are called */
    size_t side_count;
    enum mapping_format format;
    const char *separator; /* "": white space */
    size_t columns;        /* how many there have to be; 0: any number */
    /* Whether the payload is this row's, by a regular expression that fits from its beginning
     * on; NULL: it is. A function of who compiled it: libc's may allocate. */
    bool (*fits)(const void *only, const char *payload, size_t bytes);
    const void *only;
    const struct mapping_source *sources; /* [source_count] */
    size_t source_count;
    const struct mapping_field *fields; /* [field_count] */
    size_t field_count;
    const struct mapping_node *nodes; /* the first is the root */
    size_t node_count;
};

/* ---- values as they stand in a message ---- */

struct mapping_found {
    enum json_kind kind;   /* JSON_KIND_NONE: there is none; a column is a text */
    struct json_text text; /* of what is no text: as it stands */
    double number;
};

struct mapping_finding {
    struct mapping_found found[MAPPING_SOURCES_MAX]; /* by source */
    size_t columns;                                  /* how many there are */
    char fault[80];                                  /* what is wrong */
};

/* Find what the nodes lead to in a JSON text. False, with *fault, when it is none. Other
 * found[] are left as they are. */
bool mapping_find_json(const struct mapping_node *nodes, const char *text, size_t bytes,
                       struct mapping_finding *out);

/* Find the sources' columns in a text. False, with *fault, when it is no UTF-8. */
bool mapping_find_columns(const struct mapping_source *sources, size_t count,
                          const char *separator, const char *text, size_t bytes,
                          struct mapping_finding *out);

/* ---- what goes out ---- */

enum mapping_part_kind {
    MAPPING_LITERAL,
    MAPPING_PAIR,
    MAPPING_SIDE,   /* in the robots' words */
    MAPPING_FILLED, /* by a source: as text */
    MAPPING_QUOTED, /* as JSON: a number, or a text in quotes */
    MAPPING_INNER   /* as JSON between quotes that are there */
};

struct mapping_part {
    enum mapping_part_kind kind;
    const char *text; /* MAPPING_LITERAL: [bytes] */
    size_t bytes;
    size_t source;
};

/* A message to a robot, made of the native payload: a source's pointer leads into that, and its
 * value goes the other way, (x - offset) / scale, and from `to` to `from`. */
struct mapping_send {
    enum codec_kind kind;
    enum side side;                   /* SIDE_COUNT: either */
    const char *op;                   /* of a command, only; NULL: any */
    const struct mapping_part *topic; /* [topic_count] */
    size_t topic_count;
    const struct mapping_part *text; /* [text_count] */
    size_t text_count;
    const struct mapping_word *sides; /* [side_count] */
    size_t side_count;
    const struct mapping_source *sources; /* [source_count] all MAPPING_PATH */
    const int *digits;                    /* [source_count] behind the point; -1: as needed */
    size_t source_count;
    const struct mapping_node *nodes;
    size_t node_count;
};

struct mapping {
    const struct mapping_row *rows; /* [row_count] */
    size_t row_count;
    const struct mapping_send *sends; /* [send_count] */
    size_t send_count;
    uint64_t hash; /* of what the table says */
};

enum mapping_outcome {
    MAPPING_NOBODY, /* no row has this topic */
    MAPPING_PASSED, /* the rows that have this topic are for other payloads */
    MAPPING_DECODED /* one event, EVENT_MALFORMED too */
};

/* What the first row that fits makes of a message to this pair. told: its commands and replies
 * are told on, with the payload of a native one. */
enum mapping_outcome mapping_decode(const struct mapping *mapping, const char *pair,
                                    bool republished, const struct message *message,
                                    event_emit *emit, void *context);

/* The first row for what goes out: a message under its whole topic. MAPPING_NOBODY when there
 * is no row; MAPPING_PASSED when there is one which cannot say it: a word that its map does not
 * have, a text that no topic or line can hold. */
enum mapping_outcome mapping_encode(const struct mapping *mapping, const struct codec_out *out,
                                    struct codec_message *message);

/* The filter of a row's topic, as MQTT has it; pair stands for {pair}. */
void mapping_row_filter(const struct mapping_row *row, const char *pair,
                        char filter[MESSAGE_TOPIC_MAX]);

/* The same of a topic that is written to: '+' for members of what is sent. */
void mapping_send_filter(const struct mapping_send *send, const char *pair, enum side side,
                         char filter[MESSAGE_TOPIC_MAX]);

/* Do messages under a topic come in a stream, of which nobody waits for a single one? */
bool mapping_is_sample(const struct mapping *mapping, const char *topic);

#endif
