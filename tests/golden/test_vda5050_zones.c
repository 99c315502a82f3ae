/* Zones of VDA 5050 (3.0): a team's places, asked for and given back in states and responses.
 */
#include "tests/support/vda5050_rig.h"

struct zone_rig {
    struct rig rig;
    struct message message;
    char answers[8192];  /* what went to the vehicles as responses */
    char reported[8192]; /* and over the team's own topic: id and grant */
    int header[2];
};

static void store_answer(void *context, const struct effect *effect)
{
    struct zone_rig *z = context;
    if (effect->kind != EFFECT_RESPONSE) {
        return;
    }
    size_t n = strlen(z->reported);
    (void)snprintf(z->reported + n, sizeof z->reported - n, "%s %s\n", effect->response->id,
                   team_live_grant_name(effect->response->grant));
    if (effect->message) {
        n = strlen(z->answers);
        (void)snprintf(z->answers + n, sizeof z->answers - n, "%s %.*s\n",
                       effect->message->topic, (int)effect->message->bytes,
                       effect->message->payload);
    }
}

static void step_zones(void *context, const struct event *event)
{
    struct zone_rig *z = context;
    const struct effects fx = {store_answer, z};
    lab_step(z->rig.lab, event, &fx);
}

/* A state of vehicle a, b (its twin) or c that lists these requests; then a moment passes. */
static void list_zones(struct zone_rig *z, char who, double s, const char *requests)
{
    char text[4096];
    struct message m = {.t_us = lab_us(s), .payload = text};
    const struct event tick = {.kind = EVENT_TICK, .t_us = m.t_us + 10000};
    (void)snprintf(text, sizeof text,
                   "{\"headerId\":%d,\"timestamp\":\"1970-01-01T00:00:%06.3fZ\",\"version\":"
                   "\"3.0.0\",\"orderId\":\"\","
                   "\"lastNodeId\":\"n\",\"lastNodeSequenceId\":0,\"driving\":false,"
                   "\"nodeStates\":[],\"edgeStates\":[],"
                   "\"actionStates\":[],\"errors\":[],\"safetyState\":{\"activeEmergencyStop\":"
                   "\"NONE\"},\"zoneRequests\":[%s]}",
                   z->header[who == 'c']++, s, requests);
    (void)snprintf(m.topic, sizeof m.topic, "uagv/v3/acme/%c/state", who);
    m.stored_bytes = m.payload_bytes = strlen(text);
    z->answers[0] = '\0';
    z->reported[0] = '\0';
    z->rig.sent[0] = '\0';
    (void)codec_decode(&z->rig.set, "tandem/v1", &m, step_zones, z);
    step_zones(z, &tick);
}

#define ZONE(request, zone, status)                                                            \
    "{\"requestId\":\"" request "\",\"requestType\":\"ACCESS\",\"zoneId\":\"" zone             \
    "\",\"zoneSetId\":\"s\",\"requestStatus\":\"" status "\"}"

static void start_zones(struct zone_rig *z)
{
    memset(z, 0, sizeof *z);
    start_rig(&z->rig,
              "pairs: {p: {codec: vda5050, real: acme/a, virtual: acme/b, mode: link}, "
              "q: {codec: vda5050, real: acme/c, virtual: acme/d, mode: link}, "
              "l: {codec: vda5050, real: acme/l, virtual: acme/m, mode: link}}\n"
              "teams: {cell: {resources: {A: {}, B: {}, T: {kind: tool, lease_s: 10, on_lost: "
              "release}, "
              "U: {kind: tool, lease_s: 30, on_lost: release}}, "
              "sequences: {j: [Wait]}, robots: {R1: {pair: p}, R2: {pair: q}}}}");
}

static void ask_zone(struct zone_rig *z, double s, const char *text)
{
    struct message m = {.t_us = lab_us(s),
                        .payload = text,
                        .stored_bytes = strlen(text),
                        .payload_bytes = strlen(text)};
    const struct event tick = {.kind = EVENT_TICK, .t_us = m.t_us + 10000};
    (void)snprintf(m.topic, sizeof m.topic, "tandem/v1/$lab/request");
    z->answers[0] = '\0';
    (void)codec_decode(&z->rig.set, "tandem/v1", &m, step_zones, z);
    step_zones(z, &tick);
}

