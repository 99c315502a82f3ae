/* config/labfile/lab_check.c - finds contradictions in a lab file that no single key shows,
 * each with its place. */
#include "config/labfile/lab_file.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/lab_time.h"
#include "base/text/edit_distance.h"
#include "base/text/names.h"
#include "identification/geometry/arm_geometry.h"
#include "identification/model/models.h"
#include "logger/codec/codecs.h"

static bool is_loopback(const char *address)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, address, &v4) == 1) {
        return (ntohl(v4.s_addr) >> 24) == 127;
    }
    if (inet_pton(AF_INET6, address, &v6) == 1) {
        return IN6_IS_ADDR_LOOPBACK(&v6);
    }
    return strcmp(address, "localhost") == 0;
}

static void check_prefix(const struct option_reading *reading, const char *prefix)
{
    const size_t n = strlen(prefix);
    if (strpbrk(prefix, "+#")) {
        option_fault_at(reading, "broker.prefix", FAULT_BAD_TOPIC,
                        "'+' and '#' are wildcards, leave them out");
    } else if (prefix[0] == '$') {
        option_fault_at(reading, "broker.prefix", FAULT_BAD_TOPIC,
                        "topics with '$' belong to the broker");
    } else if (prefix[0] == '/' || (n > 0 && prefix[n - 1] == '/') || strstr(prefix, "//")) {
        option_fault_at(reading, "broker.prefix", FAULT_BAD_TOPIC,
                        "no slash at its ends and no two in a row, as in "
                        "\"tandem/v1\"");
    }
}

/* A host or [address], with or without a port, that is this machine. */
static bool is_local(const char *host)
{
    char name[LAB_PATH_MAX];
    const bool bracket = host[0] == '[';
    const size_t n = strcspn(host + bracket, bracket ? "]" : ":/?#");
    (void)snprintf(name, sizeof name, "%.*s", (int)n, host + bracket);
    return is_loopback(name);
}

/* Whether a port from 1 to 65535, or none, follows a host. */
static bool is_port(const char *rest)
{
    const size_t n = strcspn(rest, "/?#");
    const long port = n > 1 && n <= 6 ? strtol(rest + 1, NULL, 10) : 0;
    return n == 0 || (rest[0] == ':' && strspn(rest + 1, "0123456789") == n - 1 && port > 0 &&
                      port <= UINT16_MAX);
}

/* Whether a name, an IPv4 address or an IPv6 address in brackets begins here, with a port or
 * without one. A name of digits only could be an IPv4 address alone. */
static bool is_host(const char *host)
{
    char name[LAB_PATH_MAX];
    struct in_addr v4;
    struct in6_addr v6;
    const bool bracket = host[0] == '[';
    const size_t n = strcspn(host + bracket, bracket ? "]/?#" : ":/?#");
    const char *rest = host + bracket + n;
    (void)snprintf(name, sizeof name, "%.*s", (int)n, host + bracket);
    if (bracket) {
        return rest[0] == ']' && inet_pton(AF_INET6, name, &v6) == 1 && is_port(rest + 1);
    }
    bool good = is_port(rest) && isalnum((unsigned char)name[0]) && !strstr(name, "..");
    for (size_t i = 0; i < n; i++) {
        good = good && (isalnum((unsigned char)name[i]) || strchr("-._", name[i]));
    }
    return good && (strspn(name, "0123456789.") < n || inet_pton(AF_INET, name, &v4) == 1);
}

/* The alarms tell strangers about the lab, so they leave this machine encrypted only. */
static void check_webhook(const struct option_reading *reading, const char *url)
{
    const bool plain = strncmp(url, "http://", 7) == 0;
    const char *host = plain ? url + 7 : strncmp(url, "https://", 8) == 0 ? url + 8 : NULL;
    bool readable = host && is_host(host);
    for (const char *c = url; *c; c++) {
        readable = readable && *c > ' ' && *c < 0x7f && *c != '\\';
    }
    if (url[0] == '\0') {
        return;
    }
    if (!readable) {
        option_fault_at(reading, "alarms.webhook.url", FAULT_BAD_ADDRESS,
                        "an address such as https://host:443/path was expected, without a "
                        "user's name");
    } else if (plain && !is_local(host)) {
        option_fault_at(reading, "alarms.webhook.url", FAULT_UNSAFE_ADDRESS,
                        "http is for loopback addresses; https was expected");
    }
}

