# cmake/deps.sh - what Tandem needs from Debian 12, and why; sourced by ./run and ./test.
#
#   deps_install PACKAGE...      install what is missing (with sudo when not root)
#   deps_build PRESET TARGET...  configure the source tree $root and build into build/PRESET

deps_to_build='
    gcc                 the compiler
    libc6-dev           the C library (only recommended by gcc)
    cmake               the build
    ninja-build         its back end
    pkg-config          finds the libraries
    libgsl-dev          linear algebra, least squares, statistics
    libjansson-dev      JSON
    libsqlite3-dev      the store
    libyaml-dev         the lab file
    libexpat1-dev       drawings of machines: their XML
    zlib1g-dev          drawings of machines: packed pages
    libmicrohttpd-dev   HTTP
    libgnutls28-dev     HTTPS: says what is wrong with a certificate (libmicrohttpd is built on it)
    libpaho-mqtt-dev    MQTT
    libmodbus-dev       answers in Modbus TCP (service/wire), and the client of the C example
    libjs-dygraphs      draws the charts of the page, compiled in
    graphviz            draws the state machines of the page, compiled in
    libsystemd-dev      says to systemd how the daemon is
    libcunit1-dev       unit tests
'
deps_to_run='
    mosquitto           the broker of the demo and of the tests
    mosquitto-clients   sends and records messages: README, tutorials, password files
    curl                asks the daemon: README, tutorials, the examples
'
deps_to_test='
    openssl             certificates for the TLS tests
    python3             scripts around the program
    python3-paho-mqtt   the robot that a tutorial writes
    python3-jsonschema  the messages and HTTP answers against their schemas
    jq                  reads the answers
    sqlite3             saves the store as docs/operations.md says
    python3-yaml        the example labs against theirs
    clang               the second compiler
    libclang-rt-14-dev  its sanitizers (only recommended by clang)
    gnuplot-nox         draws what identify simulates
    nodejs              runs the functions of the Node-RED flow (npm, if there: axe-core for the page)
    prometheus          promtool reads /metrics back
    chromium            the page is looked at as people see it
    chromium-driver     takes the browser where a test wants it
    python3-selenium    speaks to that driver
    mbpoll              a Modbus client, from the command line
    python3-pymodbus    another one, of the Python example
    python3-serial-asyncio  clients of pymodbus cannot be imported without it (only recommended by it)
    python3-paho-mqtt   runs examples/robot: a robot, a controller, a bridge in Python
    lua5.1              runs programs made of machines, as CoppeliaSim does
    lua5.4              the newer Lua does so too
    gcc-avr             the C client as it is on an ATmega328P: how large it is, and at work
    avr-libc            its C library
    libsimavr-dev       runs that firmware
    patch               adds by each recipe of docs/adding.md what it says
    python3-pykdl       where the tool of an arm is, by others
'
deps_to_package='
    dpkg-dev            finds the libraries a package depends on
    debootstrap         the bare Debian it is tested in
    python3             does there what systemd would
'

# The first words of the lines of a list.
deps_names() {
    printf '%s\n' "$@" | awk 'NF { print $1 }'
}

deps_is_installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

deps_root() {
    if [ "$(id -u)" = 0 ]; then
        env "$@"
    else
        sudo env "$@"
    fi
}

# Take back the ban on starting services, if it is ours.
deps_allow_services() {
    if [ -n "${deps_policy:-}" ]; then
        deps_root rm -f "$deps_policy"
        deps_policy=
    fi
}

# Packages that bring a service (mosquitto) would start it: not on somebody's machine, unasked.
deps_forbid_services() {
    if [ ! -e /usr/sbin/policy-rc.d ]; then
        deps_policy=/usr/sbin/policy-rc.d
        printf '#!/bin/sh\nexit 101\n' | deps_root tee "$deps_policy" >/dev/null
        deps_root chmod 755 "$deps_policy"
        trap deps_allow_services EXIT
        trap 'exit 130' INT TERM
    fi
}

deps_install() {
    deps_missing=
    for deps_package in "$@"; do
        deps_is_installed "$deps_package" || deps_missing="$deps_missing $deps_package"
    done
    [ -n "$deps_missing" ] || return 0
    if ! command -v apt-get >/dev/null; then
        echo "this is no Debian; please install:$deps_missing" >&2
        return 1
    fi
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
        echo "as root, please: apt install --no-install-recommends$deps_missing" >&2
        return 1
    fi
    echo "installing:$deps_missing"
    deps_log=$(mktemp)
    deps_forbid_services
    # shellcheck disable=SC2086 # a list of packages
    if deps_root DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 update \
        >"$deps_log" 2>&1 &&
        deps_root DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y \
            --no-install-recommends $deps_missing >>"$deps_log" 2>&1; then
        deps_status=0
    else
        deps_status=1
        tail -n 20 "$deps_log" >&2
    fi
    deps_allow_services
    if [ $deps_status = 0 ] && [ -d /run/systemd/system ]; then
        for deps_service in mosquitto prometheus; do
            case " $deps_missing " in
                *" $deps_service "*) # came with us: not at the next boot either
                    deps_root systemctl disable "$deps_service" >/dev/null 2>&1 || true ;;
            esac
        done
    fi
    rm -f "$deps_log"
    return $deps_status
}

deps_build() { # PRESET TARGET...
    deps_preset=$1
    shift
    deps_log=$(mktemp)
    if ! cmake -S "$root" --preset "$deps_preset" >"$deps_log" 2>&1; then
        cat "$deps_log" >&2
        rm -f "$deps_log"
        return 1
    fi
    rm -f "$deps_log"
    echo "building build/$deps_preset"
    cmake --build "$root/build/$deps_preset" --target "$@" -- --quiet
}
