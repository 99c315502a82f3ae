#include "identification/simulation/channel_response.h"

#include <math.h>

/* Substeps in a row, and in a lag: a command that changes within one acts with its mean. */
static const double SUBSTEPS = 5.0;
static const double SUBSTEPS_OF_LAG = 10.0;
static const double SUBSTEPS_MAX = 50.0;
/* Commands before a run are unknown for this time, these rows, and this multiple of the lag,
 * but at most a quarter of a run. */
static const double SETTLED_S = 0.3;
static const double SETTLED_ROWS = 6.0;
static const double SETTLED_LAGS = 3.0;
static const double SETTLED_SHARE = 0.25;

static void find_changes(struct channel_response *channel)
{
    const struct data_set *set = channel->set;
    const double *t_s = set->t_s;
    const double *command = channel->command;
    size_t count = 0;
    for (size_t a = 0; a < set->axes && set->commands.count > 0; a++) {
        if (set->tau[a] == channel->command) { /* it has times of its own */
            t_s = set->commands.t_s;
            command = set->commands.tau[a];
        }
    }
    for (size_t r = 0; r < set->run_count; r++) {
        const bool apart = command != channel->command;
        const size_t from = apart ? set->run_commands[r][0] : set->run_start[r];
        const size_t end = apart ? set->run_commands[r][1] : set->run_start[r + 1];
        channel->run_change[r] = count;
        for (size_t k = from; k < end; k++) {
            if (k == from || fabs(command[k] - command[k - 1]) > 0.0) {
                channel->change_s[count] = t_s[k];
                channel->change_command[count++] = command[k];
            }
        }
    }
    channel->run_change[set->run_count] = count;
    channel->change_count = count;
}

enum status channel_init(struct channel_response *channel, const struct data_set *set,
                         const double *command, const double *velocity, double lag_s)
{
    *channel = (struct channel_response){.set = set, .command = command, .velocity = velocity};
    const size_t changes = set->n + set->commands.count;
    channel->memory = gsl_vector_alloc(2 * changes);
    if (!channel->memory) {
        return STATUS_E_NOMEM;
    }
    channel->change_s = channel->memory->data;
    channel->change_command = channel->memory->data + changes;
    find_changes(channel);
    channel->span_s = set->t_s[set->n - 1] - set->t_s[0];
    channel->substep_s =
        fmax(fmin(set->dt_s / SUBSTEPS, lag_s / SUBSTEPS_OF_LAG), set->dt_s / SUBSTEPS_MAX);
    channel->settled_s = fmax(SETTLED_S, SETTLED_ROWS * set->dt_s);
    for (size_t r = 0; r < set->run_count; r++) {
        channel->starts[r] = velocity[set->run_start[r]];
    }
    if (set->run_count > 1) { /* their first velocities are not fitted, but forgotten */
        const double run_s = channel->span_s / (double)set->run_count;
        channel->settled_s =
            fmin(fmax(channel->settled_s, SETTLED_LAGS * lag_s), SETTLED_SHARE * run_s);
    }
    return STATUS_OK;
}

void channel_free(struct channel_response *channel)
{
    gsl_vector_free(channel->memory);
    *channel = (struct channel_response){.set = NULL};
}

/* Does the residual of sample k of a run count? Earlier commands are unknown. */
static bool is_settled(const struct channel_response *channel, size_t run, size_t k)
{
    const double *t_s = channel->set->t_s;
    return t_s[k] >= t_s[channel->set->run_start[run]] + channel->settled_s &&
           data_set_is_recorded(channel->set, k);
}

/* Computes the command that acts after dead band, limit and dependence on size. */
static double shape_command(const struct channel_values *values, double command)
{
    double size = fmax(fabs(command) - values->dead_band, 0.0);
    if (values->effect == CHANNEL_CLIP) {
        size = fmin(size, values->size);
    } else if (values->effect == CHANNEL_DEAD_BAND) {
        size = fmax(size - values->size, 0.0);
    } else if (values->effect == CHANNEL_GAIN_BY_SIZE) {
        size *= 1.0 + values->size * size;
    }
    return copysign(size, command);
}

/* State of a channel between two substeps. */
struct walk {
    const struct channel_response *channel;
    const struct channel_values *values;
    size_t next, end;       /* changes that are still to come in this run */
    double t_s, acts_s;     /* present time; time of the last change, so that none overtakes */
    double command;         /* acts now */
    double limited;         /* command behind the limit of rate */
    double velocity, shown; /* behind the first lag; measured */
    double position;        /* within the play */
};

