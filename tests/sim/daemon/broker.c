/* A broker: one session that outlives its connection, queues of robots, and its saved state. */
#include <stdio.h>
#include <string.h>

#include "tests/sim/daemon/simulation.h"

enum { SAVE_US = 10 * SECOND_US, IN_FLIGHT = 1000 };

static const char *const topic_names[ROBOTS] = {"r1/real",    "r1/virtual", "r2/real",
                                                "r2/virtual", "o1/real",    "o1/virtual"};

void broker_make(void)
{
    world->broker.up = true;
    world->broker.save_us = SAVE_US;
}

bool broker_topic_fits(const char *filter, const char *topic)
{
    while (*filter && *filter != '#') {
        if (*filter == '+') {
            topic += strcspn(topic, "/");
            filter++;
        } else if (*filter++ != *topic++) {
            return false;
        }
    }
    return *filter == '#' || *topic == '\0';
}

bool broker_commands_pair(const char *topic)
{
    return broker_topic_fits("tandem/v1/+/command", topic);
}

/* ---- the daemon's session ---- */

static void add_waiting(const struct sim_message *m)
{
    struct broker_memory *b = &world->broker.now;
    if (b->count == QUEUE_MAX) {
        sim_fail("the simulated broker's queue is full");
        return;
    }
    b->queue[b->count++] = *m;
}

bool broker_has_room(void)
{
    return world->broker.now.count < QUEUE_MAX - 200;
}

void broker_pump(void)
{
    struct broker_memory *b = &world->broker.now;
    uint32_t in_flight = 0;
    for (uint32_t i = 0; i < b->count && link_is_up(LINK_MAIN); i++) {
        struct sim_message *m = &b->queue[i];
        in_flight++;
        if (!m->sent && in_flight <= IN_FLIGHT) {
            b->last_mid = b->last_mid == UINT16_MAX ? 1 : b->last_mid + 1;
            m->mid = b->last_mid;
            m->sent = true;
            link_deliver(LINK_MAIN, m);
        }
    }
}

void broker_acknowledged(uint16_t mid)
{
    struct broker_memory *b = &world->broker.now;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct sim_message *m = &b->queue[i];
        if (m->sent && m->mid == mid) {
            if (broker_commands_pair(m->topic) && !world->commands[m->command].handed) {
                sim_fail("c%d was acknowledged and is not in the journal", m->command);
            }
            b->count--;
            memmove(&b->queue[i], &b->queue[i + 1], (b->count - i) * sizeof b->queue[0]);
            break;
        }
    }
    broker_pump();
}

bool broker_connected(int link, bool clean)
{
    struct broker_memory *b = &world->broker.now;
    if (link != LINK_MAIN) {
        return false;
    }
    const bool resumed = b->session && !clean;
    if (!resumed) {
        b->filter_count = b->count = 0;
    }
    b->session = true;
    /* Messages in flight come again before all new ones. */
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->queue[i].sent) {
            b->queue[i].dup = true;
            link_deliver(LINK_MAIN, &b->queue[i]);
        }
    }
    return resumed;
}

static void send_retained(const char *filter)
{
    for (int robot = 0; robot < ROBOTS; robot++) {
        struct sim_message m = {.qos = 1, .retained = true, .command = -1};
        const char *text = world->broker.now.retained[robot];
        (void)snprintf(m.topic, sizeof m.topic, "tandem/v1/%s/connection", topic_names[robot]);
        if (text[0] && broker_topic_fits(filter, m.topic)) {
            m.bytes = (uint16_t)snprintf(m.payload, sizeof m.payload, "%s", text);
            add_waiting(&m);
        }
    }
    broker_pump();
}

void broker_subscribed(int link, const char *filter, int qos)
{
    struct broker_memory *b = &world->broker.now;
    if (link != LINK_MAIN) {
        link_listen(link, filter);
        return;
    }
    broker_unsubscribed(filter);
    if (b->filter_count < FILTERS_MAX) {
        char *to = b->filters[b->filter_count++];
        (void)snprintf(to, TOPIC_MAX, "%d%s", qos, filter);
    } else {
        sim_fail("the simulated broker knows no more filters");
    }
    send_retained(filter);
}

void broker_unsubscribed(const char *filter)
{
    struct broker_memory *b = &world->broker.now;
    for (uint32_t i = 0; i < b->filter_count; i++) {
        if (strcmp(b->filters[i] + 1, filter) == 0) {
            memmove(b->filters[i], b->filters[--b->filter_count], TOPIC_MAX);
            return;
        }
    }
}

/* The highest QoS of those filters that fit; -1: none does. */
static int subscribed_qos(const char *topic)
{
    const struct broker_memory *b = &world->broker.now;
    int qos = -1;
    for (uint32_t i = 0; b->session && i < b->filter_count; i++) {
        if (broker_topic_fits(b->filters[i] + 1, topic) && b->filters[i][0] - '0' > qos) {
            qos = b->filters[i][0] - '0';
        }
    }
    return qos;
}

/* ---- robots ---- */

