// Starts the page of a file that holds a profile. Script and programs stand in the file as Z85 with a comma for "<", or
// lie beside it on a web host. Those of the page are packed by gzip, which browsers unpack by themselves.
(() => {
  const boot = document.getElementById("boot");
  boot.textContent = "Unpacking nprof …";

  const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&,>()[]{}@%$#";
  const values = new Float64Array(128).fill(NaN);
  for (let value = 0; value < 85; value++) values[DIGITS.charCodeAt(value)] = value;
  // Five digits are four bytes. In the last group, each "#" in front stands for a byte that is not there.
  const bytesOf = (text) => {
    const missing = text.slice(-5).match(/^#*/)[0].length;
    const padded = text.slice(0, -5) + text.slice(-5).replace(/^#*/, "0".repeat(missing));
    const view = new DataView(new ArrayBuffer((padded.length / 5) * 4));
    for (let group = 0; group * 5 < padded.length; group++) {
      let number = 0;
      for (let at = group * 5; at < group * 5 + 5; at++) number = number * 85 + values[padded.charCodeAt(at)];
      view.setUint32(group * 4, number);
    }
    const bytes = new Uint8Array(view.buffer);
    bytes.copyWithin(bytes.length - 4, bytes.length - 4 + missing);
    return bytes.subarray(0, bytes.length - missing);
  };

  const bytes = async (id) => {
    const { dataset, textContent } = document.getElementById(id);
    if (dataset.href) {
      const response = await fetch(dataset.href);
      if (!response.ok) throw new Error(`the web host answers ${response.status} for ${dataset.href}`);
      return new Uint8Array(await response.arrayBuffer());
    }
    return bytesOf(textContent.trim());
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
