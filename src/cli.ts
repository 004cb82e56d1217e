#!/usr/bin/env node
import { keepCompiled } from './base/compile-cache.ts';

// The SDK of object stores would print that its later versions need a newer Node.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';

keepCompiled(process.env);
// Work that waits for itself leaves Node nothing to do: it would end without a word.
process.once('beforeExit', () => {
  process.stderr.write(
    'costbook: the command waits for itself: this is a bug in Costbook; please report it, and run it again\n',
  );
  process.exit(1);
});
const { main, usualEffects } = await import('./main.ts');
process.exitCode = await main(process.argv.slice(2), {
  ...usualEffects(process.env),
  ...{ stdin: process.stdin, stdout: process.stdout, stderr: process.stderr },
  ...{ env: process.env, folder: process.cwd() },
  setUmask: (mask) => void process.umask(mask),
  onSignal: (take) => void process.on('SIGINT', take).on('SIGTERM', take),
  onUnhandledRejection: (take) => void process.on('unhandledRejection', take),
  endBySignal(signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    // Only for a process that no signal can end, the first one in a container: `exit` waits for DuckDB's threads.
    process.exit(signal === 'SIGINT' ? 130 : 143);
  },
  interrupt: () => void process.kill(process.pid, 'SIGINT'),
});
process.exit();
