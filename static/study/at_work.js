"use strict";
// A form whose answer takes a while says that it is at work, and is sent once.
document.querySelectorAll("form[data-at-work]").forEach((form) => {
  const button = form.querySelector("button[type=submit]"), status = form.querySelector("[role=status]");
  function say(isAtWork) {
    if (isAtWork) button.setAttribute("aria-disabled", "true");
    else button.removeAttribute("aria-disabled");
    status.textContent = isAtWork ? form.dataset.atWork : "";
  }
  form.addEventListener("submit", (event) => {
    if (button.hasAttribute("aria-disabled")) event.preventDefault();
    else say(true);
  });
  window.addEventListener("keydown", ({ key }) => key === "Escape" && say(false)); // stops what is being sent
  window.addEventListener("pageshow", ({ persisted }) => persisted && say(false));
});
