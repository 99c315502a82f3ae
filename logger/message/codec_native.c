#include "logger/message/codec_native.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "base/text/edit_distance.h"
#include "base/text/utf8.h"
#include "logger/message/payload.h"

/* Parses a count. Another type of value is somebody's own member of that name, and ignored. */
static bool scan_count(struct json_scan *s, int64_t *count)
{
    static const double most = 9007199254740992.0; /* beyond it doubles skip integers */
    double value = 0.0;
    *count = -1;
    if (json_scan_peek(s) != JSON_KIND_NUMBER) {
        return json_scan_skip(s, NULL, NULL);
    }
    if (json_scan_number(s, &value) && value >= 0.0 && value < most) {
        *count = (int64_t)value;
    }
    return !s->error;
}

/* ---- command ---- */

static bool scan_seq(struct json_scan *s, struct event *e)
{
    return scan_count(s, &e->command.seq);
}

/* clang-format off */
static const struct payload_member command_members[] = {
    {.name = "id", .type = PAYLOAD_ID, PAYLOAD_IN(command.id),
        .expected = "an \"id\" of at most 47 bytes was expected"},
    {.name = "t", .type = PAYLOAD_STAMP, PAYLOAD_IN(command.source_us)},
    {.name = "op", .required = true, .type = PAYLOAD_WORD, PAYLOAD_IN(command.op),
        .expected = "an \"op\" of at most 15 bytes was expected"},
    {.name = "rotation_rad", .type = PAYLOAD_REAL, PAYLOAD_IN(command.rotation_rad)},
    {.name = "displacement_m", .type = PAYLOAD_REAL, PAYLOAD_IN(command.displacement_m)},
    {.name = "seq", .type = PAYLOAD_OTHER, PAYLOAD_IN(command.seq), .absent = -1.0, .scan = scan_seq},
};
/* clang-format on */

/* In the order of enum event_arm_member. */
/* clang-format off */
static const struct payload_member arm_members[] = {
    {.name = "q_rad", .type = PAYLOAD_AXES, PAYLOAD_WITH_FLAG(command.arm.q_rad, command.arm.q_count)},
    {.name = "pose", .type = PAYLOAD_AXES, PAYLOAD_WITH_FLAG(command.arm.pose, command.arm.pose_count)},
    {.name = "via", .type = PAYLOAD_AXES, PAYLOAD_WITH_FLAG(command.arm.via, command.arm.via_count)},
    {.name = "qd_radps", .type = PAYLOAD_AXES, PAYLOAD_WITH_FLAG(command.arm.qd_radps, command.arm.qd_count)},
    {.name = "twist", .type = PAYLOAD_AXES, PAYLOAD_WITH_FLAG(command.arm.twist, command.arm.twist_count)},
    {.name = "v_radps", .type = PAYLOAD_REAL, PAYLOAD_IN(command.arm.v_radps)},
    {.name = "a_radps2", .type = PAYLOAD_REAL, PAYLOAD_IN(command.arm.a_radps2)},
    {.name = "v_mps", .type = PAYLOAD_REAL, PAYLOAD_IN(command.arm.v_mps)},
    {.name = "a_mps2", .type = PAYLOAD_REAL, PAYLOAD_IN(command.arm.a_mps2)},
    {.name = "time_s", .type = PAYLOAD_REAL, PAYLOAD_IN(command.arm.time_s)},
    {.name = "turns", .type = PAYLOAD_REAL, PAYLOAD_IN(command.arm.turns)},
    {.name = "cartesian", .type = PAYLOAD_FLAG, PAYLOAD_IN(command.arm.cartesian)},
    {.name = "dynamics", .type = PAYLOAD_NAME, PAYLOAD_IN(command.arm.dynamics), .names = &arm_dynamics_names,
     .expected = "\"dynamics\" of servo or ideal was expected"},
    {.name = "external", .type = PAYLOAD_FLAG, PAYLOAD_IN(command.arm.external)},
    {.name = "pin", .type = PAYLOAD_REAL, PAYLOAD_IN(command.arm.pin)},
    {.name = "on", .type = PAYLOAD_FLAG, PAYLOAD_IN(command.arm.on)},
};
/* clang-format on */
_Static_assert(COUNT(arm_members) == EVENT_ARM_MEMBER_COUNT, "a row for each member");