/* A server of the database: a host with or without a port, and nothing else. */
void lab_add_server(const struct option_reading *item, void *value, void *owner)
{
    (void)owner;
    if (!item->failed && (strpbrk(value, "/?#") || !is_host(value))) {
        option_fault_at(item, "", FAULT_BAD_ADDRESS, "a host and its port, as db1:5432");
    }
}

static bool is_plain_name(const char *name)
{
    size_t n = 0;
    while (isalnum((unsigned char)name[n]) || (name[n] && strchr("_-", name[n]))) {
        n++;
    }
    return n > 0 && name[n] == '\0';
}

static void check_advertised(const struct option_reading *reading, const char *url)
{
    const char *host = strncmp(url, "http://", 7) == 0    ? url + 7
                       : strncmp(url, "https://", 8) == 0 ? url + 8
                                                          : NULL;
    if (url[0] && (!host || !is_host(host) || strpbrk(host, "/?#"))) {
        option_fault_at(reading, "engine.advertise", FAULT_BAD_ADDRESS,
                        "an address such as https://a.lab:8420 was expected, without a path");
    }
}

/* The first of keys[count] that was given; TREE_NONE for none. */
static uint32_t first_given(const struct option_reading *reading, const char *const *keys,
                            size_t count, const char **key)
{
    uint32_t node = TREE_NONE;
    for (size_t i = 0; i < count && node == TREE_NONE; i++) {
        *key = keys[i];
        node = option_node(reading, keys[i]);
    }
    return node;
}

/* Telemetry is not replicated: if it waited for commits, following would stop whenever a
 * standby does. */
static void check_owner(const struct option_reading *reading, const struct lab_file *lab)
{
    const struct engine_options *engine = &lab->engine;
    if (engine->role == ENGINE_OWNER && lab->journal.record != JOURNAL_EVENTS) {
        option_fault_at(reading, "engine.role", FAULT_INCONSISTENT,
                        "owner needs journal.record: events, because telemetry is not "
                        "replicated");
    }
    if (engine->renew_us >= engine->safe_us || engine->safe_us >= engine->take_us) {
        option_fault_at(reading, "engine.take_s", FAULT_INCONSISTENT,
                        "renew_s, safe_s and take_s must grow in this order, such as 0.3, 1, "
                        "1.5");
    }
}

static void check_engine(const struct option_reading *reading, const struct lab_file *lab)
{
    static const char *const keys[] = {"engine.postgresql.database",
                                       "engine.postgresql.user",
                                       "engine.postgresql.password_file",
                                       "engine.postgresql.tls.ca_file",
                                       "engine.postgresql.require_sync",
                                       "engine.role",
                                       "engine.renew_s",
                                       "engine.safe_s",
                                       "engine.take_s",
                                       "engine.instance",
                                       "engine.advertise",
                                       "engine.postgresql.servers"};
    const struct engine_options *engine = &lab->engine;
    const char *key = NULL;
    bool local = true;
    if (engine->postgresql.server_count == 0) {
        const uint32_t given = first_given(reading, keys, COUNT(keys), &key);
        if (given != TREE_NONE && option_node(reading, keys[COUNT(keys) - 1]) == TREE_NONE) {
            option_fault(reading->r, given, FAULT_NEEDS_KEY,
                         "%s needs engine.postgresql.servers, such as [127.0.0.1:5432]", key);
        }
        return;
    }
    for (size_t i = 0; i < engine->postgresql.server_count; i++) {
        local = local && is_local(engine->postgresql.servers[i]);
    }
    if (!local && engine->postgresql.tls.ca_file[0] == '\0') {
        option_fault_at(reading, "engine.postgresql.servers", FAULT_UNSAFE_ADDRESS,
                        "a server beyond loopback needs engine.postgresql.tls.ca_file");
    }
    if (!is_plain_name(engine->instance)) {
        option_fault_at(reading, "engine.instance", FAULT_BAD_NAME,
                        "a name of letters, digits, _ or - that no other daemon of this "
                        "database has");
    }
    check_advertised(reading, engine->advertise);
    check_owner(reading, lab);
}

