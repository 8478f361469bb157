/**
 * Work that goes on one at a time: asked for while it does, it is done once more after that, however often it was asked for.
 * @param {() => Promise<void>} work that catches its errors
 */
export function latest(work) {
  let busy = false;
  let again = false;
  return async () => {
    again = true;
    if (busy) return;
    busy = true;
    while (again) {
      again = false;
      await work();
    }
    busy = false;
  };
}
