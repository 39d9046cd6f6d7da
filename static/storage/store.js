"use strict";
// A store in this browser's IndexedDB, for the two sites that keep what has not arrived: each has a database, keys and
// limits of its own. Its entries have `at`, when they were put there.
window.storeOf = (database, name, keyPath) => {
  const LONGEST_MS = 30 * 86_400_000;
  let opened;

  function open() {
    opened ??= new Promise((resolve, reject) => {
      const request = indexedDB.open(database, 1); // throws where a frame may store nothing
      request.onupgradeneeded = () => request.result.createObjectStore(name, { keyPath }).createIndex("at", "at");
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    return opened;
  }

  // `act` is given the store; what it asked for last, if it returns that, is the result.
  // `strict`: written to the disk, not only handed to the system, before it counts as kept. Chromium writes localStorage
  // seconds later, and an empty battery comes before.
  async function within(mode, act) {
    const transaction = (await open()).transaction(name, mode, { durability: "strict" });
    return new Promise((resolve, reject) => {
      let request;
      transaction.oncomplete = () => resolve(request?.result);
      transaction.onabort = () => reject(transaction.error ?? new DOMException("", "QuotaExceededError"));
      request = act(transaction.objectStore(name));
    });
  }

  // What deletes one entry, if it `isMeant` as it is by now.
  const deleting = (key, isMeant) => (store) => {
    store.get(key).onsuccess = ({ target }) => target.result && isMeant(target.result) && store.delete(key);
  };

  // All entries whose key begins so.
  const beginning = (...start) => IDBKeyRange.bound(start, [...start, []]);

  // What nobody came back for is not kept for good.
  const forgetOld = () =>
    within("readwrite", (store) => {
      store.index("at").openCursor(IDBKeyRange.upperBound(Date.now() - LONGEST_MS)).onsuccess = ({ target }) => {
        target.result?.delete();
        target.result?.continue();
      };
    });

  return { within, deleting, beginning, forgetOld, LONGEST_MS };
};
