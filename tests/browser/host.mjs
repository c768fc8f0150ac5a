// A static web host on the loopback interface: serves the files of a folder, parts of them too (RFC 9110, section 14).

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { join, normalize } from "node:path";

const TYPES = { html: "text/html; charset=utf-8" };

/**
 * Serves `folder` until test `t` ends. `hasRanges: false` makes a host that sends whole files only. `served` fills with
 * what was sent: path, status and bytes. `stop` ends it before. Requests for a path that `stalls` are never answered.
 */
export async function host(t, folder, { hasRanges = true, stalls = () => false } = {}) {
  const served = [];
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://host").pathname));
    if (stalls(path)) return;
    const file = join(folder, path.endsWith("/") ? `${path}index.html` : path);
    const send = async (status, headers, start, end) => {
      served.push({ path, status, bytes: Math.max(0, end - start) });
      response.writeHead(status, { ...headers, "content-length": Math.max(0, end - start) });
      if (end <= start) return response.end();
      createReadStream(file, { start, end: end - 1 }).pipe(response);
    };
    try {
      const { size } = await stat(file);
      const type = TYPES[file.split(".").at(-1)] ?? "application/octet-stream";
      const range = hasRanges && /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
      if (!range) return await send(200, { "content-type": type }, 0, size);
      const [start, end] = [Number(range[1]), Math.min(Number(range[2]) + 1, size)];
      if (start >= size) return await send(416, { "content-range": `bytes */${size}` }, 0, 0);
      return await send(206, { "content-type": type, "content-range": `bytes ${start}-${end - 1}/${size}` }, start, end);
    } catch {
      return send(404, {}, 0, 0);
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  t.after(stop);
  return { url: `http://127.0.0.1:${server.address().port}`, served, stop };
}