static bool set_present(struct json_scan *s, struct event *e, const struct payload_seen *seen)
{
    (void)s;
    e->command.arm.present = seen->members;
    return true;
}

const struct payload_kind native_arm_kind = {
    "command", EVENT_COMMAND, arm_members, COUNT(arm_members), 0, NULL, set_present};

/* Operations that need at least one of their sizes. A misspelt size would otherwise give a zero
 * or partial move. */
static const struct sized_op {
    const char *op;
    bool of_arm;         /* the members of arms are parsed */
    const char *nothing; /* error if no size is present but an unknown member is; NULL: the
                            robot may know sizes of its own */
    struct {
        const char *name, *meant; /* hint for a similar member */
    } sizes[2];
} sized_ops[] = {
    {"go",
     false,
     "a \"go\" by \"rotation_rad\" or \"displacement_m\" was expected",
     {{"rotation_rad", "no member of a \"go\"; did you mean rotation_rad?"},
      {"displacement_m", "no member of a \"go\"; did you mean displacement_m?"}}},
    {"movej",
     true,
     NULL,
     {{"q_rad", "no member of a \"movej\"; did you mean q_rad?"},
      {"pose", "no member of a \"movej\"; did you mean pose?"}}},
    {"movel",
     true,
     NULL,
     {{"pose", "no member of a \"movel\"; did you mean pose?"},
      {"q_rad", "no member of a \"movel\"; did you mean q_rad?"}}},
    {"movec", true, NULL, {{"pose", "no member of a \"movec\"; did you mean pose?"}}},
    {"speedj", true, NULL, {{"qd_radps", "no member of a \"speedj\"; did you mean qd_radps?"}}},
    {"speedl", true, NULL, {{"twist", "no member of a \"speedl\"; did you mean twist?"}}},
    {"stopj", true, NULL, {{NULL, NULL}}},
    {"halt", true, NULL, {{NULL, NULL}}},
    {"mode", true, NULL, {{NULL, NULL}}},
    {"digital_out", true, NULL, {{NULL, NULL}}},
};

static bool is_like(const struct json_text *key, const char *name)
{
    char text[EDIT_TEXT_MAX + 1];
    return json_text_copy(key, text, sizeof text, false) < sizeof text &&
           edit_likeness(text, name) != SIZE_MAX;
}

/* An arm's members are given if they were parsed. */
static bool is_given(const char *name, const struct event *e, const struct payload_seen *seen)
{
    const size_t arm = names_value(&event_arm_member_names, name);
    size_t k = 0;
    if (arm < EVENT_ARM_MEMBER_COUNT) {
        return e->command.arm.present & 1U << arm;
    }
    while (strcmp(command_members[k].name, name) != 0) {
        k++;
    }
    return seen->members & 1U << k;
}

static bool fail_at(struct json_scan *s, const struct json_text *key, const char *expected)
{
    s->at = key->at;
    return json_scan_fail(s, FAULT_UNEXPECTED_VALUE, expected);
}

static bool check_sizes(struct json_scan *s, const struct sized_op *row, const struct event *e,
                        const struct payload_seen *seen)
{
    bool any = false;
    if (seen->stray_count == 0) {
        return true;
    }
    for (size_t k = 0; k < COUNT(row->sizes) && row->sizes[k].name; k++) {
        any = any || is_given(row->sizes[k].name, e, seen);
    }
    if (any && row->of_arm) { /* the target can be given in two ways */
        return true;
    }
    for (size_t k = 0; k < COUNT(row->sizes) && row->sizes[k].name; k++) {
        const bool given = is_given(row->sizes[k].name, e, seen);
        for (size_t i = 0; !given && i < seen->stray_count && i < PAYLOAD_STRAYS_MAX; i++) {
            if (is_like(&seen->stray[i], row->sizes[k].name)) {
                return fail_at(s, &seen->stray[i], row->sizes[k].meant);
            }
        }
    }
    return any || !row->nothing || fail_at(s, &seen->stray[0], row->nothing);
}

/* A halt is never refused because of its other members. */
static bool scan_arm(struct json_scan *s, struct event *e)
{
    struct json_scan again = *s;
    if (payload_scan_more(&again, e, &native_arm_kind)) {
        return true;
    }
    if (strcmp(e->command.op, "halt") == 0) {
        e->command.arm = (struct event_arm){.present = 0};
        return true;
    }
    *s = again;
    return false;
}

