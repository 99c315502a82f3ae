// Elements from data. Text only ever becomes text: nothing here reads markup.

const SVG = "http://www.w3.org/2000/svg";

function set(node, name, value) {
    if (value === undefined || value === null || value === false) {
        return;
    }
    if (name.startsWith("on")) {
        node.addEventListener(name.slice(2), value);
    } else if (name === "style") {
        for (const [key, part] of Object.entries(value)) {
            node.style.setProperty(key, part);
        }
    } else if (name === "value" || name === "checked" || name === "disabled") {
        node[name] = value;
    } else {
        node.setAttribute(name, value === true ? "" : String(value));
    }
}

// Elements whose texts are for reading: their abbreviations are explained.
const PROSE = new Set(["P", "LI", "TH", "DT", "H2", "H3", "FIGCAPTION", "SMALL", "LABEL", "SUMMARY"]);

function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes ?? {})) {
        set(node, name, value);
    }
    append(node, ...(PROSE.has(node.nodeName) ? children.flat(Infinity).map(explained) : children));
    return node;
}

// el("a", {class: "x", href: "#/", onclick: f, style: {width: "3%"}}, "text", node, [more], null)
export function el(tag, attributes, ...children) {
    return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
    return fill(document.createElementNS(SVG, tag), attributes, children);
}

// Append children; lists are flattened, null and false left out.
export function append(node, ...children) {
    for (const child of children.flat(Infinity)) {
        if (child !== null && child !== undefined && child !== false) {
            node.append(child instanceof Node ? child : String(child));
        }
    }
    return node;
}

// Empty places, to be filled later: const [list, plot] = places(2).
export function places(n) {
    return Array.from({length: n}, () => el("div", {}));
}

// Replace what a node contains.
export function show(node, ...children) {
    node.replaceChildren();
    return append(node, ...children);
}

// Replaces a node's children by new ones without disturbing the reader: equal ones stay, so that a focus, a table
// scrolled sideways, an opened detail and a click in progress survive. Nobody may hold references to the children; the
// effect of a control must show in its label.
export function redraw(node, ...children) {
    const fresh = append(document.createDocumentFragment(), ...children);
    morphChildren(node, fresh);
}

const CONTROLS = ["A", "BUTTON", "INPUT", "SELECT", "TEXTAREA"];

// Rows with a key (data-row) keep their node when others come before them, so that a click in progress reaches its
// own row.
function morphChildren(old, fresh) {
    const after = [...fresh.childNodes];
    const wanted = new Set(after.map(child => child.dataset?.row));
    for (const child of [...old.children]) {
        if (child.dataset.row && !wanted.has(child.dataset.row)) {
            child.remove();
        }
    }
    after.forEach((child, k) => {
        const there = old.childNodes[k];
        if (!there) {
            old.append(child);
        } else if (there.dataset?.row !== child.dataset?.row) {
            [...old.children].find(node => node.dataset.row === child.dataset?.row)?.remove();
            old.insertBefore(child, there);
        } else {
            morph(there, child);
        }
    });
    [...old.childNodes].slice(after.length).forEach(child => child.remove());
}

function morph(old, fresh) {
    if (old.isEqualNode(fresh)) {
        return;
    }
    if (old.nodeName !== fresh.nodeName || CONTROLS.includes(old.nodeName)) {
        old.replaceWith(fresh);
    } else if (old instanceof CharacterData) {
        old.data = fresh.data;
    } else {
        morphAttributes(old, fresh);
        morphChildren(old, fresh);
    }
}

function morphAttributes(old, fresh) {
    for (const {name} of [...old.attributes]) {
        if (name !== "open" && !fresh.hasAttribute(name)) {
            old.removeAttribute(name);
        }
    }
    for (const {name, value} of fresh.attributes) {
        if (name === "style") {
            old.style.cssText = fresh.style.cssText; // as an attribute the page's policy forbids it
        } else {
            old.setAttribute(name, value);
        }
    }
}

// Announce to screen readers. Only the newest text counts.
export function say(text) {
    const said = document.getElementById("said");
    if (said.textContent !== text) {
        said.textContent = text;
    }
}

// A placeholder for missing data: what is missing, and how to get it.
export function empty(title, hint, example) {
    return el("div", {class: "empty"}, el("p", {class: "empty-title"}, title), hint && el("p", {}, hint),
        example && el("pre", {}, example));
}

// An error in the words of the problem document.
export function failure(error, retry) {
    return el("div", {class: "failure", role: "alert"},
        el("p", {class: "empty-title"}, symbol("✕"), " ", error.title ?? "That did not work"),
        el("p", {}, error.detail ?? error.message ?? String(error)),
        error.status === 401 && button("Give the token", () => dispatchEvent(new Event("tandem-ask-token")),
            {class: "primary"}),
        retry && button("Try again", retry));
}

// A sign for the eye only.
export function symbol(text, className) {
    return el("span", {"aria-hidden": "true", class: className}, text);
}

// A sign with words, in the colour of its tone.
export function marked(sign, tone, ...words) {
    return el("span", {class: `tone-${tone}`}, symbol(sign, "sign"), " ", words);
}

export function button(label, onclick, attributes) {
    return el("button", {type: "button", onclick, ...attributes}, label);
}

export function muted(...words) {
    return el("p", {class: "muted"}, words);
}

