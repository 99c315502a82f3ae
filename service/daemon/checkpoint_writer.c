/* service/daemon/checkpoint_writer.c - writes the lab's state to disk. The lab thread copies
 * it slice by slice between its steps, the maintenance thread writes the copy. */
#include <stdlib.h>
#include <string.h>

#include "config/model/model_file.h"
#include "service/daemon/daemon_parts.h"
#include "service/tool/lab_clock.h"
#include "service/tool/log.h"

enum {
    BLOCK_BYTES = 256 << 10,
    WAITING_MAX = 2 << 20, /* bytes copied ahead of the disk */
    /* a whole checkpoint is written if 1/WHOLE_SHARE of the parts changed, */
    WHOLE_SHARE = 2,
    /* or after this many partial ones: the journal is retained from the whole one on */
    CHANGES_MAX = 60
};

/* Copied state on its way to the file. */
struct checkpoint_block {
    struct checkpoint_block *next;
    size_t used, room;
    unsigned char pieces[];
};

static void free_blocks(struct checkpoint_block *block)
{
    while (block) {
        struct checkpoint_block *const next = block->next;
        free(block);
        block = next;
    }
}

void checkpoint_writer_close(struct daemon *d)
{
    struct checkpoint_writer *s = &d->checkpoint_writer;
    journal_checkpoint_abandon(&s->writer, d->file->checkpoint.file);
    free_blocks(s->first);
    free(s->filling);
    free(s->copied);
    free(s->changed);
}

/* ---- lab thread ---------------------------------------------------------------------- */

/* Full blocks belong to the maintenance thread. */
static void hand_over(struct daemon *d)
{
    struct checkpoint_writer *s = &d->checkpoint_writer;
    if (s->filling) {
        atomic_fetch_add(&s->waiting, s->filling->used);
        (void)pthread_mutex_lock(&d->lock);
        *s->end = s->filling;
        s->end = &s->filling->next;
        (void)pthread_cond_signal(&d->maintenance.changed);
        (void)pthread_mutex_unlock(&d->lock);
    }
    s->filling = NULL;
}

static bool make_room(struct daemon *d, size_t bytes)
{
    struct checkpoint_writer *s = &d->checkpoint_writer;
    if (s->filling && s->filling->room - s->filling->used >= bytes) {
        return true;
    }
    hand_over(d);
    const size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    s->filling = malloc(sizeof *s->filling + room);
    if (s->filling) {
        s->filling->next = NULL;
        s->filling->used = 0;
        s->filling->room = room;
    }
    return s->filling != NULL;
}

static void append_piece(void *context, size_t at, const void *bytes, size_t n)
{
    struct daemon *d = context;
    const struct journal_piece piece = {at, n};
    if (!make_room(d, sizeof piece + n)) {
        d->checkpoint_writer.spoiled = true;
        return;
    }
    struct checkpoint_block *const block = d->checkpoint_writer.filling;
    memcpy(block->pieces + block->used, &piece, sizeof piece);
    memcpy(block->pieces + block->used + sizeof piece, bytes, n);
    block->used += sizeof piece + n;
}

/* Copies a part that has not changed since the checkpoint began. Parts that are about to change
 * are copied before. */
static void copy_part(struct daemon *d, size_t part)
{
    struct checkpoint_writer *s = &d->checkpoint_writer;
    if (s->copied[part]) {
        return;
    }
    s->copied[part] = true;
    if (s->checkpoint.base == 0 || s->changed[part]) {
        lab_save_part(d->lab, &s->save, part);
    } else {
        lab_save_unchanged(d->lab, &s->save, part);
    }
}

static void mark_changed(void *context, size_t part)
{
    struct daemon *d = context;
    struct checkpoint_writer *s = &d->checkpoint_writer;
    if (s->copies) {
        copy_part(d, part);
    }
    s->changed_count += !s->changed[part];
    s->changed[part] = true;
}

