// The theme must be known before the first picture: the program comes too late for that.
(() => {
  let kept = null;
  try { kept = localStorage.getItem("nprof.theme"); } catch { /* storage is switched off: follow the system */ }
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = kept ?? (dark ? "dark" : "light");
  // A browser that cannot run the program says so instead of staying empty.
  const failed = (event) => {
    const boot = document.getElementById("boot");
    if (!boot) return;
    const reason = event.message ?? event.reason?.message ?? event.reason ?? "a file of the page is missing";
    // Some reasons say themselves what helps.
    const advice = event.isAdvice || event.reason?.isAdvice ? "" : " It needs WebAssembly and WebGL2; reload to try again.";
    boot.textContent = `nprof's page could not start: ${reason}.${advice}`;
    boot.classList.add("boot-failed");
  };
  // A file that holds a profile ends with a mark.
  addEventListener("DOMContentLoaded", () => {
    const isCut = "file" in document.documentElement.dataset && !document.getElementById("nprof-end");
    if (isCut) failed({ message: "this file was cut off: get it again", isAdvice: true });
  });
  addEventListener("error", failed);
  addEventListener("unhandledrejection", failed);
})();