static bool check_command(struct json_scan *s, struct event *e, const struct payload_seen *seen)
{
    for (size_t i = 0; i < COUNT(sized_ops); i++) {
        if (strcmp(e->command.op, sized_ops[i].op) == 0) {
            return (!sized_ops[i].of_arm || scan_arm(s, e)) &&
                   check_sizes(s, &sized_ops[i], e, seen);
        }
    }
    return e->command.op[0] != '\0' ||
           json_scan_fail(s, FAULT_MISSING_VALUE, "\"op\" must not be empty");
}

static const struct payload_kind command_kind = {"command", EVENT_COMMAND,
                                                 PAYLOAD_PART(command, command_members),
                                                 "\"op\" is missing", check_command};

/* ---- reply ---- */

/* Place of a value in a reply: a name for people, and a hash of the complete path that neither
 * cut names nor dots in names can confuse. */
struct value_place {
    char name[EVENT_VALUE_NAME_MAX];
    uint64_t hash;
};

/* These bytes never occur in UTF-8 text. */
static const unsigned char MEMBER_MARK = 0xff, ITEM_MARK = 0xfe;

/* Extends a name. If it gets too long, its beginning is cut, because units are at the end. */
static void extend_name(char name[EVENT_VALUE_NAME_MAX], const char *bytes, size_t n)
{
    size_t used = strlen(name);
    size_t gone = 0;
    while (used - gone + n >= EVENT_VALUE_NAME_MAX) {
        gone++;
    }
    while (gone > 0 && ((unsigned char)name[gone] & 0xc0) == 0x80) {
        gone++;
    }
    memmove(name, name + gone, used - gone);
    used -= gone;
    memcpy(name + used, bytes, n);
    name[used + n] = '\0';
}

static struct value_place place_member(const struct value_place *outer, struct json_text key)
{
    struct value_place inner = *outer;
    char one[4];
    inner.hash = hash_bytes(inner.hash, &MEMBER_MARK, 1);
    if (inner.name[0]) {
        extend_name(inner.name, ".", 1);
    }
    if (!key.escaped && key.bytes < EVENT_VALUE_NAME_MAX) { /* the usual case */
        inner.hash = hash_bytes(inner.hash, key.at, key.bytes);
        extend_name(inner.name, key.at, key.bytes);
        return inner;
    }
    for (size_t n = json_text_next(&key, one); n > 0; n = json_text_next(&key, one)) {
        inner.hash = hash_bytes(inner.hash, one, n);
        extend_name(inner.name, one, n);
    }
    return inner;
}

static struct value_place place_item(const struct value_place *outer, unsigned index)
{
    struct value_place inner = *outer;
    char text[16];
    const int n = snprintf(text, sizeof text, "[%u]", index);
    inner.hash = hash_bytes(hash_bytes(inner.hash, &ITEM_MARK, 1), &index, sizeof index);
    extend_name(inner.name, text, (size_t)n);
    return inner;
}

/* Returns a slot for the value at this place. Of two members with one name the last counts, so
 * a repeated place gets its old slot. NULL: no slot left. */
static struct event_value *find_room(struct event_reply *r, const struct value_place *place,
                                     enum value_kind kind)
{
    size_t k = 0;
    while (k < r->value_count && r->values[k].place != place->hash) {
        k++;
    }
    if (k == EVENT_VALUES_MAX) {
        r->values_omitted++;
        return NULL;
    }
    r->value_count = k < r->value_count ? r->value_count : k + 1;
    r->values[k] = (struct event_value){.place = place->hash, .kind = kind};
    memcpy(r->values[k].name, place->name, sizeof place->name);
    return &r->values[k];
}

static bool scan_number_value(struct json_scan *s, struct event_value *v)
{
    double number = 0.0;
    const char *at = s->at;
    if (!json_scan_number(s, &number)) {
        return false;
    }
    const char *expected = v ? event_number_fault(v->name, number) : NULL;
    if (v) {
        v->number = number;
    }
    s->at = expected ? at : s->at; /* the fault's place */
    return !expected || json_scan_fail(s, FAULT_OUT_OF_RANGE, expected);
}

static bool scan_text_value(struct json_scan *s, struct event_value *v)
{
    struct json_text text;
    char one[4];
    if (!json_scan_text(s, &text)) {
        return false;
    }
    if (v) {
        v->text = HASH_START;
        for (size_t n = json_text_next(&text, one); n > 0; n = json_text_next(&text, one)) {
            v->text = hash_bytes(v->text, one, n);
        }
    }
    return true;
}

