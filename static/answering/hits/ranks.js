"use strict";
// A ranking in which no two share a place works without this file: the page says which place was given twice. With it,
// what had the place takes that of what is put there.
document.addEventListener("DOMContentLoaded", () => {
  const placeOf = (group) => group.querySelector("input:checked")?.value ?? "";

  for (const ranked of document.querySelectorAll("[data-own-places]")) {
    const groups = [...ranked.querySelectorAll(".group")];
    let before = new Map();
    const look = () => (before = new Map(groups.map((group) => [group, placeOf(group)])));
    look();
    ranked.addEventListener("focusin", look);
    ranked.addEventListener("change", ({ target }) => {
      const moved = target.closest(".group"), left = before.get(moved);
      const other = groups.find((group) => group !== moved && placeOf(group) === target.value);
      other?.querySelectorAll("input").forEach((input) => (input.checked = input.value === left));
      look();
    });
  }
});