/* Each text needs the option next to it. */
static const char *const needs[][2] = {
    {"broker.tls.cert_file", "broker.tls.key_file"},
    {"broker.tls.key_file", "broker.tls.cert_file"},
    {"broker.password_file", "broker.username"},
    {"broker.telemetry_username", "broker.username"},
    {"broker.telemetry_password_file", "broker.telemetry_username"},
    {"http.tls_certificate", "http.tls_key"},
    {"http.tls_key", "http.tls_certificate"},
    {"alarms.webhook.url", "alarms.webhook.key_file"},
    {"alarms.webhook.key_file", "alarms.webhook.url"},
};

static bool has_text(const struct lab_file *lab, const char *path)
{
    return ((const char *)lab)[option_find(&lab_options, path)->offset] != '\0';
}

static void check_texts(const struct option_reading *reading, const struct lab_file *lab)
{
    static const char *const files[] = {"broker.tls.ca_file", "broker.tls.cert_file",
                                        "broker.tls.key_file"};
    for (size_t i = 0; i < COUNT(files) && !lab->broker.tls.enabled; i++) {
        const uint32_t node = option_node(reading, files[i]);
        if (node != TREE_NONE && tree_text(reading->r->tree, node)[0] != '\0') {
            option_fault(reading->r, node, FAULT_NOT_APPLICABLE,
                         "%s is given, but TLS is off; set broker.tls.enabled: true", files[i]);
        }
    }
    for (size_t i = 0; i < COUNT(needs); i++) {
        if (has_text(lab, needs[i][0]) && !has_text(lab, needs[i][1])) {
            option_fault(reading->r, option_node(reading, needs[i][0]), FAULT_NEEDS_KEY,
                         "%s needs %s", needs[i][0], needs[i][1]);
        }
    }
}

void lab_check_file(const struct option_reading *reading, const struct lab_file *lab)
{
    static const char *const sizes[] = {"journal.retain_mb", "journal.rotate_mb"};
    const char *key = NULL;
    check_prefix(reading, lab->broker.prefix);
    check_texts(reading, lab);
    check_webhook(reading, lab->alarms.webhook.url);
    check_engine(reading, lab);
    if (lab->http.enabled && lab->http.token_file[0] == '\0' && !is_loopback(lab->http.bind)) {
        option_fault_at(reading, "http.bind", FAULT_UNSAFE_ADDRESS,
                        "%.60s is not a loopback address; give http.token_file, too, or "
                        "bind 127.0.0.1",
                        lab->http.bind);
    }
    if (lab->journal.retain_mb > 0 && lab->journal.retain_mb < lab->journal.rotate_mb) {
        option_fault(reading->r, first_given(reading, sizes, COUNT(sizes), &key),
                     FAULT_INCONSISTENT,
                     "journal.retain_mb (%u) must be at least journal.rotate_mb (%u)",
                     (unsigned)lab->journal.retain_mb, (unsigned)lab->journal.rotate_mb);
    }
}

