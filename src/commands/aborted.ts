/** Resolves when the signal aborts. Keeps the process alive until then. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    // A timer keeps the process alive; an abort handler alone does not.
    const stay = setInterval(() => undefined, 60_000);
    signal.addEventListener(
      'abort',
      () => {
        clearInterval(stay);
        resolve();
      },
      { once: true },
    );
  });
}
