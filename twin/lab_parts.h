/* twin/lab_parts.h - what the files of lab share. */
#ifndef TWIN_LAB_PARTS_H
#define TWIN_LAB_PARTS_H

#include "twin/lab.h"

/* Behind it stand the pairs, what only some of them want (dynamics, following, codecs that
 * remember), the teams; of all that a checkpoint has the bytes at their places, and behind
 * them, as far as it is in use, what was delivered, and the commands that are open, with whose
 * they are. heap[n], place[n] and table[table_size], which stand behind the teams, follow from
 * it. */
struct lab_state {
    int64_t t_us; /* of the last event */
    bool stopped;
    int64_t last_message_us; /* the last event that came from outside; LAB_TIME_NONE before */
    bool started;            /* and a run of the daemon has begun since */
    int64_t away_us;         /* how long nobody listened, as of the last such event */
    int64_t away_until_us;   /* what comes up to then may have waited */
    uint64_t outstanding;    /* open commands of all pairs */
    struct lab_counts counts;
};

/* The key stands beside the index: a big lab's pairs are far apart in memory. */
struct heap_item {
    int64_t t_us;
    uint32_t pair; /* behind the pairs come the teams: an instant is closed after them */
};

/* Which team a pair works in, as which of its robots. */
struct lab_member {
    uint16_t team, robot; /* TEAM_NONE: in none */
};

struct lab {
    struct lab_params p;
    size_t state_bytes;
    size_t table_size; /* power of two */
    struct lab_state *state;
    struct heap_item *heap;   /* [n] of pairs and teams: the earliest deadline first */
    uint32_t *place;          /* [n] where in the heap a pair, or a team, stands */
    uint32_t *table;          /* [table_size] 1 + pair index by hash of the id; 0: empty */
    struct pair_parts *parts; /* [pairs] into the state */
    struct team_live *live[TEAMS_MAX]; /* into the state */
    struct lab_member *member;         /* [pairs] */
    uint32_t fetched;                  /* the pair whose memory was asked for last; 0 before */
    struct codec_pair *foreign;        /* [foreign_count] pairs with a foreign codec */
    size_t foreign_count;
    struct topic_index *topics; /* of theirs; NULL: there is none */
    void *scratch;              /* of the teams */
    /* Places for open commands, the first of all pairs, then the second …: memory that nobody
     * has come to need is never touched. */
    char *places;
    size_t places_step; /* bytes from one of a pair to its next */
    lab_before *before; /* NULL: nobody watches */
    void *watcher;
    struct delivery_memory *deliveries;
};

/* Effects on their way: what goes out to the robots of a pair whose codec remembers is put into
 * its words here, where a replay does it as well. */
struct lab_words {
    const struct lab *lab;
    const struct effects *fx;
};
void lab_emit_words(void *context, const struct effect *effect); /* a struct lab_words */

static inline size_t align_bytes(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* lab_codecs.c: those whose topics may be anything, and their topics, at `at`, which takes so
 * many bytes; returns what stands behind. */
size_t lab_topics_bytes(const struct lab_params *p);
char *lab_place_topics(struct lab *lab, void *at);

/* lab_init.c: the pairs know where their open commands stand: after their memory was set, or
 * loaded. */
void lab_set_places(struct lab *lab);

/* lab_access.c: what has a deadline, pairs and teams; the heap anew, from the deadlines of all;
 * and after the deadline of this pair, or of this team, changed. */
static inline size_t lab_deadline_count(const struct lab_params *p)
{
    return p->pair_count + p->team_count;
}
void lab_order_deadlines(struct lab *lab);
void lab_reorder_deadline(struct lab *lab, uint32_t index);

/* Where in the table a pair is looked for first; and the pair, looked for from there. */
size_t lab_first_place(const struct lab *lab, const char *id);
long lab_find_from(const struct lab *lab, const char *id, size_t k);

/* For how long a lab remembers what was delivered. */
int64_t lab_remember_us(const struct lab_params *p);
/* Of the state of such a lab, with room for all it may remember. */
size_t lab_state_bytes(const struct lab_params *p);
/* Of the state, without what was delivered. */
size_t lab_fixed_bytes(const struct lab *lab);

#endif
