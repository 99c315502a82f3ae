/* Motion times of VDA 5050 vehicles: what a state says of driving, pauses and actions, and
 * which times may enter a fit. */
#include "tests/support/vda5050_rig.h"

enum { MOMENTS_MAX = 6 };

/* A state: at which node it is, whether it drives, where it is on the way, its actions. */
struct moment {
    double s;
    int last;
    char motion; /* 'D'rives, 'S'tands, 'P'aused */
    double x_m, theta_rad;
    const char *actions;
};

#define ACTION(id, status) "{\"actionId\":\"" id "\",\"actionStatus\":\"" status "\"}"
#define AT_N1              2.0, 2
#define ALWAYS             3.364

/* The vehicle comes to n1 at 2.0 s; then each row goes on. */
static const struct {
    const char *what;
    const char *node1, *edge3, *node2; /* blocking type of an action there; "": none */
    struct moment moments[MOMENTS_MAX];
    double want_s; /* motion from n1 to n2; 0: not known */
} rows[] = {
    {"passes", "", "", "", {{AT_N1, 'D', 2, 0, ""}, {5.364, 4, 'S', 4, 0, ""}}, ALWAYS},
    {"says late that it stands",
     "HARD",
     "",
     "",
     {{AT_N1, 'D', 2, 0, ACTION("a", "WAITING")},
      {2.1, 2, 'S', 2, 0, ACTION("a", "RUNNING")},
      {2.503, 2, 'D', 2, 0, ACTION("a", "FINISHED")},
      {5.867, 4, 'S', 4, 0, ""}},
     ALWAYS},
    {"never says that it stands",
     "SOFT",
     "",
     "",
     {{AT_N1, 'D', 2, 0, ACTION("a", "WAITING")},
      {2.1, 2, 'D', 2, 0, ACTION("a", "RUNNING")},
      {2.503, 2, 'D', 2, 0, ACTION("a", "FAILED")},
      {5.867, 4, 'S', 4, 0, ""}},
     ALWAYS},
    {"does not report the action",
     "HARD",
     "",
     "",
     {{AT_N1, 'D', 2, 0, ""}, {2.503, 2, 'D', 2.2, 0, ""}, {5.867, 4, 'S', 4, 0, ""}},
     0.0},
    {"no blocking type is one",
     "?",
     "",
     "",
     {{AT_N1, 'D', 2, 0, ACTION("a", "RUNNING")}, {5.867, 4, 'S', 4, 0, ""}},
     0.0},
    {"drives during the action",
     "NONE",
     "",
     "",
     {{AT_N1, 'D', 2, 0, ACTION("a", "RUNNING")}, {5.364, 4, 'S', 4, 0, ""}},
     ALWAYS},
    {"drives during the only action",
     "SINGLE",
     "",
     "",
     {{AT_N1, 'D', 2, 0, ACTION("a", "RUNNING")}, {5.364, 4, 'S', 4, 0, ""}},
     ALWAYS},
    {"waits at the node",
     "",
     "",
     "",
     {{AT_N1, 'D', 2, 0, ""},
      {2.1, 2, 'S', 2, 0, ""},
      {12, 2, 'D', 2, 0, ""},
      {15.364, 4, 'S', 4, 0, ""}},
     ALWAYS},
    {"rolls out, and waits",
     "",
     "",
     "",
     {{AT_N1, 'D', 2, 0, ""},
      {2.1, 2, 'S', 2.04, 0.04, ""},
      {12, 2, 'D', 2.04, 0.04, ""},
      {15.364, 4, 'S', 4, 0, ""}},
     ALWAYS},
    {"waits behind the node",
     "",
     "",
     "",
     {{AT_N1, 'D', 2, 0, ""},
      {2.1, 2, 'S', 2.06, 0, ""},
      {12, 2, 'D', 2.06, 0, ""},
      {15.364, 4, 'S', 4, 0, ""}},
     0.0},
    {"turns, and waits",
     "",
     "",
     "",
     {{AT_N1, 'D', 2, 0, ""},
      {2.1, 2, 'S', 2, 0.06, ""},
      {12, 2, 'D', 2, 0.06, ""},
      {15.364, 4, 'S', 4, 0, ""}},
     0.0},
    {"waits, and does not say where",
     "",
     "",
     "",
     {{AT_N1, 'D', NAN, 0, ""},
      {2.1, 2, 'S', NAN, 0, ""},
      {12, 2, 'D', NAN, 0, ""},
      {15.364, 4, 'S', NAN, 0, ""}},
     0.0},
    {"waits on the way",
     "",
     "",
     "",
     {{AT_N1, 'D', 2, 0, ""},
      {3, 2, 'S', 3, 0, ""},
      {13, 2, 'D', 3, 0, ""},
      {15.364, 4, 'S', 4, 0, ""}},
     0.0},
    {"waits on the way, and comes while it drives",
     "",
     "",
     "",
     {{AT_N1, 'D', 2, 0, ""}, {3, 2, 'S', 3, 0, ""}, {15.364, 4, 'D', 4, 0, ""}},
     0.0},
    {"stands before it says where",
     "",
     "",
     "",
     {{AT_N1, 'D', 2, 0, ""}, {5.363, 2, 'S', 4, 0, ""}, {5.364, 4, 'S', 4, 0, ""}},
     ALWAYS},
    {"an action on the way",
     "",
     "HARD",
     "",
     {{AT_N1, 'D', 2, 0, ""}, {5.867, 4, 'S', 4, 0, ACTION("b", "FINISHED")}},
     0.0},
    {"an action while it drives",
     "",
     "NONE",
     "",
     {{AT_N1, 'D', 2, 0, ""}, {5.364, 4, 'S', 4, 0, ACTION("b", "FINISHED")}},
     ALWAYS},
    {"the next action begins before it has come",
     "",
     "",
     "HARD",
     {{AT_N1, 'D', 2, 0, ""},
      {5.364, 2, 'S', 4, 0, ACTION("c", "RUNNING")},
      {5.867, 4, 'S', 4, 0, ACTION("c", "RUNNING")}},
     0.0},
    {"the next action ends when it comes",
     "",
     "",
     "HARD",
     {{AT_N1, 'D', 2, 0, ACTION("c", "WAITING")},
      {5.867, 4, 'S', 4, 0, ACTION("c", "FINISHED")}},
     0.0},
    {"the next action begins when it comes",
     "",
     "",
     "HARD",
     {{AT_N1, 'D', 2, 0, ACTION("c", "INITIALIZING")},
      {5.364, 4, 'S', 4, 0, ACTION("c", "RUNNING")}},
     ALWAYS},
    {"paused, and goes on unseen",
     "",
     "",
     "",
     {{AT_N1, 'D', 2, 0, ""}, {3, 2, 'P', 3, 0, ""}, {9, 4, 'S', 4, 0, ""}},
     0.0},
    {"paused",
     "",
     "",
     "",
     {{AT_N1, 'D', 2, 0, ""},
      {3, 2, 'P', 3, 0, ""},
      {8, 2, 'D', 3, 0, ""},
      {9, 4, 'S', 4, 0, ""}},
     0.0},
};