// A control with an id and its label before it, which stay together.
export function field(label, control) {
    return el("span", {class: "labelled"}, el("label", {for: control.id}, label), control);
}

// A number to be typed in, with its label: [label, input].
export function numberField(id, label, value) {
    return [el("label", {for: id}, label), el("input", {type: "number", id, step: "any", value: String(value)})];
}

// A placeholder while data are loading.
export function waiting() {
    return el("p", {class: "wait"}, "Loading …");
}

// A view below root that is hidden while a message replaces it: {say, fail}. say(message) is true without a
// message: then the view must be drawn. fail(error) leaves the view as it is.
export function stage(root, ...content) {
    const message = el("div", {}, waiting());
    const view = el("div", {hidden: true}, content);
    append(root, message, view);
    return {
        say: words => {
            view.hidden = Boolean(words);
            show(message, words);
            return !words;
        },
        fail: error => show(message, failure(error)),
    };
}

// The result of an action, visible and announced.
export function showMessage(node, sign, tone, words) {
    show(node, el("p", {class: "notice"}, symbol(sign, `sign tone-${tone}`), ` ${words}`));
    say(words);
}

// columns: [{label, cell: row => child, numeric, className, title}]; the caption is read out.
// rowOptions: {key: row => text, detail: row => a node below the row, or null}
export function table(caption, columns, rows, className, {key = () => null, detail = () => null} = {}) {
    const kind = column => [column.numeric && "number", column.className].filter(Boolean).join(" ") || null;
    return el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": caption},
        el("table", {class: className},
            el("caption", {class: "unseen"}, caption),
            el("thead", {}, el("tr", {}, columns.map(c =>
                el("th", {scope: "col", class: kind(c), title: c.title}, c.label)))),
            el("tbody", {}, rows.map(row => [
                el("tr", {"data-row": key(row)}, columns.map(c => el("td", {class: kind(c)}, c.cell(row)))),
                detailRow(key(row), columns.length, detail(row))]))));
}

function detailRow(key, width, node) {
    return node && el("tr", {class: "detail", "data-row": `${key} detail`}, el("td", {colspan: width}, node));
}

// [[term, description, …]] as a list of facts.
export function facts(pairs, className = "facts") {
    return el("dl", {class: className}, pairs.filter(Boolean).map(([term, ...values]) =>
        el("div", {}, el("dt", {}, term), el("dd", {}, values))));
}

const ABBREVIATIONS = {
    RMS: "root mean square: the square root of the mean of the squares",
    "R²": "share of the variance that the model explains: 1 is all of it, below 0 is worse than the mean",
    P05: "5 % of the cases are below", P50: "the median", P95: "95 % of the cases are below",
    CSV: "comma-separated values: a table as text", API: "what programs ask the daemon, over HTTP",
    HTTP: "how browsers and programs ask the daemon", JSON: "a text format for data", MQTT: "how robots send messages",
    ppm: "parts per million", sd: "standard deviation", ols: "ordinary least squares",
    huber: "least squares in which outliers count less", tukey: "least squares without outliers",
};
const ABBREVIATION = new RegExp(`(?<![\\w.])(${Object.keys(ABBREVIATIONS).join("|")})(?![\\w²])`);

// A text with its abbreviations explained; other children as they are.
function explained(text) {
    return typeof text !== "string" || !ABBREVIATION.test(text) ? text
        : text.split(ABBREVIATION).map((part, k) => (k % 2 === 0 ? part
            : el("abbr", {title: ABBREVIATIONS[part]}, part)));
}

// A panel with a heading, and help for it, which is loaded when it is asked for.
export function section(title, ...children) {
    const panel = el("section", {class: "panel"}, el("h2", {}, title));
    return append(panel, helpButton(panel, title), children);
}

// Help for a panel whose title is not the topic.
export function helpButton(panel, topic) {
    return button("?", async () => {
        const {openHelp} = await import("./help.js");
        await openHelp(panel, topic);
    }, {class: "quiet help", "aria-label": `Help: ${topic}`, title: "What this shows; files of it"});
}

// A modal question. content: nodes; actions: [{label, run, primary, danger}], the first one is Enter's.
// Resolves when it is closed. run() may throw: its error is shown and the dialog stays.
export function ask(title, content, actions, leaveWords = actions.length > 0 ? "Cancel" : "Close") {
    return new Promise(done => {
        const problem = el("div", {"aria-live": "assertive"});
        const run = async action => {
            try {
                show(problem);
                await action.run();
                dialog.close();
            } catch (error) {
                show(problem, failure(error));
            }
        };
        const form = el("form", {onsubmit: event => {
            event.preventDefault();
            actions.length > 0 ? run(actions[0]) : dialog.close();
        }}, el("h2", {id: "dialog-title"}, title), content, problem,
        el("div", {class: "actions"}, actions.map((action, k) =>
            el("button", {type: k === 0 ? "submit" : "button", class: k === 0 ? "primary" : null,
                onclick: k === 0 ? null : () => run(action)}, action.label)),
        button(leaveWords, () => dialog.close())));
        const leave = () => dialog.close(); // its words are about the view that is left
        const dialog = el("dialog", {"aria-labelledby": "dialog-title", onclose: () => {
            removeEventListener("hashchange", leave);
            dialog.remove();
            done();
        }}, form);
        addEventListener("hashchange", leave);
        document.body.append(dialog);
        dialog.showModal();
    });
}
