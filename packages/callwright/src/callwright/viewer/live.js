"use strict";
(() => {
  const PAUSE = 1000, LONGEST = 15000; // milliseconds between two questions
  const told = document.getElementById("live");
  let tag = '""', pause = PAUSE;

  const say = (text, state) => {
    if (told.textContent !== text) told.textContent = text;
    told.className = state;
  };
  const keyOf = (node) => node.nodeType === Node.ELEMENT_NODE && node.id;
  const copyAttributes = (old, fresh) => {
    for (const { name } of [...old.attributes])
      if (!fresh.hasAttribute(name) && name !== "open" && name !== "hidden") old.removeAttribute(name);
    for (const { name, value } of fresh.attributes)
      if (name !== "open" && name !== "hidden" && old.getAttribute(name) !== value) old.setAttribute(name, value);
  };
  // What did not change stays the same element: open parts stay open, what is selected stays selected
  const update = (old, fresh) => {
    if (old.isEqualNode(fresh) || old.id === "live") return;
    copyAttributes(old, fresh);
    const named = new Map([...old.children].filter(keyOf).map((child) => [child.id, child]));
    let at = old.firstChild;
    for (const part of [...fresh.childNodes]) {
      const key = keyOf(part);
      let same = key ? named.get(key) : at;
      if (same && !key && (keyOf(same) || same.nodeName !== part.nodeName)) same = null;
      if (!same) { old.insertBefore(document.importNode(part, true), at); continue; }
      if (same !== at) old.insertBefore(same, at); else at = at.nextSibling;
      if (same.nodeType === Node.ELEMENT_NODE) update(same, part);
      else if (same.nodeValue !== part.nodeValue) same.nodeValue = part.nodeValue;
    }
    while (at) { const next = at.nextSibling; at.remove(); at = next; }
  };
  const show = (text) => {
    const fresh = new DOMParser().parseFromString(text, "text/html");
    const anchor = document.elementsFromPoint(innerWidth / 2, innerHeight / 2).find((one) => one.closest("main [id]"));
    const seen = anchor && anchor.closest("main [id]"), top = seen && seen.getBoundingClientRect().top;
    for (const part of ["header", "#summary", "main"]) {
      const [old, made] = [document.querySelector(part), fresh.querySelector(part)];
      if (old && made) update(old, made);
    }
    dispatchEvent(new Event("callwright:changed"));
    if (seen && seen.isConnected && scrollY > 0)
      scrollBy({ top: seen.getBoundingClientRect().top - top, behavior: "instant" });
  };
  const ask = async () => {
    try {
      const answer = await fetch(location.pathname + location.search,
        { cache: "no-store", headers: { accept: "text/html", "if-none-match": tag } });
      if (answer.status === 200) {
        show(await answer.text());
        tag = answer.headers.get("etag") || "";
      } else if (answer.status !== 304) throw new Error(`no update: ${answer.status}`);
      pause = PAUSE;
      say("live", "on");
    } catch (error) {
      pause = Math.min(2 * pause, LONGEST);
      say(error instanceof TypeError ? "not connected" : error.message, "off");
    }
    dispatchEvent(new Event("callwright:asked"));
    setTimeout(next, pause);
  };
  const next = () => {
    if (document.hidden) document.addEventListener("visibilitychange", next, { once: true });
    else ask();
  };
  document.documentElement.style.overflowAnchor = "none"; // show() holds what is read in its place
  next();
})();
