"use strict";
// In the frame of the builder: nothing is sent from here, and a page that is drawn again stands where the last one stood.
document.addEventListener(
  "submit",
  (event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
    const state = document.getElementById("state");
    if (state) state.textContent = "Nothing is kept here";
  },
  true,
);
window.addEventListener("scroll", () => (window.name = String(window.scrollY)), { passive: true });
window.scrollTo(0, Number(window.name) || 0);