void lab_check_journal(const struct option_reading *reading, const struct lab_file *lab,
                       const struct pair_params *pairs, size_t pair_count)
{
    for (size_t i = 0; lab->journal.record == JOURNAL_EVENTS && i < pair_count; i++) {
        const bool follows = pair_following_wanted(pairs[i].following);
        const bool steered = pairs[i].missions_max > 0 && pairs[i].kind == PAIR_USV3;
        const char *what = follows ? "following" : steered ? "missions" : "dynamics";
        const struct live_map_params *map = &pairs[i].live_map;
        if (pair_dynamics_wanted(&pairs[i].dynamics) || follows || steered) {
            option_fault_at(reading, "journal.record", FAULT_INCONSISTENT,
                            "events leaves out the telemetry that %s's %s "
                            "rest on; record all, or leave out its %s",
                            pairs[i].id, what,
                            follows   ? "following.model"
                            : steered ? "missions_max"
                                      : "dynamics.model");
            return;
        }
        if (live_map_wanted(map) && map->poses != SWEEP_POSE_REPLIES) {
            option_fault_at(reading, "journal.record", FAULT_INCONSISTENT,
                            "events leaves out the telemetry whose poses %s's live_map rests "
                            "on; record all, or set live_map.poses: replies",
                            pairs[i].id);
            return;
        }
    }
}

static void check_arm(const struct option_reading *reading, const struct pair_params *p)
{
    char names[160] = "";
    struct arm_geometry found;
    for (size_t i = 0; arm_geometry_name(i); i++) {
        names_append(names, sizeof names, arm_geometry_name(i));
    }
    if (pair_is_arm(p) && !arm_geometry_find(p->arm, &found)) {
        option_fault_at(reading, "arm", FAULT_UNKNOWN_NAME,
                        "there is no %.15s; one of %s is wanted", p->arm, names);
    }
}

static void check_codec(const struct option_reading *reading, const char *codec)
{
    char names[160] = "";
    for (size_t i = 0; i < codec_count; i++) {
        names_append(names, sizeof names, codecs[i]->name);
    }
    if (option_node(reading, "codec") != TREE_NONE && !codec_find(codec)) {
        option_fault_at(reading, "codec", FAULT_UNKNOWN_NAME,
                        "there is no %.24s; one of %s is wanted", codec, names);
    }
}

/* Keys that several codecs read; those of one codec are in its own table. */
static const struct {
    const char *key, *codecs;
} shared_keys[] = {
    {"real.name", "vda5050, sparkplug"},
    {"virtual.name", "vda5050, sparkplug"},
    {"mapping", "mapping, sparkplug"},
};

static bool is_among(const char *names, const char *name)
{
    const size_t n = strlen(name);
    const char *found = strstr(names, name);
    return found && (found == names || found[-1] == ' ') && strchr(", ", found[n]);
}

static void refuse_key(const struct option_reading *reading, const char *key, const char *names,
                       const struct codec *codec)
{
    if (option_node(reading, key) != TREE_NONE && !is_among(names, codec->name)) {
        option_fault_at(reading, key, FAULT_NOT_APPLICABLE,
                        "it is for codec: %s, but this pair's is %s", names, codec->name);
    }
}

/* Codec keys under defaults may wait for the pair whose codec reads them. */
static void check_codec_keys(const struct option_reading *reading,
                             const struct pair_params *params)
{
    const struct codec *codec = codec_find(params->codec);
    const char *key = NULL;
    if (!codec || strcmp(reading->shown, "defaults.") == 0) {
        return;
    }
    for (size_t i = 0; i < COUNT(shared_keys); i++) {
        refuse_key(reading, shared_keys[i].key, shared_keys[i].codecs, codec);
    }
    for (size_t i = 0; i < codec_count; i++) {
        for (size_t k = 0; k < codecs[i]->option_count; k++) {
            refuse_key(reading, codecs[i]->options[k].key, codecs[i]->name, codec);
        }
    }
    const char *why = codec->check ? codec->check(&params->speaks, &key) : NULL;
    if (why) {
        const uint32_t node = option_node(reading, key);
        option_fault(reading->r, node != TREE_NONE ? node : option_node(reading, "codec"),
                     FAULT_INCONSISTENT, "%s%s: %s", reading->shown, key, why);
    }
}

/* Options of an unused feature are reported, except under defaults, where a pair may use it.
 * Returns true when the feature is unused. */
