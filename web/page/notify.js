// New alarms as notifications of the browser, if they are asked for. They come while the page is hidden, too.

import {wordsOfAlarm} from "./pair_state.js";
import {pairAddress} from "./router.js";
import {stream} from "./stream.js";
import {button, show, symbol} from "./ui.js";

const WANTED = "tandem-notify";
let listening = null;

function isOn() {
    return localStorage.getItem(WANTED) === "on" && Notification.permission === "granted";
}

// One a pair: a new alarm replaces the one before.
function notify({pair, type, detail}) {
    const note = new Notification(`${pair}: ${wordsOfAlarm(type)}`, {body: detail ?? "", tag: `tandem-${pair}`,
        icon: "page/icon.svg"});
    note.onclick = () => {
        focus();
        location.hash = pair.startsWith("$") ? "#/" : pairAddress(pair, "alarms");
        note.close();
    };
}

function arrange() {
    listening?.abort();
    listening = null;
    stream.stays = isOn();
    if (isOn()) {
        listening = new AbortController();
        stream.listen(["alarm"], null, ({type, data}) => type === "alarm" && notify(data), listening.signal);
    }
    stream.arrange();
}

// Null where the browser has none: it wants HTTPS, or this machine.
export function notifyButton() {
    if (!("Notification" in globalThis) || !isSecureContext) {
        return null;
    }
    const node = button("", async () => {
        const wanted = isOn() ? "off" : "on";
        localStorage.setItem(WANTED, wanted);
        if (wanted === "on" && await Notification.requestPermission() !== "granted") {
            localStorage.setItem(WANTED, "off");
            node.title = "The browser forbids notifications of this page: allow them next to its address";
        }
        draw();
    }, {class: "quiet", title: "A notification of the browser for each new alarm"});
    const draw = () => {
        arrange();
        node.setAttribute("aria-pressed", String(isOn()));
        show(node, symbol("⚠"), isOn() ? " Notifying" : " Notify");
    };
    draw();
    return node;
}
