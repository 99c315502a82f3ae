#include "logger/message/codec_scan.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/status.h"

static bool scan_word(struct json_scan *s, char *out, size_t size, const char *what)
{
    struct json_text text;
    return json_scan_text(s, &text) &&
           (json_text_copy(&text, out, size, false) < size || json_scan_fail(s, what));
}

/* The value of a word out of a table. */
static bool scan_name(struct json_scan *s, const struct names *names, size_t *value,
                      const char *expected)
{
    char word[16];
    if (!scan_word(s, word, sizeof word, expected)) {
        return false;
    }
    *value = names_value(names, word);
    return *value < names->count || json_scan_fail(s, expected);
}

/* A robot's stamp: seconds as a number, or null for none. */
static bool scan_stamp(struct json_scan *s, int64_t *us)
{
    double seconds = 0.0;
    if (json_scan_peek(s) == JSON_KIND_NULL) {
        return json_scan_null(s);
    }
    if (!json_scan_number(s, &seconds)) {
        return false;
    }
    *us = lab_us(seconds);
    return *us != LAB_TIME_NONE ||
           json_scan_fail(s, "a time in seconds within +-1e11 was expected");
}

/* An id may be a number in foreign protocols: its text is the id. */
static bool scan_id(struct json_scan *s, char *out)
{
    const char *from = NULL;
    size_t bytes = 0;
    switch (json_scan_peek(s)) {
    case JSON_KIND_NULL:
        return json_scan_null(s);
    case JSON_KIND_NUMBER:
        if (!json_scan_skip(s, &from, &bytes)) {
            return false;
        }
        if (bytes >= EVENT_ID_MAX) {
            return json_scan_fail(s, "an \"id\" of at most 47 bytes was expected");
        }
        memcpy(out, from, bytes);
        out[bytes] = '\0';
        return true;
    case JSON_KIND_NONE:
    case JSON_KIND_OBJECT:
    case JSON_KIND_ARRAY:
    case JSON_KIND_TEXT:
    case JSON_KIND_TRUE:
    case JSON_KIND_FALSE:
        break;
    }
    return scan_word(s, out, EVENT_ID_MAX, "an \"id\" of at most 47 bytes was expected");
}

static bool scan_axes(struct json_scan *s, double axes[EVENT_AXES_MAX], size_t *count)
{
    *count = 0;
    if (!json_scan_enter(s, JSON_KIND_ARRAY)) {
        return false;
    }
    while (json_scan_next_item(s)) {
        if (*count == EVENT_AXES_MAX) {
            return json_scan_fail(s, "at most 6 numbers were expected");
        }
        if (!json_scan_number(s, &axes[*count])) {
            return false;
        }
        (*count)++;
    }
    return !s->error;
}

/* One member of a payload and how it is read. */
struct member {
    const char *name;
    bool required;
    bool (*scan)(struct json_scan *s, struct event *e);
};

/* Read one object by its table. What is not in the table is checked and passed over; a member
 * given twice is refused: which of the two is meant? */
static bool scan_members(struct json_scan *s, struct event *e, const struct member *table,
                         size_t count, const char *missing)
{
    struct json_text key;
    unsigned seen = 0;
    unsigned required = 0;
    if (!json_scan_enter(s, JSON_KIND_OBJECT)) {
        return false;
    }
    while (json_scan_next_member(s, &key)) {
        size_t k = 0;
        while (k < count && !json_text_is(&key, table[k].name)) {
            k++;
        }
        if (k < count && seen & (1U << k)) {
            return json_scan_fail(s, "each member may be given once only");
        }
        seen |= 1U << k;
        if (!(k < count ? table[k].scan(s, e) : json_scan_skip(s, NULL, NULL))) {
            return false;
        }
    }
    for (size_t k = 0; k < count; k++) {
        required |= table[k].required ? 1U << k : 0U;
    }
    return !s->error && ((seen & required) == required || json_scan_fail(s, missing));
}

static bool command_id(struct json_scan *s, struct event *e)
{
    return scan_id(s, e->command.id);
}

static bool command_op(struct json_scan *s, struct event *e)
{
    return scan_word(s, e->command.op, sizeof e->command.op,
                     "an \"op\" of at most 15 bytes was expected") &&
           (e->command.op[0] != '\0' || json_scan_fail(s, "\"op\" must not be empty"));
}

static bool command_rotation(struct json_scan *s, struct event *e)
{
    return json_scan_number(s, &e->command.rotation_rad);
}

