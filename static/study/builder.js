"use strict";
// The builder works without this file. With it: what is typed is kept by itself, the page beside it follows.
(() => {
  const form = document.getElementById("builder");
  if (!form) return;
  const DEBOUNCE_MS = 700;
  const find = (id) => document.getElementById(id);
  const frame = find("page"), box = frame.parentElement, saved = find("saved"), overtaken = find("overtaken");
  let timer = 0, isSending = false, isLeaving = false, pressed = null; // the button that waits for a save
  let nTyped = 0, nKept = 0; // changes since the page came, and those of them that the server has
  let naming = null, was = document.activeElement.value ?? ""; // the field of a name that is being written, and what it said

  // -- The page beside the form ----------------------------------------------------------------------------
  function fit() {
    const isDesktop = form.elements.width.value === "desktop", scale = isDesktop ? Math.min(1, box.clientWidth / 1100) : 1;
    frame.style.transform = scale < 1 ? `scale(${scale})` : "";
    frame.style.transformOrigin = "0 0";
    frame.style.height = `${box.clientHeight / scale}px`;
    box.style.overflow = "hidden";
  }
  form.querySelectorAll("[name=width]").forEach((input) => input.addEventListener("change", fit));
  window.addEventListener("resize", fit);
  fit();

  // -- Saving as one types ---------------------------------------------------------------------------------
  // Nothing typed leaves with the page: a button's post goes once all is kept, and not where it is refused.
  // Items go with the next button.
  const isOurs = (node) => node.name && !["width", "items", "items_file"].includes(node.name);
  const hasItems = () => form.elements.items.value !== form.elements.items.defaultValue || form.elements.items_file.files.length > 0;

  form.addEventListener("input", ({ target }) => isOurs(target) && !isLeaving && typed(target));
  form.addEventListener("change", ({ target }) => isOurs(target) && redraws(target) && redraw(target));
  form.addEventListener("submit", (event) => {
    named();
    if (!isSending && nTyped === nKept) return leave();
    event.preventDefault();
    pressed = event.submitter ?? find("save");
    save();
  });
  window.addEventListener("beforeunload", (event) => (naming || nTyped !== nKept || (hasItems() && !isLeaving)) && event.preventDefault());
  window.addEventListener("pageshow", (event) => event.persisted && location.reload());

  // What else is asked depends on it: the server draws the form anew.
  const redraws = (node) => "redraws" in node.dataset;
  function redraw(node) {
    form.elements.at.value = node.id;
    form.requestSubmit(find("save"));
  }

  function typed(node) {
    nTyped += 1;
    if (node && isName(node)) naming = node;
    else later(DEBOUNCE_MS);
  }

  // Other places follow a name: half of one may be another's, and is not sent before it is whole.
  const isName = (node) => "names" in node.dataset;
  form.addEventListener("focusin", ({ target }) => isName(target) && (was = target.value));
  form.addEventListener("focusout", () => named() && later(0));
  function named() {
    if (!naming) return false;
    naming = null;
    nTyped += 1;
    return true;
  }

  function later(ms) {
    clearTimeout(timer);
    timer = setTimeout(save, ms);
  }

  function leave() {
    clearTimeout(timer);
    isLeaving = true;
    setTimeout(() => (form.inert = true)); // what is typed from here on would be lost
  }

  async function save() {
    if (isSending || isLeaving) return;
    clearTimeout(timer);
    isSending = true;
    const nSent = nTyped;
    saved.textContent = "Saving…";
    const isGood = await sent(nSent);
    isSending = false;
    const button = pressed;
    pressed = null;
    if (button && isGood) form.requestSubmit(button);
    else if (nTyped !== nSent) later(DEBOUNCE_MS);
  }

  async function sent(nSent) {
    const body = new FormData(form);
    ["items", "items_file"].forEach((name) => body.delete(name));
    if (naming) body.set(naming.name, was);
    try {
      const response = await fetch(location.pathname, { method: "POST", body, headers: { Accept: "application/json" } });
      if (response.redirected) throw new Error("signed out");
      const answer = await response.json();
      if (response.ok || response.status === 409) nKept = nSent;
      return told(response, answer, body);
    } catch {
      saved.textContent = "Not saved: the server can’t be reached. Trying again.";
      later(3000);
      return false;
    }
  }

  function told(response, answer, body) {
    if (response.status === 409) keptBeside(answer);
    else if (!response.ok) saved.textContent = `Not saved: ${answer.why}`;
    else goOn(answer, body);
    return response.ok;
  }

  function goOn(answer, body) {
    form.elements.base.value = answer.version;
    form.elements.was_shared.value = answer.is_shared;
    saved.textContent = `Version ${answer.version}, saved ${answer.saved}`;
    find("undo").disabled = !answer.undo;
    find("redo").disabled = !answer.redo;
    overtaken.hidden = true;
    for (const [id, chosen] of Object.entries(answer.options)) if (find(id)) follow(find(id), chosen, body);
    mark(answer);
    frame.src = `${frame.src.split("?")[0]}?version=${answer.version}`;
  }

  // What is chosen among stands elsewhere in the document and follows it, but for what was chosen meanwhile.
  function follow(node, { held, options }, body) {
    const boxes = [...node.querySelectorAll("input[type=checkbox]")];
    const now = node.matches("select") ? [node.value] : boxes.filter((one) => one.checked).map((one) => one.value);
    const name = node.name || node.querySelector("input").name;
    const wanted = String(now) === String(body.getAll(name).filter((one) => one || node.name)) ? held : now;
    const shown = node.matches("select") ? [...node.options].map((one) => [one.value, one.text]) : boxes.map((one) => [one.value, one.parentElement.textContent.trim()]);
    if (JSON.stringify([now, shown]) === JSON.stringify([wanted, options])) return;
    if (node.matches("select")) node.replaceChildren(...options.map(([value, label]) => new Option(label, value, wanted.includes(value), wanted.includes(value))));
    else {
      boxes.forEach((one) => one.parentElement.remove());
      node.append(...options.map((one) => tick(name, one, wanted)));
    }
  }

  function tick(name, [value, text], wanted) {
    const label = Object.assign(document.createElement("label"), { className: "tick" });
    const box = Object.assign(document.createElement("input"), { type: "checkbox", name, value, checked: wanted.includes(value) });
    label.append(box, ` ${text}`);
    return label;
  }

  // The form stays as it is, and what is typed further is kept beside the other version as well.
  function keptBeside({ overtaken: address }) {
    overtaken.hidden = false;
    overtaken.querySelector("a").href = address;
    saved.textContent = "Kept beside the other version";
  }

  function mark({ problems, top, hint }) {
    form.querySelectorAll("ul.problems").forEach((list) => say(list, problems[list.id.slice(0, -2)] ?? []));
    say(find("top-problems"), top);
    const link = Object.assign(document.createElement("a"), { href: `#${hint.at}`, textContent: hint.text });
    if (find("n-problems").textContent !== hint.text) find("n-problems").replaceChildren(...(hint.text ? [link] : []));
    else if (hint.text) find("n-problems").firstChild.href = link.href;
    if (find("still").textContent !== hint.still) find("still").textContent = hint.still;
  }

  function say(list, sentences) {
    list.hidden = !sentences.length;
    list.replaceChildren(...sentences.map((sentence) => Object.assign(document.createElement("li"), { textContent: sentence })));
    if (sentences.length) for (let at = list.closest("details"); at; at = at.parentElement.closest("details")) at.open = true;
  }

  // -- Coming back to what a button was about ----------------------------------------------------------------
  // What was open stays so, and the page where it was, unless the answer leads elsewhere.
  const place = `builder ${location.pathname}`, sections = [...form.querySelectorAll("details.section")];
  window.addEventListener("pagehide", () => {
    const open = sections.filter((one) => one.open).map((one) => one.id);
    sessionStorage.setItem(place, JSON.stringify({ open, y: scrollY }));
  });
  const { open = [], y = 0 } = JSON.parse(sessionStorage.getItem(place) ?? "{}");
  sections.forEach((one) => (one.open ||= open.includes(one.id)));
  if (!location.hash) scrollTo(0, y);
  const target = location.hash && find(decodeURIComponent(location.hash.slice(1)));
  // Once the browser has been there itself, which would take what is around the field.
  function goTo(target) {
    for (let at = target.closest("details"); at; at = at.parentElement.closest("details")) at.open = true;
    const field = target.matches("input, select") ? target : (target.querySelector("input[type=text], textarea, select") ?? target);
    if ([document.body, target].includes(document.activeElement)) field.focus();
    target.scrollIntoView({ block: "nearest" });
  }
  form.addEventListener("click", (event) => {
    const place = event.target.closest('a[href^="#"]'), target = place && find(decodeURIComponent(place.hash.slice(1)));
    if (!target) return;
    event.preventDefault();
    place.blur();
    goTo(target);
  });
  if (target) document.readyState === "complete" ? goTo(target) : window.addEventListener("load", () => setTimeout(() => goTo(target)));

  // -- What was typed before this file was there ---------------------------------------------------------------
  function isChanged(node) {
    if (node.type === "checkbox") return node.checked !== node.defaultChecked;
    if (!node.options) return node.value !== node.defaultValue;
    const shown = node.querySelector("option[selected]");
    return shown !== null && !shown.selected;
  }
  const early = [...form.querySelectorAll("input, textarea, select")].filter((node) => isOurs(node) && isChanged(node));
  if (early.length) typed();
  early.filter(redraws).slice(0, 1).forEach(redraw);
})();