static bool scan_value(struct json_scan *s, struct event_reply *r,
                       const struct value_place *place);

// NOLINTNEXTLINE(misc-no-recursion)
static bool scan_items(struct json_scan *s, struct event_reply *r, struct event_value *v,
                       const struct value_place *place)
{
    unsigned count = 0;
    (void)json_scan_enter(s, JSON_KIND_ARRAY);
    while (json_scan_next_item(s)) {
        const struct value_place inner = place_item(place, count++);
        if (!scan_value(s, r, &inner)) {
            return false;
        }
    }
    if (v) {
        v->number = (double)count;
    }
    return !s->error;
}

// NOLINTNEXTLINE(misc-no-recursion)
static bool scan_members(struct json_scan *s, struct event_reply *r,
                         const struct value_place *place)
{
    struct json_text key;
    (void)json_scan_enter(s, JSON_KIND_OBJECT);
    while (json_scan_next_member(s, &key)) {
        const struct value_place inner = place_member(place, key);
        if (!scan_value(s, r, &inner)) {
            return false;
        }
    }
    return !s->error;
}

/* Flattens one value of a reply into values named by their path: "pose.x", "ranges[2]". The
 * scanner bounds the depth. */
// NOLINTNEXTLINE(misc-no-recursion)
static bool scan_value(struct json_scan *s, struct event_reply *r,
                       const struct value_place *place)
{
    switch (json_scan_peek(s)) {
    case JSON_KIND_NUMBER:
        return scan_number_value(s, find_room(r, place, VALUE_NUMBER));
    case JSON_KIND_TEXT:
        return scan_text_value(s, find_room(r, place, VALUE_TEXT));
    case JSON_KIND_ARRAY:
        return scan_items(s, r, find_room(r, place, VALUE_LIST), place);
    case JSON_KIND_OBJECT:
        (void)find_room(r, place, VALUE_OBJECT);
        return scan_members(s, r, place);
    case JSON_KIND_NULL:
        (void)find_room(r, place, VALUE_NULL);
        return json_scan_null(s);
    case JSON_KIND_TRUE:
    case JSON_KIND_FALSE: {
        struct event_value *v = find_room(r, place, VALUE_TRUTH);
        bool truth = false;
        const bool good = json_scan_bool(s, &truth);
        if (v) {
            v->number = truth;
        }
        return good;
    }
    case JSON_KIND_NONE:
        break;
    }
    return json_scan_skip(s, NULL, NULL);
}

/* The members of `values` are compared. If it is an object, it is not itself a value. */
static bool scan_values(struct json_scan *s, struct event *e)
{
    static const struct value_place outermost = {.hash = HASH_START};
    return json_scan_peek(s) == JSON_KIND_OBJECT ? scan_members(s, &e->reply, &outermost)
                                                 : scan_value(s, &e->reply, &outermost);
}

/* At most a day. */
static bool scan_held(struct json_scan *s, struct event *e)
{
    if (!json_scan_number(s, &e->reply.held_s)) {
        return false;
    }
    return (e->reply.held_s >= 0.0 && e->reply.held_s <= 86400.0) ||
           json_scan_fail(s, FAULT_OUT_OF_RANGE, "0 to 86400 s was expected");
}

static bool scan_calibrate(struct json_scan *s, struct event *e)
{
    bool calibrate = true;
    const bool fine = json_scan_bool(s, &calibrate);
    e->reply.uncalibrated = !calibrate;
    return fine;
}

static bool scan_commands(struct json_scan *s, struct event *e)
{
    return scan_count(s, &e->reply.commands);
}

