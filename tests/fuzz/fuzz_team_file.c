/* Any bytes as a file of teams: no crash, faults with a text. An accepted team is within every
 * bound that the core relies on, prints in one form only, and runs for a while. Also run over
 * the corpus by test_team_file. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/team/team_file.h"
#include "tests/support/team_drive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *print_teams(const struct team_file *file, size_t *bytes)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, bytes);
    assert(out);
    team_file_print(file, out);
    (void)fclose(out);
    return text;
}

static void check_step(const struct team_params *p, const struct team_sequence *sequence,
                       const struct team_step *step)
{
    const bool jumps = step->kind == TEAM_STEP_GOTO || step->kind == TEAM_STEP_UNLESS ||
                       step->kind == TEAM_STEP_LOOP;
    assert(step->kind < TEAM_STEP_KIND_COUNT && step->task < p->task_count + 1);
    assert(step->arg == TEAM_NONE || step->arg < p->name_count);
    assert(step->meeting == TEAM_NONE || step->meeting < p->name_count);
    assert(step->sequence < p->sequence_count && step->place > 0 && step->line > 0);
    assert(step->resource_count <= TEAM_WANT_MAX && step->retry_us >= 0);
    assert((size_t)step->first_resource + step->resource_count <= p->list_count);
    assert(!jumps ||
           (step->to >= sequence->first && step->to <= sequence->first + sequence->count));
    assert(step->kind != TEAM_STEP_LOOP || step->times > 1);
    for (uint32_t i = 0; i < step->resource_count; i++) {
        assert(p->lists[step->first_resource + i] < p->resource_count);
    }
}

static void check_team(const struct team_params *p)
{
    assert(p->robot_count > 0 && p->robot_count <= TEAM_ROBOTS_MAX);
    assert(p->resource_count <= TEAM_RESOURCES_MAX && p->step_count <= TEAM_FLAT_STEPS_MAX);
    assert(p->job_count <= TEAM_JOBS_MAX && p->help_backlog >= 1 && p->head_start_us >= 0);
    for (size_t i = 0; i < p->sequence_count; i++) {
        const struct team_sequence *s = &p->sequences[i];
        assert(s->count > 0 && (size_t)s->first + s->count <= p->step_count);
        for (uint32_t k = 0; k < s->count; k++) {
            check_step(p, s, &p->steps[s->first + k]);
        }
    }
    for (size_t i = 0; i < p->robot_count; i++) {
        const struct team_robot_params *r = &p->robots[i];
        assert(r->sequence == TEAM_NONE || r->sequence < p->sequence_count);
        assert(r->sequence == TEAM_NONE || !p->sequences[r->sequence].part);
        assert(r->cycles >= 1 && (size_t)r->first_handled + r->handled_count <= p->list_count);
    }
    for (size_t i = 0; i < p->job_count; i++) {
        assert(p->jobs[i].part < p->name_count && p->jobs[i].sequence < p->sequence_count);
        assert(p->jobs[i].home == TEAM_NONE || p->jobs[i].home < p->robot_count);
    }
    for (size_t i = 0; i < p->nominal_count; i++) {
        assert(p->nominals[i].mean_us > 0 && p->nominals[i].sd_us >= 0);
    }
    for (size_t i = 0; i < p->task_count; i++) {
        assert(p->tasks[i].window.min_us <= p->tasks[i].window.max_us);
    }
}

static bool last_one_second(void *context, uint16_t robot, const struct team_step *step,
                            uint32_t n, int64_t *took_us, enum team_event_kind *event)
{
    (void)context, (void)robot, (void)step, (void)n, (void)event;
    *took_us = 1000000;
    return true;
}

/* Teams that pass the check cannot go wrong in these ways. */
static void check_effect(void *context, const struct team_effect *effect)
{
    const struct team_params *p = context;
    assert(effect->kind != TEAM_ALARM || effect->alarm != TEAM_ALARM_FINISHED_HOLDING);
    assert(effect->kind != TEAM_ALARM || effect->alarm != TEAM_ALARM_NOT_OWNER);
    assert(effect->kind != TEAM_ALARM || effect->alarm != TEAM_ALARM_DOUBLE_LOCK);
    assert(effect->kind != TEAM_ALARM || effect->alarm != TEAM_ALARM_ORDER);
    assert(effect->kind != TEAM_ALARM || effect->alarm != TEAM_ALARM_NESTED_LOCK);
    assert(p->locking == TEAM_FREE || effect->kind != TEAM_ALARM ||
           effect->alarm != TEAM_ALARM_DEADLOCK);
}

static void run_team(const struct team_params *p)
{
    enum { INSTANTS = 300 };
    struct team_params copy = *p;
    void *memory = malloc(team_bytes(p));
    assert(memory);
    struct team_drive drive = {.team = team_init(memory, p),
                               .p = p,
                               .duration = last_one_second,
                               .emit = check_effect,
                               .context = &copy};
    team_drive_start(&drive);
    for (int i = 0; i < INSTANTS && team_drive_step(&drive); i++) {
    }
    free(drive.queue);
    free(memory);
}

static void check_again(const struct team_file *file)
{
    struct team_file again = {0};
    struct err_list errors = {0};
    size_t bytes = 0;
    size_t printed = 0;
    char *text = print_teams(file, &bytes);
    assert(option_file_parse(&team_file, text, bytes, "again", &again, &errors) == STATUS_OK);
    char *second = print_teams(&again, &printed);
    assert(printed == bytes && memcmp(text, second, bytes) == 0);
    assert(again.team_count == file->team_count);
    for (size_t i = 0; i < file->team_count; i++) {
        assert(file->teams[i].hash == again.teams[i].hash);
    }
    free(second);
    free(text);
    team_file_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct team_file file = {0};
    struct err_list errors = {0};
    const enum status status =
        option_file_parse(&team_file, (const char *)data, size, "fuzz", &file, &errors);
    if (status == STATUS_OK) {
        assert(errors.count == 0 && file.team_count > 0 && file.team_count <= TEAMS_MAX);
        for (size_t i = 0; i < file.team_count; i++) {
            check_team(&file.teams[i]);
            run_team(&file.teams[i]);
        }
        check_again(&file);
    } else {
        assert(errors.count > 0);
        for (size_t i = 0; i < errors.count; i++) {
            assert(errors.items[i].text[0] != '\0');
        }
    }
    team_file_free(&file);
    return 0;
}
