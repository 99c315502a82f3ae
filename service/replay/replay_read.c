#include "service/replay/replay_read.h"

#include <stdio.h>

#include "service/replay/replay_moves.h"
#include "service/tool/commands.h"
#include "service/tool/lab_clock.h"
#include "service/tool/progress.h"

enum { SHOWN_FAULTS_MAX = 10 };

/* With --speed: waits until the recording's time has come. */
static void wait_for_pace(double speed, int64_t t_us, int64_t *first_us, int64_t *begin_us)
{
    if (!(speed > 0.0) || t_us == LAB_TIME_NONE) {
        return;
    }
    if (*first_us == LAB_TIME_NONE) {
        *first_us = t_us;
        *begin_us = lab_clock_monotonic_us();
    }
    lab_clock_sleep_until_us(*begin_us + (int64_t)((double)(t_us - *first_us) / speed));
}

static void show_fault(const struct journal_line *line, const struct err *err, unsigned *shown)
{
    if (*shown < SHOWN_FAULTS_MAX) {
        complain("%s:%llu:%u: %s%s", line->path, (unsigned long long)line->number, err->column,
                 err->text,
                 err->code == STATUS_E_RANGE
                     ? "; if that time did pass: tandem replay --pause-max"
                     : "");
    } else if (*shown == SHOWN_FAULTS_MAX) {
        complain("more faulty lines follow; they are counted only");
    }
    (*shown)++;
}

/* Reads all lines and ends the recording; false: a file could not be read whole. The first
 * reason is in *first; NULL: all go to stderr, and the next files are read. */
static bool read_all_lines(struct replay *replay, struct journal_reader *reader, double speed,
                           struct err *first)
{
    struct progress progress;
    struct journal_reader_stats stats;
    struct journal_line line;
    int64_t first_us = LAB_TIME_NONE;
    int64_t begin_us = 0;
    unsigned shown = 0;
    uint64_t count = 0;
    bool whole = true;
    struct err err = {0};
    progress_start(&progress, "replay");
    for (;; err.code = STATUS_OK) {
        const enum status status = journal_reader_next(reader, &line, &err);
        if (status == STATUS_E_EMPTY) {
            break;
        }
        if (status != STATUS_OK) {
            whole = false;
            if (first) {
                *first = err;
                break;
            }
            complain_err(&err);
            continue;
        }
        if (replay_line(replay, &line, &err) != STATUS_OK) {
            show_fault(&line, &err, &shown);
        }
        wait_for_pace(speed, replay->t_us, &first_us, &begin_us);
        if (++count % 4096 == 0 && progress.shown) {
            journal_reader_stats(reader, &stats);
            progress_step(&progress, stats.bytes, stats.total_bytes);
        }
    }
    replay_end(replay);
    progress_end(&progress);
    return whole;
}

static enum status read_table(struct replay *replay, const struct lab_file *file,
                              const struct replay_input *input, struct err *err)
{
    struct replay_moves moves = {.source = {.path = input->paths[0]},
                                 .pair = input->pair ? input->pair : ""};
    struct err fault = {0};
    enum status status = STATUS_OK;
    if (input->count > 1 || input->speed > 0.0) {
        return err_set(err, STATUS_E_ARG, FAULT_CONFLICTING_KEYS, "replay",
                       "a table of moves is replayed alone and without --speed");
    }
    if (input->columns) {
        status = column_map_read(input->columns, true, &moves.columns, err);
    }
    if (status == STATUS_OK) {
        status = replay_moves(replay, file, &moves, &fault);
    }
    if (status == STATUS_OK) {
        replay_end(replay);
        replay->ended = true;
        return STATUS_OK;
    }
    char where[ERR_WHERE_MAX] = "";
    (void)snprintf(where, sizeof where,
                   fault.column > 0 ? "%s:%u:%u"
                   : fault.line > 0 ? "%s:%u"
                                    : "%s",
                   fault.where, fault.line, fault.column);
    return err_set(err, status, fault.fault, where, "%s", fault.text);
}

static enum status read_journals(struct replay *replay, const struct replay_input *input,
                                 struct journal_reader *reader, struct err *err)
{
    const char *where = input->count == 1 ? input->paths[0] : "the recording";
    const bool whole =
        read_all_lines(replay, reader, input->speed, input->goes_on ? NULL : err);
    replay->ended = true;
    return whole            ? replay_judge(replay, where, err)
           : input->goes_on ? err_set(err, STATUS_E_IO, FAULT_FILE_UNREADABLE, where,
                                      "not all of it could be read")
                            : err->code;
}

enum status replay_read_files(struct replay *replay, const struct lab_file *file,
                              const struct replay_input *input, struct err *err)
{
    struct journal_reader *reader = NULL;
    if (input->is_table || (input->count == 1 && replay_moves_is_table(input->paths[0]))) {
        return read_table(replay, file, input, err);
    }
    enum status status = journal_reader_open_files(input->paths, input->count, &reader, err);
    if (status == STATUS_OK) {
        status = read_journals(replay, input, reader, err);
    }
    journal_reader_close(reader);
    return status;
}

bool replay_report_left_out(const struct replay *replay, bool strict)
{
    const struct replay_counts *c = &replay->counts;
    const struct {
        uint64_t n;
        const char *what;
        bool fails;
    } rows[] = {
        {c->ahead, "stamped too far ahead", true},
        {c->overlong, "too long", true},
        {c->unread - c->overlong, "no message", false},
        {c->torn, "torn at the end of a file", false},
        {c->other, "on topics that are not read", false},
        {lab_counts(replay->lab)->unknown_pair, "of pairs that are not in the lab file", false},
    };
    bool fine = true;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const bool fails = rows[i].n > 0 && (rows[i].fails || strict);
        if (fails) {
            complain("replay: lines left out: %llu %s", (unsigned long long)rows[i].n,
                     rows[i].what);
        }
        fine = fine && !fails;
    }
    return fine;
}
