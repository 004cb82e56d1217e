/** A signal that is aborted with another one, or after so long; `over` lets go of both. */
export function timeLimited(signal: AbortSignal, limitMs: number): { readonly signal: AbortSignal; over(): void } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error(`${limitMs} ms are over`)), limitMs);
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
