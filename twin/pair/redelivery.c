#include "twin/pair/redelivery.h"

#include "base/lab_time.h"

int64_t redelivery_seen_us(const struct redelivery *r, uint64_t hash)
{
    for (uint16_t k = r->head[hash % REDELIVERY_CHAINS]; k != 0; k = r->item[k - 1].next) {
        if (r->item[k - 1].hash == hash) {
            return r->item[k - 1].t_us;
        }
    }
    return LAB_TIME_NONE;
}

static void forget_oldest(struct redelivery *r, uint16_t oldest)
{
    uint16_t *link = &r->head[r->item[oldest].hash % REDELIVERY_CHAINS];
    while (*link != oldest + 1) {
        link = &r->item[*link - 1].next;
    }
    *link = r->item[oldest].next;
}

void redelivery_add(struct redelivery *r, uint64_t hash, int64_t t_us)
{
    const uint16_t k = (uint16_t)(r->count % REDELIVERY_MAX);
    if (r->count >= REDELIVERY_MAX) {
        forget_oldest(r, k);
    }
    r->count++;
    uint16_t *head = &r->head[hash % REDELIVERY_CHAINS];
    r->item[k].hash = hash;
    r->item[k].t_us = t_us;
    r->item[k].next = *head;
    *head = (uint16_t)(k + 1);
}
