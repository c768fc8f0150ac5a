// The ground of the page's benches: a server with a simulated profile, and a browser.

import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const { chromium } = createRequire(join(root, "tests/browser/package.json"))("playwright-core");
/** The binary that is measured. */
export const binary = process.env.NPROF_BIN ?? join(root, "target/release/nprof");

/** Serves a simulated profile, as the arguments of `nprof demo` say: its address, and what stops the server. */
export async function demo(store, ...job) {
  const server = spawn(binary, ["--store", store, "demo", ...job, "--port", "0"]);
  const address = await new Promise((resolve, reject) => {
    let text = "";
    server.stdout.on("data", (chunk) => {
      text += chunk;
      const found = /View profile at (\S+)/.exec(text);
      if (found) resolve(found[1].split("?")[0].replace("localhost", "127.0.0.1"));
    });
    server.on("exit", (code) => reject(new Error(`nprof ended with ${code}`)));
  });
  const stop = () => {
    server.removeAllListeners("exit");
    server.kill("SIGTERM");
  };
  return { address, stop };
}

/** Chromium with WebGL in software. */
export function openBrowser() {
  return chromium.launch({
    executablePath: process.env.NPROF_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
  });
}
