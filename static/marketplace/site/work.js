// The task's frame says when it was submitted, and what to keep for it, and asks for the time. It is a comfort: the page works without.
const task = document.getElementById("task");

window.addEventListener("message", (event) => {
  const isOurs = event.origin === location.origin && event.source === task.contentWindow;
  // A switch just turned has to have arrived first (accept_next.js).
  const goOn = () => location.replace(task.dataset.after);
  if (isOurs && event.data === "submitted") Promise.resolve(window.switching).then(goOn, goOn);
});

// A browser may deny storage to a frame of another site: what was answered there and has not arrived is kept here,
// for this assignment alone and whoever knows the key it was kept under: AssignmentIds are given out again. A message
// is {keep: "put" | "drop", key, record} or {keep: "all" | "forget", key}; the answer is {records} or {error}.
const LONGEST_MS = 30 * 86_400_000, PREFIX = "kept:";
const recordsUnder = (name) => JSON.parse(localStorage.getItem(name) ?? "{}");

function keep({ keep: what, key, record }) {
  const own = `${PREFIX}${task.dataset.assignmentId}:${key}`, records = recordsUnder(own), name = record && `${record.position}/${record.tab}`;
  if (what === "put" && name) records[name] = record;
  if (what === "drop") delete records[name];
  if (what === "forget" || !Object.keys(records).length) localStorage.removeItem(own);
  else if (what !== "all") localStorage.setItem(own, JSON.stringify(records));
  return Object.values(records);
}

function answer(message) {
  try {
    return { records: keep(message) };
  } catch (error) {
    return { error: String(error) };
  }
}

window.addEventListener("message", ({ source, data, ports }) => {
  if (source !== task.contentWindow || !ports.length) return;
  if (data?.keep) ports[0].postMessage(answer(data));
  if (data?.ask === "time") ports[0].postMessage({ seconds: secondsLeft() }); // countdown.js
});

// What nobody came back for is not kept for good, whatever the frame of another site has sent us to keep.
try {
  Object.keys(localStorage)
    .filter((name) => name.startsWith(PREFIX))
    .filter((name) => !Object.values(recordsUnder(name)).some((record) => record?.at >= Date.now() - LONGEST_MS))
    .forEach((name) => localStorage.removeItem(name));
} catch {
  // Without storage there is nothing to forget.
}
