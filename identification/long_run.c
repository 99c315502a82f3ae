#include "identification/long_run.h"

#include <string.h>

void long_run_start(struct long_run *m, size_t p, size_t reach)
{
    memset(m, 0, sizeof *m);
    m->p = p;
    m->block = (reach + LONG_RUN_LAGS_MAX - 1) / LONG_RUN_LAGS_MAX;
    m->block = m->block > 0 ? m->block : 1;
    m->lags = reach / m->block;
}

static void close_block(struct long_run *m)
{
    double past[DYNAMICS_P_MAX] = {0.0};
    const size_t known = m->seen < m->lags ? m->seen : m->lags;
    for (size_t l = 1; l <= known; l++) {
        const double *before = m->ring[(m->seen - l) % LONG_RUN_LAGS_MAX];
        const double weight = 1.0 - (double)l / ((double)m->lags + 1.0);
        for (size_t i = 0; i < m->p; i++) {
            past[i] += weight * before[i];
        }
    }
    for (size_t i = 0; i < m->p; i++) {
        for (size_t j = 0; j < m->p; j++) {
            m->robust[i * m->p + j] +=
                m->now[i] * m->now[j] + m->now[i] * past[j] + past[i] * m->now[j];
        }
    }
    memcpy(m->ring[m->seen % LONG_RUN_LAGS_MAX], m->now, sizeof m->now);
    m->seen++;
    m->in_block = 0;
    memset(m->now, 0, sizeof m->now);
}

void long_run_add(struct long_run *m, const double *g)
{
    for (size_t i = 0; i < m->p; i++) {
        m->now[i] += g[i];
        for (size_t j = 0; j < m->p; j++) {
            m->plain[i * m->p + j] += g[i] * g[j];
        }
    }
    if (++m->in_block == m->block) {
        close_block(m);
    }
}

void long_run_break(struct long_run *m)
{
    if (m->in_block > 0) {
        close_block(m);
    }
    m->seen = 0;
}
