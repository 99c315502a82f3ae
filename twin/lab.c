#include "twin/lab_parts.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "base/errors/status.h"
#include "identification/model/models.h"

/* What has a deadline. */
static size_t count_all(const struct lab_params *p)
{
    return p->pair_count + p->team_count;
}

static size_t table_size_for(size_t pairs)
{
    size_t size = 16;
    while (size < 4 * pairs) {
        size *= 2;
    }
    return size;
}

static size_t parts_bytes_for(const struct lab_params *p)
{
    size_t bytes = 0;
    for (size_t i = 0; i < p->pair_count; i++) {
        bytes += pair_bytes(&p->pairs[i]);
        bytes += pair_dynamics_bytes(&p->pairs[i].dynamics);
        bytes += pair_following_bytes(p->pairs[i].following);
        bytes += align_bytes(lab_codec_of(&p->pairs[i])->state_bytes);
    }
    for (size_t i = 0; i < p->team_count; i++) {
        bytes += crew_bytes(&p->teams[i]);
    }
    return bytes;
}

static uint32_t remember_max(const struct lab_params *p)
{
    return p->remember_max > 0 ? p->remember_max : DELIVERY_USUAL;
}

int64_t lab_remember_us(const struct lab_params *p)
{
    return p->remember_us > 0 ? p->remember_us : INT64_C(1000000) * DELIVERY_REMEMBER_S;
}

size_t lab_state_bytes(const struct lab_params *p)
{
    const size_t n = count_all(p);
    return align_bytes(sizeof(struct lab_state)) + delivery_bytes(remember_max(p)) +
           parts_bytes_for(p) + align_bytes(n * sizeof(struct heap_item)) +
           align_bytes(n * sizeof(uint32_t)) +
           align_bytes(table_size_for(p->pair_count) * sizeof(uint32_t));
}

static size_t members_bytes_for(const struct lab_params *p)
{
    return align_bytes(p->pair_count * (sizeof(struct pair_parts) + sizeof(struct lab_member)));
}

/* One place of each pair; and so many of each that it is enough for all. */
static size_t places_step_for(const struct lab_params *p, size_t *most)
{
    size_t bytes = 0;
    *most = 0;
    for (size_t i = 0; i < p->pair_count; i++) {
        bytes += pair_place_bytes(&p->pairs[i]);
        *most = p->pairs[i].outstanding_max > *most ? p->pairs[i].outstanding_max : *most;
    }
    return bytes;
}

static size_t scratch_bytes_for(const struct lab_params *p)
{
    return align_bytes(crew_scratch_bytes(p->teams, p->team_count));
}

size_t lab_touched_bytes(const struct lab_params *p)
{
    return align_bytes(sizeof(struct lab)) + lab_state_bytes(p) + members_bytes_for(p) +
           lab_topics_bytes(p) + scratch_bytes_for(p);
}

size_t lab_bytes(const struct lab_params *p)
{
    size_t most = 0;
    const size_t step = places_step_for(p, &most);
    return lab_touched_bytes(p) + most * step;
}

/* Of the state, but for what was delivered. */
size_t lab_fixed_bytes(const struct lab *lab)
{
    return lab->state_bytes - delivery_bytes(remember_max(&lab->p));
}

/* ---- heap of deadlines --------------------------------------------------------------------
 */

/* Earlier deadline first; equal ones in the order of the pairs, so that replay agrees. */
static bool is_earlier(const struct heap_item *a, const struct heap_item *b)
{
    return a->t_us < b->t_us || (a->t_us == b->t_us && a->pair < b->pair);
}

static void swap_places(struct lab *lab, size_t i, size_t k)
{
    const struct heap_item a = lab->heap[i];
    lab->heap[i] = lab->heap[k];
    lab->heap[k] = a;
    lab->place[lab->heap[i].pair] = (uint32_t)i;
    lab->place[a.pair] = (uint32_t)k;
}

