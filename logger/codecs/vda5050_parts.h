/* logger/codecs/vda5050_parts.h - what the files of the VDA 5050 codec share: what it
 * remembers of a pair, and how its messages are read.
 *
 * A leg is an edge of an order, or an action at one of its nodes or edges. Its id is the same
 * for both vehicles of a pair, which get the same orders: "<orderId>/<sequenceId of the edge>",
 * "<orderId>/<sequenceId>#<rank of the action>" (masters give each vehicle action ids of its
 * own). In link mode Tandem gives the orders, of one leg each, and the id is the command's.
 * Sequence ids: even of nodes, odd of edges (VDA 5050 2.1, 6.6.1). docs/robots/vda5050.md.
 */
#ifndef LOGGER_MESSAGE_VDA5050_PARTS_H
#define LOGGER_MESSAGE_VDA5050_PARTS_H

#include "logger/codecs/codecs.h"
#include "logger/message/json_scan.h"

enum {
    VDA_NODES_MAX = 96,   /* of an order, the oldest give way; edges as many */
    VDA_ACTIONS_MAX = 48, /* of a vehicle, likewise */
    VDA_ERRORS_MAX = 24,  /* at once; more are told whenever they come */
    VDA_OPENED_MAX = 192, /* legs of a pair, the oldest are forgotten */
    VDA_NAME_MAX = 48,    /* of a node, a map, an order: what is longer is told cut */
    VDA_WORD_MAX = 24,
    VDA_DEPTH_MAX = 16
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

    size_t action_next; /* rings */
    struct vda_action action[VDA_ACTIONS_MAX];
    size_t error_count;
    uint64_t error[VDA_ERRORS_MAX];
    char estop[VDA_WORD_MAX], mode[VDA_WORD_MAX];

    double x_m, y_m, theta_rad; /* NaN: not told yet */
    double heading_rad;         /* of the last rest */
    char map[VDA_NAME_MAX], node_name[VDA_NAME_MAX];
    int64_t sent_orders, sent_actions; /* header ids of what was sent to it */
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
    struct vda_opened opened[VDA_OPENED_MAX];
};

/* A message of one vehicle, being read. */
struct vda_run {
    const struct codec_pair *pair;
    const struct message *message;
    const struct codec_ear *ear;
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
bool vda_fail(const struct vda_run *run, const char *format, ...) PRINTF_LIKE(2, 3);

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
/* What the vehicle is at work on has ended without its end. */
void vda_close(const struct vda_run *run, enum reply_status status, const char *why);
struct vda_action *vda_find_action(struct vda_vehicle *v, uint64_t action);
struct vda_action *vda_add_action(struct vda_vehicle *v, uint64_t action);

void vda_hear_order(const struct vda_run *run, struct json_scan *s);
void vda_hear_instant_actions(const struct vda_run *run, struct json_scan *s);

/* ---- vda5050_state.c ---- */

void vda_hear_state(const struct vda_run *run, struct json_scan *s);
void vda_hear_visualization(const struct vda_run *run, struct json_scan *s);

/* ---- vda5050_send.c ---- */

/* The real vehicle got it, on this topic, and its twin is to have it, too. header: the number
 * of such messages to the twin, which goes up. */
void vda_mirror(const struct vda_run *run, const char *kind, int64_t *header);
bool vda_encode(const struct codec_out *out, struct codec_message *message);

#endif
