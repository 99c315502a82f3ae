/* Any bytes as a table of moves: refused with a reason, or each row is a command of the lab, in
 * a time that does not depend on what the rows say of theirs. The first byte chooses the pair.
 */
#undef NDEBUG /* its checks are asserts, in every build */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_errno.h>

#include "service/replay/replay_moves.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PATIENCE = 20000 };

static const char lab_text[] = "pairs:\n"
                               "  r1: {probe_interval_s: 10}\n"
                               "  r2: {mode: link, timeout_s: 5}\n";

static uint64_t entries;

static void count_entry(void *context, const struct effect *effect)
{
    (void)context;
    entries += effect->kind == EFFECT_ENTRY;
}

static bool go_on(void *context, const char *stage, double share)
{
    unsigned *asked = context;
    assert(stage[0] && share >= 0.0 && share <= 1.0);
    return ++*asked < PATIENCE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct lab_file lab;
    if (lab.pair_count == 0) {
        (void)gsl_set_error_handler_off();
        const enum status st =
            lab_file_parse(lab_text, sizeof lab_text - 1, "lab.yaml", &lab, NULL);
        assert(st == STATUS_OK);
    }
    if (size < 1) {
        return 0;
    }
    static const char *const pairs[] = {"", "r1", "r2", "r3"};
    const struct effects effects = {count_entry, NULL};
    struct replay *replay = NULL;
    struct err err = {0};
    unsigned asked = 0;
    struct replay_moves moves = {
        .source = {.path = "fuzz", .text = (const char *)data + 1, .bytes = size - 1},
        .pair = pairs[data[0] % 4]};
    if (data[0] >= 128) { /* in the units of others */
        assert(column_map_read(
                   "t=t:iso8601,rotation_rad=rotation_rad:deg,real_lap_s=real_lap_s:ms", false,
                   &moves.columns, &err) == STATUS_OK);
    }
    entries = 0;
    const enum status made = replay_create(&lab, &effects, &replay);
    assert(made == STATUS_OK);
    replay->go_on = go_on;
    replay->context = &asked;
    const enum status st = replay_moves(replay, &lab, &moves, &err);
    assert(st == STATUS_OK || err.text[0] != '\0');
    assert(replay->counts.lines <= 3 * size);
    replay_end(replay);
    assert(entries <= replay->counts.lines);
    replay_destroy(replay);
    return 0;
}
