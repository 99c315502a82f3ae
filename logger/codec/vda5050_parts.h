/* logger/codec/vda5050_parts.h - what the files of the VDA 5050 codec share: what it
 * remembers of a pair, and how its messages are read.
 *
 * A leg is an edge of an order, or an action at one of its nodes or edges. Its id is the same
 * for both vehicles of a pair, which get the same orders: "<orderId>/<sequenceId of the edge>",
 * "<orderId>/<sequenceId>#<rank of the action>" (masters give each vehicle action ids of its
 * own). In link mode Tandem gives the orders, of one leg each, and the id is the command's.
 * Sequence ids: even of nodes, odd of edges (VDA 5050 2.1, 6.6.1). docs/robots/vda5050.md.
 */
#ifndef LOGGER_CODEC_VDA5050_PARTS_H
#define LOGGER_CODEC_VDA5050_PARTS_H

#include "logger/codec/codecs.h"
#include "logger/message/json_scan.h"
#include "logger/message/json_write.h"

enum {
    VDA_NODES_MAX = 96,                  /* of an order, the oldest give way; edges as many */
    VDA_ACTIONS_MAX = 48,                /* of a vehicle, likewise */
    VDA_ERRORS_MAX = 24,                 /* at once; more are told whenever they come */
    VDA_OPENED_MAX = 192,                /* legs of a pair, the oldest are forgotten */
    VDA_ZONES_MAX = EVENT_TEAM_WANT_MAX, /* asked for at once */
    VDA_NAME_MAX = 48, /* of a node, a map, an order: what is longer is told cut */
    VDA_WORD_MAX = 24,
    VDA_REQUEST_MAX = 64, /* of a request's id, which is told again as it was */
    VDA_DEPTH_MAX = 16,
    VDA_AGAINST = 3 /* legs that speak against what the lab file says */
};

struct vda_node {
    int64_t at; /* its sequence id */
    uint64_t id;
    double x_m, y_m; /* NaN: not told */
    bool released;
    char name[VDA_NAME_MAX];
};

struct vda_edge {
    int64_t at;
    double length_m; /* NaN: not told */
    bool released;
};

struct vda_action {
    uint64_t action;       /* its id */
    char id[EVENT_ID_MAX]; /* of its leg; "": none, it is an instant one */
    bool instant;          /* and yet with an id: Tandem's own halt */
    char op[VDA_WORD_MAX], status[VDA_WORD_MAX];
    int64_t started_us; /* LAB_TIME_NONE: not yet */
};

/* An order with edges before it that was followed by another one, or is not named any more:
 * how far the vehicle came is said by its next state. */
struct vda_replaced {
    bool open;
    bool trusted; /* it was at work on it, and nobody cancelled it */
    uint64_t order, end_node;
    char order_id[EVENT_ID_MAX + VDA_WORD_MAX];
    int64_t last, end; /* sequence ids: where it stood, where the last released edge ends */
};

enum vda_zone_phase {
    VDA_ZONE_WANTED,  /* it is to be asked for */
    VDA_ZONE_ASKED,   /* of the team: not granted yet */
    VDA_ZONE_GRANTED, /* under a fence */
    VDA_ZONE_OVER,    /* it was refused, revoked, or is none of the team's */
    VDA_ZONE_LEFT     /* what it was asked for with is still held */
};

/* A request for a zone (3.0), as long as the vehicle tells it. */
struct vda_zone {
    char request[VDA_REQUEST_MAX]; /* its id, as it stood */
    char name[EVENT_TEAM_NAME_MAX];
    enum vda_zone_phase phase;
    bool listed, waits; /* in the last state; without an answer yet, as that says */
    bool plain;         /* it is answered without the team: */
    bool granted;       /* and how */
    uint64_t epoch;     /* of the vehicle, when it was listed last */
    uint64_t lock;      /* number of the Lock that it is asked for with; 0: none yet */
    int64_t asked_us, fence;
    int64_t granted_us, expiry_us; /* as it was told; LAB_TIME_MAX: without end */
};

struct vda_vehicle {
    bool begun; /* what is not zero has been set */
    /* Of its messages, of each topic by itself; -1: none since it came. */
    int64_t state_header, visualization_header;
    char level[VDA_WORD_MAX], version[VDA_WORD_MAX]; /* "v2", "2.0.0", as it says */

    bool ordered, accepted;
    uint64_t order;
    char order_id[EVENT_ID_MAX + VDA_WORD_MAX];
    int64_t update, origin, last; /* sequence ids; -1: none */
    size_t node_count, edge_count;
    struct vda_node node[VDA_NODES_MAX];
    struct vda_edge edge[VDA_NODES_MAX];

    /* Since it stood at `last`: when it set off, and was paused; LAB_TIME_NONE: not. */
    int64_t departed_us, stopped_us, paused_us;
    bool vague; /* states are missing since, or before it */
    struct vda_replaced replaced;
    bool cancelled; /* somebody cancels the order */

    /* Does it turn as the lab file says? Legs that speak against it; 0 .. VDA_AGAINST. */
    double leave_x_m, leave_y_m, leave_rad; /* where it was when it set off */
    double fastest_mps;                     /* ever told */
    bool against;                           /* this leg has been counted */
    int against_count;

    size_t action_next; /* rings */
    struct vda_action action[VDA_ACTIONS_MAX];
    size_t error_count;
    uint64_t error[VDA_ERRORS_MAX];
    char estop[VDA_WORD_MAX], mode[VDA_WORD_MAX];

    double x_m, y_m, theta_rad; /* NaN: not told yet */
    double heading_rad;         /* of the last rest */
    char map[VDA_NAME_MAX], node_name[VDA_NAME_MAX];
    int64_t sent_orders, sent_actions, sent_responses; /* header ids of what was sent to it */

