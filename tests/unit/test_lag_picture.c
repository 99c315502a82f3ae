/* Pictures of lags: marks, thinning, names that are markup, panels without points. */
#include "tests/support/check.h"

#include "twin/report/lag_picture.h"

enum { MANY = 50000 };

static char text[1 << 20];
static size_t bytes;
static struct lag_point points[MANY];

static void append(void *context, const char *piece, size_t count)
{
    (void)context;
    CHECK("room", bytes + count < sizeof text);
    memcpy(text + bytes, piece, count);
    bytes += count;
    text[bytes] = '\0';
}

static void draw_panels(const struct lag_panel *panels, size_t count)
{
    const struct lag_picture picture = {.title = "Lag of <script>",
                                        .description = "a & b",
                                        .panels = panels,
                                        .panel_count = count};
    bytes = 0;
    lag_picture_write(&picture, append, NULL);
}

static size_t count_words(const char *word)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += strlen(word)) {
        count++;
    }
    return count;
}

/* Every element is closed, either at once or by its name. */
static void check_balanced(const char *row)
{
    size_t open = 0;
    for (const char *at = text; (at = strchr(at, '<')) != NULL; at++) {
        const char *end = strchr(at, '>');
        CHECK(row, end != NULL);
        open += at[1] != '/' && end[-1] != '/';
        open -= at[1] == '/';
    }
    CHECK_INT(row, open, 0);
}

static void test_marks(void)
{
    const struct lag_point some[] = {{1, 0.2}, {2, NAN}, {3, -0.1}, {4, 0.3}};
    const struct lag_series series[] = {{"signs", some, 4, LAG_MARK_SIGN},
                                        {"a line", some, 4, LAG_MARK_LINE}};
    const struct lag_panel panel = {"command", "lag_s, <s>", series, 2, false, -0.1, 0.1, 0.05};
    draw_panels(&panel, 1);
    check_balanced("marks");
    CHECK("the title is text",
          strstr(text, "Lag of &lt;script&gt;") && strstr(text, "a &amp; b"));
    CHECK("no markup", !strstr(text, "<script") && strstr(text, "lag_s, &lt;s&gt;"));
    CHECK_INT("triangles upwards, one in the legend", count_words("m -3.5 3 h 7 l -3.5 -6.5 z"),
              3);
    CHECK_INT("triangles downwards", count_words("m -3.5 -3 h 7 l -3.5 6.5 z"), 1);
    CHECK_INT("the line goes around what is unknown", count_words("L "), 2);
    CHECK_INT("band", count_words("class=\"band\""), 1);
    CHECK("no number is nan", !strstr(text, "nan"));
}

static void test_thinning(void)
{
    for (size_t i = 0; i < MANY; i++) {
        points[i] =
            (struct lag_point){1795154400.0 + (double)i, i == 777 ? 9.0 : sin((double)i)};
    }
    const struct lag_series series = {NULL, points, MANY, LAG_MARK_CIRCLE};
    const struct lag_panel panel = {"time", "lag_s", &series, 1, true, 0, 0, NAN};
    draw_panels(&panel, 1);
    check_balanced("thinning");
    CHECK_INT("marks", count_words("a 3 3 0 1 0 6 0"), LAG_PICTURE_POINTS_MAX);
    CHECK("times of day", strstr(text, ">10:00</text>"));
    const size_t thinned = bytes;
    draw_panels(&panel, 1);
    CHECK_INT("the same bytes", bytes, thinned);
}

static void test_odd_panels(void)
{
    const struct lag_point one = {5, 0.25};
    const struct lag_series series[] = {{NULL, NULL, 0, LAG_MARK_SIGN},
                                        {NULL, &one, 1, LAG_MARK_CROSS}};
    const struct lag_panel panels[] = {{"n", "s", &series[0], 1, false, -1, 1, NAN},
                                       {"n", "s", &series[1], 1, false, 0, 0, NAN}};
    draw_panels(panels, 2);
    check_balanced("odd panels");
    CHECK_INT("a sentence", count_words("There is no point to draw."), 1);
    CHECK_INT("one cross", count_words("m -3 -3 l 6 6 m 0 -6 l -6 6"), 1);
    CHECK("one point has a finite place", !strstr(text, "nan") && !strstr(text, "inf"));
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("lag_picture", NULL, NULL);
    CU_ADD_TEST(suite, test_marks);
    CU_ADD_TEST(suite, test_thinning);
    CU_ADD_TEST(suite, test_odd_panels);
    return check_run();
}