static bool command_displacement(struct json_scan *s, struct event *e)
{
    return json_scan_number(s, &e->command.displacement_m);
}

static bool command_stamp(struct json_scan *s, struct event *e)
{
    return scan_stamp(s, &e->command.source_us);
}

bool codec_scan_command(struct json_scan *s, struct event *e)
{
    static const struct member members[] = {
        {"id", false, command_id},
        {"t", false, command_stamp},
        {"op", true, command_op},
        {"rotation_rad", false, command_rotation},
        {"displacement_m", false, command_displacement},
    };
    e->command = (struct event_command){.source_us = LAB_TIME_NONE};
    return scan_members(s, e, members, COUNT(members), "\"op\" is missing");
}

static bool reply_id(struct json_scan *s, struct event *e)
{
    return scan_id(s, e->reply.id);
}

static bool reply_status(struct json_scan *s, struct event *e)
{
    static const char expected[] =
        "a \"status\" out of done data blocked halted ignored error was expected";
    size_t value = 0;
    const bool good = scan_name(s, &reply_status_names, &value, expected);
    e->reply.status = (enum reply_status)value;
    return good;
}

static bool reply_stamp(struct json_scan *s, struct event *e)
{
    return scan_stamp(s, &e->reply.source_us);
}

static bool reply_sim(struct json_scan *s, struct event *e)
{
    e->reply.sim_us = LAB_TIME_NONE;
    if (!scan_stamp(s, &e->reply.sim_us)) {
        return false;
    }
    e->reply.has_sim = e->reply.sim_us != LAB_TIME_NONE;
    return true;
}

static bool reply_start(struct json_scan *s, struct event *e)
{
    return scan_stamp(s, &e->reply.source_start_us);
}

static bool add_value(struct json_scan *s, struct event_reply *r, const char *name,
                      enum json_kind kind)
{
    const char *from = NULL;
    size_t bytes = 0;
    if (r->value_count == EVENT_VALUES_MAX) {
        r->values_left_out++;
        return json_scan_skip(s, NULL, NULL);
    }
    struct event_value *v = &r->values[r->value_count++];
    *v = (struct event_value){.is_number = kind == JSON_KIND_NUMBER};
    (void)snprintf(v->name, sizeof v->name, "%s", name);
    if (v->is_number) {
        return json_scan_number(s, &v->number);
    }
    if (!json_scan_skip(s, &from, &bytes)) {
        return false;
    }
    v->text_hash = hash_bytes(HASH_START, from, bytes);
    return true;
}

/* Flatten one value of a reply into scalars named by their place: "pose.x", "ranges[2]". Two
 * levels are looked into; what is deeper is compared as text. */
static bool scan_value(struct json_scan *s, struct event_reply *r, const char *name, int level)
{
    char inner[2 * EVENT_NAME_MAX];
    char part[EVENT_NAME_MAX];
    struct json_text key;
    const enum json_kind kind = json_scan_peek(s);
    if (level == 0 || (kind != JSON_KIND_OBJECT && kind != JSON_KIND_ARRAY)) {
        return add_value(s, r, name, kind);
    }
    if (!json_scan_enter(s, kind)) {
        return false;
    }
    if (kind == JSON_KIND_ARRAY) {
        for (unsigned k = 0; json_scan_next_item(s); k++) {
            (void)snprintf(inner, sizeof inner, "%s[%u]", name, k);
            if (!scan_value(s, r, inner, level - 1)) {
                return false;
            }
        }
        return !s->error;
    }
    while (json_scan_next_member(s, &key)) {
        (void)json_text_copy(&key, part, sizeof part, false);
        (void)snprintf(inner, sizeof inner, "%s%s%s", name, name[0] ? "." : "", part);
        if (!scan_value(s, r, inner, level - 1)) {
            return false;
        }
    }
    return !s->error;
}

static bool reply_values(struct json_scan *s, struct event *e)
{
    return scan_value(s, &e->reply, "", 3);
}

bool codec_scan_reply(struct json_scan *s, struct event *e)
{
    static const struct member members[] = {
        {"id", false, reply_id},         {"t", false, reply_stamp},
        {"t_start", false, reply_start}, {"status", true, reply_status},
        {"values", false, reply_values}, {"sim_t", false, reply_sim},
    };
    e->reply.id[0] = '\0';
    e->reply.status = REPLY_STATUS_COUNT;
    e->reply.source_us = LAB_TIME_NONE;
    e->reply.source_start_us = LAB_TIME_NONE;
    e->reply.has_sim = false;
    e->reply.value_count = 0;
    e->reply.values_left_out = 0;
    return scan_members(s, e, members, COUNT(members), "\"status\" is missing");
}

