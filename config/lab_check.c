#include "config/lab_check.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "config/following_text.h"
#include "logger/message/codecs.h"
#include "twin/models/models.h"

bool lab_check_id(const char *id)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789_-";
    const size_t n = strlen(id);
    return n > 0 && n < EVENT_PAIR_MAX && strspn(id, allowed) == n;
}

bool lab_check_is_loopback(const char *address)
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

static void check_prefix(struct option_reader *r, const char *prefix, uint32_t node)
{
    const size_t n = strlen(prefix);
    if (strpbrk(prefix, "+#")) {
        option_fault(r, node, "broker.prefix: '+' and '#' are wildcards, leave them out");
    } else if (prefix[0] == '$') {
        option_fault(r, node, "broker.prefix: topics with '$' belong to the broker");
    } else if (prefix[0] == '/' || (n > 0 && prefix[n - 1] == '/') || strstr(prefix, "//")) {
        option_fault(r, node,
                     "broker.prefix: no slash at its ends and no two in a row, as in "
                     "\"tandem/v1\"");
    }
}

static void check_tls(struct option_reader *r, const struct lab_file *lab,
                      const uint32_t *given)
{
    static const char *const files[] = {"broker.tls.ca_file", "broker.tls.cert_file",
                                        "broker.tls.key_file"};
    for (size_t i = 0; i < COUNT(files) && !lab->broker.tls.enabled; i++) {
        const uint32_t node = option_given(&lab_options, given, files[i]);
        if (node != TREE_NONE && tree_text(r->tree, node)[0] != '\0') {
            option_fault(r, node, "%s is given, but TLS is off; set broker.tls.enabled: true",
                         files[i]);
        }
    }
    const bool cert = lab->broker.tls.cert_file[0] != '\0';
    const bool key = lab->broker.tls.key_file[0] != '\0';
    if (cert && !key) {
        option_fault(r, option_given(&lab_options, given, files[1]),
                     "broker.tls.cert_file needs broker.tls.key_file");
    }
    if (key && !cert) {
        option_fault(r, option_given(&lab_options, given, files[2]),
                     "broker.tls.key_file needs broker.tls.cert_file");
    }
}

void lab_check_file(struct option_reader *r, const struct lab_file *lab, const uint32_t *given)
{
    check_prefix(r, lab->broker.prefix, option_given(&lab_options, given, "broker.prefix"));
    check_tls(r, lab, given);
    if (lab->broker.password_file[0] != '\0' && lab->broker.username[0] == '\0') {
        option_fault(r, option_given(&lab_options, given, "broker.password_file"),
                     "broker.password_file needs broker.username");
    }
    if (lab->http.enabled && lab->http.token_file[0] == '\0' &&
        !lab_check_is_loopback(lab->http.bind)) {
        option_fault(
            r, option_given(&lab_options, given, "http.bind"),
            "http.bind: %.60s is not a loopback address; give http.token_file, too, or "
            "bind 127.0.0.1",
            lab->http.bind);
    }
    if ((lab->http.tls_certificate[0] == '\0') != (lab->http.tls_key[0] == '\0')) {
        const bool key = lab->http.tls_key[0] != '\0';
        option_fault(
            r, option_given(&lab_options, given, key ? "http.tls_key" : "http.tls_certificate"),
            key ? "http.tls_key needs http.tls_certificate"
                : "http.tls_certificate needs http.tls_key");
    }
    if (lab->journal.retain_mb > 0 && lab->journal.retain_mb < lab->journal.rotate_mb) {
        const uint32_t retain = option_given(&lab_options, given, "journal.retain_mb");
        option_fault(r,
                     retain != TREE_NONE
                         ? retain
                         : option_given(&lab_options, given, "journal.rotate_mb"),
                     "journal.retain_mb (%u) must be at least journal.rotate_mb (%u)",
                     (unsigned)lab->journal.retain_mb, (unsigned)lab->journal.rotate_mb);
    }
}

void lab_check_journal(struct option_reader *r, const struct lab_file *lab,
                       const struct pair_params *pairs, size_t pair_count,
                       const uint32_t *given)
{
    for (size_t i = 0; lab->journal.record == JOURNAL_EVENTS && i < pair_count; i++) {
        const bool follows = pair_following_wanted(&pairs[i].following);
        if (pair_dynamics_wanted(&pairs[i].dynamics) || follows) {
            option_fault(r, option_given(&lab_options, given, "journal.record"),
                         "journal.record: events leaves out the telemetry that %s's %s "
                         "rest on; record all, or leave out its %s.model",
                         pairs[i].id, follows ? "following" : "dynamics",
                         follows ? "following" : "dynamics");
            return;
        }
    }
}

/* The models' names, as they are listed. */
static void list_models(char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < model_count() && used < size; i++) {
        const int n =
            snprintf(out + used, size - used, "%s%s", i ? ", " : "", model_at(i)->name);
        used += n > 0 ? (size_t)n : 0;
    }
}