static void test_zones(void)
{
    static struct zone_rig z;
    start_zones(&z);
    list_zones(&z, 'a', 1, ZONE("1", "A", "REQUESTED") "," ZONE("2", "B", "REQUESTED"));
    CHECK_TEXT("one Lock of both", z.reported, "A#1 GRANTED\n");
    CHECK_TEXT(
        "answered as VDA 5050 has it", z.answers,
        "uagv/v3/acme/a/responses "
        "{\"headerId\":0,\"timestamp\":\"1970-01-01T00:00:01.000Z\",\"version\":\"3.0.0\","
        "\"manufacturer\":\"acme\",\"serialNumber\":\"a\",\"responses\":[{\"requestId\":\"1\","
        "\"grantType\":\"GRANTED\"},"
        "{\"requestId\":\"2\",\"grantType\":\"GRANTED\"}]}\n");
    list_zones(&z, 'a', 2, ZONE("1", "A", "GRANTED") "," ZONE("2", "B", "GRANTED"));
    CHECK_TEXT("nothing more is asked", z.reported, "");
    list_zones(&z, 'c', 3, ZONE("1", "B", "REQUESTED"));
    CHECK_TEXT("another vehicle waits", z.reported, "B#1 QUEUED\n");
    CHECK("and gets that answer",
          strstr(z.answers, "uagv/v3/acme/c/responses {\"headerId\":0,") &&
              strstr(z.answers, "\"QUEUED\""));
    list_zones(&z, 'a', 4, ZONE("1", "A", "GRANTED"));
    CHECK_TEXT("the vehicle outside of one of two", z.reported, "B#1 GRANTED\n");
    CHECK("makes room in that",
          strstr(z.answers, "/c/responses") && strstr(z.answers, "\"GRANTED\""));
    list_zones(&z, 'a', 5, ZONE("1", "A", "GRANTED") "," ZONE("3", "B", "REQUESTED"));
    CHECK_TEXT("and queues again", z.reported, "B#2 QUEUED\n");
    list_zones(&z, 'a', 6, ZONE("1", "A", "GRANTED"));
    CHECK_TEXT("thinks better of it", z.reported, "");
    list_zones(&z, 'c', 7, "");
    CHECK_TEXT("is granted it all the same", z.reported, "B#2 GRANTED\n");
    list_zones(&z, 'a', 8, ZONE("1", "A", "GRANTED"));
    list_zones(&z, 'c', 9, ZONE("1", "B", "REQUESTED"));
    CHECK_TEXT("and gives it back", z.reported, "B#2 GRANTED\n");
    ask_zone(
        &z, 10,
        "{\"team\":\"cell\",\"op\":\"release\",\"id\":\"h1\",\"resource\":\"A\",\"fence\":1}");
    CHECK("a person frees it",
          strstr(z.answers, "/a/responses") &&
              strstr(z.answers, "{\"requestId\":\"1\",\"grantType\":\"REVOKED\"}"));
    list_zones(&z, 'a', 11, "");
    CHECK_TEXT("no unlock under an old fence", z.reported, "");
    list_zones(&z, 'a', 12, ZONE("1", "Nowhere", "REQUESTED"));
    CHECK("what there is not", strstr(z.answers, "\"REJECTED\""));
    end_rig(&z.rig);
}

/* Leases continue while the vehicle sends; a lost answer is sent again; a restart does not end
 * a lease. */
static void test_zone_leases(void)
{
    static struct zone_rig z;
    start_zones(&z);
    list_zones(&z, 'a', 1, ZONE("r", "T", "REQUESTED"));
    CHECK("its end", strstr(z.answers, "\"leaseExpiry\":\"1970-01-01T00:00:11.000Z\""));
    list_zones(&z, 'a', 3, ZONE("r", "T", "REQUESTED"));
    CHECK_TEXT("not yet", z.answers, "");
    list_zones(&z, 'a', 6.5, ZONE("r", "T", "REQUESTED"));
    CHECK("again, later", strstr(z.answers, "\"requestId\":\"r\",\"grantType\":\"GRANTED\","
                                            "\"leaseExpiry\":\"1970-01-01T00:00:1"));
    list_zones(&z, 'a', 12.5, ZONE("r", "T", "GRANTED"));
    CHECK("extended", strstr(z.answers, "\"leaseExpiry\":\"1970-01-01T00:00:16.500Z\""));
    list_zones(&z, 'c', 13, ZONE("x", "T", "REQUESTED"));
    CHECK("held", strstr(z.answers, "QUEUED"));
    struct message m = {
        .t_us = 14000000,
        .payload = "{\"connectionState\":\"ONLINE\",\"timestamp\":\"1970-01-01T00:00:14Z\"}"};
    (void)snprintf(m.topic, sizeof m.topic, "uagv/v3/acme/a/connection");
    m.stored_bytes = m.payload_bytes = strlen(m.payload);
    (void)codec_decode(&z.rig.set, "tandem/v1", &m, step_zones, &z);
    z.header[0] = 0;
    list_zones(&z, 'a', 15, "");
    CHECK_TEXT("it restarted: nobody has seen it leave", z.reported, "");
    list_zones(&z, 'a', 16, ZONE("r2", "T", "REQUESTED"));
    CHECK("its own place is still its own",
          strstr(z.answers, "\"requestId\":\"r2\",\"grantType\":\"GRANTED\""));
    step_zones(&z, &(struct event){.kind = EVENT_TICK, .t_us = 40000000});
    CHECK("silence ends it",
          strstr(z.answers, "\"requestId\":\"r2\",\"grantType\":\"REVOKED\""));
    end_rig(&z.rig);
}

