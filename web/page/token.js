// Asking for the token: once a tab, before the first thing that changes something.

import {Problem, lab, reach, setToken, token} from "./api.js";
import {ask, el, showMessage} from "./ui.js";

function tokenField() {
    return el("input", {type: "password", autocomplete: "off", id: "token", value: token(), spellcheck: "false"});
}

// Without a token in the lab file nothing can be changed, whatever one types.
const OFF = "This lab names no token, so that pages cannot change it. To switch writing on, give its file " +
    "'http: {token_file: token}' and start the daemon again.";

// Keeps a token that the daemon accepts. Throws if it is wrong, or if none was typed.
export async function useToken(text) {
    if (!text) {
        throw new Problem(0, "The token is missing", "Type the first line of the file that the lab file names "
            + "(http.token_file).");
    }
    try {
        await reach("token", {method: "POST", headers: {Authorization: `Bearer ${text}`}});
    } catch (error) {
        throw error.status !== 401 ? error : new Problem(0, "Wrong token", "The daemon refuses this token. The right "
            + "one is the first line of the file that the lab file names (http.token_file).");
    }
    setToken(text);
}

// Resolves when the question is closed; token() then says whether there is one.
export function askToken(reason) {
    if (lab.writing === false) {
        return ask("Writing is off", [el("p", {}, OFF)], [{label: "Close", run: () => {}}]);
    }
    const field = tokenField();
    return ask("Token", [
        el("p", {}, reason ?? "What changes a lab needs the token that its lab file names (http.token_file). " +
            "It is kept until this tab is closed, and goes to this daemon only."),
        el("label", {for: "token"}, "Token"), field,
    ], [{label: "Use it", run: () => useToken(field.value.trim())},
        token() && {label: "Forget it", run: () => setToken("")}].filter(Boolean));
}

// Ask before an action that changes the lab. content: nodes that describe the
// action; run() does it and returns the text for notice, [sign, tone, words], or throws a Problem.
// leave: the words of the button that does nothing
export async function confirm(title, content, label, run, notice, leave) {
    const field = tokenField();
    let said = null;
    if (lab.writing === false) {
        await ask(title, [el("p", {}, OFF)], [{label: "Close", run: () => {}}]);
        return;
    }
    await ask(title, [content,
        token() ? null : [el("label", {for: "token"}, "Token ", el("small", {}, "(the lab file's http.token_file)")),
            field]],
    [{label, run: async () => {
        if (!token()) {
            await useToken(field.value.trim());
        }
        try {
            said = await run();
        } catch (error) {
            if (error.status === 401) {
                setToken("");
            }
            throw error;
        }
    }}], leave);
    if (said) {
        showMessage(notice, ...said);
    }
}
