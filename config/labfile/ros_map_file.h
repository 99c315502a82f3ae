/* config/labfile/ros_map_file.h - reads a map as ROS's map_server writes it: a YAML file with
 * the place, and a picture with a pixel a cell.
 *
 * One key more is read: `unknown` says what a way through unknown cells costs. A map with more
 * than COSTMAP_CELLS_MAX cells is read in larger ones, each occupied if a part of it is.
 * docs/model/missions.md.
 */
#ifndef CONFIG_LABFILE_ROS_MAP_FILE_H
#define CONFIG_LABFILE_ROS_MAP_FILE_H

#include "config/options/option_file.h"
#include "twin/map/costmap.h"

enum { ROS_MAP_PATH_MAX = 256 };

/* The YAML file. */
struct ros_map_file {
    char image[ROS_MAP_PATH_MAX];
    double cell_m, origin[3], occupied, free;
    bool negate;
    uint8_t mode; /* position in "trinary|scale|raw" */
    char unknown[24];
    double unknown_factor; /* as struct costmap has it */
};
extern const struct option_file ros_map_file;

/* Is this text of a YAML file such a map: has it an `image`? */
bool ros_map_file_is(const char *text);

/* Is the file such a map? False, too, if it cannot be read. */
bool ros_map_file_found(const char *path);

/* Makes the map of a file and its picture text[bytes], whose name stands in messages. To be
 * freed; NULL with a fault in *errors. */
struct costmap *ros_map_file_build(const struct ros_map_file *file, const char *text,
                                   size_t bytes, const char *name, struct err_list *errors);

/* Reads both files; the picture's path is relative to the folder of the map. To be freed; NULL
 * with all faults in *errors. */
struct costmap *ros_map_file_load(const char *path, struct err_list *errors);

#endif
