// The task's frame says when it was submitted, and what to keep for it, and asks for the time. It is a comfort: the page works without.
const task = document.getElementById("task");

window.addEventListener("message", (event) => {
  const isOurs = event.origin === location.origin && event.source === task.contentWindow;
  // A switch just turned has to have arrived first (accept_next.js).
  const goOn = () => location.replace(task.dataset.after);
  if (isOurs && event.data === "submitted") Promise.resolve(window.switching).then(goOn, goOn);
});

// Back may show this page as it was left: what was submitted meanwhile is open no more.
window.addEventListener("pageshow", async ({ persisted }) => {
  if (!persisted) return;
  const { redirected } = await fetch(location.href, { cache: "no-store" });
  if (redirected) location.reload();
});

// A browser may deny storage to a frame of another site: what was answered there and has not arrived is kept here,
// for this assignment alone and whoever knows the key it was kept under: AssignmentIds are given out again. A message
// is {keep: "put" | "drop", key, record} or {keep: "all" | "forget", key}; the answer is {records} or {error}.
const PREFIX = "kept:", MOST = 5_000_000; // characters for one assignment: a task's frame is somebody else's

const { within, deleting, beginning, forgetOld, LONGEST_MS } = window.storeOf("market", "kept", ["assignment", "key", "name"]);
const nameOf = ({ position, tab }) => `${position}/${tab}`;

function put(assignment, key, record, at = Date.now()) {
  return within("readwrite", (store) => {
    store.put({ assignment, key, name: nameOf(record), record, at });
    store.getAll(beginning(assignment)).onsuccess = ({ target }) => {
      if (JSON.stringify(target.result).length > MOST) store.transaction.abort();
    };
  });
}

async function all(assignment, key) {
  const entries = await within("readonly", (store) => store.getAll(beginning(assignment, key)));
  return entries.map(({ record }) => record);
}

const acts = {
  put,
  all,
  drop: (assignment, key, dropped) => {
    const isAsRead = ({ record }) => [record.at, undefined].includes(dropped.at); // what its tab wrote since stays
    return within("readwrite", deleting([assignment, key, nameOf(dropped)], isAsRead));
  },
  forget: (assignment, key) => within("readwrite", (store) => store.delete(beginning(assignment, key))),
};

async function answer({ keep: what, key, record }) {
  try {
    await tidied;
    return { records: (await acts[what](task.dataset.assignmentId, key, record)) ?? [] };
  } catch (error) {
    return { error: String(error) };
  }
}

window.addEventListener("message", ({ source, data, ports }) => {
  if (source !== task.contentWindow || !ports.length) return;
  if (data?.keep) answer(data).then((answered) => ports[0].postMessage(answered));
  if (data?.ask === "time") ports[0].postMessage({ seconds: secondsLeft() }); // countdown.js
});

// Nothing is kept for good, whatever the frame of another site has sent us to keep (forgetOld).
// Pages of before kept it in localStorage, one name for the assignment and the key.
async function takeOver() {
  for (const name of Object.keys(localStorage).filter((one) => one.startsWith(PREFIX))) {
    const [assignment, key] = name.slice(PREFIX.length).split(":"), oldest = Date.now() - LONGEST_MS;
    const records = Object.values(JSON.parse(localStorage.getItem(name))).filter((record) => record?.at >= oldest);
    for (const record of records) await put(assignment, key, record, record.at);
    localStorage.removeItem(name);
  }
}

const tidied = takeOver().then(forgetOld).catch(() => {}); // without storage there is nothing to forget
