// What methods and their parameters are, in words.

import * as methods from "undercurve/methods";
import * as texts from "undercurve/methods-texts";
import { GROUPS, SEVERAL, TWO } from "./kinds.js";

/** Gives every method that is offered its texts. */
export function describe() {
  for (const [of, names] of [["METHODS", [TWO, GROUPS]], ["CLASS_METHODS", [SEVERAL]]]) {
    for (const [k, { name }] of methods[of].entries()) {
      const { about, paper, params } = texts[of][k];
      for (const method of names.flatMap(({ methods }) => methods.filter((one) => one.name === name))) {
        Object.assign(method, { about, paper });
        method.params.forEach((param, at) => Object.assign(param, params[at]));
      }
    }
  }
}