/* Zones of one Lock: each has the end of its own lease, or none. */
static void test_leases_of_one_lock(void)
{
    static struct zone_rig z;
    start_zones(&z);
    list_zones(&z, 'a', 1,
               ZONE("1", "A", "REQUESTED") "," ZONE("2", "T", "REQUESTED") "," ZONE(
                   "3", "U", "REQUESTED"));
    CHECK("without a lease",
          strstr(z.answers, "{\"requestId\":\"1\",\"grantType\":\"GRANTED\"}"));
    CHECK("with one", strstr(z.answers, "{\"requestId\":\"2\",\"grantType\":\"GRANTED\","
                                        "\"leaseExpiry\":\"1970-01-01T00:00:11.000Z\"}"));
    CHECK("with a longer one",
          strstr(z.answers, "\"leaseExpiry\":\"1970-01-01T00:00:31.000Z\"}"));
    list_zones(&z, 'c', 2, ZONE("1", "T", "REQUESTED"));
    CHECK("nothing is leased yet",
          strstr(z.answers, "QUEUED") && !strstr(z.answers, "leaseExpiry"));
    end_rig(&z.rig);
}

/* The twin is in no real zone; a vehicle without a team gets an answer, too; masters of other
 * vehicles answer these. */
static void test_zones_of_others(void)
{
    static struct zone_rig z;
    start_zones(&z);
    list_zones(&z, 'a', 1, ZONE("1", "A", "REQUESTED"));
    list_zones(&z, 'b', 2, ZONE("9", "A", "REQUESTED"));
    CHECK_TEXT("the team is not asked", z.reported, "");
    CHECK("it is let in",
          strstr(z.rig.sent, "p uagv/v3/acme/b/responses") &&
              strstr(z.rig.sent, "\"requestId\":\"9\",\"grantType\":\"GRANTED\""));
    list_zones(&z, 'a', 3,
               ZONE("1", "A", "GRANTED") ",{\"requestId\":\"4\",\"requestType\":\"REPLANNING\","
                                         "\"zoneId\":\"A\"}");
    CHECK("another request",
          strstr(z.rig.sent, "\"requestId\":\"4\",\"grantType\":\"REJECTED\""));
    list_zones(&z, 'l', 4, ZONE("1", "A", "REQUESTED"));
    CHECK_TEXT("in no team", z.reported, "");
    const struct pair *pair = lab_pair(z.rig.lab, 2);
    CHECK_INT("an operator gets an alarm", pair->counts.alarm[ALARM_TYPE_CONTRADICTION], 1);
    list_zones(&z, 'l', 5, ZONE("1", "A", "REQUESTED"));
    CHECK_INT("once", pair->counts.alarm[ALARM_TYPE_CONTRADICTION], 1);
    list_zones(&z, 'a', 6, "{\"zoneId\":\"A\"}");
    CHECK_TEXT("half a list frees nothing", z.reported, "");
    CHECK_INT("and is malformed", lab_pair(z.rig.lab, 0)->counts.alarm[ALARM_TYPE_MALFORMED],
              1);
    end_rig(&z.rig);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("vda5050 zones", NULL, NULL);
    CU_add_test(suite, "zones", test_zones);
    CU_add_test(suite, "leases of zones", test_zone_leases);
    CU_add_test(suite, "leases of one lock", test_leases_of_one_lock);
    CU_add_test(suite, "zones of others", test_zones_of_others);
    return check_run();
}
