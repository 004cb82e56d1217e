/** A signal that aborts with another signal, or after a time limit. `over` releases both. */
export function timeLimited(signal: AbortSignal, limitMs: number): { readonly signal: AbortSignal; over(): void } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error(`time limit of ${limitMs} ms exceeded`)), limitMs);
  const onAbort = () => controller.abort(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    over() {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    },
  };
}
