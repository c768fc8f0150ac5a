import { chromium } from "playwright-core";
const [, , url, out, scheme, w, h, ...steps] = process.argv;
const b = await chromium.launch({ executablePath: "/usr/bin/chromium-headless-shell", args: ["--use-gl=swiftshader","--enable-unsafe-swiftshader","--allow-file-access-from-files"] });
const p = await b.newPage({ colorScheme: scheme, viewport: { width: +w, height: +h } });
p.on("console", m => { if (m.type()==="error") console.log("console", m.text()); });
await p.goto(url); await p.waitForTimeout(4000);
for (const s of steps) {
  const [k, ...r] = s.split("="); const v = r.join("=");
  if (k === "click") await p.locator(v).first().click();
  if (k === "role") { const [a, n] = v.split(":"); await p.getByRole(a, { name: new RegExp(n) }).first().click(); }
  if (k === "key") await p.keyboard.press(v);
  if (k === "at") { const [x, y] = v.split(",").map(Number); await p.mouse.click(x, y); }
  if (k === "move") { const [x, y] = v.split(",").map(Number); await p.mouse.move(x, y); }
  if (k === "wait") await p.waitForTimeout(+v);
  if (k === "shot") await p.screenshot({ path: v });
  if (k === "eval") console.log(JSON.stringify(await p.evaluate(v)));
}
await p.waitForTimeout(1200);
await p.screenshot({ path: out });
console.log(p.url());
await b.close();
