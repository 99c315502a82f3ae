/* l0.c - the lowest level of the lab's robot on an ATmega328P at 16 MHz: a machine that decides
 * every 25 ms, and a serial line at 115200 baud. Its motors and encoders are simulated here
 * (step_world()); yours are registers.
 *
 * The machine is L0Firmware.c, made of config/machines/l0firmware.yaml: change that, and
 *
 *   tandem machines generate ../../../config/machines/l0firmware.yaml --lang c --out .
 *   avr-gcc -mmcu=atmega328p -Os -std=c99 -ffunction-sections -fdata-sections -Wl,--gc-sections
 *       -o l0.elf l0.c ../c/tandem_robot.c -I../c -lm
 *
 * A line is "word payload", as on Tandem's topics: `command {"op":"go",...}` in, `reply {...}`
 * out. With -DPOSITIONAL it is positional text, as the papers' robots have it: "1 90 50" is GO,
 * 90 degrees to the right, 50 cm, "4" is HALT; it answers "D x_mm y_mm heading_deg began_ms
 * ended_ms", "H ..." halted, "I ..." ignored; "B" announces its start. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "L0Firmware.c"
#include "tandem_robot.h"

#define PERIOD_MS 25
#define PERIOD_S  0.025f
#define LAG_S     0.08f /* of the motors */

static struct L0Firmware machine;

static struct {
    float pose[3];       /* m, rad */
    float nu[2], tau[2]; /* ahead, turn: measured, and as commanded */
    uint32_t began_ms;
} l0;

/* ---- the board ---- */

static volatile uint32_t ms;
static volatile char filling[160], line[160]; /* the line that comes, and the last whole one */
static volatile uint8_t filled, line_bytes;   /* line_bytes > 0: ready to be read */
static volatile uint32_t line_ms;

ISR(TIMER0_COMPA_vect)
{
    ms++;
}

ISR(USART_RX_vect)
{
    const char c = (char)UDR0;
    if (c != '\n') {
        if (filled < sizeof filling) {
            filling[filled++] = c;
        }
        return;
    }
    if (line_bytes == 0 && filled < sizeof filling) {
        memcpy((char *)line, (const char *)filling, filled);
        line_ms = ms;
        line_bytes = filled;
    }
    filled = 0;
}

static void start_board(void)
{
    TCCR0A = 1 << WGM01;
    TCCR0B = 1 << CS01 | 1 << CS00;
    OCR0A = 249; /* 16 MHz / 64 / 250 */
    TIMSK0 = 1 << OCIE0A;
    UBRR0 = 8;
    UCSR0B = 1 << RXEN0 | 1 << TXEN0 | 1 << RXCIE0;
    UCSR0C = 3 << UCSZ00;
    sei();
}

static uint32_t read_ms(void)
{
    cli();
    const uint32_t now = ms;
    sei();
    return now;
}

static void send_text(const char *text, uint16_t bytes)
{
    while (bytes--) {
        while (!(UCSR0A & 1 << UDRE0)) {
        }
        UDR0 = (uint8_t)*text++;
    }
}

/* ---- the robot ---- */

/* Simulates motors, wheels and odometry for one period; returns how far the robot drove and
 * turned.
 */
static void step_world(float *ahead_m, float *turned_rad)
{
    for (uint8_t k = 0; k < 2; k++) {
        l0.nu[k] += (l0.tau[k] - l0.nu[k]) * (PERIOD_S / (LAG_S + PERIOD_S));
    }
    const float turned = l0.nu[1] * PERIOD_S, went = l0.nu[0] * PERIOD_S;
    const float course = l0.pose[2] + turned / 2;
    l0.pose[0] += went * cosf(course);
    l0.pose[1] += went * sinf(course);
    l0.pose[2] += turned;
    if (fabsf(l0.pose[2]) > (float)M_PI) {
        l0.pose[2] -= copysignf(2 * (float)M_PI, l0.pose[2]);
    }
    *ahead_m = went;
    *turned_rad = turned;
}

static struct efsm_value defined_number(float value)
{
    return (struct efsm_value){.now = value, .defined = true};
}

/* At a fault its outputs have no value, and the robot stands. */
static float output_number(const struct efsm_value *output)
{
    return output->defined ? (float)output->now : 0;
}

/* A cycle of the machine. Its clock stands still: it asks for no time, and a float would not
 * tell milliseconds apart after some hours. */
