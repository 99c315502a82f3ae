/* web/http/query.h - parses the query part of a URL strictly.
 *
 * A parameter that the route does not have, a duplicate, and an undocumented value are refused
 * with the parameter's name: a typing error must not widen a selection silently. Contract:
 * web/openapi.yaml. Pure: no I/O, no clock, no allocation.
 */
#ifndef WEB_HTTP_QUERY_H
#define WEB_HTTP_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/errors/err.h"
#include "base/text/names.h"
#include "web/http/event_hub.h"

enum query_parameter {
#define QUERY(id, ...) QUERY_##id,
#include "web/http/query.def"
#undef QUERY
    QUERY_PARAMETER_COUNT
};

/* Bit of a parameter in a set of them. */
#define QUERY_BIT(parameter) (1u << (parameter))

/* Used instead of a set: the query is not parsed here, because its receiver knows the
 * parameters. */
#define QUERY_RAW (1u << 31)

enum { QUERY_LIMIT_MAX = 1000, QUERY_LIMIT_DEFAULT = 100, QUERY_TEXT_MAX = 2048 };
enum { QUERY_POINTS_MAX = 4000, QUERY_POINTS_DEFAULT = 500 };
enum {
    QUERY_CURSOR_MAX = 256,
    QUERY_WORD_MAX = 32,
    QUERY_COLUMNS_MAX = 1024,
    QUERY_NAME_MAX = 100
};

/* The last one is for charts only. */
enum query_format {
    QUERY_FORMAT_JSON,
    QUERY_FORMAT_CSV,
    QUERY_FORMAT_COUNT,
    QUERY_FORMAT_SVG = QUERY_FORMAT_COUNT,
    QUERY_CHART_FORMAT_COUNT
};

/* Number of formats of a fragment, in the order of enum fragment_format. */
enum { QUERY_FRAGMENT_COUNT = 4 };

/* Number of levels of an interval, in the order of enum forecast_level. */
enum { QUERY_LEVEL_COUNT = 3 };

struct query {
    unsigned given;                /* QUERY_BITs that were given */
    uint32_t limit;                /* 1..QUERY_LIMIT_MAX */
    int64_t since_us;              /* first lab time; LAB_TIME_NONE: from the beginning */
    int64_t until_us;              /* end of the range, exclusive; LAB_TIME_MAX: to the end */
    int oldest;                    /* 1: oldest first; 0: newest first */
    int format;                    /* enum query_format, or enum fragment_format */
    int refit;                     /* 1: compute every fit again */
    int field;                     /* field of a series: 0, there is one */
    bool moving;                   /* a time counts from now: "-2h", "today" */
    uint64_t verdicts;             /* set of 1 << index in entry_filter_names; 0: all */
    uint64_t types;                /* set of 1 << index in alarm_filter_names; 0: all */
    char cursor[QUERY_CURSOR_MAX]; /* "" when absent */
    char pair[QUERY_WORD_MAX];     /* pair of a table of moves; "" when absent */
    char team[QUERY_WORD_MAX];     /* only this team's commands; "" when absent: all */
    char job[EVENT_ID_MAX];        /* only this job's; "" when absent: all */
    /* only entries made under this version; "" when absent: all */
    char version[SIDE_COUNT][EVENT_VERSION_MAX];
    char name[QUERY_NAME_MAX];     /* of the recording, or part of a pair's; "": none */
    char pairs[QUERY_COLUMNS_MAX]; /* "r1,r2"; "" when absent: all */
    uint64_t event_types;          /* set of 1 << enum event_type; all when absent */
    char last_event_id[EVENT_PLACE_MAX];
    uint32_t points; /* points of a series, 1..QUERY_POINTS_MAX */
    /* for a fragment (struct fragment_options); 0 when absent */
    double inertia_kgm2, torque_per_unit, mass_kg, yaw_inertia_kgm2;
    double rotation_rad, displacement_m; /* of a forecast's move; 0 when absent */
    int level;                           /* enum forecast_level */
    int open;                            /* 1: forecasts of open commands */
    double goal_ratio; /* half width of speeds that the next move is for; 0 when absent */
};

/* Decode text[bytes] to out[size] with a NUL. False, with out unspecified: a '%' without two
 * hexadecimal digits, a control character in the result (NUL above all), or too little room.
 * '+' stays '+'; in a query's values it is a blank (query_read()). */
bool percent_decode(const char *text, size_t bytes, char *out, size_t size);

/* Encode text for a query or a segment of a path; false: out[size] is too small. */
bool percent_encode(const char *text, char *out, size_t size);

/* A value while it is parsed. */
struct query_value {
    const char *name, *text;
    enum status refused; /* the status of a refusal */
    struct err *err;
};

/* Refuse a value; returns its status. */
enum status query_refuse(const struct query_value *value, enum fault fault, const char *what);

/* Parse a number from min to max in the grammar of JSON; whole: digits only. */
MUST_USE enum status query_number(const struct query_value *value, double min, double max,
                                  bool whole, double *out);

/* Copy a text of 1 to size - 1 bytes to out[size]. */
MUST_USE enum status query_text(const struct query_value *value, size_t size, char *out);

/* The parameters of a resource, and how a value is parsed. */
struct query_reader {
    const char *const *names; /* [count]; NULL: not available */
    size_t count;             /* at most 64 */
    size_t value_max;         /* bytes of a value with its NUL, at most QUERY_TEXT_MAX + 1 */
    enum status refused;      /* the status of errors found here */
    enum status (*read)(void *context, size_t parameter, const struct query_value *value);
    void *context;
};

/* Read each "name=value" of a query. '+' in a value is a blank, as forms send it; in numbers
 * and in zones of times it stays '+'. An unknown name, a name given twice and a value without
 * its encoding are refused with the name in err->where; so is what read() refuses. */
MUST_USE enum status query_read(const char *text, const struct query_reader *reader,
                                struct err *err);

/* Parse text, the part behind '?' as received ("" or NULL: none). allowed: set of QUERY_BIT.
 * now_us: from which "-2h" counts.
 *
 * Returns STATUS_E_PARSE; err->where is the parameter (as received, truncated), err->text what
 * is wrong and what would be right. *query is written only on STATUS_OK.
 */
MUST_USE enum status query_parse(const char *text, unsigned allowed, int64_t now_us,
                                 struct query *query, struct err *err);

/* "limit" … */
extern const struct names query_parameter_names;
const char *query_parameter_name(enum query_parameter parameter);

#endif
