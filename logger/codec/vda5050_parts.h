/* logger/codec/vda5050_parts.h - shared by the files of the VDA 5050 codec: the state that it
 * retains per pair, and the parsing of its messages.
 *
 * A leg is an edge of an order, or an action at one of its nodes or edges. Both vehicles of a
 * pair get the same orders, so a leg has the same id for both: "<orderId>/<sequenceId of the
 * edge>" or "<orderId>/<sequenceId>#<rank of the action>". (Masters give each vehicle different
 * action ids.) In link mode Tandem sends the orders, with one leg each, and the id is the
 * command's. Sequence ids are even for nodes, odd for edges (VDA 5050 2.1, 6.6.1).
 * docs/robots/vda5050.md.
 */
#ifndef LOGGER_CODEC_VDA5050_PARTS_H
#define LOGGER_CODEC_VDA5050_PARTS_H

#include "logger/codec/codecs.h"
#include "logger/message/json_scan.h"
#include "logger/message/json_write.h"

enum {
    VDA_STEPS_MAX = 192,  /* nodes and edges per order; the oldest are dropped first */
    VDA_ACTIONS_MAX = 48, /* per vehicle; the oldest are dropped first */
    VDA_ERRORS_MAX = 24,  /* at once; further ones are reported at each state */
    VDA_OPENED_MAX = 192, /* legs per pair; the oldest are dropped first */
    VDA_ZONES_MAX = EVENT_TEAM_WANT_MAX, /* requests at once */
    VDA_NAME_MAX = 48,                   /* names of nodes, maps, orders; longer ones are cut */
    VDA_WORD_MAX = 24,
    VDA_REQUEST_MAX = 64, /* id of a request, which the answer repeats unchanged */
    VDA_DEPTH_MAX = 16,
    VDA_AGAINST = 3,      /* legs that contradict the lab file, before it is reported */
    VDA_WRAP_MAX = 65536, /* messages lost where the header id wraps; else it has restarted */
    VDA_LATE_MAX = 3      /* late messages in a row, after which they are the present ones */
};

/* Does a vehicle turn before it drives along an edge? */
enum vda_turns { VDA_TURNS_NONE, VDA_TURNS_ON_SPOT };

/* Frame of a vehicle's velocity: its own frame (VDA 5050), the map's, or a forward speed
 * only. */
enum vda_frame { VDA_FRAME_VEHICLE, VDA_FRAME_WORLD, VDA_FRAME_SPEED };

enum { VDA_INTERFACE_MAX = 64 };

struct vda_options {
    char interface[VDA_INTERFACE_MAX]; /* first topic level */
    bool mirror;                       /* the twin gets a copy of each order */
    uint8_t turns;                     /* enum vda_turns */
    uint8_t velocity_frame;            /* enum vda_frame */
};

const struct vda_options *vda_options(const struct codec_options *options);

/* A node or an edge of an order. */
struct vda_step {
    int64_t at; /* sequence id */
    bool edge, released;
    double length_m; /* of an edge; NaN: unknown */
    uint64_t id;     /* of a node, like the rest */
    double x_m, y_m; /* NaN: unknown */
    char name[VDA_NAME_MAX];
};

struct vda_action {
    uint64_t action;       /* action id */
    int64_t at;            /* sequence id of its node or edge in the order; -1: none */
    bool blocks;           /* the vehicle must not drive during it */
    char id[EVENT_ID_MAX]; /* id of its leg; "": none, for an instant action */
    bool instant;          /* an instant action with an id: Tandem's own halt */
    char op[VDA_WORD_MAX], status[VDA_WORD_MAX];
    int64_t started_us; /* LAB_TIME_NONE: not yet */
};

/* A previous order, replaced by another one or no longer named. The next state shows how far
 * the vehicle came in it. */
struct vda_replaced {
    bool open;
    bool trusted; /* the vehicle was executing it, and nobody cancelled it */
    uint64_t order, end_node;
    char order_id[EVENT_ID_MAX + VDA_WORD_MAX];
    int64_t last, end; /* sequence ids: last node reached, end of the last released edge */
};

enum vda_zone_phase {
    VDA_ZONE_WANTED,  /* still to be requested */
    VDA_ZONE_ASKED,   /* requested from the team, not granted yet */
    VDA_ZONE_GRANTED, /* granted, with a fence */
    VDA_ZONE_OVER,    /* refused, revoked, or not a resource of the team */
    VDA_ZONE_LEFT     /* no longer requested, but its lock is still held */
};

/* A vehicle's request for a zone (VDA 5050 3.0), which exists while its states list it. */
struct vda_zone {
    char request[VDA_REQUEST_MAX]; /* id, as the vehicle wrote it */
    char name[EVENT_TEAM_NAME_MAX];
    enum vda_zone_phase phase;
    bool listed, waits; /* in the last state: listed; without an answer yet */
    bool plain;         /* answered without the team, */
    bool granted;       /* and whether it was granted */
    uint64_t epoch;     /* boot count of the vehicle when it was listed last */
    uint64_t lock;      /* number of the Lock that requests it; 0: none yet */
    int64_t asked_us, fence;
    int64_t granted_us, expiry_us; /* from the answer; LAB_TIME_MAX: without end */
};

