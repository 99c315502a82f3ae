/* service/sim/check/check_terms.c - names findings in the terms of the robot's codec, each with
 * a quoted sentence of that codec's document. A finding without a row does not exist in that
 * protocol. */
#include <stdio.h>
#include <string.h>

#include "logger/codec/codecs.h"
#include "logger/codec/mapping.h"
#include "service/sim/check/check_parts.h"

NAMES(check_talk_names, TALK_COUNT, CHECK_TALKS(NAMES_TEXT));
NAMES(check_word_names, CHECK_WORD_COUNT, CHECK_WORDS(NAMES_TEXT));

struct term {
    const char *what; /* "reply.id" */
    const char *document, *rule;
    const char *term; /* NULL: the field of a mapping row: */
    enum event_kind kind;
    const char *field; /* NULL: the rows of this kind */
};

static const char mapping_doc[] = "docs/robots/mapping.md";
static const char sparkplug_doc[] = "docs/robots/sparkplug.md";
static const char vda_doc[] = "docs/robots/vda5050.md";

static const char one_reply[] = "Each command gets one reply, by the row with its `status`.";
static const char where_done[] = "A move is `done` at its end, with where the robot is in "
                                 "`values.x_m`, `values.y_m` and `values.psi_rad`.";
static const char busy[] = "A second `go` while it moves is `ignored`, or waits.";
static const char halts[] = "A `halt` stops it at once: the move is `halted`, then the `halt` "
                            "itself `done`; with nothing to halt it is `ignored` or `done`.";
static const char only_presence[] = "Connections are retained, and nothing else is.";
static const char own_clock[] = "`t` and `t_start` are the robot's own clock";
static const char own_time[] = "Stamp a sample with its own time.";
static const char axes[] = "`pose.0` … `pose.5`, `nu.0` …, `tau.0` …";
static const char no_ids[] = "Replies without `id` are assigned in the order of the commands.";
static const char units[] = "They mean what they mean in the [protocol](../protocol.md): "
                            "seconds, metres, radians, counter-clockwise positive";
static const char not_guessed[] = "What does not fit is not guessed";

static const char natively[] = "A kind of message that no row of `send` has goes out natively.";
static const char kinds_sent[] = "`command`, or `parameters`, `pose`, `control`, `probe`";
static const char online[] = "online, with the time of its `timestamp` as boot mark";
static const char own_order[] =
    "each vehicle gets an order of its own, from where it stands to "
    "where the command leads";
static const char cancels[] =
    "a `cancelOrder` that is `FINISHED` ends the edge under way: `halted`";
static const char stamped[] = "at the state's `timestamp`";
static const char pose_sent[] = "position and velocity in `state` and `visualization`";
static const char retained[] = "Only `connection` is retained.";

/* clang-format off */
#define ROWS_OF_MAPPINGS                                                                       \
    {"malformed", mapping_doc, not_guessed, "", EVENT_TICK, NULL},                             \
    {"reply", mapping_doc, one_reply, NULL, EVENT_REPLY, NULL},                                \
    {"reply.twice", mapping_doc, one_reply, NULL, EVENT_REPLY, NULL},                          \
    {"reply.id", mapping_doc, no_ids, NULL, EVENT_REPLY, "id"},                                \
    {"reply.t", mapping_doc, own_clock, NULL, EVENT_REPLY, "t"},                               \
    {"reply.t_start", mapping_doc, own_clock, NULL, EVENT_REPLY, "t_start"},                   \
    {"reply.retained", mapping_doc, only_presence, NULL, EVENT_REPLY, NULL},                   \
    {"telemetry.retained", mapping_doc, only_presence, NULL, EVENT_TELEMETRY, NULL},           \
    {"go", mapping_doc, where_done, NULL, EVENT_REPLY, "status"},                              \
    {"values", mapping_doc, where_done, NULL, EVENT_REPLY, "values.psi_rad"},                  \
    {"busy", mapping_doc, busy, NULL, EVENT_REPLY, "status"},                                  \
    {"halt", mapping_doc, halts, NULL, EVENT_REPLY, "status"},                                 \
    {"halt.stop", mapping_doc, halts, NULL, EVENT_REPLY, "values.x_m"},                        \
    {"halt.late", mapping_doc, halts, NULL, EVENT_REPLY, NULL},                                \
    {"halt.idle", mapping_doc, halts, NULL, EVENT_REPLY, "status"},                            \
    {"word", mapping_doc, one_reply, NULL, EVENT_REPLY, "status"},                             \
    {"telemetry", mapping_doc, axes, NULL, EVENT_TELEMETRY, NULL},                             \
    {"telemetry.t", mapping_doc, own_time, NULL, EVENT_TELEMETRY, "t"},                        \
    {"telemetry.tau", mapping_doc, axes, NULL, EVENT_TELEMETRY, "tau.0"},                      \
    {"telemetry.seq", mapping_doc, axes, NULL, EVENT_TELEMETRY, "seq"},                        \
    {"telemetry.pose", mapping_doc, units, NULL, EVENT_TELEMETRY, "pose.2"},                   \
    {"telemetry.nu", mapping_doc, units, NULL, EVENT_TELEMETRY, "nu.0"}

static const struct term mapping_terms[] = {
    ROWS_OF_MAPPINGS,
    {"connection", mapping_doc, only_presence, NULL, EVENT_CONNECTION, "state"},
    {"boot", mapping_doc, "`connection` | `state boot version t` | `state` |", NULL, EVENT_CONNECTION, "boot"},
    {"reply.qos", mapping_doc, "Publish replies and connections with QoS 1.", NULL, EVENT_REPLY, NULL},
    {"echo", mapping_doc, natively, "event: probe", EVENT_TICK, NULL},
    {"echo.t", mapping_doc, own_clock, "event: probe", EVENT_TICK, NULL},
    {"parameters", mapping_doc, kinds_sent, "event: parameters", EVENT_TICK, NULL},
    {"parameters.form", mapping_doc, kinds_sent, "event: parameters", EVENT_TICK, NULL},
    {"parameters.own", mapping_doc, kinds_sent, "event: parameters", EVENT_TICK, NULL},
};

