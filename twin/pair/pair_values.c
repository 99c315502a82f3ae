/* twin/pair/pair_values.c - compares the replies of the two robots, each value according to its
 * kind.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "base/text/text.h"
#include "twin/pair/pair_run.h"

/* Bytes of ", and 31 more", reserved until the end. */
enum { MORE_MAX = 16 };

/* Descriptions of differences, as many as fit. */
struct difference_list {
    char *text; /* [ENTRY_DIFFERS_MAX] */
    size_t used;
    unsigned count, untold;
};

size_t pair_store_values(struct pair_slot *slot, const struct event_reply *reply)
{
    slot->value_count = 0;
    for (size_t i = 0; i < reply->value_count && i < PAIR_VALUES_MAX; i++) {
        const struct event_value *v = &reply->values[i];
        slot->value_kind[i] = (uint8_t)v->kind;
        slot->value[i].place = v->place;
        if (v->kind == VALUE_TEXT) {
            slot->value[i].text = v->text;
        } else {
            slot->value[i].number = v->number;
        }
        slot->value_count++;
    }
    return reply->value_count - slot->value_count;
}

/* ---- tolerances ---------------------------------------------------------------------------
 */

/* Returns the bytes of a name without its indices: "ranges_m" of "ranges_m[2]". */
static size_t bytes_without_index(const char *name)
{
    size_t n = strlen(name);
    while (n > 0 && name[n - 1] == ']') {
        size_t open = n - 1;
        while (open > 0 && name[open] != '[') {
            open--;
        }
        if (name[open] != '[') {
            break;
        }
        n = open;
    }
    return n;
}

static bool ends_with(const char *name, size_t bytes, const char *end)
{
    const size_t n = strlen(end);
    return n <= bytes && memcmp(name + bytes - n, end, n) == 0;
}

/* Does the key name the value? "psi_rad" names "pose.psi_rad", and "ranges_m" names
 * "ranges_m[2]". */
static bool is_called(const char *name, size_t bytes, const char *key)
{
    const size_t n = strlen(key);
    return ends_with(name, bytes, key) && (n == bytes || name[bytes - n - 1] == '.');
}

/* Finds the tolerance of a value: a row for its name precedes one for its unit, a longer key a
 * shorter one. NULL if there is none. */
static const struct named_number *find_tolerance(const struct pair_params *p, const char *name)
{
    const size_t whole = strlen(name);
    const size_t bare = bytes_without_index(name);
    const struct named_number *best = NULL;
    for (size_t i = 0; i < PAIR_TOLERANCES_MAX && p->tolerances[i].name[0]; i++) {
        const struct named_number *row = &p->tolerances[i];
        const bool unit = row->name[0] == '_';
        const bool fits =
            unit ? ends_with(name, bare, row->name)
                 : is_called(name, whole, row->name) || is_called(name, bare, row->name);
        const bool best_unit = best && best->name[0] == '_';
        if (fits && (!best || (best_unit && !unit) ||
                     (best_unit == unit && strlen(row->name) > strlen(best->name)))) {
            best = row;
        }
    }
    return best;
}

/* Returns a full turn in the value's unit; 0 if it is not an angle. */
static double turn_of(const char *name)
{
    const size_t bare = bytes_without_index(name);
    if (ends_with(name, bare, "_rad")) {
        return 2.0 * PI;
    }
    return ends_with(name, bare, "_deg") ? 360.0 : 0.0;
}

/* Durations are not compared as values, because lag and verdict compare them. */
static bool is_time(const char *name)
{
    static const char *const units[] = {"_s", "_ms", "_us", "_ns"};
    const size_t bare = bytes_without_index(name);
    bool is = false;
    for (size_t i = 0; i < COUNT(units); i++) {
        is = is || ends_with(name, bare, units[i]);
    }
    return is;
}

static bool numbers_agree(const char *name, double a, double b, const struct pair_params *p)
{
    const double turn = turn_of(name);
    const double gap = turn > 0.0 ? fabs(remainder(a - b, turn)) : fabs(a - b);
    const struct named_number *row = find_tolerance(p, name);
    if (row) {
        return gap <= row->value;
    }
    const double larger = turn > 0.0 ? 0.0 : fmax(fabs(a), fabs(b));
    return gap <= pair_value_tolerance(p) || gap <= p->value_tolerance_ratio * larger ||
           is_time(name); /* checked last, because it is rarely needed */
}

/* ---- differences --------------------------------------------------------------------------
 */

static void add_difference(struct difference_list *list, const char *format, ...)
    PRINTF_LIKE(2, 3);

static void add_difference(struct difference_list *list, const char *format, ...)
{
    char text[ENTRY_DIFFERS_MAX];
    TEXT_FORMAT(text, sizeof text, format);
    list->count++;
    const char *comma = list->used > 0 ? ", " : "";
    const size_t bytes = strlen(comma) + strlen(text);
    if (list->untold > 0 || list->used + bytes + MORE_MAX > ENTRY_DIFFERS_MAX) {
        list->untold++;
        return;
    }
    (void)snprintf(list->text + list->used, ENTRY_DIFFERS_MAX - list->used, "%s%s", comma,
                   text);
    list->used += bytes;
}

