#include "config/machine/machine_pictures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/machine/machine_file.h"

/* A machine from YAML has no drawing, so it is laid out as a new one. */
static void draw_written(const struct machine *machine, FILE *out)
{
    char *text = NULL;
    size_t bytes = 0;
    struct drawing *drawing = NULL;
    struct machine_draft *draft = malloc(sizeof *draft);
    FILE *to = open_memstream(&text, &bytes);
    if (to) {
        drawing_write_file(&machine, 1, to);
        (void)fclose(to);
    }
    if (draft && text && drawing_open(text, bytes, &drawing, NULL) == STATUS_OK) {
        drawing_read_page(drawing, 0, false, draft);
        drawing_write_svg(drawing, 0, NULL, out);
    }
    drawing_free(drawing);
    free(text);
    free(draft);
}

static enum status add_picture(struct machine_pictures *pictures,
                               const struct machine_file *file, size_t at)
{
    struct machine_picture *p = &pictures->items[pictures->count];
    FILE *out = open_memstream(&p->svg, &p->bytes);
    if (!out) {
        return STATUS_E_NOMEM;
    }
    if (file->drawings[at]) {
        machine_file_print_svg(file, at, NULL, out);
    } else {
        draw_written(file->machines[at], out);
    }
    const bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        free(p->svg);
        *p = (struct machine_picture){.svg = NULL};
        return STATUS_E_NOMEM;
    }
    (void)snprintf(p->name, sizeof p->name, "%s", file->machines[at]->draft.name);
    pictures->count++;
    return STATUS_OK;
}

/* Returns why a machine cannot be shown under its name; NULL: it can. */
static const char *find_fault(const struct machine_pictures *pictures, const char *name)
{
    size_t bytes = 0;
    return pictures->count == MACHINE_PICTURES_MAX         ? "more machines than 32"
           : strlen(name) >= MACHINE_PICTURE_NAME_MAX      ? "a name of more than 31 letters"
           : machine_pictures_find(pictures, name, &bytes) ? "another machine is called so, too"
                                                           : NULL;
}

static enum status add_all(struct machine_pictures *pictures, const struct machine_file *file,
                           const char *path, struct err_list *errors)
{
    for (size_t i = 0; i < file->count; i++) {
        const char *name = file->machines[i]->draft.name;
        const char *fault = find_fault(pictures, name);
        if (fault) {
            return err_list_add(errors, STATUS_E_PARSE, FAULT_DUPLICATE_NAME, path, 0, 0,
                                "machine %s: %s", name, fault);
        }
        if (add_picture(pictures, file, i) != STATUS_OK) {
            return err_list_add(errors, STATUS_E_NOMEM, FAULT_NO_MEMORY, path, 0, 0,
                                "not enough memory to draw it");
        }
    }
    return STATUS_OK;
}

static void add_errors(const struct machine_diagnostics *problems, const char *path,
                       struct err_list *errors)
{
    for (size_t i = 0; i < problems->count; i++) {
        const struct machine_diagnostic *d = &problems->items[i];
        if (machine_severity_of(d->code) == MACHINE_ERROR) {
            (void)err_list_add(errors, STATUS_E_PARSE, FAULT_MACHINE_FAULT, path, d->line,
                               d->column, "%s%s%.100s: %.140s", d->code,
                               d->place[0] != '\0' ? "  " : "", d->place, d->text);
        }
    }
}

enum status machine_pictures_add(struct machine_pictures *pictures, const char *path,
                                 struct err_list *errors)
{
    struct machine_file *file = NULL;
    enum status st = machine_file_load(path, false, &file);
    if (st != STATUS_OK) {
        return err_list_add(errors, st, FAULT_NO_MEMORY, path, 0, 0,
                            "not enough memory to read it");
    }
    if (machine_file_count(file, MACHINE_ERROR) > 0) {
        st = STATUS_E_PARSE;
        add_errors(&file->problems, path, errors);
        for (size_t i = 0; i < file->count; i++) {
            add_errors(&file->machines[i]->draft.diagnostics, path, errors);
        }
    } else {
        st = add_all(pictures, file, path, errors);
    }
    machine_file_free(file);
    return st;
}

const char *machine_pictures_find(const struct machine_pictures *pictures, const char *name,
                                  size_t *bytes)
{
    for (size_t i = 0; i < pictures->count; i++) {
        if (strcmp(pictures->items[i].name, name) == 0) {
            *bytes = pictures->items[i].bytes;
            return pictures->items[i].svg;
        }
    }
    return NULL;
}

void machine_pictures_finish(struct machine_pictures *pictures)
{
    for (size_t i = 0; i < pictures->count; i++) {
        free(pictures->items[i].svg);
    }
    *pictures = (struct machine_pictures){.count = 0};
}
