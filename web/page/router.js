// Addresses of views: #/ is the overview, #/pair/ID/TAB a pair, #/offline recordings,
// #/team/ID a team.

// A part of an address as text, or as it stands if it is not well encoded.
function decoded(part) {
    try {
        return decodeURIComponent(part);
    } catch {
        return part;
    }
}

export function parse(hash) {
    const [path, search] = hash.replace(/^#\/?/, "").split("?");
    const parts = path.split("/").filter(Boolean).map(decoded);
    const query = Object.fromEntries(new URLSearchParams(search ?? ""));
    if (parts.length === 0) {
        return {view: "overview", query};
    }
    if (parts[0] === "pair" && parts.length >= 2 && parts.length <= 3) {
        return {view: "pair", pair: parts[1], tab: parts[2] ?? "lag", query};
    }
    if (parts[0] === "offline" && parts.length <= 2) {
        return {view: "offline", job: parts[1], query};
    }
    if (parts[0] === "team" && parts.length === 2) {
        return {view: "team", team: parts[1], query};
    }
    return {view: "none", query};
}

export function pairAddress(pair, tab) {
    return `#/pair/${encodeURIComponent(pair)}${tab ? `/${tab}` : ""}`;
}

export function teamAddress(team) {
    return `#/team/${encodeURIComponent(team)}`;
}

// Writes the query of a view's address, so that the view can be sent. A view that is being left writes nothing: the
// address may be another one already, and the view not know it before the next event.
export function keepQuery(place, query) {
    const [here, there] = [location.hash, place].map(address => JSON.stringify({...parse(address), query: null}));
    if (here === there) {
        const search = new URLSearchParams(query).toString();
        history.replaceState(null, "", place + (search ? `?${search}` : ""));
    }
}

// The same for some keys of it; an empty value takes its key away.
export function setQuery(changes, place = location.hash.split("?")[0] || "#/") {
    keepQuery(place, Object.entries({...parse(location.hash).query, ...changes}).filter(([, text]) => text !== ""));
}

// run(route) now and whenever the address changes.
export function follow(run) {
    const go = () => run(parse(location.hash));
    addEventListener("hashchange", go);
    go();
}
