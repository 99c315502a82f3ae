/* Maps of ROS: what map_server writes is read, and what is wrong is said at its place. */
#include "tests/support/check.h"

#include <stdlib.h>

#include "config/labfile/ros_map_file.h"

#define HEAD "image: a.pgm\nresolution: 0.1\norigin: [-1, -2, 0]\n"

static struct err_list errors;

/* The cells as text, the lowest row first; "" with the fault in errors. */
static const char *read_map(const char *yaml, const char *picture, size_t bytes)
{
    static char text[256];
    struct ros_map_file file;
    size_t used = 0;
    text[0] = '\0';
    errors = (struct err_list){0};
    if (option_file_parse(&ros_map_file, yaml, strlen(yaml), "m.yaml", &file, &errors) !=
        STATUS_OK) {
        return text;
    }
    struct costmap *map = ros_map_file_build(&file, picture, bytes, "a.pgm", &errors);
    for (size_t i = 0; map && i < map->width * map->height; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%d",
                                 i == 0                ? ""
                                 : i % map->width == 0 ? " | "
                                                       : " ",
                                 map->cell[i]);
    }
    free(map);
    return text;
}

static const char *read_text(const char *yaml, const char *picture)
{
    return read_map(yaml, picture, strlen(picture));
}

static void test_values(void)
{
    static const char bytes[] = {'P', '5', '\n', '3',  ' ', '1',       '\n',
                                 '2', '5', '5',  '\n', 0,   (char)254, (char)205};
    static const char wide[] = "P5 2 1 1000\n\0\1\3\350";
    CHECK_TEXT("as map_server writes", read_map(HEAD, bytes, sizeof bytes), "255 0 200");
    CHECK_TEXT("two bytes a pixel", read_map(HEAD, wide, sizeof wide - 1), "255 0");
    CHECK_TEXT("the first row is the top", read_text(HEAD, "P2 2 2 255 0 0 254 254"),
               "0 0 | 255 255");
    CHECK_TEXT("comments", read_text(HEAD, "P2#x\n2 #y\n1\n#z\n255 0#w\n254"), "255 0");
    CHECK_TEXT("negate", read_text(HEAD "negate: 1\n", "P2 3 1 255 0 254 205"), "0 255 255");
    CHECK_TEXT(
        "thresholds",
        read_text(HEAD "occupied_thresh: 0.9\nfree_thresh: 0.05\n", "P2 3 1 100 5 50 99"),
        "255 200 0");
    CHECK_TEXT("shades",
               read_text(HEAD "mode: scale\noccupied_thresh: 0.8\nfree_thresh: 0.2\n",
                         "P2 4 1 100 10 30 50 90"),
               "255 167 100 0");
    CHECK_TEXT("raw", read_text(HEAD "mode: raw\n", "P2 5 1 255 0 100 255 40 10"),
               "0 255 200 200 0");
}

static void test_unknown(void)
{
    struct ros_map_file file;
    static const struct {
        const char *text;
        double factor;
    } rows[] = {{"", 0.0}, {"unknown: forbidden\n", 0.0}, {"unknown: 2.5\n", 2.5}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        char yaml[128];
        (void)snprintf(yaml, sizeof yaml, HEAD "%s", rows[i].text);
        CHECK_INT("reads",
                  option_file_parse(&ros_map_file, yaml, strlen(yaml), "m", &file, NULL),
                  STATUS_OK);
        CHECK_NEAR(rows[i].text, file.unknown_factor, rows[i].factor, 0.0, 0.0);
    }
}

/* A large map is read in larger cells, each as dear as its dearest part. */
static void test_large(void)
{
    enum { SIDE = 1200 };
    const size_t head = (size_t)snprintf(NULL, 0, "P5 %d %d 255\n", SIDE, SIDE);
    const size_t bytes = head + (size_t)SIDE * SIDE;
    char *text = malloc(bytes + 1);
    (void)snprintf(text, head + 1, "P5 %d %d 255\n", SIDE, SIDE);
    memset(text + head, (char)254, (size_t)SIDE * SIDE);
    text[head] = 0;                                         /* the highest row, left */
    text[head + (size_t)SIDE * (SIDE - 1) + 4] = (char)205; /* the lowest row */
    struct ros_map_file file = {.cell_m = 0.05, .occupied = 0.65, .free = 0.196};
    struct costmap *map = ros_map_file_build(&file, text, bytes, "a.pgm", NULL);
    CU_ASSERT_FATAL(map != NULL);
    CHECK_INT("three a side", map->width, SIDE / 3);
    CHECK_NEAR("its cells", map->cell_m, 0.15, 0.0, 1e-12);
    CHECK_INT("occupied", map->cell[(map->height - 1) * map->width], COSTMAP_OCCUPIED);
    CHECK_INT("unknown", map->cell[1], COSTMAP_UNKNOWN);
    CHECK_INT("free", map->cell[0], COSTMAP_FREE);
    free(map);
    free(text);
}