/* The last message of one topic, since the vehicle connected. */
struct vda_sequence {
    bool known;
    int64_t header, stamp_us; /* its header id, which counts per topic, and its stamp */
    uint64_t payload;         /* hash */
    int late_count;           /* late messages in a row, */
    int64_t late_us;          /* and the stamp of the last one */
};

struct vda_vehicle {
    bool begun; /* the fields without a zero default have been set */
    struct vda_sequence state, visualization;
    bool unordered;       /* its header ids do not grow: it was reported */
    bool another_version; /* its twin has another major version: it was reported */
    char level[VDA_WORD_MAX], version[VDA_WORD_MAX]; /* "v2", "2.0.0", as it reports */

    bool ordered, accepted;
    uint64_t order;
    char order_id[EVENT_ID_MAX + VDA_WORD_MAX];
    int64_t update, origin, last; /* sequence ids; -1: none */
    size_t step_count;
    struct vda_step step[VDA_STEPS_MAX];

    /* Departure and pause since the vehicle stood at `last`; LAB_TIME_NONE: neither. */
    int64_t departed_us, stopped_us, paused_us;
    bool stood; /* it stood without a pause since it departed */
    bool vague; /* some states were lost since, or before, or it stood on the way */
    struct vda_replaced replaced;
    bool cancelled; /* somebody has cancelled the order */

    /* Does the vehicle turn as the lab file says? Legs that contradict it: 0 .. VDA_AGAINST. */
    double leave_x_m, leave_y_m, leave_rad; /* pose at departure */
    double fastest_mps;                     /* highest speed ever reported */
    bool against;                           /* this leg has been counted */
    int against_count;

    size_t action_next; /* ring indices */
    struct vda_action action[VDA_ACTIONS_MAX];
    size_t error_count;
    uint64_t error[VDA_ERRORS_MAX];
    char estop[VDA_WORD_MAX], mode[VDA_WORD_MAX];

    double x_m, y_m, theta_rad; /* NaN: unknown */
    double heading_rad;         /* at the last standstill */
    char map[VDA_NAME_MAX], node_name[VDA_NAME_MAX];
    int64_t sent_orders, sent_actions, sent_responses; /* header ids of messages to it */

    uint64_t epoch; /* number of times that it has connected */
    size_t zone_count;
    struct vda_zone zone[VDA_ZONES_MAX];
};

struct vda_opened {
    uint64_t id;
    bool answered[SIDE_COUNT];
    bool unsized; /* the length of the motion is not known */
};

struct vda_memory {
    struct vda_vehicle vehicle[SIDE_COUNT];
    size_t opened_next;
    uint64_t orders; /* given by Tandem */
    uint64_t locks;  /* requested from the team */
    struct vda_opened opened[VDA_OPENED_MAX];
};

/* One vehicle's message while it is parsed. */
struct vda_run {
    const struct codec_pair *pair;
    const struct message *message;
    const struct codec_sink *sink;
    struct vda_memory *memory;
    struct vda_vehicle *v;
    enum side side;
    const char *kind; /* "order": last level of the topic */
};

/* The parts of a state, or of a visualization. */
struct vda_place {
    double x_m, y_m, theta_rad;
    int8_t initialized, localized;
    struct json_text map;
};

struct vda_state {
    double header;
    int64_t last_at;
    struct json_text timestamp, version, order, last_node, mode;
    int8_t driving, paused;
    struct json_scan nodes, edges, actions, instant_actions, errors, safety, position, velocity;
    struct json_scan zones;
    int64_t stamp_us;
    double speed_mps; /* NaN: absent */
    struct vda_place at;
    bool placed; /* the position is present, and the vehicle is localized */
};

/* ---- codec_vda5050.c ---- */

/* Sets the fields without a zero default, once. */
void vda_begin_vehicle(struct vda_vehicle *v);

/* ---- vda5050_members.c: members of objects ---- */

enum vda_form {
    VDA_TEXT,  /* struct json_text; bytes 0 and at NULL if absent */
    VDA_REAL,  /* double; NaN if absent */
    VDA_WHOLE, /* int64_t; -1 if absent */
    VDA_TRUTH, /* int8_t; -1 if absent */
    VDA_PART   /* struct json_scan at the object or list; begin NULL if absent */
};

struct vda_member {
    const char *name;
    enum vda_form form;
    size_t at;
};

/* Parses an object. Absent and null members get their "absent" value, unknown ones are skipped.
 * False if a member has another type; vda_fail() then reports it, unless run is NULL. */
bool vda_read(const struct vda_run *run, struct json_scan *s, const struct vda_member *members,
              size_t count, void *out);

/* Advances to the next object of a list; false at its end. Call vda_enter() first. */
bool vda_enter(struct json_scan *list);
bool vda_next(struct json_scan *list);

