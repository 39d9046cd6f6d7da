"use strict";
// What was answered and has not arrived yet, in this browser's own storage until it has: one record per tab and
// item of one assignment. Its key is given by the server, to nobody but the person whose assignment it is. Where a
// frame may store nothing, the page around it is asked to, and keeps it for the assignment it shows.
window.kept = (() => {
  const { within, deleting, beginning, forgetOld } = window.storeOf("assent", "answers", ["key", "position", "tab"]);
  const ANSWER_MS = 2000;
  let isAsking = false;

  function askAround(message) {
    return new Promise((resolve, reject) => {
      if (window.parent === window) return reject(new Error("Nobody is around this page."));
      const { port1, port2 } = new MessageChannel(), timer = setTimeout(() => reject(new Error("No answer.")), ANSWER_MS);
      port1.onmessage = ({ data }) => {
        clearTimeout(timer);
        port1.close();
        data.error ? reject(new Error(data.error)) : resolve(data);
      };
      window.parent.postMessage(message, "*", [port2]); // frame-ancestors says who may be around it
    });
  }

  // `act` on our own store, or `message` for the page around us.
  async function keeping(mode, act, message) {
    if (isAsking) return (await askAround(message)).records;
    try {
      return await within(mode, act);
    } catch {
      isAsking = true;
      return (await askAround(message)).records;
    }
  }

  const put = (record) => keeping("readwrite", (store) => store.put(record), { keep: "put", key: record.key, record });
  const all = (key) => keeping("readonly", (store) => store.getAll(beginning(key)), { keep: "all", key });
  // A record that was read, as it was `at` that time: its tab may have written on. One's own, without `at`, as it is.
  const drop = (record) => {
    const { key, position, tab } = record, isAsRead = ({ at }) => [at, undefined].includes(record.at);
    return keeping("readwrite", deleting([key, position, tab], isAsRead), { keep: "drop", key, record });
  };
  const forget = (key) => keeping("readwrite", (store) => store.delete(beginning(key)), { keep: "forget", key });

  // What answers say, however they are written: a draft of the server's has no empty ones, and no space around a text.
  const contentOf = (answers) => {
    const given = Object.entries(answers).map(([name, value]) => [name, [value].flat().map((one) => one.trim()).sort()]);
    return JSON.stringify(given.filter(([, values]) => values.join("")).sort());
  };
  const isSame = (one, other) => contentOf(one) === contentOf(other);

  // What other answers took the place of is put aside under a name of its own: it is offered, and never shown unasked.
  const ASIDE = -1, newName = () => Math.random().toString(36).slice(2);
  const aside = (record) => ({ ...record, tab: newName(), base: ASIDE });
  const isAside = ({ base }) => base === ASIDE;

  // What somebody typed comes before what was put aside, and the newest first.
  const byTurn = (one, other) => isAside(one) - isAside(other) || other.at - one.at;
  const isFirst = (record, n, records) => records.findIndex(({ answers }) => isSame(answers, record.answers)) === n;

  // Of the records of one item and what the server has of it ({version, revision, savedAt, answers}), tell which
  // answers are the newest: those of `record` if there is one, else the server's. `others` are all that say something
  // else, in turn: nobody overwrites them but the person who gave them. Complete answers that were handed in meanwhile
  // are newer than whatever was given on a page made before.
  function settle(records, server) {
    const open = records.filter((r) => isAside(r) || !isSame(r.answers, server.answers)).sort(byTurn);
    const newest = open.find((r) => r.revision === server.revision && !isAside(r));
    const isNext = newest?.base === server.version;
    const record = isNext || newest?.at > server.savedAt ? newest : undefined;
    const { answers: shown } = record ?? server;
    const theirs = record && !isNext ? [aside({ ...record, answers: server.answers, at: server.savedAt })] : [];
    const others = [...open, ...theirs].filter((r) => !isSame(r.answers, shown)).sort(byTurn).filter(isFirst);
    return { record, others };
  }

  // What somebody likes to have so, on every page of theirs; a frame that may store nothing begins as all do.
  function liked(name, value) {
    try {
      if (value !== undefined) localStorage.setItem(`assent.${name}`, value);
      return localStorage.getItem(`assent.${name}`) ?? "";
    } catch {
      return "";
    }
  }

  return { put, all, drop, forget, forgetOld, contentOf, newName, aside, settle, askAround, liked };
})();
