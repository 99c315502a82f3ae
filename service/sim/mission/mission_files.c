#include "service/sim/mission/mission_files.h"

#include <stdio.h>
#include <string.h>

#include "service/mqtt/broker_arguments.h"
#include "service/tool/commands.h"
#include "service/tool/json_file.h"
#include "service/tool/lab_clock.h"
#include "service/tool/stop_signal.h"

enum {
    WAIT_SLICE_US = 50 * 1000, /* longest delay before a signal is noticed */
    SESSION_S = 60,         /* time for which the broker keeps replies while the link is down */
    DAEMON_US = 2000 * 1000 /* wait for the retained message of the daemon's presence */
};

bool mission_choose_pair(const struct lab_file *lab, const char *lab_path, const char *asked,
                         const char *in_file, bool needs_link, const char **id)
{
    *id = asked ? asked : in_file;
    if (!(*id)[0] && lab->pair_count == 1) {
        *id = lab->pairs[0].id;
    }
    for (size_t i = 0; i < lab->pair_count; i++) {
        if (strcmp(lab->pairs[i].id, *id) == 0) {
            if (needs_link && lab->pairs[i].mode != PAIR_LINK) {
                complain("%s: pair %s is in mode observe, a mission needs mode link", lab_path,
                         *id);
            }
            return !needs_link || lab->pairs[i].mode == PAIR_LINK;
        }
    }
    return complain("%s: %s%s%s", lab_path,
                    (*id)[0] ? "there is no pair " : "there are several pairs", *id,
                    (*id)[0] ? "" : ", name one with --pair or in the mission");
}

/* --- the broker ----------------------------------------------------------------------- */

bool mission_connect(struct session *session, const struct lab_file *lab, const char *pair,
                     const struct mqtt_client_topic *topics, size_t count, double connect_s)
{
    char id[64];
    const struct broker_options *broker = &lab->broker;
    (void)snprintf(id, sizeof id, "mission-%s", pair);
    struct mqtt_client_options options = broker_client_options(broker, id);
    options.unique_id = true;
    options.persistent = true;
    options.session_expiry_s = SESSION_S;
    options.topics = topics;
    options.topic_count = count;
    if (!session_open(session, options)) {
        return false;
    }
    if (session_await(session, lab_clock_monotonic_us() + lab_us(connect_s))) {
        return true;
    }
    struct mqtt_client_state state;
    mqtt_client_read_state(session->client, &state);
    return complain("mission: no broker at %s port %u within %g s%s%s", broker->host,
                    (unsigned)broker->port, connect_s, state.error[0] ? ": " : "", state.error);
}

struct presence {
    const char *topic;
    bool online;
};

static void receive_presence(void *context, const struct message *m)
{
    struct presence *daemon = context;
    if (strcmp(m->topic, daemon->topic) == 0) {
        json_t *document = json_loadb(m->payload, m->stored_bytes, 0, NULL);
        daemon->online = strcmp(json_file_text(document, "state"), "online") == 0;
        json_decref(document);
    }
}

bool mission_find_daemon(struct session *session, const struct lab_file *lab,
                         const char *lab_path, const char *daemon_topic)
{
    struct presence daemon = {.topic = daemon_topic};
    const int64_t until_us = lab_clock_monotonic_us() + DAEMON_US;
    while (!daemon.online && !stop_signal_raised() && lab_clock_monotonic_us() < until_us) {
        session_wait(session, lab_clock_monotonic_us() + WAIT_SLICE_US);
        session_drain(session, receive_presence, &daemon);
    }
    if (!daemon.online && !stop_signal_raised()) {
        complain("mission: no daemon is online at %s of %s port %u: nobody would carry "
                 "it out; start tandem serve -c %s",
                 daemon_topic, lab->broker.host, (unsigned)lab->broker.port, lab_path);
    }
    return daemon.online;
}

void mission_wait(struct session *session, int64_t until_us)
{
    const int64_t wait_us = until_us - lab_clock_now_us();
    session_wait(session, lab_clock_monotonic_us() +
                              (wait_us < WAIT_SLICE_US ? wait_us : WAIT_SLICE_US));
}
