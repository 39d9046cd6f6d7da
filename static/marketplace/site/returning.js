// Whoever has answered something is asked before it is given back, without leaving what was answered. Without scripts
// the page behind the button asks everybody.
const answered = document.getElementById("task"), returning = document.getElementById("return");
let isAnswered = false;

// A form of our own; a frame that says so; a frame that may know nothing of us and was worked in.
answered.addEventListener("input", () => (isAnswered = true));
window.addEventListener("message", ({ source, data }) => {
  if (source === answered.contentWindow && data?.tell === "answered") isAnswered = true;
});
window.addEventListener("blur", () => document.activeElement === answered && (isAnswered = true));

returning.querySelector("button").removeAttribute("name");
returning.addEventListener("submit", (event) => {
  if (isAnswered && !confirm(gettext("Return this HIT? What you have answered is not submitted, and not paid."))) event.preventDefault();
});
