"use strict";
// The filter of the scorecard, and enlarged figures. Without JavaScript, all claims and figures are still shown.
(() => {
  const form = document.getElementById("filter");
  if (!form) return;
  const claims = [...document.querySelectorAll("article.claim")];
  const groups = [...document.querySelectorAll("#scorecard .group")];
  const chosen = (name) => form.elements[name].value;

  // gamma_eval and γ_eval are both shown as γ with a subscript.
  const plain = (text) => text.toLowerCase().replaceAll("gamma", "γ").replaceAll("sigma", "σ").replaceAll("_", "");

  function fits(claim) {
    const words = plain(chosen("words")).split(/\s+/).filter(Boolean);
    const text = plain(claim.textContent);
    return ["verdict", "section"].every((name) => !chosen(name) || claim.dataset[name] === chosen(name)) && words.every((word) => text.includes(word));
  }

  function filter() {
    claims.forEach((claim) => { claim.hidden = !fits(claim); });
    groups.forEach((group) => { group.hidden = !group.querySelector("article.claim:not([hidden])"); });
    const left = claims.filter((claim) => !claim.hidden).length;
    form.elements.shown.textContent = `${left} of ${claims.length} claims`;
  }

  // A link to a claim that the filter hides shows all claims again.
  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target?.closest("[hidden]")) return;
    form.reset();
    filter();
    target.scrollIntoView();
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", filter);
  window.addEventListener("hashchange", reveal);
  form.hidden = false;
  filter();
})();

(() => {
  const dialog = document.getElementById("large");

  function open(image) {
    dialog.append(Object.assign(new Image(), { src: image.src, alt: image.alt }));
    dialog.style.setProperty("--pixels", `${image.naturalWidth || image.getAttribute("width")}px`);
    dialog.showModal();
  }

  document.querySelectorAll("figure img").forEach((image) => {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "enlarge", title: "Enlarge" });
    image.replaceWith(button);
    button.append(image);
    button.addEventListener("click", () => open(image));
  });
  dialog.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.querySelector("img").remove());
})();
