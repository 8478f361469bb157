// Canvases and points. Colour says which lane, ink which class.

/** Sizes of canvases in CSS pixels, told by the browser: asking for them while drawing would lay out the page. */
const sizes = new WeakMap();
const redraws = new WeakMap();
const watcher = new ResizeObserver((entries) => {
  for (const { target, contentRect: { width, height } } of entries) {
    const before = sizes.get(target);
    sizes.set(target, { width, height });
    if (width && height && (before?.width !== width || before?.height !== height)) redraws.get(target)?.();
  }
});

/** Calls `redraw` whenever the canvas has another size, also when it is shown for the first time. */
export function onResize(canvas, redraw) {
  redraws.set(canvas, redraw);
  watcher.observe(canvas);
}

/** @param {HTMLCanvasElement} canvas without padding @returns {{ width: number, height: number }} */
export function sizeOf(canvas) {
  let size = sizes.get(canvas);
  if (!size) {
    watcher.observe(canvas);
    const { width, height } = canvas.getBoundingClientRect();
    size = { width, height };
    sizes.set(canvas, size);
  }
  return size;
}

/** Makes a canvas as sharp as the screen; returns its context in CSS pixels. */
export function sharp(canvas) {
  const { width, height } = sizeOf(canvas);
  const ratio = Math.min(devicePixelRatio || 1, 2);
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

/** #rgb or #rrggbb as three numbers. */
export const rgb = (hex) => {
  const digits = hex.length === 4 ? [...hex.slice(1)].map((digit) => digit + digit) : hex.slice(1).match(/../g);
  return digits.map((two) => parseInt(two, 16));
};

/** A window on the plane with equal scales that holds all but the outermost points. */
export function frame(points, aspect) {
  const range = (axis) => {
    const values = Float32Array.from({ length: points.length / 2 }, (_, k) => points[2 * k + axis]).sort();
    const cut = Math.floor(values.length / 400);
    return [values[cut], values[values.length - 1 - cut]];
  };
  const [[x0, x1], [y0, y1]] = [range(0), range(1)];
  const tall = Math.max((y1 - y0) * 1.12, ((x1 - x0) * 1.12) / aspect, 1e-6);
  const [cx, cy] = [(x0 + x1) / 2, (y0 + y1) / 2];
  return { x: [cx - (tall * aspect) / 2, cx + (tall * aspect) / 2], y: [cy - tall / 2, cy + tall / 2] };
}

/** Where the k-th point lies on a canvas. */
export const place = (window, width, height, points) => [
  (k) => ((points[2 * k] - window.x[0]) / (window.x[1] - window.x[0])) * width,
  (k) => height - ((points[2 * k + 1] - window.y[0]) / (window.y[1] - window.y[0])) * height,
];

/** Points of a data set: negatives small and grey, positives ink with a rim. `tint(k)` colours row k instead. */
export function scatter(context, width, height, window, points, labels, colours, { size = 1.5, tint } = {}) {
  const [px, py] = place(window, width, height, points);
  const count = points.length / 2;
  for (const positive of [0, 1]) {
    for (let k = 0; k < count; k += 1) {
      if (labels[k] !== positive) continue;
      context.beginPath();
      context.arc(px(k), py(k), positive ? size * 1.75 : size, 0, 2 * Math.PI);
      if (positive) {
        context.globalAlpha = 1;
        context.fillStyle = tint ? tint(k) : colours.ink;
        context.fill();
        context.lineWidth = tint ? 1.4 : 1;
        context.strokeStyle = tint ? colours.ink : colours.card;
        context.stroke();
      } else {
        context.globalAlpha = tint ? 0.75 : 0.34;
        context.fillStyle = tint ? tint(k) : colours.soft;
        context.fill();
      }
    }
  }
  context.globalAlpha = 1;
}
