/* config/team/team_print.c - prints teams as YAML, and hashes them to tell them apart. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "config/options/tree_print.h"
#include "config/team/team_file.h"
#include "config/team/team_values.h"

/* --- what a file says, again ------------------------------------------------------------- */

/* Prints the members of a map, one a line. */
// NOLINTNEXTLINE(misc-no-recursion)
static void print_block(const struct tree *tree, uint32_t node, int depth, int most, FILE *out)
{
    for (uint32_t i = tree->nodes[node].first; i != TREE_NONE; i = tree->nodes[i].next) {
        const struct tree_node *n = &tree->nodes[i];
        (void)fprintf(out, "%*s", 2 * depth, "");
        tree_print_key(tree_key(tree, i), out);
        if (n->kind == TREE_MAP && n->count > 0 && depth < most) {
            (void)fputc('\n', out);
            print_block(tree, i, depth + 1, most, out);
        } else {
            (void)fputc(' ', out);
            tree_print(tree, i, out);
            (void)fputc('\n', out);
        }
    }
}

char *team_file_text(const struct tree *tree, uint32_t node, bool single)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) {
        return NULL;
    }
    (void)fputs(single ? "team:\n" : "teams:\n", out);
    if (tree->nodes[node].kind == TREE_MAP) {
        print_block(tree, node, 1, single ? 2 : 3, out); /* entries have their own lines */
    }
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

void team_file_print(const struct team_file *file, FILE *out)
{
    if (file->team_count > 0 && file->text) {
        (void)fputs(file->text, out);
    }
}

/* --- hash of a team's options ------------------------------------------------------------ */

static uint64_t hash_number(uint64_t hash, int64_t number)
{
    return hash_bytes(hash, &number, sizeof number);
}

static uint64_t hash_words(uint64_t hash, const char *text)
{
    return hash_bytes(hash, text, strlen(text) + 1);
}

static uint64_t hash_tasks(const struct team_params *p, uint64_t hash)
{
    for (size_t i = 0; i < p->task_count; i++) {
        struct task_values task = {.params = p->tasks[i]};
        hash = hash_words(hash, task.params.name);
        hash = option_hash(&team_task_options, &task, hash);
        hash = hash_words(hash, task.params.payload);
        hash = option_hash(&team_window_options, &task.params.window, hash);
    }
    for (size_t i = 0; i < p->nominal_count; i++) {
        const struct team_nominal *n = &p->nominals[i];
        hash = hash_number(hash_number(hash_number(hash, n->robot), n->task), n->arg);
        hash = hash_number(hash_number(hash, n->mean_us), n->sd_us);
    }
    return hash;
}

static uint64_t hash_steps(const struct team_params *p, uint64_t hash)
{
    for (size_t i = 0; i < p->sequence_count; i++) {
        const struct team_sequence *s = &p->sequences[i];
        hash = hash_number(hash_number(hash_words(hash, s->name), s->first), s->count);
    }
    for (size_t i = 0; i < p->step_count; i++) {
        const struct team_step *s = &p->steps[i];
        const int64_t numbers[] = {(int64_t)s->kind,  s->task,    s->arg,   s->meeting,
                                   s->robots,         s->to,      s->times, s->first_resource,
                                   s->resource_count, s->retry_us};
        hash = hash_bytes(hash, numbers, sizeof numbers);
    }
    for (size_t i = 0; i < p->list_count; i++) {
        hash = hash_number(hash, p->lists[i]);
    }
    for (size_t i = 0; i < p->name_count; i++) {
        hash = hash_words(hash, p->names[i]);
    }
    return hash;
}

static uint64_t hash_robots(const struct team_params *p, uint64_t hash)
{
    for (size_t i = 0; i < p->robot_count; i++) {
        struct robot_values robot = {.params = p->robots[i]};
        hash = hash_words(hash, robot.params.name);
        hash = option_hash(&team_robot_options, &robot, hash);
        hash = hash_number(hash_number(hash, robot.params.sequence), robot.params.handles_all);
        hash = hash_number(hash_number(hash, robot.params.first_handled),
                           robot.params.handled_count);
    }
    for (size_t i = 0; i < p->job_count; i++) {
        const struct team_job *job = &p->jobs[i];
        hash = hash_words(hash_number(hash, job->part), job->id);
        hash = hash_number(hash_number(hash, job->sequence), job->home);
    }
    for (size_t i = 0; i < p->buffer_count; i++) {
        const struct team_buffer *buffer = &p->buffers[i];
        hash = hash_number(hash, buffer->name);
        hash = hash_number(hash_number(hash, buffer->first_part), buffer->part_count);
    }
    return hash;
}

uint64_t team_params_hash(const struct team_params *p, uint64_t hash)
{
    hash = hash_words(hash, p->name);
    hash = hash_number(hash_number(hash, (int64_t)p->locking), p->head_start_us);
    hash = hash_number(hash, p->help_backlog);
    for (size_t i = 0; i < p->resource_count; i++) {
        hash = hash_words(hash, p->resources[i].name);
        hash = option_hash(&team_resource_options, &p->resources[i], hash);
    }
    for (size_t i = 0; i < p->position_count; i++) {
        hash = hash_number(hash_number(hash, p->positions[i].name), p->positions[i].robot);
        hash = option_hash(&team_position_options, &p->positions[i], hash);
    }
    return hash_robots(p, hash_steps(p, hash_tasks(p, hash)));
}
