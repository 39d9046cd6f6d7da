"use strict";
// Single keys for reviewing. The list of keys is made of what the page has, so it tells nothing that is not so.
// They can be switched off, as speech input types letters (WCAG 2.1.4); nothing is decided by a key alone.
(() => {
  const STORE = "assent.review.keys";
  const REST = "assent.review.rest";
  const help = document.querySelector("[data-keys]");
  if (!help) return;
  const on = help.querySelector("[data-keys-on]");
  const rows = [...document.querySelectorAll("[data-keys-rows] [data-row]")];
  const actions = new Map();
  const add = (key, says, act) => actions.set(key, { says, act });

  for (const target of document.querySelectorAll("[data-key]")) {
    const says = target.dataset.keySays || target.textContent.trim();
    add(target.dataset.key, says, () => (target.matches("a") ? target.click() : target.focus()));
  }
  if (rows.length) {
    const at = () => rows.findIndex((row) => row.closest("tr").contains(document.activeElement));
    add("j", "To the next line", () => rows[Math.min(at() + 1, rows.length - 1)].focus());
    add("k", "To the line before", () => rows[Math.max(at() - 1, 0)].focus());
    if (document.querySelector("input[name=selected]")) {
      add("x", "Select the line, or not", () => {
        const box = at() < 0 ? null : rows[at()].closest("tr").querySelector("input[name=selected]");
        if (box) box.click();
      });
    }
  }
  add("?", "Show these keys", () => {
    help.open = true;
    help.querySelector("summary").focus();
  });

  for (const [key, { says }] of actions) {
    const term = document.createElement("dt");
    const what = document.createElement("dd");
    const cap = document.createElement("kbd");
    cap.textContent = key;
    term.append(cap);
    what.textContent = says;
    help.querySelector("dl").append(term, what);
  }
  help.hidden = false;

  try {
    on.checked = localStorage.getItem(STORE) !== "off";
    on.addEventListener("change", () => localStorage.setItem(STORE, on.checked ? "on" : "off"));
  } catch {
    // Without storage the choice holds for this page.
  }
  // Who has unfolded the rest of the answers once has it so on the next assignment.
  const rest = document.querySelector("[data-rest]");
  if (rest) {
    try {
      rest.open = localStorage.getItem(REST) === "open";
      rest.addEventListener("toggle", () => localStorage.setItem(REST, rest.open ? "open" : "folded"));
    } catch {
      // Without storage it is folded on each.
    }
  }
  document.addEventListener("keydown", (event) => {
    if (!on.checked || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
    if (event.target.closest("textarea, select, [contenteditable], input:not([type=checkbox], [type=radio])")) return;
    const action = actions.get(event.key);
    if (!action) return;
    event.preventDefault();
    action.act();
  });
})();
