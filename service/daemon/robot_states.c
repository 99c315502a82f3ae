#include "service/daemon/robot_states.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "logger/message/json_scan.h"

struct robot_state {
    char *text; /* [bytes] owned; NULL: none */
    size_t bytes;
};

struct robot_states {
    const struct lab_params *lab;
    pthread_mutex_t lock;
    struct robot_state (*state)[SIDE_COUNT]; /* [pair_count] */
};

enum status robot_states_create(const struct lab_params *lab, struct robot_states **out)
{
    struct robot_states *states = calloc(1, sizeof *states);
    if (!states) {
        return STATUS_E_NOMEM;
    }
    states->lab = lab;
    states->state = calloc(lab->pair_count, sizeof *states->state);
    if (!states->state) {
        free(states);
        return STATUS_E_NOMEM;
    }
    (void)pthread_mutex_init(&states->lock, NULL);
    *out = states;
    return STATUS_OK;
}

void robot_states_destroy(struct robot_states *states)
{
    if (!states) {
        return;
    }
    for (size_t i = 0; i < states->lab->pair_count; i++) {
        free(states->state[i][SIDE_REAL].text);
        free(states->state[i][SIDE_VIRTUAL].text);
    }
    free(states->state);
    (void)pthread_mutex_destroy(&states->lock);
    free(states);
}

/* "<prefix>/<pair>/<side>/machines": false when the topic is another. */
static bool split_topic(const char *prefix, const char *topic, char pair[EVENT_PAIR_MAX],
                        enum side *side)
{
    const size_t n = strlen(prefix);
    const char *id = topic + n + 1;
    if (strncmp(topic, prefix, n) != 0 || topic[n] != '/') {
        return false;
    }
    const char *slash = strchr(id, '/');
    if (!slash || slash - id >= EVENT_PAIR_MAX) {
        return false;
    }
    memcpy(pair, id, (size_t)(slash - id));
    pair[slash - id] = '\0';
    *side = strcmp(slash, "/real/machines") == 0      ? SIDE_REAL
            : strcmp(slash, "/virtual/machines") == 0 ? SIDE_VIRTUAL
                                                      : SIDE_COUNT;
    return *side < SIDE_COUNT;
}

static bool is_object(const char *text, size_t bytes)
{
    struct json_scan s;
    json_scan_start(&s, text, bytes, 16);
    return json_scan_peek(&s) == JSON_KIND_OBJECT && json_scan_skip(&s, NULL, NULL) &&
           json_scan_finish(&s);
}

bool robot_states_take(struct robot_states *states, const char *prefix, const char *topic,
                       const char *payload, size_t bytes)
{
    char id[EVENT_PAIR_MAX];
    enum side side = SIDE_COUNT;
    if (!split_topic(prefix, topic, id, &side)) {
        return false;
    }
    const struct lab_params *lab = states->lab;
    const struct pair_params *pair = lab_find_params(lab->pairs, lab->pair_count, id);
    const bool good =
        pair && bytes <= ROBOT_STATES_MAX && (bytes == 0 || is_object(payload, bytes));
    char *text = good && bytes > 0 ? malloc(bytes) : NULL;
    if (text) {
        memcpy(text, payload, bytes);
    }
    (void)pthread_mutex_lock(&states->lock);
    if (good && (text || bytes == 0)) {
        struct robot_state *state = &states->state[pair - lab->pairs][side];
        char *old = state->text;
        state->text = text;
        state->bytes = bytes;
        text = old;
    }
    (void)pthread_mutex_unlock(&states->lock);
    free(text);
    return true;
}

size_t robot_states_read(struct robot_states *states, size_t pair, enum side side,
                         char out[ROBOT_STATES_MAX])
{
    (void)pthread_mutex_lock(&states->lock);
    const struct robot_state *state = &states->state[pair][side];
    const size_t bytes = state->bytes;
    if (bytes > 0) {
        memcpy(out, state->text, bytes);
    }
    (void)pthread_mutex_unlock(&states->lock);
    return bytes;
}
