// The task's frame says when it was submitted. It is a comfort: the page works without.
const task = document.getElementById("task");

window.addEventListener("message", (event) => {
  const isOurs = event.origin === location.origin && event.source === task.contentWindow;
  if (isOurs && event.data === "submitted") location.assign(task.dataset.after);
});