/* clang-format off */
static const struct payload_member reply_members[] = {
    {.name = "id", .type = PAYLOAD_ID, PAYLOAD_IN(reply.id), .expected = "an \"id\" of at most 47 bytes was expected"},
    {.name = "t_start", .type = PAYLOAD_STAMP, PAYLOAD_IN(reply.source_start_us)},
    {.name = "t", .type = PAYLOAD_STAMP, PAYLOAD_IN(reply.source_us)},
    {.name = "sim_t", .type = PAYLOAD_SIM, PAYLOAD_WITH_FLAG(reply.sim_us, reply.has_sim)},
    {.name = "status", .required = true, .type = PAYLOAD_NAME, PAYLOAD_IN(reply.status), .names = &reply_status_names,
     .expected = "a \"status\" out of done data blocked halted ignored error was expected"},
    {.name = "held_s", .type = PAYLOAD_OTHER, PAYLOAD_IN(reply.held_s), .scan = scan_held},
    {.name = "calibrate", .type = PAYLOAD_OTHER, PAYLOAD_IN(reply.uncalibrated), .scan = scan_calibrate},
    {.name = "commands", .type = PAYLOAD_OTHER, PAYLOAD_IN(reply.commands), .absent = -1.0, .scan = scan_commands},
    {.name = "values", .type = PAYLOAD_OTHER, .scan = scan_values},
};
/* clang-format on */

/* Lists the members that the protocol does not have, as many as there is room for. */
static bool list_outside(struct json_scan *s, struct event *e, const struct payload_seen *seen)
{
    char *const list = e->reply.outside;
    char name[sizeof e->reply.outside];
    size_t used = 0;
    (void)s;
    for (size_t k = 0; k < seen->stray_count && k < PAYLOAD_STRAYS_MAX; k++) {
        const size_t n = json_text_copy(&seen->stray[k], name, sizeof name, false);
        const char *const comma = used > 0 ? ", " : "";
        if (json_text_is(&seen->stray[k], "detail") ||
            used + strlen(comma) + n >= sizeof e->reply.outside) {
            continue;
        }
        used += (size_t)snprintf(list + used, sizeof e->reply.outside - used, "%s%s", comma,
                                 utf8_tame(name));
    }
    return true;
}

/* The values need no clearing, because their count is zero. */
static const struct payload_kind reply_kind = {.what = "reply",
                                               .kind = EVENT_REPLY,
                                               .members = reply_members,
                                               .count = COUNT(reply_members),
                                               .bytes = offsetof(struct event_reply, values),
                                               .missing = "\"status\" is missing",
                                               .check = list_outside};

/* ---- telemetry, connection, echo ---- */

/* clang-format off */
static const struct payload_member telemetry_members[] = {
    {.name = "t", .type = PAYLOAD_STAMP, PAYLOAD_IN(telemetry.source_us)},
    {.name = "sim_t", .type = PAYLOAD_SIM, PAYLOAD_WITH_FLAG(telemetry.sim_us, telemetry.has_sim)},
    {.name = "seq", .type = PAYLOAD_WHOLE, PAYLOAD_IN(telemetry.seq), .max = 9e15, .absent = -1.0,
     .expected = "a \"seq\" of 0 or more was expected"},
    {.name = "boot", .type = PAYLOAD_WORD, PAYLOAD_IN(telemetry.boot),
     .expected = "a \"boot\" of at most 31 bytes was expected"},
    {.name = "nu", .type = PAYLOAD_AXES, PAYLOAD_WITH_FLAG(telemetry.nu, telemetry.nu_count)},
    {.name = "tau", .type = PAYLOAD_AXES, PAYLOAD_WITH_FLAG(telemetry.tau, telemetry.tau_count)},
    {.name = "tau_dot", .type = PAYLOAD_AXES, PAYLOAD_WITH_FLAG(telemetry.tau_dot, telemetry.tau_dot_count)},
    {.name = "pose", .type = PAYLOAD_AXES, PAYLOAD_WITH_FLAG(telemetry.pose, telemetry.pose_count)},
    {.name = "paused", .type = PAYLOAD_FLAG, PAYLOAD_IN(telemetry.paused)},
};

static const struct payload_member connection_members[] = {
    {.name = "state", .required = true, .type = PAYLOAD_NAME, PAYLOAD_IN(connection.online),
        .names = &connection_state_names,
     .expected = "a \"state\" of online or offline was expected"},
    {.name = "boot", .type = PAYLOAD_WORD, PAYLOAD_IN(connection.boot),
     .expected = "a \"boot\" of at most 31 bytes was expected"},
    {.name = "t", .type = PAYLOAD_STAMP, PAYLOAD_IN(connection.source_us)},
    {.name = "reason", .type = PAYLOAD_WORD, PAYLOAD_IN(connection.reason),
     .expected = "a \"reason\" of at most 47 bytes was expected"},
    {.name = "version", .type = PAYLOAD_WORD, PAYLOAD_IN(connection.version),
     .expected = "a \"version\" of at most 64 bytes was expected"},
};

