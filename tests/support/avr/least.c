/* The smallest program with the client in it: its size on an ATmega328P is that of the client
 * and the C runtime. */
#include "tandem_robot.h"

static volatile uint32_t ms;
static volatile float wheels[2];
static char line[160];

static bool publish_nothing(void *context, const char *word, const char *payload,
                            uint16_t bytes, uint8_t qos, bool retained)
{
    (void)context, (void)word, (void)qos, (void)retained;
    *(volatile char *)0xc6 = payload[bytes - 1]; /* UDR0 */
    return true;
}

static struct tandem_time read_clock(void *context)
{
    (void)context;
    return tandem_ms(ms);
}

static bool begin_command(void *context, const struct tandem_command *command)
{
    (void)context;
    wheels[0] = command->rotation_rad;
    wheels[1] = command->displacement_m;
    return true;
}

static void stop_wheels(void *context)
{
    (void)context;
    wheels[0] = wheels[1] = 0.0f;
}

int main(void)
{
    static const struct tandem_body body = {.send = publish_nothing,
                                            .now = read_clock,
                                            .begin = begin_command,
                                            .stop = stop_wheels,
                                            .boot = "1"};
    static struct tandem_robot robot;
    robot.has = &body;
    tandem_online(&robot);
    for (;;) {
        const float nu[2] = {wheels[0], wheels[1]};
        tandem_receive(&robot, line, line + 8, sizeof line - 8, tandem_ms(ms));
        tandem_sample(&robot, tandem_ms(ms), nu, 2, nu, 2);
        tandem_end(&robot, "done");
    }
}
