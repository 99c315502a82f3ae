/* twin/team/check/model_checker_ends.c - classifies how a team can end, and finds the path to
 * it.
 */

#include "twin/team/check/model_checker_parts.h"
#include "twin/team/step/team_parts.h"

/* ---- the ends ---- */

/* Lists the robots in one of these phases. */
static uint64_t list_phases(const struct model_checker *x, uint32_t state, unsigned phases)
{
    const uint8_t *key = team_state_key(&x->states, state);
    uint64_t robots = 0;
    for (uint16_t r = 0; r < x->untimed.p.robot_count; r++) {
        robots |= (phases >> key[r] & 1U) != 0 ? team_robot_bit(r) : 0;
    }
    return robots;
}

enum {
    PHASES_WAIT = 1U << TEAM_PHASE_WAITING | 1U << TEAM_PHASE_MEETING | 1U << TEAM_PHASE_JOINED,
    PHASES_ERROR = 1U << TEAM_PHASE_ERROR,
    PHASES_REST = 1U << TEAM_PHASE_FINISHED | 1U << TEAM_PHASE_PARKED
};

/* Lists whom a waiting robot waits for; at a meeting all who can still come. */
static uint64_t list_blockers(const struct model_checker *x, uint16_t robot, uint64_t out)
{
    struct team_robot_view view;
    struct team_set blockers;
    team_robot(x->team, robot, &view);
    if (view.phase != TEAM_PHASE_WAITING) {
        return ~out;
    }
    const struct team_work w = team_at_work(x->team);
    team_set_clear(&blockers);
    team_blockers(&w, robot, true, &blockers);
    return team_set_uses(&blockers, 0) ? blockers.word[0] : 0;
}

/* Lists, for each waiting robot, whom it waits for directly or indirectly, itself included. */
static bool reach_blockers(struct model_checker *x, uint32_t number, uint64_t waiting,
                           uint64_t reached[MODEL_CHECKER_ROBOTS_MAX])
{
    const uint16_t count = (uint16_t)x->untimed.p.robot_count;
    const uint64_t out = list_phases(x, number, PHASES_ERROR | PHASES_REST);
    uint64_t blockers[MODEL_CHECKER_ROBOTS_MAX];
    if (!model_checker_replay(x, (struct team_path){number, 0}, NULL)) {
        return false;
    }
    for (uint16_t r = 0; r < count; r++) {
        const bool waits = (waiting & team_robot_bit(r)) != 0;
        blockers[r] = waits ? list_blockers(x, r, out) : 0;
    }
    for (uint16_t r = 0; r < count; r++) {
        reached[r] = team_robot_bit(r);
        for (uint64_t before = 0; reached[r] != before;) {
            before = reached[r];
            for (uint16_t k = 0; k < count; k++) {
                reached[r] |= (before & team_robot_bit(k)) != 0 ? blockers[k] : 0;
            }
        }
    }
    return true;
}

/* Classifies robots that wait for ever. The wait is explained if each of them, or a robot that
 * it waits behind, was covered by an alarm, or if some robot continues. */
static enum team_end explain_waits(struct model_checker *x, const struct team_alarmed *alarmed,
                                   uint64_t waiting, uint64_t out, const uint64_t *reached)
{
    const uint64_t all = alarmed->dead | alarmed->blocked;
    enum team_end end = (alarmed->dead & waiting) != 0 ? TEAM_END_DEADLOCK : TEAM_END_BLOCKED;
    for (uint16_t r = 0; r < x->untimed.p.robot_count; r++) {
        if ((waiting & team_robot_bit(r)) == 0 || (reached[r] & all) != 0) {
            continue;
        }
        if ((reached[r] & ~waiting & ~out) == 0) {
            return TEAM_END_UNEXPLAINED;
        }
        end = TEAM_END_STARVED < end ? TEAM_END_STARVED : end;
    }
    return end;
}

