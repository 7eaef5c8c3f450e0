// What the theme's script adds to a page can be reached with the keyboard, and has a name of its own.
let named = 0;
new MutationObserver(() => {
  document.querySelectorAll(".md-code__nav:not([aria-label])").forEach((nav) => {
    nav.setAttribute("aria-label", `Block of code ${(named += 1)}`);
  });
  document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex]), pre > code:not([tabindex])").forEach((each) => {
    each.tabIndex = 0;
  });
}).observe(document.documentElement, { childList: true, subtree: true });
