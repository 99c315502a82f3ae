#include "service/tool/gnuplot.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- text ------------------------------------------------------------------------------ */

void gnuplot_quoted(FILE *to, const char *text)
{
    (void)fputc('\'', to);
    for (const char *c = text; *c; c++) {
        if (*c == '\'') {
            (void)fputs("''", to);
        } else {
            (void)fputc((unsigned char)*c < ' ' || *c == 127 ? '?' : *c, to);
        }
    }
    (void)fputc('\'', to);
}

void gnuplot_label(FILE *to, const char *name)
{
    static const char *const units[][2] = {
        {"mps", "m/s"}, {"radps", "rad/s"}, {"rad", "rad"},
        {"m", "m"},     {"n", "N"},         {"nm", "N m"},
    };
    char text[128];
    const char *mark = strrchr(name, '_');
    (void)snprintf(text, sizeof text, "%s", name);
    for (size_t i = 0; mark && i < COUNT(units); i++) {
        if (strcmp(mark + 1, units[i][0]) == 0) {
            (void)snprintf(text, sizeof text, "%.*s, %s", (int)(mark - name), name,
                           units[i][1]);
        }
    }
    gnuplot_quoted(to, text);
}

void gnuplot_start(FILE *to, size_t width, size_t height)
{
    (void)fprintf(to,
                  "set encoding utf8\n"
                  "set terminal svg size %zu,%zu dynamic noenhanced font 'sans-serif,13' "
                  "background '#ffffff'\n",
                  width, height);
}

void gnuplot_table(FILE *to, void (*write)(const void *what, FILE *out), const void *what)
{
    (void)fputs("set datafile separator ','\nset datafile columnheaders\n$run << EOD\n", to);
    write(what, to);
    (void)fputs("EOD\n", to);
}

void gnuplot_panels(FILE *to, const char *title, const char *tics)
{
    (void)fputs("set multiplot title ", to);
    gnuplot_quoted(to, title);
    (void)fprintf(to,
                  " font 'sans-serif,16'\n"
                  "set border 3 lc '#666666'\nset tics nomirror tc '#444444'%s\n"
                  "set grid lc '#e4e4e4' lt 1\n",
                  tics);
}

double gnuplot_tic(double most)
{
    const double ten = pow(10.0, floor(log10(most)));
    return most >= 5.0 * ten ? 5.0 * ten : most >= 2.0 * ten ? 2.0 * ten : ten;
}

void gnuplot_side(FILE *to, const char *name, double width_share)
{
    (void)fputs("unset ylabel\nset label 2 ", to);
    gnuplot_label(to, name);
    (void)fprintf(to, " at graph %.4f, graph 0.5 center rotate by 90\n", -width_share);
}

void gnuplot_place(FILE *to, double left, double right, double top, double bottom)
{
    (void)fprintf(to,
                  "set lmargin at screen %.5f\nset rmargin at screen %.5f\n"
                  "set tmargin at screen %.5f\nset bmargin at screen %.5f\n",
                  left, right, 1.0 - top, 1.0 - bottom);
}

/* --- the process ----------------------------------------------------------------------- */

static enum status refuse_picture(const char *path, enum fault fault, const char *what,
                                  struct err *err)
{
    return err_set(err, STATUS_E_IO, fault, path, "%s: %s", what, strerrordesc_np(errno));
}

/* Reads gnuplot's error message: the first line with a word in it. */
static void read_complaint(FILE *complaints, char *text, size_t text_bytes)
{
    text[0] = '\0';
    rewind(complaints);
    while (fgets(text, (int)text_bytes, complaints)) {
        text[strcspn(text, "\r\n")] = '\0';
        if (strpbrk(text, "abcdefghijklmnopqrstuvwxyz")) {
            return;
        }
    }
}

/* The script goes in through a pipe, the picture comes out to out, and gnuplot's errors go to
 * the caller's text. */
static enum status run_gnuplot(gnuplot_script *write, const void *what, FILE *out,
                               FILE *complaints, struct err *err)
{
    enum { NOT_FOUND = 127 }; /* exit status of the shell */
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction before;
    char text[120];
    (void)snprintf(text, sizeof text, "exec gnuplot -d >/dev/fd/%d 2>/dev/fd/%d", fileno(out),
                   fileno(complaints));
    /* The command only varies in numbers: NOLINTNEXTLINE(cert-env33-c) */
    FILE *to = popen(text, "we");
    if (!to) {
        return refuse_picture("gnuplot", FAULT_PROCESS_FAILED, "cannot start", err);
    }
    /* The exit status reveals a gnuplot that ended early, so SIGPIPE is ignored. */
    (void)sigaction(SIGPIPE, &ignore, &before);
    write(to, what);
    (void)fputs("unset multiplot\nunset output\n", to);
    const int ended = pclose(to);
    (void)sigaction(SIGPIPE, &before, NULL);
    if (WIFEXITED(ended) && WEXITSTATUS(ended) == NOT_FOUND) {
        return err_set(err, STATUS_E_IO, FAULT_PROCESS_FAILED, "gnuplot",
                       "not found: a picture needs it (Debian package gnuplot-nox)");
    }
    read_complaint(complaints, text, sizeof text);
    return ended == 0 ? STATUS_OK
                      : err_set(err, STATUS_E_IO, FAULT_PROCESS_FAILED, "gnuplot",
                                "could not draw: %s", text[0] ? text : "it ended early");
}

enum status gnuplot_check_path(const char *path, struct err *err)
{
    const char *name = basename(path);
    const char *dot = strrchr(name, '.');
    if (!dot || dot == name || strcasecmp(dot, ".svg") == 0) {
        return STATUS_OK;
    }
    return err_set(err, STATUS_E_ARG, FAULT_BAD_PATH, "plot",
                   "--plot draws SVG, not '%s': '%.*s.svg' would be right", dot + 1,
                   (int)(dot - path), path);
}

enum status gnuplot_draw(gnuplot_script *write, const void *what, const char *path,
                         struct err *err)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        return refuse_picture(path, FAULT_FILE_UNWRITABLE, "cannot write", err);
    }
    FILE *complaints = tmpfile();
    enum status st =
        complaints ? run_gnuplot(write, what, out, complaints, err)
                   : refuse_picture(path, FAULT_FILE_UNWRITABLE, "no temporary file", err);
    struct stat kind;
    if (st != STATUS_OK && fstat(fileno(out), &kind) == 0 && S_ISREG(kind.st_mode)) {
        (void)unlink(path);
    }
    if (fclose(out) != 0 && st == STATUS_OK) {
        st = refuse_picture(path, FAULT_FILE_UNWRITABLE, "cannot write", err);
    }
    if (complaints) {
        (void)fclose(complaints);
    }
    return st;
}
