/* simavr_run.c - runs a firmware for the ATmega328P in simavr, in real time, its UART on a
 * pseudo terminal: simavr_run FIRMWARE.elf LINK, where LINK becomes a link to the terminal.
 * Ends with its parent. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <simavr/sim_irq.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { HZ = 16000000, SLICE = HZ / 1000 };

static int terminal;
static bool ready = true; /* the UART accepts a byte */

static void receive_byte(struct avr_irq_t *irq, uint32_t value, void *context)
{
    const char c = (char)value;
    (void)irq, (void)context;
    if (write(terminal, &c, 1) != 1) {
        /* nobody reads: lost, as on a line */
    }
}

static void set_ready(struct avr_irq_t *irq, uint32_t value, void *context)
{
    (void)irq, (void)value;
    ready = context != NULL;
}

static void skip_sleep(avr_t *avr, avr_cycle_count_t cycles)
{
    (void)avr, (void)cycles; /* time is kept below */
}

static double read_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool open_terminal(const char *link)
{
    struct termios settings;
    terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) || unlockpt(terminal)) {
        return false;
    }
    /* Kept open, so that the line lives while nobody else has it. */
    const int other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    if (other < 0 || tcgetattr(other, &settings)) {
        return false;
    }
    cfmakeraw(&settings);
    unlink(link);
    return tcsetattr(other, TCSANOW, &settings) == 0 &&
           fcntl(terminal, F_SETFL, O_NONBLOCK) == 0 && symlink(ptsname(terminal), link) == 0;
}

static avr_t *load_firmware(const char *path)
{
    elf_firmware_t firmware = {0};
    uint32_t flags = 0;
    avr_t *avr =
        elf_read_firmware(path, &firmware) == 0 ? avr_make_mcu_by_name("atmega328p") : NULL;
    if (!avr) {
        return NULL;
    }
    avr_init(avr);
    firmware.frequency = HZ;
    avr_load_firmware(avr, &firmware);
    avr->log = LOG_ERROR;
    avr->sleep = skip_sleep;
    avr_ioctl(avr, AVR_IOCTL_UART_GET_FLAGS('0'), &flags);
    flags &= ~(uint32_t)(AVR_UART_FLAG_STDIO | AVR_UART_FLAG_POLL_SLEEP);
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT),
                            receive_byte, NULL);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUT_XON),
                            set_ready, &ready);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUT_XOFF),
                            set_ready, NULL);
    return avr;
}

int main(int argc, char **argv)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    avr_t *avr = argc == 3 && open_terminal(argv[2]) ? load_firmware(argv[1]) : NULL;
    if (!avr) {
        fputs("usage: simavr_run FIRMWARE.elf LINK\n", stderr);
        return 2;
    }
    avr_irq_t *in = avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT);
    char bytes[512];
    ssize_t count = 0, at = 0;
    const double begin_s = read_clock();
    for (avr_cycle_count_t slice = SLICE;; slice += SLICE) {
        while (avr->cycle < slice) {
            const int state = avr_run(avr);
            if (state == cpu_Done || state == cpu_Crashed) {
                fprintf(stderr, "the processor ended: %d\n", state);
                return 1;
            }
        }
        if (at >= count) {
            count = read(terminal, bytes, sizeof bytes);
            at = 0;
        }
        for (int k = 0; k < 11 && ready && at < count;
             k++) { /* characters per millisecond at 115200 baud */
            avr_raise_irq(in, (uint8_t)bytes[at++]);
        }
        const double ahead_s = (double)avr->cycle / HZ - (read_clock() - begin_s);
        if (ahead_s > 0.0) {
            nanosleep(&(struct timespec){0, (long)(ahead_s * 1e9)}, NULL);
        }
    }
}
