// One lane: method and parameters, the map of scores, the histogram.

import { $, brief, count, h, pressed, put, three } from "./dom.js";
import * as draw from "./draw/canvas.js";
import * as many from "./draw/classes.js";
import { PLAIN } from "./nouns.js";
import * as grouped from "./draw/groups.js";
import * as maps from "./draw/surface.js";

const GRID = 72;
/** Of several classes: their borders are lines on it. */
const FINE_GRID = 128;
/** Names on the map of more would cover it. */
const MOST_NAMES = 12;
/** Shown without a click into the folded settings. */
const BRIEF = ["lr", "optimizer", "surrogate", "gamma", "sampling"];

/** So many methods are grouped, by what they optimise. */
const MANY = 8;
const FAMILIES = [
  ["Average precision", ({ metric }) => metric === "ap"],
  ["Partial AUC", ({ metric }) => metric === "pauc"],
  ["Groups and bounds", ({ groups }) => groups],
  ["Finite sums", ({ name }) => /sarah|^svrg$|-sum$/.test(name)],
  ["A loss of each row", ({ name }) => /^(ce|ce-exact|ce-balanced|cb-ce|focal|ldam)$/.test(name)],
  ["AUROC", () => true],
];

/** The family of a method. */
export const familyOf = (method) => FAMILIES.find(([, has]) => has(method))[0];

/** What a parameter may be, in words; nothing for a list of choices, which is seen. */
function expects({ kind, low, high, word }) {
  if (kind === "choice") return "";
  const number = kind === "count" ? "a whole number" : "a number";
  // Limits that only keep numbers representable are not named.
  const [above, bounded] = [low > 0 && low < 1e-9, high < 4e9];
  const range = bounded ? (above ? `above 0, up to ${high}` : `from ${low} to ${high}`) : above ? "above 0" : `of at least ${low}`;
  return `${word ? `${word} or ` : ""}${number} ${range}`;
}

