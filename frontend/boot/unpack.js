// Starts the page of a file that contains a profile. Script and programs are text of the file with seven bits a
// character, or files next to it on a web host. The page's own are packed by gzip, which browsers unpack.
(() => {
  const boot = document.getElementById("boot");
  boot.textContent = "Unpacking nprof …";

  // A parser would change three of the 128 septets. Such a one shares a character with the septet after it, or is the
  // last one and has a character above all others.
  const forbidden = [0, 13, 60];
  const bytesOf = (text) => {
    const bytes = new Uint8Array(text.length * 2);
    let [bits, held, end] = [0, 0, 0];
    const take = (septet) => {
      bits = ((bits << 7) | septet) & 0x7fff;
      held += 7;
      if (held >= 8) bytes[end++] = bits >> (held -= 8);
    };
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code > 127 && code < 512) take(forbidden[(code >> 7) - 1]);
      take(code & 127);
    }
    return bytes.subarray(0, end);
  };

  // Time limit of an answer of the web host: a program has about a MB.
  const MOST_MS = 120_000;

  const bytes = async (id) => {
    const { dataset, textContent } = document.getElementById(id);
    if (dataset.href) {
      const response = await fetch(dataset.href, { signal: AbortSignal.timeout(MOST_MS) });
      if (!response.ok) throw new Error(`the web host answers ${response.status} for ${dataset.href}`);
      return new Uint8Array(await response.arrayBuffer());
    }
    return bytesOf(textContent);
  };
  const unpacked = async (id) => {
    const stream = new Blob([await bytes(id)]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).arrayBuffer();
  };
  const start = async () => {
    const missing = ["WebAssembly", "DecompressionStream", "Worker"].filter((name) => !(name in globalThis));
    if (missing.length > 0) throw new Error(`this browser has no ${missing.join(" and no ")}`);
    if (location.protocol === "file:" && document.querySelector("script[data-href]")) {
      const what = "this folder has to come from a web host; `nprof export --format html` writes a file that opens from a disk";
      throw Object.assign(new Error(what), { isAdvice: true });
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
