// Starts the page of a file that holds a profile. Script and program of the page stand in the file
// as base64 of gzip, which browsers unpack by themselves.
(() => {
  const boot = document.getElementById("boot");
  boot.textContent = "Unpacking nprof …";

  const bytes = (id) => {
    const text = atob(document.getElementById(id).textContent.trim());
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
    return bytes;
  };
  const unpacked = (id) => {
    const stream = new Blob([bytes(id)]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).arrayBuffer();
  };
  const start = async () => {
    const missing = ["WebAssembly", "DecompressionStream", "Worker"].filter((name) => !(name in globalThis));
    if (missing.length > 0) throw new Error(`this browser has no ${missing.join(" and no ")}`);
    const ids = ["nprof-styles", "nprof-script", "nprof-program"];
    const [styles, script, program] = await Promise.all(ids.map(unpacked));
    document.head.append(Object.assign(document.createElement("style"), { textContent: new TextDecoder().decode(styles) }));
    // The workers' program is packed beside this one.
    globalThis.nprofProgram = new Uint8Array(program);
    const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    const page = await import(url);
    await page.default({ module_or_path: program });
  };
  // What fails is shown by the script above, which listens for rejections.
  start();
})();