static void sift_down(struct lab *lab, size_t i)
{
    for (;;) {
        size_t first = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < count_all(&lab->p);
             child++) {
            if (is_earlier(&lab->heap[child], &lab->heap[first])) {
                first = child;
            }
        }
        if (first == i) {
            return;
        }
        swap_places(lab, i, first);
        i = first;
    }
}

/* The deadline of this pair, or of this team, changed. */
static void reorder_heap(struct lab *lab, uint32_t index)
{
    const size_t pairs = lab->p.pair_count;
    size_t i = lab->place[index];
    lab->heap[i].t_us = index < pairs ? lab->parts[index].pair->deadline_us
                                      : lab->crew[index - pairs]->deadline_us;
    while (i > 0 && is_earlier(&lab->heap[i], &lab->heap[(i - 1) / 2])) {
        swap_places(lab, i, (i - 1) / 2);
        i = (i - 1) / 2;
    }
    sift_down(lab, i);
}

void lab_order_deadlines(struct lab *lab)
{
    const size_t n = count_all(&lab->p);
    for (size_t i = 0; i < n; i++) {
        const size_t pairs = lab->p.pair_count;
        lab->heap[i].t_us =
            i < pairs ? lab->parts[i].pair->deadline_us : lab->crew[i - pairs]->deadline_us;
        lab->heap[i].pair = (uint32_t)i;
        lab->place[i] = (uint32_t)i;
    }
    for (size_t i = n / 2; i-- > 0;) {
        sift_down(lab, i);
    }
}

/* ---- set-up -------------------------------------------------------------------------------
 */

static void fill_table(struct lab *lab)
{
    for (size_t i = 0; i < lab->p.pair_count; i++) {
        size_t k = hash_text(lab->p.pairs[i].id) & (lab->table_size - 1);
        while (lab->table[k] != 0) {
            k = (k + 1) & (lab->table_size - 1);
        }
        lab->table[k] = (uint32_t)i + 1;
    }
}

void lab_set_places(struct lab *lab)
{
    const char *at = lab->places;
    for (size_t i = 0; i < lab->p.pair_count; i++) {
        lab->parts[i].places = at;
        pair_set_places(lab->parts[i].pair, at, lab->places_step);
        at += pair_place_bytes(&lab->p.pairs[i]);
    }
}

/* The pairs first, then what only some of them want; all up to the deliveries is zero behind
 * the pairs. Returns where they end. */
static char *place_parts(struct lab *lab, char *at)
{
    const size_t n = lab->p.pair_count;
    lab->parts = (void *)((char *)lab->state + lab->state_bytes);
    for (size_t i = 0; i < n; i++) {
        lab->parts[i] = (struct pair_parts){.pair = (void *)at, .deliveries = lab->deliveries};
        pair_init(lab->parts[i].pair, &lab->p.pairs[i], (uint32_t)i);
        at += pair_bytes(&lab->p.pairs[i]);
    }
    memset(at, 0, (size_t)((char *)lab->deliveries - at)); /* the pairs were made zero */
    for (size_t i = 0; i < n; i++) {
        const struct pair_params *p = &lab->p.pairs[i];
        if (pair_dynamics_wanted(&p->dynamics)) {
            lab->parts[i].dynamics = (void *)at;
            pair_dynamics_init(lab->parts[i].dynamics, &p->dynamics);
            at += pair_dynamics_bytes(&p->dynamics);
        }
        if (pair_following_wanted(p->following)) {
            lab->parts[i].following = (void *)at;
            pair_following_init(lab->parts[i].following, p->following);
            at += pair_following_bytes(p->following);
        }
        if (lab_codec_of(p)->state_bytes > 0) {
            lab->parts[i].codec = at;
            at += align_bytes(lab_codec_of(p)->state_bytes);
        }
    }
    return at;
}

/* Behind what is kept of the pairs. Returns where they end. */
static char *place_teams(struct lab *lab, char *at)
{
    const size_t n = lab->p.pair_count;
    lab->member = (void *)(lab->parts + n);
    for (size_t i = 0; i < n; i++) {
        lab->member[i] = (struct lab_member){TEAM_NONE, TEAM_NONE};
    }
    for (size_t k = 0; k < lab->p.team_count; k++) {
        const struct team_params *p = &lab->p.teams[k];
        lab->crew[k] = (void *)at;
        crew_init(lab->crew[k], p, (uint32_t)k, (uint32_t)(n + k));
        at += crew_bytes(p);
    }
    return at;
}

