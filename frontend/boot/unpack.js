// Starts the page of a file that holds a profile. Script and programs stand in the file as base64, or lie beside it on a
// web host. Those of the page are packed by gzip, which browsers unpack by themselves.
(() => {
  const boot = document.getElementById("boot");
  boot.textContent = "Unpacking nprof …";

  const bytes = async (id) => {
    const { dataset, textContent } = document.getElementById(id);
    if (dataset.href) {
      const response = await fetch(dataset.href);
      if (!response.ok) throw new Error(`the web host answers ${response.status} for ${dataset.href}`);
      return new Uint8Array(await response.arrayBuffer());
    }
    const text = atob(textContent.trim());
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
    return bytes;
  };
  const unpacked = async (id) => {
    const stream = new Blob([await bytes(id)]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).arrayBuffer();
  };
  const start = async () => {
    const missing = ["WebAssembly", "DecompressionStream", "Worker"].filter((name) => !(name in globalThis));
    if (missing.length > 0) throw new Error(`this browser has no ${missing.join(" and no ")}`);
    if (location.protocol === "file:" && document.querySelector("script[data-href]")) {
      throw new Error("this folder has to come from a web host; `nprof export --format html` writes a file that opens from a disk");
    }
    const ids = ["nprof-styles", "nprof-script", "nprof-program"];
    // The page starts the workers' program, which is packed beside its own.
    globalThis.nprofWorkers = bytes("nprof-worker-program");
    const [styles, script, program] = await Promise.all(ids.map(unpacked));
    document.head.append(Object.assign(document.createElement("style"), { textContent: new TextDecoder().decode(styles) }));
    globalThis.nprofProgram = new Uint8Array(program);
    const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    const page = await import(url);
    await page.default({ module_or_path: program });
  };
  // What fails is shown by the script above, which listens for rejections.
  start();
})();
