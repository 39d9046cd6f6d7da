"use strict";
// The HIT works without this file. With it: one question at a time, keys, drafts saved as they change.
(() => {
  const done = document.querySelector("form[data-send]");
  if (done) return done.submit();
  const form = document.getElementById("hit");
  if (!form) return;

  const DEBOUNCE_MS = 500, IDLE_MS = 60_000, LONGEST_WAIT_MS = 60_000;
  const find = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const state = find("#state"), news = find("#news"), errors = find("#errors"), keys = find("#keys");
  const instructions = find("#instructions"), comment = find("#comment");
  const [back, next, submit] = ["back", "next", "submit"].map((go) => find(`[data-go=${go}]`));
  const items = all(".item").map((node) => ({
    node,
    position: Number(node.dataset.position),
    version: Number(node.dataset.version),
    groups: all(".group:not(.optional)", node),
    fields: all(".group", node),
    seconds: find("[name$=-seconds]", node),
    savedSeconds: 0,
    tries: 0,
    timer: 0,
    isDirty: false,
    isSending: false,
  }));
  const keepsDrafts = Boolean(form.dataset.draft); // answers that were complete before are changed by submitting
  let current = 0, isSubmitting = false, isStale = false, lastSign = Date.now(), lastTick = Date.now();

  // -- What is answered ----------------------------------------------------------------------------------
  const isAnswered = (group) => Boolean(find("input:checked", group) ?? find("textarea, input[type=text]", group)?.value.trim());
  const isComplete = (item) => item.groups.every(isAnswered);
  const itemOf = (node) => items.find((item) => item.node.contains(node));
  const inputs = (group) => all("input, textarea", group);
  const focusedGroup = () => items[current].fields.find((group) => group.contains(document.activeElement));
  const activeGroup = () => focusedGroup() ?? nextOpenGroup();

  function nextOpenGroup(after) {
    const { groups } = items[current], from = groups.indexOf(after) + 1;
    return [...groups.slice(from), ...groups.slice(0, from)].find((group) => !isAnswered(group));
  }

  // What may stay empty has its turn all the same, once; Enter goes on.
  function optionalAfter(group) {
    const { fields } = items[current], following = fields[fields.indexOf(group) + 1];
    const isOptional = following?.matches(".optional") && !following.closest(".skip");
    return isOptional && !isAnswered(following) ? following : undefined;
  }

  // -- One question at a time ----------------------------------------------------------------------------
  const steps = find("[data-steps]");
  const marks = items.map((item, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.addEventListener("click", () => show(index, { isMoved: true }));
    const entry = document.createElement("li");
    entry.append(button);
    steps.append(entry);
    return button;
  });

  function refresh() {
    const active = activeGroup();
    items.forEach((item, index) => {
      const isDone = isComplete(item), button = marks[index];
      button.textContent = isDone ? "✓" : index + 1;
      button.setAttribute("aria-label", `Question ${index + 1}, ${isDone ? "complete" : "not complete"}`);
      button.toggleAttribute("data-done", isDone);
      index === current ? button.setAttribute("aria-current", "step") : button.removeAttribute("aria-current");
      item.groups.forEach((group) => group.classList.toggle("active", group === active));
    });
  }

  function show(index, { isMoved = false } = {}) {
    current = Math.max(0, Math.min(index, items.length - 1));
    const isLast = current === items.length - 1;
    items.forEach((item, n) => (item.node.hidden = n !== current));
    comment.hidden = submit.hidden = !isLast;
    next.hidden = isLast;
    back.hidden = current === 0;
    all("img[loading]", items[current + 1]?.node ?? items[current].node).forEach((img) => (img.loading = "eager"));
    refresh();
    if (!isMoved) return;
    find("h2", items[current].node).focus({ preventScroll: true });
    steps.scrollIntoView();
  }

  function goOn() {
    const open = nextOpenGroup(focusedGroup());
    if (open) return inputs(open)[0].focus();
    return current === items.length - 1 ? form.requestSubmit() : show(current + 1, { isMoved: true });
  }

  // -- Choosing ------------------------------------------------------------------------------------------
  function keepExclusive(input) {
    const ticked = inputs(input.closest(".group")).filter((other) => other !== input && other.checked);
    ticked
      .filter((other) => "exclusive" in input.dataset || "exclusive" in other.dataset)
      .forEach((other) => (other.checked = false));
  }

  function forgetError(group) {
    find(".error", group)?.remove();
    group.removeAttribute("aria-invalid");
    if (!errors) return;
    find(`a[href="#${inputs(group)[0].id}"]`, errors)?.closest("li").remove();
    all("ul", errors).forEach((list) => (list.hidden = list.previousElementSibling.hidden = !find("li", list)));
    errors.hidden = !find("li", errors);
  }

  function choose(input) {
    const group = input.closest(".group");
    input.focus();
    input.click();
    const isSettled = input.type === "radio" || ("exclusive" in input.dataset && input.checked);
    const open = isSettled && (optionalAfter(group) ?? nextOpenGroup(group));
    if (open) inputs(open)[0].focus();
  }

  form.addEventListener("change", ({ target }) => {
    if (!target.name) return;
    const group = target.closest(".group");
    if (target.type === "checkbox" && target.checked) keepExclusive(target);
    if (group && isAnswered(group)) forgetError(group);
    changed(group ? itemOf(group) : items.at(-1));
    refresh();
  });
  form.addEventListener("input", ({ target }) => {
    if (!target.matches("textarea, .number input")) return;
    const group = target.closest(".group");
    if (group && isAnswered(group)) forgetError(group);
    changed(group ? itemOf(group) : items.at(-1));
    refresh();
  });
  form.addEventListener("focusin", refresh);

  // -- Keys ----------------------------------------------------------------------------------------------
  const isTyping = (node) => node.matches("textarea, input[type=text]");
  const keysAreOn = () => find("input", keys).checked;

  function inputFor(key) {
    const group = activeGroup();
    if (!group) return undefined;
    const choices = all("input:not([type=text])", group);
    if (/^[1-9]$/.test(key) && !group.classList.contains("numeral")) return choices[Number(key) - 1];
    return choices.find((input) => input.value === ({ y: "yes", n: "no" }[key.toLowerCase()] ?? key));
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isTyping(event.target)) return;
    if (event.key === "Enter" && !event.target.closest("button, a, summary")) {
      event.preventDefault();
      return keysAreOn() && !event.repeat && goOn();
    }
    if (!keysAreOn()) return;
    if (event.key === "?") return void (keys.open = !keys.open);
    const input = inputFor(event.key);
    if (input && !event.repeat) {
      event.preventDefault();
      choose(input);
    }
  });

  // -- Drafts --------------------------------------------------------------------------------------------
  function answersOf(item) {
    const answers = {};
    for (const group of item.fields) {
      const [first] = inputs(group), ticked = all("input:checked", group).map((input) => input.value);
      const given = { checkbox: ticked, radio: ticked[0] ?? "", textarea: first.value, text: first.value };
      answers[first.name.replace(`i${item.position}-`, "")] = given[first.type];
    }
    return item === items.at(-1) ? { ...answers, comment: find("#id_comment").value } : answers;
  }

  function draftOf(item) {
    item.version += 1;
    item.savedSeconds = Number(item.seconds.value);
    return JSON.stringify({
      token: form.elements.token.value,
      position: item.position,
      version: item.version,
      seconds: item.savedSeconds,
      answers: answersOf(item),
    });
  }

  function say(kind, text, { isNews = false } = {}) {
    state.dataset.state = kind;
    state.textContent = text;
    if (isNews && news.textContent !== text) news.textContent = text;
  }

  function changed(item) {
    item.isDirty = true;
    if (isStale) return;
    if (!keepsDrafts) return say("changed", "Changed, not saved yet");
    say("saving", "Saving…");
    wait(item, DEBOUNCE_MS);
  }

  function wait(item, milliseconds) {
    clearTimeout(item.timer);
    item.timer = setTimeout(() => save(item), milliseconds);
  }

  async function save(item) {
    if (item.isSending || isSubmitting || isStale) return;
    item.isSending = true;
    item.isDirty = false;
    const body = draftOf(item), version = item.version, status = await post(body);
    const isOvertaken = status === 409 && item.version > version; // by what this page sent when it was hidden
    item.isSending = false;
    if (isSubmitting) return;
    if (status === 200 || isOvertaken) saved(item);
    else if (status >= 400 && status < 500) refused(status);
    else failed(item);
  }

  async function post(body) {
    try {
      return (await fetch(form.dataset.draft, { method: "POST", body, keepalive: true })).status;
    } catch {
      return 0;
    }
  }

  function saved(item) {
    item.tries = 0;
    news.textContent = "";
    if (item.isDirty) return wait(item, 0);
    if (items.some((other) => other.isDirty || other.isSending)) return;
    const time = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    say("saved", `Saved ${time}`);
  }

  function refused(status) {
    isStale = true;
    const why = status === 409 ? "the answers were changed in another tab" : "this page has expired";
    say("failed", `Not saved: ${why}. Reload to go on.`, { isNews: true });
  }

  function failed(item) {
    item.isDirty = true;
    item.tries += 1;
    const why = navigator.onLine ? "the server can’t be reached" : "offline";
    say("failed", `Not saved: ${why} – retrying`, { isNews: true });
    wait(item, Math.min(1000 * 2 ** item.tries, LONGEST_WAIT_MS));
  }

  function flush() {
    if (isSubmitting || isStale || !keepsDrafts) return;
    items
      .filter((item) => item.isDirty || Number(item.seconds.value) - item.savedSeconds >= 1)
      .forEach((item) => navigator.sendBeacon(form.dataset.draft, draftOf(item)));
  }

  window.addEventListener("online", () => items.filter((item) => item.isDirty).forEach((item) => save(item)));
  window.addEventListener("pagehide", flush);
  window.addEventListener("beforeunload", (event) => {
    if (!keepsDrafts && !isSubmitting && items.some((item) => item.isDirty)) event.preventDefault();
  });
  document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && flush());
  form.addEventListener("submit", (event) => {
    if (isSubmitting) return event.preventDefault();
    isSubmitting = true;
    say("saving", "Saving…");
    return undefined;
  });
  // A page that comes back from the browser's memory may be older than its drafts.
  window.addEventListener("pageshow", (event) => event.persisted && location.reload());

  // -- Time: only while the page is visible, has the focus, and somebody is there ------------------------
  function tick() {
    const now = Date.now(), item = items[current];
    const isActive = document.visibilityState === "visible" && document.hasFocus() && now - lastSign < IDLE_MS;
    if (isActive) item.seconds.value = (Number(item.seconds.value) + Math.min(now - lastTick, 2000) / 1000).toFixed(1);
    lastTick = now;
  }
  ["pointermove", "pointerdown", "keydown", "scroll", "focus"].forEach((sign) =>
    window.addEventListener(sign, () => (lastSign = Date.now()), { passive: true, capture: true }),
  );
  setInterval(tick, 1000);

  // -- Start ---------------------------------------------------------------------------------------------
  back.addEventListener("click", () => show(current - 1, { isMoved: true }));
  next.addEventListener("click", () => show(current + 1, { isMoved: true }));
  errors?.addEventListener("click", (event) => {
    const target = event.target.closest("a") && find(event.target.closest("a").hash);
    if (!target) return;
    event.preventDefault();
    show(items.indexOf(itemOf(target)), { isMoved: true });
    target.focus();
  });
  find("[data-begin]").addEventListener("click", () => {
    instructions.open = false;
    show(current, { isMoved: true });
  });
  document.documentElement.classList.add("js");
  all("[hidden]:not(.item)").forEach((node) => (node.hidden = false));
  steps.parentNode.hidden = items.length === 1;
  items.forEach((item) => (item.savedSeconds = Number(item.seconds.value)));
  const first = items.findIndex((item) => (errors ? find(".error", item.node) : !isComplete(item)));
  show(first === -1 ? items.length - 1 : first);
  if ("firstGap" in form.dataset) form.action = form.action.replace("#errors", ""); // it would take the focus
  const gap = "firstGap" in form.dataset && errors && find('[aria-invalid="true"]', items[current].node);
  if (gap) (gap.matches("textarea, input") ? gap : inputs(gap)[0]).focus();
  else if (errors) errors.focus();
  else if (!instructions.open) find("h2", items[current].node).focus({ preventScroll: true }); // the keys work at once
  if (!errors && items.some((item) => item.version > 0)) say("saved", "Saved");
})();
