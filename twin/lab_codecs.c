/* twin/lab_codecs.c - the codecs of a lab's robots, and properties of a lab that follow from
 * its settings alone. */
#include <string.h>

#include "logger/message/codec_native.h"
#include "twin/lab_parts.h"

const struct pair_params *lab_find_params(const struct pair_params *pairs, size_t count,
                                          const char *id)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(pairs[i].id, id) == 0) {
            return &pairs[i];
        }
    }
    return NULL;
}

const char *lab_name(const struct lab_params *p, uint32_t index)
{
    return index < p->pair_count                   ? p->pairs[index].id
           : index < p->pair_count + p->team_count ? p->teams[index - p->pair_count].name
                                                   : NULL;
}

const struct codec *lab_codec(const struct lab *lab, size_t index)
{
    return lab_codec_of(lab_pair_params(lab, index));
}

/* Lists the topics that the robots of a pair with a foreign codec may write; index NULL: only
 * counts. */
static size_t list_topics(const struct pair_params *p, struct topic_index *index,
                          uint32_t number)
{
    const struct codec *codec = lab_codec_of(p);
    struct codec_place place;
    size_t count = 0;
    for (size_t k = 0; codec->receive && codec->place(&p->speaks, k, &place); k++) {
        const bool subscribed = !place.silent || place.from_robot;
        count += subscribed;
        if (index && subscribed) {
            topic_index_add(index, place.filter, number);
        }
    }
    return count;
}

/* Counts the pairs with a foreign codec, and their topics. */
static size_t count_foreign(const struct lab_params *p, size_t *topics)
{
    size_t count = 0;
    *topics = 0;
    for (size_t i = 0; i < p->pair_count; i++) {
        count += lab_codec_of(&p->pairs[i])->receive != NULL;
        *topics += list_topics(&p->pairs[i], NULL, 0);
    }
    return count;
}

size_t lab_topics_bytes(const struct lab_params *p)
{
    size_t topics = 0;
    const size_t count = count_foreign(p, &topics);
    return count > 0 ? align_bytes(count * sizeof(struct codec_pair)) +
                           align_bytes(topic_index_bytes(topics))
                     : 0;
}

char *lab_place_topics(struct lab *lab, void *at)
{
    size_t topics = 0;
    const size_t count = count_foreign(&lab->p, &topics);
    lab->foreign = at;
    lab->topics = (void *)((char *)at + align_bytes(count * sizeof *lab->foreign));
    lab->topics = count > 0 ? topic_index_init(lab->topics, topics) : NULL;
    lab->foreign_count = 0;
    for (size_t i = 0; i < lab->p.pair_count; i++) {
        if (lab_codec_of(&lab->p.pairs[i])->receive) {
            (void)list_topics(&lab->p.pairs[i], lab->topics, (uint32_t)lab->foreign_count);
            lab_codec_pair(lab, i, &lab->foreign[lab->foreign_count++]);
        }
    }
    return (char *)at + lab_topics_bytes(&lab->p);
}

/* L1's commands to a foreign pair in link mode are native. */
static const struct codec *find_spoken(const void *context, const struct event *event)
{
    const struct lab *lab = context;
    const long index = lab_find(lab, event->pair);
    if (index < 0) {
        return NULL;
    }
    const struct codec *codec = lab_codec(lab, (size_t)index);
    const bool command =
        event->kind == EVENT_COMMAND ||
        (event->kind == EVENT_MALFORMED && strcmp(event->malformed.what, "command") == 0);
    if (codec->fallback) {
        return codec->fallback;
    }
    return codec->receive && command && lab_pair_params(lab, (size_t)index)->mode == PAIR_LINK
               ? &codec_native
               : codec;
}

static bool find_foreign(const void *context, size_t k, struct codec_pair *pair)
{
    const struct lab *lab = context;
    const struct codec_pair *foreign = lab_foreign(lab, k);
    if (foreign) {
        *pair = *foreign;
    }
    return foreign != NULL;
}

static bool find_topic(const void *context, const char *topic, struct topic_hits *hits)
{
    return lab_addressed(context, topic, hits);
}

static bool is_spoken(const struct lab *lab, const struct codec *codec)
{
    bool spoken = false;
    for (size_t i = 0; i < lab_pair_count(lab) && !spoken; i++) {
        const struct codec *of = lab_codec(lab, i);
        spoken = of == codec || of->fallback == codec ||
                 (codec == &codec_native && of->receive &&
                  lab_pair_params(lab, i)->mode == PAIR_LINK);
    }
    return spoken;
}

