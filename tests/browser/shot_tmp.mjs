import { chromium } from "playwright-core";
const [, , url, width, height, scheme, out, ...steps] = process.argv;
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox","--use-gl=angle","--use-angle=swiftshader","--enable-unsafe-swiftshader"] });
const context = await browser.newContext({ viewport: { width: Number(width), height: Number(height) }, colorScheme: scheme });
const page = await context.newPage();
page.on("console", (m) => m.type() === "error" && console.log("console:", m.text()));
page.on("pageerror", (e) => console.log("error:", e.message));
await page.goto(url);
await page.waitForTimeout(4000);
for (const step of steps) {
  const [kind, ...rest] = step.split(":");
  if (kind === "click") await page.mouse.click(...rest[0].split(",").map(Number));
  if (kind === "move") { await page.mouse.move(...rest[0].split(",").map(Number)); await page.mouse.move(...rest[0].split(",").map((v) => Number(v) + 1)); }
  if (kind === "button") await page.getByRole("button", { name: rest.join(":") }).first().click();
  if (kind === "key") await page.keyboard.press(rest[0]);
  await page.waitForTimeout(1500);
}
await page.screenshot({ path: out });
console.log(page.url());
await browser.close();
