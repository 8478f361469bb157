// In a worker: trying the directions takes longer than a frame.

import { around, bestDirection } from "./directions.js";

self.onmessage = ({ data: { X, y, range, port } }) => port.postMessage(range ? around(X, y, range) : bestDirection(X, y));