/* The ids are known: whose robots are which pairs? */
static void join_teams(struct lab *lab)
{
    for (size_t k = 0; k < lab->p.team_count; k++) {
        const struct team_params *p = &lab->p.teams[k];
        for (uint16_t i = 0; i < p->robot_count; i++) {
            const long pair = p->robots[i].pair[0] ? lab_find(lab, p->robots[i].pair) : -1;
            if (pair >= 0) {
                const struct pair_params *of = &lab->p.pairs[pair];
                crew_set_pair(lab->crew[k], p, i, (uint32_t)pair,
                              of->expected[SIDE_REAL] == PAIR_NEVER);
                lab->member[pair] = (struct lab_member){(uint16_t)k, i};
            }
        }
    }
}

struct lab *lab_init(void *memory, const struct lab_params *p)
{
    assert(memory && p && p->pairs);
    assert(p->pair_count >= 1 && p->pair_count <= LAB_PAIRS_MAX);
    assert(p->team_count <= TEAMS_MAX);
    const size_t n = count_all(p);
    struct lab *lab = memory;
    lab->p = *p;
    lab->state_bytes = lab_state_bytes(p);
    lab->table_size = table_size_for(p->pair_count);
    size_t most = 0;
    lab->places_step = places_step_for(p, &most);
    lab->fetched = 0;
    lab_watch(lab, NULL, NULL);
    char *at = (char *)memory + align_bytes(sizeof *lab);
    memset(at, 0, align_bytes(sizeof *lab->state));
    lab->state = (void *)at;
    at += align_bytes(sizeof *lab->state);
    lab->deliveries = (void *)((char *)lab->state + lab_fixed_bytes(lab));
    delivery_init(lab->deliveries, remember_max(p), lab_remember_us(p));
    at = place_teams(lab, place_parts(lab, at));
    lab->heap = (void *)at;
    at += align_bytes(n * sizeof *lab->heap);
    lab->place = (void *)at;
    at += align_bytes(n * sizeof *lab->place);
    lab->table = (void *)at;
    lab->state->t_us = LAB_TIME_NONE;
    lab->state->heard_us = LAB_TIME_NONE;
    lab->state->away_until_us = LAB_TIME_NONE;
    for (size_t i = 0; i < n; i++) {
        lab->heap[i] = (struct heap_item){LAB_TIME_MAX, (uint32_t)i};
        lab->place[i] = (uint32_t)i;
    }
    fill_table(lab);
    join_teams(lab);
    char *behind = lab_place_topics(lab, (char *)lab->parts + members_bytes_for(p));
    lab->scratch = behind;
    lab->places = behind + scratch_bytes_for(p);
    lab_set_places(lab);
    return lab;
}

static size_t first_place(const struct lab *lab, const char *id)
{
    return hash_text(id) & (lab->table_size - 1);
}

/* k: where in the table it is looked for first. */
static long find_from(const struct lab *lab, const char *id, size_t k)
{
    while (lab->table[k] != 0) {
        const uint32_t i = lab->table[k] - 1;
        if (strcmp(lab->p.pairs[i].id, id) == 0) {
            return (long)i;
        }
        k = (k + 1) & (lab->table_size - 1);
    }
    return -1;
}

long lab_find(const struct lab *lab, const char *id)
{
    return find_from(lab, id, first_place(lab, id));
}

long lab_find_team(const struct lab *lab, const char *name)
{
    for (size_t k = 0; k < lab->p.team_count; k++) {
        if (strcmp(lab->p.teams[k].name, name) == 0) {
            return (long)k;
        }
    }
    return -1;
}

/* ---- codecs -------------------------------------------------------------------------------
 */

