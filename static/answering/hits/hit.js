"use strict";
// The HIT works without this file. With it: one item at a time, on a small screen one question after the other; keys,
// drafts saved as they change.
(() => {
  const { gettext, kept, send } = window, { contentOf } = kept;
  const find = (selector, root = document) => root.querySelector(selector);
  const address = location.pathname + location.search;
  // A page that send.js put into the place of another has an entry of its own in the history.
  window.addEventListener("popstate", () => location.pathname + location.search !== address && location.reload());
  const receipt = find("[data-receipt]");
  if (receipt) return onReceipt();
  const form = document.getElementById("hit");
  if (!form) return find(".card h1")?.focus();

  // Tell the marketplace once the network is there; what is kept in this browser has arrived.
  async function onReceipt() {
    kept.forget(receipt.dataset.receipt).catch(() => {});
    const telling = find("form", receipt), trouble = find("#trouble");
    if (!telling) return;
    const button = find("button", telling);
    const tell = async () => {
      await send.untilReachable(receipt.dataset.probe, { failed: () => (trouble.hidden = false), button });
      telling.submit();
    };
    if ("send" in telling.dataset) return void tell();
    telling.addEventListener("submit", (event) => (event.preventDefault(), tell()), { once: true });
  }

  const DEBOUNCE_MS = 500, SETTLING_MS = 400, IDLE_MS = 60_000, LONGEST_WAIT_MS = 60_000, PATIENCE_MS = 3000, STEP_MAX = 1000;
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const state = find("#state"), news = find("#news"), errors = find("#errors"), keys = find("#keys");
  const instructions = find("#instructions"), comment = find("#comment");
  const [back, next, submit] = ["back", "next", "submit"].map((go) => find(`[data-go=${go}]`));
  const items = all(".item").map((node) => ({
    node,
    position: Number(node.dataset.position),
    version: Number(node.dataset.version), // the last one sent
    base: Number(node.dataset.version), // the last one known to have arrived
    sent: [], // those that may have arrived since
    known: [], // contents of what this page began from, as the one before it may have sent them on leaving
    fields: all(".group", node),
    get groups() {
      return isUnseen(node) ? [] : this.fields.filter((group) => !group.hidden && !group.matches(".optional"));
    },
    seconds: find("[name$=-seconds]", node),
    savedSeconds: 0,
    tries: 0,
    timer: 0,
    isDirty: false,
    isSending: false,
    isKept: true,
    changes: 0,
    adopted: [],
    others: [], // are offered in turn: until it is decided, what is shown is kept here too, even once it has arrived
    there: {}, // another tab's draft at the server, which took the place of this one's
  }));
  const keepsDrafts = Boolean(form.dataset.draft); // answers that were complete before are changed by submitting
  const tab = kept.newName(), key = form.dataset.kept;
  const revision = form.elements.revision?.value ?? "";
  let current = 0, isSubmitting = false, isLeaving = false, isOver = false, refusal = "", trouble = "", lastSign = Date.now(), lastTick = Date.now();

  // -- What can't be judged for want of a file -------------------------------------------------------------
  const isUnseen = (node) => Boolean(find(".unseen :checked", node));
  const isAside = (group) => Boolean(group.closest(".skip, .unseen"));
  // look.js found that a file can't be loaded, and offers this, or no longer does.
  form.addEventListener("unseen", ({ target }) => {
    const item = itemOf(target);
    item.fields = all(".group", item.node);
    refresh();
  });

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
    const { fields } = items[current], following = fields.slice(fields.indexOf(group) + 1).find((one) => !one.hidden);
    const isOptional = following?.matches(".optional") && !isAside(following);
    return isOptional && !isAnswered(following) ? following : undefined;
  }

  // -- Questions that only some answers ask for --------------------------------------------------------------
  const asked = find("#asked");
  const nameOf = (group) => find("legend, label", group).firstChild.textContent.trim();

  function isAsked(group, item) {
    const { onlyIf, values } = group.dataset;
    if (!onlyIf) return true;
    const chosen = all(`[name="${onlyIf}"]:checked`, item.node).filter((input) => !input.closest(".group").hidden);
    return chosen.some(({ value }) => JSON.parse(values).includes(value));
  }

  // In the order of the page, as one may ask for the next. What was answered there stays, is kept and is sent with the
  // whole form, which leaves it out of the answers and shows it again on a page that comes back: minds change.
  function ask(item) {
    const shown = [];
    for (const group of item.fields.filter((one) => one.dataset.onlyIf)) {
      const wasHidden = group.hidden;
      group.hidden = !isAsked(group, item);
      if (group.hidden) forgetError(group);
      else if (wasHidden) shown.push(nameOf(group));
    }
    return shown;
  }

  function tellAsked([first, ...others]) {
    const n = others.length + 1, question = first;
    const one = gettext("One more question: {question}", { question });
    const more = gettext("{n} more questions, the first: {question}", { n, question });
    asked.textContent = first ? (n > 1 ? more : one) : "";
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
      const n = index + 1, { word } = form.dataset;
      const complete = gettext("{word} {n}, complete", { word, n }), open = gettext("{word} {n}, not complete", { word, n });
      button.setAttribute("aria-label", isDone ? complete : open);
      button.toggleAttribute("data-done", isDone);
      index === current ? button.setAttribute("aria-current", "step") : button.removeAttribute("aria-current");
      item.groups.forEach((group) => group.classList.toggle("active", group === active));
    });
  }

  // On a small screen all items stand below one another, as without this file: a finger moves the page anyway.
  const flow = matchMedia("(max-width: 36rem), (max-height: 30rem)");
  flow.addEventListener("change", () => show(current));

  function show(index, { isMoved = false } = {}) {
    current = Math.max(0, Math.min(index, items.length - 1));
    const isLast = current === items.length - 1, isFlowing = flow.matches;
    items.forEach((item, n) => (item.node.hidden = !isFlowing && n !== current));
    comment.hidden = submit.hidden = !isLast && !isFlowing;
    next.hidden = isLast || isFlowing;
    back.hidden = current === 0 || isFlowing;
    all("img[loading]", items[current + 1]?.node ?? items[current].node).forEach((img) => (img.loading = "eager"));
    refresh();
    if (!isMoved) return;
    find("h2", items[current].node).focus({ preventScroll: true });
    (isFlowing ? items[current].node : steps).scrollIntoView();
  }

  // Which item is being looked at, where all of them are on the page.
  function follow() {
    if (!flow.matches) return;
    const isInSight = ({ node }) => node.getBoundingClientRect().bottom > 0.4 * innerHeight;
    const seen = items.findIndex(isInSight), index = seen === -1 ? items.length - 1 : seen;
    if (index === current) return;
    tick(); // what passed until now belongs to the item before
    current = index;
    refresh();
  }

  // A first answer by finger on a small screen brings the next question to the top: whatever was answered, so that no
  // answer is quicker than another; nothing is hidden, and a correction moves nothing. Places of a ranking stay together
  // where the screen holds them. While the page moves, a second tap is none: it was meant for what has just been there.
  const answered = new Set();
  let isByFinger = false, settling;
  form.addEventListener("pointerdown", () => (isByFinger = true));
  form.addEventListener("keydown", () => (isByFinger = false));
  form.addEventListener("click", (event) => "settles" in form.dataset && event.preventDefault(), { capture: true });

  function together(group) {
    const ranked = group?.closest(".ranked"), { scrollPaddingTop } = getComputedStyle(document.documentElement);
    return ranked?.offsetHeight <= innerHeight - parseFloat(scrollPaddingTop) ? ranked : undefined;
  }

  function bringNext(group) {
    const all = items.flatMap(({ fields }) => fields).filter((one) => !one.hidden && !isAside(one));
    const following = all[all.indexOf(group) + 1], output = following?.closest(".output");
    const isFirst = (part) => part && following && all.find((one) => part.contains(one)) === following;
    const places = [following && itemOf(following).node, output, together(following), following];
    const target = following ? places.find((part, n) => n >= 2 ? part : isFirst(part)) : comment;
    form.dataset.settles = "";
    clearTimeout(settling);
    settling = setTimeout(() => delete form.dataset.settles, SETTLING_MS);
    const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "smooth";
    target.scrollIntoView({ behavior });
  }

  const enter = (group) => (find("input:checked", group) ?? inputs(group)[0]).focus();

  function goOn() {
    const from = focusedGroup(), open = (from && optionalAfter(from)) ?? nextOpenGroup(from);
    if (open) return enter(open);
    return current === items.length - 1 ? form.requestSubmit() : show(current + 1, { isMoved: true });
  }

  // To the question before, whatever it holds: what was chosen by a slip is looked at, and changed.
  function goBack() {
    const { fields } = items[current], from = focusedGroup();
    const earlier = fields.slice(0, from ? fields.indexOf(from) : 0).filter((group) => !group.hidden && !isAside(group));
    if (earlier.length) enter(earlier.at(-1));
    else if (current) show(current - 1, { isMoved: true });
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

  // Choosing never moves on, whatever is chosen from: a second key corrects the first, and Enter moves on.
  function choose(input) {
    input.focus();
    input.click();
  }

  form.addEventListener("change", ({ target }) => {
    if (!target.name || target.closest(".report")) return;
    const group = target.closest(".group");
    if (target.type === "checkbox" && target.checked) keepExclusive(target);
    if (group && isAnswered(group)) forgetError(group);
    if (group) tellAsked(ask(itemOf(group)));
    changed(group ? itemOf(group) : items.at(-1));
    refresh();
    const isNew = target.type === "radio" && !answered.has(group) && !isAside(group);
    answered.add(group);
    if (isNew && isByFinger && flow.matches) bringNext(group);
  });
  form.addEventListener("input", ({ target }) => {
    if (!target.matches("textarea, .number input") || target.closest(".report")) return;
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
    if (find("dialog[open]")) return;
    // Once it is said that there is nothing to mark, Enter goes on, as from any answer.
    if (event.key === "Enter" && !event.target.closest("button:not(.nothing[aria-pressed=true]), a, summary, audio, video")) {
      event.preventDefault();
      return keysAreOn() && !event.repeat && (event.shiftKey ? goBack() : goOn());
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

  function giveBack(item, answers) {
    for (const group of item.fields) {
      const all = inputs(group), given = answers[all[0].name.replace(`i${item.position}-`, "")] ?? "";
      if (["textarea", "text"].includes(all[0].type)) {
        all[0].value = given;
        all[0].dispatchEvent(new Event("restored")); // spans.js shows what it says
      } else all.forEach((input) => (input.checked = [given].flat().includes(input.value)));
    }
    ask(item);
    if (item === items.at(-1)) find("#id_comment").value = answers.comment ?? "";
  }

  // Versions are drawn, so that two tabs that begin from the same one never call different answers by one name.
  function draftOf(item) {
    const after = [item.base, ...item.sent];
    item.version += 1 + Math.floor(Math.random() * STEP_MAX);
    item.sent = [...item.sent, item.version].slice(-100);
    item.savedSeconds = Number(item.seconds.value);
    return JSON.stringify({
      token: form.elements.token.value,
      position: item.position,
      version: item.version,
      after,
      seconds: item.savedSeconds,
      answers: answersOf(item),
    });
  }

  function say(kind, text, { isNews = false } = {}) {
    state.dataset.state = kind;
    state.textContent = text;
    if (!isNews) news.textContent = "";
    else if (news.textContent !== text) news.textContent = text;
  }

  // Say where the answers are, and nothing that is only hoped for.
  function tell() {
    if (isSubmitting || isOver) return;
    const open = items.filter((item) => item.isDirty || item.isSending), isKept = open.every((item) => item.isKept);
    if (!open.length) return;
    if (!keepsDrafts) return say("changed", gettext("Changed, not saved yet"));
    if (refusal) {
      const here = gettext("Saved on this device only: {why}. Reload to go on.", { why: refusal });
      const nowhere = gettext("Not saved: {why}. Reload to go on.", { why: refusal });
      return say("failed", isKept ? here : nowhere, { isNews: true });
    }
    if (!trouble) return say("saving", gettext("Saving…"));
    if (isKept) return say("kept", gettext("Saved on this device – retrying"), { isNews: true });
    say("failed", gettext("Not saved: {why} – retrying", { why: trouble }), { isNews: true });
  }

  function changed(item) {
    item.isDirty = true;
    isLeaving = false;
    keep(item);
    tell();
    if (keepsDrafts && !refusal) wait(item, DEBOUNCE_MS);
  }

  function recordOf(item) {
    const { position, base } = item;
    return { key, position, tab, revision, base, answers: answersOf(item), at: Date.now() };
  }

  async function keep(item) {
    window.parent.postMessage({ tell: "answered" }, "*"); // it asks before the HIT is returned
    const change = (item.changes += 1);
    item.isKept = false;
    try {
      await kept.put(recordOf(item));
      item.isKept ||= change === item.changes;
    } catch {
      // The state line says that it is not kept, and leaving the page asks first.
    }
    tell();
  }

  function wait(item, milliseconds) {
    clearTimeout(item.timer);
    item.timer = setTimeout(() => save(item), milliseconds);
  }

  async function save(item) {
    if (item.isSending || isSubmitting || refusal) return;
    item.isSending = true;
    item.isDirty = false;
    const body = draftOf(item), version = item.version, { status, there } = await post(body);
    item.isSending = false;
    if (isSubmitting) return;
    if (status === 200) return saved(item, version);
    item.isDirty = true;
    if (status === 409 && item.version > version) return wait(item, 0); // overtaken by what was sent on hiding
    if (status === 409 && isKnown(item, there)) return goOnFrom(item, there);
    if (status === 409) item.there = there;
    if (status >= 400 && status < 500) return refused(status);
    failed(item);
  }

  async function post(body) {
    const slow = setTimeout(() => {
      trouble ||= gettext("the network is slow");
      tell();
    }, PATIENCE_MS);
    try {
      const response = await send.post(form.dataset.draft, body, { keepalive: true });
      return { status: response.status, there: response.status === 409 ? await response.json() : {} };
    } catch {
      return { status: 0 };
    } finally {
      clearTimeout(slow);
    }
  }

  // A browser hides a page only once the next one has arrived, often this one: what it sent then is newer than what
  // this one was given, and says nothing else. Whatever else is there is another tab's.
  const isKnown = (item, { answers }) => answers && item.known.includes(contentOf(answers));

  // Whoever submits this page all the same is offered later what the other tab has at last.
  async function keepTheirs(item) {
    const { there } = await post(draftOf(item)), { answers } = { ...item.there, ...there };
    if (!answers || isKnown(item, { answers })) return;
    await kept.put(kept.aside({ ...recordOf(item), answers })).catch(() => {});
  }

  function goOnFrom(item, { version }) {
    item.base = version;
    item.version = Math.max(item.version, version);
    wait(item, 0);
  }

  function saved(item, version) {
    item.tries = 0;
    item.base = version;
    item.sent = item.sent.filter((later) => later > version);
    trouble = "";
    if (item.isDirty) return wait(item, 0);
    // The page that comes next may have been made before this arrived: it has what is kept.
    if (!isLeaving && !item.others.length) dropOwn(item);
    if (isOver || items.some((other) => other.isDirty || other.isSending)) return tell();
    const time = new Date().toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    say("saved", gettext("Saved {time}", { time }));
  }

  const dropOwn = (item) =>
    Promise.all([{ key, position: item.position, tab }, ...item.adopted.splice(0)].map(kept.drop)).catch(() => {});

  function refused(status) {
    refusal = status === 409 ? gettext("the answers were changed in another tab") : gettext("this page has expired");
    tell();
  }

  function failed(item) {
    item.tries += 1;
    trouble = navigator.onLine ? gettext("the server can’t be reached") : gettext("offline");
    tell();
    wait(item, Math.min(1000 * 2 ** item.tries, LONGEST_WAIT_MS));
  }

  function flush() {
    if (isSubmitting || refusal || !keepsDrafts) return;
    items
      .filter((item) => item.isDirty || Number(item.seconds.value) - item.savedSeconds >= 1)
      .forEach((item) => navigator.sendBeacon(form.dataset.draft, draftOf(item)));
  }

  window.addEventListener("online", () => items.filter((item) => item.isDirty).forEach((item) => save(item)));
  window.addEventListener("pagehide", flush);
  window.addEventListener("beforeunload", (event) => {
    if (isSubmitting) return;
    isLeaving = true;
    const isLost = (item) => item.isDirty && !(keepsDrafts && (item.isKept || !trouble));
    if (items.some(isLost)) event.preventDefault();
  });
  document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && flush());
  // A page that comes back from the browser's memory may be older than its drafts.
  window.addEventListener("pageshow", (event) => event.persisted && location.reload());

  // -- What this browser kept of an earlier visit ----------------------------------------------------------
  async function restore() {
    const records = await kept.all(key).catch(() => []);
    const arrivedAt = window.arrivedAt ?? performance.timeOrigin + performance.getEntriesByType("navigation")[0].responseStart;
    const skew = arrivedAt - 1000 * Number(form.dataset.now); // between this clock and the server's
    items.forEach((item) => restoreItem(item, records.filter((record) => record.position === item.position), skew));
    kept.forgetOld().catch(() => {});
    return items.some((item) => item.adopted.length);
  }

  function restoreItem(item, records, skew) {
    const isShown = (record) => contentOf(record.answers) === contentOf(answersOf(item));
    if (item.isDirty || item.isSending) return void item.adopted.push(...records.filter(isShown));
    const savedAt = 1000 * Number(item.node.dataset.saved || 0) + skew, answers = answersOf(item);
    const { record, others } = kept.settle(records, { version: item.version, revision, savedAt, answers });
    const isSaid = (old) => old !== record && !others.includes(old); // by the server or one of these, too
    records.filter(isSaid).forEach((old) => kept.drop(old).catch(() => {}));
    others.filter((other) => !records.includes(other)).forEach((other) => kept.put(other).catch(() => {}));
    if (others.length && !record && keepsDrafts) kept.put({ ...recordOf(item), at: savedAt }).catch(() => {});
    item.others = others;
    offer(item);
    if (!record) return;
    item.adopted.push(record);
    item.known.push(contentOf(record.answers));
    giveBack(item, record.answers);
    changed(item);
  }

  function offer(item) {
    if (!item.others.length) return;
    const [{ at }, ...further] = item.others;
    const banner = document.createElement("div"), text = document.createElement("p");
    const [swap, leave] = [gettext("Show those instead"), gettext("Keep what is shown")].map((label) => {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", textContent: label });
      return button;
    });
    const time = new Date(at).toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    banner.className = "banner other";
    banner.setAttribute("role", "status");
    text.textContent = gettext("Other answers to this were given at {time}, in another tab or on another device.", { time });
    if (further.length) text.append(" ", gettext("Further ones: {n}.", { n: further.length }));
    banner.append(text, swap, leave);
    item.node.prepend(banner);
    swap.addEventListener("click", () => {
      const [other] = item.others, before = kept.aside(recordOf(item));
      kept.put(before).catch(() => {});
      item.others[0] = before;
      item.adopted.push(other);
      giveBack(item, other.answers);
      changed(item);
      refresh();
    });
    leave.addEventListener("click", ({ detail }) => {
      if (detail > 1) return; // a double click decides on one
      kept.drop(item.others.shift()).catch(() => {});
      if (!item.others.length && !item.isDirty && !item.isSending && keepsDrafts) dropOwn(item);
      banner.remove();
      offer(item);
      find("h2", item.node).focus({ preventScroll: true });
    });
  }

  // -- The deadline, where the page around this one knows it; that one speaks it, too --------------------
  const timeLeft = find("#time-left");
  const TIMES = [
    [300, () => (timeLeft.textContent = gettext("Less than 5 minutes left"))],
    [60, () => (timeLeft.textContent = gettext("Less than a minute left"))],
    [0, timeIsOver],
  ];

  // A browser's timers hold 24 days; who has longer is warned by the page around.
  let times = [];
  function timeIs(seconds) {
    times.forEach(clearTimeout);
    timeLeft.hidden = true;
    const inMs = (left) => Math.max(0, 1000 * (seconds - left));
    const told = (act) => () => ((timeLeft.hidden = false), act());
    times = TIMES.filter(([left]) => inMs(left) < 2 ** 31).map(([left, act]) => setTimeout(told(act), inMs(left)));
  }

  function timeIsOver() {
    if (isSubmitting) return (timeLeft.hidden = true);
    isOver = true;
    timeLeft.textContent = gettext("Time is over: go on from My work");
    say("failed", gettext("Not submitted"));
  }

  window.addEventListener("message", ({ source, data }) => {
    if (timeLeft && source === window.parent && typeof data?.seconds === "number" && !isOver) timeIs(data.seconds); // there is more
  });
  if (timeLeft) kept.askAround({ ask: "time" }).then(({ seconds }) => timeIs(seconds), () => {}); // nobody may know

  // -- Submitting ------------------------------------------------------------------------------------------
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (isSubmitting) return;
    isSubmitting = true;
    const body = new URLSearchParams(new FormData(form));
    if (event.submitter?.name) body.set(event.submitter.name, event.submitter.value);
    say("saving", gettext("Submitting…"));
    submitUntilAnswered(body);
  });

  // What is shown stays what was sent: nothing can be changed before it is known what became of it.
  async function submitUntilAnswered(body) {
    const retry = find("#retry"), button = find("button", retry);
    form.inert = true;
    if (refusal) await Promise.all(items.map(keepTheirs));
    const failed = (why) => {
      const isKept = items.every((item) => item.isKept);
      find("p", retry).textContent = isKept
        ? gettext("Not submitted yet: {why}. Your answers are saved on this device. It is tried again until it arrives.", { why })
        : gettext("Not submitted yet: {why}. It is tried again until it arrives.", { why });
      say("failed", gettext("Not submitted – retrying"));
      retry.hidden = false;
    };
    const page = await send.untilAnswered(form, body, { failed, button });
    clearInterval(clock);
    // What another tab kept stays: it is offered where it says something else. A receipt forgets all, as it is final.
    if (/[?&]saved=/.test(page.url)) await Promise.all(items.map(dropOwn));
    else if (page.status === 409) await Promise.all(items.map(keep));
    send.show(page);
  }

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
  const clock = setInterval(tick, 1000);
  window.addEventListener("scroll", follow, { passive: true });

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
  find("input", keys).checked = kept.liked("keys") !== "off";
  find("input", keys).addEventListener("change", ({ target }) => kept.liked("keys", target.checked ? "on" : "off"));
  document.documentElement.classList.add("js");
  all("[hidden]:not(.item):not(#retry, #time-left)").forEach((node) => (node.hidden = false));
  items.forEach(ask);
  items.forEach(({ fields }) => fields.filter(isAnswered).forEach((group) => answered.add(group)));
  steps.parentNode.hidden = items.length === 1;
  items.forEach((item) => {
    item.savedSeconds = Number(item.seconds.value);
    item.known.push(contentOf(answersOf(item)));
  });
  const showFirst = () => {
    const first = items.findIndex((item) => (errors ? find(".error", item.node) : !isComplete(item)));
    show(first === -1 ? items.length - 1 : first);
  };
  showFirst();
  if ("firstGap" in form.dataset) form.action = form.action.replace("#errors", ""); // it would take the focus
  const gap = "firstGap" in form.dataset && errors && find('[aria-invalid="true"]', items[current].node);
  if (gap) (gap.matches("textarea, input") ? gap : inputs(gap)[0]).focus();
  else if (errors) errors.focus();
  else if (!instructions.open && !("looks" in form.dataset)) find("h2", items[current].node).focus({ preventScroll: true }); // the keys work at once
  if (!errors && items.some((item) => item.version > 0)) say("saved", gettext("Saved"));
  // Of answers that were complete before, what is shown with its gaps is on this page alone.
  if (errors && !keepsDrafts) items.forEach(changed);
  if (!find("#overtaken")) restore().then((isRestored) => isRestored && showFirst());
})();
