"use strict";
(() => {
  const form = document.getElementById("filter");
  const told = form.querySelector("output");
  let texts = new WeakMap(); // what an entry says, in lower case, made when it is first sought in

  const textOf = (entry) => {
    if (!texts.has(entry)) texts.set(entry, entry.textContent.toLowerCase());
    return texts.get(entry);
  };
  const isShown = (entry, kind, sought) =>
    (!kind || entry.dataset.kinds.split(" ").includes(kind)) && (!sought || textOf(entry).includes(sought));
  const filter = () => {
    const [kind, sought] = [form.kind.value, form.text.value.trim().toLowerCase()];
    const entries = [...document.querySelectorAll("[data-kinds]")];
    const gone = new Set();
    for (const entry of entries) {
      entry.hidden = !isShown(entry, kind, sought);
      if (entry.hidden && entry.id) gone.add(entry.id);
    }
    for (const row of document.querySelectorAll("[data-of]")) row.hidden = gone.has(row.dataset.of);
    for (const group of document.querySelectorAll("[data-group]")) {
      const held = [...group.querySelectorAll("[data-kinds], [data-of]")];
      group.hidden = held.length > 0 && held.every((one) => one.hidden);
    }
    const shown = entries.filter((entry) => !entry.hidden).length;
    const said = shown === entries.length ? `${shown} entries` : `${shown} of ${entries.length} entries`;
    if (told.textContent !== said) told.textContent = said; // screen readers read each change
  };
  const reveal = () => { // what a link leads to is shown, whatever the filter says, and opened
    let entry = null;
    try { entry = document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch { return; }
    if (!entry) return;
    if (entry.closest("[hidden]")) { form.reset(); filter(); }
    if (entry.tagName === "DETAILS") entry.open = true;
    entry.scrollIntoView();
  };
  const measure = () => { // entries that a link leads to stand below the summary
    const summary = document.getElementById("summary");
    document.documentElement.style.scrollPaddingTop = `${summary.offsetHeight + 12}px`;
  };
  const date = () => { // dates in the reader's own time, and how long ago they are
    for (const time of document.querySelectorAll("time[datetime]")) {
      const when = new Date(time.dateTime);
      if (!time.title.includes(" (")) time.title = `${time.title} (here: ${when.toLocaleString()})`;
      if (time.dataset.ago === undefined) continue;
      const past = Math.max(0, (Date.now() - when) / 1000);
      const [length, unit] = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]].find(([one]) => past >= one) || [1, ""];
      time.textContent = unit ? `${Math.floor(past / length)} ${unit} ago` : "now";
    }
  };

  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", reveal);
  addEventListener("resize", measure);
  addEventListener("callwright:changed", () => { texts = new WeakMap(); date(); filter(); measure(); });
  form.hidden = false;
  date(); filter(); measure(); reveal();
})();