void lab_codecs(const struct lab *lab, struct codec_set *set)
{
    *set = (struct codec_set){.speaks = find_spoken,
                              .foreign = lab_foreign(lab, 0) ? find_foreign : NULL,
                              .addressed = find_topic,
                              .context = lab};
    for (size_t c = 0; c < codec_count; c++) {
        if (codecs[c]->decode && is_spoken(lab, codecs[c])) {
            set->codec[set->count++] = codecs[c];
        }
    }
}

/* Encodes an effect with the pair's codec, which may change the codec's state. */
static void emit_worded(const struct lab_words *w, const struct effect *effect,
                        struct codec_out *out)
{
    struct codec_message message;
    struct effect with = *effect;
    out->pair = out->to->id;
    out->t_us = effect->t_us;
    with.message = codec_encode(out->to->codec, out, &message) ? &message : NULL;
    w->fx->emit(w->fx->context, &with);
}

/* Returns the resource's part of the lease, whose earliest end the answer has. */
static int64_t find_expiry(const struct team_live_answer *a, const struct team_params *p,
                           size_t k)
{
    int64_t least_us = INT64_MAX;
    const int64_t own_us = p->resources[a->resources[k]].lease_us;
    for (size_t i = 0; i < a->count; i++) {
        const int64_t lease_us = p->resources[a->resources[i]].lease_us;
        least_us =
            lease_us > 0 && a->fences[i] > 0 && lease_us < least_us ? lease_us : least_us;
    }
    const bool leased = a->lease_until_us != LAB_TIME_MAX && own_us > 0;
    return a->grant == TEAM_LIVE_GRANTED && leased ? a->lease_until_us - least_us + own_us
                                                   : LAB_TIME_MAX;
}

/* Encodes a team's answer for a robot whose protocol has such answers. */
static void emit_answer(const struct lab_words *w, const struct effect *effect)
{
    const struct team_live_answer *a = effect->response;
    const struct lab *lab = w->lab;
    const size_t team = effect->pair - lab->p.pair_count;
    const struct team_params *p = &lab->p.teams[team];
    const uint32_t pair = a->robot < p->robot_count
                              ? team_live_robot(lab->live[team], p, a->robot)->pair
                              : TEAM_LIVE_NO_PAIR;
    const enum team_live_grant grant = (enum team_live_grant)a->grant;
    struct codec_answer answer = {
        .id = a->id,
        .grant = team_live_grant_name(grant == TEAM_LIVE_RELEASED ? TEAM_LIVE_REVOKED : grant)};
    if (a->op != TEAM_OP_LOCK || pair == TEAM_LIVE_NO_PAIR || !lab->parts[pair].codec) {
        w->fx->emit(w->fx->context, effect);
        return;
    }
    for (size_t k = 0; k < a->count; k++) { /* revoked or still granted resources */
        if (a->fences[k] > 0) {
            answer.resource[answer.count].name = p->resources[a->resources[k]].name;
            answer.resource[answer.count].expiry_us = find_expiry(a, p, k);
            answer.resource[answer.count++].fence = (int64_t)a->fences[k];
        }
    }
    struct codec_pair to;
    lab_codec_pair(lab, pair, &to);
    struct codec_out out = {
        .kind = CODEC_ANSWER, .side = (enum side)to.active_side, .answer = &answer, .to = &to};
    emit_worded(w, effect, &out);
}

void lab_emit_words(void *context, const struct effect *effect)
{
    static const uint8_t kinds[EFFECT_KIND_COUNT] = {[EFFECT_COMMAND] = CODEC_COMMAND + 1,
                                                     [EFFECT_CONTROL] = CODEC_CONTROL + 1,
                                                     [EFFECT_POSE] = CODEC_POSE + 1,
                                                     [EFFECT_PARAMETERS] =
                                                         CODEC_PARAMETERS + 1};
    const struct lab_words *w = context;
    if (effect->kind == EFFECT_RESPONSE) {
        emit_answer(w, effect);
        return;
    }
    if (kinds[effect->kind] == 0 || !w->lab->parts[effect->pair].codec) {
        w->fx->emit(w->fx->context, effect);
        return;
    }
    struct codec_pair to;
    lab_codec_pair(w->lab, effect->pair, &to);
    struct codec_out out = {.kind = (enum codec_kind)(kinds[effect->kind] - 1),
                            .side = effect->side,
                            .payload = effect->payload.text,
                            .bytes = effect->payload.bytes,
                            .to = &to};
    emit_worded(w, effect, &out);
}
