#include "service/team/team_settings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/number.h"

/* One "NAME.WHAT=VALUE". */
struct setting {
    const char *text;
    char name[TEAM_NAME_MAX], what[TEAM_NAME_MAX];
    const char *value;
};

/* Returns false when value is not what the row's `expected` describes. */
typedef bool set_value(struct team_settings *s, size_t i, const char *value);

const struct team_params *team_settings_choose(const struct team_file *file, const char *name,
                                               char names[TEAM_SETTINGS_NAMES_MAX])
{
    names[0] = '\0';
    for (size_t i = 0; i < file->team_count; i++) {
        if (name && name[0] ? strcmp(file->teams[i].name, name) == 0 : file->team_count == 1) {
            return &file->teams[i];
        }
        names_append(names, TEAM_SETTINGS_NAMES_MAX, file->teams[i].name);
    }
    return NULL;
}

static bool read_whole(const char *text, uint32_t min, uint32_t max, uint32_t *out)
{
    double value = 0.0;
    const char *const end = text + strlen(text);
    if (number_scan(text, end, &value) != end || end == text || !(value >= min) ||
        !(value <= max) || fabs(value - rint(value)) > 0.0) {
        return false;
    }
    *out = (uint32_t)value;
    return true;
}

static bool set_capacity(struct team_settings *s, size_t i, const char *value)
{
    return read_whole(value, 1, TEAM_CAPACITY_MAX, &s->resources[i].capacity);
}

static bool set_cycles(struct team_settings *s, size_t i, const char *value)
{
    return read_whole(value, 1, 1000000, &s->robots[i].cycles);
}

static bool set_priority(struct team_settings *s, size_t i, const char *value)
{
    return read_whole(value, 0, 1000, &s->robots[i].priority);
}

static bool set_speed(struct team_settings *s, size_t i, const char *value)
{
    double percent = 0.0;
    const char *const from = value + (*value == '+');
    const char *const end = number_scan(from, value + strlen(value), &percent);
    if ((*value != '+' && *value != '-') || end == from || strcmp(end, "%") != 0 ||
        !(percent > -100.0 && percent <= 10000.0)) {
        return false;
    }
    s->speed[i] = 1.0 + percent / 100.0;
    for (size_t t = 0; t < s->params.task_count; t++) {
        if (s->params.tasks[t].to_position) {
            return true;
        }
    }
    return false;
}

static bool set_place(struct team_settings *s, size_t i, const char *value)
{
    for (size_t k = 0; k < s->params.position_count; k++) {
        const uint16_t name = s->params.positions[k].name;
        const struct team_position *at = team_position(&s->params, (uint16_t)i, name);
        if (at && strcmp(team_name(&s->params, name), value) == 0) {
            s->at[i] = (struct team_pose){at->x_m, at->y_m,
                                          isnan(at->heading_rad) ? 0.0 : at->heading_rad};
            return true;
        }
    }
    return false;
}

static const struct {
    const char *what;
    bool of_robot; /* otherwise a setting of a resource */
    set_value *set;
    const char *expected;
} rows[] = {
    {"speed", true, set_speed,
     "of a team with moves ('to: position') a percentage with its sign, '+10%' or '-5%',"},
    {"at", true, set_place, "a position of the team"},
    {"cycles", true, set_cycles, "a whole number within 1 .. 1000000"},
    {"priority", true, set_priority, "a whole number within 0 .. 1000"},
    {"capacity", false, set_capacity, "a whole number within 1 .. 64"},
};

static bool split_setting(const char *text, struct setting *out)
{
    const char *const equals = strchr(text, '=');
    const char *dot = NULL;
    for (const char *c = text; equals && c < equals; c++) {
        dot = *c == '.' ? c : dot;
    }
    out->text = text;
    return dot && (size_t)(dot - text) < sizeof out->name &&
           (size_t)(equals - dot) < sizeof out->what && dot > text &&
           snprintf(out->name, sizeof out->name, "%.*s", (int)(dot - text), text) > 0 &&
           snprintf(out->what, sizeof out->what, "%.*s", (int)(equals - dot - 1), dot + 1) >
               0 &&
           (out->value = equals + 1);
}

