#include "service/demo/demo_vessels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/lab_time.h"

#define BOLD  "\033[1m"
#define RED   "\033[31m"
#define GREEN "\033[32m"
#define AMBER "\033[33m"
#define PLAIN "\033[0m"

#define TAU 6.28318530717958647692 /* a whole turn, rad */

enum { OPEN_LOOP, FOLLOWING };

static const char *const phases[] = {"open loop", "following"};
static const char *const velocities[DEMO_VELOCITIES] = {"u", "v", "r"};

const char demo_vessels_robots[] =
    "# Made by tandem demo. What each can do is what its thrusters give; the simulated one may "
    "be pushed any way.\n"
    "real:\n"
    "  vessel: iacquabot\n"
    "  actuation: allocated\n"
    "  noise_u_mps: 0.0005\n"
    "  noise_v_mps: 0.0005\n"
    "  noise_r_radps: 0.0003\n"
    "virtual:\n"
    "  vessel: wamv\n"
    "  effort_timeout_s: 0.5\n";

void demo_vessels_plan(struct demo_vessels *v, double for_s)
{
    v->open_s = for_s > 0.0 ? fmin(20.0, for_s / 3.0) : 20.0;
    v->window_s = for_s > 0.0 ? fmin(10.0, fmax(1.0, for_s / 4.0)) : 10.0;
}

void demo_vessels_lab(const struct demo_vessels *v, char out[DEMO_LAB_MAX])
{
    (void)snprintf(out, DEMO_LAB_MAX,
                   "    probe_interval_s: 1\n"
                   "    following:\n"
                   "      model: usv3\n"
                   "      real: iacquabot\n"
                   "      virtual: wamv\n"
                   "      limits: 200, 200, 120\n"
                   "      noise_sd: 0.0005, 0.0005, 0.0003\n"
                   "      pose_per_s2: 4\n"
                   "      window_s: %g\n",
                   v->window_s);
}

/* Turns and straights that never come the same way twice, within what the real vessel's
 * thrusters can do. */
static void steer_pilot(double t_s, double tau[DEMO_VELOCITIES])
{
    tau[0] = 50.0 + 15.0 * sin(TAU * t_s / 13.0);
    tau[1] = 0.0;
    tau[2] = 10.0 + 8.0 * sin(TAU * t_s / 9.0) + 4.0 * sin(TAU * t_s / 3.1);
}

static void send_efforts(struct mqtt_client *client, enum side side, const char *payload)
{
    char topic[64];
    (void)snprintf(topic, sizeof topic, "tandem/v1/r1/%s/control", side_name(side));
    /* One that is refused is followed by the next at once. */
    const enum status status =
        mqtt_client_publish(client, topic, payload, strlen(payload), 0, false);
    (void)status;
}

bool demo_vessels_drive(struct demo_vessels *v, struct mqtt_client *client, int64_t now_us)
{
    double tau[DEMO_VELOCITIES];
    char payload[128];
    v->begun_us = v->begun_us > 0 ? v->begun_us : now_us;
    const double t_s = lab_s(now_us - v->begun_us);
    const bool tell = !v->following && t_s >= v->open_s;
    if (tell) {
        v->following = true;
        v->told_us = now_us;
    }
    steer_pilot(t_s, tau);
    (void)snprintf(payload, sizeof payload, "{\"tau\":[%.3f,%.3f,%.3f]}", tau[0], tau[1],
                   tau[2]);
    send_efforts(client, SIDE_REAL, payload);
    if (!v->following) {
        send_efforts(client, SIDE_VIRTUAL, payload);
    }
    return tell;
}

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : nan("");
}

/* "-" for what is not there. */
static void print_real(double value, int decimals)
{
    if (isfinite(value)) {
        (void)printf(" %9.*f", decimals, value);
    } else {
        (void)printf(" %9s", "-");
    }
}

static void print_header(struct demo_vessels *v)
{
    char title[64];
    if (!v->header_shown) {
        v->header_shown = true;
        (void)snprintf(title, sizeof title, "gap, RMS over %g s:", v->window_s);
        (void)printf("%s%6s  %-10s %s\n", v->colour ? BOLD : "", "", "", title);
        (void)printf("%6s  %-10s %9s %9s %9s %9s %9s  %s%s\n", "s", "", "u m/s", "v m/s",
                     "r rad/s", "x m", "y m", "within 5 cm, 50 ms", v->colour ? PLAIN : "");
    }
}