void lab_codec_pair(const struct lab *lab, size_t index, struct codec_pair *pair)
{
    const struct pair_params *p = &lab->p.pairs[index];
    const struct lab_member *m = &lab->member[index];
    const struct team_params *team = m->team != TEAM_NONE ? &lab->p.teams[m->team] : NULL;
    *pair = (struct codec_pair){.codec = lab_codec_of(p),
                                .prefix = lab->p.prefix ? lab->p.prefix : "",
                                .id = p->id,
                                .team = team ? team->name : NULL,
                                .robot = team ? team->robots[m->robot].name : NULL,
                                .stands = p->expected[SIDE_REAL] == PAIR_NEVER ? SIDE_VIRTUAL
                                                                               : SIDE_REAL,
                                .options = &p->speaks,
                                .state = lab->parts[index].codec,
                                .repeated = p->mode == PAIR_LINK};
}

const struct codec_pair *lab_foreign(const struct lab *lab, size_t k)
{
    return k < lab->foreign_count ? &lab->foreign[k] : NULL;
}

bool lab_addressed(const struct lab *lab, const char *topic, struct topic_hits *hits)
{
    return lab->topics && topic_index_find(lab->topics, topic, hits);
}

/* ---- stepping -----------------------------------------------------------------------------
 */

int64_t lab_next_deadline(const struct lab *lab)
{
    return lab->heap[0].t_us;
}

/* A step of a team, or of a pair that works in one. */
struct crew_step {
    struct crew_run run;
    struct lab *lab;
    const struct effects *fx;
};

static void step_plain(struct lab *lab, uint32_t i, const struct event *event,
                       const struct effects *fx);

/* This pair, or team, is about to change. */
static void tell_watcher(const struct lab *lab, size_t part)
{
    if (lab->before) {
        lab->before(lab->watcher, part);
    }
}

void lab_watch(struct lab *lab, lab_before *before, void *context)
{
    lab->before = before;
    lab->watcher = context;
}

/* What a team's pair did: its replies are the team's, and its entries say for what they were.
 */
static void emit_watched(void *context, const struct effect *effect)
{
    const struct crew_step *s = context;
    const uint16_t robot = s->lab->member[effect->pair].robot;
    if (effect->kind == EFFECT_ENTRY) {
        struct entry entry = *effect->entry;
        struct effect marked = *effect;
        crew_take_entry(&s->run, robot, &entry);
        marked.entry = &entry;
        s->fx->emit(s->fx->context, &marked);
        return;
    }
    s->fx->emit(s->fx->context, effect);
    if (effect->kind == EFFECT_REPLY) {
        crew_take_reply(&s->run, robot, effect);
    }
}

static void command_pair(void *context, uint32_t pair, const struct event *event)
{
    struct crew_step *s = context;
    const struct effects watched = {emit_watched, s};
    struct event named = *event;
    memcpy(named.pair, s->lab->p.pairs[pair].id, sizeof named.pair);
    step_plain(s->lab, pair, &named, &watched);
}

static struct crew_step begin_crew_step(struct lab *lab, size_t team, const struct effects *fx)
{
    tell_watcher(lab, lab->p.pair_count + team);
    return (struct crew_step){.run = {.crew = lab->crew[team],
                                      .p = &lab->p.teams[team],
                                      .fx = fx,
                                      .t_us = lab->state->t_us,
                                      .command = command_pair,
                                      .scratch = lab->scratch},
                              .lab = lab,
                              .fx = fx};
}

static void end_crew_step(struct crew_step *s)
{
    s->run.context = s;
    crew_flush(&s->run);
    reorder_heap(s->lab, s->run.crew->named);
}

static void fire_team(struct lab *lab, size_t team, const struct effects *fx)
{
    struct crew_step s = begin_crew_step(lab, team, fx);
    crew_fire(&s.run);
    end_crew_step(&s);
}