static bool telemetry_stamp(struct json_scan *s, struct event *e)
{
    return scan_stamp(s, &e->telemetry.source_us);
}

static bool telemetry_sim(struct json_scan *s, struct event *e)
{
    e->telemetry.sim_us = LAB_TIME_NONE;
    if (!scan_stamp(s, &e->telemetry.sim_us)) {
        return false;
    }
    e->telemetry.has_sim = e->telemetry.sim_us != LAB_TIME_NONE;
    return true;
}

static bool telemetry_seq(struct json_scan *s, struct event *e)
{
    double seq = 0.0;
    if (!json_scan_number(s, &seq)) {
        return false;
    }
    if (!(seq >= 0.0 && seq <= 9e15)) {
        return json_scan_fail(s, "a \"seq\" of 0 or more was expected");
    }
    e->telemetry.seq = (int64_t)seq;
    return true;
}

static bool telemetry_boot(struct json_scan *s, struct event *e)
{
    return scan_word(s, e->telemetry.boot, sizeof e->telemetry.boot,
                     "a \"boot\" of at most 23 bytes was expected");
}

static bool telemetry_nu(struct json_scan *s, struct event *e)
{
    return scan_axes(s, e->telemetry.nu, &e->telemetry.nu_count);
}

static bool telemetry_tau(struct json_scan *s, struct event *e)
{
    return scan_axes(s, e->telemetry.tau, &e->telemetry.tau_count);
}

static bool telemetry_pose(struct json_scan *s, struct event *e)
{
    return scan_axes(s, e->telemetry.pose, &e->telemetry.pose_count);
}

bool codec_scan_telemetry(struct json_scan *s, struct event *e)
{
    static const struct member members[] = {
        {"t", false, telemetry_stamp},   {"seq", false, telemetry_seq},
        {"boot", false, telemetry_boot}, {"nu", false, telemetry_nu},
        {"tau", false, telemetry_tau},   {"pose", false, telemetry_pose},
        {"sim_t", false, telemetry_sim},
    };
    e->telemetry.source_us = LAB_TIME_NONE;
    e->telemetry.has_sim = false;
    e->telemetry.seq = -1;
    e->telemetry.boot[0] = '\0';
    e->telemetry.nu_count = 0;
    e->telemetry.tau_count = 0;
    e->telemetry.pose_count = 0;
    return scan_members(s, e, members, COUNT(members), "");
}

static bool connection_state(struct json_scan *s, struct event *e)
{
    static const char expected[] = "a \"state\" of online or offline was expected";
    char state[16];
    if (!scan_word(s, state, sizeof state, expected)) {
        return false;
    }
    e->connection.online = strcmp(state, "online") == 0;
    return e->connection.online || strcmp(state, "offline") == 0 || json_scan_fail(s, expected);
}

static bool connection_boot(struct json_scan *s, struct event *e)
{
    return scan_word(s, e->connection.boot, sizeof e->connection.boot,
                     "a \"boot\" of at most 23 bytes was expected");
}

static bool connection_stamp(struct json_scan *s, struct event *e)
{
    return scan_stamp(s, &e->connection.source_us);
}

bool codec_scan_connection(struct json_scan *s, struct event *e)
{
    static const struct member members[] = {
        {"state", true, connection_state},
        {"boot", false, connection_boot},
        {"t", false, connection_stamp},
    };
    e->connection = (struct event_connection){.source_us = LAB_TIME_NONE};
    return scan_members(s, e, members, COUNT(members), "\"state\" is missing");
}

static bool echo_probe(struct json_scan *s, struct event *e)
{
    double probe = 0.0;
    if (!json_scan_number(s, &probe)) {
        return false;
    }
    if (!(probe >= 0.0 && probe <= 9e15)) {
        return json_scan_fail(s, "a \"probe\" of 0 or more was expected");
    }
    e->echo.probe = (int64_t)probe;
    return true;
}

static bool echo_sent(struct json_scan *s, struct event *e)
{
    return scan_stamp(s, &e->echo.sent_us);
}

static bool echo_received(struct json_scan *s, struct event *e)
{
    return scan_stamp(s, &e->echo.source_received_us);
}

static bool echo_stamp(struct json_scan *s, struct event *e)
{
    return scan_stamp(s, &e->echo.source_us);
}