static void test_faults(void)
{
    static const struct {
        const char *yaml, *picture, *want;
        unsigned line;
        enum fault fault;
    } rows[] = {
        {"resolution: 0.1\norigin: [0, 0, 0]\n", "", "image", 1, FAULT_MISSING_KEY},
        {"image: a\nresolution: 0.1\n", "", "origin", 1, FAULT_MISSING_KEY},
        {"image: a\norigin: [0, 0, 0]\n", "", "resolution", 1, FAULT_MISSING_KEY},
        {"image: a\nresolution: 0\norigin: [0, 0, 0]\n", "", "0.001", 2, FAULT_OUT_OF_RANGE},
        {"image: a\nresolution: 1\norigin: [0, 0]\n", "", "3 numbers", 3,
         FAULT_NUMBERS_EXPECTED},
        {HEAD "negate: 2\n", "", "0 or 1", 4, FAULT_UNKNOWN_VALUE},
        {HEAD "mode: grey\n", "", "trinary", 4, FAULT_UNKNOWN_VALUE},
        {HEAD "free_thresh: 0.7\n", "", "less than occupied_thresh", 4, FAULT_WRONG_ORDER},
        {HEAD "unknown: free\n", "", "a factor of 1 to 50", 4, FAULT_OUT_OF_RANGE},
        {HEAD "unknown: 0.5\n", "", "a factor of 1 to 50", 4, FAULT_OUT_OF_RANGE},
        {HEAD "unknown: nan\n", "", "a factor of 1 to 50", 4, FAULT_OUT_OF_RANGE},
        {HEAD "colour: red\n", "", "colour", 4, FAULT_UNKNOWN_KEY},
        {HEAD, "", "this is none", 0, FAULT_WRONG_FILE},
        {HEAD, "\x89PNG", "this is PNG; convert it", 0, FAULT_WRONG_FILE},
        {HEAD, "P6 1 1 255 xxx", "P2 or P5", 0, FAULT_WRONG_FILE},
        {HEAD, "P2\n\n0 1 255", "width, 1 to 8192", 3, FAULT_FILE_DAMAGED},
        {HEAD, "P2 99999999999 1 255", "width", 1, FAULT_FILE_DAMAGED},
        {HEAD, "P2 1 1 70000", "white", 1, FAULT_FILE_DAMAGED},
        {HEAD, "P2 8192 8192 255", "at most 16777216", 0, FAULT_TOO_LARGE},
        {HEAD, "P5 8000 2000 255 x", "cut off", 0, FAULT_FILE_DAMAGED},
        {HEAD, "P5 2 1 255 x", "cut off", 0, FAULT_FILE_DAMAGED},
        {HEAD, "P5 2 1 9 xx", "pixel 1 is 120", 0, FAULT_OUT_OF_RANGE},
        {HEAD, "P2 2 1 255\n1 x", "pixels, 0 to 255", 2, FAULT_FILE_DAMAGED},
        {HEAD, "P2 2 1 255\n1 ", "pixels", 2, FAULT_FILE_DAMAGED},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_TEXT(rows[i].want, read_text(rows[i].yaml, rows[i].picture), "");
        CHECK_INT(rows[i].want, errors.count, 1);
        CHECK_INT(rows[i].want, errors.items[0].fault, rows[i].fault);
        CHECK_INT(rows[i].want, errors.items[0].line, rows[i].line);
        CHECK_TEXT(rows[i].want,
                   strstr(errors.items[0].text, rows[i].want) ? "" : errors.items[0].text, "");
    }
}

static void test_kind(void)
{
    CHECK("a map of ROS", ros_map_file_is("# x\nimage: a.pgm\n"));
    CHECK("none", !ros_map_file_is("bounds: {}\nobstacles:\n  image: {}\n"));
    CHECK("nothing", !ros_map_file_is(NULL));
    CHECK("no file", !ros_map_file_found("/nowhere/map.yaml"));
    errors = (struct err_list){0};
    CHECK("no file", !ros_map_file_load("/nowhere/map.yaml", &errors) && errors.count == 1);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("maps of ROS", NULL, NULL);
    CU_add_test(suite, "values of cells", test_values);
    CU_add_test(suite, "unknown cells", test_unknown);
    CU_add_test(suite, "a large map", test_large);
    CU_add_test(suite, "faults", test_faults);
    CU_add_test(suite, "which kind of map", test_kind);
    return check_run();
}