/* away_us > 0: the deadline passed while nobody listened, for this time at most. */
static void fire_pair(struct lab *lab, uint32_t i, int64_t away_us, const struct effects *fx)
{
    const uint16_t team = lab->member[i].team;
    struct pair *pair = lab->parts[i].pair;
    tell_watcher(lab, i);
    pair->away_us = away_us;
    const uint32_t open = pair->outstanding;
    struct crew_step s = {.lab = lab};
    struct effects watched = *fx;
    if (team != TEAM_NONE) {
        s = begin_crew_step(lab, team, fx);
        watched = (struct effects){emit_watched, &s};
    }
    pair_fire(&lab->parts[i], &lab->p.pairs[i], &watched);
    lab->state->outstanding -= open - pair->outstanding;
    reorder_heap(lab, i);
    if (team != TEAM_NONE) {
        end_crew_step(&s);
    }
}

static void fire_first(struct lab *lab, int64_t away_us, const struct effects *fx)
{
    const struct heap_item first = lab->heap[0];
    lab->state->t_us = first.t_us > lab->state->t_us ? first.t_us : lab->state->t_us;
    if (first.pair < lab->p.pair_count) {
        fire_pair(lab, first.pair, away_us, fx);
    } else {
        fire_team(lab, first.pair - lab->p.pair_count, fx);
    }
}

/* Messages that waited come in a burst. Some that did not are taken for such: that costs a
 * verdict, a wrong lap would cost trust. */
static const int64_t BACKLOG_US = 2000000;

static int64_t told_away_us(const struct event *event)
{
    return event->kind == EVENT_AWAY      ? event->away_us
           : event->kind == EVENT_SESSION ? event->session.away_us
                                          : 0;
}

/* Nobody listened: until now, for as long as the event says or since the last message before a
 * start. */
static void note_absence(struct lab *lab, const struct event *event)
{
    struct lab_state *state = lab->state;
    state->started = state->started || event->kind == EVENT_START;
    state->away_us = told_away_us(event);
    if (state->started && state->heard_us != LAB_TIME_NONE &&
        event->t_us - state->heard_us > state->away_us) {
        state->away_us = event->t_us - state->heard_us;
    }
    state->away_until_us = event->t_us + BACKLOG_US;
}

/* The broker should have kept it, and did not. */
static bool is_session_lost(const struct event *event)
{
    return event->kind == EVENT_SESSION && event->session.persistent && !event->session.resumed;
}

static void step_plain(struct lab *lab, uint32_t i, const struct event *event,
                       const struct effects *fx)
{
    struct pair *pair = lab->parts[i].pair;
    const struct lab_state *state = lab->state;
    tell_watcher(lab, i);
    pair->away_us = event->t_us <= state->away_until_us ? state->away_us : 0;
    pair->gap_us = lab->deliveries->connections > 1 ? lab->deliveries->connected_us + BACKLOG_US
                                                    : LAB_TIME_NONE;
    const uint32_t open = pair->outstanding;
    const int64_t deadline_us = pair->deadline_us;
    pair_step(&lab->parts[i], &lab->p.pairs[i], event, fx);
    lab->state->outstanding += (uint64_t)pair->outstanding - (uint64_t)open;
    if (pair->deadline_us != deadline_us) {
        reorder_heap(lab, i);
    }
}

static void step_pair(struct lab *lab, uint32_t i, const struct event *event,
                      const struct effects *fx)
{
    const struct lab_member *m = &lab->member[i];
    if (m->team == TEAM_NONE) {
        step_plain(lab, i, event, fx);
        return;
    }
    struct crew_step s = begin_crew_step(lab, m->team, fx);
    const struct effects watched = {emit_watched, &s};
    crew_hear(&s.run, m->robot, event);
    step_plain(lab, i, event, &watched);
    end_crew_step(&s);
}

/* What is asked of a team. An old request that the broker kept is none. */
static void step_team(struct lab *lab, size_t team, const struct event *event,
                      const struct effects *fx)
{
    struct crew_step s = begin_crew_step(lab, team, fx);
    if (event->retained) {
        lab->state->counts.retained++;
        return;
    }
    crew_request(&s.run, event);
    end_crew_step(&s);
}

/* A command of link mode whose id is known is not sent to the robots again. Old journals know
 * no connections: they are read as they were written. Whether it was such a one. */