/* Emits EVENT_MALFORMED, once per message; returns false. */
bool vda_fail(const struct vda_run *run, enum fault fault, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* Emits EVENT_NOTE if the vehicle contradicts the lab file, or its protocol. */
void vda_contradict(const struct vda_run *run, const char *id, const char *what);

uint64_t vda_hash(const struct json_text *text); /* 0 for no text */
void vda_copy(const struct json_text *text, char *out, size_t size);
int64_t vda_stamp(const struct json_text *text); /* LAB_TIME_NONE if it is not a stamp */

/* ---- vda5050_sequence.c ---- */

/* Should this message be applied? False for a repeated or late one. Sets *missing to the number
 * of messages lost before it. Header ids that do not grow are reported once; then arrival and
 * stamp are decisive. header: NaN if absent. */
bool vda_is_new(const struct vda_run *run, struct vda_sequence *last, double header,
                int64_t stamp_us, int64_t *missing);

/* ---- legs: vda5050_order.c ---- */

struct vda_step *vda_find_step(struct vda_vehicle *v, int64_t at, bool edge);
/* Writes the id of a leg. rank: of an action at that step; -1: the edge itself. */
void vda_leg_id(const struct vda_run *run, int64_t at, int rank, char out[EVENT_ID_MAX]);
struct vda_opened *vda_find_opened(struct vda_memory *memory, const char *id);
struct vda_opened *vda_add_opened(struct vda_memory *memory, const char *id);
/* Opens the command of the next edge when the first of the two vehicles stands at its start. */
void vda_open_edge(const struct vda_run *run, int64_t at);
/* Emits this side's reply to the leg, once, if the leg was opened; sets the reply's id. */
void vda_reply(const struct vda_run *run, const char *id, struct event_reply reply);
/* Returns the turn against the previous edge, rad; 0 if unknown. */
double vda_turn_of(const struct vda_run *run, const struct vda_step *edge);
/* Ends the order for this vehicle, or moves it aside because another one follows. */
void vda_leave_order(const struct vda_run *run);
/* Emits this side's reply to each leg of the replaced order up to the node `to`. */
void vda_reply_replaced(const struct vda_run *run, int64_t to, struct event_reply reply);
/* Closes all that the vehicle was executing and that did not end by itself. */
void vda_close(const struct vda_run *run, enum reply_status status, const char *why);
struct vda_action *vda_find_action(struct vda_vehicle *v, uint64_t action);
struct vda_action *vda_add_action(struct vda_vehicle *v, uint64_t action);

void vda_receive_order(const struct vda_run *run, struct json_scan *s);
void vda_receive_instant_actions(const struct vda_run *run, struct json_scan *s);

/* ---- vda5050_state.c ---- */

void vda_receive_state(const struct vda_run *run, struct json_scan *s);
void vda_receive_visualization(const struct vda_run *run, struct json_scan *s);

/* ---- vda5050_motion.c ---- */

struct vda_action_state {
    struct json_text id, type, status;
};

/* Reads the next item of `actionStates`; false at the end, or at a fault. */
bool vda_next_action(const struct vda_run *run, struct json_scan *list,
                     struct vda_action_state *reported);
/* Records departures, stops and pauses since the vehicle stood at a node. gap: states before
 * this one were lost. */
void vda_update_motion(const struct vda_run *run, const struct vda_state *st, bool gap);
/* Does the time between the ends of this edge contain an action, for which the vehicle stood?
 */
bool vda_has_stop(const struct vda_run *run, const struct vda_state *st, int64_t edge);
/* Reports a vehicle that does not turn as the lab file says. */
void vda_watch_turn(const struct vda_run *run, const struct vda_state *st);

/* ---- vda5050_zones.c ---- */

/* Handles `zoneRequests` of a state. */
void vda_receive_zones(const struct vda_run *run, struct json_scan list);
/* Encodes the team's answer as a `responses` message. */
bool vda_encode_answer(const struct codec_out *out, struct codec_message *message);

/* ---- vda5050_send.c ---- */

/* Records the version that the vehicle reports, if the message has one. */
void vda_update_version(struct vda_vehicle *v, const struct json_text *version);
/* Writes a time in the format of VDA 5050, in milliseconds. */
void vda_write_stamp(struct json_writer *w, const char *key, int64_t t_us);
/* Writes the header and the vehicle's names into the open object. */
void vda_write_header(struct json_writer *w, const struct codec_pair *pair, enum side side,
                      int64_t t_us, int64_t *header);
/* Writes "<interface>/<level>/<manufacturer>/<serial>/<kind>"; false if it is too long. */
bool vda_write_topic(const struct codec_pair *pair, enum side side, const char *kind,
                     char topic[MESSAGE_TOPIC_MAX]);

/* Sends a copy of the real vehicle's message to its twin, in the form of the twin's version.
 * actions: its list of instant actions; begin NULL: none. *header counts such messages. */
void vda_mirror(const struct vda_run *run, const char *kind, struct json_scan actions,
                int64_t *header);
bool vda_encode(const struct codec_out *out, struct codec_message *message);

#endif