/* Compares one value and describes a difference with the first side's value. */
static void compare_value(struct difference_list *list, const struct pair_slot *slot, size_t k,
                          enum side first, const struct event_value *v,
                          const struct pair_params *p)
{
    const enum value_kind kind = (enum value_kind)slot->value_kind[k];
    const double number = kind == VALUE_TEXT ? 0.0 : slot->value[k].number;
    const double real = first == SIDE_REAL ? number : v->number;
    const double virtual = first == SIDE_REAL ? v->number : number;
    if (kind != v->kind) {
        add_difference(list, "%s: real %s, virtual %s", v->name,
                       value_kind_name(first == SIDE_REAL ? kind : v->kind),
                       value_kind_name(first == SIDE_REAL ? v->kind : kind));
    } else if (kind == VALUE_TEXT && slot->value[k].text != v->text) {
        add_difference(list, "%s: not the same text", v->name);
    } else if (kind == VALUE_NUMBER && !numbers_agree(v->name, number, v->number, p)) {
        add_difference(list, "%s: real %.9g, virtual %.9g", v->name, real, virtual);
    } else if (kind == VALUE_TRUTH && (number > 0.5) != (v->number > 0.5)) {
        add_difference(list, "%s: real %s, virtual %s", v->name, real > 0.5 ? "true" : "false",
                       virtual > 0.5 ? "true" : "false");
    } else if (kind == VALUE_LIST && fabs(number - v->number) > 0.5) {
        add_difference(list, "%s: real %.0f items, virtual %.0f", v->name, real, virtual);
    }
}

/* Finds the number of this name at any depth; NULL. */
static const struct event_value *find_number(const struct event_reply *reply, const char *name)
{
    for (size_t i = 0; i < reply->value_count; i++) {
        const struct event_value *v = &reply->values[i];
        if (v->kind == VALUE_NUMBER && is_called(v->name, strlen(v->name), name)) {
            return v;
        }
    }
    return NULL;
}

static void place_on_map(const struct pair_run *run, double pose[3])
{
    const struct plane_pose stated = {pose[0], pose[1], pose[2]};
    struct plane_pose placed;
    if (run->map && run->p->live_map.correct &&
        live_map_locate(run->map, SIDE_REAL, &stated, &placed)) {
        pose[0] = placed.x_m;
        pose[1] = placed.y_m;
        pose[2] = placed.yaw_rad;
    }
}

void pair_read_poses(const struct pair_run *run, const struct pair_slot *slot, enum side first,
                     const struct event_reply *reply, struct pair_poses *poses)
{
    static const char *const names[] = {"x_m", "y_m", "psi_rad"};
    const enum side second = first == SIDE_REAL ? SIDE_VIRTUAL : SIDE_REAL;
    const char *found[COUNT(names)] = {"", "", ""};
    size_t known = 0;
    for (size_t i = 0; i < COUNT(names); i++) {
        const struct event_value *v = find_number(reply, names[i]);
        size_t k = 0;
        while (v && k < slot->value_count && slot->value[k].place != v->place) {
            k++;
        }
        if (v && k < slot->value_count && slot->value_kind[k] == VALUE_NUMBER) {
            poses->of[first][i] = slot->value[k].number;
            poses->of[second][i] = v->number;
            found[i] = v->name;
            known++;
        }
    }
    poses->known = known == COUNT(names);
    poses->agree = poses->known;
    if (poses->known) {
        place_on_map(run, poses->of[SIDE_REAL]);
    }
    for (size_t i = 0; poses->agree && i < COUNT(names); i++) {
        poses->agree =
            numbers_agree(found[i], poses->of[first][i], poses->of[second][i], run->p);
    }
}

static void compare_values(struct difference_list *list, const struct pair_slot *slot,
                           enum side first, const struct event_reply *reply,
                           const struct pair_params *p)
{
    for (size_t i = 0; i < reply->value_count; i++) {
        for (size_t k = 0; k < slot->value_count; k++) {
            if (slot->value[k].place == reply->values[i].place) {
                compare_value(list, slot, k, first, &reply->values[i], p);
                break;
            }
        }
    }
}

bool pair_reply_differs(const struct pair_slot *slot, enum side first,
                        const struct event_reply *reply, const struct pair_params *p,
                        char differs[ENTRY_DIFFERS_MAX])
{
    struct difference_list list = {.text = differs};
    const enum reply_status before = (enum reply_status)slot->status[first];
    differs[0] = '\0';
    if (before != reply->status) {
        add_difference(&list, "status: real %s, virtual %s",
                       reply_status_name(first == SIDE_REAL ? before : reply->status),
                       reply_status_name(first == SIDE_REAL ? reply->status : before));
    }
    compare_values(&list, slot, first, reply, p);
    if (list.untold > 0) {
        (void)snprintf(differs + list.used, ENTRY_DIFFERS_MAX - list.used, ", and %u more",
                       list.untold);
    }
    return list.count > 0;
}
