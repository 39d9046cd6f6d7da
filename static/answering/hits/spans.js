"use strict";
// Marking places in a text: by mouse, by touch (first word, last word, or the device's own selection) and by keys.
// The field holds the marks as JSON, with offsets that count code points of the text; without this file rows of fields do.
(() => {
  const { gettext } = window;
  const find = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const language = document.documentElement.lang, LEVELS = 4, SETTLED_MS = 400, SHORT = 60;
  const shortened = (points) => (points.length > SHORT ? [...points.slice(0, SHORT / 2), " … ", ...points.slice(-SHORT / 2)] : points).join("");
  const quoted = (text) => `“${shortened([...text])}”`; // by code points: half of one would be no character

  function make(tag, properties = {}, ...children) {
    const made = document.createElement(tag), { data = {}, aria = {}, ...others } = properties;
    Object.assign(made, tag === "button" ? { type: "button", ...others } : others);
    Object.entries(data).forEach(([name, value]) => (made.dataset[name] = value));
    Object.entries(aria).forEach(([name, value]) => made.setAttribute(name === "role" ? name : `aria-${name}`, value));
    made.append(...children);
    return made;
  }

  const segments = (text, granularity) => [...new Intl.Segmenter(language, { granularity }).segment(text)];
  function wordsOf(text) {
    const parts = window.Intl?.Segmenter ? segments(text, "word") : [...text.matchAll(/\s+|\S+/g)].map((found) => ({ segment: found[0], index: found.index }));
    return parts.map(({ segment, index }) => ({ start: index, end: index + segment.length, isBlank: !segment.trim() }));
  }

  // A text in which is marked. Its own offsets are those of JavaScript, in UTF-16; marks have code points.
  function surfaceOf(node, column, label, marking) {
    const text = node.textContent, words = wordsOf(text), points = [];
    for (let unit = 0, point = 0; unit <= text.length; point += 1) {
      points[unit] = point;
      unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
    }
    const units = [];
    points.forEach((point, unit) => (units[point] = unit));
    const borders = window.Intl?.Segmenter ? [...segments(text, "grapheme").map(({ index }) => index), text.length] : units;
    const surface = { node, column, text, words, points, units, borders, marking, at: -1, from: -1, parts: [] };
    node.classList.add("surface");
    node.tabIndex = text.trim() ? 0 : -1;
    node.setAttribute("role", "listbox");
    node.setAttribute("aria-multiselectable", "true");
    node.setAttribute("aria-label", label);
    node.setAttribute("aria-describedby", marking.hint.id);
    listen(surface);
    return surface;
  }

  const isIn = (mark, surface) => mark.start !== undefined && (mark.column ?? "") === surface.column;
  const placeOf = (mark, { units }) => [units[mark.start], units[mark.end]];

  // -- What is drawn -------------------------------------------------------------------------------------
  function draw(surface) {
    const { node, marking, text, words } = surface;
    const places = marking.marks.filter((mark) => isIn(mark, surface)).map((mark) => ({ mark, place: placeOf(mark, surface) }));
    const cuts = new Set(places.flatMap(({ place }) => place));
    surface.parts = words.map((word, n) => {
      const part = make("span", { className: word.isBlank ? "" : "word", data: { n } });
      if (!word.isBlank) Object.assign(part, { id: `${node.id}-w${n}`, role: "option" }).setAttribute("aria-selected", "false");
      const ends = [...cuts].filter((cut) => cut > word.start && cut < word.end).sort((a, b) => a - b);
      [word.start, ...ends].forEach((start, k) => {
        const end = ends[k] ?? word.end, over = places.filter(({ place }) => place[0] < end && place[1] > start);
        part.append(over.length ? markedPiece(text.slice(start, end), over, marking) : text.slice(start, end));
      });
      return part;
    });
    node.replaceChildren(...surface.parts);
    point(surface);
  }

  function markedPiece(text, over, marking) {
    const level = Math.max(...over.map(({ mark }) => marking.levelOf(mark)));
    return make("span", { className: over.length > 1 ? "marked twice" : "marked", data: { level } }, text);
  }

  // Show which word the keys are at, and from which on words are taken.
  function point({ node, parts, words, at, from }) {
    const [first, last] = from < 0 ? [at, at] : [Math.min(from, at), Math.max(from, at)];
    parts.forEach((part, n) => {
      const isTaken = from >= 0 && n >= first && n <= last;
      part.classList.toggle("taken", isTaken);
      part.classList.toggle("at", n === at);
      if (!words[n].isBlank) part.setAttribute("aria-selected", isTaken);
    });
    at < 0 ? node.removeAttribute("aria-activedescendant") : node.setAttribute("aria-activedescendant", parts[at].id);
  }

  function goTo(surface, at, { isTaking = false } = {}) {
    if (at === undefined || at < 0) return;
    surface.from = isTaking ? (surface.from < 0 ? surface.at : surface.from) : -1;
    surface.at = at;
    point(surface);
    surface.parts[at].scrollIntoView({ block: "nearest" });
    if (isTaking) surface.marking.say(gettext("Taken: {text}", { text: quoted(wordsTaken(surface).text) }));
  }

  function letGo(surface) {
    surface.from = -1;
    point(surface);
    surface.marking.chosen = undefined;
    surface.marking.bar.hidden = true;
  }

  // -- Places --------------------------------------------------------------------------------------------
  function placed(surface, start, end) {
    const { text, borders, points } = surface, words = text.slice(start, end), trimmed = words.trim();
    if (trimmed) [start, end] = [start + words.indexOf(trimmed), start + words.indexOf(trimmed) + trimmed.length];
    const from = borders.findLast((border) => border <= start), to = borders.find((border) => border >= end);
    return { surface, text: text.slice(from, to), start: points[from], end: points[to] };
  }

  function wordsTaken(surface) {
    const { words, at, from } = surface, first = from < 0 ? at : Math.min(from, at), last = from < 0 ? at : Math.max(from, at);
    return placed(surface, words[first].start, words[last].end);
  }

  // What the browser's own selection holds of a text, if anything.
  function selected(surface) {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return undefined;
    const range = selection.getRangeAt(0), before = document.createRange();
    if (!surface.node.contains(range.startContainer) || !surface.node.contains(range.endContainer)) return undefined;
    before.setStart(surface.node, 0);
    before.setEnd(range.startContainer, range.startOffset);
    const start = before.toString().length, length = range.toString().length;
    return length ? placed(surface, start, start + length) : undefined;
  }

  // -- Mouse, touch and keys -----------------------------------------------------------------------------
  function listen(surface) {
    const { node, marking } = surface;
    node.addEventListener("click", (event) => {
      const place = selected(surface);
      if (place) return event.pointerType === "touch" ? undefined : marking.open(place);
      const word = event.target.closest("[role=option]");
      if (word) tap(surface, Number(word.dataset.n));
    });
    node.addEventListener("keydown", (event) => {
      const isTaken = onKey(surface, event);
      if (!isTaken) return;
      event.preventDefault();
      event.stopPropagation();
    });
    node.addEventListener("focus", () => surface.at < 0 && goTo(surface, next(surface, -1, 1)));
  }

  // The first word, then the last one; the same twice is one word.
  function tap(surface, n) {
    if (surface.from < 0) {
      Object.assign(surface, { at: n, from: n });
      point(surface);
      const text = quoted(wordsTaken(surface).text);
      return surface.marking.say(gettext("From {text} on: now the last word, or the same again.", { text }));
    }
    surface.at = n;
    point(surface);
    surface.marking.open(wordsTaken(surface));
  }

  function next({ words }, from, step) {
    let n = from + step;
    while (words[n]?.isBlank) n += step;
    return words[n] ? n : undefined;
  }

  // The word nearest to this one in the next line up or down.
  function inLine({ words, parts, at }, step) {
    const here = parts[at].getBoundingClientRect();
    const others = parts.map((part, n) => ({ n, box: part.getBoundingClientRect() })).filter(({ n }) => !words[n].isBlank);
    const beyond = others.filter(({ box }) => (box.top - here.top) * step > here.height / 2);
    const line = Math.min(...beyond.map(({ box }) => Math.abs(box.top - here.top)));
    const near = beyond.filter(({ box }) => Math.abs(box.top - here.top) < line + here.height / 2);
    return near.sort((a, b) => Math.abs(a.box.left - here.left) - Math.abs(b.box.left - here.left))[0]?.n;
  }

  // Tell whether a key was one of ours.
  function onKey(surface, event) {
    const { key, shiftKey: isTaking } = event, { marking, words } = surface;
    if ((event.ctrlKey || event.metaKey) && key === "z") return marking.undo(), true;
    if (event.ctrlKey || event.metaKey || event.altKey || surface.at < 0) return false;
    const onwards = getComputedStyle(surface.node).direction === "rtl" ? -1 : 1;
    const moves = {
      ArrowRight: () => next(surface, surface.at, onwards), ArrowLeft: () => next(surface, surface.at, -onwards),
      ArrowDown: () => inLine(surface, 1), ArrowUp: () => inLine(surface, -1),
      Home: () => next(surface, -1, 1), End: () => next(surface, words.length, -1),
    };
    if (moves[key]) return goTo(surface, moves[key](), { isTaking }), true;
    if ((key === "Enter" || key === " ") && !event.repeat) return marking.open(wordsTaken(surface)), true;
    if (key === "Escape" && surface.from >= 0) return letGo(surface), true;
    return false;
  }

  // -- One question --------------------------------------------------------------------------------------
  function markingOf(field) {
    const group = field.closest(".group"), severities = JSON.parse(field.dataset.severities), kinds = JSON.parse(field.dataset.categories);
    const costs = [...new Set(severities.map(({ cost }) => cost))].sort((a, b) => a - b);
    const most = Number(field.dataset.most), before = [];
    const marking = { field, severities, kinds, marks: [], surfaces: [], chosen: undefined, say, open, undo };
    const severityOf = ({ severity }) => severities.find(({ value }) => value === severity);
    marking.levelOf = (mark) => Math.min(costs.indexOf(severityOf(mark)?.cost) + 1 + (costs.length < LEVELS - 1 ? 1 : 0), LEVELS) || LEVELS;

    const hint = make("p", { className: "help hint", id: `${field.id}-keys` });
    const how = [gettext("Click or tap the first word that is wrong, then the last one."), gettext("By keys: arrows move, Shift and arrows take more, Enter marks.")];
    hint.textContent = how.join(" ");
    const status = make("p", { className: "help", aria: { role: "status" } }), list = make("ol", { className: "marks" });
    const nothing = make("button", { className: "nothing", textContent: gettext("There is nothing to mark"), onclick: () => write([], { isNothing: field.value !== "[]" }) });
    const whole = make("button", { textContent: gettext("Mark the whole text"), onclick: () => open({ text: "" }) });
    const back = make("button", { textContent: gettext("Undo"), onclick: undo });
    const bar = make("div", { className: "chosen", hidden: true });
    whole.hidden = !("whole" in field.dataset);
    Object.assign(marking, { hint, bar });
    const leftOut = find(".left-out", group);
    field.after(hint, ...(leftOut ? [leftOut] : []), bar, status, list, make("p", { className: "tools" }, nothing, whole, back));

    const judged = document.getElementById(field.dataset.surface), missing = document.getElementById(`${field.name}-missing`);
    const name = find("legend", group).firstChild.textContent.trim();
    if (judged) marking.surfaces.push(surfaceOf(judged, field.dataset.column, name, marking));
    if (missing) marking.surfaces.push(surfaceOf(missing, missing.dataset.column, find(".left-out p", group).textContent, marking));
    if (!marking.surfaces.some(({ text }) => text.trim())) hint.textContent = gettext("There are no words here that could be marked.");

    function say(text) {
      status.textContent = text;
    }

    function named(mark) {
      if (mark.start === undefined && !mark.text) return gettext("The whole text");
      return mark.column && mark.column !== field.dataset.column ? gettext("Left out: {text}", { text: quoted(mark.text) }) : quoted(mark.text);
    }

    function describe(mark) {
      const kind = kinds.flatMap(({ whole: part, names }) => names.map((one) => ({ ...one, part }))).find(({ value }) => value === mark.category);
      return [severityOf(mark)?.label, kind && [kind.part, kind.label].filter(Boolean).join(": "), mark.note].filter(Boolean).join(" · ");
    }

    // Take what the field holds, as at first or given back from this browser.
    function read() {
      let read = [];
      try {
        read = JSON.parse(field.value || "[]");
      } catch {
        // The server says what can't be read; marking again replaces it.
      }
      marking.marks = Array.isArray(read) ? read.filter((mark) => mark && typeof mark === "object") : [];
      show();
    }

    function write(marks, { isNothing = false, isUndoing = false } = {}) {
      if (!isUndoing) before.push(field.value);
      marking.marks = marks;
      field.value = marks.length || isNothing ? JSON.stringify(marks) : "";
      field.dispatchEvent(new Event("input", { bubbles: true }));
      show();
    }

    function undo() {
      if (!before.length) return;
      field.value = before.pop();
      field.dispatchEvent(new Event("input", { bubbles: true }));
      read();
      say(gettext("Undone. Marked: {n}", { n: marking.marks.length }));
      if (document.activeElement === document.body) nothing.focus();
    }

    function show() {
      const inOrder = [...marking.marks].sort((a, b) => (a.column ?? "").localeCompare(b.column ?? "") || (a.start ?? -1) - (b.start ?? -1));
      list.replaceChildren(...inOrder.map(entry));
      list.hidden = !inOrder.length;
      nothing.setAttribute("aria-pressed", field.value === "[]");
      nothing.disabled = inOrder.length > 0;
      back.hidden = !before.length;
      marking.surfaces.forEach(draw);
    }

    function entry(mark) {
      const about = `${named(mark)}, ${describe(mark)}`;
      const change = make("button", { textContent: gettext("Change"), aria: { label: gettext("Change: {mark}", { mark: about }) }, onclick: () => open({ mark }) });
      const remove = make("button", { textContent: gettext("Remove"), aria: { label: gettext("Remove: {mark}", { mark: about }) } });
      remove.addEventListener("click", () => {
        write(marking.marks.filter((other) => other !== mark));
        say(gettext("Removed: {mark}", { mark: named(mark) }));
        back.focus();
      });
      const text = make("span", { className: "what", dir: "auto" }, named(mark)), said = make("span", { className: "said", dir: "auto" }, describe(mark));
      const shape = make("span", { className: "marked shape", data: { level: marking.levelOf(mark) }, aria: { hidden: "true" } });
      return make("li", {}, shape, make("span", { className: "about" }, text, said), make("span", { className: "tools" }, change, remove));
    }

    function open(place) {
      bar.hidden = true;
      if (!place.mark && marking.marks.length >= most) return say(gettext("Mark at most {most} places.", { most }));
      const shown = place.mark ? named(place.mark) : place.text ? quoted(place.text) : gettext("The whole text");
      ask(marking, { title: shown, given: place.mark ?? {} }, (chosen) => {
        const { start, end, text } = place, column = place.surface?.column || field.dataset.column;
        const fresh = place.mark ? { ...place.mark } : place.text ? { start, end, text } : {};
        if (!place.mark && column) fresh.column = column;
        const mark = Object.fromEntries(Object.entries({ ...fresh, ...chosen }).filter(([, value]) => value !== "" && value !== undefined));
        getSelection().removeAllRanges();
        marking.surfaces.forEach((surface) => (surface.from = -1));
        write(place.mark ? marking.marks.map((other) => (other === place.mark ? mark : other)) : [...marking.marks, mark]);
        say(gettext("Marked: {mark}", { mark: `${shown}, ${describe(mark)}` }));
        (place.surface?.node ?? all("button", list).find((button) => button.closest("li") && !place.mark) ?? nothing).focus({ preventScroll: true });
      }, () => marking.surfaces.forEach(letGo));
    }

    // The device's own selection, by long press: a button says what it would mark.
    let settled = 0;
    document.addEventListener("selectionchange", () => {
      clearTimeout(settled);
      settled = setTimeout(() => {
        const place = marking.surfaces.map(selected).find(Boolean);
        bar.hidden = !place;
        if (place) bar.replaceChildren(make("button", { className: "main", textContent: gettext("Mark {text}", { text: quoted(place.text) }), onclick: () => open(place) }));
      }, SETTLED_MS);
    });
    const toSurface = () => (marking.surfaces.find(({ node }) => node.tabIndex === 0)?.node ?? nothing).focus();
    field.addEventListener("focus", toSurface);
    field.addEventListener("restored", read);
    read();
    if (document.activeElement === field) toSurface();
    return marking;
  }

  // -- What is wrong with it, and how bad -----------------------------------------------------------------
  const dialog = make("dialog", { className: "mark" });
  dialog.setAttribute("aria-labelledby", "mark-title");
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());

  function ask(marking, { title, given }, onChosen, onLeft) {
    const { lang } = marking.field.dataset, own = lang ? { lang } : {};
    const select = make("select", { ...own, id: "mark-kind" }, make("option", { value: "", textContent: gettext("Choose…") }));
    for (const { whole, names } of marking.kinds) {
      const options = names.map(({ value, label }) => make("option", { value, textContent: label, selected: value === given.category }));
      select.append(...(whole ? [make("optgroup", { label: whole }, ...options)] : options));
    }
    const note = make("input", { type: "text", maxLength: 500, value: given.note ?? "", dir: "auto" });
    const trouble = make("p", { className: "error", aria: { role: "alert" } }), heading = make("p", { id: "mark-how", className: "how" }, gettext("How bad is it?"));
    let isChosen = false;
    const buttons = marking.severities.map((severity) => {
      const shape = make("span", { className: "marked shape", data: { level: marking.levelOf({ severity: severity.value }) }, aria: { hidden: "true" } });
      const words = make("span", own, severity.label, ...(severity.description ? [make("small", {}, severity.description)] : []));
      const button = make("button", { dir: "auto" }, shape, words);
      if (given.severity) button.setAttribute("aria-pressed", given.severity === severity.value);
      button.addEventListener("click", () => {
        if (marking.kinds.length && !select.value) {
          trouble.textContent = gettext("Say what is wrong with it first.");
          return select.focus();
        }
        isChosen = true;
        dialog.close();
        onChosen({ category: select.value, severity: severity.value, note: note.value.trim() });
      });
      return button;
    });
    const kind = marking.kinds.length ? [make("label", {}, gettext("What is wrong"), select)] : [];
    const said = "notes" in marking.field.dataset ? [make("label", {}, gettext("Note"), note)] : [];
    const severities = make("div", { className: "severities", aria: { role: "group", labelledby: "mark-how" } }, ...buttons);
    const leave = make("button", { textContent: gettext("Cancel"), onclick: () => dialog.close() });
    dialog.replaceChildren(make("h2", { id: "mark-title", dir: "auto" }, title), ...kind, ...said, trouble, heading, severities, leave);
    dialog.onclose = () => isChosen || onLeft();
    if (!dialog.open) dialog.showModal();
    (kind.length ? select : buttons[0]).focus();
  }

  const fields = all("#hit textarea[data-severities]").filter((field) => !field.matches(":disabled"));
  if (!fields.length) return;
  document.body.append(dialog);
  fields.forEach(markingOf);
})();
