/* The table that a ROS 2 bag becomes: which columns it has, which time, how long a command is
 * held. */
#include <stdlib.h>
#include <string.h>

#include "service/bag/bag_rows.h"
#include "tests/support/check.h"

static const char bag[] = TANDEM_SOURCE_DIR "/tests/golden/bags/ros2.mcap";

/* Messages are 0.02 s apart: /twist, /twiststamped, /odometry ... three times. */
static void test_tables(void)
{
    static const struct {
        const char *row, *topics, *columns, *clock;
        double timeout_s;
        const char *table;
    } rows[] = {
        {"by role, log time", "command=/twist,motion=/odometry", NULL, "log", 1.0,
         "t_s,\"v_cmd_mps\",\"w_cmd_radps\",\"theta_rad\",\"v_mps\",\"w_radps\",\"x_m\",\"y_"
         "m\"\n"
         "0.000000000,0,-0.5,1.57079632679,0.2,0.3,1,2\n"
         "0.140000000,0.1,-0.5,1.57079632679,0.2,0.3,1,2\n"
         "0.280000000,0.2,-0.5,1.57079632679,0.2,0.3,1,2\n"},
        {"a command ends", "command=/twist,motion=/odometry", NULL, "log", 0.03,
         "t_s,\"v_cmd_mps\",\"w_cmd_radps\",\"theta_rad\",\"v_mps\",\"w_radps\",\"x_m\",\"y_"
         "m\"\n"
         "0.000000000,0,0,1.57079632679,0.2,0.3,1,2\n"
         "0.140000000,0,0,1.57079632679,0.2,0.3,1,2\n"
         "0.280000000,0,0,1.57079632679,0.2,0.3,1,2\n"},
        {"stamps, which rise by a second", "motion=/odometry",
         "u=/odometry.twist.twist.linear.x", NULL, 1.0,
         "t_s,\"/odometry.twist.twist.linear.x\",\"theta_rad\",\"v_mps\",\"w_radps\","
         "\"x_m\",\"y_m\"\n"
         "0.000000000,0.2,1.57079632679,0.2,0.3,1,2\n1.000000000,0.2,1.57079632679,0.2,0.3,1,"
         "2\n"
         "2.000000000,0.2,1.57079632679,0.2,0.3,1,2\n"},
        {"a path in a product", NULL, "velocity=-/imu.angular_velocity.z*2:deg", "log", 1.0,
         "t_s,\"/imu.angular_velocity.z\"\n0.000000000,1\n0.140000000,1\n0.280000000,1\n"},
        {"a joint", NULL, "velocity=/jointstate.position[0]", "log", 1.0,
         "t_s,\"/jointstate.position[0]\"\n0.000000000,1\n0.140000000,1\n0.280000000,1\n"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct column_map columns = {.count = 0};
        struct csv_source input = {.path = bag};
        struct err err = {0};
        const struct bag_request r = {.columns = &columns,
                                      .topics = rows[i].topics,
                                      .clock = rows[i].clock,
                                      .command_timeout_s = rows[i].timeout_s};
        if (rows[i].columns) {
            CHECK_INT(rows[i].row, column_map_read(rows[i].columns, false, &columns, &err),
                      STATUS_OK);
        }
        CHECK_INT(rows[i].row, bag_rows_load(&r, &input, 1, &err), STATUS_OK);
        CHECK_TEXT(rows[i].row, input.text ? input.text : err.text, rows[i].table);
        CHECK_INT("the bag, not the table", input.made_of.bytes, 17156);
        bag_rows_free(&input, 1);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("bag_rows", NULL, NULL);
    CU_add_test(suite, "tables", test_tables);
    return check_run();
}
