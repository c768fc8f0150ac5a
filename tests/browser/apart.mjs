// Whether anything that is written lies on something else.

/**
 * The pairs of cells in `part` of which one is printed over the other, as texts. A cell is as large as what it shows: a
 * text that is wider than its cell counts whole, unless an element around it cuts it off.
 */
export function overlapsIn(part) {
  return part.evaluate((root) => {
    const LEAST_PX = 1.5;
    const cells = [...root.querySelectorAll("th, td, dt, dd, .hit > *, li, .stats-actions button")];
    const shownIn = (element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      let { left, right, top, bottom } = range.getBoundingClientRect();
      for (let around = element; around && around !== document.body; around = around.parentElement) {
        if (getComputedStyle(around).overflow === "visible") continue;
        const box = around.getBoundingClientRect();
        [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
        [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
      }
      return { element, left, right, top, bottom };
    };
    const isStuck = (element) => getComputedStyle(element).position === "sticky";
    // Names of tracks have their places by themselves, and a closed list has boxes that nobody sees.
    const isSeen = (element) => element.checkVisibility({ contentVisibilityAuto: true }) && !element.closest(".tracks");
    const boxes = cells.filter(isSeen).map(shownIn).filter(({ left, right, top, bottom }) => right > left && bottom > top);
    const found = [];
    boxes.forEach((one, at) => {
      for (const other of boxes.slice(at + 1)) {
        if (one.element.contains(other.element) || other.element.contains(one.element)) continue;
        // A head covers the rows that scroll below it.
        if (isStuck(one.element) !== isStuck(other.element)) continue;
        const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
        const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
        if (width > LEAST_PX && height > LEAST_PX) {
          const [a, b] = [one, other].map(({ element }) => element.textContent.trim().slice(0, 30));
          found.push(`"${a}" and "${b}" by ${Math.round(width)} px`);
        }
      }
    });
    return found.slice(0, 5);
  });
}
