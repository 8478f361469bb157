// The kinds of data that `synthetic` draws.

/** The kinds there are: name, title, one sentence. */
export const SYNTHETICS = [
  { name: "split", title: "Split", about: "Positives in two places, and negatives hiding near one of them." },
  { name: "overlap", title: "Overlap", about: "Two round clouds of one size: is there anything to gain over cross-entropy?" },
  { name: "decoy", title: "Decoy", about: "A few far negatives lie on the positive side." },
  { name: "ring", title: "Ring", about: "Positives inside a ring: try a network, too." },
  { name: "checker", title: "Checker", about: "Positives in two opposite corners." },
  { name: "moons", title: "Moons", about: "Two interleaved half circles." },
];

/** Those of several classes, which `syntheticClasses` draws. */
export const CLASS_SYNTHETICS = [{ name: "pinwheel", title: "Pinwheel", about: "Five bent arms, each a class; the last is the rarest." }];

/** Those of rows in groups, which `syntheticGroups` draws; `groups` are called so. */
export const GROUP_SYNTHETICS = [
  { name: "towns", title: "Two towns", about: "The average rises while one group falls: what tells rows apart in the North misleads in the South.", groups: ["North", "South"] },
];