/* Values in a birth message are not retained. */
static const struct term sparkplug_terms[] = {
    ROWS_OF_MAPPINGS,
    {"connection", sparkplug_doc, "a birth is asked for", "NBIRTH, DBIRTH", EVENT_TICK, NULL},
};

static const struct term vda_terms[] = {
    {"connection", vda_doc, online, "connection", EVENT_TICK, NULL},
    {"boot", vda_doc, online, "connection.timestamp", EVENT_TICK, NULL},
    {"malformed", vda_doc, "Versions 1.1, 2.0 and 2.1 are read, and the names of 3.0.", "", EVENT_TICK, NULL},
    {"reply", vda_doc, own_order, "nodeStates, lastNodeSequenceId", EVENT_TICK, NULL},
    {"reply.retained", vda_doc, retained, "state", EVENT_TICK, NULL},
    {"telemetry.retained", vda_doc, retained, "state, visualization", EVENT_TICK, NULL},
    {"reply.t", vda_doc, stamped, "state.timestamp", EVENT_TICK, NULL},
    {"reply.t_start", vda_doc, "its motion began with the first state since the node before that said `driving`",
     "state.driving", EVENT_TICK, NULL},
    {"go", vda_doc, own_order, "order", EVENT_TICK, NULL},
    {"busy", vda_doc, "One that names an order before it was accepted is the reply `ignored` to its first edge",
     "order, errors", EVENT_TICK, NULL},
    {"halt", vda_doc, cancels, "cancelOrder", EVENT_TICK, NULL},
    {"halt.late", vda_doc, cancels, "cancelOrder", EVENT_TICK, NULL},
    {"halt.idle", vda_doc, "With nothing to cancel it is `FAILED`, or `FINISHED`.", "cancelOrder", EVENT_TICK, NULL},
    {"word", vda_doc, "any other operation, as the `actionType`", "actionType", EVENT_TICK, NULL},
    {"telemetry", vda_doc, pose_sent, "agvPosition, velocity", EVENT_TICK, NULL},
    {"telemetry.t", vda_doc, stamped, "timestamp", EVENT_TICK, NULL},
    {"telemetry.pose", vda_doc, pose_sent, "agvPosition", EVENT_TICK, NULL},
    {"telemetry.nu", vda_doc, "frame of `velocity`", "velocity", EVENT_TICK, NULL},
};
/* clang-format on */

static const struct term *find_term(const struct codec *codec, const char *what)
{
    static const struct {
        const struct codec *codec;
        const struct term *terms;
        size_t count;
    } tables[] = {{&codec_mapping, mapping_terms, COUNT(mapping_terms)},
                  {&codec_sparkplug, sparkplug_terms, COUNT(sparkplug_terms)},
                  {&codec_vda5050, vda_terms, COUNT(vda_terms)}};
    for (size_t i = 0; i < COUNT(tables); i++) {
        for (size_t k = 0; tables[i].codec == codec && k < tables[i].count; k++) {
            if (strcmp(tables[i].terms[k].what, what) == 0) {
                return &tables[i].terms[k];
            }
        }
    }
    return NULL;
}

static bool is_sent(const struct mapping *mapping, enum codec_kind kind)
{
    bool sent = false;
    for (size_t k = 0; mapping && k < mapping->send_count; k++) {
        sent = sent || mapping->sends[k].kind == kind;
    }
    return sent;
}

bool check_has(const struct codec_pair *foreign, const char *what)
{
    if (!foreign) {
        return true;
    }
    const bool echo = strncmp(what, "echo", 4) == 0;
    if (echo || strncmp(what, "parameters", 10) == 0) {
        return find_term(foreign->codec, what) &&
               is_sent(foreign->options->mapping, echo ? CODEC_PROBE : CODEC_PARAMETERS);
    }
    return find_term(foreign->codec, what) != NULL;
}

/* Names a member's place by the first row that has it: "psi_rad: column 4". */
static void name_field(const struct mapping *mapping, const struct term *t,
                       char out[CHECK_TERM])
{
    const char *event = event_kind_name(t->kind);
    (void)snprintf(out, CHECK_TERM,
                   t->field ? "no row of event: %s has fields.%s" : "event: %s", event,
                   t->field ? t->field : "");
    for (size_t k = 0; t->field && mapping && k < mapping->row_count; k++) {
        const struct mapping_row *row = &mapping->rows[k];
        for (size_t i = 0; row->kind == t->kind && i < row->field_count; i++) {
            if (strcmp(row->fields[i].name, t->field) == 0) {
                (void)snprintf(out, CHECK_TERM, "fields.%s: %s", t->field,
                               row->sources[row->fields[i].source].place);
                return;
            }
        }
    }
}

void check_translate(const struct codec_pair *foreign, struct check_findings *findings)
{
    size_t count = 0;
    for (size_t i = 0; i < findings->count; i++) {
        struct check_finding f = findings->finding[i];
        const struct term *t =
            check_has(foreign, f.what) ? find_term(foreign->codec, f.what) : NULL;
        if (!t) {
            continue;
        }
        f.rule = t->rule;
        f.document = t->document;
        if (t->term) {
            (void)snprintf(f.term, sizeof f.term, "%s", t->term);
        } else {
            name_field(foreign->options->mapping, t, f.term);
        }
        findings->finding[count++] = f;
    }
    findings->count = count;
}
