"""ros_bag.py - writes ROS 2 bags for tests, in CDR: MCAP without an index, and SQLite as rosbag2 does."""
import sqlite3
import struct
import zlib

RULE = "=" * 80
VECTOR = f"\n{RULE}\nMSG: geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z\n"
TWIST_IN = f"\n{RULE}\nMSG: geometry_msgs/Twist\nVector3 linear\nVector3 angular\n" + VECTOR
HEADER = (f"\n{RULE}\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n{RULE}\n"
          "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n")
POSE = (f"\n{RULE}\nMSG: geometry_msgs/PoseWithCovariance\nPose pose\nfloat64[36] covariance\n{RULE}\n"
        f"MSG: geometry_msgs/Pose\nPoint position\nQuaternion orientation\n{RULE}\n"
        f"MSG: geometry_msgs/Point\nfloat64 x\nfloat64 y\nfloat64 z\n{RULE}\n"
        "MSG: geometry_msgs/Quaternion\nfloat64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1\n")
DEFINITIONS = {
    "geometry_msgs/msg/Twist": "Vector3 linear\nVector3 angular\n" + VECTOR,
    "nav_msgs/msg/Odometry": "# where it is\nstd_msgs/Header header\nstring child_frame_id\n"
    "geometry_msgs/PoseWithCovariance pose\ngeometry_msgs/TwistWithCovariance twist\n" + HEADER + POSE +
    f"\n{RULE}\nMSG: geometry_msgs/TwistWithCovariance\nTwist twist\nfloat64[36] covariance\n" + TWIST_IN,
    "sensor_msgs/msg/JointState": "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\n"
    "float64[] effort\n" + HEADER,
}


class Cdr:
    def __init__(self):
        self.data = bytearray()

    def put(self, form, *values):
        for value in values:
            size = struct.calcsize(form)
            self.data += bytes(-len(self.data) % size) + struct.pack("<" + form, value)
        return self

    def text(self, value):
        self.put("I", len(value) + 1)
        self.data += value.encode() + b"\0"
        return self

    def header(self, t_ns):
        return self.put("i", t_ns // 10**9).put("I", t_ns % 10**9).text("odom")

    def message(self):
        return b"\0\1\0\0" + bytes(self.data)


def twist(v, w):
    return Cdr().put("d", v, 0, 0, 0, 0, w).message()


def odometry(t_ns, v, w, pose=(0, 0, 0, 1)):
    c = Cdr().header(t_ns).text("base")
    return c.put("d", pose[0], pose[1], 0, 0, 0, pose[2], pose[3], *[0] * 36, v, 0, 0, 0, 0, w, *[0] * 36).message()


def joint_state(t_ns, joints):
    c = Cdr().header(t_ns).put("I", len(joints))
    for name in joints:
        c.text(name)
    for k in range(3):
        c.put("I", len(joints)).put("d", *[values[k] for values in joints.values()])
    return c.message()


def record(opcode, body):
    return bytes([opcode]) + struct.pack("<Q", len(body)) + body


def text(value):
    return struct.pack("<I", len(value)) + value.encode()


def write_mcap(path, types, messages, definitions=DEFINITIONS):
    """types: {topic: type}; messages: [(topic, log_ns, data)], written in chunks of 500."""
    head = b""
    numbers = {}
    for k, (topic, type_name) in enumerate(types.items(), 1):
        definition = definitions.get(type_name, "")
        head += record(3, struct.pack("<H", k) + text(type_name) + text("ros2msg") + text(definition))
        head += record(4, struct.pack("<HH", k, k) + text(topic) + text("cdr") + struct.pack("<I", 0))
        numbers[topic] = k
    with open(path, "wb") as file:
        file.write(b"\x89MCAP0\r\n" + record(1, text("ros2") + text("test")))
        for i in range(0, len(messages), 500):
            part = messages[i:i + 500]
            chunk = head + b"".join(record(5, struct.pack("<HIQQ", numbers[t], 0, ns, ns) + data) for t, ns, data in part)
            times = [ns for _, ns, _ in part]
            file.write(record(6, struct.pack("<QQQI", min(times), max(times), len(chunk), zlib.crc32(chunk)) + text("") +
                              struct.pack("<Q", len(chunk)) + chunk))
        file.write(record(0x0F, bytes(4)) + record(2, bytes(20)) + b"\x89MCAP0\r\n")


def write_sqlite(path, types, messages):
    """Writes what rosbag2 wrote before ROS 2 Iron: no definitions."""
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT,"
               " offered_qos_profiles TEXT)")
    db.execute("CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB)")
    numbers = {topic: k for k, topic in enumerate(types, 1)}
    db.executemany("INSERT INTO topics VALUES(?, ?, ?, 'cdr', '')", [(k, t, types[t]) for t, k in numbers.items()])
    db.executemany("INSERT INTO messages(topic_id, timestamp, data) VALUES(?, ?, ?)",
                   [(numbers[t], ns, data) for t, ns, data in messages])
    db.commit()
    db.close()
