// Loads the page again when its style sheet or a script cannot be loaded: at once, then after 1, 3 … 63 seconds, until
// nothing has been missing for a time. The document has this script inline, so that it needs no request.

const whole = 10e3; // milliseconds

/** The timer, 0 while nothing is missing. */
let reloading = 0;

/** Returns the milliseconds until the page is loaded again. */
function reloadPage() {
  const times = Number(sessionStorage.getItem("pressbox.reloads"));
  const wait = 1000 * (2 ** Math.min(times, 6) - 1);
  if (reloading) return wait;
  sessionStorage.setItem("pressbox.reloads", `${times + 1}`);
  reloading = setTimeout(() => location.reload(), wait);
  return wait;
}

setTimeout(() => {
  if (!reloading) sessionStorage.removeItem("pressbox.reloads");
}, whole);
addEventListener(
  "error",
  ({ target }) => {
    const file =
      target instanceof HTMLScriptElement
        ? target.src
        : target instanceof HTMLLinkElement && target.rel === "stylesheet"
          ? target.href
          : "";
    if (file.startsWith(location.origin)) reloadPage(); // not one that an extension of the browser adds
  },
  true,
); // such errors do not bubble