static void apply_setting(struct team_settings *s, const char *text, struct err_list *errors)
{
    struct setting set;
    if (!split_setting(text, &set)) {
        (void)err_list_add(errors, STATUS_E_PARSE, FAULT_BAD_FORMAT, text, 0, 0,
                           "'NAME.WHAT=VALUE' was expected, as in 'R1.speed=+10%%'");
        return;
    }
    const uint16_t robot = team_find_robot(&s->params, set.name);
    const uint16_t resource = team_find_resource(&s->params, set.name);
    bool known = false;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const uint16_t at = rows[i].of_robot ? robot : resource;
        if (at == TEAM_NONE || strcmp(rows[i].what, set.what) != 0) {
            continue;
        }
        known = true;
        if (!rows[i].set(s, at, set.value)) {
            (void)err_list_add(errors, STATUS_E_PARSE, FAULT_BAD_FORMAT, text, 0, 0,
                               "%s was expected", rows[i].expected);
        }
    }
    if (robot == TEAM_NONE && resource == TEAM_NONE) {
        (void)err_list_add(errors, STATUS_E_PARSE, FAULT_UNKNOWN_NAME, text, 0, 0,
                           "no robot and no resource of team %s is called '%s'", s->params.name,
                           set.name);
    } else if (!known) {
        (void)err_list_add(errors, STATUS_E_PARSE, FAULT_UNKNOWN_NAME, text, 0, 0,
                           "of %s can be set: %s", set.name,
                           robot != TEAM_NONE ? "speed, at, cycles, priority" : "capacity");
    }
}

enum status team_settings_make(const struct team_params *p, const char *const *texts,
                               size_t count, struct team_settings *out, struct err_list *errors)
{
    struct team_settings s = {.params = *p};
    const size_t before = errors->count + errors->more;
    s.robots = calloc(p->robot_count + 1, sizeof *s.robots);
    s.resources = calloc(p->resource_count + 1, sizeof *s.resources);
    s.speed = calloc(p->robot_count + 1, sizeof *s.speed);
    s.at = calloc(p->robot_count + 1, sizeof *s.at);
    if (!s.robots || !s.resources || !s.speed || !s.at) {
        team_settings_free(&s);
        return err_list_add(errors, STATUS_E_NOMEM, FAULT_NO_MEMORY, "team", 0, 0,
                            "out of memory");
    }
    memcpy(s.robots, p->robots, p->robot_count * sizeof *s.robots);
    if (p->resource_count > 0) {
        memcpy(s.resources, p->resources, p->resource_count * sizeof *s.resources);
    }
    for (size_t i = 0; i < p->robot_count; i++) {
        s.speed[i] = 1.0;
        s.at[i] = (struct team_pose){(double)NAN, (double)NAN, (double)NAN};
    }
    s.params.robots = s.robots;
    s.params.resources = s.resources;
    for (size_t i = 0; i < count; i++) {
        apply_setting(&s, texts[i], errors);
    }
    if (errors->count + errors->more > before) {
        team_settings_free(&s);
        return STATUS_E_PARSE;
    }
    *out = s;
    return STATUS_OK;
}

struct team_prediction *team_settings_predict(const struct team_settings *s)
{
    void *memory = malloc(team_prediction_bytes(&s->params));
    return memory ? team_prediction_init(memory, &s->params) : NULL;
}

void team_settings_apply(const struct team_settings *s, struct team_prediction *tp)
{
    for (uint16_t i = 0; i < s->params.robot_count; i++) {
        team_predict_speed(tp, i, s->speed[i]);
        if (!isnan(s->at[i].x_m)) {
            team_predict_pose(tp, i, &s->at[i]);
        }
    }
}

void team_settings_free(struct team_settings *s)
{
    free(s->robots);
    free(s->resources);
    free(s->speed);
    free(s->at);
    *s = (struct team_settings){0};
}
