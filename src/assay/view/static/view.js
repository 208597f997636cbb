// Keys, word differences, prefetching and live progress. Every page works without this file.
const inField = (target) => target.closest("input, select, textarea, [contenteditable]");
const items = () => [...document.querySelectorAll("[data-item]")];
let current = -1;

function mark(step) {
  const rows = items();
  if (!rows.length) return false;
  current = Math.min(Math.max(current + step, 0), rows.length - 1);
  rows.forEach((row, place) => row.classList.toggle("current", place === current));
  rows[current].scrollIntoView({ block: "nearest" });
  rows[current].querySelector("[data-open]")?.focus({ preventScroll: true });
  return true;
}

function follow(selector) {
  const link = document.querySelector(selector);
  if (link) location.assign(link.href);
  return Boolean(link);
}

function showKeys() {
  const dialog = document.getElementById("keys");
  if (dialog.open) dialog.close();
  else dialog.showModal();
}

const actions = {
  j: () => items().length ? mark(1) : follow("a[rel=next]"),
  k: () => items().length ? mark(-1) : follow("a[rel=prev]"),
  u: () => follow("a[rel=up]"),
  "/": () => { document.querySelector("[data-search]")?.focus(); return true; },
  "?": () => { showKeys(); return true; },
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (inField(event.target)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const button = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (button) {
    event.preventDefault();
    if (button.tagName === "BUTTON") button.click();
    else button.focus();
    return;
  }
  if (Object.hasOwn(actions, event.key) && actions[event.key]()) event.preventDefault();
});

for (const button of document.querySelectorAll("[data-keys]")) {
  button.hidden = false;
  button.addEventListener("click", showKeys);
}
for (const hint of document.querySelectorAll(".keys-hint")) hint.hidden = false;

// the sample that comes next is in the browser's cache before anybody asks for it
const next = document.querySelector("nav.pager a[rel=next]");
if (next) setTimeout(() => fetch(next.href, { credentials: "same-origin", priority: "low" }).catch(() => {}), 150);

const words = (text) => text.match(/\s+|[^\s]+/g) ?? [];
const LONGEST = 1500;

// longest common subsequence of two lists of words, after their common beginning and end
function different(before, after) {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const a = before.slice(start, before.length - end), b = after.slice(start, after.length - end);
  if (a.length * b.length > LONGEST * LONGEST) return [a.map((_, i) => start + i), b.map((_, i) => start + i)];
  const table = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      table[i][j] = a[i] === b[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
    }
  }
  const gone = [], come = [];
  let i = 0, j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { i++; j++; }
    else if (j === b.length || (i < a.length && table[i + 1][j] >= table[i][j + 1])) gone.push(start + i++);
    else come.push(start + j++);
  }
  return [gone, come];
}

function draw(box, parts, places, tag) {
  const changed = new Set(places), pieces = [];
  // a space between two changed words belongs to the change
  for (const place of places) if (changed.has(place + 2) && !parts[place + 1].trim()) changed.add(place + 1);
  for (let i = 0; i < parts.length;) {
    const isChanged = changed.has(i);
    let text = "";
    while (i < parts.length && changed.has(i) === isChanged) text += parts[i++];
    if (!isChanged) { pieces.push(document.createTextNode(text)); continue; }
    const node = document.createElement(tag);
    node.textContent = text;
    pieces.push(node);
  }
  box.replaceChildren(...pieces);
}

for (const pair of document.querySelectorAll("[data-diff]")) {
  const boxes = [...pair.children].map((side) => side.querySelector(".answer"));
  if (boxes.length !== 2 || boxes.some((box) => box === null)) continue;
  const [before, after] = boxes.map((box) => words(box.textContent));
  const [gone, come] = different(before, after);
  // where everything is different, marks would only be noise
  if (gone.length === before.length && come.length === after.length) continue;
  draw(boxes[0], before, gone, "del");
  draw(boxes[1], after, come, "ins");
}

const progress = document.querySelector("[data-events]");
if (progress) {
  const events = new EventSource(progress.dataset.events);
  events.onmessage = (event) => {
    const news = JSON.parse(event.data);
    progress.textContent = news.words;
    if (news.finished) { events.close(); location.reload(); }
  };
}

// what is being counted is shown once it is there, unless somebody is writing
function countAgain() {
  if (document.activeElement?.closest("form")) setTimeout(countAgain, 2000);
  else location.reload();
}
if (document.querySelector("[data-counting]")) setTimeout(countAgain, 2000);
