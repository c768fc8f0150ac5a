// Runs in a worker of a page without a server, behind the script of the worker's program. Handles
// the page's messages one after the other.
(() => {
  let profile;
  const sizes = new Map();

  // A reader begins at the end of a segment: there are its lists and its overview.
  const END_BYTES = 512 * 1024;

  // Time limit of an answer, as in worker/host.rs.
  const MOST_MS = 30_000;

  /** The last bytes of a file on a web host, and the status of the answer; 0 for none. */
  const endOf = async (url, size) => {
    const range = `bytes=${Math.max(0, size - END_BYTES)}-${size - 1}`;
    const cancel = new AbortController();
    const timer = setTimeout(() => cancel.abort(), MOST_MS);
    try {
      const response = await fetch(url, { headers: { range }, signal: cancel.signal });
      // A host that sends all of a long file serves no parts.
      const isTooLong = response.status === 200 && size > END_BYTES;
      if (!response.ok || isTooLong) {
        cancel.abort();
        return { status: response.status, end: new Uint8Array() };
      }
      return { status: response.status, end: new Uint8Array(await response.arrayBuffer()) };
    } catch {
      return { status: 0, end: new Uint8Array() };
    } finally {
      clearTimeout(timer);
    }
  };

  const handlers = {
    async start({ module, bundle, others }) {
      await wasm_bindgen({ module_or_path: module });
      profile = new wasm_bindgen.Profile(bundle);
      for (const other of others) profile.join(other);
    },
    begin({ rank, size }) {
      sizes.set(rank, { done: 0, size });
      profile.begin(rank, size);
    },
    take({ rank, text }) {
      profile.take(rank, text);
      const progress = sizes.get(rank);
      progress.done = Math.min(progress.done + (text.length / 4) * 3, progress.size);
      postMessage({ kind: "taken", rank, ...progress });
    },
    open({ rank }) {
      profile.open(rank);
    },
    async reach({ rank, url, size }) {
      const { status, end } = await endOf(url, size);
      profile.reach(rank, url, size, status, end);
    },
    ask({ number, url }) {
      const answer = { kind: "answer", number, ok: true };
      try {
        answer.bytes = profile.ask(url);
      } catch (thrown) {
        // A refusal; anything else is a fault of the program.
        if (!(thrown instanceof Uint8Array)) throw thrown;
        answer.ok = false;
        answer.bytes = thrown;
      }
      postMessage(answer, [answer.bytes.buffer]);
    },
  };

  // The first questions come before the program, which the page unpacks meanwhile.
  let started;
  let last = new Promise((resolve) => (started = resolve));
  onmessage = ({ data }) => {
    if (data.kind === "start") started(handlers.start(data));
    else last = last.then(() => handlers[data.kind](data));
    last.catch((thrown) => postMessage({ kind: "failed", reason: String(thrown?.message ?? thrown) }));
  };
})();
