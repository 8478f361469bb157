// In a worker: trying the directions takes longer than a frame.

import { around, bestDirection } from "./directions.js";

self.onmessage = ({ data: { X, y, range, id } }) => self.postMessage({ id, found: range ? around(X, y, range) : bestDirection(X, y) });
