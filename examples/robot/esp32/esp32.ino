// NOT TESTED: written for PubSubClient 2.8 and the ESP32 core by their documentation, but never compiled.
// The client in ../c is tested on a PC and, in simavr, on an ATmega328P (docs/robots/kit.md).
//
// A robot with Wi-Fi. Copy ../c/tandem_robot.h and ../c/tandem_robot.c next to this file (the latter as
// tandem_robot.c); your parts are begin_move(), stop_move(), step_robot() and robot.pose.
#include <PubSubClient.h>
#include <WiFi.h>

extern "C" {
#include "tandem_robot.h"
}

static const char WIFI[] = "lab", PASSWORD[] = "secret", BROKER[] = "192.168.1.2";
static const char BASE[] = "tandem/v1/r1", SIDE[] = "real";

static WiFiClient network;
static PubSubClient mqtt(network);
static tandem_robot robot;
static char boot[9];

static bool publish(void *, const char *word, const char *payload, uint16_t bytes, uint8_t, bool retained) {
    char topic[64];
    snprintf(topic, sizeof topic, "%s/%s/%s", BASE, SIDE, word);
    // PubSubClient publishes with QoS 0 only: a lost reply is a timeout in Tandem.
    return mqtt.publish(topic, reinterpret_cast<const uint8_t *>(payload), bytes, retained);
}

static tandem_time read_clock(void *) {
    const uint64_t us = esp_timer_get_time(); // since the start, 64 bits
    return {static_cast<uint32_t>(us / 1000000), static_cast<uint32_t>(us % 1000000)};
}

static bool begin_move(void *, const tandem_command *command) {
    return strcmp(command->op, "go") == 0; // and start to move: command->rotation_rad, command->displacement_m
}

static void stop_move(void *) {
}

// One period; true when the current move has ended.
static bool step_robot() {
    return true;
}

static tandem_body body;

static void receive_message(char *topic, uint8_t *payload, unsigned int bytes) {
    const tandem_time received = read_clock(nullptr);
    // The client's buffer is used again by publish(), within tandem_receive(), so the message is copied first.
    static char copy[512];
    if (bytes <= sizeof copy) {
        memcpy(copy, payload, bytes);
        tandem_receive(&robot, strcmp(strrchr(topic, '/'), "/probe") == 0 ? "probe" : "command", copy, bytes, received);
    }
}

static void connect_broker() {
    char topic[64];
    snprintf(topic, sizeof topic, "%s/%s/connection", BASE, SIDE);
    if (mqtt.connect("r1-real", topic, 1, true, TANDEM_OFFLINE)) {
        char command[64], probe[64];
        snprintf(command, sizeof command, "%s/command", BASE);
        snprintf(probe, sizeof probe, "%s/%s/probe", BASE, SIDE);
        mqtt.subscribe(command, 1);
        mqtt.subscribe(probe);
        tandem_online(&robot);
    } else {
        delay(1000);
    }
}

void setup() {
    body.send = publish;
    body.now = read_clock;
    body.begin = begin_move;
    body.stop = stop_move;
    body.boot = boot;
    snprintf(boot, sizeof boot, "%08lx", static_cast<unsigned long>(esp_random()));
    robot.has = &body;
    WiFi.begin(WIFI, PASSWORD);
    mqtt.setServer(BROKER, 1883);
    mqtt.setCallback(receive_message);
    mqtt.setBufferSize(1024); // 256 by default: longer messages are dropped silently
    mqtt.setKeepAlive(10);
}

void loop() {
    static uint32_t next_ms, sample_ms;
    if (WiFi.status() != WL_CONNECTED) {
        delay(100);
        return;
    }
    if (!mqtt.loop()) {
        connect_broker();
    }
    if (static_cast<int32_t>(millis() - next_ms) >= 0) {
        next_ms = millis() + 10;
        if (step_robot()) {
            tandem_end(&robot, "done");
        }
    }
    if (static_cast<int32_t>(millis() - sample_ms) >= 0) {
        sample_ms = millis() + 50;
        const float nu[2] = {0.0f, 0.0f};
        tandem_sample(&robot, read_clock(nullptr), nu, 2, nullptr, 0);
    }
}