bool checkpoint_writer_open(struct daemon *d)
{
    struct checkpoint_writer *s = &d->checkpoint_writer;
    s->copied = calloc(lab_part_count(d->lab), sizeof *s->copied);
    s->changed = calloc(lab_part_count(d->lab), sizeof *s->changed);
    s->end = &s->first;
    s->counts.t_us = LAB_TIME_NONE;
    lab_watch(d->lab, mark_changed, d);
    return s->copied && s->changed;
}

bool checkpoint_writer_begin(struct daemon *d)
{
    struct checkpoint_writer *s = &d->checkpoint_writer;
    const size_t parts = lab_part_count(d->lab);
    (void)pthread_mutex_lock(&d->lock);
    const bool waits = s->waits;
    const uint64_t base = s->base;
    (void)pthread_mutex_unlock(&d->lock);
    /* While `waits` is false, no other thread uses these members. */
    if (waits || s->copies || !inbox_is_placed(d->inbox)) {
        return false;
    }
    const bool whole =
        base == 0 || s->changed_count * WHOLE_SHARE > parts || s->changes_count == CHANGES_MAX;
    s->changes_count = whole ? 0 : s->changes_count + 1;
    s->checkpoint = (struct journal_checkpoint){.version = CHECKPOINT_VERSION,
                                                .fingerprint = d->fingerprint,
                                                .position = inbox_position(d->inbox),
                                                .t_us = lab_time(d->lab),
                                                .base = whole ? 0 : base};
    model_file_format_hashes(s->checkpoint.note, sizeof s->checkpoint.note);
    s->counted = false;
    s->followed = !standby_is_live(d);
    s->spoiled = false;
    s->copies = true;
    s->next_part = 0;
    memset(s->copied, 0, parts * sizeof *s->copied);
    if (whole) {
        memset(s->changed, 0, parts * sizeof *s->changed);
        s->changed_count = 0;
    }
    s->save = (struct lab_save){.write_part = append_piece, .context = d};
    lab_save_begin(d->lab, &s->save);
    return true;
}

static bool has_room(const struct checkpoint_writer *s)
{
    return atomic_load_explicit(&s->waiting, memory_order_relaxed) < WAITING_MAX;
}

bool checkpoint_writer_is_copying(const struct daemon *d)
{
    return d->checkpoint_writer.copies;
}

bool checkpoint_writer_copy_slice(struct daemon *d, int64_t slice_us)
{
    enum { LOOK = 16 }; /* parts between two reads of the clock */
    struct checkpoint_writer *s = &d->checkpoint_writer;
    const size_t parts = lab_part_count(d->lab);
    const int64_t until_us =
        slice_us < INT64_MAX ? lab_clock_monotonic_us() + slice_us : INT64_MAX;
    bool goes_on = true;
    while (s->copies && goes_on && has_room(s) && s->next_part < parts) {
        copy_part(d, s->next_part++);
        goes_on = s->next_part % LOOK != 0 || lab_clock_monotonic_us() < until_us;
    }
    if (s->copies && s->next_part == parts) {
        hand_over(d);
        s->copies = false;
        s->checkpoint.bytes = s->save.used;
        (void)pthread_mutex_lock(&d->lock);
        s->waits = true;
        (void)pthread_mutex_unlock(&d->lock);
    }
    return !s->copies;
}

/* ---- maintenance thread -------------------------------------------------------------- */

void checkpoint_writer_write_copied(struct daemon *d)
{
    struct checkpoint_writer *s = &d->checkpoint_writer;
    const int64_t began_us = lab_clock_monotonic_us();
    (void)pthread_mutex_lock(&d->lock);
    struct checkpoint_block *const first = s->first;
    s->first = NULL;
    s->end = &s->first;
    (void)pthread_mutex_unlock(&d->lock);
    if (!first) {
        return;
    }
    if (!s->writer.open) {
        s->duration_us = 0;
        journal_checkpoint_begin(&s->writer, d->file->checkpoint.file, s->checkpoint.base != 0,
                                 NULL);
    }
    for (struct checkpoint_block *block = first; block;) {
        struct checkpoint_block *const next = block->next;
        journal_checkpoint_add(&s->writer, block->pieces, block->used);
        atomic_fetch_sub(&s->waiting, block->used);
        free(block);
        block = next;
    }
    s->duration_us += lab_clock_monotonic_us() - began_us;
}

