// Lab time now, in seconds: the daemon's clock, which the browser's need not agree with.

let offset = 0;

export function setLabTime(seconds) {
    offset = seconds - Date.now() / 1000;
}

export function labNow() {
    return Date.now() / 1000 + offset;
}
