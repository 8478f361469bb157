// What Node prints of a handle, and what it is as a text. (Bundlers leave this out, as names mean nothing there.)

import { spoken } from "./dispose.js";
import { Exact } from "./exact.js";
import { Lanes } from "./lanes.js";
import { Objective } from "./objective.js";
import { Session } from "./session.js";

spoken(Exact, Lanes, Objective, Session);