static bool is_idle(const struct option_reading *reading, bool wanted, const char *const *keys,
                    size_t count, const char *instead)
{
    const char *key = NULL;
    const uint32_t node = wanted ? TREE_NONE : first_given(reading, keys, count, &key);
    if (node != TREE_NONE && strcmp(reading->shown, "defaults.") != 0) {
        option_fault(reading->r, node, FAULT_NOT_APPLICABLE, "%s%s is given, but %s",
                     reading->shown, key, instead);
    }
    return !wanted;
}

/* Returns whether a name extends another model's name: "joint_load" extends "joint". */
static bool is_form(const char *name)
{
    bool form = false;
    for (size_t i = 0; model_at(i); i++) {
        const size_t n = strlen(model_at(i)->name);
        form = form || (strncmp(name, model_at(i)->name, n) == 0 && name[n] == '_');
    }
    return form;
}

static void refuse_weak(const struct option_reading *reading,
                        const struct pair_dynamics_params *p)
{
    const struct model *model = model_find(p->model);
    if (model && model->varying_inertia &&
        (p->method == DYNAMICS_WEAK || p->method == DYNAMICS_WEAK_IV)) {
        option_fault_at(reading, "dynamics.method", FAULT_METHOD_UNSUITED,
                        "weak forms need a constant inertia, that of %s depends "
                        "on the motion or the pose: use output_error or ols_central",
                        model->name);
    }
}

/* The fit of a position servo has one method, and its droop is the constant effort. */
static void refuse_for_servo(const struct option_reading *reading,
                             const struct pair_dynamics_params *p)
{
    const bool has_method = p->method != DYNAMICS_METHOD_COUNT;
    if (model_find(p->model) == &position_servo_model && (has_method || p->biases)) {
        option_fault_at(reading, has_method ? "dynamics.method" : "dynamics.biases",
                        FAULT_METHOD_UNSUITED,
                        "%s has one method, which includes a constant load: leave out method "
                        "and biases",
                        p->model);
    }
}

static void check_dynamics(const struct option_reading *reading,
                           const struct pair_dynamics_params *p)
{
    static const char *const keys[] = {
        "dynamics.sides",    "dynamics.method",  "dynamics.biases",
        "dynamics.hold",     "dynamics.promote", "dynamics.window",
        "dynamics.window_s", "dynamics.refit_s", "dynamics.drift_ratio"};
    static const char *const samples[] = {"dynamics.window_s", "dynamics.model"};
    const char *key = NULL;
    if (is_idle(reading, pair_dynamics_wanted(p), keys, COUNT(keys),
                "nothing is identified; set dynamics.model")) {
        return;
    }
    if (!model_find(p->model)) {
        char names[160] = "";
        struct edit_guess guess = {0};
        char meant[EDIT_GUESS_MAX];
        for (size_t i = 0; model_at(i); i++) {
            edit_guess_try(&guess, p->model, model_at(i)->name);
            if (!is_form(model_at(i)->name)) {
                names_append(names, sizeof names, model_at(i)->name);
            }
        }
        option_fault_at(reading, "dynamics.model", FAULT_UNKNOWN_NAME,
                        "there is no %.27s%s; one of %s is wanted, or a longer name "
                        "(tandem identify --help)",
                        p->model, edit_guess_text(&guess, meant), names);
    }
    refuse_weak(reading, p);
    refuse_for_servo(reading, p);
    if (p->window_us / p->window > p->gap_us) {
        option_fault(reading->r, first_given(reading, samples, COUNT(samples), &key),
                     FAULT_INCONSISTENT,
                     "%sdynamics.window_s: %u samples over this time are farther apart than "
                     "gap_s (%g s); raise window, too",
                     reading->shown, (unsigned)p->window, lab_s(p->gap_us));
    }
}