static void take_fidelity(struct demo_vessels *v, const json_t *fidelity, int64_t now_us)
{
    const json_t *states = json_object_get(fidelity, "states");
    const int phase = v->following ? FOLLOWING : OPEN_LOOP;
    const double within_ratio = number_of(fidelity, "within_ratio");
    if (v->begun_us == 0 || !(number_of(fidelity, "samples") > 0.0)) {
        return;
    }
    print_header(v);
    (void)printf("%6.1f  %s%-10s%s", lab_s(now_us - v->begun_us),
                 v->colour ? (v->following ? GREEN : AMBER) : "", phases[phase],
                 v->colour ? PLAIN : "");
    for (int i = 0; i < DEMO_VELOCITIES; i++) {
        v->gap[phase][i] = number_of(json_object_get(states, velocities[i]), "rmse");
        print_real(v->gap[phase][i], 5);
    }
    print_real(number_of(json_object_get(states, "x"), "rmse"), 3);
    print_real(number_of(json_object_get(states, "y"), "rmse"), 3);
    print_real(100.0 * within_ratio, 0);
    (void)puts(" %");
    (void)fflush(stdout);
    v->within_ratio[phase] = within_ratio;
    /* The window must hold this phase only. */
    v->known[phase] = !v->following || lab_s(now_us - v->told_us) > v->window_s + 1.0;
}

static void take_alarm(struct demo_vessels *v, const json_t *alarm)
{
    const char *type = json_string_value(json_object_get(alarm, "type"));
    const char *detail = json_string_value(json_object_get(alarm, "detail"));
    v->alarms++;
    (void)printf("%s      alarm %s: %s%s\n", v->colour ? RED : "", type ? type : "",
                 detail ? detail : "", v->colour ? PLAIN : "");
    (void)fflush(stdout);
}

void demo_vessels_take(struct demo_vessels *v, const char *topic, const char *payload,
                       size_t bytes, int64_t now_us)
{
    const char *word = strrchr(topic, '/');
    json_t *document = json_loadb(payload, bytes, 0, NULL);
    if (!document) {
        v->unreadable++;
    } else if (word && strcmp(word, "/fidelity") == 0) {
        take_fidelity(v, document, now_us);
    } else if (word && strcmp(word, "/alarm") == 0) {
        take_alarm(v, document);
    }
    json_decref(document);
}

bool demo_vessels_summary(const struct demo_vessels *v)
{
    (void)printf("\n%-46s %9s %9s %9s\n", "gap between real and virtual vessel, RMS", "u m/s",
                 "v m/s", "r rad/s");
    for (int phase = OPEN_LOOP; phase <= FOLLOWING; phase++) {
        (void)printf("%-46s", phase == OPEN_LOOP ? "open loop: both get the same efforts"
                                                 : "following: Tandem drives the virtual one");
        for (int i = 0; i < DEMO_VELOCITIES; i++) {
            print_real(v->known[phase] ? v->gap[phase][i] : nan(""), 5);
        }
        (void)putchar('\n');
    }
    if (!v->known[OPEN_LOOP] || !v->known[FOLLOWING]) {
        (void)puts("it ended before both were seen for long enough; 30 s will do");
        return false;
    }
    (void)printf("%-46s", "times less");
    for (int i = 0; i < DEMO_VELOCITIES; i++) {
        print_real(v->gap[OPEN_LOOP][i] / v->gap[FOLLOWING][i], 1);
    }
    (void)printf("\nwithin 5 cm and 50 ms: %.0f %% of the time before, %.0f %% after; noise of "
                 "the real one's telemetry:\n0.0005 m/s, 0.0005 m/s, 0.0003 rad/s, which the "
                 "gap holds; it comes 10 ms late and more\n",
                 100.0 * v->within_ratio[OPEN_LOOP], 100.0 * v->within_ratio[FOLLOWING]);
    return true;
}
