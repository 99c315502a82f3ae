/* twin/lab_parts.h - private data and functions that the files of lab share. */
#ifndef TWIN_LAB_PARTS_H
#define TWIN_LAB_PARTS_H

#include "twin/lab.h"

/* The head of the lab's state. Behind it are the pairs, then the parts that only some pairs
 * have (dynamics, following, codec state), then the teams. A checkpoint holds these bytes at
 * their places, followed by the used part of the deliveries and of the open commands with their
 * owners. heap[n], place[n] and table[table_size] behind the teams are derived from them. */
struct lab_state {
    int64_t t_us; /* time of the last event */
    bool stopped;
    int64_t last_message_us; /* last event from outside; LAB_TIME_NONE: none yet */
    bool started;            /* a run of the daemon has begun since */
    int64_t away_us;         /* duration without reception, as of the last such event */
    int64_t away_until_us;   /* messages up to this time may have waited */
    uint64_t outstanding;    /* number of open commands of all pairs */
    struct lab_counts counts;
};

/* A copy of the key, next to the index, because the pairs of a large lab are far apart in
 * memory. */
struct heap_item {
    int64_t t_us;
    uint32_t pair; /* pair, then team: teams close an instant last */
};

/* The team of a pair, and the robot that the pair is in it. */
struct lab_member {
    uint16_t team, robot; /* TEAM_NONE: no team */
};

struct lab {
    struct lab_params p;
    size_t state_bytes;
    size_t table_size; /* power of two */
    struct lab_state *state;
    struct heap_item *heap;   /* [n] pairs and teams, earliest deadline first */
    uint32_t *place;          /* [n] position in the heap of each pair and team */
    uint32_t *table;          /* [table_size] 1 + pair index by hash of the id; 0: empty */
    struct pair_parts *parts; /* [pairs] pointers into the state */
    struct team_live *live[TEAMS_MAX]; /* pointers into the state */
    struct lab_member *member;         /* [pairs] */
    uint32_t fetched;                  /* pair whose memory was prefetched last; 0 at first */
    struct codec_pair *foreign;        /* [foreign_count] pairs with a foreign codec */
    size_t foreign_count;
    struct topic_index *topics; /* topics of these pairs; NULL: none */
    void *scratch;              /* scratch memory of the teams */
    void *plans;                /* the same of missions */
    /* Slots of open commands: the first slot of every pair, then the second of every pair, and
     * so on, so that unused memory is never touched. */
    char *places;
    size_t places_step; /* bytes from one slot of a pair to its next */
    lab_before *before; /* may be NULL */
    void *watcher;
    struct delivery_memory *deliveries;
};

/* Translates effects for pairs whose codec has a state. It is done here so that a replay does
 * it, too. */
struct lab_words {
    const struct lab *lab;
    const struct effects *fx;
};
void lab_emit_words(void *context, const struct effect *effect); /* a struct lab_words */

static inline size_t align_bytes(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Pairs with a foreign codec and the index of their topics, stored at `at` with
 * lab_topics_bytes(); returns the next free address. (lab_codecs.c) */
size_t lab_topics_bytes(const struct lab_params *p);
char *lab_place_topics(struct lab *lab, void *at);

/* Sets the pairs' pointers to their slots of open commands, after their memory was initialised
 * or loaded. (lab_init.c) */
void lab_set_places(struct lab *lab);
/* The map on which missions of pair i are planned. */
struct mission_place lab_mission_place(const struct lab *lab, size_t i);

/* Deadlines of pairs and teams: their number, the heap rebuilt from all, and the heap updated
 * after one deadline has changed. (lab_access.c) */
static inline size_t lab_deadline_count(const struct lab_params *p)
{
    return p->pair_count + p->team_count;
}
void lab_order_deadlines(struct lab *lab);
void lab_reorder_deadline(struct lab *lab, uint32_t index);

/* Returns the first place of a pair in the hash table; lab_find_from() searches from there. */
size_t lab_first_place(const struct lab *lab, const char *id);
long lab_find_from(const struct lab *lab, const char *id, size_t k);

/* Returns how long a lab remembers deliveries. */
int64_t lab_remember_us(const struct lab_params *p);
/* Size of the state with room for all deliveries that it may remember. */
size_t lab_state_bytes(const struct lab_params *p);

#endif
