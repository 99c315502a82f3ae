/* A team's chart: bars from its activities, and their picture. */
#include "tests/support/check.h"

#include <jansson.h>

#include "tests/support/team_drive.h"
#include "tests/support/team_spec.h"
#include "twin/report/team_chart.h"
#include "twin/team/step/team_bars.h"

enum { BARS_MAX = 400 };

static struct bar bars[BARS_MAX];
static size_t bar_count;
static struct team_spec spec;
static struct team_drive drive;
static char text[256 * 1024];
static size_t text_bytes;

static void store_bar(void *context, const struct bar *bar)
{
    (void)context;
    CHECK("room", bar_count < BARS_MAX);
    CHECK("order", bar->from_us <= bar->to_us);
    bars[bar_count++] = *bar;
}

static void record_effect(void *context, const struct team_effect *effect)
{
    (void)context;
    team_bars_ended(&spec.p, effect, store_bar, NULL);
}

/* R1 takes three seconds for each activity, R2 two; R2 fails its third activity. */
static bool find_duration(void *context, uint16_t robot, const struct team_step *step,
                          uint32_t n, int64_t *took_us, enum team_event_kind *event)
{
    (void)context, (void)step;
    *took_us = robot == 0 ? 3000000 : 2000000;
    *event = robot == 1 && n == 3 ? TEAM_EVENT_FAIL : TEAM_EVENT_DONE;
    return true;
}

/* Both want A, then meet; then each does something more. Until t_us. */
static void *run_team(int64_t until_us)
{
    static const char json[] =
        "{\"resources\": {\"A<&\": {}}, \"sequences\": {\"s\": [[\"lock\", [\"A<&\"]], "
        "[\"do\", \"Move\", \"A\\\"\"], [\"unlock\", [\"A<&\"]], [\"meet\", \"m\", 2], "
        "[\"do\", \"Go\"], [\"do\", \"Go\"]]}, "
        "\"robots\": {\"R1\": {\"prog\": \"s\"}, \"R2\": {\"prog\": \"s\"}}}";
    json_t *head = json_loads(json, 0, NULL);
    CHECK("team", head != NULL);
    spec = (struct team_spec){0};
    team_spec_read(&spec, head);
    void *memory = malloc(team_bytes(&spec.p));
    drive = (struct team_drive){.team = team_init(memory, &spec.p),
                                .p = &spec.p,
                                .duration = find_duration,
                                .emit = record_effect};
    bar_count = 0;
    team_drive_start(&drive);
    while (team_drive_next(&drive) <= until_us && team_drive_step(&drive)) {
    }
    json_decref(head);
    return memory;
}

static void end_team(void *memory)
{
    free(drive.queue);
    free(memory);
    team_spec_free(&spec);
}

static void print_bars(char *out, size_t size)
{
    out[0] = '\0';
    for (size_t i = 0; i < bar_count; i++) {
        const size_t used = strlen(out);
        (void)snprintf(out + used, size - used, "%s %s %s%s%s %lld-%lld%s; ",
                       bar_kind_name(bars[i].kind), bars[i].robot, bars[i].resource,
                       bars[i].task, bars[i].arg, (long long)(bars[i].from_us / 1000000),
                       (long long)(bars[i].to_us / 1000000), bars[i].open ? "+" : "");
    }
}

static void test_bars(void)
{
    char reported[2048];
    void *memory = run_team(LAB_TIME_MAX - 1);
    print_bars(reported, sizeof reported);
    CHECK_TEXT("all", reported,
               "task R1 MoveA\" 0-3; hold R1 A<& 0-3; wait R2 A<& 0-3; task R2 MoveA\" 3-5; "
               "hold R2 A<& 3-5; meet R1 m 3-5; task R2 Go 5-7; task R1 Go 5-8; "
               "failed R2 Go 7-9; task R1 Go 8-11; ");
    end_team(memory);
}

static void test_open(void)
{
    char reported[2048];
    void *memory = run_team(2000000);
    CHECK_INT("none has ended", bar_count, 0);
    team_bars_open(&spec.p, drive.team, 2000000, store_bar, NULL);
    print_bars(reported, sizeof reported);
    CHECK_TEXT("open", reported, "task R1 MoveA\" 0-2+; wait R2 A<& 0-2+; hold R1 A<& 0-2+; ");
    end_team(memory);
}

static void store_text(void *context, const char *piece, size_t bytes)
{
    (void)context;
    CHECK("room", text_bytes + bytes < sizeof text);
    memcpy(text + text_bytes, piece, bytes);
    text_bytes += bytes;
    text[text_bytes] = '\0';
}

static size_t count_of(const char *what)
{
    size_t count = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what)) {
        count++;
    }
    return count;
}