struct seen {
    struct rig rig;
    struct event_reply reply; /* the last one to the edge of n1 and n2 */
    int count;
};

static void store_reply(void *context, const struct event *e)
{
    struct seen *s = context;
    if (e->kind == EVENT_REPLY && strcmp(e->reply.id, "o/3") == 0) {
        s->reply = e->reply;
        s->count++;
    }
}

static void receive_message(struct seen *s, const char *kind, const char *payload, double at_s)
{
    struct message m = {.t_us = lab_us(at_s),
                        .payload = payload,
                        .stored_bytes = strlen(payload),
                        .payload_bytes = strlen(payload)};
    (void)snprintf(m.topic, sizeof m.topic, "uagv/v2/acme/a/%s", kind);
    (void)codec_decode(&s->rig.set, "tandem/v1", &m, store_reply, s);
}

/* The list of actions at a node or edge, with this blocking type; "?": without one. */
static const char *write_action(char out[128], const char *id, const char *blocking)
{
    char type[48];
    (void)snprintf(type, sizeof type, ",\"blockingType\":\"%s\"", blocking);
    (void)snprintf(out, 128, "{\"actionId\":\"%s\",\"actionType\":\"pick\"%s}", id,
                   blocking[0] == '?' ? "" : type);
    return blocking[0] ? out : "";
}

static void send_order(struct seen *s, size_t row)
{
    char text[1024];
    char action[3][128];
    (void)snprintf(
        text, sizeof text,
        "{\"orderId\":\"o\",\"orderUpdateId\":0,\"nodes\":["
        "{\"nodeId\":\"n0\",\"sequenceId\":0,\"released\":true,\"actions\":[]},"
        "{\"nodeId\":\"n2\",\"sequenceId\":2,\"released\":true,\"actions\":[%s]},"
        "{\"nodeId\":\"n4\",\"sequenceId\":4,\"released\":true,\"actions\":[%s]}],"
        "\"edges\":[{\"edgeId\":\"e\",\"sequenceId\":1,\"released\":true,\"length\":2},"
        "{\"edgeId\":\"f\",\"sequenceId\":3,\"released\":true,\"length\":2,"
        "\"actions\":[%s]}]}",
        write_action(action[0], "a", rows[row].node1),
        write_action(action[1], "c", rows[row].node2),
        write_action(action[2], "b", rows[row].edge3));
    receive_message(s, "order", text, 0.5);
}

