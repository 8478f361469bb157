// In a worker: trying the directions takes longer than a frame.

import { bestDirection } from "./directions.js";

self.onmessage = ({ data: { X, y, port } }) => port.postMessage(bestDirection(X, y));