static void test_picture(void)
{
    void *memory = run_team(LAB_TIME_MAX - 1);
    const struct team_chart_mark mark = {9000000, "task_error: R2 holds A<&"};
    struct team_chart g = {&spec.p, bars, bar_count, &mark, 1, LAB_TIME_MAX, 0, 11000000};
    text_bytes = 0;
    team_chart_write_svg(&g, store_text, NULL);
    CHECK_INT("bars", count_of("<rect"), 10);
    CHECK_INT("titles", count_of("<title>"), 11);
    CHECK_INT("closed", count_of("<g "), count_of("</g>"));
    CHECK("escaped", strstr(text, "A&lt;&amp;") && strstr(text, "Move A&quot;"));
    CHECK("nothing else", !strstr(text, "A<&"));
    CHECK("alarm", strstr(text, "<title>task_error: R2 holds A&lt;&amp;, 9.000 s</title>"));
    CHECK("one of R2's waits", strstr(text, "R2: waits for A&lt;&amp;, 0.000 s to 3.000 s"));
    CHECK("nothing was predicted", !strstr(text, "forecast") && !strstr(text, "now"));
    for (size_t i = 0; i < bar_count; i++) {
        bars[i].has_forecast = bars[i].kind == BAR_TASK && strcmp(bars[i].robot, "R1") == 0;
        bars[i].predicted_from_us = bars[i].from_us + 100000;
        bars[i].predicted_p05_us = bars[i].to_us - 200000;
        bars[i].predicted_p95_us = bars[i].to_us + 300000;
    }
    bars[bar_count] = bars[0]; /* the last one, which has not begun */
    bars[bar_count].kind = BAR_AHEAD;
    bars[bar_count].predicted_from_us = 10000000;
    bars[bar_count].predicted_p05_us = 12000000;
    bars[bar_count++].predicted_p95_us = 13000000;
    g.bar_count = bar_count;
    g.now_us = 9000000;
    text_bytes = 0;
    team_chart_write_svg(&g, store_text, NULL);
    CHECK_INT("bars as before", count_of("<rect"), 10);
    CHECK_INT("ticks and whiskers", count_of("class=\"forecast\""), 4);
    CHECK_INT("whiskers in the picture", count_of("v 6 m 0 -3 H"), 3);
    CHECK("in words",
          strstr(text, "R1: Move A&quot;, predicted to begin at 0.100 s and to end at "
                       "2.800 s to 3.300 s"));
    CHECK_INT("now", count_of("class=\"now\""), 1);
    g.from_us = 6000000; /* the first five ended before it */
    text_bytes = 0;
    team_chart_write_svg(&g, store_text, NULL);
    CHECK_INT("cut", count_of("<rect"), 4);
    CHECK("no place left of the lanes", !strstr(text, "x=\"-"));
    end_team(memory);
}

static void test_json(void)
{
    char out[512];
    struct json_writer w;
    const struct bar bar = {.kind = BAR_HOLD,
                            .robot = "R1",
                            .resource = "IB",
                            .number = 7,
                            .from_us = 1500000,
                            .to_us = 2000000};
    json_write_start(&w, out, sizeof out - 1, NULL, NULL);
    bar_write_json(&w, NULL, &bar);
    CHECK("whole", json_write_end(&w));
    out[w.used] = '\0';
    CHECK_TEXT("bar", out,
               "{\"kind\":\"hold\",\"robot\":\"R1\",\"resource\":\"IB\",\"fence\":7,"
               "\"from\":1.5,\"to\":2}");
    const struct bar ahead = {.kind = BAR_AHEAD,
                              .robot = "R1",
                              .task = "Go",
                              .number = 3,
                              .from_us = 1000000,
                              .to_us = 3000000,
                              .has_forecast = true,
                              .predicted_from_us = 1000000,
                              .predicted_p05_us = 2000000,
                              .predicted_p95_us = 3000000};
    json_write_start(&w, out, sizeof out - 1, NULL, NULL);
    bar_write_json(&w, NULL, &ahead);
    CHECK("whole", json_write_end(&w));
    out[w.used] = '\0';
    CHECK_TEXT(
        "ahead", out,
        "{\"kind\":\"ahead\",\"robot\":\"R1\",\"task\":\"Go\",\"n\":3,\"from\":1,\"to\":3,"
        "\"predicted_from\":1,\"predicted_p05\":2,\"predicted_p95\":3}");
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("chart", NULL, NULL);
    CU_add_test(suite, "bars", test_bars);
    CU_add_test(suite, "open", test_open);
    CU_add_test(suite, "picture", test_picture);
    CU_add_test(suite, "json", test_json);
    return check_run();
}