static void check_codec(struct option_reader *r, const char *shown, const char *codec,
                        const uint32_t *given)
{
    char names[160] = "";
    size_t used = 0;
    if (codec_find(codec)) {
        return;
    }
    for (size_t i = 0; i < codec_count && used < sizeof names; i++) {
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                 codecs[i]->name);
    }
    option_fault(r, option_given(&lab_pair_options, given, "codec"),
                 "%scodec: there is no %.24s; one of %s is wanted", shown, codec, names);
}

static void check_dynamics(struct option_reader *r, const char *shown,
                           const struct pair_dynamics_params *p, const uint32_t *given)
{
    static const char *const keys[] = {
        "dynamics.sides",  "dynamics.method",   "dynamics.biases",  "dynamics.promote",
        "dynamics.window", "dynamics.window_s", "dynamics.refit_s", "dynamics.drift_ratio"};
    const uint32_t model = option_given(&lab_pair_options, given, "dynamics.model");
    if (pair_dynamics_wanted(p) && !model_find(p->model)) {
        char names[160];
        list_models(names, sizeof names);
        option_fault(r, model, "%sdynamics.model: there is no %.24s; one of %s is wanted",
                     shown, p->model, names);
    }
    for (size_t i = 0; i < COUNT(keys) && !pair_dynamics_wanted(p); i++) {
        const uint32_t node = option_given(&lab_pair_options, given, keys[i]);
        if (node != TREE_NONE && strcmp(shown, "defaults.") != 0) {
            option_fault(r, node,
                         "%s%s is given, but nothing is identified; set dynamics.model", shown,
                         keys[i]);
            return;
        }
    }
    const uint32_t window = option_given(&lab_pair_options, given, "dynamics.window_s");
    if (pair_dynamics_wanted(p) && p->window_us / p->window > p->gap_us) {
        option_fault(r, window != TREE_NONE ? window : model,
                     "%sdynamics.window_s: %u samples of so long a time are further apart than "
                     "gap_s (%g s); raise window, too",
                     shown, (unsigned)p->window, (double)p->gap_us * 1e-6);
    }
}

void lab_check_following(struct option_reader *r, const char *shown,
                         struct pair_following_params *p, const uint32_t *given)
{
    static const char *const keys[] = {
        "following.active",  "following.real",     "following.virtual",
        "following.rate_hz", "following.method",   "following.vessel",
        "following.limits",  "following.noise_sd", "following.target_m"};
    char key[OPTION_PREFIX_MAX];
    struct err err = {0};
    for (size_t i = 0; i < COUNT(keys) && !pair_following_wanted(p); i++) {
        const uint32_t node = option_given(&lab_pair_options, given, keys[i]);
        if (node != TREE_NONE && strcmp(shown, "defaults.") != 0) {
            option_fault(r, node, "%s%s is given, but nobody follows; set following.model",
                         shown, keys[i]);
            return;
        }
    }
    if (!pair_following_wanted(p) || following_text_parse(p, &err) == STATUS_OK) {
        return;
    }
    (void)snprintf(key, sizeof key, "following.%.64s", err.where);
    const struct option_row *row = option_find(&lab_pair_options, key);
    const uint32_t node = row ? given[row - lab_pair_options.rows] : TREE_NONE;
    option_fault(
        r, node != TREE_NONE ? node : option_given(&lab_pair_options, given, "following.model"),
        "%sfollowing.%.40s: %.160s", shown, err.where, err.text);
}

void lab_check_pair(struct option_reader *r, const char *shown,
                    const struct pair_params *params, const uint32_t *given)
{
    const uint32_t tolerance = option_given(&lab_pair_options, given, "sync_tolerance_s");
    const uint32_t timeout = option_given(&lab_pair_options, given, "timeout_s");
    if ((tolerance != TREE_NONE || timeout != TREE_NONE) &&
        params->sync_tolerance_us >= params->timeout_us) {
        option_fault(r, tolerance != TREE_NONE ? tolerance : timeout,
                     "%ssync_tolerance_s must be less than timeout_s (%g s)", shown,
                     (double)params->timeout_us * 1e-6);
    }
    check_codec(r, shown, params->codec, given);
    check_dynamics(r, shown, &params->dynamics, given);
    static const char *const asked[] = {"mode", "real_expected", "virtual_expected"};
    uint32_t place = TREE_NONE;
    for (size_t i = 0; i < COUNT(asked); i++) {
        const uint32_t node = option_given(&lab_pair_options, given, asked[i]);
        place = node != TREE_NONE ? node : place;
    }
    if (place != TREE_NONE && params->mode == PAIR_LINK &&
        params->expected[SIDE_REAL] == PAIR_NEVER &&
        params->expected[SIDE_VIRTUAL] == PAIR_NEVER) {
        option_fault(r, place,
                     "%sreal_expected and virtual_expected are both never: nobody would answer",
                     shown);
    }
}