static void send_moment(struct seen *s, int header, const struct moment *m)
{
    char text[1024];
    char place[128];
    (void)snprintf(
        place, sizeof place,
        ",\"agvPosition\":{\"x\":%g,\"y\":0,\"theta\":%g,\"positionInitialized\":true}", m->x_m,
        m->theta_rad);
    (void)snprintf(
        text, sizeof text,
        "{\"headerId\":%d,\"timestamp\":\"2026-11-20T04:44:%06.3fZ\",\"orderId\":\"o\","
        "\"lastNodeId\":\"n%d\",\"lastNodeSequenceId\":%d,\"driving\":%s,\"paused\":%s,"
        "\"nodeStates\":[],\"edgeStates\":[],\"actionStates\":[%s],\"errors\":[]%s}",
        header, m->s, m->last, m->last, m->motion == 'D' ? "true" : "false",
        m->motion == 'P' ? "true" : "false", m->actions, isfinite(m->x_m) ? place : "");
    receive_message(s, "state", text, m->s);
}

static void test_motion(void)
{
    static const struct moment first[] = {{0.6, 0, 'S', 0, 0, ""}, {0.7, 0, 'D', 0, 0, ""}};
    static struct seen s;
    for (size_t i = 0; i < COUNT(rows); i++) {
        int header = 0;
        memset(&s, 0, sizeof s);
        start_rig(&s.rig, "pairs: {p: {codec: vda5050, real: acme/a, virtual: acme/b}}");
        send_order(&s, i);
        for (size_t k = 0; k < COUNT(first); k++) {
            send_moment(&s, header++, &first[k]);
        }
        for (size_t k = 0; k < MOMENTS_MAX && rows[i].moments[k].s > 0.0; k++) {
            send_moment(&s, header++, &rows[i].moments[k]);
        }
        CHECK_INT(rows[i].what, s.count, 1);
        CHECK_INT(rows[i].what, s.reply.status, REPLY_DONE);
        CHECK_INT(rows[i].what, s.reply.uncalibrated, !(rows[i].want_s > 0.0));
        if (rows[i].want_s > 0.0) {
            CHECK_NEAR(rows[i].what, lab_s(s.reply.source_us - s.reply.source_start_us),
                       rows[i].want_s, 0, 1e-6);
        }
        end_rig(&s.rig);
    }
}

/* Actions of an earlier order do not hold up the next one, and an id that comes again is a new
 * action. */
static void test_next_order(void)
{
    enum { PASSES = 0, UNREPORTED = 3 };
    static const struct {
        const char *id;
        size_t row;
        int unknown;
    } orders[] = {{"x", PASSES, 0}, {"a", UNREPORTED, 1}};
    static struct seen s;
    for (size_t i = 0; i < COUNT(orders); i++) {
        char text[512];
        memset(&s, 0, sizeof s);
        start_rig(&s.rig, "pairs: {p: {codec: vda5050, real: acme/a, virtual: acme/b}}");
        (void)snprintf(text, sizeof text,
                       "{\"orderId\":\"before\",\"orderUpdateId\":0,\"nodes\":[{\"nodeId\":"
                       "\"n2\",\"sequenceId\":2,\"released\":true,\"actions\":[{\"actionId\":"
                       "\"%s\",\"actionType\":\"pick\",\"blockingType\":\"HARD\"}]}],"
                       "\"edges\":[]}",
                       orders[i].id);
        receive_message(&s, "order", text, 0.1);
        receive_message(
            &s, "state",
            "{\"headerId\":0,\"timestamp\":\"2026-11-20T04:44:00.2Z\",\"orderId\":\"before\","
            "\"lastNodeId\":\"n2\",\"lastNodeSequenceId\":2,\"driving\":false,"
            "\"actionStates\":[" ACTION("a", "FINISHED") "]}",
            0.2);
        send_order(&s, orders[i].row);
        send_moment(&s, 1, &(struct moment){0.6, 0, 'S', 0, 0, ""});
        send_moment(&s, 2, &(struct moment){0.7, 0, 'D', 0, 0, ""});
        for (size_t k = 0; k < MOMENTS_MAX && rows[orders[i].row].moments[k].s > 0.0; k++) {
            send_moment(&s, (int)k + 3, &rows[orders[i].row].moments[k]);
        }
        CHECK_INT(orders[i].id, s.count, 1);
        CHECK_INT(orders[i].id, s.reply.uncalibrated, orders[i].unknown);
        end_rig(&s.rig);
    }
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("vda5050 motion", NULL, NULL);
    CU_add_test(suite, "motion times", test_motion);
    CU_add_test(suite, "actions of an earlier order", test_next_order);
    return check_run();
}