static void enqueue_robot(int robot, int32_t command)
{
    struct broker_memory *b = &world->broker.now;
    if (b->robot_count[robot] < WAITING_MAX) {
        b->robot_queue[robot][b->robot_count[robot]++] = command;
        actors_command_arrives(robot);
    }
}

bool broker_receive_robot(int robot, int32_t *command)
{
    struct broker_memory *b = &world->broker.now;
    if (!world->broker.up || b->robot_count[robot] == 0) {
        return false;
    }
    *command = b->robot_queue[robot][0];
    b->robot_count[robot]--;
    memmove(&b->robot_queue[robot][0], &b->robot_queue[robot][1],
            b->robot_count[robot] * sizeof(int32_t));
    return true;
}

static void route_to_robots(const char *topic, int32_t command)
{
    const char *rest = topic + strlen("tandem/v1/");
    for (int robot = 0; robot < ROBOTS && command >= 0; robot++) {
        const size_t n = strlen(topic_names[robot]);
        if (robot >= LINK_PAIRS * SIDES ? strcmp(rest, "o1/command") == 0
                                        : strncmp(rest, topic_names[robot], n) == 0 &&
                                              strcmp(rest + n, "/command") == 0) {
            enqueue_robot(robot, command);
        }
    }
}

void broker_publish(const char *topic, const char *payload, int qos, bool retained,
                    int32_t command)
{
    struct sim_message m = {.qos = (uint8_t)qos, .command = command};
    const int granted = subscribed_qos(topic);
    sim_trace(topic, payload, strlen(payload));
    (void)snprintf(m.topic, sizeof m.topic, "%s", topic);
    m.bytes = (uint16_t)snprintf(m.payload, sizeof m.payload, "%s", payload);
    for (int robot = 0; robot < ROBOTS && retained; robot++) {
        if (strncmp(topic + 10, topic_names[robot], strlen(topic_names[robot])) == 0) {
            (void)snprintf(world->broker.now.retained[robot], PAYLOAD_MAX, "%s", payload);
        }
    }
    if (granted >= 1 && qos >= 1) {
        if (broker_commands_pair(topic)) {
            world->commands[command].accepted = true;
        }
        add_waiting(&m);
        broker_pump();
    } else if (granted >= 0 && link_is_up(LINK_MAIN)) {
        m.qos = 0;
        link_deliver(LINK_MAIN, &m);
    }
    if (link_is_up(LINK_TELEMETRY) && link_hears(LINK_TELEMETRY, topic)) {
        m.qos = 0;
        link_deliver(LINK_TELEMETRY, &m);
    }
    route_to_robots(topic, command);
}

uint32_t broker_waiting(void)
{
    const struct broker_memory *b = &world->broker.now;
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        waiting += strstr(b->queue[i].topic, "/heartbeat/") == NULL;
    }
    for (int robot = 0; robot < ROBOTS; robot++) {
        waiting += b->robot_count[robot];
    }
    return waiting;
}

/* ---- saving, dying ---- */

static void copy_memory(struct broker_memory *to, const struct broker_memory *from)
{
    memcpy(to, from,
           offsetof(struct broker_memory, queue) + from->count * sizeof from->queue[0]);
}

static bool is_saved(int32_t command)
{
    const struct broker_memory *b = &world->broker.saved;
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->queue[i].command == command) {
            return true;
        }
    }
    return false;
}

void broker_stop(bool killed, bool forgets, int64_t down_us)
{
    struct broker *b = &world->broker;
    b->up = false;
    b->up_us = world->t_us + down_us;
    for (int link = 0; link < LINKS; link++) {
        link_cut(link, world->t_us + (int64_t)draw(0.0, 3e5));
    }
    for (uint32_t i = 0; killed && i < b->now.count; i++) {
        const int32_t command = b->now.queue[i].command;
        if (command >= 0 && !world->commands[command].handed &&
            (forgets || !is_saved(command))) {
            world->commands[command].forgotten = true;
        }
    }
    if (!killed) {
        copy_memory(&b->saved, &b->now);
    } else if (forgets) {
        b->saved = (struct broker_memory){0};
    }
    copy_memory(&b->now, &b->saved);
    world->broker_kills += killed;
    sim_log("broker %s%s for %.1f s", killed ? "killed" : "stopped",
            forgets ? ", and forgets" : "", (double)down_us / SECOND_US);
}

int64_t broker_next_us(void)
{
    return world->broker.up ? world->broker.save_us : world->broker.up_us;
}

void broker_run(void)
{
    struct broker *b = &world->broker;
    if (!b->up && world->t_us >= b->up_us) {
        b->up = true;
        b->save_us = world->t_us + SAVE_US;
        for (int robot = 0; robot < ROBOTS; robot++) {
            actors_command_arrives(robot);
        }
    }
    if (b->up && world->t_us >= b->save_us) {
        copy_memory(&b->saved, &b->now);
        b->save_us += SAVE_US;
    }
}

void broker_daemon_gone(void)
{
    for (int link = 0; link < LINKS; link++) {
        link_cut(link, world->t_us);
    }
}