static void run_cycle(bool go, bool halt, float ahead_m, float turned_rad)
{
    machine.in.go = defined_number(go);
    machine.in.halt = defined_number(halt);
    machine.in.dx = defined_number(ahead_m);
    machine.in.dtheta = defined_number(turned_rad);
    L0Firmware_plan(&machine, 0);
    L0Firmware_update(&machine, 0);
    L0Firmware_write_outputs(&machine, 0);
    l0.tau[0] = output_number(&machine.out.ahead);
    l0.tau[1] = output_number(&machine.out.turn);
}

/* A period; true when a move has just ended. */
static bool decide_next(void)
{
    float ahead_m, turned_rad;
    step_world(&ahead_m, &turned_rad);
    run_cycle(false, false, ahead_m, turned_rad);
    return output_number(&machine.out.done) > 0;
}

static void begin_travel(float turn_rad, float distance_m)
{
    machine.in.angle = defined_number(turn_rad);
    machine.in.distance = defined_number(distance_m);
    l0.began_ms = read_ms();
    run_cycle(true, false, 0, 0);
}

static void stop_travel(void)
{
    run_cycle(false, true, 0, 0);
}

#ifdef POSITIONAL

static void say_number(int32_t value)
{
    char text[13] = " ";
    ltoa(value, text + 1, 10);
    send_text(text, (uint16_t)strlen(text));
}

static void publish_pose(char what)
{
    send_text(&what, 1);
    say_number((int32_t)lrintf(l0.pose[0] * 1000));
    say_number((int32_t)lrintf(l0.pose[1] * 1000));
    say_number((int32_t)lrintf(l0.pose[2] * 180 / (float)M_PI));
    say_number((int32_t)l0.began_ms);
    say_number((int32_t)read_ms());
    send_text("\n", 1);
}

static void start_robot(void)
{
    send_text("B\n", 2);
}

static void apply_line(char *text)
{
    char *at = text;
    const long op = strtol(at, &at, 10), right_deg = strtol(at, &at, 10),
               distance_cm = strtol(at, &at, 10);
    if (op == 1 && machine.state == L0Firmware_LISTEN) {
        begin_travel(-(float)right_deg * (float)M_PI / 180, (float)distance_cm / 100);
    } else if (op == 4 && machine.state != L0Firmware_LISTEN) {
        stop_travel();
        publish_pose('H'); /* for the move, */
        publish_pose('D'); /* and for the halt */
    } else {
        publish_pose('I');
    }
}

static void report_end(bool ended)
{
    if (ended) {
        publish_pose('D');
    }
}

#else

static bool send_line(void *context, const char *word, const char *payload, uint16_t bytes,
                      uint8_t qos, bool retained)
{
    (void)context, (void)qos, (void)retained; /* who carries it to a broker knows by the word */
    send_text(word, (uint16_t)strlen(word));
    send_text(" ", 1);
    send_text(payload, bytes);
    send_text("\n", 1);
    return true;
}

static struct tandem_time read_clock(void *context)
{
    (void)context;
    return tandem_ms(read_ms());
}

static bool begin_move(void *context, const struct tandem_command *command)
{
    (void)context;
    if (strcmp(command->op, "go") != 0) {
        return false;
    }
    begin_travel(command->rotation_rad, command->displacement_m);
    return true;
}

static void stop_move(void *context)
{
    (void)context;
    stop_travel();
}

static const struct tandem_body body = {
    .send = send_line, .now = read_clock, .begin = begin_move, .stop = stop_move, .boot = ""};
static struct tandem_robot robot;

static void start_robot(void)
{
    robot.has = &body;
    tandem_online(&robot);
}

static void apply_line(char *text)
{
    char *payload = strchr(text, ' ');
    if (payload) {
        *payload++ = '\0';
        memcpy(robot.pose, l0.pose, sizeof robot.pose);
        tandem_receive(&robot, text, payload, (uint16_t)strlen(payload), tandem_ms(line_ms));
    }
}

static void report_end(bool ended)
{
    static uint8_t periods;
    memcpy(robot.pose, l0.pose, sizeof robot.pose);
    if (ended) {
        tandem_end(&robot, "done");
    }
    if (++periods % 4 == 0) {
        tandem_sample(&robot, tandem_ms(read_ms()), l0.nu, 2, l0.tau, 2);
    }
}

#endif

int main(void)
{
    start_board();
    L0Firmware_init(&machine, 0);
    start_robot();
    for (uint32_t next_ms = PERIOD_MS;;) {
        if (line_bytes > 0) {
            char text[sizeof line + 1];
            memcpy(text, (const char *)line, line_bytes);
            text[line_bytes] = '\0';
            apply_line(text);
            line_bytes = 0;
        }
        sleep_mode();
        if ((int32_t)(read_ms() - next_ms) >= 0) {
            next_ms += PERIOD_MS;
            report_end(decide_next());
        }
    }
}