    uint64_t epoch; /* it has come online so often */
    size_t zone_count;
    struct vda_zone zone[VDA_ZONES_MAX];
};

struct vda_opened {
    uint64_t id;
    bool answered[SIDE_COUNT];
    bool unsized; /* how far it goes is not known */
};

struct vda_memory {
    struct vda_vehicle vehicle[SIDE_COUNT];
    size_t opened_next;
    uint64_t orders; /* given by Tandem */
    uint64_t locks;  /* asked of the team */
    struct vda_opened opened[VDA_OPENED_MAX];
};

/* A message of one vehicle, being read. */
struct vda_run {
    const struct codec_pair *pair;
    const struct message *message;
    const struct codec_sink *sink;
    struct vda_memory *memory;
    struct vda_vehicle *v;
    enum side side;
    const char *kind; /* "order": the end of its topic */
};

/* ---- codec_vda5050.c: members of objects ---- */

enum vda_form {
    VDA_TEXT,  /* struct json_text; bytes 0 and at NULL when absent */
    VDA_REAL,  /* double; NaN when absent */
    VDA_WHOLE, /* int64_t; -1 when absent */
    VDA_TRUTH, /* int8_t; -1 when absent */
    VDA_PART   /* struct json_scan before the object or list; begin NULL when absent */
};

struct vda_member {
    const char *name;
    enum vda_form form;
    size_t at;
};

/* Read an object: what is absent or null is so, unknown members are passed over. False, with
 * what would be right told by vda_fail() where run is not NULL, when a member is of another
 * kind. */
bool vda_read(const struct vda_run *run, struct json_scan *s, const struct vda_member *members,
              size_t count, void *out);

/* The next object of a list; false at its end. Call vda_enter() first. */
bool vda_enter(struct json_scan *list);
bool vda_next(struct json_scan *list);

/* EVENT_MALFORMED, once a message; returns false. */
bool vda_fail(const struct vda_run *run, enum fault fault, const char *format, ...)
    PRINTF_LIKE(3, 4);

uint64_t vda_hash(const struct json_text *text); /* 0 of none */
void vda_copy(const struct json_text *text, char *out, size_t size);
int64_t vda_stamp(const struct json_text *text); /* LAB_TIME_NONE when it is none */

/* ---- legs: vda5050_order.c ---- */

struct vda_node *vda_find_node(struct vda_vehicle *v, int64_t at);
struct vda_edge *vda_find_edge(struct vda_vehicle *v, int64_t at);
/* rank: of an action there; -1: the edge itself. */
void vda_leg_id(const struct vda_run *run, int64_t at, int rank, char out[EVENT_ID_MAX]);
struct vda_opened *vda_find_opened(struct vda_memory *memory, const char *id);
struct vda_opened *vda_add_opened(struct vda_memory *memory, const char *id);
/* The next edge has its command when the first vehicle of the two stands at its start. */
void vda_open_edge(const struct vda_run *run, int64_t at);
/* This side's reply to the leg, once, if it was opened; its id is set here. */
void vda_reply(const struct vda_run *run, const char *id, struct event_reply reply);
/* The turn against the edge before it; 0 when it is not known. */
double vda_turn_of(const struct vda_run *run, const struct vda_edge *edge);
/* The order is over for this vehicle, or another one follows. */
void vda_leave_order(const struct vda_run *run);
/* What it has left: this side's reply to each leg up to the node `to`. */
void vda_reply_replaced(const struct vda_run *run, int64_t to, struct event_reply reply);
/* What the vehicle is at work on has ended without its end. */
void vda_close(const struct vda_run *run, enum reply_status status, const char *why);
struct vda_action *vda_find_action(struct vda_vehicle *v, uint64_t action);
struct vda_action *vda_add_action(struct vda_vehicle *v, uint64_t action);

void vda_receive_order(const struct vda_run *run, struct json_scan *s);
void vda_receive_instant_actions(const struct vda_run *run, struct json_scan *s);

/* ---- vda5050_state.c ---- */

void vda_receive_state(const struct vda_run *run, struct json_scan *s);
void vda_receive_visualization(const struct vda_run *run, struct json_scan *s);

/* EVENT_NOTE of what it does against the lab file. */
void vda_contradict(const struct vda_run *run, const char *id, const char *what);

/* ---- vda5050_zones.c ---- */

/* What a state says of zones that the vehicle asks for, of `zoneRequests`. */
void vda_receive_zones(const struct vda_run *run, struct json_scan list);
/* The team's answer to what was asked for it, as `responses`. */
bool vda_encode_answer(const struct codec_out *out, struct codec_message *message);

/* ---- vda5050_send.c ---- */

/* A time as VDA 5050 writes it, to the millisecond. */
void vda_write_stamp(struct json_writer *w, const char *key, int64_t t_us);
/* Its header and names, into an object that is begun. */
void vda_write_header(struct json_writer *w, const struct codec_pair *pair, enum side side,
                      int64_t t_us, int64_t *header);
/* "<interface>/<level>/<manufacturer>/<serial>/<kind>"; false when it is too long. */
bool vda_write_topic(const struct codec_pair *pair, enum side side, const char *kind,
                     char topic[MESSAGE_TOPIC_MAX]);

/* The real vehicle got it, on this topic, and its twin is to have it, too. header: the number
 * of such messages to the twin, which goes up. */
void vda_mirror(const struct vda_run *run, const char *kind, int64_t *header);
bool vda_encode(const struct codec_out *out, struct codec_message *message);

#endif