void lab_check_following(const struct option_reading *reading, struct pair_following_params *p)
{
    static const char *const keys[] = {
        "following.active",  "following.real",     "following.virtual",
        "following.rate_hz", "following.method",   "following.vessel",
        "following.limits",  "following.noise_sd", "following.target_m"};
    char key[OPTION_PREFIX_MAX];
    struct err err = {0};
    if (is_idle(reading, pair_following_wanted(p), keys, COUNT(keys),
                "following is off; set following.model") ||
        following_text_parse(p, &err) == STATUS_OK) {
        return;
    }
    (void)snprintf(key, sizeof key, "following.%.64s", err.where);
    const char *const places[] = {option_find(reading->table, key) ? key : "following.model",
                                  "following.model"};
    const char *unused = NULL;
    option_fault(reading->r, first_given(reading, places, COUNT(places), &unused), err.fault,
                 "%s%s: %.160s", reading->shown, key, err.text);
}

static void check_live_map(const struct option_reading *reading, const struct pair_params *p)
{
    static const char *const keys[] = {
        "live_map.cell_m",  "live_map.x_min_m", "live_map.y_min_m", "live_map.x_max_m",
        "live_map.y_max_m", "live_map.every_s", "live_map.builder", "live_map.angle",
        "live_map.range",   "live_map.poses",   "live_map.correct", "live_map.unknown_factor"};
    const struct live_map_params *m = &p->live_map;
    const char *key = NULL;
    if (is_idle(reading, live_map_wanted(m), keys, COUNT(keys),
                "no map is made; set live_map.range_m")) {
        return;
    }
    if (pair_is_arm(p)) {
        option_fault_at(reading, "live_map.range_m", FAULT_NOT_APPLICABLE,
                        "an arm does not drive; leave out live_map or arm");
    }
    if (m->x_max_m <= m->x_min_m || m->y_max_m <= m->y_min_m) {
        option_fault(reading->r, first_given(reading, keys, 5, &key), FAULT_WRONG_ORDER,
                     "%slive_map: x_max_m and y_max_m beyond x_min_m and y_min_m were expected",
                     reading->shown);
    } else if (live_map_place(m).width == 0) {
        option_fault(reading->r, first_given(reading, keys, 5, &key), FAULT_TOO_LARGE,
                     "%slive_map: %.0f x %.0f cells of %g m, expected at most %d in all and %d "
                     "along a side; enlarge cell_m, or bring the corners nearer",
                     reading->shown, ceil((m->x_max_m - m->x_min_m) / m->cell_m),
                     ceil((m->y_max_m - m->y_min_m) / m->cell_m), m->cell_m, LIVE_MAP_CELLS_MAX,
                     GRID_SIDE_MAX);
    }
    if (m->unknown_factor > 0.0 && m->unknown_factor < 1.0) {
        option_fault_at(reading, "live_map.unknown_factor", FAULT_OUT_OF_RANGE,
                        "%g was found, expected 1 or more, or 0: unknown cells are forbidden",
                        m->unknown_factor);
    }
    if (m->correct && p->correct == PAIR_CORRECT_OFF) {
        option_fault_at(reading, "live_map.correct", FAULT_NEEDS_KEY,
                        "no pose is sent; set correct: each_move or after_inconsistency");
    }
}

void lab_check_pair(const struct option_reading *reading, const struct lab_pair *pair)
{
    if (pair->params.missions_max > 0 && pair->params.mode != PAIR_LINK) {
        option_fault_at(reading, "missions_max", FAULT_ACCEPTS_NO_COMMANDS,
                        "missions need mode: link; an observed pair cannot be commanded");
    }
    static const char *const times[] = {"sync_tolerance_s", "timeout_s"};
    static const char *const asked[] = {"virtual_expected", "real_expected", "mode"};
    const struct pair_params *params = &pair->params;
    const char *key = NULL;
    uint32_t node = first_given(reading, times, COUNT(times), &key);
    if (node != TREE_NONE && params->sync_tolerance_us >= params->timeout_us) {
        option_fault(reading->r, node, FAULT_INCONSISTENT,
                     "%ssync_tolerance_s must be less than timeout_s (%g s)", reading->shown,
                     lab_s(params->timeout_us));
    }
    check_codec(reading, params->codec);
    check_codec_keys(reading, params);
    check_arm(reading, params);
    check_dynamics(reading, &params->dynamics);
    check_live_map(reading, params);
    node = first_given(reading, asked, COUNT(asked), &key);
    if (node != TREE_NONE && params->mode == PAIR_LINK &&
        params->expected[SIDE_REAL] == PAIR_NEVER &&
        params->expected[SIDE_VIRTUAL] == PAIR_NEVER) {
        option_fault(
            reading->r, node, FAULT_INCONSISTENT,
            "%sreal_expected and virtual_expected are both never: no robot would answer",
            reading->shown);
    }
    node = option_node(reading, "count");
    if (node != TREE_NONE && strcmp(reading->shown, "defaults.") == 0) {
        option_fault(reading->r, node, FAULT_NOT_APPLICABLE,
                     "defaults.count: count belongs to one entry of pairs");
    }
}