static double find_change_s(const struct walk *walk)
{
    const struct channel_response *channel = walk->channel;
    double t_s = channel->change_s[walk->next] + walk->values->delay_s;
    if (walk->values->effect == CHANNEL_DELAY_GROWS) {
        const double since_s = channel->change_s[walk->next] - channel->set->t_s[0];
        t_s += walk->values->size * (since_s / channel->span_s - 0.5);
    }
    return fmax(t_s, walk->acts_s);
}

/* Mean command until end_s. */
static double hold_commands(struct walk *walk, double end_s)
{
    const double from_s = walk->t_s;
    double sum = 0.0;
    while (walk->next < walk->end) {
        const double change_s = find_change_s(walk);
        if (!(change_s < end_s)) {
            break;
        }
        if (change_s > walk->t_s) {
            sum += walk->command * (change_s - walk->t_s);
            walk->t_s = change_s;
        }
        walk->acts_s = change_s;
        walk->command = walk->channel->change_command[walk->next++];
    }
    sum += walk->command * (end_s - walk->t_s);
    walk->t_s = end_s;
    return sum / (end_s - from_s);
}

/* Share of a change that is left after a substep with each lag. */
struct decay {
    double up, down, second;
};

static struct decay find_decay(const struct channel_values *values, double h_s)
{
    struct decay decay = {.up = exp(-h_s / values->lag_s)};
    decay.down = values->effect == CHANNEL_OTHER_LAG ? exp(-h_s / values->size) : decay.up;
    decay.second = values->effect == CHANNEL_SECOND_LAG ? exp(-h_s / values->size) : 0.0;
    return decay;
}

static void move_play(struct walk *walk, double h_s)
{
    const double gap = walk->values->size;
    walk->position += walk->shown * h_s;
    if (walk->position > gap || walk->position < 0.0) {
        walk->position = walk->position > gap ? gap : 0.0;
    } else {
        walk->shown = 0.0; /* neither side touches */
    }
}

static void move_substep(struct walk *walk, double h_s, const struct decay *decay)
{
    const struct channel_values *values = walk->values;
    const double middle_s = walk->t_s + 0.5 * h_s - walk->channel->set->t_s[0];
    double command = hold_commands(walk, walk->t_s + h_s);
    if (values->effect == CHANNEL_RATE_LIMIT) {
        const double most = values->size * h_s;
        walk->limited += fmin(fmax(command - walk->limited, -most), most);
        command = walk->limited;
    }
    double target = values->gain * shape_command(values, command);
    if (values->effect == CHANNEL_GAIN_DRIFTS) {
        target *= 1.0 + values->size * (middle_s / walk->channel->span_s - 0.5);
    }
    const bool faster = fabs(target) > fabs(walk->velocity) && target * walk->velocity >= 0.0;
    walk->velocity = target + (walk->velocity - target) * (faster ? decay->up : decay->down);
    walk->shown = values->effect == CHANNEL_SECOND_LAG
                      ? walk->velocity + (walk->shown - walk->velocity) * decay->second
                      : walk->velocity;
    if (values->effect == CHANNEL_PLAY) {
        move_play(walk, h_s);
    }
}

static struct walk begin_run(const struct channel_response *channel,
                             const struct channel_values *values, size_t run)
{
    const size_t first = channel->run_change[run];
    const double start = run == 0 ? values->start : channel->starts[run];
    return (struct walk){.channel = channel,
                         .values = values,
                         .next = first + 1,
                         .end = channel->run_change[run + 1],
                         .t_s = channel->change_s[first],
                         .acts_s = -HUGE_VAL,
                         .command = channel->change_command[first],
                         .limited = channel->change_command[first],
                         .velocity = start,
                         .shown = start};
}

void channel_simulate(const struct channel_response *channel,
                      const struct channel_values *values, double *response)
{
    const struct data_set *set = channel->set;
    for (size_t r = 0; r < set->run_count; r++) {
        struct walk walk = begin_run(channel, values, r);
        response[set->run_start[r]] = walk.shown;
        for (size_t k = set->run_start[r] + 1; k < set->run_start[r + 1]; k++) {
            const double row_s = set->t_s[k] - set->t_s[k - 1];
            const double count = fmax(ceil(row_s / channel->substep_s - 1e-6), 1.0);
            const double h_s = row_s / count;
            const struct decay decay = find_decay(values, h_s);
            for (double i = 0.0; i < count; i += 1.0) {
                move_substep(&walk, h_s, &decay);
            }
            response[k] = walk.shown;
        }
    }
}

void channel_residual(const struct channel_response *channel,
                      const struct channel_values *values, double *residual)
{
    const struct data_set *set = channel->set;
    channel_simulate(channel, values, residual);
    for (size_t r = 0; r < set->run_count; r++) {
        for (size_t k = set->run_start[r]; k < set->run_start[r + 1]; k++) {
            residual[k] = is_settled(channel, r, k) ? channel->velocity[k] - residual[k] : 0.0;
        }
    }
}