static const struct payload_member echo_members[] = {
    {.name = "probe", .required = true, .type = PAYLOAD_WHOLE, PAYLOAD_IN(echo.probe), .max = 9e15,
     .expected = "a \"probe\" of 0 or more was expected"},
    {.name = "sent", .type = PAYLOAD_STAMP, PAYLOAD_IN(echo.sent_us)},
    {.name = "t_received", .required = true, .type = PAYLOAD_STAMP, PAYLOAD_IN(echo.source_received_us)},
    {.name = "t", .required = true, .type = PAYLOAD_STAMP, PAYLOAD_IN(echo.source_us)},
};
/* clang-format on */

static bool check_echo(struct json_scan *s, struct event *e, const struct payload_seen *seen)
{
    (void)seen;
    return (e->echo.source_received_us != LAB_TIME_NONE &&
            e->echo.source_us != LAB_TIME_NONE) ||
           json_scan_fail(s, FAULT_TIME_EXPECTED, "\"t_received\" and \"t\" must be times");
}

static const struct payload_kind telemetry_kind = {
    "telemetry", EVENT_TELEMETRY, PAYLOAD_PART(telemetry, telemetry_members), NULL, NULL};
static const struct payload_kind connection_kind = {
    "connection", EVENT_CONNECTION, PAYLOAD_PART(connection, connection_members),
    "\"state\" is missing", NULL};
static const struct payload_kind echo_kind = {
    "echo", EVENT_ECHO, PAYLOAD_PART(echo, echo_members),
    "\"probe\", \"t_received\" and \"t\" were expected", check_echo};

/* ---- ack ---- */

/* "applied" is a list of names, which are counted and hashed. */
static bool scan_applied(struct json_scan *s, struct event *e)
{
    (void)json_scan_enter(s, JSON_KIND_ARRAY);
    while (json_scan_next_item(s)) {
        char name[64] = "";
        struct json_text text;
        if (json_scan_peek(s) != JSON_KIND_TEXT) {
            if (!json_scan_skip(s, NULL, NULL)) {
                return false;
            }
        } else if (!json_scan_text(s, &text)) {
            return false;
        } else {
            (void)json_text_copy(&text, name, sizeof name, false);
        }
        if (e->ack.applied < EVENT_APPLIED_MAX) {
            e->ack.applied_hash[e->ack.applied] = hash_text(name);
        }
        e->ack.applied++;
    }
    return !s->error;
}

