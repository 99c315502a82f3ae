// A link that saves an answer of the API as a file, with the token if one is set.

import {getBlob} from "./api.js";
import {el, failure, show} from "./ui.js";

const REVOKE_MS = 60000; // until the browser has surely taken the file

export function saveAs(blob, name) {
    const url = URL.createObjectURL(blob);
    const link = el("a", {href: url, download: name, hidden: true});
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), REVOKE_MS);
}

// address: below api/v1/, or a function that gives it. notice: a node for errors.
// attributes: of the link, beyond its own.
export function downloadLink(text, address, name, notice, attributes = {}) {
    const now = () => (typeof address === "function" ? address() : address);
    const save = async event => {
        event.preventDefault();
        show(notice);
        try {
            saveAs(await getBlob(now()), name);
        } catch (error) {
            show(notice, failure(error));
        }
    };
    return el("a", {...attributes, href: `api/v1/${now()}`, download: name, onclick: save}, text);
}
