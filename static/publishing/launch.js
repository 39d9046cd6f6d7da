"use strict";
// The price follows the form. Without scripts the button "Recalculate" does the same.
(() => {
  const WAIT = 250; // milliseconds after the last key
  const form = document.querySelector("form[data-price]");
  if (!form) return;
  let turn = 0;
  let timer = 0;
  form.classList.add("live");

  // Nobody publishes at a price that is about to change: until the new one is there, the button waits for it.
  const setWaiting = (isWaiting) => {
    const button = document.getElementById("publish");
    document.getElementById("check").setAttribute("aria-busy", String(isWaiting));
    if (!button || button.disabled === isWaiting) return;
    if (isWaiting) button.dataset.label = button.textContent;
    button.disabled = isWaiting;
    button.textContent = isWaiting ? "Working out the price…" : button.dataset.label;
  };

  const replace = (html) => {
    const place = document.getElementById("check");
    const fresh = new DOMParser().parseFromString(html, "text/html").getElementById("check");
    if (!fresh) return;
    const focused = place.contains(document.activeElement) ? document.activeElement.id : "";
    place.replaceChildren(...fresh.childNodes);
    if (focused) document.getElementById(focused)?.focus();
  };

  const ask = async (what) => {
    clearTimeout(timer);
    turn += 1;
    const mine = turn;
    const data = new FormData(form);
    data.set("do", what);
    try {
      const answer = await fetch(form.dataset.price, { method: "POST", body: data, redirect: "manual" });
      const html = answer.ok ? await answer.text() : "";
      if (html && mine === turn) replace(html);
    } catch {
      // The price stays as it was; publishing compares what was seen with what it costs.
    } finally {
      if (mine === turn) setWaiting(false);
    }
  };

  const follow = () => {
    setWaiting(true);
    turn += 1; // what is under way is of an earlier form
    clearTimeout(timer);
    timer = setTimeout(() => ask("price"), WAIT);
  };
  form.addEventListener("input", (event) => {
    if (!event.target.closest("#check")) follow();
  });
  form.addEventListener("submit", (event) => {
    const what = event.submitter?.value;
    if (what !== "price" && what !== "try") return;
    event.preventDefault();
    ask(what);
  });

  // What was changed before this script was here, or is kept by a browser that comes back.
  const isChanged = (control) =>
    control.type === "checkbox" || control.type === "radio"
      ? control.checked !== control.defaultChecked
      : "defaultValue" in control && control.type !== "hidden" && control.value !== control.defaultValue;
  if ([...form.elements].some((control) => !control.closest("#check") && isChanged(control))) follow();
})();
