/* twin/pair/pair_eta.c - publishes when the command under way will be done, if the lab file
 * asks for it. docs/forecast.md
 */
#include <math.h>

#include "twin/pair/pair_run.h"

static bool is_timed(const struct pair_slot *slot, enum side side)
{
    return pair_slot_owed(slot, side) &&
           forecast_knows(&slot->forecast, (enum forecast_quantity)side);
}

int64_t pair_eta_deadline(const struct pair_params *p, const struct pair_slot *slot,
                          enum side side)
{
    if (p->forecast_publish == PAIR_FORECAST_NONE || !is_timed(slot, side) ||
        slot->late[side]) {
        return LAB_TIME_MAX;
    }
    const double high_s =
        forecast_interval(&slot->forecast, (enum forecast_quantity)side, FORECAST_95).high_s;
    return isfinite(high_s) ? slot->sent_us[side] + lab_us(high_s) : LAB_TIME_MAX;
}

/* Finds the oldest command that is to be published; NULL: none. */
static const struct pair_slot *find_published(const struct pair *pair,
                                              const struct pair_params *p)
{
    const struct pair_slot *oldest = NULL;
    for (int k = -1; pair_next_open(pair, &k);) {
        const struct pair_slot *slot = pair_look_slot(pair, k);
        bool any = false;
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            any = any || (is_timed(slot, s) &&
                          (p->forecast_publish == PAIR_FORECAST_EACH || slot->late[s]));
        }
        if (any && (!oldest || slot->order < oldest->order)) {
            oldest = slot;
        }
    }
    return oldest;
}

static bool is_late(const struct pair_slot *slot)
{
    return slot->late[SIDE_REAL] || slot->late[SIDE_VIRTUAL];
}

static int64_t due_us(const struct pair_slot *slot, enum side side, double s)
{
    return isfinite(s) ? slot->sent_us[side] + lab_us(s) : LAB_TIME_NONE;
}

void pair_write_eta(struct json_writer *w, const struct pair *pair, const struct pair_params *p,
                    int64_t t_us)
{
    const struct pair_slot *slot = find_published(pair, p);
    json_write_object(w, NULL);
    for (enum side s = SIDE_REAL; slot && s < SIDE_COUNT; s++) {
        const enum forecast_quantity q = (enum forecast_quantity)s;
        int longer = 0;
        if (s == SIDE_REAL) {
            JSON_WRITE(w, JSON("id", slot->id[0] ? slot->id : NULL), JSON_SECONDS("t", t_us));
        }
        if (!is_timed(slot, s)) {
            continue;
        }
        const struct forecast_interval lap =
            forecast_open(&pair->forecast, &slot->forecast, q, FORECAST_95,
                          lab_s(t_us - slot->sent_us[s]), &longer);
        json_write_object(w, side_name(s));
        json_write_array(w, "due_t");
        JSON_WRITE(w, JSON_SECONDS(NULL, due_us(slot, s, lap.low_s)),
                   JSON_SECONDS(NULL, due_us(slot, s, lap.high_s)));
        json_write_close(w);
        json_write_close(w);
    }
    if (slot) {
        JSON_WRITE(w, JSON_BOOL("late", is_late(slot)));
    }
    json_write_close(w);
}

void pair_publish_eta(const struct pair_run *run)
{
    struct pair *pair = run->pair;
    char text[PAIR_ETA_MAX];
    struct json_writer w;
    if (run->p->forecast_publish == PAIR_FORECAST_NONE) {
        return;
    }
    for (int k = -1; pair_next_open(pair, &k);) {
        struct pair_slot *slot = pair_slot_at(pair, k);
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            slot->late[s] = slot->late[s] || pair_eta_deadline(run->p, slot, s) <= run->t_us;
        }
    }
    const struct pair_slot *slot = find_published(pair, run->p);
    const uint64_t order = slot ? slot->order + 1 : 0;
    const bool late = slot && is_late(slot);
    if (order == pair->eta_order && late == pair->eta_late) {
        return;
    }
    pair->eta_order = order;
    pair->eta_late = late;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    pair_write_eta(&w, pair, run->p, run->t_us);
    if (json_write_end(&w)) {
        pair_emit_payload(run, EFFECT_ETA, SIDE_COUNT, text, w.used);
    }
}
