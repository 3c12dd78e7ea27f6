// What the page uses of lit-html: "make vendor" bundles it.
export { html, svg, render, nothing, noChange } from "lit-html";
export { guard } from "lit-html/directives/guard.js";
export { repeat } from "lit-html/directives/repeat.js";
