#include "service/tool/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "service/tool/lab_clock.h"

enum { BAR_WIDTH = 40 };

void progress_start(struct progress *p, const char *what)
{
    *p = (struct progress){.what = what, .shown = isatty(STDERR_FILENO) == 1};
}

void progress_step(struct progress *p, uint64_t done, uint64_t total)
{
    if (!p->shown) {
        return;
    }
    const int64_t now_us = lab_clock_monotonic_us();
    if (now_us < p->next_us) {
        return;
    }
    p->next_us = now_us + 200000;
    if (total == 0) {
        (void)fprintf(stderr, "\r%s %.1f MB", p->what, (double)done * 1e-6);
        return;
    }
    const double share = done >= total ? 1.0 : (double)done / (double)total;
    char bar[BAR_WIDTH + 1];
    for (int k = 0; k < BAR_WIDTH; k++) {
        bar[k] = (double)k < share * BAR_WIDTH ? '#' : '.';
    }
    bar[BAR_WIDTH] = '\0';
    (void)fprintf(stderr, "\r%s [%s] %3.0f %%\033[K", p->what, bar, 100.0 * share);
}

void progress_end(struct progress *p)
{
    if (p->shown && p->next_us > 0) {
        (void)fputs("\r\033[K", stderr);
    }
}
