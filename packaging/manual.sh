#!/bin/sh
# manual.sh TANDEM: the manual page tandem(1) on stdout; the subcommands' own help pages are its main part.
# SOURCE_DATE_EPOCH dates it.
set -eu
tandem=$1

# Text as it stands.
verbatim() {
    printf '.nf\n'
    sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^[.']/\\\\\&&/"
    printf '.fi\n'
}

version=$("$tandem" version | sed -n '1s/^tandem //p')
epoch=${SOURCE_DATE_EPOCH:-$(date +%s)}
cat <<END
.TH TANDEM 1 "$(date -u -d "@$epoch" +%Y-%m-%d)" "Tandem $version" "User Commands"
.SH NAME
tandem \- keeps a robot and its digital twin in step
.SH SYNOPSIS
.B tandem
.I COMMAND
.RI [ OPTION ]...
.br
.B tandem
.I COMMAND
.B \-\-help
.SH DESCRIPTION
A lab runs a real robot and a simulated one side by side and gives both the
same commands.
Tandem listens over MQTT and says for every command which of the two was late,
by how much, and whether that was the robot, the network or a clock.
It calibrates both robots' travel times with error bars, hands the real robot's
parameters to the simulator, and shows all of it over HTTP.
Any recording runs through the same code offline, with the same results byte
for byte.
.PP
The package starts the daemon,
.BR "tandem serve" ,
as the system service
.IR tandem ,
with the lab file
.IR /etc/tandem/lab.yaml .
It needs an MQTT broker, for example mosquitto on the same machine.
To see Tandem work without any robot:
.B tandem demo
.SH COMMANDS
END
"$tandem" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' | while read -r command; do
    printf '.SS tandem %s\n' "$command"
    "$tandem" "$command" --help </dev/null | verbatim
done
cat <<'END'
.SH FILES
.TP
.I /etc/tandem/lab.yaml
the lab of the system service: broker, pairs, HTTP, journal
.TP
.I /etc/tandem/token
first line: the token that writing requests over HTTP must carry, if
http.token_file in the lab file names it
.TP
.I /var/lib/tandem
journal, store and checkpoint of the system service
.TP
.I /usr/share/tandem
JSON Schemas of the lab file and of the messages, a Grafana dashboard,
Prometheus alerts, a Node\-RED flow
.TP
.I /usr/share/doc/tandem
documentation; example labs, missions, experiments and programs
.SH ENVIRONMENT
.TP
.BR NOTIFY_SOCKET ", " WATCHDOG_USEC
set by systemd for a service of Type=notify: where
.B tandem serve
says that it is ready, reloads, stops and is alive, and how often it has to
.SH EXIT STATUS
0 fine, 1 the work failed, 2 wrong usage or configuration
.SH EXAMPLES
.nf
tandem demo \-\-for 30
tandem serve \-c /etc/tandem/lab.yaml \-\-check
systemctl reload tandem
curl \-s 'http://127.0.0.1:8420/api/v1/pairs/r1/entries?limit=5'
tandem replay \-c /etc/tandem/lab.yaml /var/lib/tandem/journal
.fi
.SH SEE ALSO
.BR mosquitto (8),
.BR mosquitto_sub (1),
.BR systemctl (1),
.BR journalctl (1)
END