/* Parses one refused parameter: {"name", "reason"}. Only the first one's text is stored. */
static bool scan_refusal(struct json_scan *s, struct event_ack *ack)
{
    char name[32] = "?";
    char reason[64] = "?";
    struct json_text key;
    (void)json_scan_enter(s, JSON_KIND_OBJECT);
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

static bool scan_refused(struct json_scan *s, struct event *e)
{
    (void)json_scan_enter(s, JSON_KIND_ARRAY);
    while (json_scan_next_item(s)) {
        if (!scan_refusal(s, &e->ack)) {
            return false;
        }
    }
    return !s->error;
}

/* clang-format off */
static const struct payload_member ack_members[] = {
    {.name = "version", .required = true, .type = PAYLOAD_WHOLE, PAYLOAD_IN(ack.version), .max = UINT32_MAX,
     .expected = "a \"version\" of 0 or more was expected"},
    {.name = "form", .type = PAYLOAD_NAME, PAYLOAD_IN(ack.form), .names = &parameter_form_names,
     .absent = PARAMETERS_FORM_COUNT, .expected = "a \"form\" of absolute or relative was expected"},
    {.name = "applied", .type = PAYLOAD_OTHER, .scan = scan_applied},
    {.name = "refused", .type = PAYLOAD_OTHER, .scan = scan_refused},
};
/* clang-format on */

static const struct payload_kind ack_kind = {"ack", EVENT_ACK, PAYLOAD_PART(ack, ack_members),
                                             "\"version\" is missing", NULL};

/* ---- pose ---- */

/* clang-format off */
static const struct payload_member pose_ack_members[] = {
    {.name = "correction", .required = true, .type = PAYLOAD_WHOLE, PAYLOAD_IN(ack.version), .max = 9e15,
     .expected = "a \"correction\" of 0 or more was expected"},
    {.name = "applied", .type = PAYLOAD_OTHER, .scan = scan_applied},
    {.name = "refused", .type = PAYLOAD_OTHER, .scan = scan_refused},
};
/* clang-format on */

static const struct payload_kind pose_ack_kind = {"pose_ack", EVENT_POSE_ACK,
                                                  PAYLOAD_PART(ack, pose_ack_members),
                                                  "\"correction\" is missing", NULL};

/* ---- topics ---- */

#define TOPIC(rest, side, kind)                                                                \
    {                                                                                          \
        (rest), sizeof(rest) - 1, (side), (kind)                                               \
    }
static const struct topic_row {
    const char *rest; /* [bytes] after the prefix and the pair's id */
    size_t bytes;
    enum side side;
    const struct payload_kind *kind;
} topic_rows[] = {
    TOPIC("command", SIDE_COUNT, &command_kind),
    TOPIC("real/reply", SIDE_REAL, &reply_kind),
    TOPIC("virtual/reply", SIDE_VIRTUAL, &reply_kind),
    TOPIC("real/telemetry", SIDE_REAL, &telemetry_kind),
    TOPIC("virtual/telemetry", SIDE_VIRTUAL, &telemetry_kind),
    TOPIC("real/connection", SIDE_REAL, &connection_kind),
    TOPIC("virtual/connection", SIDE_VIRTUAL, &connection_kind),
    TOPIC("virtual/parameters/ack", SIDE_VIRTUAL, &ack_kind),
    TOPIC("virtual/pose/ack", SIDE_VIRTUAL, &pose_ack_kind),
    TOPIC("real/echo", SIDE_REAL, &echo_kind),
    TOPIC("virtual/echo", SIDE_VIRTUAL, &echo_kind),
};

/* Finds the row of "<prefix>/<pair>/<rest>" and the pair's id; NULL if it is another topic. */
static const struct topic_row *find_row(const char *prefix, const char *topic,
                                        char pair[EVENT_PAIR_MAX])
{
    const size_t n = strlen(prefix);
    if (strncmp(topic, prefix, n) != 0 || topic[n] != '/') {
        return NULL;
    }
    const char *id = topic + n + 1;
    const char *slash = strchr(id, '/');
    if (!slash || slash == id || slash - id >= EVENT_PAIR_MAX) {
        return NULL;
    }
    memcpy(pair, id, (size_t)(slash - id));
    pair[slash - id] = '\0';
    const char *const rest = slash + 1;
    const size_t bytes = strlen(rest);
    for (size_t i = 0; i < COUNT(topic_rows); i++) {
        if (bytes == topic_rows[i].bytes && memcmp(rest, topic_rows[i].rest, bytes) == 0) {
            return &topic_rows[i];
        }
    }
    return NULL;
}

static size_t decode_native(const char *prefix, const struct message *message, event_emit *emit,
                            void *context)
{
    struct event e;
    const struct topic_row *row = find_row(prefix, message->topic, e.pair);
    /* An empty retained message only deletes the previous one: nothing happened. */
    if (!row || (message->payload_bytes == 0 && row->kind == &connection_kind)) {
        return 0;
    }
    return payload_decode(row->kind, row->side, message, &e, emit, context);
}

static bool is_native_sample(const char *prefix, const char *topic)
{
    static const char end[] = "/telemetry";
    const size_t bytes = strlen(topic);
    (void)prefix;
    return bytes >= sizeof end && strcmp(topic + bytes - (sizeof end - 1), end) == 0;
}

/* Payloads are native already. */
static bool encode_native(const struct codec_out *out, struct codec_message *message)
{
    static const struct {
        const char *rest;
        bool of_side;
    } rows[CODEC_KIND_COUNT] = {
        [CODEC_COMMAND] = {"command", true}, [CODEC_REPLY] = {"reply", false},
        [CODEC_NOTICE] = {"notice", false},  [CODEC_PARAMETERS] = {"parameters", true},
        [CODEC_CONTROL] = {"control", true}, [CODEC_PROBE] = {"probe", true},
        [CODEC_POSE] = {"pose", true},
    };
    if (!rows[out->kind].rest) {
        return false;
    }
    const bool of_side = rows[out->kind].of_side && out->side < SIDE_COUNT;
    const int n =
        snprintf(message->topic, sizeof message->topic, "%s/%s%s%s", out->pair,
                 of_side ? side_name(out->side) : "", of_side ? "/" : "", rows[out->kind].rest);
    message->payload = out->payload;
    message->bytes = out->bytes;
    return n > 0 && (size_t)n < sizeof message->topic;
}

const struct codec codec_native = {
    .name = "native",
    .help = "JSON on topics of Tandem's own (docs/protocol.md)",
    .topics = {{"+/command", 1},
               {"+/+/reply", 1},
               {"+/+/telemetry", 0},
               {"+/+/connection", 1},
               {"+/+/echo", 1},
               {"+/+/parameters/ack", 1},
               {"+/+/pose/ack", 1}},
    .rights = {{CODEC_ROBOT, true, "+/+/reply"},
               {CODEC_ROBOT, true, "+/+/telemetry"},
               {CODEC_ROBOT, true, "+/+/connection"},
               {CODEC_ROBOT, true, "+/+/machines"},
               {CODEC_ROBOT, true, "+/+/echo"},
               {CODEC_ROBOT, false, "+/command"},
               {CODEC_ROBOT, false, "+/+/command"},
               {CODEC_ROBOT, false, "+/+/probe"},
               {CODEC_ROBOT, false, "+/+/control"},
               {CODEC_SIMULATOR, true, "+/+/parameters/ack"},
               {CODEC_SIMULATOR, true, "+/+/pose/ack"},
               {CODEC_SIMULATOR, false, "+/+/parameters"},
               {CODEC_SIMULATOR, false, "+/+/pose"},
               {CODEC_L1, true, "+/command"},
               {CODEC_L1, true, "+/mission"},
               {CODEC_L1, true, "+/real/control"},
               {CODEC_L1, true, "+/virtual/control"},
               {CODEC_L1, false, "+/#"}},
    .decode = decode_native,
    .reads_whole = true,
    .is_sample = is_native_sample,
    .encode = encode_native,
};

/* ---- outgoing payloads ---- */

static const struct payload_kind *const part_kinds[EVENT_KIND_COUNT] = {
    [EVENT_COMMAND] = &command_kind,       [EVENT_REPLY] = &reply_kind,
    [EVENT_TELEMETRY] = &telemetry_kind,   [EVENT_ECHO] = &echo_kind,
    [EVENT_CONNECTION] = &connection_kind,
};

void native_clear(struct event *e, enum event_kind kind)
{
    payload_clear(e, part_kinds[kind]);
}

uint64_t native_value_place(const char *name)
{
    return hash_bytes(hash_bytes(HASH_START, &MEMBER_MARK, 1), name, strlen(name));
}

double native_reply_number(const struct event_reply *reply, const char *name)
{
    for (size_t i = 0; i < reply->value_count; i++) {
        if (reply->values[i].kind == VALUE_NUMBER && strcmp(reply->values[i].name, name) == 0) {
            return reply->values[i].number;
        }
    }
    return nan("");
}

void native_write_arm(struct json_writer *w, const struct event_arm *arm)
{
    for (size_t k = 0; k < EVENT_ARM_MEMBER_COUNT; k++) {
        const struct payload_member *m = &arm_members[k];
        const char *part = (const char *)arm - offsetof(struct event_command, arm);
        const char *from = part + (m->at - offsetof(struct event, command));
        if (!(arm->present & 1U << k)) {
            continue;
        }
        if (m->type == PAYLOAD_FLAG) {
            json_write_bool(w, m->name, *from > 0);
        } else {
            payload_write(w, &(struct payload_kind){.members = m, .count = 1}, part);
        }
    }
}

void native_write(struct json_writer *w, enum event_kind kind, const void *part)
{
    const struct event_reply *reply = kind == EVENT_REPLY ? part : NULL;
    json_write_object(w, NULL);
    payload_write(w, part_kinds[kind], part);
    if (kind == EVENT_COMMAND) {
        native_write_arm(w, &((const struct event_command *)part)->arm);
    }
    if (reply && reply->value_count > 0) {
        JSON_MAP(w, "values", size_t i = 0; i < reply->value_count; i++) {
            if (reply->values[i].kind == VALUE_NUMBER) {
                json_write_real(w, reply->values[i].name, reply->values[i].number);
            }
        }
    }
    json_write_close(w);
}

void native_write_probe(struct json_writer *w, int64_t probe, int64_t sent_us)
{
    JSON_WRITE_OBJECT(w, NULL, JSON_WHOLE("probe", probe), JSON_SECONDS("sent", sent_us));
}