static bool answer_known(struct lab *lab, uint32_t i, const struct event *event,
                         const struct effects *fx)
{
    const struct pair_params *p = &lab->p.pairs[i];
    tell_watcher(lab, i);
    if (event->kind != EVENT_COMMAND || p->mode != PAIR_LINK || event->command.id[0] == '\0' ||
        lab->deliveries->connections == 0 || !pair_answer_known(&lab->parts[i], p, event, fx)) {
        return false;
    }
    lab->state->counts.redelivered++;
    return true;
}

/* A command or reply. */
static void step_delivered(struct lab *lab, uint32_t i, const struct event *event,
                           const struct effects *fx)
{
    if (answer_known(lab, i, event, fx)) {
        return;
    }
    const enum delivery delivery = delivery_judge(lab->deliveries, event);
    struct event ambiguous;
    if (delivery == DELIVERY_AGAIN) {
        lab->state->counts.redelivered++;
        pair_redelivered(lab->parts[i].pair);
    } else if (delivery == DELIVERY_AMBIGUOUS) {
        lab->state->counts.ambiguous++;
        ambiguous = *event;
        ambiguous.ambiguous = true;
        step_pair(lab, i, &ambiguous, fx);
    } else {
        step_pair(lab, i, event, fx);
    }
    lab->state->counts.forgotten_early = lab->deliveries->forgotten_early;
}

/* Ask for what a step of this pair will touch, unless it was asked for last. */
static void fetch_pair(struct lab *lab, uint32_t i, const struct event *event)
{
    const struct pair_parts *x = &lab->parts[i];
    if (i != lab->fetched) {
        pair_fetch(x->pair, &lab->p.pairs[i], x->places, event);
        __builtin_prefetch(&lab->place[i]);
        lab->fetched = i;
    }
}

/* The pair of this event. Nearly always it is the one that stands where it is looked for first:
 * its memory is asked for before its id is read, which is far away as well. */
static long find_pair(struct lab *lab, const struct event *event)
{
    const size_t k = first_place(lab, event->pair);
    if (lab->table[k] != 0) {
        fetch_pair(lab, lab->table[k] - 1, event);
    }
    return find_from(lab, event->pair, k);
}

static void step_known(struct lab *lab, uint32_t i, const struct event *event,
                       const struct effects *fx)
{
    const bool delivered = event->kind == EVENT_COMMAND || event->kind == EVENT_REPLY;
    fetch_pair(lab, i, event);
    if (delivered && event->retained) {
        lab->state->counts.retained++;
    } else if (delivered) {
        step_delivered(lab, i, event, fx);
    } else {
        step_pair(lab, i, event, fx);
    }
}

/* What concerns no single pair. Before its first command none has a session's messages to lose.
 */
static void step_all(struct lab *lab, const struct event *event, const struct effects *fx)
{
    for (size_t i = 0; i < lab->p.pair_count; i++) {
        if (event->kind != EVENT_SESSION || lab->parts[i].pair->counts.commands > 0) {
            step_pair(lab, (uint32_t)i, event, fx);
        }
    }
}

static void take_in(struct lab *lab, const struct event *event, const struct effects *fx)
{
    if (event->kind == EVENT_TICK) {
        return;
    }
    if (event->kind == EVENT_AWAY || event->kind == EVENT_START) {
        lab->deliveries->quiet_us = event->t_us;
        lab->state->counts.starts += event->kind == EVENT_START;
        note_absence(lab, event);
        return;
    }
    if (event->kind == EVENT_SESSION) {
        delivery_connect(lab->deliveries, event);
        /* Else nothing can have waited, or nobody knows since when. */
        if (event->session.resumed && lab->deliveries->connections > 1) {
            note_absence(lab, event);
        }
    }
    if (event->kind == EVENT_STOP || is_session_lost(event)) {
        step_all(lab, event, fx);
    }
    if (event->kind == EVENT_STOP || event->kind == EVENT_SESSION) {
        return;
    }
    const bool team_only = event->kind == EVENT_TEAM || event->kind == EVENT_FORECAST;
    if (event->kind != EVENT_REQUEST && event->kind != EVENT_FIT && !team_only) {
        lab->state->heard_us = event->t_us;
        lab->state->started = false;
    }
    delivery_note(lab->deliveries, event);
    const long i = find_pair(lab, event);
    const bool of_team = team_only || event->kind == EVENT_MALFORMED;
    const long team = i < 0 && of_team ? lab_find_team(lab, event->pair) : -1;
    if (team >= 0) {
        step_team(lab, (size_t)team, event, fx);
    } else if (i < 0 || team_only) {
        lab->state->counts.unknown_pair++;
    } else {
        step_known(lab, (uint32_t)i, event, fx);
    }
}

