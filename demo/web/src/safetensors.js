// Weights as a safetensors file.

/**
 * The layers of a model in its flat weights: of each its matrix, a row for each input, and its bias.
 * @param {Float32Array | Float64Array} params @param {number[]} widths inputs, hidden units, outputs
 * @returns {Record<string, { shape: number[], data: Float32Array | Float64Array }>}
 */
export function layers(params, widths) {
  let at = 0;
  const next = (...shape) => {
    const size = shape.reduce((product, n) => product * n, 1);
    at += size;
    return { shape, data: params.slice(at - size, at) };
  };
  const found = widths.slice(1).flatMap((units, k) => [[`layers.${k}.weights`, next(widths[k], units)], [`layers.${k}.bias`, next(units)]]);
  if (at !== params.length) throw new Error(`${params.length} weights are no layers of ${widths.join(", ")}`);
  return Object.fromEntries(found);
}

/** @param {ReturnType<typeof layers>} tensors @param {Record<string, string>} metadata @returns {Uint8Array} */
export function safetensors(tensors, metadata) {
  let end = 0;
  const told = Object.entries(tensors).map(([name, { shape, data }]) => {
    const begin = end;
    end += data.byteLength;
    return [name, { dtype: data instanceof Float64Array ? "F64" : "F32", shape, data_offsets: [begin, end] }];
  });
  const text = JSON.stringify({ __metadata__: metadata, ...Object.fromEntries(told) });
  // (The data begins at a multiple of eight bytes.)
  const header = new TextEncoder().encode(text.padEnd(text.length + ((8 - (new TextEncoder().encode(text).length % 8)) % 8)));
  const out = new Uint8Array(8 + header.length + end);
  new DataView(out.buffer).setBigUint64(0, BigInt(header.length), true);
  out.set(header, 8);
  for (const [name, { data_offsets: [begin] }] of told) out.set(new Uint8Array(tensors[name].data.buffer, tensors[name].data.byteOffset, tensors[name].data.byteLength), 8 + header.length + begin);
  return out;
}