/** A text as a sentence: a capital, and a full stop. */
const sentence = (text) => text && `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;

/** A triangle with an exclamation mark. */
function sign() {
  const template = document.createElement("template");
  template.innerHTML = "<svg viewBox='0 0 24 24' aria-hidden='true'><path d='M12 3 22.5 21h-21ZM12 10v5M12 17.6v.4'/></svg>";
  return template.content.firstChild;
}

export class Lane {
  /**
   * @param {"a" | "b"} name
   * @param {(change: { method: string, settings: Record<string, string> }) => void} change
   * @param {(name: "a" | "b", found: (ranking: import("./ranking.js").Ranking) => number) => void} pointed told of a point on the map or the
   *   histogram: how many positives of a ranking score at least so much
   * @param {() => void} counted told to change the axis of the histograms
   */
  constructor(name, change, pointed, counted) {
    this.name = name;
    /** The cut through the ranking, and the scores of the map's lines. @type {{ threshold: number } | null} */
    this.cut = null;
    this.levels = null;
    this.methods = [];
    this.change = change;
    this.points = null;
    this.last = null;
    const title = name.toUpperCase();
    this.select = h("select", { "aria-label": `Method of lane ${title}`, onchange: () => change({ method: this.select.value, settings: {} }) });
    this.metric = h("span");
    this.figure = h("div", { className: `figure ${name}` }, this.metric, h("b", { textContent: "–" }));
    this.settings = h("details", { className: "settings" });
    this.map = h("canvas", { className: "map", role: "img", "aria-label": `Lane ${title}: no scores yet` });
    this.bins = h("canvas", { className: "bins", role: "img", "aria-label": `Lane ${title}: no scores yet` });
    // Maps are square and so keep their window: the last snapshot is right for every size.
    for (const canvas of [this.map, this.bins]) draw.onResize(canvas, () => this.colours && this.draw(this.colours));
    pressed(this.map, (x, y) => this.last && !this.handy && !this.picks?.(x, y) && pointed(name, (ranking) => this.foundAt(x, y, ranking)));
    pressed(this.bins, (x) => {
      const { histogram } = this.last ?? {};
      if (histogram) pointed(name, (ranking) => ranking.cut(histogram[0] + ((histogram[1] - histogram[0]) * x) / draw.sizeOf(this.bins).width).found);
    });
    this.caption = h("span");
    this.legend = h("span", { className: "legend" }, h("i", { className: "positive" }), h("span"), h("i"), h("span"));
    this.scale = h("span");
    this.axis = h("button", { type: "button", className: "near", title: "Counts as logarithms", "aria-label": `Log: counts of lane ${title} as logarithms`, textContent: "Log", onclick: counted });
    // It is there before it says anything, so that what it says is heard.
    this.warning = h("p", { className: "warning", role: "status" });
    $(`lane-${name}`).append(
      h("div", { className: "head" }, h("span", { className: "key", "aria-hidden": "true", textContent: title }), this.select, this.figure),
      this.settings,
      h("div", { className: "card" }, this.map),
      h("div", { className: "caption" }, this.caption, this.legend),
      // (Below the map, which stays beside the other lane's.)
      this.warning,
      h("div", { className: "card" }, this.bins),
      h("div", { className: "caption" }, this.scale, this.axis, h("span", { textContent: "high" })),
    );
  }

  /** The methods to choose from. @param {object[]} methods of the registry */
  offer(methods) {
    if (methods === this.methods) return;
    this.methods = methods;
    this.choice = undefined;
    const option = (method) => h("option", { value: method.name, textContent: method.title });
    // Many are grouped by what they optimise.
    if (methods.length < MANY) return this.select.replaceChildren(...methods.map(option));
    return this.select.replaceChildren(...FAMILIES.map(([label]) => [label, methods.filter((method) => familyOf(method) === label)])
      .filter(([, some]) => some.length).map(([label, some]) => h("optgroup", { label }, ...some.map(option))));
  }

  /** Its method, and its model where each lane has its own. */
  get title() {
    return this.method.title + (this.model ? `, ${this.model}` : "");
  }

  get method() {
    return this.methods.find((method) => method.name === this.choice.method);
  }

  /** Shows a choice of method and settings, and what its model is called, where each lane has its own. */
  configure(choice, model) {
    this.model = model;
    const rebuilt = this.choice?.method !== choice.method;
    this.choice = choice;
    this.select.value = choice.method;
    // (The picker cuts long titles.)
    this.select.title = this.title;
    const { params } = this.method;
    const value = (param) => choice.settings[param.name] ?? param.default;
    if (rebuilt) this.build();
    for (const param of params) if (param.name in this.fields) this.fields[param.name].value = value(param);
    const brief = params.filter((param) => BRIEF.includes(param.name) || param.name in choice.settings);
    this.brief = [...(model ? [model] : []), ...brief.map((param) => `${param.name} ${value(param)}`)];
    // (Until the trainer says otherwise.)
    this.summarise(rebuilt ? 0 : this.pretraining);
  }

  /** The settings in one line; before them how the run begins, where that is not with the method itself. */
  summarise(pretraining) {
    this.pretraining = pretraining;
    const first = pretraining > 1 ? `first ${count(pretraining)} steps` : "first step";
    this.summary.title = this.summary.textContent = [...(pretraining ? [`${first}: cross-entropy`] : []), ...this.brief].join("  ·  ");
  }

  /** A field for each parameter. They stay while the method does, so that the focus does. */
  build() {
    const { params } = this.method;
    const set = (param, text) => {
      const settings = { ...this.choice.settings, [param.name]: text };
      if (text === param.default || text === "") delete settings[param.name];
      this.change({ method: this.choice.method, settings });
    };
    const hint = h("p", { className: "about", "aria-hidden": "true" });
    const field = (param) => {
      const explain = () => (hint.textContent = this.textOf(param));
      const common = { onfocus: explain };
      const input = param.domain.kind === "choice"
        ? h("select", { ...common, onchange: () => set(param, input.value) }, ...param.domain.values.map((word) => h("option", { value: word, textContent: word })))
        : h("input", { ...common, type: "text", inputMode: "decimal", onchange: () => set(param, input.value.trim()) });
      this.fields[param.name] = input;
      return h("label", { onpointerenter: explain }, param.name, input);
    };
    this.fields = {};
    this.summary = h("summary");
    // (What a parameter may be comes with the texts.)
    const fields = params.filter(({ name, domain }) => domain && name !== "steps").map(field);
    this.about = h("p");
    this.settings.replaceChildren(this.summary, h("div", {}, this.about, ...fields, hint));
    this.describe();
  }

  textOf({ name, about, auto, domain }) {
    const expected = expects(domain);
    return `${name}${about ? `: ${about}` : ""}${expected ? ` (${expected})` : ""}${auto ? `; auto: ${auto}` : ""}`;
  }

  /** Puts the texts of the method beside its fields, where they are there already. */
  describe() {
    if (!this.fields) return undefined;
    const { params, about, paper } = this.method;
    if (params[0].domain && !Object.keys(this.fields).length) {
      this.build();
      return this.configure(this.choice, this.model);
    }
    this.about.textContent = about ? `${about} ${paper}.` : "";
    for (const param of params) this.fields[param.name]?.setAttribute("aria-description", this.textOf(param));
    return undefined;
  }

  /** How many positives score at least as high as a point of the map; where only rows are drawn, as the nearest of them. */
  foundAt(x, y, ranking) {
    const { width, height } = draw.sizeOf(this.map);
    if (this.flat && this.last.surface) {
      const { columns, rows } = this.grid;
      const cell = (at, size, cells) => Math.min(cells - 1, Math.max(0, Math.floor((at / size) * cells)));
      return ranking.foundAt(1 - this.last.surface[cell(height - y, height, rows) * columns + cell(x, width, columns)]);
    }
    const [px, py] = draw.place(this.window, width, height, this.points);
    let nearest = 0;
    for (let k = 1; k < this.points.length / 2; k += 1) if (Math.hypot(px(k) - x, py(k) - y) < Math.hypot(px(nearest) - x, py(nearest) - y)) nearest = k;
    return ranking.cut(ranking.scores[nearest]).found;
  }

  /** What is wrong, with the lane, and with the range where the module that trains is too small to name it. */
  explain(error) {
    const text = String(error.message ?? error);
    const param = this.method.params.find(({ name }) => text.startsWith(`${name} = `));
    return new Error(`Lane ${this.name.toUpperCase()}, ${this.title}: ${param ? text.replace("a number in its range", expects(param.domain)) : text}`);
  }

  /** Says what the run says against itself, in words and with a sign; nothing takes it back. */
  warn(snapshot) {
    const { warning, collapsed } = snapshot ?? {};
    const head = collapsed ? "Collapsed." : warning ? "Warning." : "";
    const text = sentence(warning ?? (collapsed ? "The scores of this model no longer separate the rows" : ""));
    this.figure.classList.toggle("lost", Boolean(collapsed));
    this.lost = Boolean(collapsed);
    this.label();
    if (this.warning.textContent === (head && `${head} ${text}`)) return;
    this.warning.replaceChildren(...(head ? [sign(), h("span", {}, h("b", { textContent: head }), ` ${text}`)] : []));
  }

  /** The held-out rows to draw, and what several classes are called. */
  show({ dims, plane, framed, X, y, test, names }, nouns = PLAIN) {
    this.flat = dims === 2;
    this.points = plane;
    this.labels = test.y;
    /** The window is that of these rows, whatever is done to them by hand. */
    this.framed = framed ?? plane;
    this.training = { points: X, labels: y };
    this.groups = test.groups;
    this.names = names;
    this.captions = names
      ? ["area: the class that wins; ringed: rows it gets wrong", "principal components; colour: the class that wins; ringed: wrong"]
      : [`beyond the lines: 20, 5 and 1 % of the negatives${this.groups ? "; large marks: positive" : ""}`, "first two principal components, tint: rank"];
    this.told();
    this.legend.hidden = Boolean(names || this.groups);
    const [positive, negative] = this.legend.querySelectorAll("span");
    Object.assign(positive, { textContent: nouns.positive[1] });
    Object.assign(negative, { textContent: nouns === PLAIN ? "negatives" : nouns.negative[1] });
    this.layer = this.called = this.aspect = this.surface = this.last = null;
  }

  /** Shows the training rows instead, which are changed by hand; others before they are trained on. */
  hand(on, { X, y } = { X: this.training.points, y: this.training.labels }) {
    this.handy = on;
    this.training = { points: X, labels: y };
    this.map.classList.toggle("handy", on);
    this.again();
  }

  /**
   * Shows the training rows with something over them; nothing takes it back.
   * @param {((context: CanvasRenderingContext2D, width: number, height: number) => void) | null} over
   * @param {((x: number, y: number) => boolean) | null} picks whether a press there is of that
   */
  see(over, picks = null) {
    const other = Boolean(over) !== Boolean(this.over);
    Object.assign(this, { over, picks });
    if (other) this.again();
    else if (this.colours) this.draw(this.colours);
  }

  again() {
    this.layer = null;
    this.told();
    if (this.colours) this.draw(this.colours);
  }

  /** What is under the map. */
  told() {
    this.caption.textContent = this.handy || this.over ? "training rows; lines: as held-out negatives rank" : this.captions[this.flat ? 0 : 1];
  }

  /** The metric beside the lane's name. @param {string} key @param {string} name */
  measure(key, name) {
    Object.assign(this, { key, short: name, mean: null, lost: false });
    this.label();
  }

  /** What the figure is: of the run shown, or the mean of many. @param {{ value: number, of: number } | null} mean */
  average(mean) {
    this.mean = mean;
    this.label();
    if (mean || this.last) this.figure.lastChild.textContent = three(mean?.value ?? this.last.test[this.key]);
  }

  label() {
    this.metric.textContent = `${this.lost ? "collapsed, " : ""}${this.short ?? ""}${this.mean ? `, mean of ${this.mean.of}` : ""}`;
  }

  /** What a snapshot must hold for this lane; of several classes, which one against all others; of groups, what to judge. */
  view(chosen = 0, judge = undefined, scores = this.labels.length) {
    const { width, height } = draw.sizeOf(this.map);
    // (Where it is hidden it has no size.)
    const aspect = width && height ? width / height : 1;
    // The window sorts all rows by both coordinates: once for a shape of the map, not in each frame.
    if (this.aspect !== aspect) {
      this.aspect = aspect;
      this.window = draw.frame(this.framed, this.aspect);
      this.layer = this.called = null;
    }
    const columns = this.names ? FINE_GRID : GRID;
    this.grid = { columns, rows: Math.max(8, Math.round(columns / aspect)) };
    if (this.names) {
      return { curve: 201, bins: 48, class: chosen, winners: this.points.length / 2, ...(this.flat && { surface: { ...this.window, ...this.grid } }) };
    }
    return { curve: 201, bins: 48, judge, ...(this.flat ? { surface: { ...this.window, ...this.grid, scores: true } } : { ranks: this.points.length / 2 }), scores };
  }

  /** Draws a snapshot, or the last one again; what a listener is told of it where it rests. Histogram and figure may wait for the next. */
  draw(colours, snapshot = this.last, rests = true, waits = false) {
    if (!snapshot) return;
    if (colours !== this.colours) {
      this.layer = this.called = this.surface = null;
      this.shade = maps.shade(colours, this.name);
    }
    this.colours = colours;
    this.last = snapshot;
    if (snapshot.pretraining !== this.pretraining) this.summarise(snapshot.pretraining);
    const { context, width, height } = draw.sharp(this.map);
    if (!waits) put(this.figure.lastChild, three(this.mean?.value ?? snapshot.test[this.key]));
    if (!width) return;
    if (this.names) {
      this.drawClasses(context, width, height, snapshot);
      return;
    }
    const title = `Lane ${this.name.toUpperCase()}, ${this.title}`;
    if (this.flat && snapshot.surface) {
      const { columns, rows } = this.grid;
      if (this.surface?.rows !== rows) this.surface = new maps.Surface(columns, rows, colours, this.name);
      this.surface.draw(context, width, height, snapshot.surface, snapshot.surfaceScores, this.levels, rests);
      this.put("layer", context, width, height, (still) => {
        const { points, labels } = this.handy || this.over ? this.training : this;
        const at = [still, width, height, this.window, points, labels];
        if (this.groups) grouped.marks(...at, this.groups, colours);
        else draw.scatter(...at, colours);
      });
      if (this.cut) this.surface.level(context, width, height, snapshot.surfaceScores, this.cut.threshold, rests);
      this.over?.(context, width, height);
    } else if (snapshot.ranks) {
      draw.scatter(context, width, height, this.window, this.points, this.labels, colours, {
        size: 2,
        tint: (k) => this.shade(0.45 + 0.55 * snapshot.ranks[k]),
      });
    }
    if (!waits) this.drawBins(snapshot.histogram, 1, this.cut?.threshold);
    put(this.scale, "Held-out scores: low");
    if (!rests) return;
    this.map.setAttribute("aria-label", `${title}: ${this.handy || this.over ? "training" : "held-out"} rows and where the model ranks them, ${this.groups ? `AUROC of the worst group ${three(snapshot.test.worst)}` : `average precision ${three(snapshot.test.ap)}`}`);
    this.bins.setAttribute("aria-label", `${title}: histogram of held-out scores by class, AUROC ${three(snapshot.test.auroc)}`);
  }

  /** The histogram: the rows of a class, and all others. */
  drawBins(values, one, threshold) {
    if (this.sized?.of !== this.labels || this.sized.one !== one) {
      const own = this.labels.reduce((sum, label) => sum + (label === one), 0);
      this.sized = { of: this.labels, one, sizes: [this.labels.length - own, own] };
    }
    maps.histogram(this.bins, values, this.sized.sizes, this.colours, this.name, this.log, threshold);
  }

  /** Whether the histogram's axis is of logarithms, and its button says so. @param {boolean} log */
  count(log) {
    this.log = log;
    this.axis.setAttribute("aria-pressed", String(log));
    if (this.colours && this.last?.histogram) this.drawBins(this.last.histogram, this.names ? this.last.shown : 1, this.names ? undefined : this.cut?.threshold);
  }

  /** Draws what does not move while training, such as the points: once, then its picture. */
  put(layer, context, width, height, paint) {
    if (this[layer]?.width !== this.map.width) {
      const ratio = this.map.width / width;
      this[layer] = new OffscreenCanvas(this.map.width, this.map.height);
      const still = this[layer].getContext("2d");
      still.scale(ratio, ratio);
      paint(still);
    }
    context.drawImage(this[layer], 0, 0, width, height);
  }

  /** The same for several classes; curves and histogram are of the one that the snapshot was asked for. */
  drawClasses(context, width, height, snapshot) {
    const { colours, window, points, labels, names } = this;
    const at = [width, height, window, points];
    if (snapshot.surface) {
      const { columns, rows } = this.grid;
      if (this.surface?.rows !== rows) this.surface = new many.ClassSurface(columns, rows, colours, names.length);
      this.surface.draw(context, width, height, snapshot.surface);
    }
    // Few rows are seen as well as many.
    const size = Math.min(4, Math.max(2.1, 75 / Math.sqrt(labels.length)));
    if (this.flat) this.put("layer", context, width, height, (still) => many.marks(still, ...at, labels, colours, size));
    else many.marks(context, ...at, snapshot.winners, colours, size);
    many.errors(context, ...at, labels, snapshot.winners, colours, size + 1.2);
    if (names.length <= MOST_NAMES) this.put("called", context, width, height, (still) => many.names(still, ...at, labels, names, colours));
    this.drawBins(snapshot.histogram, snapshot.shown);
    const title = `Lane ${this.name.toUpperCase()}, ${this.title}`;
    this.map.setAttribute("aria-label", `${title}: held-out rows and the class that wins, Hand–Till AUC ${three(snapshot.test.handTill)}, accuracy ${three(snapshot.test.accuracy)}`);
    const one = snapshot.shown;
    this.bins.setAttribute("aria-label", `${title}: histogram of the held-out scores of class ${names[one]}, its own rows and all others, AUROC ${three(snapshot.test.classes[one].auroc)}`);
    put(this.scale, `Held-out log-odds of class ${brief(names[one])}: low`);
  }
}