/* Whether the event says that nobody listened when the next deadline passed: for how long. */
static int64_t unwatched_us(const struct lab *lab, const struct event *event)
{
    const int64_t passed_us = event->t_us - lab_next_deadline(lab);
    return event->kind == EVENT_AWAY && passed_us <= event->away_us ? event->away_us : 0;
}

void lab_step(struct lab *lab, const struct event *event, const struct effects *fx)
{
    assert(lab && event && fx);
    struct lab_state *state = lab->state;
    struct lab_words worded = {lab, fx};
    const struct effects words = {lab_emit_words, &worded};
    if (event->hash != 0) { /* of a line that was not read in one go, nobody was told */
        delivery_expect(lab->deliveries, event->hash);
    }
    lab_skip_numbers(lab, event);
    while (lab_next_deadline(lab) < event->t_us) {
        fire_first(lab, unwatched_us(lab, event), &words);
    }
    if (event->kind != EVENT_TICK) {
        state->counts.events[event->kind]++;
        state->stopped = event->kind == EVENT_STOP;
    }
    if (event->t_us >= state->t_us) {
        state->t_us = event->t_us;
        take_in(lab, event, &words);
        return;
    }
    struct event late = *event;
    late.t_us = state->t_us;
    state->counts.out_of_order += event->kind != EVENT_TICK;
    take_in(lab, &late, &words);
}

void lab_finish(struct lab *lab, const struct effects *fx)
{
    struct lab_words worded = {lab, fx};
    const struct effects words = {lab_emit_words, &worded};
    /* The last instant is over, too. */
    while (lab_next_deadline(lab) <= lab->state->t_us ||
           (lab->state->outstanding > 0 && lab_next_deadline(lab) < LAB_TIME_MAX)) {
        fire_first(lab, 0, &words);
    }
}

void lab_repeat_commands(const struct lab *lab, const struct effects *fx)
{
    for (size_t i = 0; i < lab->p.pair_count; i++) {
        const struct lab_member *m = &lab->member[i];
        if (m->team != TEAM_NONE) {
            crew_repeat(lab->crew[m->team], &lab->p.teams[m->team], m->robot,
                        lab->parts[i].pair, fx);
        }
    }
}

/* ---- reading ------------------------------------------------------------------------------
 */

size_t lab_pair_count(const struct lab *lab)
{
    return lab->p.pair_count;
}

const struct pair *lab_pair(const struct lab *lab, size_t index)
{
    return lab->parts[index].pair;
}

const struct pair_params *lab_pair_params(const struct lab *lab, size_t index)
{
    return &lab->p.pairs[index];
}

const struct pair_dynamics *lab_dynamics(const struct lab *lab, size_t index)
{
    return lab->parts[index].dynamics;
}

const struct pair_following *lab_following(const struct lab *lab, size_t index)
{
    return lab->parts[index].following;
}

size_t lab_team_count(const struct lab *lab)
{
    return lab->p.team_count;
}

const struct crew *lab_team(const struct lab *lab, size_t index)
{
    return lab->crew[index];
}

const struct team_params *lab_team_params(const struct lab *lab, size_t index)
{
    return &lab->p.teams[index];
}

const struct lab_counts *lab_counts(const struct lab *lab)
{
    return &lab->state->counts;
}

int64_t lab_time(const struct lab *lab)
{
    return lab->state->t_us;
}

bool lab_stopped(const struct lab *lab)
{
    return lab->state->stopped;
}
