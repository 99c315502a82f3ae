// Texts with too little contrast to their background (WCAG 2 AA): [[ratio, text, colours], …]. The script of a browser
// test; disabled, invisible and purely decorative elements do not count.
const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});

function rgba(text) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
}

function over([r, g, b, a], below) {
    return [r, g, b].map((c, k) => c * a + below[k] * (1 - a)).concat(1);
}

function behind(node) {
    if (!node) {
        return [255, 255, 255, 1];
    }
    const own = rgba(getComputedStyle(node).backgroundColor);
    return own[3] === 1 ? own : over(own, behind(node.parentElement));
}

function luminance([r, g, b]) {
    const [x, y, z] = [r, g, b].map(c => c / 255).map(c => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
}

function ratio(one, other) {
    const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
}

const weak = [];
let seen = 0;
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
    const node = texts.currentNode.parentElement;
    const words = texts.currentNode.textContent.trim();
    if (!words || !node.checkVisibility() ||
        node.closest("[hidden], [aria-hidden], :disabled, .unseen, .skip, svg, canvas, script, noscript, option")) {
        continue;
    }
    const style = getComputedStyle(node);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const back = behind(node);
    const found = ratio(over(rgba(style.color), back), back);
    seen++;
    if (found < (large ? 3 : 4.5)) {
        weak.push([found.toFixed(2), words.slice(0, 60), style.color, back.map(Math.round).join(" ")]);
    }
}
return {seen, weak};