/* Sorts pairs by id for binary search. */
static struct name_at *sort_pairs(const struct pair_params *pairs, size_t count)
{
    struct name_at *sorted = calloc(count + 1, sizeof sorted[0]);
    for (size_t i = 0; sorted && i < count; i++) {
        sorted[i] = (struct name_at){pairs[i].id, i};
    }
    if (sorted) {
        qsort(sorted, count, sizeof sorted[0], names_by_name);
    }
    return sorted;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct name_at *)a)->name, ((const struct name_at *)b)->name);
}

static const struct pair_params *find_pair(const struct name_at *sorted, size_t count,
                                           const struct pair_params *pairs, const char *id)
{
    const struct name_at key = {id, 0};
    const struct name_at *found =
        count > 0 ? bsearch(&key, sorted, count, sizeof key, compare_names) : NULL;
    return found ? &pairs[found->at] : NULL;
}

static void check_robot(struct option_reader *r, uint32_t node, const char *team,
                        const struct team_robot_params *robot, const struct pair_params *pair,
                        const struct edit_guess *guess)
{
    char meant[EDIT_GUESS_MAX];
    const uint32_t at = team_file_pair_node(r, node, robot->pair, 0);
    if (!pair) {
        option_fault(r, at, FAULT_UNKNOWN_NAME,
                     "teams.%s.robots.%s.pair: there is no pair %s%s", team, robot->name,
                     robot->pair, edit_guess_text(guess, meant));
    } else if (pair->mode != PAIR_LINK) {
        option_fault(r, at, FAULT_ACCEPTS_NO_COMMANDS,
                     "teams.%s.robots.%s.pair: %s is in observe mode and cannot be commanded; "
                     "give the pair mode: link",
                     team, robot->name, robot->pair);
    }
}

void lab_check_teams(struct option_reader *r, uint32_t node, const struct team_file *teams,
                     const struct pair_params *pairs, size_t pair_count)
{
    struct name_at *sorted = sort_pairs(pairs, pair_count);
    if (!sorted) {
        option_fault(r, TREE_NONE, FAULT_NO_MEMORY, "not enough memory to read it");
        return;
    }
    for (size_t t = 0; t < teams->team_count; t++) {
        const struct team_params *p = &teams->teams[t];
        if (find_pair(sorted, pair_count, pairs, p->name)) {
            option_fault(r, tree_child(r->tree, node, p->name), FAULT_DUPLICATE_NAME,
                         "team %s has the id of a pair; give one of both another name",
                         p->name);
        }
        for (size_t i = 0; i < p->robot_count; i++) {
            const char *id = p->robots[i].pair;
            const struct pair_params *pair = find_pair(sorted, pair_count, pairs, id);
            struct edit_guess guess = {0};
            for (size_t k = 0; id[0] && !pair && k < pair_count; k++) {
                edit_guess_try(&guess, id, pairs[k].id);
            }
            if (id[0]) {
                check_robot(r, node, p->name, &p->robots[i], pair, &guess);
            }
        }
    }
    free(sorted);
}