/* Robots wait for ever in this state: returns the worst class over all paths to it. */
static enum team_end judge_waits(struct model_checker *x, uint32_t number, uint64_t waiting)
{
    const uint64_t out = list_phases(x, number, PHASES_ERROR | PHASES_REST);
    uint64_t reached[MODEL_CHECKER_ROBOTS_MAX];
    enum team_end worst = TEAM_END_FINISHED;
    if (!reach_blockers(x, number, waiting, reached)) {
        return TEAM_END_UNEXPLAINED;
    }
    const struct team_alarmed *alarmed = x->states.alarmed.items;
    for (uint32_t i = team_state_at(&x->states, number)->alarmed; i != 0;
         i = alarmed[i - 1].next) {
        const enum team_end end = explain_waits(x, &alarmed[i - 1], waiting, out, reached);
        worst = end < worst ? end : worst;
    }
    return worst;
}

static enum team_end judge_end(struct model_checker *x, const uint32_t *states, size_t count,
                               uint32_t first)
{
    uint64_t waiting = ~UINT64_C(0);
    for (size_t i = 0; i < count; i++) {
        const struct team_state *state = team_state_at(&x->states, states[i]);
        if (state->spins) {
            return TEAM_END_LIVELOCK;
        }
        waiting &= list_phases(x, states[i], PHASES_WAIT) & ~state->served;
    }
    if (waiting != 0) {
        return judge_waits(x, first, waiting);
    }
    if (list_phases(x, first, PHASES_ERROR) != 0) {
        return TEAM_END_FAILED;
    }
    const uint64_t rest = list_phases(x, first, PHASES_REST);
    const uint64_t all = list_phases(x, first, ~0U);
    return rest == all ? TEAM_END_FINISHED : TEAM_END_ENDLESS;
}

void model_checker_add_end(void *context, const uint32_t *states, size_t count)
{
    struct model_checker *x = context;
    struct model_checker_result *result = x->result;
    uint32_t first = states[0]; /* found first, so its path is the shortest */
    for (size_t i = 1; i < count; i++) {
        first = states[i] < first ? states[i] : first;
    }
    const enum team_end end = judge_end(x, states, count, first);
    result->ends[end]++;
    if (first < result->path[end].state) {
        result->path[end] = (struct team_path){first, 0};
    }
}

/* ---- a path
 * ------------------------------------------------------------------------------- */

/* Lists the bags of the path to this state, the last one first. */
static bool list_bags(struct model_checker *x, struct team_path path)
{
    x->path.count = 0;
    for (uint32_t at = path.state; at != TEAM_STATE_NONE;) {
        const struct team_state *state = team_state_at(&x->states, at);
        if (!team_array_reserve(x->memory, &x->path, 2, sizeof(uint64_t))) {
            return false;
        }
        uint64_t *bags = x->path.items;
        if (at == path.state && path.bag != 0) {
            bags[x->path.count++] = path.bag;
        }
        if (state->parent != TEAM_STATE_NONE) {
            bags[x->path.count++] = state->bag;
        }
        at = state->parent;
    }
    return true;
}

const struct team *model_checker_replay(struct model_checker *x, struct team_path path,
                                        const struct model_checker_observer *guide)
{
    struct model_checker_result *result = x->result;
    struct model_checker_result ignored = {0};
    struct model_checker_place place;
    if (!list_bags(x, path)) {
        return NULL;
    }
    x->result = &ignored;
    x->also = guide ? &guide->effects : NULL;
    model_checker_begin(x, &place);
    for (size_t i = x->path.count; i-- > 0;) {
        struct team_move moves[TEAM_TOGETHER_MAX];
        model_checker_list_moves(x, &place);
        int64_t t_us;
        const uint64_t bag = ((const uint64_t *)x->path.items)[i];
        const size_t count = model_checker_unpack_bag(x, bag, moves, &t_us);
        if (guide) {
            guide->instant(guide->context, x->team, moves, count);
        }
        model_checker_apply_moves(x, &place, t_us, moves, count);
    }
    x->also = NULL;
    x->result = result;
    return x->team;
}
