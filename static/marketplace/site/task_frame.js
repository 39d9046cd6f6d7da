// In the frame of an HTMLQuestion, before its own scripts: what MTurk's helper script did for such documents.
(() => {
  "use strict";

  const assignmentId = new URLSearchParams(location.search).get("assignmentId") ?? "";
  const isPreview = assignmentId === "ASSIGNMENT_ID_NOT_AVAILABLE";

  function hiddenField(form, name, value) {
    const field = form.querySelector(`input[name="${name}"]`) ?? form.appendChild(document.createElement("input"));
    Object.assign(field, { type: "hidden", name, value });
  }

  function lockInPreview(form) {
    if (!isPreview) return;
    for (const button of form.querySelectorAll("button:not([type=button]), input[type=submit]")) button.disabled = true;
  }

  // Templates call this at their end.
  window.turkSetAssignmentID = () => {
    for (const form of document.querySelectorAll('form[action$="/mturk/externalSubmit"]')) {
      hiddenField(form, "assignmentId", assignmentId);
      lockInPreview(form);
    }
  };

  document.addEventListener("DOMContentLoaded", () => window.turkSetAssignmentID());
  document.addEventListener("input", () => window.parent.postMessage({ tell: "answered" }, "*"), { once: true });
})();