void checkpoint_writer_count_rows(struct daemon *d)
{
    struct store_queue_stats stats;
    if (!d->checkpoint_writer.counted) {
        store_queue_stats(d->queue, &stats);
        /* A follower's records are stored by the owner. */
        d->checkpoint_writer.pushed = d->checkpoint_writer.followed ? 0 : stats.pushed;
        d->checkpoint_writer.counted = true;
    }
}

static enum status end_checkpoint(struct daemon *d, uint64_t *id, struct err *err)
{
    struct checkpoint_writer *s = &d->checkpoint_writer;
    const char *path = d->file->checkpoint.file;
    if (s->spoiled) {
        journal_checkpoint_abandon(&s->writer, path);
        return err_no_memory(err, path, "no memory");
    }
    const enum status status = journal_sync(d->journal, LAB_TIME_MAX);
    if (status != STATUS_OK) {
        journal_checkpoint_abandon(&s->writer, path);
        return err_set(err, status, FAULT_JOURNAL_FAILED, "journal", "not synced");
    }
    return journal_checkpoint_end(&s->writer, path, &s->checkpoint, id, err);
}

/* Returns the id of the whole checkpoint on which the next partial one builds. A failed partial
 * checkpoint leaves it unchanged. */
static uint64_t choose_base(const struct checkpoint_writer *s, enum status status, uint64_t id)
{
    const bool whole = s->checkpoint.base == 0;
    if (status == STATUS_OK) {
        return whole ? id : s->checkpoint.base;
    }
    return whole || status == STATUS_E_STALE ? 0 : s->checkpoint.base;
}

void checkpoint_writer_commit(struct daemon *d)
{
    struct checkpoint_writer *s = &d->checkpoint_writer;
    uint64_t id = 0;
    struct err err = {0};
    struct store_queue_stats stats;
    checkpoint_writer_write_copied(d);
    const int64_t began_us = lab_clock_monotonic_us();
    store_queue_stats(d->queue, &stats);
    s->checkpoint.store = stats.mark;
    if (s->followed) {
        s->checkpoint.store.run = 0; /* the owner may not have stored all yet */
    }
    const uint64_t bytes = s->writer.bytes;
    const enum status status = end_checkpoint(d, &id, &err);
    s->duration_us += lab_clock_monotonic_us() - began_us;
    if (status == STATUS_OK) {
        if (s->checkpoint.base == 0) {
            inbox_retain_from(d->inbox, s->checkpoint.position);
        }
        log_write(LOG_CHECKPOINT, NULL, "%s: %llu bytes in %.3f s",
                  s->checkpoint.base == 0 ? "whole" : "what has changed",
                  (unsigned long long)bytes, lab_s(s->duration_us));
    } else {
        log_write(LOG_CHECKPOINT_FAILED, NULL, "%s: %s", err.where, err.text);
        if (status == STATUS_E_STALE) {
            atomic_store(&d->maintenance.save_now, true);
        }
    }
    (void)pthread_mutex_lock(&d->lock);
    s->waits = false;
    s->saved = status == STATUS_OK;
    s->base = choose_base(s, status, id);
    if (status == STATUS_OK) {
        s->counts.written++;
        s->counts.whole += s->checkpoint.base == 0;
        s->counts.bytes = bytes;
        s->counts.duration_us = s->duration_us;
        s->counts.t_us = s->checkpoint.t_us;
    } else {
        s->counts.failed++;
    }
    (void)pthread_mutex_unlock(&d->lock);
}