bool codec_scan_echo(struct json_scan *s, struct event *e)
{
    static const struct member members[] = {
        {"probe", true, echo_probe},
        {"sent", true, echo_sent},
        {"t_received", true, echo_received},
        {"t", true, echo_stamp},
    };
    e->echo = (struct event_echo){0, LAB_TIME_NONE, LAB_TIME_NONE, LAB_TIME_NONE};
    return scan_members(s, e, members, COUNT(members),
                        "\"probe\", \"sent\", \"t_received\" and \"t\" were expected") &&
           ((e->echo.sent_us != LAB_TIME_NONE && e->echo.source_received_us != LAB_TIME_NONE &&
             e->echo.source_us != LAB_TIME_NONE) ||
            json_scan_fail(s, "\"sent\", \"t_received\" and \"t\" must be numbers"));
}

/* "applied" is a list of names; they are counted. */
static bool ack_applied(struct json_scan *s, struct event *e)
{
    if (!json_scan_enter(s, JSON_KIND_ARRAY)) {
        return false;
    }
    while (json_scan_next_item(s)) {
        if (!json_scan_skip(s, NULL, NULL)) {
            return false;
        }
        e->ack.applied++;
    }
    return !s->error;
}

/* One refused parameter: {"name", "reason"}. The first one's words are kept. */
static bool scan_refusal(struct json_scan *s, struct event_ack *ack)
{
    char name[32] = "?";
    char reason[64] = "?";
    struct json_text key;
    if (!json_scan_enter(s, JSON_KIND_OBJECT)) {
        return false;
    }
    while (json_scan_next_member(s, &key)) {
        struct json_text text;
        const bool is_name = json_text_is(&key, "name");
        if (!is_name && !json_text_is(&key, "reason")) {
            if (!json_scan_skip(s, NULL, NULL)) {
                return false;
            }
        } else if (!json_scan_text(s, &text)) {
            return false;
        } else {
            (void)json_text_copy(&text, is_name ? name : reason,
                                 is_name ? sizeof name : sizeof reason, false);
        }
    }
    if (ack->refused++ == 0) {
        (void)snprintf(ack->reason, sizeof ack->reason, "%s: %s", name, reason);
    }
    return !s->error;
}

static bool ack_refused(struct json_scan *s, struct event *e)
{
    if (!json_scan_enter(s, JSON_KIND_ARRAY)) {
        return false;
    }
    while (json_scan_next_item(s)) {
        if (!scan_refusal(s, &e->ack)) {
            return false;
        }
    }
    return !s->error;
}

static bool scan_version(struct json_scan *s, double *version)
{
    return json_scan_number(s, version) &&
           ((*version >= 0.0 && *version <= 4294967295.0) ||
            json_scan_fail(s, "a \"version\" of 0 or more was expected"));
}

static bool ack_version(struct json_scan *s, struct event *e)
{
    double version = 0.0;
    if (!scan_version(s, &version)) {
        return false;
    }
    e->ack.version = (int64_t)version;
    return true;
}

bool codec_scan_ack(struct json_scan *s, struct event *e)
{
    static const struct member members[] = {
        {"version", true, ack_version},
        {"applied", false, ack_applied},
        {"refused", false, ack_refused},
    };
    e->ack = (struct event_ack){0};
    return scan_members(s, e, members, COUNT(members), "\"version\" is missing");
}

static bool request_pair(struct json_scan *s, struct event *e)
{
    return scan_word(s, e->pair, sizeof e->pair, "a \"pair\" of at most 31 bytes was expected");
}

static bool request_action(struct json_scan *s, struct event *e)
{
    static const char expected[] =
        "an \"action\" out of propose promote rollback identify following was expected";
    size_t value = 0;
    const bool good = scan_name(s, &request_action_names, &value, expected);
    e->request.action = (enum request_action)value;
    return good;
}

static bool request_version(struct json_scan *s, struct event *e)
{
    double version = 0.0;
    if (!scan_version(s, &version)) {
        return false;
    }
    e->request.version = (uint32_t)version;
    return true;
}

static bool request_by(struct json_scan *s, struct event *e)
{
    return scan_word(s, e->request.by, sizeof e->request.by,
                     "a \"by\" of at most 23 bytes was expected");
}

static bool scan_side(struct json_scan *s, enum side *side)
{
    static const char expected[] = "a \"side\" out of real virtual was expected";
    size_t value = 0;
    const bool good = scan_name(s, &side_names, &value, expected);
    *side = (enum side)value;
    return good;
}

