// The totals of a marked span, beside those of another rank that is shown.

import assert from "node:assert/strict";
import test from "node:test";
import { ask, eventually } from "./picture.mjs";
import { openPage, serve } from "./stage.mjs";

test("a second rank adds its times and the difference to the totals of a span", async (t) => {
  const { url } = await serve(t, "demo", "--ranks", "3", "--events", "5000");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { start_ps, end_ps } = await ask(url, `profiles/${slug}`);
  const quarter = Math.round((end_ps - start_ps) / 4);
  const [from, to] = [start_ps + quarter, end_ps - quarter];
  const totals = async (rank) => {
    const { by_name } = await ask(url, `profiles/${slug}/ranks/${rank}/selection?start_ps=${from}&end_ps=${to}`);
    return new Map(by_name.map(({ name, self_ps }) => [name, self_ps]));
  };
  const [own, other] = [await totals(0), await totals(2)];
  const names = [...new Set([...own.keys(), ...other.keys()])];
  const difference = (name) => (own.get(name) ?? 0) - (other.get(name) ?? 0);
  const most = Math.max(...names.map(difference));

  const { page, problems } = await openPage(t, { width: 1600, height: 900 });
  await page.goto(`${url}/profile/${slug}?v=2&rank=0&ranks=0,2&mark=${from}..${to}&tab=selection`);
  const table = page.getByRole("tabpanel", { name: "Selection" }).getByRole("table").first();
  const column = (name) => table.getByRole("columnheader", { name });
  await column("In rank 2").waitFor();
  await column("Difference").getByRole("button").click();
  await eventually(async () => {
    const first = await table.getByRole("row").nth(1).getByRole("cell").first().innerText();
    assert.equal(difference(first.trim()), most, first);
  });
  // Another rank more: the times of all, without a difference.
  await page.getByTitle("Show rank 1 below the others").click();
  await column("In rank 1").waitFor();
  await column("Difference").waitFor({ state: "detached" });
  // The rank alone has its own times only.
  await page.goto(`${url}/profile/${slug}?v=2&rank=0&mark=${from}..${to}&tab=selection`);
  await column("Self").waitFor();
  assert.equal(await column("In rank").count(), 0);
  assert.deepEqual(problems, []);
});
