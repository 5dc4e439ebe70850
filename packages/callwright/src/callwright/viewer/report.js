"use strict";
(() => {
  const PAGE = 100;
  const rows = [...document.querySelectorAll("#findings > tbody")];
  const form = document.getElementById("filter");
  const told = form.querySelector("output");
  const texts = new Map(); // what a row says, in lower case, made when it is first sought in
  let found = rows, at = 0;

  const textOf = (row) => {
    if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase());
    return texts.get(row);
  };
  const show = (from) => {
    at = Math.max(0, Math.min(from, Math.floor((found.length - 1) / PAGE) * PAGE));
    const shown = new Set(found.slice(at, at + PAGE));
    for (const row of rows) row.hidden = !shown.has(row);
    form.back.disabled = at === 0;
    form.on.disabled = at + PAGE >= found.length;
    const all = rows.length === 1 ? "1 row" : `${rows.length} rows`;
    const of = found.length === rows.length ? all : `${found.length} of ${all}`;
    told.textContent = found.length > PAGE ? `${at + 1} to ${at + shown.size} of ${of}` : of;
  };
  const filter = () => {
    const [verdict, category] = [form.verdict.value, form.category.value];
    const sought = form.text.value.trim().toLowerCase();
    found = rows.filter((row) => (!verdict || row.dataset.verdict === verdict) &&
      (!category || row.dataset.category === category) && (!sought || textOf(row).includes(sought)));
    show(0);
  };
  const go = () => {
    const row = rows.find((one) => `#${one.id}` === location.hash);
    if (!row) return;
    if (!found.includes(row)) { form.reset(); found = rows; }
    show(found.indexOf(row));
    const details = row.querySelector("details");
    if (details) details.open = true;
    row.scrollIntoView();
  };

  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.back.addEventListener("click", () => show(at - PAGE));
  form.on.addEventListener("click", () => show(at + PAGE));
  addEventListener("hashchange", go);
  addEventListener("beforeprint", () => { for (const row of found) row.hidden = false; }); // all that the filter leaves
  addEventListener("afterprint", () => show(at));
  form.hidden = false;
  filter();
  go();
})();