static bool request_side(struct json_scan *s, struct event *e)
{
    return scan_side(s, &e->request.side);
}

static bool request_model(struct json_scan *s, struct event *e)
{
    return scan_word(s, e->request.model, sizeof e->request.model,
                     "a \"model\" of at most 31 bytes was expected");
}

static bool request_active(struct json_scan *s, struct event *e)
{
    bool active = false;
    if (!json_scan_bool(s, &active)) {
        return false;
    }
    e->request.following.active = active ? 1 : 0;
    return true;
}

static bool request_rejection(struct json_scan *s, struct event *e)
{
    static const char expected[] = "a \"rejection\" out of none integral observer was expected";
    size_t value = 0;
    const bool good = scan_name(s, &follower_rejection_names, &value, expected);
    e->request.following.rejection = (int8_t)value;
    return good;
}

static bool positive(struct json_scan *s, double *value, bool or_zero)
{
    if (!json_scan_number(s, value)) {
        return false;
    }
    return *value > 0.0 || (or_zero && *value >= 0.0) ||
           json_scan_fail(s, or_zero ? "a number of 0 or more was expected"
                                     : "a number above 0 was expected");
}

static bool request_bandwidth(struct json_scan *s, struct event *e)
{
    return positive(s, &e->request.following.bandwidth_radps, false);
}

static bool request_observer(struct json_scan *s, struct event *e)
{
    return positive(s, &e->request.following.observer_radps, false);
}

static bool request_pose(struct json_scan *s, struct event *e)
{
    return positive(s, &e->request.following.pose_per_s2, true);
}

bool codec_scan_request(struct json_scan *s, struct event *e)
{
    static const struct member members[] = {
        {"pair", true, request_pair},
        {"action", true, request_action},
        {"version", false, request_version},
        {"by", false, request_by},
        {"side", false, request_side},
        {"model", false, request_model},
        {"active", false, request_active},
        {"rejection", false, request_rejection},
        {"bandwidth_radps", false, request_bandwidth},
        {"observer_radps", false, request_observer},
        {"pose_per_s2", false, request_pose},
    };
    e->request = (struct event_request){.following = {.active = -1,
                                                      .rejection = -1,
                                                      .bandwidth_radps = -1.0,
                                                      .observer_radps = -1.0,
                                                      .pose_per_s2 = -1.0}};
    return scan_members(s, e, members, COUNT(members), "\"pair\" and \"action\" were expected");
}

static bool fit_side(struct json_scan *s, struct event *e)
{
    return scan_side(s, &e->side);
}

static bool fit_job(struct json_scan *s, struct event *e)
{
    double job = 0.0;
    if (!json_scan_number(s, &job)) {
        return false;
    }
    if (!(job >= 1.0 && job <= 4294967295.0)) {
        return json_scan_fail(s, "a \"job\" of 1 or more was expected");
    }
    e->fit.job = (uint32_t)job;
    return true;
}

static bool fit_outcome(struct json_scan *s, struct event *e)
{
    static const char expected[] = "an \"outcome\" out of done failed cancelled was expected";
    size_t value = 0;
    const bool good = scan_name(s, &fit_outcome_names, &value, expected);
    e->fit.outcome = (enum fit_outcome)value;
    return good;
}

static bool fit_detail(struct json_scan *s, struct event *e)
{
    return scan_word(s, e->fit.detail, sizeof e->fit.detail,
                     "a \"detail\" of at most 103 bytes was expected");
}

bool codec_scan_fit(struct json_scan *s, struct event *e)
{
    static const struct member members[] = {
        {"pair", true, request_pair},   {"side", true, fit_side},      {"job", true, fit_job},
        {"outcome", true, fit_outcome}, {"detail", false, fit_detail},
    };
    e->fit = (struct event_fit){0};
    return scan_members(s, e, members, COUNT(members),
                        "\"pair\", \"side\", \"job\" and \"outcome\" were expected");
}

static bool away_seconds(struct json_scan *s, struct event *e)
{
    return scan_stamp(s, &e->away_us);
}

bool codec_scan_away(struct json_scan *s, struct event *e)
{
    static const struct member members[] = {{"away_s", true, away_seconds}};
    e->away_us = LAB_TIME_NONE;
    return scan_members(s, e, members, COUNT(members), "\"away_s\" is missing") &&
           (e->away_us >= 0 || json_scan_fail(s, "an \"away_s\" of 0 or more was expected"));
}
