/* Any messages of a Sparkplug node and two of its devices, one after the other: each is a byte
 * of its kind, one of whose it is, two of its length, and its payload. What is told borrows
 * from the message or the device, is counted as it stands, and is found again. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "logger/message/sparkplug.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct told {
    const struct sparkplug_place *places;
    unsigned order;
};

static void check_event(void *context, const struct sparkplug_event *e)
{
    struct told *told = context;
    assert((e->what == SPARKPLUG_MALFORMED) == (e->fault != NULL));
    assert((e->what == SPARKPLUG_VALUES) == (e->metrics != NULL));
    assert(e->place < 2 || e->place == SIZE_MAX);
    assert(told->order <= 20);
    told->order++;
    if (e->what != SPARKPLUG_VALUES) {
        return;
    }
    assert(e->metrics->count > 0 && e->metrics->count <= SPARKPLUG_METRICS_MAX);
    for (size_t k = 0; k < e->metrics->count; k++) {
        const struct sparkplug_metric *m = &e->metrics->metric[k];
        char sum = 0;
        for (size_t i = 0; i < m->name.bytes; i++) {
            sum = (char)(sum + m->name.at[i]);
        }
        for (size_t i = 0; m->value.kind == SPARKPLUG_TEXT && i < m->value.text.bytes; i++) {
            sum = (char)(sum + m->value.text.at[i]);
        }
        assert(sum == sum && sparkplug_find(e->metrics, m->name));
        (void)sparkplug_held(told->places[e->place].device, m->name);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct sparkplug_text devices[] = {{"d", 1}, {"", 0}, {"e", 1}};
    static struct sparkplug_device device[2];
    struct sparkplug_node node = {.born = false};
    const struct sparkplug_place places[2] = {{devices[0], &device[0]},
                                              {devices[1], &device[1]}};
    memset(device, 0, sizeof device);
    while (size >= 4) {
        const struct sparkplug_topic topic = {
            .kind = (enum sparkplug_kind)(data[0] % SPARKPLUG_KIND_COUNT),
            .device = devices[data[1] % 3]};
        const size_t said = (size_t)data[2] << 8 | data[3];
        const size_t n = said < size - 4 ? said : size - 4;
        struct told told = {places, 0};
        sparkplug_take(&node, places, 2, &topic, (const char *)data + 4, n, check_event, &told);
        for (size_t k = 0; k < 2; k++) {
            assert(device[k].count <= SPARKPLUG_METRICS_MAX &&
                   device[k].names_used <= SPARKPLUG_NAMES_MAX);
        }
        data += 4 + n;
        size -= 4 + n;
    }
    return 0;
}
